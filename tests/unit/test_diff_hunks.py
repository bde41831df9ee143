"""Hunks: cut where a person decides, named by content, applied in any selection."""

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from dreams.lib.diff import HunkMismatchError, apply_hunks, fitted, hunks, line_end_of, split_lines
from tests.world.strategies import pairs, texts, words


@given(texts)
def test_lines_joined_are_the_text_and_end_only_at_line_feeds(text):
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all("\n" not in line[:-1] and line for line in lines)
    assert all(line.endswith("\n") for line in lines[:-1])


@given(pairs(), st.sampled_from(["block", "unit"]))
def test_all_hunks_make_the_new_text_and_none_leave_the_old(pair, granularity):
    base, new = pair
    found = hunks(base, new, granularity=granularity)
    assert apply_hunks(base, found, {h.id: True for h in found}) == new
    assert apply_hunks(base, found, {}) == base
    assert apply_hunks(base, found, {h.id: False for h in found}) == base
    assert len({h.id for h in found}) == len(found)
    assert bool(found) == (base != new)


def joined(lines: list[str], line_end: str) -> str:
    """The lines, with a line end where one that ended its text stands before another now."""
    out = ""
    for line in lines:
        out += line_end if out and not out.endswith("\n") else ""
        out += line
    return out


@given(pairs(), st.data())
def test_any_selection_gives_the_same_text_in_any_order_and_its_complement_brings_the_rest(pair, data):
    base, new = pair
    found = hunks(base, new)
    chosen = {h.id: True for h in found if data.draw(st.booleans())}
    part = apply_hunks(base, found, chosen)
    assert apply_hunks(base, data.draw(st.permutations(found)), chosen) == part
    lines, at = [], 0
    source = split_lines(base)
    for hunk in found:
        lines += source[at : hunk.base_start]
        lines += hunk.new_lines if hunk.id in chosen else hunk.base_lines
        at = hunk.base_end
    assert part == joined([*lines, *source[at:]], line_end_of(source)), "no line was glued to another"
    back = hunks(new, base)
    assert apply_hunks(new, back, {h.id: True for h in back}) == base


@given(pairs())
def test_hunks_are_in_order_and_never_overlap(pair):
    base, new = pair
    found = hunks(base, new)
    for before, after in pairwise(found):
        assert before.base_end <= after.base_start
        assert before.new_start + len(before.new_lines) <= after.new_start
    for hunk in found:
        assert hunk.base_lines != hunk.new_lines
        assert tuple(split_lines(new)[hunk.new_start :][: len(hunk.new_lines)]) == hunk.new_lines


@given(pairs(), st.data(), words)
def test_an_edited_text_stands_in_the_place_of_its_hunk(pair, data, text):
    base, new = pair
    found = hunks(base, new)
    if not found:
        return
    hunk = data.draw(st.sampled_from(found))
    source = split_lines(base)
    out = apply_hunks(base, found, {hunk.id: text + "\n"})
    head = "".join(source[: hunk.base_start])
    if head and not head.endswith("\n"):
        head += line_end_of(source)
    assert out == head + text + "\n" + "".join(source[hunk.base_end :])


def test_an_edited_text_without_a_line_end_is_not_glued_to_the_next_line():
    base = "a\r\nb\r\nc\r\n"
    found = hunks(base, "a\r\nB\r\nc\r\n")
    assert apply_hunks(base, found, {found[0].id: "bee"}) == "a\r\nbee\r\nc\r\n"


def test_text_from_a_browser_gets_the_line_ends_of_its_hunk():
    (lf,) = hunks("a\nb\n", "a\nc\n")
    assert fitted(lf, "one\r\ntwo") == "one\ntwo\n"
    assert fitted(lf, "one\rtwo") == "one\ntwo\n"
    (crlf,) = hunks("a\r\nb\r\n", "a\r\nc\r\n")
    assert fitted(crlf, "one\r\ntwo\r\n") == "one\r\ntwo\r\n"
    assert fitted(crlf, "") == ""


def test_hunks_of_another_text_are_refused():
    found = hunks("a\nb\nc\n", "a\nB\nc\n")
    with pytest.raises(HunkMismatchError, match=found[0].id):
        apply_hunks("a\nx\nc\n", found, {})
    with pytest.raises(HunkMismatchError, match="nothere"):
        apply_hunks("a\nb\nc\n", found, {"nothere": True})


@given(pairs(), words)
def test_an_id_stays_when_lines_are_added_far_above(pair, above):
    base, new = pair
    head = f"{above} §\nunchanged §\n"
    ids = [h.id for h in hunks("unchanged §\n" + base, "unchanged §\n" + new, path="m.md")]
    assert ids == [h.id for h in hunks(head + base, head + new, path="m.md")] or _twins(base, new)


def _twins(base, new):
    found = [(h.removed, h.added) for h in hunks(base, new)]
    return len(set(found)) < len(found)


def test_an_id_is_twelve_characters_and_depends_on_path_and_both_sides():
    ids = {
        hunks("a\n", "b\n", path="x")[0].id,
        hunks("a\n", "b\n", path="y")[0].id,
        hunks("a\n", "c\n", path="x")[0].id,
        hunks("b\n", "a\n", path="x")[0].id,
        hunks("", "a\n", path="x")[0].id,
    }
    assert len(ids) == 5
    assert all(len(i) == 12 and i.isascii() and i.isalnum() and i == i.lower() for i in ids)


def test_twins_are_told_apart_by_their_neighbours_not_by_their_number():
    base = "one\nx\ntwo\nx\nthree\nx\n"
    found = hunks(base, base.replace("x", "y"))
    last = found[-1].id
    again = hunks("one\ntwo\nx\nthree\nx\n", "one\ntwo\ny\nthree\ny\n")
    assert again[-1].id == last


def test_neighbouring_bullets_that_changed_are_three_hunks():
    base = "- port is 1\n- host is a\n- user is bob\n"
    new = "- port is 2\n- host is b\n- user is eve\n"
    assert [h.added for h in hunks(base, new)] == split_lines(new)
    assert len(hunks(base, new, granularity="block")) == 1


def test_every_row_of_an_index_is_its_own_hunk():
    base = "# Memory\n\n- [A](a.md) — one\n- [B](b.md) — two\n- [C](c.md) — three\n"
    new = "# Memory\n\n- [A](a.md) — uno\n- [C](c.md) — tres\n- [D](d.md) — x\n- [E](e.md) — y\n\n## Old\n- [F](f.md) — z\n"
    found = hunks(base, new)
    assert [(h.kind, len(h.base_lines), len(h.new_lines)) for h in found] == [
        ("change", 1, 1),
        ("remove", 1, 0),
        ("change", 1, 1),
        ("add", 0, 1),
        ("add", 0, 2),
        ("add", 0, 1),
        ("add", 0, 1),
    ]


def test_an_empty_line_above_a_new_row_is_decided_with_the_row():
    base = "# Memory\n\n## Web\n\nThe server is small.\n"
    found = hunks(base, f"{base}\n- [A](a.md) — one\n- [B](b.md) — two\n")
    assert [h.added for h in found] == ["\n- [A](a.md) — one\n", "- [B](b.md) — two\n"]


def test_a_row_replaced_by_a_row_for_another_file_is_a_removal_and_an_addition():
    found = hunks("- [A](a.md) — old things of the team\n", "- [New](z.md) — something else\n")
    assert [h.kind for h in found] == ["remove", "add"]


def test_a_renamed_target_is_a_change_of_its_row():
    (hunk,) = hunks(
        "- [A](a.md) — how we deploy to the cluster\n", "- [A](b.md) — how we deploy to the cluster\n"
    )
    assert hunk.kind == "change"


def test_a_wrapped_paragraph_is_decided_as_a_whole():
    base = "We deploy on Friday\nfrom the main branch\nby hand.\n"
    new = "We deploy on Monday from\nthe main branch by\nhand now.\n"
    assert len(hunks(base, new)) == 1


def test_edits_with_an_unchanged_line_between_stay_apart():
    assert len(hunks("a one\n\nb two\n", "a 1\n\nb 2\n")) == 2


def test_a_bullet_keeps_the_lines_that_go_on_with_it():
    base = "- a one\n  more of a\n- b one\n  more of b\n"
    new = "- a two\n  more of a!\n- b two\n  more of b!\n"
    assert [len(h.new_lines) for h in hunks(base, new)] == [2, 2]


def test_a_file_that_appears_or_goes_is_one_hunk():
    rows = "- [A](a.md) — x\n- [B](b.md) — y\n"
    assert len(hunks("", rows)) == len(hunks(rows, "")) == 1


def test_line_ends_turned_for_a_whole_file_are_one_decision():
    rows = "- a\n- b\n- c\n"
    assert len(hunks(rows, rows.replace("\n", "\r\n"))) == 1


def test_frontmatter_fields_are_decided_one_by_one():
    found = hunks("---\nname: a\ntype: user\n---\n", "---\nname: b\ntype: project\n---\n")
    assert [h.added for h in found] == ["name: b\n", "type: project\n"]


@pytest.mark.more
@settings(max_examples=5, deadline=None)
@given(st.integers(2_500, 4_000))
def test_thousands_of_lines_that_repeat_are_compared_within_bounds(count):
    base, new = "x\ny\n" * count, "z\n" + "y\nx\n" * count + "w\n"
    found = hunks(base, new)
    assert apply_hunks(base, found, {h.id: True for h in found}) == new


def test_a_line_of_half_a_megabyte_is_still_one_changed_line():
    base, new = "- " + "word " * 100_000 + "\n", "- " + "drow " * 100_000 + "\n"
    assert [h.kind for h in hunks(base, new)] == ["remove", "add"]


def test_a_last_line_that_stays_is_not_glued_to_one_that_came_before_it():
    base = "deploy\n- [deploy](a.md) — deploy\ndeploy"
    found = hunks(base, "deploy;00")
    assert apply_hunks(base, found, {found[0].id: True}) == "deploy;00\ndeploy"


def test_lines_that_are_sentences_of_their_own_are_decided_one_by_one() -> None:
    before = "Staging is on 1.\nThe export runs at 3.\nWe will move to Postgres.\n"
    found = hunks(before, "Staging is on 1.\nThe export runs at 4.\n")
    assert [(hunk.removed, hunk.added) for hunk in found] == [
        ("The export runs at 3.\n", "The export runs at 4.\n"),
        ("We will move to Postgres.\n", ""),
    ]


def test_a_wrapped_sentence_is_one_change() -> None:
    assert (
        len(hunks("The export runs\nat 3 in the\nmorning.\n", "The export ran\nat 4 in the\nafternoon.\n"))
        == 1
    )
