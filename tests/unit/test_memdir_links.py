"""Wikilinks and Markdown links between memories."""

import pytest
from hypothesis import given, strategies as st

from dreams.lib.memdir import markdown_links, mask_code, parse_index, retarget, wikilinks
from tests.world.strategies import tries


def test_the_parts_of_a_wikilink():
    text = "See [[a]], [[b|the B]] and [[c.md#Part|C]]."
    found = [(link.target, link.heading, link.label) for link in wikilinks(text)]
    assert found == [("a", None, None), ("b", None, "the B"), ("c.md", "Part", "C")]
    assert [text[link.start : link.end] for link in wikilinks(text)] == [
        "[[a]]",
        "[[b|the B]]",
        "[[c.md#Part|C]]",
    ]


def test_links_in_code_are_no_links():
    text = "`[[a]]` ``x ` [[b]]`` [[c]]\n```sh\n[[d]] [x](d.md)\n```\n~~~\n[[e]]\n```\n~~~\n[[f]]\n"
    assert [link.target for link in wikilinks(text)] == ["c", "f"]
    assert markdown_links(text) == []


def test_a_stray_backtick_does_not_hide_the_next_bullet():
    assert [link.target for link in wikilinks("- a ` stray\n- [[b]] and ` another\n")] == ["b"]
    assert [link.target for link in wikilinks("not \\`code [[a]]`\n")] == ["a"]


def test_the_parts_of_a_markdown_link():
    text = '[A [b]](./a%20b.md#x "T (1)") [C](<c d.md>) [D](d (1).md) ![i](i.md) [U](https://x.example/y.md) [E](e f.md)'
    found = [(link.text, link.path, link.anchor, link.is_memory) for link in markdown_links(text)]
    assert found == [
        ("A [b]", "a b.md", "#x", True),
        ("C", "c d.md", "", True),
        ("D", "d (1).md", "", True),
        ("U", "https://x.example/y.md", "", False),
        ("E", "e f.md", "", True),
    ]


@pytest.mark.parametrize("target", [' "only a title"', "<never.md", "<a(b)", "< >", ' "', '"'])
def test_an_odd_target_of_a_link_stops_no_reader(target):
    text = f"- [x]({target}) and [A](a.md)\n"
    assert markdown_links(text)[-1].path == "a.md"
    assert [row.target for row in parse_index(text).rows] == ["a.md"]


def test_paths_out_of_the_directory_are_no_memories():
    text = "[a](../x.md) [b](/x.md) [c](~/x.md) [d](team/x.md) [e](sub/) [f](#part)"
    assert [link.is_memory for link in markdown_links(text)] == [False, False, False, True, False, False]


def test_a_colon_in_a_files_name_makes_no_address_of_it():
    text = "[a](a%3Ab.md) [b](a:b.md) [c](mailto:a@b.md) [d](%2Fx.md) [e](%2E%2E/x.md) [f](C:/x.md)"
    found = [(link.path, link.is_memory) for link in markdown_links(text)]
    assert found == [
        ("a:b.md", True),
        ("a:b.md", False),
        ("mailto:a@b.md", False),
        ("/x.md", False),
        ("../x.md", False),
        ("C:/x.md", False),
    ]


def test_retarget_changes_the_target_and_nothing_else():
    text = '[[old]] [[Old.md#h|l]] [[older]] [x](./old.md#h "t") [y](<old.md>) `[[old]]` [z](sub/old.md)'
    assert retarget(text, "old.md", "new one.md") == (
        '[[new one]] [[new one.md#h|l]] [[older]] [x](new%20one.md#h "t") [y](<new one.md>) `[[old]]` [z](sub/old.md)'
    )


def test_hostile_brackets_are_searched_in_one_pass():
    for text in (
        "[" * 20_000,
        "[a](" * 5_000,
        "[a](" + " " * 20_000,
        "[[a" * 7_000,
        "[x]" * 7_000,
        "`" * 300 + "``` " * 3_000,
    ):
        assert [link for link in markdown_links(text + "](") if link.is_memory] == []
        assert wikilinks(text) == []


@given(st.text('[]()`~ab.md#|\n\\ -"<>é', max_size=60))
@tries(100, 300)
def test_masking_keeps_every_place_and_retargeting_to_itself_keeps_the_text(text: str):
    masked = mask_code(text)
    assert len(masked) == len(text)
    assert all(new in (old, "\0") for old, new in zip(text, masked, strict=True))
    assert masked.count("\n") == text.count("\n")
    assert retarget(text, "nowhere.md", "b.md") == text
