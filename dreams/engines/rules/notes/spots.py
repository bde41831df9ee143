"""Every sentence of memory with its place, and how a value in it is exchanged: bodies, index rows, descriptions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from dreams import memdir
from dreams import text as texts
from dreams.engines.rules.notes import places
from dreams.engines.rules.notes.tree import Tree, is_index, is_log, is_team
from dreams.engines.rules.notes.wording import one_line, says_something, sentences
from dreams.language.pieces import keys_of

SpotKind = Literal["body", "row", "description"]
_PROSE = frozenset({"paragraph", "bullet"})
LONGEST = 1_000  # characters of a sentence


@dataclass(frozen=True, slots=True)
class Spot:
    """One sentence. `line_no` to `last_line` are the lines of the file that hold it; `place` are words above it.

    `target` is the file that a row or a description sums up.
    """

    path: str
    kind: SpotKind
    line_no: int
    last_line: int
    text: str
    place: frozenset[str]
    free: bool  # may be changed
    target: str = ""


def spots(tree: Tree) -> list[Spot]:
    """All sentences of memories and index; logs aside. Pinned, shared and read-only files are there, not free."""
    return [spot for path in sorted(tree.texts) if not is_log(path) for spot in _of_file(tree, path)]


def _of_file(tree: Tree, path: str) -> Iterator[Spot]:
    document = tree.document(path)
    front = document.frontmatter
    indexed = is_index(path)
    free = path in tree.indexes() and not is_team(path) if indexed else tree.free(path)
    name = "" if indexed else PurePosixPath(path).stem
    own = places.words_of(name)
    if front and front.description and not indexed:
        yield Spot(
            path, "description", 1, document.body_start_line - 1, one_line(front.description), own, free, path
        )
    for item in memdir.sections(document.body, document.body_start_line):
        if item.kind not in _PROSE or item.text.lstrip().startswith(">"):
            continue
        around = own | keys_of(". ".join(item.under))
        yield from _of_item(path, item, around, free, indexed=indexed)


def _of_item(
    path: str, item: memdir.Item, around: frozenset[str], free: bool, *, indexed: bool
) -> Iterator[Spot]:
    rows = memdir.parse_index(item.text).rows if indexed else ()
    kind: SpotKind = "row" if rows else "body"
    said = " ".join(row.hook for row in rows) if rows else one_line(item.content or item.text)
    for sentence in sentences(said):
        if says_something(sentence) and len(sentence) <= LONGEST:
            target = rows[0].target if len(rows) == 1 and not is_team(path) else ""
            yield Spot(path, kind, item.first_line, item.last_line, sentence, around, free, target)


def exchanged(text: str, spot: Spot, old: str, new: str) -> str | None:
    """The file with `new` in place of `old` in this sentence; None where that is not one place, or breaks the file."""
    if spot.kind == "description":
        return _described(text, old, new)
    lines = memdir.split_lines(text)
    first, last = spot.line_no - 1, spot.last_line
    before, held, after = "".join(lines[:first]), "".join(lines[first:last]), "".join(lines[last:])
    pattern = _place_of(spot.text, old)
    found = list(re.finditer(pattern, held)) if pattern else []
    if len(found) != 1:
        return None
    start, end = found[0].span("value")
    return f"{before}{held[:start]}{new}{held[end:]}{after}"


def _described(text: str, old: str, new: str) -> str | None:
    document = memdir.parse(texts.encode(text))
    said = (document.frontmatter.description or "") if document.frontmatter else ""
    if said.count(old) != 1:
        return None
    try:
        made = memdir.with_field(document, "description", said.replace(old, new))
    except memdir.MemoryEditError:
        return None
    return texts.decode(made.to_bytes())


def _place_of(sentence: str, old: str) -> str:
    """The sentence as it may stand over several lines, with the value in it named."""
    at = sentence.find(old)
    if at < 0:
        return ""
    parts = (sentence[:at], old, sentence[at + len(old) :])
    first, value, rest = (r"\s+".join(map(re.escape, part.split(" "))) for part in parts)
    return rf"{first}(?P<value>{value}){rest}"
