"""What a session is told anyway: by CLAUDE.md, by the code, by git. PURE."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from dreams.findings.added import Line, found_at
from dreams.findings.base import Found, Severity, Subject
from dreams.findings.statements.standing import State
from dreams.findings.statements.units import has_content, units_of_lines

CHECK = "taxonomy"
_DRAWN = re.compile(r"^\s*(?:[│|]\s*)*(?:├|└|\+--|\|--|`--)")
_LOGGED = re.compile(
    r"^\s*(?:[-*+]\s+)?`?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}`?\s*[:—–-]?\s+[\w(\[]"
)
_TELLS = {"code": "the code says it, and stays right.", "git": "git tells it, and stays right."}
LEAST_DRAWN = 3  # lines that make the drawing of a folder
LEAST_LOGGED = 2  # lines that make a log


def findings(subject: Subject, lines: Iterable[Line], severity: Severity) -> Iterator[Found]:
    """`severity` is that of a line of CLAUDE.md; what code and git say is told as information."""
    lines = list(lines)
    yield from _in_instructions(subject, lines, severity)
    yield from _in_repository(subject, lines)
    yield from _runs(
        lines,
        _DRAWN,
        LEAST_DRAWN,
        "in-code",
        "draws the repository's files",
        "Leave it out: a session sees the files themselves.",
    )
    yield from _runs(lines, _LOGGED, LEAST_LOGGED, "in-git", "lists commits", f"Leave it out: {_TELLS['git']}")  # fmt: skip


def _in_instructions(subject: Subject, lines: Iterable[Line], severity: Severity) -> Iterator[Found]:
    """Lines that the project's instruction files say already: every session loads those anyway."""
    if not subject.instructions.strip():
        return
    said = State({"CLAUDE.md": subject.instructions.encode("utf-8", "replace")})
    for line in lines:
        if not has_content(line.text) or len(line.text.split()) < 4:
            continue
        units = [unit for unit in units_of_lines([line.text]) if unit.kind != "heading"]
        if units and all(said.same_words(u) or said.holder(u.text) for u in units):
            remedy = "Leave it out: every session loads CLAUDE.md."
            yield _found(line, "in-instructions", severity, "says what CLAUDE.md says already", remedy)


def _in_repository(subject: Subject, lines: Iterable[Line]) -> Iterator[Found]:
    places = {(each.path, each.line_no): each for each in subject.repeated}
    for line in lines if places else ():
        each = places.get((line.path, line.number))
        if each:
            says = f"says what {each.place} says already: “{each.quote[:80]}”"
            yield _found(line, f"in-{each.by}", "info", says, f"Leave it out: {_TELLS[each.by]}")


def _runs(
    lines: Iterable[Line], pattern: re.Pattern[str], least: int, code: str, says: str, remedy: str
) -> Iterator[Found]:
    """One finding for each file with enough such lines, at the first of them."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if pattern.match(line.text[:300]):
            found[line.path].append(line)
    for some in found.values():
        if len(some) >= least:
            yield _found(some[0], code, "info", says, remedy)


def _found(line: Line, code: str, severity: Severity, says: str, remedy: str) -> Found:
    return found_at(line, CHECK, code, severity, says, remedy)
