"""Relative dates that surely can be worked out, on the day on which their line was written. Pure but for the recorder."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dreams.engines.rules.notes import bodies, days as days_of
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest, is_daily, is_index, is_team
from dreams.engines.types import Citation, Fate, LineDate
from dreams.lib import memdir
from dreams.lib.files import text as texts
from dreams.lib.prose import dates

# A day that stands above a line is the day it counts from, and we would count from another.
_OWN_DAY = re.compile(
    r"\d{4}-\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d\.\d{1,2}\.\d{2}|\d/\d{1,2}/\d",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_SKIPPED = frozenset({"heading", "code", "comment", "rule", "blank"})
_MONTH_DAY = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d(?:st|nd|rd|th)\b|\d/\d", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:last|next|this|past|coming)\b", re.IGNORECASE)
_NO_DAY = re.compile(
    r"(?:with)?in\s|.*\b(?:from now|years ago)\b|오늘|이번|올해|heute|aujourd|hoy", re.IGNORECASE
)
_COMPARED = ("<", ">", "≤", "≥", "=", "~", "≈", "±")
LEAST_YEAR, MOST_YEAR = 1990, 2200


def of_lines(
    tree: Tree, line_dates: Mapping[str, Sequence[LineDate | None]]
) -> dict[str, list[LineDate | None]]:
    """The same dates for the lines as they stand now. A line that a step of this dream wrote has none."""
    found: dict[str, list[LineDate | None]] = {}
    for path, known in line_dates.items():
        snapshot = tree.workspace.snapshot.files.get(path)
        if snapshot is None or path not in tree.texts:
            continue
        before = texts.decode(snapshot.data)
        if before == tree.texts[path]:
            found[path] = list(known)
            continue
        dates_of: dict[str, list[LineDate | None]] = defaultdict(list)
        for line, date in zip(before.split("\n"), known, strict=False):
            dates_of[line.rstrip("\r")].append(date)
        lines = (line.rstrip("\r") for line in tree.texts[path].split("\n"))
        found[path] = [dates_of[line].pop(0) if dates_of.get(line) else None for line in lines]
    return found


@dataclass(frozen=True, slots=True)
class Undated:
    """A line with a relative date, and the same with the day written out, as seen from the day that it was written."""

    path: str
    line_no: int  # 1-based
    line: str
    new: str
    known: LineDate
    meant: str  # “yesterday” is 2026-09-30


def resolve(rec: Recorder, line_dates: Mapping[str, Sequence[LineDate | None]]) -> None:
    """Write out what surely can be worked out. Must run before any other step of its round: `line_dates` count the lines
    as they are then."""
    for found in list(undated(rec.tree, line_dates)):
        if found.known.believable and not rec.tree.settled(found.path):
            rec.report.checkpoint()
            write_out(rec, found)


def undated(tree: Tree, line_dates: Mapping[str, Sequence[LineDate | None]]) -> Iterator[Undated]:
    """Every line whose relative dates can be worked out, if it was written on its day."""
    for path in sorted(tree.texts):
        known = line_dates.get(path)
        if not known or not tree.writable(path) or is_team(path) or is_daily(path):
            continue
        lines = memdir.split_lines(tree.texts[path])
        for line_no, days in _lines(tree.document(path)):
            date = known[line_no - 1] if line_no <= len(known) else None
            if date and _counts(path, days, date):
                line = lines[line_no - 1].rstrip("\r\n")
                spans = days_of.spans(line, date.day)
                if spans and (new := _written_out(line, spans)):
                    meant = ", ".join(f"“{span.text}” is {span.meant}" for span in spans)
                    yield Undated(path, line_no, line, new, date, meant)


def write_out(rec: Recorder, found: Undated) -> bool:
    lines = memdir.split_lines(rec.tree.texts[found.path])
    at, known = found.line_no - 1, found.known
    lines[at] = found.new + lines[at][len(found.line) :]
    reason = f"{found.meant}, counted from {known.day.isoformat()} ({known.note})."
    note = f"{known.note}: {known.day.isoformat()}"
    cited = Citation(known.source, found.line[:1000], found.path, line_no=found.line_no, note=note)
    fate = Fate(found.line, "kept-in", found.path, found.new)
    change = NewText(found.path, "".join(lines), reason, (fate,), (cited,))
    done = rec.operation("date", [change], key=digest(found.path, str(found.line_no), found.line))
    rec.count("dated", done)
    return done


def _counts(path: str, days: frozenset[str], known: LineDate) -> bool:
    """Whether that day says when the line was written.

    Sessions append to the index all the time, so its own date says little about one of its rows; and a section that names
    an earlier day was likely written on that day, and only touched on ours.
    """
    if known.ours or not LEAST_YEAR <= known.day.year <= MOST_YEAR:
        return False
    is_of_all = known.source in {"file", "memory"}
    is_earlier = any(day < known.day.isoformat() for day in days)
    return not (is_of_all and (is_index(path) or is_earlier))


def _written_out(line: str, spans: Sequence[dates.DateSpan]) -> str:
    """The line with its days written out; empty where it would not read well, or a second look would find another date."""
    if (
        line.lstrip().startswith("|")
        or _ISO_DAY.search(line)
        or not all(_is_plain(line, span) for span in spans)
    ):
        return ""
    new = dates.rewrite(line, spans)
    return "" if days_of.names_a_day(new) else new


def _is_plain(line: str, span: dates.DateSpan) -> bool:
    """A phrase that is relative to its day and that a date can take the place of.

    "May 7" is a date as it is, "5 days ago" behind "≤" is an age, "in 8 weeks" a length as often as a day, "40 years ago" a
    round one, "오늘" and "heute" every day as well; "yesterday's" would read badly, and what somebody said in quotes stays.
    """
    before, after = line[: span.start].rstrip(), line[span.end :]
    if _MONTH_DAY.search(span.text) and not _RELATIVE.search(span.text):
        return False
    if _NO_DAY.match(span.text) or after.startswith(("'s", "’s")) or before.endswith(_COMPARED):
        return False
    return before.count('"') % 2 == 0 and before.count("“") == before.count("”")


def _lines(document: memdir.Document) -> Iterator[tuple[int, frozenset[str]]]:
    """Lines of prose that no day above them speaks for, each with the days that its section names."""
    items = memdir.sections(document.body, document.body_start_line)
    days: frozenset[str] = frozenset()
    ends = bodies.list_ends(items)
    for place, item in enumerate(items):
        if item.kind == "heading" or place == 0:
            days = frozenset(_ISO_DAY.findall(_section(items, place)))
        if item.kind in _SKIPPED or item.text.lstrip().startswith(">"):
            continue
        if not _OWN_DAY.search("\n".join([*item.under, *_above(items, place, ends[place])])):
            yield from ((number, days) for number in range(item.first_line, item.last_line + 1))


def _section(items: Sequence[memdir.Item], place: int) -> str:
    """The text up to the next heading."""
    following = itertools.takewhile(lambda item: item.kind != "heading", items[place + 1 :])
    return "".join([items[place].text, *(item.text for item in following)])


def _above(items: Sequence[memdir.Item], place: int, end: int) -> Iterator[str]:
    """What frames an item: the bullets it is nested in, the line that introduces its list."""
    depth = items[place].depth
    for item in bodies.upwards(items, place, end):
        if item.kind == "heading":
            return
        if item.kind == "bullet" and item.depth < depth:
            depth = item.depth
            yield item.content
        elif item.kind == "paragraph":
            if item.text.rstrip().endswith(":"):
                yield item.text
            return
