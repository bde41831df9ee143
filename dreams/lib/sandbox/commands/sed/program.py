"""What a sed program is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import re2


@dataclass(frozen=True, slots=True)
class Address:
    """A line number, the last line (`$`), a pattern, every `step`-th line, `+count` lines more, or `~multiple`.

    A pattern None stands for the last one that was used.
    """

    kind: Literal["number", "last", "pattern", "step", "more", "multiple"]
    number: int = 0
    step: int = 0
    pattern: re2._Regexp | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """`\\U`, `\\L`, `\\u`, `\\l` or `\\E` in a replacement."""

    letter: str


# Texts, numbers of groups (0: the whole match), and changes of case.
Replacement = list[bytes | int | Case]


@dataclass(slots=True)
class Substitution:
    pattern: re2._Regexp | None
    replacement: Replacement
    everywhere: bool = False
    nth: int = 1
    printed: bool = False


@dataclass(slots=True)
class Command:
    """One command. `number`: the status of q, the width of l, or where a branch or block leads."""

    letter: str
    first: Address | None = None
    last: Address | None = None
    negated: bool = False
    substitution: Substitution | None = None
    text: bytes = b""
    number: int | None = None
    table: bytes = b""
    inside: bool = field(default=False)
    until: int = 0
