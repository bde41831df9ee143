"""Changing one field of the frontmatter and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreams.lib.memdir import MemoryEditError, parse, with_field
from tests.world.strategies import tries

FLAT = b"---\n# kept\nname: 'a'\ntype: user # why\nother: \"x\"\n---\nBody\n"
NESTED = b"---\r\nname: a\r\nmetadata: \r\n    node_type: memory\r\n    type: user\r\n---\r\nBody"


def test_only_the_named_value_changes():
    assert with_field(parse(FLAT), "type", "project").to_bytes() == FLAT.replace(b"user #", b"project #")
    assert with_field(parse(FLAT), "name", "b").to_bytes() == FLAT.replace(b"'a'", b"'b'")
    assert with_field(parse(NESTED), "type", "project").to_bytes() == NESTED.replace(b"user", b"project")


def test_a_missing_key_is_added_in_the_shape_of_the_file():
    nested = with_field(parse(NESTED), "pinned", True)
    assert nested.to_bytes() == NESTED.replace(b"type: user\r\n", b"type: user\r\n    pinned: true\r\n")
    flat = with_field(parse(FLAT), "description", "What: it is")
    assert flat.to_bytes() == FLAT.replace(b"'a'\n", b"'a'\ndescription: \"What: it is\"\n")
    assert with_field(parse(b"---\n---\nB\n"), "type", "user").to_bytes() == b"---\ntype: user\n---\nB\n"


def test_a_value_of_many_lines_is_replaced_whole():
    data = b"---\nname: a\ndescription: >\n  one\n\n  two\n# note\ntype: user\n---\n"
    assert with_field(parse(data), "description", "three").to_bytes() == (
        b"---\nname: a\ndescription: three\n# note\ntype: user\n---\n"
    )


def test_a_broken_description_is_mended_by_setting_it():
    data = b'---\nname: a\ndescription: "x" is y\ntype: user\n---\n'
    document = with_field(parse(data), "description", '"x" is z')
    assert document.frontmatter is not None
    assert document.frontmatter.problem is None
    assert document.frontmatter.description == '"x" is z'
    assert document.frontmatter.type == "user"


def test_a_moment_is_written_as_people_write_it():
    document = with_field(parse(NESTED), "modified", "2026-03-01T10:00:00Z")
    assert b"    modified: 2026-03-01T10:00:00Z\r\n" in document.to_bytes()


def test_no_frontmatter_is_invented_unless_asked_for():
    with pytest.raises(MemoryEditError, match="no frontmatter"):
        with_field(parse(b"Body\n"), "type", "user")
    created = with_field(parse(b"\xef\xbb\xbfBody\r\n"), "type", "user", create=True)
    assert created.to_bytes() == b"\xef\xbb\xbf---\r\ntype: user\r\n---\r\n\r\nBody\r\n"


@pytest.mark.parametrize(
    "block", ["name: &n a\ndescription: *n", "name: a\nmetadata: {type: user}", "? name\n: a\nx: y"]
)
def test_what_cannot_be_changed_alone_is_refused(block: str):
    document = parse(f"---\n{block}\n---\n".encode())
    with pytest.raises(MemoryEditError, match="too unusual"):
        with_field(document, "name" if "*n" in block or "?" in block else "type", "project")


def test_setting_what_already_stands_there_changes_nothing():
    assert with_field(parse(FLAT), "type", "user").to_bytes() == FLAT


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


@given(_values, st.sampled_from([FLAT, NESTED]), st.sampled_from(["name", "description", "type", "modified"]))
@tries(100, 300)
def test_a_value_reads_back_the_same_and_the_other_lines_stay(value: str, data: bytes, field: str):
    before = parse(data)
    after = parse(with_field(before, field, value).to_bytes())
    assert after.frontmatter is not None
    assert after.frontmatter.text(field) == value
    assert after.frontmatter.problem is None
    kept = [line for line in data.splitlines(True) if f"{field}:".encode() not in line]
    assert [line for line in after.to_bytes().splitlines(True) if line in kept] == kept
    assert after.body == before.body
