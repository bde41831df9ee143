"""A file as it will read: its fields, and its text in pieces of which each stays, goes or comes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams.lib import diff, memdir
from dreams.web.pages.review_loaded import FileTexts

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Passage:
    """Markdown source of a run of lines. `kind` is equal, ins or del."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """`fields` are those of the frontmatter as it will be."""

    fields: tuple[tuple[str, str], ...]
    passages: tuple[Passage, ...]

    @property
    def is_marked(self) -> bool:
        return any(passage.kind != "equal" for passage in self.passages)


def rendered(found: FileTexts, before: bytes | None) -> Rendered:
    """What is left when everything not rejected is taken, with what changes in it against `before` marked."""
    document = memdir.parse(found.decided() or b"")
    front = document.frontmatter
    fields = tuple(front.fields) if front else ()
    old = memdir.parse(before or b"").body
    return Rendered(fields, tuple(_passages(_blocks(old), _blocks(document.body))))


def _passages(old: Sequence[str], new: Sequence[str]) -> Iterator[Passage]:
    at = 0
    for change in diff.line_changes(old, new, "block"):
        yield from _passage("equal", old[at : change.a0])
        yield from _passage("del", old[change.a0 : change.a1])
        yield from _passage("ins", new[change.b0 : change.b1])
        at = change.a1
    yield from _passage("equal", old[at:])


def _passage(kind: str, blocks: Sequence[str]) -> Iterator[Passage]:
    source = "".join(blocks)
    if source.strip():
        yield Passage(kind, diff.visible(source))


def _blocks(body: str) -> list[str]:
    """Lines; but fenced code and a table are one piece each, as half of either would not read as what it is."""
    out: list[str] = []
    fence, in_table = "", False
    for line in diff.split_lines(body):
        mark = _FENCE.match(line)
        is_row = not fence and line.lstrip().startswith("|")
        if out and (fence or (is_row and in_table)):
            out[-1] += line
        else:
            out.append(line)
        in_table = is_row
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
    return out
