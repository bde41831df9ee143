"""Three-way merge by line: nothing lost, nothing decided that a person should decide."""

import pytest
from hypothesis import given, strategies as st

from dreams.lib.diff import split_lines
from dreams.lib.diff.merge import Edited, UnresolvedConflictError, merge3
from tests.world.cases import each
from tests.world.strategies import edited, pairs, texts, triples

adjacency = st.sampled_from(["conflict", "merge"])


@given(pairs(), adjacency)
def test_when_only_one_side_changed_its_text_is_taken(pair, adjacent):
    base, new = pair
    assert merge3(base, base, new, adjacent=adjacent).text == new
    assert merge3(base, new, base, adjacent=adjacent).text == new


@given(pairs(), adjacency)
def test_the_same_change_on_both_sides_is_taken_once(pair, adjacent):
    base, new = pair
    assert merge3(base, new, new, adjacent=adjacent).text == new


@given(triples(), adjacency)
def test_sides_may_be_exchanged(triple, adjacent):
    base, ours, theirs = triple
    one, other = merge3(base, ours, theirs, adjacent=adjacent), merge3(base, theirs, ours, adjacent=adjacent)
    assert [c.kind for c in one.chunks] == [c.kind for c in other.chunks]
    assert [c.ours for c in one.conflicts] == [c.theirs for c in other.conflicts]
    if one.clean:
        assert one.text == other.text


@given(triples(), adjacency)
def test_chunks_account_for_every_line_of_all_three_texts(triple, adjacent):
    merge = merge3(*triple, adjacent=adjacent)
    for name, text in zip(("base", "ours", "theirs"), triple, strict=True):
        parts = [getattr(chunk, name) for chunk in merge.chunks]
        lines = split_lines(text)
        assert [line for part in parts for line in part.lines] == lines
        assert all(tuple(lines[p.start : p.start + len(p.lines)]) == p.lines for p in parts)


@given(triples(), adjacency)
def test_a_conflict_decided_for_one_side_everywhere_keeps_that_sides_lines(triple, adjacent):
    merge = merge3(*triple, adjacent=adjacent)
    for side in ("ours", "theirs", "base"):
        resolved = merge.resolve(dict.fromkeys(range(len(merge.conflicts)), side))
        wanted = [
            line
            for c in merge.chunks
            for line in (getattr(c, side).lines if c.kind == "conflict" else c.lines)
        ]
        assert resolved == "".join(wanted), "no line is glued to another"


@given(texts.flatmap(lambda base: st.tuples(st.just(base), edited(base), edited(base))))
def test_every_line_added_on_either_side_is_in_the_merge_or_in_a_conflict(triple):
    base, ours, theirs = triple
    merge = merge3(base, ours, theirs)
    told = {line for c in merge.chunks for part in (c.lines, c.ours.lines, c.theirs.lines) for line in part}
    assert set(split_lines(ours)) | set(split_lines(theirs)) <= told


BASE = "one\ntwo\nthree\nfour\n"


@each("more", ["ours", "theirs", "both"])
@each("adjacent", ["conflict", "merge"])
def test_a_paragraph_that_both_sides_added_or_removed_is_so_once_whatever_else_one_changed(more, adjacent):
    without, with_it = "A\n\nB\n\nC\n\nD\n", "A\n\nB\n\nX\n\nC\n\nD\n"
    for base, new in ((without, with_it), (with_it, without)):
        ours, theirs = (
            new.replace("A", "a") if more in {side, "both"} else new for side in ("ours", "theirs")
        )
        assert merge3(base, ours, theirs, adjacent=adjacent).text == new.replace("A", "a")


def test_edits_with_an_unchanged_line_between_are_both_taken():
    merge = merge3(BASE, "ONE\ntwo\nthree\nfour\n", "one\ntwo\nTHREE\nfour\n")
    assert merge.text == "ONE\ntwo\nTHREE\nfour\n"


def test_touching_edits_conflict_unless_asked_otherwise():
    ours, theirs = "ONE\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n"
    (conflict,) = merge3(BASE, ours, theirs).conflicts
    assert conflict.base.lines == ("one\n", "two\n")
    assert merge3(BASE, ours, theirs, adjacent="merge").text == "ONE\nTWO\nthree\nfour\n"


def test_neighbouring_bullets_changed_here_and_there_merge_where_touching_is_allowed():
    base = "- port is 1\n- host is a\n- user is bob\n"
    ours, theirs = base.replace("1", "2").replace("bob", "eve"), base.replace("host is a", "host is b")
    assert merge3(base, ours, theirs, adjacent="merge").text == "- port is 2\n- host is b\n- user is eve\n"


@each("adjacent", ["conflict", "merge"])
def test_two_insertions_at_one_place_conflict(adjacent):
    merge = merge3(BASE, BASE + "ours\n", BASE + "theirs\n", adjacent=adjacent)
    assert not merge.clean
    assert merge.resolve({0: "both"}) == BASE + "ours\ntheirs\n"
    assert merge.resolve({0: "base"}) == BASE


@each("adjacent", ["conflict", "merge"])
@each("theirs", ["Q.\n", "- q\n- r\n", "## Q\n\nText.\n", "P.\n\nQ.\n"])
def test_two_paragraphs_added_in_one_gap_are_a_conflict_that_shows_both(theirs, adjacent):
    base = "# H\n\nA.\n\nB.\n"
    ours, theirs = (base.replace("B.", f"{more}\nB.") for more in ("P.\n", theirs))
    [conflict] = merge3(base, ours, theirs, adjacent=adjacent).conflicts
    assert {"P.\n", *theirs.splitlines(True)} - {*base.splitlines(True)} <= {
        *conflict.ours.lines,
        *conflict.theirs.lines,
    }


def test_a_line_appended_to_a_text_that_lost_its_final_line_end_is_not_glued():
    merge = merge3("a\nb\n", "a\nb", "a\nb\nc\n", adjacent="merge")
    assert merge.resolve({0: "both"}).split() == ["a", "b", "b", "c"]


def test_removed_here_and_changed_there_is_a_conflict():
    (conflict,) = merge3(BASE, "one\nthree\nfour\n", "one\n2\nthree\nfour\n").conflicts
    assert (conflict.ours.lines, conflict.theirs.lines) == ((), ("2\n",))
    assert (conflict.base.start, conflict.ours.start, conflict.theirs.start) == (1, 1, 1)


def test_a_choice_may_be_a_text_of_its_own_even_one_named_like_a_side():
    merge = merge3("a\n", "b\n", "c\n")
    assert merge.resolve({0: Edited("ours\n")}) == "ours\n"
    assert merge.resolve({0: "ours"}) == "b\n"


def test_an_edited_choice_without_a_line_end_is_not_glued_to_what_follows():
    merge = merge3("a\r\n-\r\nz\r\n", "b\r\n-\r\nz\r\n", "c\r\n-\r\nz\r\n")
    assert merge.resolve({0: Edited("d")}) == "d\r\n-\r\nz\r\n"


def test_no_text_comes_out_while_a_conflict_waits():
    merge = merge3("a\n", "b\n", "c\n")
    with pytest.raises(UnresolvedConflictError, match="conflict 0"):
        _ = merge.text
    with pytest.raises(UnresolvedConflictError, match="no conflict 1"):
        merge.resolve({0: "ours", 1: "ours"})
