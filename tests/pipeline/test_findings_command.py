"""`findings BEFORE AFTER` says what changed between two directories, and leaves no database behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
RULES = "---\ntype: feedback\n---\n\n- Run the linter before every commit\n- Never deploy on Friday\n"


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, MEMORYWEB_DATA_DIR=str(data_dir))
    environment.pop("DATABASE_URL", None)
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "manage.py", "findings", *arguments],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
    )
    assert not list(data_dir.rglob("*sqlite*"))
    return done


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
    bare = json.loads(run(tmp_path / "data", before, after, "--json").stdout)
    assert [f["code"] for f in bare["findings"]] == ["no-evidence"]
    proven = json.loads(run(tmp_path / "data", before, after, "--transcripts", sessions, "--json").stdout)
    assert proven == {"findings": [], "ledger": [], "worst": None}


def test_words_for_a_person_name_the_loss_and_the_remedy(tmp_path):
    before = folder(tmp_path / "before", {"rules.md": RULES})
    after = folder(tmp_path / "after", {"rules.md": RULES.replace("- Never deploy on Friday\n", "")})
    done = run(tmp_path / "data", before, after)
    assert "Unexplained loss: “Never deploy on Friday”" in done.stdout
    assert "Reject the change" in done.stdout


def test_a_directory_that_is_not_there_is_one_clear_line(tmp_path):
    done = run(tmp_path / "data", str(tmp_path / "no"), str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Name an existing directory" in done.stderr
