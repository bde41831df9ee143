"""POSIX patterns become linear ones that match the same, leftmost-longest, byte by byte."""

import re
from itertools import product

import pytest
from hypothesis import given, strategies as s

from dreams.lib.sandbox import patterns
from dreams.lib.sandbox.globbing import matches
from dreams.lib.sandbox.process import Refused, UsageError
from tests.world.cases import each
from tests.world.strategies import tries


def span(pattern: str, text: str, *, extended: bool = True, fold: bool = False) -> tuple[int, int] | None:
    found = patterns.compiled(patterns.translate(pattern.encode(), extended=extended, fold=fold)).search(
        text.encode()
    )
    return found.span() if found else None


@each(
    ("pattern", "text", "expected"),
    [
        ("a|ab", "xab", (1, 3)),
        ("(a|ab)(c|bcd)", "abcd", (0, 4)),
        ("x*", "aaa", (0, 0)),
        ("[]a]+", "x]a", (1, 3)),
        ("[^]a]", "]ab", (2, 3)),
        ("[a-]+", "b-a", (1, 3)),
        ("[[:digit:]]+", "ab12", (2, 4)),
        ("a{2}", "aaa", (0, 2)),
        ("a{,2}b", "aab", (0, 3)),
        ("a{1", "a{1", (0, 3)),
        ("*a", "a", (0, 1)),
        ("a**", "aa", (0, 2)),
        ("\\bab", "xab ab", (4, 6)),
        ("ab\\b", "abx ab", (4, 6)),
        ("\\w+", "é_a", (2, 4)),
        ("\\.", "a.b", (1, 2)),
        ("()", "a", (0, 0)),
    ],
)
def test_an_extended_pattern_matches_leftmost_and_longest(
    pattern: str, text: str, expected: tuple[int, int]
) -> None:
    assert span(pattern, text) == expected


@each(
    ("pattern", "text", "expected"),
    [
        ("a+", "aa+", (1, 3)),
        ("a\\+", "aa+", (0, 2)),
        ("a\\|b", "b", (0, 1)),
        ("*a", "*a", (0, 2)),
        ("\\(*a\\)", "*a", (0, 2)),
        ("^*a", "*a", (0, 2)),
        ("a^b", "a^b", (0, 3)),
        ("a$b", "a$b", (0, 3)),
        ("\\(^a\\)", "a", (0, 1)),
        ("a\\{2,3\\}", "aaaa", (0, 3)),
        ("(a)", "(a)", (0, 3)),
        ("a{2}", "a{2}", (0, 4)),
    ],
)
def test_a_basic_pattern_has_its_own_operators(pattern: str, text: str, expected: tuple[int, int]) -> None:
    assert span(pattern, text, extended=False) == expected


def test_case_is_folded_for_ascii_alone() -> None:
    assert span("É", "é", fold=True) is None
    assert span("[a-c]X", "Bx", fold=True) == (0, 2)
    assert span("[^a]", "A", fold=True) is None


@each("pattern", ["(a)\\1", "\\9", "a{1001}", "(" * 70 + ")" * 70, "a" * 9000, "[[.a.]]"])
def test_what_cannot_be_matched_in_linear_time_is_refused(pattern: str) -> None:
    with pytest.raises(Refused):
        patterns.translate(pattern.encode(), extended=True)


@each("pattern", ["[a", "(a", "a\\", "[z-a]", "[[:nope:]]"])
def test_a_malformed_pattern_is_an_ordinary_error(pattern: str) -> None:
    with pytest.raises(UsageError):
        patterns.translate(pattern.encode(), extended=True)


_SIMPLE = s.recursive(
    s.sampled_from(["a", "b", ".", "[ab]", "[^a]"]),
    lambda inner: s.one_of(
        s.tuples(inner, inner).map("".join),
        s.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        s.tuples(inner, s.sampled_from("*+?")).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@tries(50, 150)
@given(_SIMPLE)
def test_the_same_texts_match_as_with_the_standard_library(pattern: str) -> None:
    translated = patterns.compiled(patterns.translate(pattern.encode(), extended=True))
    plain = re.compile(pattern.encode())
    for letters in product(b"abc", repeat=3):
        text = bytes(letters)
        assert (translated.fullmatch(text) is None) == (plain.fullmatch(text) is None)
        assert (translated.search(text) is None) == (plain.search(text) is None)


@tries(100, 300)
@given(s.binary(max_size=12), s.booleans(), s.booleans())
def test_any_bytes_are_a_pattern_or_an_error(pattern: bytes, extended: bool, fold: bool) -> None:
    try:
        patterns.compiled(patterns.translate(pattern, extended=extended, fold=fold))
    except (Refused, UsageError) as error:
        assert str(error)


@each(
    ("pattern", "name", "expected"),
    [
        ("*.md", "a.md", True),
        ("*.md", "a.mdx", False),
        ("?", "é", False),
        ("[!a]*", "b", True),
        ("[a", "[a", True),
        ("\\*", "*", True),
        ("\\*", "a", False),
        ("[]]", "]", True),
        ("[z-a]", "z", False),
        ("a*b*c", "a\nbc", True),
        ("*" * 30 + "b", "a" * 200, False),
    ],
)
def test_a_shell_pattern_matches_whole_names_byte_by_byte(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected
