"""Masks the secrets in texts for a page; the ends of a long one stay visible, to show which one it is. PURE."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dreams.lib import diff
from dreams.lib.files.text import decode, encode, with_texts
from dreams.lib.secrets.redact import replaced, values

HIDDEN = "•" * 8
#: The ends of a shorter secret would help to guess it.
LONG = 20
HEAD, TAIL = 4, 2
#: A shorter line of a key block is masked only as a complete line: inside a line it could be ordinary text.
LEAST_LINE = 8
Data = TypeVar("Data", bytes, bytes | None)
_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Mask:
    """`shown` maps each secret to its mask. Line breaks stay, so that line numbers remain valid.

    `lines` are the lines of multi-line secrets, `ends` their short lines: a change may contain only some of them."""

    shown: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    ends: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Mask":
        """A mask of every secret in `texts`, to be applied to any text."""
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
        """A file's masked text; unchanged to the byte if it has no secret. None stays None."""
        return encode(self(decode(data))) if data and self.shown else data

    def deep(self, value: object) -> object:
        """Masks every text in nested dicts and lists; other values stay unchanged."""
        return with_texts(value, self)

    def count(self, text: str) -> int:
        """The number of different secrets in `text`."""
        return sum(value in text for value in self.shown)


def masked(text: str) -> str:
    """One text without its own secrets."""
    return Mask.of([text])(text)


def hunks(mask: Mask, found: Iterable[diff.Hunk]) -> list[diff.Hunk]:
    """The same hunks with their lines masked: hunks are made from the real texts, and only shown masked."""
    return [
        replace(one, base_lines=_lines(mask, one.removed), new_lines=_lines(mask, one.added)) for one in found
    ]


def rows(mask: Mask, before: str, after: str, context: int | None = 3) -> list[diff.DiffRow]:
    """The masked diff for a page, with `context` lines around each change, None for all lines."""
    return diff.rows(mask(before), hunks(mask, diff.hunks(before, after)), context)


def _lines(mask: Mask, text: str) -> tuple[str, ...]:
    return tuple(diff.split_lines(mask(text)))


def _hidden(value: str) -> str:
    if len(value) < LONG or "\n" in value:
        return _LINE.sub(HIDDEN, value)
    return value[:HEAD] + HIDDEN + value[-TAIL:]
