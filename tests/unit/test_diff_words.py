"""Word marks: honest about what changed, and few enough to read."""

import unicodedata

from hypothesis import given, strategies as st

from dreams.lib.diff import tokens, word_spans
from dreams.lib.diff.words import MAX_TOKENS
from tests.world.cases import each
from tests.world.strategies import pairs, texts

marked_text = st.text("ab 1.é日本\u0301\u200d\ufe0f👩💻👍\U0001f3fd🇩🇪\r\n\udce9", max_size=24)


def marked(text, spans):
    return [text[span.start : span.end] for span in spans]


def unmarked(text, spans):
    kept, at = [], 0
    for span in spans:
        kept.append(text[at : span.start])
        at = span.end
    return "".join([*kept, text[at:]])


@given(st.one_of(pairs(), st.tuples(marked_text, marked_text)))
def test_what_is_not_marked_is_the_same_on_both_sides(pair):
    old, new = pair
    removed, added = word_spans(old, new)
    assert unmarked(old, removed) == unmarked(new, added)
    assert bool(removed or added) == (old != new)
    for text, spans in ((old, removed), (new, added)):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(set(edges)), "apart, in order, none empty"
        assert all(0 <= edge <= len(text) for edge in edges)


@given(st.one_of(texts, marked_text))
def test_tokens_joined_are_the_text(text):
    assert "".join(tokens(text)) == text


@given(marked_text, marked_text, marked_text, marked_text)
def test_no_mark_begins_within_a_character_as_a_reader_sees_it(head, old, new, tail):
    old, new = f"{head}{old}{tail}", f"{head}{new}{tail}"
    for text, spans in zip((old, new), word_spans(old, new), strict=True):
        for edge in {edge for span in spans for edge in span} - {0, len(text)}:
            before, char = text[edge - 1], text[edge]
            if before != "\n":
                assert unicodedata.category(char) != "Mn"
                assert char not in "\u200d\U0001f3fd"
            assert before + char != "\r\n"


@each(
    "token",
    [
        "2026-11-21",
        "12:30",
        "3,000",
        "1.10.2",
        "src/app/main.py",
        "~/.claude/settings.json",
        "/etc/hosts",
        "user_role.md",
        "--no-verify",
        "don't",
        "a@b.example",
        "C:\\Users\\x",
        "https://example.org/a?b=1",
        "cafe\u0301s",
        "हिन्दी",
        "👩\u200d💻",
        "👍\U0001f3fd",
        "🇩🇪",
        "\udce9\udca9",
    ],
)
def test_identifiers_paths_numbers_dates_and_whole_characters_are_one_token(token):
    assert tokens(f"see {token} now") == ["see", " ", token, " ", "now"]


def test_scripts_without_spaces_are_compared_by_character():
    removed, added = word_spans("端口是五四三二", "端口是五四三三")
    assert marked("端口是五四三二", removed) == ["二"]
    assert marked("端口是五四三三", added) == ["三"]


def test_one_changed_number_in_a_long_line_is_the_only_mark():
    old = "- The staging database listens on 5432 and is restored every night from production"
    new = old.replace("5432", "5433")
    removed, added = word_spans(old, new)
    assert (marked(old, removed), marked(new, added)) == (["5432"], ["5433"])


def test_changed_spaces_are_marked():
    removed, added = word_spans("a b\n", "a  b\n")
    assert marked("a  b\n", added) == [" "]
    assert removed == []


def test_a_rewritten_paragraph_is_a_few_marks_and_no_confetti():
    old = (
        "We run the nightly import at two in the morning because the vendor feed arrives at one, and when it "
        "fails the person on call restarts it by hand from the jump host with the script in tools."
    )
    new = (
        "The nightly import now starts at four in the morning, since the new vendor feed arrives at three; if it "
        "breaks, whoever is on call can restart it from the dashboard with one click, and no script is needed."
    )
    removed, added = word_spans(old, new)
    assert 3 <= len(removed) <= 6
    assert 3 <= len(added) <= 6
    assert "nightly import" in unmarked(new, added)
    assert "vendor feed arrives at" in unmarked(new, added)


def test_more_than_the_limit_of_differing_tokens_marks_everything():
    old = " ".join(f"a{n}" for n in range(MAX_TOKENS))
    new = " ".join(f"b{n}" for n in range(MAX_TOKENS))
    removed, added = word_spans(old, new)
    assert (removed, added) == ([(0, len(old))], [(0, len(new))])


def test_a_small_change_in_a_huge_text_is_still_marked_exactly():
    old = "word " * (3 * MAX_TOKENS) + "end"
    new = old.replace("end", "END")
    assert marked(new, word_spans(old, new)[1]) == ["END"]
