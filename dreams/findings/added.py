"""The lines and statements that a change adds, each with its place. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dreams.findings.base import ChangedHunk, Found, MessageParts, Severity, Subject
from dreams.findings.statements.units import Unit, bare_lines, lines_of, spread, units_of_lines
from dreams.lib import memdir
from dreams.lib.prose.statements import statement

#: Fields that all memories have: they say of a file what it is.
BOOKKEEPING = frozenset({"type", "node_type", "modified", "created", "updated", "metadata", "pinned"})


@dataclass(frozen=True, slots=True)
class Line:
    """`number` is 1-based in the new text; `hunk` is None for a line that stands already."""

    path: str
    number: int
    text: str
    hunk: ChangedHunk | None = None

    @property
    def hunk_id(self) -> str:
        return self.hunk.hunk_id if self.hunk else ""


def found_at(
    line: Line, check: str, code: str, severity: Severity, says: str, remedy: str, about: str = ""
) -> Found:
    """`says` goes on after the line's place, which a page that shows the line leaves out; `about` is else the line."""
    return Found(
        check,
        code,
        severity,
        f"{line.path}, line {line.number} {says}.",
        remedy,
        line.path,
        line.hunk_id,
        line.number,
        about or " ".join(line.text.split())[:300],
        MessageParts(remark=f"{says[:1].upper()}{says[1:]}."),
    )


def added_lines(subject: Subject) -> Iterator[Line]:
    for hunk in subject.hunks:
        for offset, text in enumerate(hunk.added):
            yield Line(hunk.path, hunk.new_start + offset + 1, text, hunk)


def new_lines(subject: Subject) -> Iterator[Line]:
    """Added lines whose words stood nowhere before: what was only moved brings nothing new."""
    known = {line.strip() for data in subject.before.values() for line in bare_lines(data)}
    return (line for line in added_lines(subject) if line.text.strip() not in known)


def standing_lines(subject: Subject) -> Iterator[Line]:
    """The lines of all files that no hunk adds."""
    fresh = {(line.path, line.number) for line in added_lines(subject)}
    for path in sorted(subject.after):
        for number, text in enumerate(bare_lines(subject.after[path]), 1):
            if (path, number) not in fresh:
                yield Line(path, number, text)


def added_units(subject: Subject, hunk: ChangedHunk) -> Iterator[tuple[Unit, int]]:
    """The statements that the added lines have a part of, with their first line in the new text."""
    first, stop = hunk.new_start, hunk.new_start + len(hunk.added)
    data = subject.after.get(hunk.path)
    if lines_of(data)[first:stop] == tuple(hunk.added):
        for unit in spread(hunk.path, data).within(first + 1, stop):
            yield unit, unit.first_line
    else:
        for unit in units_of_lines(hunk.added):
            yield unit, first + unit.first_line


def needs_no_source(unit: Unit) -> bool:
    """Headings, titles of rows and bookkeeping fields order what is said; they claim nothing themselves.

    One with a number in it, or as long as a sentence, says something all the same.
    """
    if unit.kind == "field":
        return unit.name in BOOKKEEPING or unit.name == "name"
    if unit.kind not in {"heading", "title"}:
        return False
    made = statement(unit.text)
    return not made.numbers and len(made.items) <= 6


def is_bookkeeping(subject: Subject, line: Line) -> bool:
    """A line of frontmatter that all memories have: it says of the file what it is, and nothing else."""
    data = subject.after.get(line.path) or b""
    units = spread(line.path, data).within(line.number, line.number)
    return line.number < memdir.parse(data).body_start_line and all(map(needs_no_source, units))
