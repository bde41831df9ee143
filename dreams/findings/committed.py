"""What does not belong into version control, in a memory that is kept there: a folder of one machine, and what is about one
person. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dreams.findings.base import Found, Subject
from dreams.findings.ledger.units import Line, found_at, new_lines, standing_lines
from dreams.lib import memdir

CHECK = "committed"
#: The scope of an agent's memory that is in version control.
COMMITTED = "project"
_HOME = re.compile(
    r"(?:/home|/Users)/[\w.-]+|\b[A-Za-z]:\\+Users\\+[\w.-]+|/root(?=[/\s`'\"),.]|$)|(?<![\w/])~/[\w.-]+"
)
_PERSONAL = re.compile(
    r"\b(?:I|the user|he|she) (?:really |always |usually )?(?:prefers?|likes?|loves?|hates?|dislikes?|wants?|cannot stand)\b|"
    r"\bmy (?:own |personal )?(?:preference|editor|machine|laptop|name|e-?mail|phone|address|desk|home)\b",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Found]:
    if subject.scope == COMMITTED:
        yield from _of(subject, new_lines(subject))


def standing(subject: Subject) -> Iterator[Found]:
    if subject.scope == COMMITTED:
        yield from _of(subject, standing_lines(subject))


def _of(subject: Subject, lines: Iterable[Line]) -> Iterator[Found]:
    for line in lines:
        home = _HOME.search(line.text)
        if home:
            says = f"names a folder of one machine, {home[0]}, and would be committed"
            remedy = "Write the path from the top of the repository."
            yield found_at(line, CHECK, "home-path", "warn", says, remedy)
        if _is_personal(subject, line):
            says = "is about one person, and would be committed"
            remedy = "Keep it in your own memory, or in the agent’s memory of the scope user or local."
            yield found_at(line, CHECK, "personal", "warn", says, remedy)


def _is_personal(subject: Subject, line: Line) -> bool:
    """What is said of a person; of a memory about the user its first line is named for all."""
    if _PERSONAL.search(line.text):
        return True
    document = memdir.parse(subject.after.get(line.path, b""))
    return line.text.strip() == "type: user" and memdir.memory_type(document, line.path) == "user"
