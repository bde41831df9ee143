"""Most words of a text are found without RE2: what is found is the same, whatever the text is."""

from hypothesis import given, strategies as st

from dreams.lib.prose import values

PIECES = """
word Name don't `a b` ` `` 45 % 45% v5 #12 2026-01-02 a/b/c ./x.md src/app.py x.md http://a.b/c a@b.org foo()
under_score back-end é ß ’s “ ” ( ) [[link]] [x](y.md) ** * _ . , : ; ! ? - / //
"""


@given(
    st.lists(st.sampled_from([*PIECES.split(), *"   \n\t\xa0"]), max_size=20).map("".join)
    | st.text(max_size=60)
)
def test_the_words_of_a_text_are_those_that_the_one_pattern_finds(text: str) -> None:
    text = values.encodable(text)
    expected, before = [], 0
    for match in values._TOKEN.finditer(text):
        expected += values._behind(text, before, match.lastgroup, *match.span())
        before = match.end()
    assert values._tokens(text) == expected
