"""`check_claims --batch`, run as people run it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world.processes import commands as forked
from tests.world.transcripts import LINES, write

pytestmark = pytest.mark.not_on_postgresql


def run(data: Path, folder: Path, *rows: object) -> list[dict[str, Any]]:
    lines = map(json.dumps, rows)
    return forked.run_batch(data, "check_claims", *lines, arguments=("--transcripts", str(folder)))


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
    given = ("check_claims", "--transcripts", str(tmp_path / "none"), "--batch")
    done = forked.run(*given, environment=forked.environment(tmp_path / "data"))
    assert done.returncode == 1
    assert "none cannot be read" in done.stderr
