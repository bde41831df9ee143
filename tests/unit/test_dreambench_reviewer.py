"""The reviewer who knows the truth takes the option that brings a directory closest to it, and no other."""

from __future__ import annotations

from dreams.dev.dreambench.builder import Case
from dreams.dev.dreambench.passages import DirectoryPassages
from dreams.dev.dreambench.whole_run import Actor, apply
from dreams.engines.types import Edit, Option, Place, Question

ONE, OTHER = "- relay is on 15\n- door is red\n", "- 15 is where relay is\n"
FILES = {"a.md": ONE.encode(), "b.md": OTHER.encode()}
FACT, DOOR = ("relay", "15"), ("door", "red")


def edit(path: str, before: str | None, after: str | None) -> Edit:
    return Edit(path, before, after, "merge:1", "merge", "")


def question(*options: Option, subject: str = "relay 15") -> Question:
    places = Place("a.md", 1, "relay is on 15"), Place("b.md", 1, "15 is where relay is")
    return Question("same", subject, "They seem to say the same.", places, options)


def case(**about: object) -> Case:
    return Case("same fact", "d/1", "d", **about)  # type: ignore[arg-type]


MERGE = Option("merge", "Merge", (edit("b.md", OTHER, None),))
KEEP = Option("keep", "Keep both")
LOSE = Option("lose", "Lose one", (edit("b.md", OTHER, None), edit("a.md", ONE, "- relay is on 15\n")))


def test_it_merges_what_is_one_fact_and_keeps_what_is_two() -> None:
    same = Actor(DirectoryPassages(FILES), [case(stands=(FACT,), once=True)])
    assert set(same.answer([question(KEEP, MERGE)], FILES)) == {"a.md"}
    assert (same.asked.asked.total(), same.asked.useful.total()) == (1, 1)
    two = Actor(DirectoryPassages(FILES), [case(stands=(("15 is where", "relay"), DOOR))])
    assert two.answer([question(KEEP, MERGE)], FILES) == FILES
    assert (two.asked.asked.total(), two.asked.useful.total()) == (1, 0)
    assert two.asked.kept == ["same: a.md: relay is on 15 | b.md: 15 is where relay is"]


def test_an_option_that_does_the_work_and_loses_another_fact_is_not_taken() -> None:
    reviewer = Actor(DirectoryPassages(FILES), [case(stands=(FACT,), once=True), case(stands=(DOOR,))])
    assert reviewer.answer([question(LOSE, KEEP)], FILES) == FILES
    assert set(reviewer.answer([question(LOSE, MERGE, subject="again")], FILES)) == {"a.md"}


def test_the_same_question_is_answered_once() -> None:
    reviewer = Actor(DirectoryPassages(FILES), [case(stands=(DOOR,))])
    for _ in range(2):
        reviewer.answer([question(KEEP, MERGE)], FILES)
    assert reviewer.asked.asked.total() == 1


def test_a_question_that_another_answer_outdated_is_not_counted_and_may_come_again() -> None:
    reviewer = Actor(DirectoryPassages(FILES), [case(stands=(FACT,), once=True)])
    assert (
        reviewer.answer([question(MERGE)], {"a.md": ONE.encode(), "b.md": b"- other\n"}).keys()
        == FILES.keys()
    )
    assert reviewer.asked.asked.total() == 0
    assert set(reviewer.answer([question(MERGE)], FILES)) == {"a.md"}


def test_an_option_is_merged_into_what_was_changed_since_and_a_conflict_is_no_answer() -> None:
    since = {"a.md": b"- relay is on 15\n- door is blue\n", "b.md": OTHER.encode()}
    added = Option("learn", "Add", (edit("a.md", ONE, "- first\n" + ONE),))
    assert apply(added, since) == {**since, "a.md": b"- first\n- relay is on 15\n- door is blue\n"}
    clash = Option("learn", "Paint", (edit("a.md", ONE, "- relay is on 15\n- door is green\n"),))
    assert apply(clash, since) is None
    assert apply(MERGE, {"a.md": ONE.encode()}) == {"a.md": ONE.encode()}, "what is gone already is gone"


def test_several_edits_of_one_file_count_from_the_first_to_the_last() -> None:
    steps = Option("merge", "Merge", (edit("a.md", ONE, "x\n"), edit("a.md", "x\n", "- door is red\n")))
    assert apply(steps, FILES) == {**FILES, "a.md": b"- door is red\n"}


def test_a_double_that_no_case_is_about_is_merged_all_the_same() -> None:
    reviewer = Actor(DirectoryPassages(FILES), [case(stands=(FACT,)), case(stands=(DOOR,))])
    assert set(reviewer.answer([question(KEEP, MERGE)], FILES)) == {"a.md"}


def test_an_old_value_that_goes_without_the_new_one_is_no_step_ahead() -> None:
    stale = {"a.md": b"- relay is on 15\n", "b.md": b"---\ndescription: relay is on 15\n---\n"}
    moved = case(stands=(("relay", "16"),), gone=(FACT,))
    garbled = Option("replace", "Replace", (edit("a.md", "- relay is on 15\n", "- 16 is on 15\n"),))
    good = Option("replace", "Replace", (edit("a.md", "- relay is on 15\n", "- relay is on 16\n"),))
    assert Actor(DirectoryPassages(stale), [moved]).answer([question(garbled, KEEP)], stale) == stale
    assert b"16" in Actor(DirectoryPassages(stale), [moved]).answer([question(good, KEEP)], stale)["a.md"]


def test_a_double_is_not_mended_by_making_one_of_its_copies_false() -> None:
    same = Actor(DirectoryPassages(FILES), [case(stands=(FACT,), once=True)])
    false = Option("replace", "Replace", (edit("b.md", OTHER, "- PRs is where relay is\n"),))
    assert same.answer([question(false, KEEP)], FILES) == FILES
    assert same.asked.useful.total() == 0
