"""Taking a memory file apart and putting it together again."""

import pytest
from hypothesis import given, strategies as st

from dreams.lib.memdir import MemoryEditError, is_index, is_topic, parse, with_body
from tests.world.cases import each
from tests.world.strategies import tries

BOM = b"\xef\xbb\xbf"
_pieces = st.sampled_from(
    [
        BOM,
        b"---\n",
        b"---\r\n",
        b"---",
        b"--- \n",
        b"name: x\n",
        b"type: user\r\n",
        b"metadata: \n",
        b"  type: user\n",
        b"\r",
        b"\n",
        b"\0",
        b"\xff\xfe",
        b"a: b: c\n",
        b"- x\n",
        b"&a [*a]\n",
        b"```\n",
        "ключ: 값\n".encode(),
        b": {",
    ]
)
any_bytes = st.binary(max_size=200) | st.lists(_pieces, max_size=12).map(b"".join)


@given(any_bytes)
@tries(130, 400)
def test_any_bytes_come_back_as_they_were(data: bytes):
    document = parse(data)
    assert document.to_bytes() == data
    _ = document.frontmatter  # reading it never raises, whatever stands there


@given(any_bytes)
@tries(60, 200)
def test_frontmatter_and_body_share_the_lines_without_gap(data: bytes):
    document = parse(data)
    body_from_line = data.removeprefix(BOM).split(b"\n")[document.body_start_line - 1 :]
    assert b"\n".join(body_from_line).endswith(document.body.encode("utf-8", "surrogateescape"))


def test_bom_line_ends_and_start_of_the_body_are_told():
    document = parse(BOM + b"---\r\nname: a\r\n---\r\nOne\r\ntwo")
    assert (document.bom, document.newline, document.body_start_line) == (BOM, "\r\n", 4)
    assert document.body == "One\r\ntwo"
    assert document.frontmatter is not None
    assert document.frontmatter.name == "a"


def test_rules_inside_the_body_and_unclosed_blocks_are_body():
    assert parse(b"Text\n---\nname: x\n---\n").frontmatter is None
    assert parse(b"---\nname: x\nnever closed\n").frontmatter is None
    assert parse(b"---\nProse between two rules.\n---\n").frontmatter is None
    assert parse(b"---\nname: x\n---\nA\n---\nB\n").body == "A\n---\nB\n"


def test_bytes_that_are_not_utf8_are_told():
    assert not parse(b"caf\xe9\n").is_utf8
    assert parse("café\n".encode()).is_utf8


def test_a_new_body_takes_the_line_ends_of_its_file():
    crlf = parse(b"---\r\nname: a\r\n---\r\nold\r\n")
    assert with_body(crlf, "new\nlines\n").to_bytes() == b"---\r\nname: a\r\n---\r\nnew\r\nlines\r\n"
    assert with_body(parse(b"old\n"), "from a form\r\n").to_bytes() == b"from a form\n"


def test_a_file_that_mixes_line_ends_keeps_each_line_as_it_is():
    document = parse(b"one\r\ntwo\nthree\n")
    assert with_body(document, document.body + "four\n").to_bytes() == b"one\r\ntwo\nthree\nfour\n"


def test_a_body_put_below_an_unterminated_frontmatter_does_not_run_into_it():
    document = with_body(parse(b"---\nname: a\n---"), "Body")
    assert document.to_bytes() == b"---\nname: a\n---\nBody"
    assert document.body == "Body"


def test_half_a_surrogate_pair_is_refused_with_its_place():
    with pytest.raises(MemoryEditError, match="character 2"):
        with_body(parse(b""), "ab\ud800").to_bytes()


@each(
    ("path", "index", "topic"),
    [
        ("MEMORY.md", True, False),
        ("team/MEMORY.md", True, False),
        ("old_MEMORY.md", False, True),
        ("team/a.md", False, True),
        ("logs/2026/03/2026-03-02.md", False, False),
        ("a.txt", False, False),
    ],
)
def test_a_file_of_a_directory_is_an_index_a_memory_or_neither(path: str, index: bool, topic: bool) -> None:
    assert (is_index(path), is_topic(path)) == (index, topic)
