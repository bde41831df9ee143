"""When a line was written: frontmatter, then history, then transcript, then mtime; and the earliest version counts."""

from __future__ import annotations

import datetime as dt

from dreams.engines.linedates import KeptVersion, believable, copied, line_dates


def moment(day: int, hour: int = 12) -> dt.datetime:
    return dt.datetime(2026, 3, day, hour, tzinfo=dt.UTC)


def version(text: str, day: int, *, seen: bool = False, written: int | None = None) -> KeptVersion:
    at = moment(written) if written else None
    return KeptVersion(text.encode(), moment(day), moment(day), seen_change=seen, written_at=at)


def test_the_frontmatters_own_date_comes_first() -> None:
    text = "---\nname: x\nmetadata:\n  modified: 2026-02-01T10:00:00Z\n---\nbody\n"
    found = line_dates([version(text, 9, seen=True)], dt.UTC)[5]
    assert found is not None
    assert (found.day, found.source) == (dt.date(2026, 2, 1), "memory")


def test_a_line_keeps_the_day_of_the_first_version_that_has_it() -> None:
    found = line_dates([version("old\n", 2, seen=True), version("old\nnew\n", 8, seen=True)], dt.UTC)
    assert [line.day.day if line else None for line in found] == [2, 8, None]


def test_a_file_only_found_is_dated_by_the_transcript_and_then_by_its_mtime() -> None:
    first = line_dates([version("a\n", 5, written=4)], dt.UTC)[0]
    second = line_dates([version("a\n", 5)], dt.UTC)[0]
    assert first is not None and second is not None
    assert (first.day.day, first.source) == (4, "transcript")
    assert (second.day.day, second.source) == (5, "file")


def test_a_date_in_the_frontmatter_that_nobody_changed_says_nothing_of_a_line_that_came_later() -> None:
    head = "---\nmodified: 2026-02-01\n---\n"
    kept = [version(f"{head}old\n", 2), version(f"{head}old\nnew\n", 8, seen=True)]
    again = version(f"{head.replace('02-01', '03-09')}old\nnew\nnewer\n", 9, seen=True)
    found = line_dates([*kept, again], dt.UTC)[3:6]
    assert [(line.day.month, line.day.day, line.source) for line in found if line] == [
        (2, 1, "memory"),
        (3, 8, "history"),
        (3, 9, "memory"),
    ]


def test_a_file_that_says_only_when_it_was_created_counts_from_there() -> None:
    found = line_dates([version("---\ncreated: 2026-02-01\n---\nbody\n", 9)], dt.UTC)[3]
    assert found is not None and found.day == dt.date(2026, 2, 1)


def test_days_are_those_of_the_persons_zone() -> None:
    late = KeptVersion(b"a\n", moment(5, 23), moment(5, 23), seen_change=True)
    found = line_dates([late], dt.timezone(dt.timedelta(hours=2)))[0]
    assert found is not None and found.day == dt.date(2026, 3, 6)


def test_blank_lines_and_unknown_files_have_no_date() -> None:
    assert line_dates([], dt.UTC) == []
    assert line_dates([version("a\n\n", 5)], dt.UTC)[1] is None


def test_an_mtime_is_believed_where_no_other_file_was_written_with_it_and_long_before_the_first_look() -> (
    None
):
    first_look = moment(20)
    mtimes = [moment(2), moment(5), moment(5) + dt.timedelta(seconds=50), moment(8), moment(20, 3)]
    kept = [mtime.day for mtime in mtimes if believable(mtime, mtimes, first_look)]
    assert kept == [2, 8]
    copied = [moment(3)] * 4
    assert not any(believable(mtime, copied, first_look) for mtime in copied)


def test_a_day_from_an_mtime_that_nobody_believes_says_so() -> None:
    copied = KeptVersion(b"a\n", moment(5), moment(5), seen_change=False, believable=False)
    seen = KeptVersion(b"a\n", moment(5), moment(5), seen_change=True, believable=False)
    assert [line.believable for line in line_dates([copied], dt.UTC) if line] == [False]
    assert [line.believable for line in line_dates([seen], dt.UTC) if line] == [True]


def test_a_day_in_the_files_name_goes_before_its_mtime_and_not_before_what_was_seen() -> None:
    found = line_dates([version("a\n", 9)], dt.UTC, "project_release_2026-02-03.md")[0]
    assert found is not None and found.day == dt.date(2026, 2, 3)
    seen = line_dates([version("a\n", 9, seen=True)], dt.UTC, "project_release_2026-02-03.md")[0]
    assert seen is not None and seen.day.day == 9
    no_day = line_dates([version("a\n", 9)], dt.UTC, "build-2026-13-45.md")[0]
    assert no_day is not None and no_day.source == "file"


def test_the_mtime_of_most_files_is_that_of_a_copy_and_no_day_at_all() -> None:
    written = [moment(2), moment(5), moment(5) + dt.timedelta(seconds=50), moment(8)]
    assert not any(copied(mtime, written) for mtime in written), "a session writes some together"
    cloned = [moment(2), *[moment(9)] * 4]
    assert [copied(mtime, cloned) for mtime in cloned] == [False, True, True, True, True]
    assert line_dates([KeptVersion(b"a\n", moment(9), None, seen_change=False)], dt.UTC) == [None, None]
