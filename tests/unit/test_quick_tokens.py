"""The words of most texts are found without RE2: what is found is the same, whatever the text is."""

import re

import re2
from hypothesis import given, strategies as st

from dreams.lib.prose import values

PIECES = """
word Name don't `a b` ` `` 45 % 45% v5 #12 2026-01-02 a/b/c ./x.md src/app.py x.md http://a.b/c a@b.org foo() 1e-5 日本語 → ⚠️ 1️
under_score back-end é ß ’s “ ” ( ) [[link]] [x](y.md) ** * _ . , : ; ! ? - / // ../ ~ {x} :// µs 5GB = + @ — ا ²
"""


@given(
    st.lists(st.sampled_from([*PIECES.split(), *"   \n\t\xa0\v", "-" * 100]), max_size=20).map("".join)
    | st.text(max_size=60)
)
def test_the_words_of_a_text_are_those_that_the_one_pattern_finds(text: str) -> None:
    text = values.encodable(text)
    expected, before = list[values._Token](), 0
    for match in values._RE2.finditer(text):
        start, end = match.span()
        expected += values._behind(text[before:start], match[0], match.lastgroup or "", start)
        before = end
    assert values._tokens(text) == expected


def test_what_python_reads_as_letters_and_marks_re2_reads_as_such() -> None:
    every = "".join(char for char in map(chr, range(0x1FB00)) if values._KNOWN.fullmatch(char))
    letters = "".join(re.findall(f"[{values._LETTERS}]", every))
    marks = "".join(re.findall(f"[{values._MARKS}]", every))
    assert re2.fullmatch(r"\pL+", letters) and re2.fullmatch(r"\pM+", marks)
    assert not re2.search(r"[\pL\pM]", "".join({*every} - {*letters, *marks}))
