"""What frames a statement is found without walking its whole list, and is what a walk finds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dreams import memdir
from dreams.engines.rules import bodies

LINES = [
    "- one",
    "  - two",
    "    - three",
    "Text:",
    "Text.",
    "  text below",
    "# Title",
    "",
    "```",
    "> said",
    "1. first",
]


def walked(items: Sequence[memdir.Item], place: int) -> list[memdir.Item]:
    """The bullets it is nested in, nearest first, and what ends them: a paragraph or a heading."""
    depth, found = items[place].depth, list[memdir.Item]()
    for item in reversed(items[:place]):
        if item.kind in {"heading", "paragraph"}:
            return [*found, item]
        if item.kind == "bullet" and item.depth < depth:
            depth = item.depth
            found.append(item)
    return found


def short(items: Sequence[memdir.Item], place: int, end: int) -> list[memdir.Item]:
    depth, found = items[place].depth, list[memdir.Item]()
    for item in bodies.upwards(items, place, end):
        if item.kind in {"heading", "paragraph"}:
            return [*found, item]
        if item.kind == "bullet" and item.depth < depth:
            depth = item.depth
            found.append(item)
    return found


@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_the_short_way_up_finds_what_the_whole_way_finds(lines: list[str]) -> None:
    body = "\n".join(lines)
    items = memdir.sections(body)
    ends = bodies.list_ends(items)
    assert [short(items, at, ends[at]) for at in range(len(items))] == [
        walked(items, at) for at in range(len(items))
    ]
    assert list(memdir.kinds(body)) == [item.kind for item in items]
