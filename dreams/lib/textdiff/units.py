"""The parts a person decides on within a changed block: list items, rows, fields, headings, paragraphs."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

_ITEM: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]")
_LINK: Final = re.compile(
    r"\]\(\s*<?(?:\./)?(?P<target>[^()<>#?]{1,500}?\.md)(?:[#?][^()<>]*)?>?(?:\s+\"[^\"]*\")?\s*\)"
    r"|\[\[(?P<wiki>[^\[\]|#]{1,500})(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]"
)
_FIELD: Final = re.compile(r"[ \t]*(?P<key>[A-Za-z_][\w-]{0,60}):(?:\s|$)")
_LABEL: Final = re.compile(r"\*\*(?P<key>[^*\n]{1,60}):\*\*")
_HEADING: Final = re.compile(r"#{1,6}\s")
# Notes with a sentence on each line are no wrapped paragraph: each line is a statement of its own.
_SENTENCE_ENDS: Final = re.compile(r"[.!?][)\]\"'”’`*_]*\s*$")
_SENTENCE_BEGINS: Final = re.compile(r"\s*[(\[\"'“‘`*_]*[^\W_a-z]")


class UnitKind(StrEnum):
    """What a part of a block is; only parts of one kind are paired."""

    ITEM = "item"
    ROW = "row"
    FIELD = "field"
    HEADING = "heading"
    TABLE = "table"
    PARAGRAPH = "paragraph"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `[start, end)` of a block. `key` names it where it has a name: a link target, a field's key."""

    kind: UnitKind
    key: str
    start: int
    end: int


def row_target(line: str) -> str | None:
    """The file an index row points to: the first link to a .md file in a list item, else None.

    `- [Title](file.md) — hook` is what agents write, some `- [[file]] — hook`. Anchors, `./`, `<…>`, percent
    signs and the two ways to write an é are seen through. Other links make no row.
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
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def units(lines: Sequence[str]) -> list[Unit]:
    """The block's lines cut into units; each line is in one. Blank lines belong to what is before."""
    found: list[Unit] = []
    for number, line in enumerate(lines):
        if found and _belongs(line, found[-1], lines):
            last = found[-1]
            found[-1] = Unit(last.kind, last.key, last.start, number + 1)
        else:
            kind, key = _classify(line)
            found.append(Unit(kind, key, number, number + 1))
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
    """Whether this line goes on with the unit before it."""
    if not line.strip():
        return True
    if unit.kind in (UnitKind.ITEM, UnitKind.ROW):
        return indent_of(line) > indent_of(lines[unit.start]) and row_target(line) is None
    ended = not lines[unit.end - 1].strip()
    same = unit.kind is UnitKind.PARAGRAPH and _classify(line)[0] is UnitKind.PARAGRAPH
    return same and not ended and not _begins_anew(line, lines[unit.end - 1])


def _begins_anew(line: str, before: str) -> bool:
    return bool(_SENTENCE_ENDS.search(before[-80:]) and _SENTENCE_BEGINS.match(line))
