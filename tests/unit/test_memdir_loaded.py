"""What the agent loads of an index."""

from hypothesis import given, strategies as st

from dreams.lib.memdir import INDEX_MAX_BYTES, loaded
from tests.world.strategies import tries


def test_a_small_index_is_loaded_whole():
    found = loaded("\n\n  # Index\n- [A](a.md)  \n\n")
    assert (found.text, found.lines, found.bytes) == ("# Index\n- [A](a.md)", 2, 19)
    assert (found.cut_by, found.warning, found.first_dropped_line, found.rows_dropped) == (None, "", None, ())


def test_the_line_after_the_two_hundredth_is_lost():
    rows = [f"- [T{n}](t{n}.md)" for n in range(1, 204)]
    found = loaded("\n".join(rows) + "\n")
    assert (found.lines, len(found.text.splitlines()), found.cut_by) == (203, 200, "lines")
    assert found.first_dropped_line == 201
    assert [row.target for row in found.rows_dropped] == ["t201.md", "t202.md", "t203.md"]
    assert "203 lines (limit 200)" in found.warning


def test_bytes_count_not_characters_and_the_cut_is_at_a_line_end():
    row = "- [메](a.md) — " + "한" * 100
    text = "\n".join([row] * 100)
    found = loaded(text.encode())
    size = len(row.encode()) + 1
    assert (found.cut_by, found.bytes) == ("bytes", size * 100 - 1)
    kept = (INDEX_MAX_BYTES + 1) // size
    assert found.text.count("\n") + 1 == kept
    assert found.first_dropped_line == kept + 1
    assert len(found.rows_dropped) == 100 - kept
    assert f"{size * 100 - 1:,} bytes (limit 25,000)" in found.warning


def test_exactly_at_both_limits_nothing_is_lost():
    assert loaded("aa\nbb", max_lines=2, max_bytes=5).cut_by is None
    assert loaded("aa\nbb", max_lines=2, max_bytes=4).text == "aa"
    assert loaded("aa\nbb", max_lines=1, max_bytes=5).cut_by == "lines"


def test_frontmatter_and_comments_do_not_count_but_lines_are_those_of_the_file():
    text = "---\nname: x\n---\n<!-- long\nnote -->\none <!-- b --> 1\n\n`<!-- code -->`\ntwo\n"
    found = loaded(b"\xef\xbb\xbf" + text.encode(), max_lines=3)
    assert found.text == "one  1\n\n`<!-- code -->`"
    assert (found.lines, found.first_dropped_line) == (4, 9)


def test_one_line_over_the_limit_is_cut_between_characters_and_counts_as_lost():
    found = loaded("é" * 10, max_bytes=5)
    assert (found.text, found.cut_by, found.first_dropped_line) == ("éé", "bytes", 1)


_lines = st.lists(
    st.sampled_from(["", " ", "- [A](a.md)", "é" * 5, "<!-- x -->", "<!--", "-->", "```", "a\r"]), max_size=12
)


@given(_lines.map("\n".join), st.integers(1, 6), st.integers(4, 40))
@tries(100, 300)
def test_what_is_loaded_is_a_beginning_within_both_limits(text: str, max_lines: int, max_bytes: int):
    whole = loaded(text, max_lines=10_000, max_bytes=10_000)
    found = loaded(text, max_lines=max_lines, max_bytes=max_bytes)
    assert whole.text.startswith(found.text)
    assert found.text.count("\n") + 1 <= max_lines
    assert len(found.text.encode()) <= max_bytes
    assert (found.lines, found.bytes) == (whole.lines, whole.bytes)
    assert (found.cut_by is None) == (found.text == whole.text) == (found.first_dropped_line is None)
    assert loaded(text.encode(), max_lines=max_lines, max_bytes=max_bytes).text == found.text
