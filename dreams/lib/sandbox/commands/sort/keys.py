"""Keys: which part of a line counts, and the order that several keys make."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import UsageError
from .ranks import Rank, rank_of

_KEY = re.compile(
    r"([0-9]{1,15})(?:\.([0-9]{1,15}))?([bdfhinrVM]*)(?:,([0-9]{1,15})(?:\.([0-9]{1,15}))?([bdfhinrVM]*))?"
)


@dataclass(frozen=True, slots=True)
class Key:
    """One -k: from a field and character to another, and how to compare what stands there."""

    start: int = 1
    start_char: int = 1
    end: int = 0  # 0: to the end of the line
    end_char: int = 0  # 0: to the end of the field
    start_blanks: bool = False
    end_blanks: bool = False
    modes: str = ""


def refuse_mixed(modes: str) -> None:
    kinds = [letter for letter in "nhMV" if letter in modes]
    if len(kinds) > 1 or (kinds and kinds != ["V"] and ("d" in modes or "i" in modes)):
        raise UsageError(f"options '-{''.join(sorted(modes))}' are incompatible", 2)


def read_key(text: str, overall: str) -> Key:
    found = _KEY.fullmatch(text)
    if found is None or found[1] == "0" or (found[4] == "0"):
        raise UsageError(f"invalid field specification '{text}'", 2)
    own = (found[3] or "") + (found[6] or "")
    modes = own or overall
    blanks = not own and "b" in overall
    return Key(
        start=int(found[1]),
        start_char=int(found[2] or 1),
        end=int(found[4] or 0),
        end_char=int(found[5] or 0),
        start_blanks="b" in (found[3] or "") or blanks,
        end_blanks="b" in (found[6] or "") or blanks,
        modes=modes.replace("b", ""),
    )


class Order:
    """Compares lines by keys, then by all bytes, as GNU sort does."""

    def __init__(self, keys: list[Key], separator: bytes | None, reverse: bool, keys_only: bool) -> None:
        self._keys = keys
        self._separator = separator
        self._reverse = reverse
        self._keys_only = keys_only

    def keyed(self, line: bytes) -> list[Rank]:
        return [rank_of(_part(line, key, self._separator), key.modes) for key in self._keys]

    def sort(self, lines: list[bytes]) -> list[bytes]:
        """By the last key first: Python's sort is stable, so each pass keeps the ones before."""
        if not self._keys_only:
            lines = sorted(lines, reverse=self._reverse)
        ranked = [(self.keyed(line), line) for line in lines]
        for index in range(len(self._keys) - 1, -1, -1):
            ranked = _stable(ranked, index, "r" in self._keys[index].modes)
        return [line for _, line in ranked]

    def after(self, first: bytes, second: bytes) -> int:
        """1 when `first` belongs after `second`, 0 when equal, -1 before."""
        for key, a, b in zip(self._keys, self.keyed(first), self.keyed(second), strict=True):
            if a != b:
                return _sign(a, b) * (-1 if "r" in key.modes else 1)
        if self._keys_only or first == second:
            return 0
        return _sign(first, second) * (-1 if self._reverse else 1)


def _sign(a: Rank, b: Rank) -> int:
    return 1 if _greater(a, b) else -1


def _greater(a: Rank, b: Rank) -> bool:
    return bool(a > b)  # type: ignore[operator]  # two ranks of one key are of one shape


def _stable(
    ranked: list[tuple[list[Rank], bytes]], index: int, reverse: bool
) -> list[tuple[list[Rank], bytes]]:
    def rank(pair: tuple[list[Rank], bytes]) -> Rank:
        return pair[0][index]

    return sorted(ranked, key=rank, reverse=reverse)


def _part(line: bytes, key: Key, separator: bytes | None) -> bytes:
    if key.start == 1 and key.start_char == 1 and not key.end and not key.start_blanks:
        return line
    start = _field_start(line, key.start, separator)
    if key.start_blanks:
        start = _skip_blanks(line, start)
    start = min(start + key.start_char - 1, len(line))
    return line[start : max(start, _limit(line, key, separator))]


def _limit(line: bytes, key: Key, separator: bytes | None) -> int:
    if not key.end:
        return len(line)
    if not key.end_char:
        return _field_end(line, key.end, separator)
    at = _field_start(line, key.end, separator)
    if key.end_blanks:
        at = _skip_blanks(line, at)
    return min(at + key.end_char, len(line))


def _field_start(line: bytes, field: int, separator: bytes | None) -> int:
    """Where a field begins; without a separator a field begins with the blanks before it."""
    at = 0
    for _ in range(field - 1):
        if at >= len(line):
            break
        at = next_field(line, at, separator)
    return min(at, len(line))


def next_field(line: bytes, at: int, separator: bytes | None) -> int:
    if separator is not None:
        stop = line.find(separator, at)
        return len(line) if stop < 0 else stop + 1
    at = _skip_blanks(line, at)
    found = _BLANK.search(line, at)
    return found.start() if found else len(line)


_BLANK = re.compile(rb"[ \t\n]")
_NOT_BLANK = re.compile(rb"[^ \t\n]")


def _skip_blanks(line: bytes, at: int) -> int:
    found = _NOT_BLANK.search(line, at)
    return found.start() if found else len(line)


def _field_end(line: bytes, field: int, separator: bytes | None) -> int:
    at = _field_start(line, field, separator)
    if separator is None:
        return next_field(line, at, None)
    stop = line.find(separator, at)
    return len(line) if stop < 0 else stop
