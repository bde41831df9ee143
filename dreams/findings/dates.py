"""Checks dates that a change adds: each must be in a source, or follow from a relative date and the source's day. PURE.

Also reports relative days ("yesterday"), in added and in existing lines.
"""

import datetime as dt
import re
from collections.abc import Iterator

from dreams.engines.types import Citation
from dreams.findings.base import ChangedHunk, NewFinding, Severity, Subject
from dreams.findings.lines import CheckedLine, added_lines, found_at, lines_in, new_lines, standing_lines
from dreams.lib.files.text import decode
from dreams.lib.prose import dates
from dreams.lib.prose.words import MONTH_NAME

CHECK = "dates"
_ISO = re.compile(r"(?<![\w-])\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q[1-4])(?![\w-])")
_BOOKKEEPING = re.compile(r"^\s*(?:modified|created|updated|date|last_\w+)\s*:", re.IGNORECASE)
_NOTED = re.compile(r"\d{4}-\d{2}-\d{2}")
_ANY_DAY = dt.date(2024, 5, 15)
_DAY = re.compile(rf"\d{{4}}-\d\d|\b(?:{MONTH_NAME})\b\.?\s+\d|\d\s+(?:{MONTH_NAME})\b", re.IGNORECASE)


def check(subject: Subject) -> Iterator[NewFinding]:
    known = {date for data in subject.before.values() for date in _ISO.findall(decode(data))}
    for line in added_lines(subject):
        if line.hunk and not line.hunk.by_hand and not _BOOKKEEPING.match(line.text):
            yield from _in_line(line, line.hunk, known)
    for line in new_lines(subject):
        yield from _counted(line, "warn", _day_said(line.hunk) if line.hunk else None)


def standing(subject: Subject) -> Iterator[NewFinding]:
    """Relative days in existing memories, but not below a heading with a day."""
    dated = lines_in(subject, lambda item: any(map(_DAY.search, item.under)))
    for line in standing_lines(subject):
        if (line.path, line.number) not in dated:
            yield from _counted(line, "info", None)


def _in_line(line: CheckedLine, hunk: ChangedHunk, known: set[str]) -> Iterator[NewFinding]:
    for date in dict.fromkeys(_ISO.findall(line.text)):
        removed = "\n".join(hunk.removed)
        if date in known and (date in removed or not _dates_of(hunk.removed)):
            continue
        quoted = any(c.found and (date in c.quote or date in c.context) for c in hunk.citations)
        if quoted or computed(date, hunk):
            continue
        yield _found(line, date, hunk)


def _dates_of(lines: tuple[str, ...]) -> set[str]:
    return {date for line in lines for date in _ISO.findall(line)}


def computed_words(text: str, hunk: ChangedHunk) -> frozenset[str]:
    """The words of dates in `text` that follow from a source; "2026-Q3" is one date of two words."""
    found = [date for date in dict.fromkeys(_ISO.findall(text)) if computed(date, hunk)]
    return frozenset(word for date in found for word in (date.lower(), *date.lower().split("-")))


def computed(date: str, hunk: ChangedHunk) -> bool:
    """Whether a relative date in the old line or in a quote means this date, counted from the citation's day; if that is unknown,
    any relative date is enough."""
    for citation in hunk.citations:
        day = _day_of(citation)
        for text in (*hunk.removed, citation.quote, citation.context) if citation.found else ():
            if day is None and dates.resolve(text, _ANY_DAY):
                return True
            if day is not None and _follows(date, text, day):
                return True
    return False


def _day_of(citation: Citation) -> dt.date | None:
    """The day of the source: its own, or the first one in its note ("first committed: 2026-03-02")."""
    if citation.at is not None:
        return citation.at.date()
    noted = _NOTED.search(citation.note)
    try:
        return dt.date.fromisoformat(noted[0]) if noted else None
    except ValueError:
        return None


def _follows(date: str, text: str, day: dt.date) -> bool:
    """Whether the date is `day`, or a relative date in `text` means it. The person's day may differ from UTC by one;
    a day that the source names itself is exact."""
    if date == day.isoformat():
        return True
    near = [day + dt.timedelta(days=shift) for shift in (0, -1, 1)]
    return any(
        date in span.iso or date in span.written for each in near for span in dates.resolve(text, each)
    )


def _day_said(hunk: ChangedHunk) -> dt.date | None:
    """The day of the session that the change cites, if all its citations are of one day."""
    days = {c.at.date() for c in hunk.citations if c.found and c.at is not None}
    return days.pop() if len(days) == 1 else None


def _counted(line: CheckedLine, severity: Severity, day: dt.date | None) -> Iterator[NewFinding]:
    """A finding for the first relative day of a line, unless the line or its file name gives the date, or it is not new."""
    if _ISO.search(line.text) or _NOTED.search(line.path):
        return
    was = "\n".join(line.hunk.removed) if line.hunk else ""
    spans = dates.writable_spans(line.text, day or _ANY_DAY)
    new = [each for each in spans if (each.text not in was if line.hunk else not _DAY.search(each.text))]
    for span in new[:1]:
        meant = f", which is {span.meant} seen from {day}" if day else ""
        yield found_at(
            line,
            CHECK,
            "date-relative",
            severity,
            f"says “{span.text}”{meant}: read on a later day, this means a different date",
            "Write the day itself, or leave it out.",
        )


def _found(line: CheckedLine, date: str, hunk: ChangedHunk) -> NewFinding:
    changed = _dates_of(hunk.removed) - {date}
    code = "date-changed" if changed else "date-without-source"
    said = f"changes a date to {date}" if changed else f"adds the date {date}"
    return found_at(
        line,
        CHECK,
        code,
        "warn",
        f"{said}, which is in no source",
        "Check the date, then edit or reject the change.",
        f"{date} {' '.join(line.text.split())[:200]}",
    )
