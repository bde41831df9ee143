"""`findings BEFORE AFTER` says what changed between two directories, and leaves no database behind."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.world.processes import commands as forked

pytestmark = pytest.mark.not_on_postgresql

RULES = "---\ntype: feedback\n---\n\n- Run the linter before every commit\n- Never deploy on Friday\n"


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = forked.run("findings", *arguments, environment=forked.environment(data_dir))
    assert not list(data_dir.rglob("*sqlite*"))
    return done


def printed(*arguments: str, **options) -> str:
    out = io.StringIO()
    call_command("findings", *arguments, stdout=out, **options)
    return out.getvalue()


def folder(path: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return str(path)


def test_a_dropped_line_an_unproven_one_and_a_link_are_told(tmp_path):
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(
        tmp_path / "after", {"rules.md": RULES.replace("Never deploy on Friday", "Backups go to Hetzner")}
    )
    (tmp_path / "after" / "link.md").symlink_to("/etc/hostname")
    done = run(tmp_path / "data", before, after, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["worst"] == "refuse"
    told = {(f["code"], f["severity"], f["path"]) for f in answer["findings"]}
    assert {
        ("irregular", "refuse", "link.md"),
        ("unexplained-loss", "block", "rules.md"),
        ("no-evidence", "warn", "rules.md"),
    } <= told
    assert [(row["text"], row["fate"]) for row in answer["ledger"]] == [
        ("- Never deploy on Friday", "unexplained")
    ]
    assert set(answer["findings"][0]) == {
        "check",
        "code",
        "severity",
        "path",
        "hunk",
        "line",
        "message",
        "remedy",
        "rule",
    }


def test_sessions_are_evidence(tmp_path):
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(tmp_path / "after", {"rules.md": RULES + "- Backups go to Hetzner every night\n"})
    typed = {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-03-02T09:00:00Z",
        "message": {"role": "user", "content": "Our backups go to Hetzner every night."},
    }
    sessions = folder(tmp_path / "sessions", {"shop/a.jsonl": json.dumps(typed) + "\n"})
    bare = json.loads(printed(before, after, json=True))
    assert [f["code"] for f in bare["findings"]] == ["no-evidence"]
    proven = json.loads(printed(before, after, transcripts=sessions, json=True))
    assert proven == {"findings": [], "ledger": [], "worst": None}


def test_words_for_a_person_name_the_loss_and_the_remedy(tmp_path):
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(tmp_path / "after", {"rules.md": RULES.replace("- Never deploy on Friday\n", "")})
    words = printed(before, after)
    assert "Unexplained loss: “Never deploy on Friday”" in words
    assert "Reject the change" in words


def test_each_finding_explains_itself_where_that_is_asked_for(tmp_path):
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(tmp_path / "after", {"rules.md": RULES.replace("Never deploy on Friday", "Never deploy")})
    words = printed(before, after, explain=True)
    assert "Rule ledger/unexplained-loss: Every removed statement must appear somewhere else" in words
    assert "The nearest statement, “Never deploy”, lacks “friday”." in words
    assert "Rule " not in printed(before, after)


def test_a_directory_that_is_not_there_is_one_clear_line(tmp_path):
    done = run(tmp_path / "data", str(tmp_path / "no"), str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Name an existing directory" in done.stderr
    named = run(tmp_path / "data", str(tmp_path), "-no")
    assert named.stderr.startswith("-no cannot be read")


def test_what_is_printed_has_place_and_remedy_and_no_secret(tmp_path):
    secret = "hun" + "ter2!x9"
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(tmp_path / "after", {"rules.md": f"{RULES}- The door says \x1b[2J password: {secret}\n"})
    words = printed(before, after)
    for told in (words, printed(after, before), printed(before, after, json=True)):
        assert not [hidden for hidden in (secret[:7], "\x1b") if hidden in told]
    lines = words.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("warn   rules.md, line 7: “door”"))
    assert lines[at + 1] == "       Check it yourself, or reject the change."
