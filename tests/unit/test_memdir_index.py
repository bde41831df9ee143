"""MEMORY.md: its rows, and edits that touch one of them."""

import pytest
from hypothesis import example, given, strategies as st

from dreams.lib.memdir import IndexRow, MemoryEditError, parse_index, render_row, replace_lines
from tests.world.cases import each
from tests.world.strategies import tries


def only_row(line: str) -> IndexRow:
    (row,) = parse_index(line).rows
    return row


@each(
    ("line", "marker", "title", "target", "separator", "hook"),
    [
        ("- [T](f.md) — hook", "-", "T", "f.md", " — ", "hook"),
        ("* [T](f.md) - hook", "*", "T", "f.md", " - ", "hook"),
        ("+ [T](f.md) – hook", "+", "T", "f.md", " – ", "hook"),
        ("12. [T](f.md): hook", "12.", "T", "f.md", ": ", "hook"),
        ("  - [T](./f.md) hook", "-", "T", "f.md", " ", "hook"),
        ("- [T](a%20b.md#part) — hook", "-", "T", "a b.md", " — ", "hook"),
        ("- [T](<a b.md>) — hook", "-", "T", "a b.md", " — ", "hook"),
        ('- [T](f.md "title") — hook', "-", "T", "f.md", " — ", "hook"),
        ("- [`T`](team/f.md) — hook", "-", "`T`", "team/f.md", " — ", "hook"),
        ("- **[T](f.md)** — hook", "-", "T", "f.md", "** — ", "hook"),
        ("- [x] [T](f.md) — hook", "-", "T", "f.md", " — ", "hook"),
        ("- [[f|T]] — hook", "-", "T", "f.md", " — ", "hook"),
        ("- [f.md](f.md)", "-", "f.md", "f.md", "", ""),
        (render_row("T", "a:b.md", "hook"), "-", "T", "a:b.md", " — ", "hook"),
    ],
)
def test_rows_in_all_their_styles(line: str, marker: str, title: str, target: str, separator: str, hook: str):
    row = only_row(line)
    assert (row.marker, row.title, row.target) == (marker, title, target)
    assert (row.separator, row.hook, row.raw) == (separator, hook, line)
    assert row.is_memory_target and row.targets == (target,)


@each(
    ("line", "form"),
    [
        ("- [T](https://x.example/f.md)", "link"),
        ("- [T](specs/)", "link"),
        ("- [T](../other/f.md)", "link"),
        ("- `docs/f.md` — hook", "code"),
        ("- f.md — hook", "bare"),
    ],
)
def test_rows_to_other_things_are_no_pointers_to_memories(line: str, form: str):
    row = only_row(line)
    assert (row.form, row.is_memory_target) == (form, False)


def test_what_stands_before_the_link_and_other_links_are_kept_with_the_row():
    row = only_row("- Ports: see [A](a.md) and [B](b.md) for the rest")
    assert (row.lead, row.hook) == ("Ports: see", "and [B](b.md) for the rest")
    assert row.targets == ("a.md", "b.md")


def test_a_table_row_with_a_link_is_a_row():
    index = parse_index("| File | What |\n|------|------|\n| [T](f.md) | hook |\n")
    assert [(row.title, row.target, row.hook, row.form) for row in index.rows] == [
        ("T", "f.md", "hook", "table")
    ]


def test_continuation_lines_belong_to_the_hook():
    index = parse_index("- [A](a.md) — one\n  two\n- [B](b.md)\n")
    assert (index.rows[0].hook, index.rows[0].end_line_no) == ("one two", 2)
    assert index.without(index.rows[:1]).text == "- [B](b.md)\n"
    assert parse_index("- [A](a.md) — one\n  two\n\n  three\n").rows[0].end_line_no == 2


def test_rows_know_their_heading_and_their_line():
    index = parse_index("---\nx: y\n---\n# Index\n\n## User ##\n- [A](a.md)\n\n## Work\n1) [B](b.md)\n")
    assert [(row.heading, row.line_no) for row in index.rows] == [("User", 7), ("Work", 10)]


def test_code_comments_and_prose_hold_no_rows():
    text = "```\n- [A](a.md)\n```\n<!--\n- [B](b.md)\n-->\nSee [C](c.md).\n- `[D](d.md)`\n- see https://x.example\n"
    assert parse_index(text).rows == ()


INDEX = "# Index\r\n\r\n## User\r\n* [A](a.md): one\r\n* [B](b.md): two\r\n\r\n## Work\r\n\r\n## Rest\r\nText"


def test_a_row_goes_and_nothing_else():
    index = parse_index(INDEX)
    assert index.without(index.rows).text == INDEX.replace("* [A](a.md): one\r\n* [B](b.md): two\r\n", "")


def test_a_row_is_replaced_and_nothing_else():
    index = parse_index(INDEX)
    assert index.replaced(index.rows[1], "* new").text == INDEX.replace("* [B](b.md): two", "* new")


def test_a_rewritten_row_keeps_what_was_not_named():
    line = '  - [ ] **[T](./f.md#p "x")** – old\n'
    index = parse_index(line)
    assert index.rewritten(index.rows[0], hook="new\nwords").text == line.replace("old", "new words")
    assert index.rewritten(index.rows[0], target="g h.md").text == line.replace("./f.md#p", "g%20h.md")
    assert index.rewritten(index.rows[0], title="U").text == line.replace("[T]", "[U]")
    assert index.rewritten(index.rows[0], hook="").text == line.replace(" – old", "")
    bare = parse_index("- [T](f.md)")
    assert bare.rewritten(bare.rows[0], hook="new").text == "- [T](f.md) — new"
    named = parse_index("- `f.md` — hook")
    with pytest.raises(MemoryEditError, match="Line 1"):
        named.rewritten(named.rows[0], hook="new")


def test_a_new_row_takes_the_style_of_its_neighbours():
    index = parse_index(INDEX)
    below = index.appended("C", "c.md", "three", heading="user")
    assert below.text == INDEX.replace("two\r\n", "two\r\n* [C](c.md): three\r\n")
    assert index.appended("C", "c.md", "x", heading="Work").text == INDEX.replace(
        "## Work\r\n", "## Work\r\n* [C](c.md): x\r\n"
    )
    assert index.appended("C", "c.md", "x").text == INDEX + "\r\n\r\n* [C](c.md): x"
    numbered = parse_index("1. [A](a.md) — x\n")
    assert numbered.appended("B", "b.md", "y").text == "1. [A](a.md) — x\n2. [B](b.md) — y\n"


def test_a_new_row_follows_no_nested_row_and_no_row_about_code():
    text = "- [A](a.md): x\n  - [B](b.md): y\n- `src/c.py` → z\n"
    assert parse_index(text).appended("N", "n.md", "w").text == text + "- [N](n.md): w\n"
    nested = "- [A](a.md): x\n  - [B](b.md): y\n    and more\n"
    assert parse_index(nested).appended("N", "n.md", "w").text == nested + "- [N](n.md): w\n"


def test_a_missing_heading_is_added():
    assert parse_index(INDEX).appended("C", "c.md", "x", heading="New").text == (
        INDEX + "\r\n\r\n## New\r\n* [C](c.md): x"
    )
    assert parse_index("").appended("C", "c.md", "x", heading="New").text == "## New\n\n- [C](c.md) — x\n"


def test_the_first_row_of_an_empty_index():
    assert parse_index("").appended("A", "a.md", "x").text == "- [A](a.md) — x\n"
    assert parse_index("# Memory\n\n").appended("A", "a.md", "x").text == "# Memory\n\n- [A](a.md) — x\n\n"


def test_no_row_is_written_into_an_open_code_fence():
    with pytest.raises(MemoryEditError, match="close it first"):
        parse_index("```\ncode\n").appended("A", "a.md", "x")
    with pytest.raises(MemoryEditError, match="close it first"):
        parse_index("```\ncode\n").appended("A", "a.md", "x", heading="New")


_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(
    lambda text: " ".join(text.split())
)
_title = st.text("ab `[]\\*_()é", max_size=10).map(lambda text: " ".join(text.split()))
_file = st.text("ab ()<>#%é`-", min_size=1, max_size=8).map(lambda text: text.strip() + "x.md")


@given(_title, _file, _text)
@example("```", "x.md", "```")
@tries(130, 400)
def test_a_rendered_row_reads_back_the_same(title: str, target: str, hook: str):
    row = only_row(render_row(title, target, hook))
    assert (row.title, row.target, row.hook) == (title, target, hook)


_lines = st.sampled_from(
    [
        "",
        "# H",
        "## G",
        "- [A](a.md) — x",
        "* [B](b.md): y",
        "  more",
        "| [C](c.md) | z |",
        "text",
        "`",
        "<!-- c -->",
    ]
)
_index = st.lists(st.tuples(_lines, st.sampled_from(["\n", "\r\n"])), max_size=10).map(
    lambda pairs: "".join(line + end for line, end in pairs)
)


@given(_index, st.sampled_from(["", "unfinished"]), st.sampled_from([None, "H", "G", "New"]))
@tries(100, 300)
def test_an_append_adds_one_row_and_keeps_every_line(text: str, rest: str, heading: str | None):
    index = parse_index(text + rest)
    assert "".join(index.lines) == index.text == text + rest
    after = index.appended("N", "new.md", "hook", heading=heading)
    (added,) = [row for row in after.rows if row.target == "new.md"]
    assert heading is None or added.heading == heading
    old = [line for line in index.text.replace("\r\n", "\n").split("\n") if line]
    new = iter(after.text.replace("\r\n", "\n").split("\n"))
    assert all(line in new for line in old)  # each still there, in order
    assert after.text.endswith("\n") == (index.text.endswith("\n") or not index.text)


@given(st.text(max_size=80) | _index)
@tries(60, 200)
def test_parsing_never_fails_and_keeps_the_text(text: str):
    index = parse_index(text)
    assert index.text == "".join(index.lines) == text


@each(("start", "stop"), [(0, 1), (2, 1), (1, 4), (4, 4)])
def test_lines_that_a_text_has_not_are_not_replaced(start: int, stop: int) -> None:
    with pytest.raises(IndexError, match="within the 2 lines"):
        replace_lines("a\nb\n", start, stop, ["c"])
