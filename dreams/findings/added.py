"""The lines that a change adds, each with its place. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dreams.findings.base import ChangedHunk, Subject
from dreams.findings.units import bare_lines


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
