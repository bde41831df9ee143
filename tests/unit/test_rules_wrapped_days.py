"""A day is written out as its whole sentence says, however its lines are wrapped, and is no loss afterwards."""

from __future__ import annotations

import datetime as dt
import functools
import tempfile
import textwrap
from pathlib import Path

from hypothesis import given, strategies as st

from dreams.lib import memdir
from tests.world.cases import each
from tests.world.findings import codes, report
from tests.world.rules import WRITTEN, LineDate, dream, memory
from tests.world.strategies import tries

TOLD = [
    "The importer broke yesterday when the queue filled up, and Mara fixed it.",
    "The freeze began last Thursday and was lifted three days ago after the audit passed.",
    "The day before yesterday the certificate was renewed by the operations team in Oslo.",
    "The tests were flaky from last Monday to last Wednesday while the runner was full.",
    "As of last week the service was deployed to three regions and had no open issue.",
]
NOT_TOLD = [
    "If the build broke yesterday it would have been reported in the channel by now.",
    "Do we still ship the release that was cut two weeks ago to the customers in Bern?",
    "Every week we look at what broke yesterday and write it into the incident log.",
    "Nobody knows whether the migration that ran last month was complete.",
]


@functools.cache
def dreamt(body: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        return answered(Path(folder), body, WRITTEN)


def answered(folder: Path, body: str, written: LineDate) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The memories before and after each question about a relative day is answered with "Write the day"."""
    files = {"notes.md": memory(body), "MEMORY.md": "- [Notes](notes.md) — notes\n"}
    made = dream(folder, files, written=written)
    lines = made.text("notes.md").split("\n")
    for question in made.outcome.questions:
        ((place,), edit) = question.places, question.options[0].edits[0]
        at = (place.line_no or 1) - 1
        lines[at] = (edit.after or "").split("\n")[at]
    return made.before, {**made.after, "notes.md": "\n".join(lines).encode()}


def words(files: dict[str, bytes]) -> str:
    return " ".join(memdir.parse(files["notes.md"]).body.split())


@tries(30, 150)
@given(
    st.lists(st.sampled_from([*TOLD, *NOT_TOLD]), min_size=1, max_size=2, unique=True),
    st.integers(20, 90),
    st.sampled_from(["", "- ", "3. "]),
)
def test_wrapping_decides_no_day(said: list[str], width: int, mark: str) -> None:
    text = mark + " ".join(said)
    _, whole = dreamt(f"{text}\n")
    body = textwrap.fill(text, width, subsequent_indent=" " * len(mark))
    before, after = dreamt(f"{body}\n")
    possible = [text.removeprefix(mark)]
    for sentence in said:
        _, alone = dreamt(f"{sentence}\n")
        possible += [each.replace(sentence, words(alone)) for each in possible]
    assert words(after).removeprefix(mark) in possible and words(whole).removeprefix(mark) in possible
    assert not codes(report(after, before)) & {"unexplained-loss"}


@each("sentence", NOT_TOLD)
@each("width", range(24, 60, 4))
def test_half_of_a_sentence_names_no_day(sentence: str, width: int) -> None:
    before, after = dreamt(textwrap.fill(sentence, width) + "\n")
    assert after == before


@each(("said", "written", "day"), [
    ("Ana moved the cron to db-7 last Monday.", dt.date(2026, 9, 29), "on 2026-09-21"),
    ("Ana will move the cron to db-7 next Friday.", dt.date(2026, 10, 1), "on 2026-10-09"),
])  # fmt: skip
def test_a_weekday_written_out_is_no_loss_on_whatever_day_it_is_checked(
    tmp_path: Path, said: str, written: dt.date, day: str
) -> None:
    before, after = answered(tmp_path, f"- {said}\n", LineDate(written, WRITTEN.source, WRITTEN.note))
    assert day in words(after)
    assert not codes(report(after, before)) & {"unexplained-loss"}


def test_one_of_two_days_of_a_sentence_may_be_kept_as_it_is() -> None:
    old = "The freeze began last Thursday and\nwas lifted three days ago after the audit.\n"
    before = {"notes.md": memory(old).encode()}
    after = {"notes.md": before["notes.md"].replace(b"last Thursday", b"on 2026-09-24")}
    assert not codes(report(after, before)) & {"unexplained-loss"}
