"""Changing the description in the frontmatter and nothing else."""

import pytest
from hypothesis import given, strategies as st

from dreams.lib.memdir import MemoryEditError, parse, with_description
from tests.world.cases import each
from tests.world.strategies import tries

FLAT = b"---\n# kept\nname: 'a'\ndescription: one # why\nother: \"x\"\n---\nBody\n"
NESTED = b"---\r\nname: a\r\nmetadata: \r\n    description: one\r\n    type: user\r\n---\r\nBody"


def test_only_the_description_changes():
    assert with_description(parse(FLAT), "two").to_bytes() == FLAT.replace(b"one #", b"two #")
    assert with_description(parse(NESTED), "two").to_bytes() == NESTED.replace(b"one", b"two")
    quoted = FLAT.replace(b"one #", b"'one' #")
    assert with_description(parse(quoted), "two").to_bytes() == FLAT.replace(b"one #", b"'two' #")


def test_a_missing_description_is_added_behind_the_name_or_at_the_end():
    bare = FLAT.replace(b"description: one # why\n", b"")
    assert with_description(parse(bare), "What: it is").to_bytes() == bare.replace(
        b"'a'\n", b"'a'\ndescription: \"What: it is\"\n"
    )
    nested = NESTED.replace(b"    description: one\r\n", b"")
    assert with_description(parse(nested), "two").to_bytes() == nested.replace(
        b"a\r\n", b"a\r\ndescription: two\r\n", 1
    )
    assert with_description(parse(b"---\ntype: user\n\n---\nB\n"), "two").to_bytes() == (
        b"---\ntype: user\ndescription: two\n\n---\nB\n"
    )
    foreign = b"---\nname: a\nsource:\n  description: one\n---\nB\n"
    assert with_description(parse(foreign), "two").to_bytes() == foreign.replace(
        b"a\n", b"a\ndescription: two\n", 1
    )


def test_a_value_of_many_lines_is_replaced_whole():
    data = b"---\nname: a\ndescription: >\n  one\n\n  two\n# note\ntype: user\n---\n"
    assert with_description(parse(data), "three").to_bytes() == (
        b"---\nname: a\ndescription: three\n# note\ntype: user\n---\n"
    )


def test_a_broken_description_is_mended_by_setting_it():
    data = b'---\nname: a\ndescription: "x" is y\ntype: user\n---\n'
    document = with_description(parse(data), '"x" is z')
    assert document.frontmatter is not None
    assert document.frontmatter.problem is None
    assert document.frontmatter.description == '"x" is z'
    assert document.frontmatter.type == "user"


def test_no_frontmatter_is_invented_unless_asked_for():
    with pytest.raises(MemoryEditError, match="no frontmatter"):
        with_description(parse(b"Body\n"), "two")
    created = with_description(parse(b"\xef\xbb\xbfBody\r\n"), "two", create=True)
    assert created.to_bytes() == b"\xef\xbb\xbf---\r\ndescription: two\r\n---\r\n\r\nBody\r\n"


@each(
    "block",
    ["description: &n one\nname: *n", "name: a\nmetadata: {description: one}", "? description\n: a\nx: y"],
)
def test_what_cannot_be_changed_alone_is_refused(block: str):
    with pytest.raises(MemoryEditError, match="too unusual"):
        with_description(parse(f"---\n{block}\n---\n".encode()), "two")


def test_setting_what_already_stands_there_changes_nothing():
    assert with_description(parse(FLAT), "one").to_bytes() == FLAT


_values = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    [
        "null",
        "~",
        "no",
        "1.10",
        "12:30",
        "- x",
        "a: b",
        "a #b",
        "# c",
        "'",
        '"',
        "\\",
        "\r\n",
        "\0",
        "<<",
        "=",
        "---",
    ]
)


@given(_values, st.sampled_from([FLAT, NESTED, FLAT.replace(b"description: one # why\n", b"")]))
@tries(100, 300)
def test_a_value_reads_back_the_same_and_the_other_lines_stay(value: str, data: bytes):
    before = parse(data)
    after = parse(with_description(before, value).to_bytes())
    assert after.frontmatter is not None
    assert after.frontmatter.description == value
    assert after.frontmatter.problem is None
    kept = [line for line in data.splitlines(True) if b"description:" not in line]
    assert [line for line in after.to_bytes().splitlines(True) if line in kept] == kept
    assert after.body == before.body
