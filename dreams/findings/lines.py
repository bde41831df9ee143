"""The added and the existing lines that checks go through, and findings at a line. PURE."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dreams.findings.base import ChangedHunk, MessageParts, NewFinding, Severity, Subject
from dreams.findings.ledger.units import lines_of, needs_no_source, units_by_line
from dreams.lib import memdir, progress


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """`number` is 1-based in the new text; `hunk` is None for an existing line."""

    path: str
    number: int
    text: str
    hunk: ChangedHunk | None = None

    @property
    def hunk_id(self) -> str:
        return self.hunk.hunk_id if self.hunk else ""


def found_at(
    line: CheckedLine, check: str, code: str, severity: Severity, says: str, remedy: str, about: str = ""
) -> NewFinding:
    """A finding at a line. `says` continues after the place, which is left out beside the line; `about` defaults to the line."""
    return NewFinding(
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


def added_lines(subject: Subject) -> Iterator[CheckedLine]:
    for hunk in progress.each("Checking changes", subject.hunks):
        for offset, said in enumerate(hunk.added):
            yield CheckedLine(hunk.path, hunk.new_start + offset + 1, said, hunk)


def new_lines(subject: Subject) -> Iterator[CheckedLine]:
    """Added lines that were in no file before; moved lines are left out."""
    if "lines" not in subject.memo:
        subject.memo["lines"] = {line.strip() for data in subject.before.values() for line in lines_of(data)}
    return (line for line in added_lines(subject) if line.text.strip() not in subject.memo["lines"])


def standing_lines(subject: Subject) -> Iterator[CheckedLine]:
    """The lines of all files of a directory as it is."""
    for path in sorted(subject.after):
        for number, said in enumerate(lines_of(subject.after[path]), 1):
            yield CheckedLine(path, number, said)


def lines_in(subject: Subject, holds: Callable[[memdir.BodyItem], bool]) -> set[tuple[str, int]]:
    """The lines of the bodies' items for which this holds, as path and number."""
    documents = ((path, memdir.parse(data)) for path, data in subject.after.items())
    items = ((path, memdir.sections(each.body, each.body_start_line)) for path, each in documents)
    held = ((path, item) for path, some in items for item in some if holds(item))
    return {(path, number) for path, item in held for number in range(item.first_line, item.last_line + 1)}


def is_bookkeeping(subject: Subject, line: CheckedLine) -> bool:
    """Whether it is a standard line of frontmatter."""
    data = subject.after.get(line.path) or b""
    units = units_by_line(line.path, data).within(line.number, line.number)
    return line.number < memdir.parse(data).body_start_line and all(map(needs_no_source, units))
