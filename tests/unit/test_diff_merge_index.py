"""MEMORY.md is merged by row: sessions append to it all the time, and that is no conflict."""

from hypothesis import given, strategies as st

from dreams.lib.diff import split_lines
from dreams.lib.diff.index_merge import merge_index
from tests.world.cases import each
from tests.world.strategies import index_text, indexes, pairs, triples, words

A, B, C, D, E = (f"- [{n}]({n.lower()}.md) — about {n}\n" for n in "ABCDE")
HEAD = "# Memory\n\n"


@given(pairs())
def test_when_only_one_side_changed_its_text_is_taken(pair):
    base, new = pair
    assert merge_index(base, base, new).text == new
    assert merge_index(base, new, base).text == new
    assert merge_index(base, new, new).text == new


@given(triples())
def test_any_text_at_all_is_merged_or_told_as_a_conflict_without_losing_an_added_line(triple):
    base, ours, theirs = triple
    merge = merge_index(base, ours, theirs)
    told = {
        line.rstrip("\r\n")
        for c in merge.chunks
        for part in (c.lines, c.ours.lines, c.theirs.lines, c.base.lines)
        for line in part
    }
    before, here, there = ({x.rstrip("\r\n") for x in split_lines(text)} for text in triple)
    assert (here | there) - before <= told
    merge.resolve(dict.fromkeys(range(len(merge.conflicts)), "both"))


@st.composite
def versions(draw):
    """A base index and two edits of it by row, as dictionaries target → hook."""
    base, _ = draw(indexes())

    def changed():
        rows = {k: draw(words) if draw(st.integers(0, 4)) == 0 else v for k, v in base.items()}
        for key in [k for k in rows if draw(st.integers(0, 4)) == 0]:
            del rows[key]
        rows.update(draw(st.dictionaries(st.sampled_from(["m.md", "n.md", "o.md"]), words, max_size=2)))
        return rows

    return base, changed(), changed()


@given(versions())
def test_rows_follow_the_rule_of_three_one_by_one(three):
    base, ours, theirs = three
    merge = merge_index(index_text(base), index_text(ours), index_text(theirs))
    expected, conflicts = {}, set()
    for key in base.keys() | ours.keys() | theirs.keys():
        before, here, there = base.get(key), ours.get(key), theirs.get(key)
        if there in (here, before):
            expected[key] = here
        elif here == before:
            expected[key] = there
        else:
            conflicts.add(key)
    kept = {f"- [{k[0]}]({k}) — {hook}\n" for k, hook in expected.items() if hook is not None}
    clean = [line for c in merge.chunks for line in c.lines if line.startswith("-")]
    assert sorted(clean) == sorted(kept)
    told = {
        key
        for key in conflicts
        for c in merge.conflicts
        if any(key in x for x in c.ours.lines + c.theirs.lines)
    }
    assert (told, len(merge.conflicts)) == (conflicts, len(conflicts))


@given(versions())
def test_the_order_of_rows_on_our_side_is_kept(three):
    base, ours, theirs = three
    merge = merge_index(index_text(base), index_text(ours), index_text(theirs))
    if merge.clean:
        kept = [line for line in split_lines(merge.text) if f"({line[3:4]}.md)" in line]
        ours_kept = [key[0] for key in ours if any(line[3] == key[0] for line in kept)]
        assert [line[3] for line in kept if line[3] in ours_kept] == ours_kept


def test_rows_appended_on_both_sides_are_united_ours_first():
    assert merge_index(HEAD + A, HEAD + A + B, HEAD + A + C + D).text == HEAD + A + B + C + D


def test_rows_appended_by_the_other_side_stay_behind_the_row_they_stood_behind():
    base = HEAD + A + B + "\n## Old\n" + C
    ours = HEAD + A + B + "\n## Old\n" + C + E
    theirs = HEAD + A + D + B + "\n## Old\n" + C
    assert merge_index(base, ours, theirs).text == HEAD + A + D + B + "\n## Old\n" + C + E


def test_a_new_section_there_does_not_catch_a_row_appended_here():
    merge = merge_index(HEAD + A, HEAD + A + B, HEAD + A + "\n## New\n" + C)
    assert merge.text == HEAD + A + B + "\n## New\n" + C


def test_neighbouring_rows_removed_and_changed_do_not_conflict():
    ours = HEAD + A + C
    theirs = HEAD + A + B + C.replace("about", "all about")
    assert merge_index(HEAD + A + B + C, ours, theirs).text == HEAD + A + C.replace("about", "all about")


def test_a_row_changed_differently_is_a_conflict_for_that_row_only():
    base = HEAD + A + B + C
    merge = merge_index(base, base.replace("about B", "here"), base.replace("about B", "there") + D)
    (conflict,) = merge.conflicts
    assert (conflict.base.lines, conflict.base.start) == ((B,), 3)
    assert merge.resolve({0: "theirs"}) == HEAD + A + "- [B](b.md) — there\n" + C + D


@each("swap", [False, True])
def test_a_row_removed_on_one_side_and_changed_on_the_other_is_a_conflict(swap):
    base = HEAD + A + B + C
    removed, changed = HEAD + A + C, base.replace("about B", "new B")
    merge = merge_index(base, *((changed, removed) if swap else (removed, changed)))
    assert len(merge.conflicts) == 1
    assert merge.resolve({0: "theirs" if swap else "ours"}) == removed
    assert merge.resolve({0: "ours" if swap else "theirs"}) == changed


def test_a_row_moved_here_and_changed_there_is_both():
    merge = merge_index(HEAD + A + B + C, HEAD + C + A + B, HEAD + A + B + C.replace("about", "on"))
    assert merge.text == HEAD + C.replace("about", "on") + A + B


def test_a_row_keeps_the_lines_that_go_on_with_it():
    long = A + "  and more of it\n"
    assert (
        merge_index(HEAD + long, HEAD + long + B, HEAD + A + "  and less\n").text
        == HEAD + A + "  and less\n" + B
    )


def test_lines_between_rows_are_merged_as_lines_and_may_conflict():
    merge = merge_index(HEAD + A, "# Ours\n\n" + A + B, "# Theirs\n\n" + A + C)
    (conflict,) = merge.conflicts
    assert (conflict.ours.lines, conflict.theirs.lines) == (("# Ours\n",), ("# Theirs\n",))
    assert merge.resolve({0: "ours"}) == "# Ours\n\n" + A + B + C


def test_a_conflict_between_rows_says_its_line_in_each_of_the_three_texts():
    long = A + "  and more of it\n"
    merge = merge_index(
        *(HEAD + rows + "\n" + last for rows, last in ((long, "x\n"), (long + B, "y\n"), (long, "z\n")))
    )
    (conflict,) = merge.conflicts
    assert (conflict.base.start, conflict.ours.start, conflict.theirs.start) == (5, 6, 5)
    assert (conflict.ours.lines, conflict.theirs.lines) == (("y\n",), ("z\n",))


def test_a_row_appended_meanwhile_is_no_conflict_with_a_double_that_goes():
    base = HEAD + A + B + A
    dreamt, live = HEAD + A + B + D, base + C
    merge = merge_index(base, live, dreamt)
    assert merge.clean and sorted(merge.text.splitlines()) == sorted((HEAD + A + B + C + D).splitlines())
    undone = merge_index(dreamt, merge.text, base)
    assert undone.clean and sorted(undone.text.splitlines()) == sorted(live.splitlines())


def test_doubles_with_other_words_are_rows_of_their_own():
    again = A.replace("about", "again")
    base = HEAD + A + again + B
    merge = merge_index(base, base + C, base + D)
    assert merge.clean and set(split_lines(merge.text)) == set(split_lines(base + C + D))
    told = merge_index(base, HEAD + A + again.replace("A\n", "A1\n") + B, HEAD + A + B)
    assert len(told.conflicts) == 1


def test_carriage_returns_are_kept():
    def crlf(text):
        return text.replace("\n", "\r\n")

    merged = merge_index(crlf(HEAD + A), crlf(HEAD + A + B), crlf(HEAD + A + C))
    assert merged.text == crlf(HEAD + A + B + C)


def test_a_row_keeps_its_own_line_end_where_a_file_mixes_them():
    base = HEAD + A + B.replace("\n", "\r\n") + C
    assert (
        merge_index(base, base + D, base.replace("about A", "on A")).text
        == base.replace("about A", "on A") + D
    )


def test_line_ends_turned_on_one_side_are_no_change_of_the_rows():
    turned = (HEAD + A + B).replace("\n", "\r\n")
    merged = merge_index(HEAD + A + B, turned, HEAD + A.replace("about", "on") + B + C)
    assert merged.text == (HEAD + A.replace("about", "on") + B + C).replace("\n", "\r\n")


def test_a_missing_final_line_end_neither_glues_rows_nor_counts_as_a_change():
    base = (HEAD + A).rstrip("\n")
    assert merge_index(base, base + "\n" + B, HEAD + A.replace("about", "on").rstrip("\n")).text == (
        HEAD + A.replace("about", "on") + B
    )
    assert merge_index(base, base + "\n" + B.rstrip("\n"), base + "\n" + C.rstrip("\n")).text == (
        HEAD + A + B + C
    ).rstrip("\n")


@each(
    ("here", "there"),
    [
        ("[X](my%20file.md)", "[X](<./my file.md>)"),
        ("[X](x.md)", "[X](x.md#part)"),
        ("[X](x.md)", "[[x]]"),
        ("[[x|X]]", "[[x.md#part]]"),
        ("[X](\u00e9.md)", "[X](e\u0301.md)"),
    ],
)
def test_links_are_one_key_however_they_are_written(here, there):
    merge = merge_index(HEAD + A, HEAD + A + f"- {here}\n", HEAD + A + f"- {there}\n")
    assert len(merge.conflicts) == 1


@each("swap", [False, True])
def test_two_sections_added_at_one_end_are_kept_where_a_person_sees_the_result(swap):
    ours, theirs = (HEAD + A + more for more in ("\n## Ops\n" + B, "\n## People\n" + C))
    if swap:
        ours, theirs = theirs, ours
    assert not merge_index(HEAD + A, ours, theirs).clean
    merge = merge_index(HEAD + A, ours, theirs, keeps_both=True)
    assert merge.text == ours + theirs.removeprefix(HEAD + A)
    assert merge_index(ours, merge.text, HEAD + A).text == theirs


@given(triples(), st.booleans())
def test_what_is_kept_of_both_loses_no_added_line(triple, swap):
    base, ours, theirs = triple
    merge = merge_index(base, *((theirs, ours) if swap else (ours, theirs)), keeps_both=True)
    told = {
        line.rstrip("\r\n")
        for c in merge.chunks
        for part in (c.lines, *((c.ours.lines, c.theirs.lines, c.base.lines) if c.kind == "conflict" else ()))
        for line in part
    }
    before, here, there = ({x.rstrip("\r\n") for x in split_lines(text)} for text in triple)
    assert (here | there) - before - {""} <= told
