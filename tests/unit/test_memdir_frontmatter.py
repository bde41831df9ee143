"""Reading the frontmatter of a memory."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given, strategies as st

from dreams.lib.memdir import Frontmatter, frontmatter, parse
from dreams.lib.memdir.frontmatter import read_simple, read_yaml
from tests.world.cases import each
from tests.world.strategies import tries


def read(block: str) -> Frontmatter:
    frontmatter = parse(f"---\n{block}\n---\nBody\n".encode()).frontmatter
    assert frontmatter is not None
    return frontmatter


def test_the_flat_shape():
    found = read("name: run_tests\ndescription: Run them, always\ntype: feedback")
    assert (found.shape, found.name, found.type) == ("flat", "run_tests", "feedback")
    assert found.description == "Run them, always"
    assert (found.problem, found.pinned) == (None, False)


def test_the_nested_shape_with_a_trailing_space():
    found = read(
        "name: a\nmetadata: \n  node_type: memory\n  type: project\n  originSessionId: 12-ab\n"
        "  modified: 2026-03-01T10:00:00Z"
    )
    assert (found.shape, found.type, found.origin_session_id) == ("nested", "project", "12-ab")
    assert found.modified == "2026-03-01T10:00:00Z"
    assert found.modified_at == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_pinned_without_a_type():
    found = read("name: a\nmetadata:\n  pinned: true")
    assert (found.shape, found.pinned, found.type) == ("nested", True, None)


def test_an_empty_block_and_one_with_other_keys():
    assert read("").shape == "none"
    assert read("# nothing yet").shape == "none"
    assert read("colour: red").shape == "other"


@each("text", ["1.10", "on", "no", "12:30", "0x1F", "1e3", "2026-03-01", "-5", "true", "1_000"])
def test_values_stay_the_text_a_person_sees(text: str):
    assert read(f"name: {text}\ndescription: [flow]").name == text  # the list sends the block through YAML
    assert read(f"name: {text}").name == text


def test_null_is_no_value_but_the_quoted_word_is():
    assert read("name: null\ntype: ~\ndescription:").name is None
    assert read('name: "null"').name == "null"


def test_quotes_blocks_anchors_and_comments_are_read_as_yaml():
    found = read("name: 'it''s' # said\ndescription: >-\n  two\n  lines\ntype: &t user\ncopy: *t")
    assert (found.name, found.description, found.type) == ("it's", "two lines", "user")
    assert found.raw["copy"] == "user"


@each("text", ["Community — #general is the chat", "Gates of batch 2 — PR #126 is open"])
def test_a_number_or_a_channel_is_no_remark(text: str):
    for block in (
        f"name: {text}\ndescription: {text}\ntype: user",
        f"description: {text}\r\nname: {text}\r\n",
    ):
        found = read(block)
        assert (found.name, found.description, found.problem) == (text, text, None)
    assert read("name: a b # said").name == "a b"
    assert read(f"name: a\ncopy: >-\n  name: {text}").raw["copy"] == f"name: {text}"


def test_a_broken_block_is_read_line_by_line_and_says_so():
    found = read('name: a\ndescription: "x" is short for: y\nmetadata:\n  type: user')
    assert found.problem is not None
    assert "line 3" in found.problem
    assert found.description == '"x" is short for: y'
    assert found.type == "user"


def test_a_key_that_stands_twice_is_told():
    found = read("name: a\nname: b")
    assert found.name == "b"
    assert found.problem == "The key “name” appears twice; the last one counts."


def test_an_alias_bomb_is_only_a_problem():
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 9)]
    assert "1,000 values" in str(read("\n".join(levels)).problem)
    assert read("name: &x [*x]").problem is not None
    assert read("name: " + "[" * 3000).problem is not None


def test_an_endless_block_is_read_in_part():
    found = read("name: a\ndescription: " + "x" * 40_000)
    assert found.name == "a"
    assert "longer than" in str(found.problem)


@each(
    ("text", "expected"),
    [
        ("2026-03-01", date(2026, 3, 1)),
        ("2026-03-01 10:00", date(2026, 3, 1)),
        ("2026-03-01T10:00:00.5+00:00", datetime(2026, 3, 1, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-13-01", None),
        ("last week", None),
        ("20260301", None),
    ],
)
def test_moments_are_read_only_when_they_surely_are_one(text: str, expected: object):
    assert read(f"modified: {text}").modified_at == expected


_words = st.text("ab한:#'\"-[]{}&*!|>%@`,? 0.~\\é\u2028\u0085", max_size=8)
_line = st.builds(
    "{}{}:{}{}".format,
    st.sampled_from(["", "  ", " "]),
    st.sampled_from("abc"),
    st.sampled_from(["", " "]),
    _words,
)


@given(st.lists(_line, max_size=5).map("\n".join))
@example("a: x\n  b: y")
@example("a:\n  b: y\nc: null")
@example("a:\nb: x")
@tries(160, 500)
def test_the_fast_path_reads_what_yaml_reads(block: str):
    fast = read_simple(block)
    if fast is not None:
        slow = read_yaml(block)
        assert (slow.problem, dict(slow.raw)) == (None, fast)


def test_a_head_that_takes_a_yaml_parser_is_read_once_however_often_its_file_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(frontmatter, "read_yaml", lambda block: read.append(block) or read_yaml(block))
    files = [parse(f"---\ndescription: >\n  read once\n---\n\n{body}\n".encode()) for body in "abc"]
    assert {each.frontmatter and each.frontmatter.description for each in files} == {"read once\n"}
    assert len(read) == 1
