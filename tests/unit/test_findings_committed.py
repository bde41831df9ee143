"""What is personal or belongs to one machine is told where a memory would be committed, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dreams import findings
from dreams.findings.directories import between
from dreams.findings.examining import examine

HEAD = "---\nname: Deploy\ndescription: how\ntype: project\n---\n\n"


def _codes(line: str, scope: str, head: str = HEAD) -> set[str]:
    after = {"MEMORY.md": b"- [Deploy](deploy.md)\n", "deploy.md": f"{head}{line}\n".encode()}
    changed = replace(between({"MEMORY.md": b""}, after), scope=scope)
    told = {one.code for one in examine(changed).findings if one.check == "committed"}
    standing = findings.health(after, scope=scope).findings
    assert told == {one.code for one in standing if one.check == "committed"}
    return told


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "line",
    ["I prefer short answers.", "The user really likes tabs.", "My editor is vim.", "She hates emoji."],
)
def test_what_one_person_prefers(line: str) -> None:
    assert _codes(line, "project") == {"personal"}
    assert _codes(line, "local") == set()


def test_a_memory_about_the_user_is_told_once() -> None:
    user = HEAD.replace("type: project", "type: user")
    assert _codes("Runs the payments team.", "project", user) == {"personal"}


@pytest.mark.parametrize(
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
