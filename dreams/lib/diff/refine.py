"""Cuts a changed block into the smallest parts that can be decided on separately: list items, rows, fields, headings,
paragraphs."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Final
from urllib.parse import unquote

from rapidfuzz.distance import Indel

from dreams.lib.diff.lines import LineChange, terminated
from dreams.lib.diff.words import tokens

_ITEM: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_INDENT: Final = re.compile(r"[ \t]*")
_BULLETS: Final = ("- ", "* ", "+ ")
_LINK: Final = re.compile(
    r"\]\(\s*<?(?:\./)?(?P<target>[^()<>#?]{1,500}?\.md)(?:[#?][^()<>]*)?>?(?:\s+\"[^\"]*\")?\s*\)"
    r"|\[\[(?P<wiki>[^\[\]|#]{1,500})(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]"
)
_FIELD: Final = re.compile(r"[ \t]*(?P<key>[A-Za-z_][\w-]{0,60}):(?:\s|$)")
_LABEL: Final = re.compile(r"\*\*(?P<key>[^*\n]{1,60}):\*\*")
_HEADING: Final = re.compile(r"#{1,6}\s")
# Notes with one sentence per line are no wrapped paragraph: each line is a separate statement.
_SENTENCE_ENDS: Final = re.compile(r"[.!?][)\]\"'”’`*_]*\s*$")
_SENTENCE_BEGINS: Final = re.compile(r"\s*[(\[\"'“‘`*_]*[^\W_a-z]")


class UnitKind(StrEnum):
    """The kind of a part of a block; only parts of the same kind are paired."""

    ITEM = "item"
    ROW = "row"
    FIELD = "field"
    HEADING = "heading"
    TABLE = "table"
    PARAGRAPH = "paragraph"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `[start, end)` of a block. `key` is its name, if any: a link target or a field's key."""

    kind: UnitKind
    key: str
    start: int
    end: int


def row_target(line: str) -> str | None:
    """The file an index row points to: the first link to a .md file in a list item, else None.

    Agents write `- [Title](file.md) — hook`, some `- [[file]] — hook`. Anchors, `./`, `<…>`, percent escapes
    and the Unicode form are normalised. Other links make no row.
    """
    if not _ITEM.match(line):
        return None
    link = _LINK.search(line)
    if link is None:
        return None
    target = unquote(link["target"]) if link["target"] else link["wiki"].strip().removesuffix(".md") + ".md"
    return unicodedata.normalize("NFC", target)


def indent_of(line: str) -> int:
    """Width of the white space before the text; a tab reaches to the next multiple of four."""
    found = _INDENT.match(line)
    return len(found[0].expandtabs(4)) if found else 0


def units(lines: Sequence[str]) -> list[Unit]:
    """The block's lines cut into units, each line in one. Blank lines belong to the unit before, the first ones to the one after."""
    found: list[Unit] = []
    for number, line in enumerate(lines):
        if found and _belongs(line, found[-1], lines):
            last = found[-1]
            found[-1] = Unit(last.kind, last.key, last.start, number + 1)
        else:
            kind, key = _classify(line)
            found.append(Unit(kind, key, number, number + 1))
    if len(found) > 1 and found[0].kind is UnitKind.BLANK:  # an empty line needs no decision
        found[:2] = [replace(found[1], start=found[0].start)]
    return found


def _classify(line: str) -> tuple[UnitKind, str]:
    if not line.strip():
        return UnitKind.BLANK, ""
    if _ITEM.match(line):
        target = row_target(line)
        return (UnitKind.ROW, target) if target else (UnitKind.ITEM, "")
    if _HEADING.match(line):
        return UnitKind.HEADING, ""
    if line.lstrip().startswith("|"):
        return UnitKind.TABLE, ""
    named = _FIELD.match(line) or _LABEL.match(line)
    return (UnitKind.FIELD, named["key"]) if named else (UnitKind.PARAGRAPH, "")


def _belongs(line: str, unit: Unit, lines: Sequence[str]) -> bool:
    """Whether this line continues the unit before it."""
    if not line.strip():
        return True
    if unit.kind in (UnitKind.ITEM, UnitKind.ROW):
        return indent_of(line) > indent_of(lines[unit.start]) and row_target(line) is None
    ended = not lines[unit.end - 1].strip()
    same = unit.kind is UnitKind.PARAGRAPH and _classify(line)[0] is UnitKind.PARAGRAPH
    return same and not ended and not _begins_anew(line, lines[unit.end - 1])


def _begins_anew(line: str, before: str) -> bool:
    return bool(_SENTENCE_ENDS.search(before[-80:]) and _SENTENCE_BEGINS.match(line))


# --- Cutting a block --------------------------------------------------------------------------------------------------

# Two units that share this much are one reworded unit; else one was removed and another added.
SAME_UNIT: Final = 0.45
# A row with another target is another row, unless almost nothing else changed (its file was renamed).
SAME_ROW_ELSEWHERE: Final = 0.75
ALMOST_THE_SAME: Final = 0.85  # chosen
# Above this many comparisons (about 250 × 250 units) only units at the same place are compared.
MAX_COMPARISONS: Final = 60_000
# Comparing is quadratic in length, and the first characters identify a unit: one line of 500 KB took 6 s.
COMPARED_LENGTH: Final = 1_000


class _Side:
    """One side of a block: its lines, its units and the texts they are compared by."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.units = units(lines)
        self.texts = ["".join(lines[unit.start : unit.end])[:COMPARED_LENGTH] for unit in self.units]
        self._edges = [unit.start for unit in self.units] + [len(self.lines)]
        self._words: dict[int, list[str]] = {}

    def words(self, unit: int) -> list[str]:
        """The unit's tokens without white space, computed on first use."""
        if unit not in self._words:
            self._words[unit] = [token for token in tokens(self.texts[unit]) if not token.isspace()]
        return self._words[unit]

    def line_range(self, start: int, end: int) -> tuple[int, int]:
        """Units `[start, end)` as lines."""
        return self._edges[start], self._edges[end]


def refine(old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """The block `old` → `new` as consecutive changes that cover it; each can be accepted or rejected alone."""
    whole = [LineChange(0, len(old), 0, len(new))]
    if len(old) == len(new) == 1 and _is_one_unit(old[0], new[0]):
        return whole
    # Only line ends differ: a file converted from CRLF to LF is one decision, not one for each line.
    if [line.rstrip("\r\n") for line in old] == [line.rstrip("\r\n") for line in new]:
        return whole
    if len(old) == len(new) and all(map(_is_one_item, old, new)):
        return [LineChange(n, n + 1, n, n + 1) for n in range(len(old))]
    left, right = _Side(old), _Side(new)
    pieces: list[LineChange] = []
    i = j = 0
    for x, y in [*_pairs(left, right), (len(left.units), len(right.units))]:
        pieces.extend(_unpaired(left.units[i:x], right.units[j:y], i, j))
        if x < len(left.units) and y < len(right.units):
            pieces.append(LineChange(x, x + 1, y, y + 1))
        i, j = x + 1, y + 1
    in_lines = [LineChange(*left.line_range(p.a0, p.a1), *right.line_range(p.b0, p.b1)) for p in pieces]
    return _glued(in_lines, old, new)


def _is_one_unit(old: str, new: str) -> bool:
    """Whether two single lines certainly belong together, without comparing words, as in most changed blocks.

    Only items can be decided one by one.
    """
    return not (_ITEM.match(old) and _ITEM.match(new)) or _is_reworded(old, new)


def _is_one_item(old: str, new: str) -> bool:
    """Whether two lines are certainly one changed item, and not part of another: neither is indented."""
    whole = old.startswith(_BULLETS) and new.startswith(_BULLETS) and terminated(old) and terminated(new)
    return whole and _is_reworded(old, new)


def _is_reworded(old: str, new: str) -> bool:
    """Whether the letters are almost the same; false with links, since index rows are compared by target."""
    if "](" in old or "[[" in old or "](" in new or "[[" in new:
        return False
    short = old[:COMPARED_LENGTH], new[:COMPARED_LENGTH]
    return Indel.normalized_similarity(*short, score_cutoff=ALMOST_THE_SAME) > 0


def _likeness(left: _Side, i: int, right: _Side, j: int) -> float:
    """0 if these two cannot be one changed unit, else how much they share (above 0, at most 1)."""
    a, b = left.units[i], right.units[j]
    if a.kind is not b.kind:
        return 0.0
    if a.key and a.key == b.key:
        return 1.0
    least = SAME_ROW_ELSEWHERE if a.key and b.key else SAME_UNIT
    # Letters are faster to compare than words, but conclusive only if nearly all agree.
    by_letters = Indel.normalized_similarity(left.texts[i], right.texts[j], score_cutoff=ALMOST_THE_SAME)
    return by_letters or Indel.normalized_similarity(left.words(i), right.words(j), score_cutoff=least)


def have_alike_units(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether a unit of one may be a unit of the other in other words or with another value; also if there are too many to
    compare. Headings are not compared: those of two days are almost the same."""
    left, right = _Side(old), _Side(new)
    if len(left.units) * len(right.units) > MAX_COMPARISONS:
        return True
    return any(
        one.key == other.key and _likeness(left, i, right, j) >= SAME_ROW_ELSEWHERE
        for i, one in enumerate(left.units)
        if one.kind not in (UnitKind.HEADING, UnitKind.BLANK)
        for j, other in enumerate(right.units)
    )


def _pairs(left: _Side, right: _Side) -> list[tuple[int, int]]:
    """Pairs of units that are the same before and after, rising on both sides."""
    rows, columns = len(left.units), len(right.units)
    if rows == columns:
        straight = [(i, i) for i in range(rows) if _likeness(left, i, right, i) > 0]
        if len(straight) == rows or rows * columns > MAX_COMPARISONS:
            return straight
    return _best_pairs(left, right) if rows * columns <= MAX_COMPARISONS else []


def _best_pairs(left: _Side, right: _Side) -> list[tuple[int, int]]:
    """The rising pairs with the greatest total likeness (dynamic programming, from the end)."""
    rows, columns = len(left.units), len(right.units)
    like = [[_likeness(left, i, right, j) for j in range(columns)] for i in range(rows)]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        below, here, row = best[i + 1], best[i], like[i]
        for j in range(columns - 1, -1, -1):
            paired = row[j] + below[j + 1] if row[j] > 0 else 0.0
            here[j] = max(paired, below[j], here[j + 1])
    return _walk(like, best)


def _walk(like: list[list[float]], best: list[list[float]]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(like) and j < len(like[i]):
        if like[i][j] > 0 and best[i][j] == like[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _unpaired(gone: Sequence[Unit], come: Sequence[Unit], i: int, j: int) -> list[LineChange]:
    """Units without a partner: list items one by one, everything else together."""
    if gone and come and not all(map(_is_item, [*gone, *come])):
        return [LineChange(i, i + len(gone), j, j + len(come))]
    removed = [LineChange(i + start, i + end, j, j) for start, end in _separate(gone)]
    added = [LineChange(i + len(gone), i + len(gone), j + start, j + end) for start, end in _separate(come)]
    return removed + added


def _is_item(unit: Unit) -> bool:
    return unit.kind in (UnitKind.ITEM, UnitKind.ROW)


def _separate(group: Sequence[Unit]) -> list[tuple[int, int]]:
    """Index rows are always separate; other items only if no heading or prose is with them."""
    only_items = all(map(_is_item, group))
    alone = [unit.kind is UnitKind.ROW or only_items for unit in group]
    pieces: list[tuple[int, int]] = []
    for single, run in groupby(range(len(group)), key=alone.__getitem__):
        places = list(run)
        pieces.extend([(p, p + 1) for p in places] if single else [(places[0], places[-1] + 1)])
    return pieces


def _glued(pieces: list[LineChange], old: Sequence[str], new: Sequence[str]) -> list[LineChange]:
    """Joins changes after a line without a line end: choosing one side only would run two lines together."""
    out = pieces[:1]
    for before, piece in pairwise(pieces):
        if _open_ended(before, old, new):
            last = out.pop()
            out.append(LineChange(last.a0, piece.a1, last.b0, piece.b1))
        else:
            out.append(piece)
    return out


def _open_ended(piece: LineChange, old: Sequence[str], new: Sequence[str]) -> bool:
    lines = [*old[piece.a0 : piece.a1][-1:], *new[piece.b0 : piece.b1][-1:]]
    return not all(map(terminated, lines))
