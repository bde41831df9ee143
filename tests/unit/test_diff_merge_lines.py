"""Three-way merge by line: nothing lost, nothing decided that a person should decide."""

import pytest
from hypothesis import given, strategies as st

from dreams.lib.diff import split_lines
from dreams.lib.diff.lines import ended_lines
from dreams.lib.diff.merge import Edited, UnresolvedConflictError, merge3
from tests.world.cases import each
from tests.world.strategies import edited, pairs, texts, triples

both = st.booleans()


@given(pairs(), both)
def test_when_only_one_side_changed_its_text_is_taken(pair, keeps_both):
    base, new = pair
    assert merge3(base, base, new, keeps_both=keeps_both).text == new
    assert merge3(base, new, base, keeps_both=keeps_both).text == new


@given(pairs(), both)
def test_the_same_change_on_both_sides_is_taken_once(pair, keeps_both):
    base, new = pair
    assert merge3(base, new, new, keeps_both=keeps_both).text == new


@given(triples(), both)
def test_sides_may_be_exchanged(triple, keeps_both):
    base, ours, theirs = triple
    one, other = (
        merge3(base, ours, theirs, keeps_both=keeps_both),
        merge3(base, theirs, ours, keeps_both=keeps_both),
    )
    assert [c.kind for c in one.chunks] == [c.kind for c in other.chunks]
    assert [c.ours for c in one.conflicts] == [c.theirs for c in other.conflicts]
    if one.clean:
        united = keeps_both and one.text != other.text
        assert sorted(one.text) == sorted(other.text) if united else one.text == other.text


@given(triples(), both)
def test_chunks_account_for_every_line_of_all_three_texts(triple, keeps_both):
    merge = merge3(*triple, keeps_both=keeps_both)
    for name, text in zip(("base", "ours", "theirs"), triple, strict=True):
        parts = [getattr(chunk, name) for chunk in merge.chunks]
        lines = ended_lines(split_lines(text))
        assert [line for part in parts for line in part.lines] == lines
        assert all(tuple(lines[p.start : p.start + len(p.lines)]) == p.lines for p in parts)


@given(triples(), both)
def test_a_conflict_decided_for_one_side_everywhere_keeps_that_sides_lines(triple, keeps_both):
    merge = merge3(*triple, keeps_both=keeps_both)
    for side in ("ours", "theirs", "base"):
        resolved = merge.resolve(dict.fromkeys(range(len(merge.conflicts)), side))
        wanted = [
            line
            for c in merge.chunks
            for line in (getattr(c, side).lines if c.kind == "conflict" else c.lines)
        ]
        whole = "".join(wanted)
        assert resolved in {whole, whole.removesuffix("\n").removesuffix("\r")}, "no line is glued to another"


@given(texts.flatmap(lambda base: st.tuples(st.just(base), edited(base), edited(base))))
def test_every_line_added_on_either_side_is_in_the_merge_or_in_a_conflict(triple):
    base, ours, theirs = triple
    merge = merge3(base, ours, theirs)
    told = {line for c in merge.chunks for part in (c.lines, c.ours.lines, c.theirs.lines) for line in part}
    assert {*ended_lines(split_lines(ours)), *ended_lines(split_lines(theirs))} <= told


BASE = "one\ntwo\nthree\nfour\n"


@each("more", ["ours", "theirs", "both"])
def test_a_paragraph_that_both_sides_added_or_removed_is_so_once_whatever_else_one_changed(more):
    without, with_it = "A\n\nB\n\nC\n\nD\n", "A\n\nB\n\nX\n\nC\n\nD\n"
    for base, new in ((without, with_it), (with_it, without)):
        ours, theirs = (
            new.replace("A", "a") if more in {side, "both"} else new for side in ("ours", "theirs")
        )
        assert merge3(base, ours, theirs).text == new.replace("A", "a")


def test_edits_with_an_unchanged_line_between_are_both_taken():
    merge = merge3(BASE, "ONE\ntwo\nthree\nfour\n", "one\ntwo\nTHREE\nfour\n")
    assert merge.text == "ONE\ntwo\nTHREE\nfour\n"


def test_edits_that_only_touch_are_both_taken():
    ours, theirs = "ONE\ntwo\nthree\nfour\n", "one\nTWO\nthree\nfour\n"
    assert merge3(BASE, ours, theirs).text == "ONE\nTWO\nthree\nfour\n"


def test_neighbouring_bullets_changed_here_and_there_merge_where_touching_is_allowed():
    base = "- port is 1\n- host is a\n- user is bob\n"
    ours, theirs = base.replace("1", "2").replace("bob", "eve"), base.replace("host is a", "host is b")
    assert merge3(base, ours, theirs).text == "- port is 2\n- host is b\n- user is eve\n"


def test_two_insertions_at_one_place_conflict():
    merge = merge3(BASE, BASE + "ours\n", BASE + "theirs\n")
    assert not merge.clean
    assert merge.resolve({0: "both"}) == BASE + "ours\ntheirs\n"
    assert merge.resolve({0: "base"}) == BASE


@each("theirs", ["Q.\n", "- q\n- r\n", "## Q\n\nText.\n", "P.\n\nQ.\n"])
def test_two_paragraphs_added_in_one_gap_are_a_conflict_that_shows_both(theirs):
    base = "# H\n\nA.\n\nB.\n"
    ours, theirs = (base.replace("B.", f"{more}\nB.") for more in ("P.\n", theirs))
    [conflict] = merge3(base, ours, theirs).conflicts
    assert {"P.\n", *theirs.splitlines(True)} - {*base.splitlines(True)} <= {
        *conflict.ours.lines,
        *conflict.theirs.lines,
    }


def test_a_line_appended_to_a_text_that_lost_its_final_line_end_is_not_glued():
    assert merge3("a\nb\n", "a\nb", "a\nb\nc\n").text == "a\nb\nc"


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


# --- Additions of both sides at one place ------------------------------------------------------------------------

NOTE = "---\nname: db\n---\n\n# Database\n\nUse PostgreSQL.\n\n- Backups run nightly.\n"
blocks = st.sampled_from(
    [
        "- The owner is Ana.\n",
        "- Restores are tested on Mondays.\n  They take an hour.\n",
        "\nMigrations need a review.\n",
        "\n## Access\n\nAsk the platform team first.\n",
        "\n# Moved\n\n- It is in Frankfurt now.\n",
        "\n### Limits\n\nAt most fifty connections.\n",
        "\n```sh\nmake restore\n```\n",
        "\n| host | port |\n|---|---|\n| a | 1 |\n",
    ]
)


@given(blocks, blocks, st.booleans(), st.booleans())
def test_what_both_sides_append_stays_or_is_asked_and_each_can_be_undone_alone(one, other, ends, crlf):
    def made(text):
        whole = text if ends else text.removesuffix("\n")
        return whole.replace("\n", "\r\n") if crlf else whole

    base, ours, theirs = made(NOTE), made(NOTE + one), made(NOTE + other)
    merged = merge3(base, ours, theirs, keeps_both=True)
    if one == other:
        assert merged.text == ours
        return
    if not merged.clean:
        return
    assert merged.text in {made(NOTE + one + other), made(NOTE + other + one)}
    assert merge3(ours, merged.text, base).text == theirs
    assert merge3(merged.text, merged.text, ours).text == ours


@each(
    ("ours", "theirs", "united"),
    [
        ("- a1\n", "- b1\n", "- a1\n- b1\n"),
        ("\nA para.\n", "- b1\n", "- b1\n\nA para.\n"),
        ("\n## A\n\nText.\n", "\nB is here.\n", "\nB is here.\n\n## A\n\nText.\n"),
        ("\n## A\n\nText.\n", "\n### B\n\nMore.\n", "\n### B\n\nMore.\n\n## A\n\nText.\n"),
        (
            "\n## 2026-11-02\n\nX.\n",
            "\n## 2026-11-03\n\nQ.\n",
            "\n## 2026-11-02\n\nX.\n\n## 2026-11-03\n\nQ.\n",
        ),
    ],
)
def test_each_addition_stays_in_its_section_list_and_paragraph(ours, theirs, united):
    assert merge3(NOTE, NOTE + ours, NOTE + theirs, keeps_both=True).text == NOTE + united


@each(
    ("ours", "theirs"),
    [
        ("- The port is 5433.\n", "- The port is 5434.\n"),
        ("**Port:** 5433\n", "**Port:** they moved it to 6000\n"),
        ("- Same.\n- One more.\n", "- Same.\n"),
        ("1. Stop it.\n", "1. Copy it first.\n"),
        ("```\nopen\n", "- b1\n"),
        ("A title\n===\n", "- b1\n"),
        ("- a1\n", "Plain text.\n"),
    ],
)
def test_what_may_repeat_or_contradict_the_other_or_has_no_place_is_asked(ours, theirs):
    for one, other in ((ours, theirs), (theirs, ours)):
        [conflict] = merge3(NOTE, NOTE + one, NOTE + other, keeps_both=True).conflicts
        assert conflict.ours.lines and conflict.theirs.lines


def test_where_one_side_also_removes_what_both_add_is_asked():
    lines = "- a\n- b\n"
    for ours, theirs in (("- a\n- Ships on Friday.\n", "- a\n- b\n- Costs four.\n"),):
        assert not merge3(lines, ours, theirs, keeps_both=True).clean
        assert not merge3(lines, theirs, ours, keeps_both=True).clean


def test_two_fields_added_to_one_frontmatter_stay_unless_they_have_one_name():
    base = "---\nname: db\n---\n\nText.\n"
    ours, theirs, again = (
        base.replace("db\n", f"db\n{more}\n")
        for more in ("type: project", "created: 2026-11-02", "type: user")
    )
    assert merge3(base, ours, theirs, keeps_both=True).text == base.replace(
        "db\n", "db\ntype: project\ncreated: 2026-11-02\n"
    )
    assert not merge3(base, ours, again, keeps_both=True).clean


def test_a_paragraph_on_each_side_before_another_is_kept():
    base = "# H\n\nA.\n\nB.\n"
    ours, theirs = (base.replace("B.", f"{more}\n\nB.") for more in ("Pigs fly.", "Quails run."))
    assert merge3(base, ours, theirs, keeps_both=True).text == base.replace(
        "B.", "Pigs fly.\n\nQuails run.\n\nB."
    )


@each(
    ("base", "ours", "theirs"),
    [
        ("# A\n\nText.\n", "\nNever do:\n\n- alpha one\n", "\n- beta two\n"),
        ("# A\n\nText.\n", "\n- beta two\n", "\nNever do:\n\n- alpha one\n"),
    ],
)
def test_an_item_that_one_side_adds_is_not_put_below_the_lead_that_the_other_adds(base, ours, theirs):
    merged = merge3(base, base + ours, base + theirs, keeps_both=True)
    assert merged.clean
    assert merged.text.index("beta two") < merged.text.index("Never do")


def test_a_reason_that_one_side_adds_stays_below_its_rule():
    base = "# A\n\nRule one.\n"
    texts = base + "\nNew rule beta.\n", base + "\n**Why:** alpha broke.\n"
    for ours, theirs in (texts, texts[::-1]):
        merged = merge3(base, ours, theirs, keeps_both=True)
        assert merged.clean
        assert merged.text == base + "\n**Why:** alpha broke.\n\nNew rule beta.\n"


@each("base", ["~~~\n```\nx = 1\n", "````md\n```\n````\n\n```py\nx = 1\n", "```py\n```sh\nx = 1\n"])
def test_lines_added_in_one_code_block_stay_a_conflict_whatever_fences_are_in_it(base):
    assert not merge3(base, base + "alpha()\n", base + "beta()\n", keeps_both=True).clean
