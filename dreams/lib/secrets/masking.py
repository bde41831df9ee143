"""Texts for a page with their secrets out of sight: enough of a long one stays to know which one is meant. PURE."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dreams.lib import diff
from dreams.lib.files.text import decode, encode
from dreams.lib.secrets.redact import replaced, values

HIDDEN = "•" * 8
#: Of a shorter secret even its ends would help to guess it.
LONG = 20
HEAD, TAIL = 4, 2
#: A shorter line of a key block is hidden only where it is a whole line: within one it could be anybody's.
LEAST_LINE = 8
Data = TypeVar("Data", bytes, bytes | None)
_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Mask:
    """`shown` has what stands in place of each secret. Lines stay lines, so that numbers of lines stay true.

    `lines` are those of secrets over several, `ends` the short ones of them: a change may hold some of them alone."""

    shown: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    ends: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Mask":
        """For every secret in `texts`, wherever else its words stand."""
        return cls.hiding(value for text in texts for value in values(text))

    @classmethod
    def hiding(cls, secrets: Iterable[str]) -> "Mask":
        shown = {value: _hidden(value) for value in secrets}
        lines = [line for value in shown if "\n" in value for line in value.splitlines()]
        ends = frozenset(line.strip() for line in lines if len(line) < LEAST_LINE and _WORD.search(line))
        return cls(shown, {line: HIDDEN for line in lines if len(line) >= LEAST_LINE}, ends)

    def __call__(self, text: str) -> str:
        if not self.shown:
            return text
        bare = replaced(replaced(text, self.shown), self.lines)
        if not self.ends:
            return bare
        return _LINE.sub(lambda line: HIDDEN if line[0].strip() in self.ends else line[0], bare)

    def bytes(self, data: Data) -> Data:
        """A file's text, to the byte where it holds no secret; None stays None."""
        return encode(self(decode(data))) if data and self.shown else data

    def deep(self, value: object) -> object:
        """Every text in what is made of dicts and lists; all else stays as it is."""
        if isinstance(value, dict):
            return {key: self.deep(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.deep(one) for one in value]
        return self(value) if isinstance(value, str) else value

    def count(self, text: str) -> int:
        """How many different secrets stand in `text`."""
        return sum(value in text for value in self.shown)


def hunks(mask: Mask, found: Iterable[diff.Hunk]) -> list[diff.Hunk]:
    """Found in the texts themselves, and only shown without their secrets: the same hunks, line by line in their places."""
    return [
        replace(one, base_lines=_masked(mask, one.removed), new_lines=_masked(mask, one.added))
        for one in found
    ]


def rows(mask: Mask, before: str, after: str, context: int | None = 3) -> list[diff.DiffRow]:
    """The difference as a page shows it, with `context` lines around each change, None for all lines."""
    return diff.rows(mask(before), hunks(mask, diff.hunks(before, after)), context)


def _masked(mask: Mask, text: str) -> tuple[str, ...]:
    return tuple(diff.split_lines(mask(text)))


def _hidden(value: str) -> str:
    if len(value) < LONG or "\n" in value:
        return _LINE.sub(HIDDEN, value)
    return value[:HEAD] + HIDDEN + value[-TAIL:]
