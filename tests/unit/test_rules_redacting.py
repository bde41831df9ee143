"""A secret that stands in a memory is proposed for redaction, and nothing else of its line goes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from dreams.engines.linedates import KeptVersion, line_dates
from dreams.findings import examine
from dreams.findings.directories import between
from tests.world.rules import NOON, dream, memory

TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
INDEX = "- [Deploy](deploy.md) — how we deploy\n"
BODY = f"- Deploys use {TOKEN} there.\n- The runner is small.\n"


def test_the_line_stays_without_the_secret(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    made = dream(tmp_path, files)
    assert made.text("deploy.md") == files["deploy.md"].replace(TOKEN, "[redacted: github-token]")
    assert "removed 1 secret" in made.summary.lower()
    [edit] = made.edits
    assert "revoke" in edit.reason
    assert not any(TOKEN in part for c in edit.citations for part in (c.quote, c.note, c.context))


def test_no_check_holds_it_against_a_reviewer(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    made = dream(tmp_path, files)
    report = examine(between(made.before, made.after))
    assert {found.severity for found in report.findings} <= {"info"}
    assert {row.fate for row in report.ledger} == {"kept-in"}


def test_pinned_memories_and_logs_stay_as_they_are(tmp_path: Path) -> None:
    pinned = memory(BODY, name="Deploy", description="how we deploy").replace(
        "---\n\n", "metadata:\n  pinned: true\n---\n\n", 1
    )
    files = {"MEMORY.md": INDEX, "deploy.md": pinned, "logs/2026/01.md": f"Used {TOKEN}.\n"}
    made = dream(tmp_path, files)
    assert made.after["deploy.md"] == made.before["deploy.md"]
    assert made.after["logs/2026/01.md"] == made.before["logs/2026/01.md"]


def test_what_is_left_of_a_line_does_not_count_its_days_from_the_day_of_the_dream(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": INDEX,
        "deploy.md": memory(f"- The token of the store was {TOKEN} 2 days ago.\n{BODY}"),
    }
    made = dream(tmp_path / "one", files)
    kept = [KeptVersion(data, NOON, NOON, True, ours=True) for data in (made.after["deploy.md"],)]
    ours = {"deploy.md": line_dates(kept, dt.UTC)}
    assert dream(tmp_path / "two", made.after, written=ours).edits == []


def test_dreaming_again_changes_nothing(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "deploy.md": memory(BODY, name="Deploy", description="how we deploy")}
    first = dream(tmp_path / "a", files)
    assert dream(tmp_path / "b", first.after).edits == []
