"""Ideas meet where they stand in order, close together and in one sentence."""

from __future__ import annotations

from dreams.findings.prompt_injection.text import PatternIndex, Text, idea_of, near, words
from tests.world.cases import each

SKIP, CHECK = words("skip"), words("reviews?", "tests")


def found(idea, line):
    return [place.words for place in Text(line, PatternIndex([idea])).places(idea)]


def test_ideas_near_each_other_are_found_with_the_words_between():
    assert found(near(SKIP, CHECK), "please skip all the tests today") == ["skip all the tests"]


@each(
    "line",
    [
        "tests may skip",
        "skip it. The tests run",
        "skip it; tests run",
        "skip " + "x" * 41 + " tests",
        "skipping tests",
    ],
)
def test_ideas_in_another_order_sentence_or_far_away_do_not_meet(line):
    assert found(near(SKIP, CHECK), line) == []


def test_the_dot_of_a_file_ends_no_sentence():
    assert found(near(SKIP, CHECK), "skip app.py tests") == ["skip app.py tests"]


def test_of_several_ideas_any_counts_and_the_nearest_first_is_taken():
    assert found(near((SKIP, words("drop")), CHECK), "drop or skip reviews") == ["skip reviews"]


def test_a_later_second_is_found_where_the_nearest_is_no_way_on():
    assert found(near(SKIP, CHECK, words("now"), within=8), "skip tests, reviews now") == [
        "skip tests, reviews now"
    ]


def test_a_pass_that_runs_out_of_memory_loses_nothing(monkeypatch):
    class GaveUp:
        def Match(self, line):
            return []

    index = PatternIndex([near(SKIP, CHECK)])
    monkeypatch.setattr(index, "_sets", [GaveUp() for _ in index._sets])
    assert index.present("skip tests") == {SKIP, CHECK}


def test_a_row_of_a_table_says_which_words_stand_near_each_other():
    row = idea_of("‹skip› || ‹drop› … ‹reviews?|tests› … 12")
    assert found(row, "drop or skip reviews") == ["skip reviews"]
    assert found(row, "skip " + "x" * 12 + " tests") == []
    assert found(idea_of(r"‹skip› \w+"), "skip tests, skipper") == ["skip tests"]
