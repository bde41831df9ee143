"""What frames a statement is found without walking its whole list, and is what a walk finds."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, strategies as st

from dreams.engines.rules.notes import bodies
from dreams.lib import memdir

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


def framing(depth: int, above: Iterable[memdir.BodyItem]) -> list[memdir.BodyItem]:
    """The bullets that an item is nested in, nearest first, and what ends them: a paragraph or a heading."""
    found = list[memdir.BodyItem]()
    for item in above:
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
    for at, item in enumerate(items):
        whole = framing(item.depth, reversed(items[:at]))
        assert framing(item.depth, bodies.upwards(items, at, ends[at])) == whole
    assert list(memdir.kinds(body)) == [item.kind for item in items]
