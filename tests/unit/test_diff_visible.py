"""Nothing hides in a text that is shown for approval."""

from hypothesis import given, strategies as st

from dreams.lib.diff import visible
from tests.world.cases import each
from tests.world.strategies import texts


@each(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b", "a⟨U+2066⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\ufeffa", "⟨U+FEFF⟩a"),
        ("a\U000e0041", "a⟨U+E0041⟩"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\x00b\x7f", "a⟨U+0000⟩b⟨U+007F⟩"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("soft\u00adhyphen", "soft⟨U+00AD⟩hyphen"),
        ("a\u3164b", "a⟨U+3164⟩b"),
        ("a\ufe0fb\U000e0100", "a⟨U+FE0F⟩b⟨U+E0100⟩"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("caf\udce9", "caf⟨0xE9⟩"),
        ("a\ud800", "a⟨U+D800⟩"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown):
    assert visible(text) == shown


@each("text", ["tab\there\n", "été 日本語 — “q”\n", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "nb\u00a0sp"])
def test_ordinary_writing_is_left_alone(text):
    assert visible(text) == text


def test_a_carriage_return_is_shown_only_where_it_is_not_the_line_end_of_the_file():
    assert visible("a\r\nb\r\n") == "a\r\nb\r\n"
    assert visible("a\rb\r\nc\r\n") == "a⟨U+000D⟩b\r\nc\r\n"
    assert visible("a\nb\r\nc\n") == "a\nb⟨U+000D⟩\nc\n"
    assert visible("fake\rreal\n") == "fake⟨U+000D⟩real\n"
    assert visible("a\r\n", line_end="\n") == "a⟨U+000D⟩\n"


@given(st.one_of(texts, st.text(st.characters(codec=None))))
def test_only_tabs_and_line_ends_remain_of_the_control_characters(text):
    out = visible(text, "\n")
    assert not [
        c for c in out if (c < " " and c not in "\t\n") or "\x7f" <= c < "\xa0" or c in "\u2028\u202e"
    ]
    assert out.count("\n") == text.count("\n")
    out.encode()
