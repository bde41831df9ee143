"""Rows of a diff: numbered, shortened, side by side."""

from hypothesis import given, strategies as st

from dreams.lib.diff import CharacterSpan, hunks, pieces, rows, split_lines
from tests.world.strategies import pairs


@given(pairs())
def test_rows_tell_both_texts_with_their_line_numbers(pair):
    base, new = pair
    found = rows(base, hunks(base, new), context=None)
    old_side = [(r.old_no, r.text + r.end) for r in found if r.old_no]
    new_side = [(r.new_no, r.text + r.end) for r in found if r.new_no]
    assert old_side == list(enumerate(split_lines(base), 1))
    assert new_side == list(enumerate(split_lines(new), 1))


@given(pairs(), st.integers(0, 3))
def test_skipped_and_shown_lines_together_are_all_lines(pair, context):
    base, new = pair
    found = rows(base, hunks(base, new), context)
    shown = sum(1 for r in found if r.kind in ("equal", "del"))
    assert shown + sum(r.hidden for r in found) == len(split_lines(base))
    assert all(r.hidden >= 2 for r in found if r.kind == "skip")


@given(pairs())
def test_pieces_hold_the_whole_row_and_marks_lie_within_it(pair):
    base, new = pair
    for row in rows(base, hunks(base, new), context=None):
        assert all(0 <= s.start < s.end <= len(row.text) for s in row.spans)
        if row.text.isascii() and row.text.isprintable():
            assert "".join(p.text for p in pieces(row)) == row.text
            assert [p.text for p in pieces(row) if p.changed] == [
                row.text[s.start : s.end] for s in row.spans
            ]


def test_unchanged_lines_beyond_the_context_are_one_skip_that_says_how_many():
    base = "".join(f"line {n}\n" for n in range(20))
    found = rows(base, hunks(base, base.replace("line 10\n", "line ten\n")), context=2)
    assert [(r.kind, r.old_no, r.new_no) for r in found] == [
        ("skip", 1, 1),
        ("equal", 9, 9),
        ("equal", 10, 10),
        ("del", 11, None),
        ("ins", None, 11),
        ("equal", 12, 12),
        ("equal", 13, 13),
        ("skip", 14, 14),
    ]
    assert (found[0].text, found[0].hidden, found[-1].hidden) == ("8 unchanged lines", 8, 7)


def test_a_single_hidden_line_is_shown_instead_of_skipped():
    base = "one\ntwo\nthree\nfour\n"
    assert "skip" not in {r.kind for r in rows(base, hunks(base, base + "five\n"), context=3)}


def test_changed_words_are_marked_within_their_line():
    base = "The cache lives in redis on the old host\n"
    removed, added = rows(base, hunks(base, base.replace("redis", "memcached")))
    assert removed.spans == (CharacterSpan(19, 24),)
    assert added.spans == (CharacterSpan(19, 28),)


def test_a_line_rewritten_from_end_to_end_has_no_marks_inside():
    base = "alpha beta gamma\n"
    assert [r.spans for r in rows(base, hunks(base, "one two three\n"))] == [(), ()]


def test_a_changed_line_end_is_kept_apart_from_the_text():
    removed, added = rows("a\r\n", hunks("a\r\n", "a"))
    assert (removed.text, removed.end, added.text, added.end) == ("a", "\r\n", "a", "")


def test_an_empty_line_within_a_long_change_carries_no_mark():
    found = rows("0\n", hunks("0\n", "\n\n\n"))
    assert all(s.start < s.end <= len(r.text) for r in found for s in r.spans)
