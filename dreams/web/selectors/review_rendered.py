"""A file as it will read: its fields, and its text in pieces of which each stays, goes or comes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from dreams import memdir, textdiff
from dreams.textdiff import Row
from dreams.web.selectors.review_texts import FileTexts

_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """Markdown source of a run of lines. `kind` is equal, ins or del."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """`fields` are those of the frontmatter as it will be; `is_marked` False shows the result alone."""

    fields: tuple[tuple[str, str], ...]
    passages: tuple[Passage, ...]
    is_marked: bool


def rendered(found: FileTexts) -> Rendered:
    """What is left when everything not rejected is taken, with what changes in it marked."""
    after = found.decided(undecided=True)
    document = memdir.parse(after or b"")
    front = document.frontmatter
    fields = tuple(
        (key, str(value)) for key, value in (front.raw if front else {}).items() if value is not None
    )
    old = memdir.parse(found.base or b"").body
    passages = tuple(_passages(old, document.body))
    if all(_is_whole(passage.source) for passage in passages):
        return Rendered(fields, passages, any(passage.kind != "equal" for passage in passages))
    # A fence that opens in one piece and closes in another would swallow what stands between.
    return Rendered(fields, (Passage("equal", textdiff.visible(document.body)),), False)


def _passages(old: str, new: str) -> Iterator[Passage]:
    rows = textdiff.rows(old, textdiff.hunks(old, new), None)
    for kind, group in groupby(rows, key=lambda row: row.kind):
        source = _source(list(group))
        if source.strip():
            yield Passage(kind, source)


def _source(rows: Sequence[Row]) -> str:
    return textdiff.visible("".join(row.text + (row.end or "\n") for row in rows))


def _is_whole(source: str) -> bool:
    return len(_FENCE.findall(source)) % 2 == 0
