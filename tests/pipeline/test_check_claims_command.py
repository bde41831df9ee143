"""`check_claims --batch`, run as people run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.world.processes.commands import PROJECT
from tests.world.transcripts import LINES, write

pytestmark = pytest.mark.not_on_postgresql


def run(data_dir: Path, folder: Path, *rows: object) -> list[dict[str, Any]]:
    environment = dict(os.environ, MEMORYWEB_DATA_DIR=str(data_dir))
    environment.pop("DATABASE_URL", None)
    done = subprocess.run(
        [sys.executable, "manage.py", "check_claims", "--transcripts", str(folder), "--batch"],
        cwd=PROJECT,
        env=environment,
        input="".join(json.dumps(row) + "\n" for row in rows).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert not list(data_dir.rglob("*sqlite*"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_claim_gets_a_verdict_with_its_places_and_faults_stop_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    write(folder / "one" / "a.jsonl")
    (tmp_path / "secret.jsonl").write_bytes((folder / "one" / "a.jsonl").read_bytes())
    (folder / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    claim = "The staging server listens on port 8125"
    named, early, changed, anywhere, gone, outside, linked, odd, line = run(
        tmp_path / "data",
        folder,
        {"claim": claim, "transcript": "one/a.jsonl", "before_line": len(LINES) + 1},
        {"claim": claim, "transcript": "one/a.jsonl", "before_line": 1},
        {"claim": claim.replace("8125", "7000"), "transcript": "one/a.jsonl"},
        {"claim": claim},
        {"claim": claim, "transcript": "one/b.jsonl"},
        {"claim": claim, "transcript": "../secret.jsonl"},
        {"claim": claim, "transcript": "link.jsonl"},
        {"transcript": "one/a.jsonl"},
        {"claim": claim, "transcript": "one/a.jsonl", "before_line": "9"},
    )
    assert named["verdict"] == "supported"
    first = named["evidence"][0]
    assert (first["session"], first["line"], first["role"]) == ("one/a.jsonl", 1, "user")
    assert named["only_tools"] is False
    assert first["quote"] == "The staging server listens on port 8125, production on port 9310."
    assert (early["verdict"], early["evidence"]) == ("unsupported", [])
    assert changed["verdict"] != "supported"
    assert anywhere["verdict"] == "supported"
    assert anywhere["evidence"][0]["session"] == "one/a.jsonl"
    assert "one/b.jsonl" in gone["error"]
    assert "error" in outside
    assert "error" in linked
    assert "'claim'" in odd["error"]
    assert "'before_line'" in line["error"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check_claims", "--transcripts", str(tmp_path / "none"), "--batch"],
        cwd=PROJECT,
        env=dict(os.environ, MEMORYWEB_DATA_DIR=str(tmp_path / "data")),
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "none cannot be read" in done.stderr.decode()
