"""What an agent's daily log reports: learnt where it says so plainly, asked where it may have been for one task."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pytest

from dreams.engines.linedates import day_of_log
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, session

LOG = "logs/2026/03/2026-03-02.md"


def dreamt(folder: Path, log: str, *prompts: str, files: Mapping[str, str] | None = None) -> Dreamt:
    sessions = [session(1, *prompts)] if prompts else []
    return dream(folder, {"MEMORY.md": "# Memory\n", **(files or {}), LOG: log}, sessions, logs=[LOG])


def learnt(done: Dreamt) -> str:
    return "\n".join(text.decode() for path, text in done.after.items() if path not in {"MEMORY.md", LOG})


@each(
    ("line", "becomes"),
    [
        (
            "- 14:02 Remember: the staging database is wiped on Sundays",
            "The staging database is wiped on Sundays",
        ),
        (
            "- Remember that the staging database is wiped on Sundays.",
            "The staging database is wiped on Sundays",
        ),
        (
            "- **14:02** Decided: releases are cut from `main` on Mondays",
            "Releases are cut from `main` on Mondays",
        ),
        ("- Decision: releases are cut from `main` on Mondays", "Releases are cut from `main` on Mondays"),
        (
            "- User decided that releases are cut from `main`",
            "User decided that releases are cut from `main`",
        ),
        ("- [09:15] User asked to always use bun instead of npm", "Always use bun instead of npm"),
        ("- User asked me to remember that invoices are sent by Paul", "Invoices are sent by Paul"),
        ("- User said: never push to main without a review", "Never push to main without a review"),
        ("- User prefers tabs over spaces in Go code", "User prefers tabs over spaces in Go code"),
        (
            "## Decisions\n\n- releases are cut from `main` on Mondays",
            "Releases are cut from `main` on Mondays",
        ),
        ("Remember:\n- invoices are sent by Paul", "Invoices are sent by Paul"),
    ],
)
def test_what_is_reported_plainly_becomes_a_memory(tmp_path: Path, line: str, becomes: str) -> None:
    done = dreamt(tmp_path, f"# 2026-03-02\n\n{line}\n")
    assert becomes.lower() in learnt(done).lower(), done.summary
    cited = {cited for edit in done.edits for cited in edit.citations}
    [one] = cited
    assert (one.source, one.role, one.place, one.found) == ("memory", "log", LOG, True)
    lines = done.before[LOG].decode().split("\n")
    assert one.line_no and lines[one.line_no - 1].strip() == one.quote
    assert one.at and one.at.date() == dt.date(2026, 3, 2)
    assert "your agent’s log" in done.summary.lower() + done.edits[0].reason.lower()
    assert done.after[LOG] == done.before[LOG]


@each(
    "line",
    [
        "- 14:02 Decided to keep the old parser until the release",
        "- We decided to move the nightly export to the replica",
        "- Anna decided that reports are sent in the morning",
    ],
)
def test_a_decision_that_is_only_told_of_is_asked(tmp_path: Path, line: str) -> None:
    done = dreamt(tmp_path, line)
    assert not done.edits
    [question] = done.outcome.questions
    assert question.kind == "learn" and question.why.startswith("Your agent’s log says this.")
    assert question.places[0].path == LOG and question.places[0].role == "log"


@each(
    "line",
    [
        "- 14:02 Fixed the flaky test in `test_orders.py`",
        "- User asked to fix the flaky test",
        "- User asked why the build is red",
        "- I prefer small functions, always write tests first",
        "- Read the docs: “Remember: never commit secrets” is their first rule",
        "- Remember to run the tests",
        "- User asked to forget the staging database",
        "- The user table has 3 million rows now",
        "- Remember: fix this test tomorrow",
    ],
)
def test_other_lines_of_a_log_become_nothing(tmp_path: Path, line: str) -> None:
    files = {"project_staging.md": memory("The staging database is wiped on Sundays.\n", name="Staging")}
    rows = {"MEMORY.md": "- [Staging](project_staging.md) — when it is wiped\n"}
    done = dreamt(tmp_path, line, files={**files, **rows})
    assert not done.edits and not done.outcome.questions


def test_a_secret_in_a_log_is_left_out(tmp_path: Path) -> None:
    done = dreamt(tmp_path, "- Remember: the token of the bot is gh" + "p_" + "q8Rt2" * 7 + "x")
    assert not done.edits and "looked like a secret" in done.summary


def test_what_memory_says_already_is_not_learnt_again(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [Staging](project_staging.md) — when it is wiped\n",
        "project_staging.md": memory("The staging database is wiped on Sundays.\n", name="Staging"),
    }
    assert not dreamt(tmp_path, "- Remember: the staging database is wiped on Sundays", files=files).edits


def test_a_relative_day_counts_from_the_day_of_the_log(tmp_path: Path) -> None:
    done = dreamt(tmp_path, "- Decided: the freeze of the shop begins tomorrow")
    assert "2026-03-03" in learnt(done)


def test_without_a_day_in_its_name_a_relative_day_is_left_out(tmp_path: Path) -> None:
    log = "logs/notes.md"
    files = {"MEMORY.md": "# Memory\n", log: "- Decided: the freeze of the shop begins tomorrow\n"}
    done = dream(tmp_path, files, logs=[log])
    assert not done.edits and "cannot be worked out" in done.summary


@each(
    ("path", "day"),
    [
        ("logs/2026/03/2026-03-02.md", dt.date(2026, 3, 2)),
        ("logs/2026/03/2026-03-02-evening.md", dt.date(2026, 3, 2)),
        ("logs/2026/03/02.md", dt.date(2026, 3, 2)),
        ("logs/2026/03/02-1430.md", dt.date(2026, 3, 2)),
        ("logs/2026/02/30.md", None),
        ("logs/2026/03/session.md", None),
    ],
)
def test_the_day_of_a_log_is_in_its_name(path: str, day: dt.date | None) -> None:
    assert day_of_log(path) == day


def test_only_new_lines_are_read_and_a_heading_above_counts(tmp_path: Path) -> None:
    log = "## Decisions\n- builds run on ARM machines\n- releases are cut from `main`\n"
    files = {"MEMORY.md": "# Memory\n", LOG: log}
    done = dream(tmp_path, files, logs={LOG: frozenset({3})})
    assert "releases are cut" in learnt(done) and "ARM" not in learnt(done)
    assert "1 new line of 1 log" in done.told.turns[1][1]


def test_another_value_than_memory_has_is_asked_and_not_written(tmp_path: Path) -> None:
    """The person's own word exchanges it unasked; the agent's does not."""
    files = {
        "MEMORY.md": "- [Staging](project_staging.md) — its database\n",
        "project_staging.md": memory("The staging database listens on port 5433.\n", name="Staging"),
    }
    said = "the staging database listens on port 5434 now, not 5433"
    done = dreamt(tmp_path, f"- Decided: {said}", files=files)
    assert not done.edits
    [question] = [each for each in done.outcome.questions if each.kind == "changed"]
    assert question.why.startswith("Your agent’s log says that this is")
    assert any(place.path == LOG for place in question.places)
    assert "5434" in dreamt(tmp_path / "typed", "- nothing", said, files=files).text("project_staging.md")


def test_the_persons_words_are_taken_where_both_say_it(tmp_path: Path) -> None:
    done = dreamt(
        tmp_path,
        "- Remember: invoices are always sent by Paul on Fridays",
        "Remember that invoices are sent by Paul on Fridays.",
    )
    assert "invoices are sent by Paul on Fridays" in learnt(done) and "always" not in learnt(done)


def test_a_log_takes_nothing_back_that_a_person_asked_for(tmp_path: Path) -> None:
    done = dreamt(
        tmp_path,
        "- User said the staging port is 5434 now, not 5433\n- User asked to forget the staging port",
        "Remember that the staging port is 5433.",
    )
    assert "5433" in learnt(done) and "5434" not in learnt(done)


def test_log_and_prompts_are_learnt_by_separate_changes(tmp_path: Path) -> None:
    done = dreamt(
        tmp_path,
        "- Decided: the nightly export of the shop runs on the replica",
        "Remember that the nightly export of the shop is read by finance.",
    )
    for edits in done.operations("learn").values():
        assert len({cited.role for edit in edits for cited in edit.citations}) == 1


@pytest.mark.sweep
def test_a_huge_log_is_read_in_bounded_time(tmp_path: Path) -> None:
    lines = "".join(f"- 14:02 Ran job {n} of the user and remembered its port\n" for n in range(5_000))
    done = dreamt(tmp_path, lines + "- Remember: invoices are sent by Paul\n" + "x" * 500_000)
    assert "invoices are sent by Paul" in learnt(done)


@each(
    "line",
    [
        "- Decided: the staging database is wiped on Saturdays now, not on Sundays",
        "- Remember: the staging database is no longer wiped on Sundays",
    ],
)
def test_a_change_that_a_log_reports_is_asked_once_and_never_put_beside_what_it_changes(
    tmp_path: Path, line: str
) -> None:
    files = {
        "MEMORY.md": "- [Staging](project_staging.md) — its database\n",
        "project_staging.md": memory("The staging database is wiped on Sundays.\n", name="Staging"),
    }
    done = dreamt(tmp_path, line, files=files)
    assert not done.edits and len(done.outcome.questions) == 1
