"""Rows of a difference as a template shows them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dreams.lib import diff

_SIGNS = {"ins": ("+", "Added: "), "del": ("−", "Removed: ")}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`kind` is equal, ins, del or skip; `sign` and `word` say it without colour."""

    kind: str
    number: int | None
    sign: str
    word: str
    text: str
    pieces: tuple[diff.Piece, ...]
    no_end: bool


def lines(rows: Iterable[diff.Row]) -> list[DiffLine]:
    return [_line(row) for row in rows]


def _line(row: diff.Row) -> DiffLine:
    sign, word = _SIGNS.get(row.kind, ("", ""))
    number = row.old_no if row.kind == "del" else row.new_no
    is_skip = row.kind == "skip"
    return DiffLine(
        kind=row.kind,
        number=number,
        sign=sign,
        word=word,
        text=row.text if is_skip else "",
        pieces=() if is_skip else tuple(diff.pieces(row)),
        no_end=not is_skip and not row.end and row.kind != "equal",
    )
