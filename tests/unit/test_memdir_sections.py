"""A body as addressable items."""

from hypothesis import given, strategies as st

from dreams.lib.memdir import sections, with_children
from tests.world.strategies import tries

BODY = """# Title

Some text
on two lines.
- one
  goes on
  - nested
    1. deeper

  an own paragraph
- two
```py
# no heading
- no bullet
```
| a | b |
|---|---|
<!-- a
note -->
---
## Part ##
* last"""


def test_every_kind_of_item_is_told_apart():
    found = [(item.kind, item.first_line, item.last_line, item.depth) for item in sections(BODY)]
    assert found == [
        ("heading", 1, 1, 0),
        ("blank", 2, 2, 0),
        ("paragraph", 3, 4, 0),
        ("bullet", 5, 6, 0),
        ("bullet", 7, 7, 1),
        ("bullet", 8, 8, 2),
        ("blank", 9, 9, 0),
        ("paragraph", 10, 10, 1),
        ("bullet", 11, 11, 0),
        ("code", 12, 15, 0),
        ("table", 16, 17, 0),
        ("comment", 18, 19, 0),
        ("rule", 20, 20, 0),
        ("heading", 21, 21, 0),
        ("bullet", 22, 22, 0),
    ]


def test_content_comes_without_markers_and_knows_its_headings():
    items = sections(BODY, first_line=5)
    assert (items[3].marker, items[3].content, items[3].first_line) == ("-", "one\ngoes on", 9)
    assert items[3].under == ("Title",)
    assert (items[-2].level, items[-2].content, items[-2].under) == (2, "Part", ("Title",))
    assert items[-1].under == ("Title", "Part")


def test_a_bullet_comes_with_what_is_nested_in_it():
    items = sections(BODY)
    assert [item.first_line for item in with_children(items, 3)] == [5, 7, 8, 9, 10]
    assert [item.first_line for item in with_children(items, 8)] == [11]


def test_an_unclosed_fence_is_opaque_to_the_end_and_an_unclosed_comment_is_text():
    assert [item.kind for item in sections("```\n- a\n# b\n")] == ["code"]
    assert [item.kind for item in sections("<!-- a\n- b\n")] == ["comment", "bullet"]


_line = st.sampled_from(
    [
        "",
        "text",
        "  text",
        "- a",
        "  - b",
        "\t* c",
        "1. d",
        "-",
        "# h",
        "#",
        "```",
        "~~~~",
        "    ```",
        "| a |",
        "---",
        *["<!-- x", "x -->", "> q", "\x0c", "\u2028", "***", "\0"],
    ]
)


@given(
    st.lists(st.tuples(_line, st.sampled_from(["\n", "\r\n", "\n", "\r"])), max_size=20), st.integers(1, 9)
)
@tries(100, 300)
def test_every_line_belongs_to_exactly_one_item(lines: list[tuple[str, str]], first: int):
    body = "".join(line + end for line, end in lines)
    items = sections(body, first)
    assert "".join(item.text for item in items) == body
    numbers = [n for item in items for n in range(item.first_line, item.last_line + 1)]
    assert numbers == list(range(first, first + len(numbers)))
    assert all(
        item.text.count("\n") in (item.last_line - item.first_line + 1, item.last_line - item.first_line)
        for item in items
    )


def test_a_note_of_one_line_behind_an_angle_is_told_and_a_quotation_is_not() -> None:
    notes = "> The pier closes at noon.\n\n> **Note:** the crane is out\n"
    assert [(item.marker, item.content) for item in sections(notes) if item.kind != "blank"] == [
        (">", "The pier closes at noon."),
        (">", "**Note:** the crane is out"),
    ]
    for quoted in (
        '> "The pier closes."',
        "> — the harbour master",
        "> > The pier\n",
        "> It closes\n> at noon.",
        ">",
    ):
        assert [item.marker for item in sections(quoted)] == [""]
