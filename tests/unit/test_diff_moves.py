"""Lines that left one place and arrived at another are recognised."""

from hypothesis import given

from dreams.lib.diff import hunks, moved
from tests.world.strategies import pairs

FACT = "- The release branch is cut every second Tuesday.\n"


def changes(**files):
    return {path: hunks(base, new, path=path) for path, (base, new) in files.items()}


def test_a_line_that_went_to_another_file_is_found_whatever_its_bullet():
    files = changes(a=("x\n" + FACT, "x\n"), b=("y\n", "y\n* " + FACT.removeprefix("- ")))
    (move,) = moved(files)
    assert (move.source.path, move.target.path, move.likeness) == ("a", "b", 1.0)
    assert move.source.hunk == files["a"][0].id
    assert move.target.hunk == files["b"][0].id


def test_a_nearly_same_line_is_found_but_not_with_another_number():
    near = FACT.replace("every", "each")
    assert [m.likeness < 1 for m in moved(changes(a=(FACT, ""), b=("", near)))] == [True]
    with_number = "- The service listens on port 5432 of the inner host.\n"
    assert moved(changes(a=(with_number, ""), b=("", with_number.replace("5432", "5433")))) == []


def test_one_arrival_serves_one_departure():
    files = changes(a=(FACT, ""), b=(FACT, ""), c=("", FACT))
    assert [m.source.path for m in moved(files)] == ["a"]


def test_the_same_words_go_before_nearly_the_same():
    near = FACT.replace("every", "each")
    files = changes(a=(near, ""), b=(FACT, ""), c=("", FACT))
    assert [(m.source.path, m.likeness) for m in moved(files)] == [("b", 1.0)]


def test_short_lines_and_lines_kept_in_their_hunk_have_not_moved():
    assert moved(changes(a=("---\ntype: user\n", ""), b=("", "---\ntype: user\n"))) == []
    assert moved(changes(a=(FACT, "  " + FACT), b=("", FACT))) == []


@given(pairs(), pairs())
def test_each_line_is_in_one_pair_at_most(one, two):
    found = moved(changes(a=one, b=two))
    assert len({m.source for m in found}) == len({m.target for m in found}) == len(found)
