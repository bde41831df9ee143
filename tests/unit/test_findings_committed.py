"""What is personal or belongs to one machine is told where others read a memory too, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dreams import findings
from dreams.engines.types import Citation, Fate
from dreams.findings import committed
from dreams.findings.base import Subject
from dreams.findings.directories import between
from dreams.findings.examining import examine
from tests.world.cases import each

HEAD = "---\nname: Deploy\ndescription: how\ntype: project\n---\n\n"


def _codes(line: str, scope: str, head: str = HEAD) -> set[str]:
    after = {"MEMORY.md": b"- [Deploy](deploy.md)\n", "deploy.md": f"{head}{line}\n".encode()}
    changed = replace(between({"MEMORY.md": b""}, after), scope=scope)
    told = {one.code for one in examine(changed).findings if one.check == "committed"}
    standing = findings.health(after, scope=scope).findings
    assert told == {one.code for one in standing if one.check == "committed"}
    return told


def test_a_memory_is_not_taken_apart_for_each_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    real, parsed = committed.memdir.parse, list[bytes]()
    monkeypatch.setattr(committed.memdir, "parse", lambda data: parsed.append(data) or real(data))
    files = {"team/user_anna.md": HEAD.encode() + b"- The till is open.\n" * 300}
    assert not list(committed.standing(Subject(files, files, ())))
    assert len(parsed) < 5


@each(
    "line",
    [
        "Keys are in /home/anna/.ssh.",
        "Run /Users/anna/bin/deploy first.",
        r"The share is C:\Users\anna\share.",
        "Settings are in `~/.config/app`.",
    ],
)
def test_a_folder_of_one_machine(line: str) -> None:
    assert _codes(line, "project") == {"home-path"}
    assert _codes(line, "local") == _codes(line, "user") == _codes(line, "") == set()


@each(
    "line",
    ["I prefer short answers.", "The user really likes tabs.", "My editor is vim.", "She hates emoji."],
)
def test_what_one_person_prefers(line: str) -> None:
    assert _codes(line, "project") == {"personal"}
    assert _codes(line, "local") == set()


def test_a_memory_about_the_user_is_told_once() -> None:
    user = HEAD.replace("type: project", "type: user")
    assert _codes("Runs the payments team.", "project", user) == {"personal"}


@each(
    "line",
    [
        "The route /home/index renders the start page.",
        "Prefer tabs over spaces.",
        "Roughly ~5 minutes.",
        "The API likes short tokens.",
        "Files go to src/home.",
    ],
)
def test_ordinary_lines_are_not_told(line: str) -> None:
    assert _codes(line, "project") - {"home-path" if "/home/index" in line else ""} == set()


@each(
    "line",
    [
        "My GitHub account is annak.",
        "Deploys use the user's AWS login.",
        "The CLI is logged in as annak.",
        "Send reports to anna.k@gmail.com.",
    ],
)
def test_somebodys_account(line: str) -> None:
    assert _codes(line, "project") == {"account"}
    assert _codes(line, "local") == set()


@each(
    "line",
    [
        "Each customer has one account.",
        "The login page is slow.",
        "A user is logged in as a guest.",
        "Mail goes out from ops@shop.example.",
    ],
)
def test_accounts_that_are_nobodys_are_not_told(line: str) -> None:
    assert _codes(line, "project") == set()


def test_the_same_is_told_of_team_memory_and_of_no_file_beside_it() -> None:
    text = f"{HEAD}My editor is vim, in /home/anna/bin; my login is annak.\n".encode()
    for path, told in (("team/a.md", {"home-path", "personal", "account"}), ("a.md", set())):
        found = examine(between({}, {path: text})).findings
        assert {one.code for one in found if one.check == "committed"} == told
        assert {
            one.code for one in findings.health({path: text}).findings if one.check == "committed"
        } == told


PORT = "The staging database listens on port 5433."
QUOTE = Citation("transcript", "it listens on 5434 now", place="s.jsonl", role="user")


@each(
    ("cited", "told"),
    [
        ((), True),
        ((QUOTE,), False),
        ((replace(QUOTE, found=False),), True),
        ((Citation("memory", PORT, place="team/a.md"),), True),
        ((Citation("memory", "Staging is on 5434.", place="b.md"),), False),
        ((Citation("repository", "PORT=5434", place="/repo/.env.example"),), False),
    ],
)
def test_a_change_of_team_memory_needs_evidence_other_than_the_line_itself(
    cited: tuple[Citation, ...], told: bool
) -> None:
    before, after = ({"team/a.md": f"{HEAD}{line}\n".encode()} for line in (PORT, PORT.replace("33", "34")))
    change = between(before, after)
    change = replace(change, hunks=[replace(hunk, citations=cited) for hunk in change.hunks])
    assert ("team-without-evidence" in {one.code for one in examine(change).findings}) is told
    by_hand = replace(change, hunks=[replace(hunk, by_hand=True) for hunk in change.hunks])
    assert "team-without-evidence" not in {one.code for one in examine(by_hand).findings}


def test_a_line_of_team_memory_that_is_kept_elsewhere_needs_no_other_evidence() -> None:
    before, after = ({"team/a.md": f"{HEAD}{line}\n".encode()} for line in (PORT, f"- {PORT}"))
    change = between(before, after)
    fates = (Fate(PORT, "kept-in", "team/a.md", f"- {PORT}"),)
    change = replace(change, hunks=[replace(hunk, fates=fates) for hunk in change.hunks])
    assert "team-without-evidence" not in {one.code for one in examine(change).findings}
