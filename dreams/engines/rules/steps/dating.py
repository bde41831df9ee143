"""Relative dates that surely can be worked out, on the day on which their line was written. Pure but for the recorder."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dreams import memdir
from dreams import text as texts
from dreams.engines.rules.notes import bodies
from dreams.engines.rules.notes import days as days_of
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, is_daily, is_index, is_team
from dreams.engines.types import Citation, Fate, LineDate
from dreams.language import dates

# A day that stands above a line is the day it counts from, and we would count from another.
_OWN_DAY = re.compile(
    r"\d{4}-\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d\.\d{1,2}\.\d{2}|\d/\d{1,2}/\d",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_SKIPPED = frozenset({"heading", "code", "comment", "rule", "blank"})
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


def resolve(rec: Recorder, line_dates: Mapping[str, Sequence[LineDate | None]]) -> None:
    """Must run before any other step of its round: `line_dates` count the lines as they stand."""
    for path in sorted(rec.tree.texts):
        known = line_dates.get(path)
        if known and _may(rec, path):
            for line_no, days in list(_lines(rec.tree.document(path))):
                if line_no <= len(known):
                    _resolve_line(rec, path, line_no, days, known[line_no - 1])


def _may(rec: Recorder, path: str) -> bool:
    return rec.tree.writable(path) and not is_team(path) and not is_daily(path) and not rec.tree.pinned(path)


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


def _resolve_line(
    rec: Recorder, path: str, line_no: int, days: frozenset[str], known: LineDate | None
) -> None:
    if known is None or known.ours or not LEAST_YEAR <= known.day.year <= MOST_YEAR:
        return
    if known.source == "file" and (is_index(path) or days - {known.day.isoformat()}):
        # Sessions append to the index all the time, so its own date says little about one of its rows; and a section
        # that names another day was likely written on that day, and only touched on ours.
        return
    text = rec.tree.texts[path]
    raw = _split(text)[line_no - 1]
    line = raw.rstrip("\r\n")
    found = days_of.spans(line, known.day)
    new = dates.rewrite(line, found)
    if not found or days_of.names_a_day(new):
        # Written so, a second look would find another date in it.
        return
    after = _with_line(text, line_no, new + raw[len(line) :])
    told = ", ".join(f"“{span.text}” is {span.meant}" for span in found)
    reason = f"{told}, counted from {known.day.isoformat()} ({known.note})."
    cited = Citation(
        known.source, line[:1000], path, line_no=line_no, note=f"{known.note}: {known.day.isoformat()}"
    )
    fate = Fate(line, "kept-in", path, new)
    if rec.operation(
        "date", [Change(path, after, reason, (fate,), (cited,))], key=digest(path, str(line_no), line)
    ):
        rec.count("dated", 1)


@functools.lru_cache(maxsize=2)
def _split(text: str) -> tuple[str, ...]:
    """Each line is asked for alone; splitting a large file for each of them took minutes."""
    return tuple(memdir.split_lines(text))


def _with_line(text: str, line_no: int, new: str) -> str:
    lines = memdir.split_lines(text)
    return "".join([*lines[: line_no - 1], new, *lines[line_no:]])
