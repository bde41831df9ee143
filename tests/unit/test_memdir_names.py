"""A memory's type and its file name."""

import unicodedata

from hypothesis import given, strategies as st

from dreams.lib.memdir import memory_type, name_key, parse, safe_file_name, slug_for, unfit
from tests.world.cases import each
from tests.world.strategies import tries


@each(
    ("data", "path", "expected"),
    [
        (b"---\ntype: Project\n---\n", "feedback_x.md", "project"),
        (b"---\nname: x\n---\n", "team/feedback_x.md", "feedback"),
        (b"---\ntype: lesson\n---\n", "user_x.md", "lesson"),
        (b"text", "reference-x.md", "reference"),
        (b"text", "users.md", None),
    ],
)
def test_the_type_comes_from_the_frontmatter_then_from_the_name(data: bytes, path: str, expected: str | None):
    assert memory_type(parse(data), path) == expected


def test_slugs_keep_letters_of_any_language():
    assert slug_for("Run  the Tests: before “done”!") == "run_the_tests_before_done"
    assert slug_for("항상 테스트 먼저") == "항상_테스트_먼저"
    assert slug_for("../../etc/passwd") == "etc_passwd"
    assert slug_for("!?") == "memory"


def test_a_fresh_name_collides_with_none_by_case_or_unicode_form():
    decomposed = unicodedata.normalize("NFD", "feedback_café.md")
    assert safe_file_name("Café", "feedback", [decomposed]) == "feedback_café_2.md"
    assert (
        safe_file_name("Café", "feedback", ["Feedback_CAFÉ.md", "feedback_café_2.md"]) == "feedback_café_3.md"
    )
    assert safe_file_name("feedback_tests.md", "feedback", []) == "feedback_tests.md"
    assert safe_file_name("Memory", None, []) == "memory_2.md"
    assert safe_file_name("Con", None, []) == "con_memory.md"
    assert safe_file_name("NUL", "project", []) == "project_nul.md"


@given(
    st.text(max_size=300),
    st.sampled_from([None, "user", "feedback"]),
    st.lists(st.text(max_size=5), max_size=3),
)
@tries(60, 200)
def test_every_name_is_safe_on_every_file_system(name: str, kind: str | None, words: list[str]):
    first = safe_file_name(name, kind, [])
    second = safe_file_name(name, kind, [first, *words])
    assert name_key(first) != name_key(second)
    assert len(second.encode()) < 255
    assert not set(second) & set('/\\:*?"<>|\0\n\r ')
    assert not second.startswith(".")
    assert not unfit(first) and not unfit(second)
