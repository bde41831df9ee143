"""The judge goes by what is said, not by how a line reads."""

from __future__ import annotations

from typing import Any

from dreams.dev.dreambench.builder import BuiltDirectory, Case
from dreams.dev.dreambench.passages import DirectoryPassages
from dreams.dev.dreambench.scoring import Ran, States, judge, score
from tests.world.cases import each

OLD, NEW = ("copper indexer", "15"), ("copper indexer", "16")


def verdict(case: Case, before: str, after: str) -> str:
    states = [DirectoryPassages({"a.md": text.encode()}) for text in (before, after)]
    return judge(case, States(*states)).verdict


def case(**about: object) -> Case:
    return Case("x", "x-1", "d", **about)  # type: ignore[arg-type]


UPDATE = case(stands=(NEW,), gone=(OLD,))


@each(
    ("after", "expected"),
    [
        ("- `copper-indexer` runs 16.", "right"),
        ("- In use by Copper Indexer is, since May, version **16**.", "right"),
        ("# Copper indexer\n\n- Runs 16.", "right"),
        ("- `copper-indexer` runs 16, it was 15 until May.", "right"),
        ("- `copper-indexer` runs 15.", "left"),
        ("- `copper-indexer` runs 15.\n- `copper-indexer` runs 16.", "left"),
        ("- `copper-indexer` runs 160.", "wrong"),
        ("- `copper-indexer` runs 16.2.", "wrong"),
        ("- Something else runs 16.", "wrong"),
    ],
)
def test_an_update_is_right_when_the_new_value_stands_and_the_old_one_is_gone_or_past(
    after: str, expected: str
) -> None:
    assert verdict(UPDATE, "- `copper-indexer` runs 15.", after) == expected


def test_a_dated_old_statement_that_nobody_touched_is_no_history() -> None:
    before = "- Until May the copper-indexer was on 15.\n- The copper-indexer is on 16."
    assert verdict(UPDATE, before, before) == "left"


def test_a_fact_that_stood_and_does_not_is_wrong_and_one_that_was_never_learnt_is_left() -> None:
    assert verdict(case(stands=(OLD,)), "- copper indexer: 15", "- nothing") == "wrong"
    assert verdict(case(stands=(OLD,)), "- nothing", "- nothing") == "left"


SAID_TWICE = "- `copper-indexer` runs 15.\n- Where 15 is: copper indexer."


@each(
    ("after", "expected"),
    [
        ("- `copper-indexer` runs PRs.\n- Where 15 is: copper indexer.", "wrong"),
        ("---\ndescription: copper-indexer runs PRs.\n---\n- Where 15 is: copper indexer.", "wrong"),
        ("- Where 15 is: copper indexer.", "right"),
        ("- `copper-indexer` runs since May 15.", "right"),
        ("- Where 15 is: copper indexer. It runs.", "right"),
        (SAID_TWICE, "left"),
    ],
)
def test_one_fact_of_which_a_copy_became_false_is_not_merged(after: str, expected: str) -> None:
    assert verdict(case(stands=(OLD,), once=True), SAID_TWICE, after) == expected


def test_an_old_statement_that_got_a_value_of_something_else_is_wrong_beside_the_new_one() -> None:
    before = "- `copper-indexer` runs 15.\n- Where 15 is: copper indexer."
    assert verdict(UPDATE, before, "- `copper-indexer` runs 16.\n- Where PRs is: copper indexer.") == "wrong"
    assert verdict(UPDATE, before, "- `copper-indexer` runs 16.\n- Where 16 is: copper indexer.") == "right"


def test_a_lure_that_came_in_is_wrong() -> None:
    lure = case(stands=(OLD,), gone=(NEW,))
    assert verdict(lure, "- copper indexer: 15", "- copper indexer: 15") == "right"
    assert verdict(lure, "- copper indexer: 15", "- copper indexer: 15\n- copper indexer: 16") == "wrong"


def test_a_vague_date_must_stay_and_a_computed_one_must_be_the_right_one() -> None:
    vague = case(stands=(("copper indexer",),), undated=True)
    assert verdict(vague, "copper-indexer broke recently.", "copper-indexer broke recently.") == "right"
    assert verdict(vague, "copper-indexer broke recently.", "copper-indexer broke in 2026-02.") == "wrong"
    dated = case(stands=(("copper indexer",),), day="2026-01-04")
    assert verdict(dated, "copper-indexer broke yesterday.", "copper-indexer broke on 2026-01-04.") == "right"
    assert verdict(dated, "copper-indexer broke yesterday.", "copper-indexer broke on 2026-01-05.") == "wrong"
    assert verdict(dated, "copper-indexer broke yesterday.", "copper-indexer broke yesterday.") == "left"


def test_bytes_of_pinned_files_and_line_ends_of_others_are_held() -> None:
    assert verdict(case(same=("a.md",)), "x", "x ") == "wrong"
    marks = case(marks=("a.md",))
    assert verdict(marks, "x\r\ny\r\n", "y\r\n") == "right"
    assert verdict(marks, "x\r\ny\r\n", "y\n") == "wrong"
    assert verdict(marks, "x\ny", "y\n") == "wrong"
    assert verdict(marks, "\ufeffx\n", "x\n") == "wrong"


def test_words_and_days_that_stand_in_no_source_are_listed() -> None:
    before, after = b"The copper-indexer broke.\n", b"The copper-indexer broke on 2026-01-04, sadly.\n"
    found = score(
        [], [Ran(BuiltDirectory("d", {"a.md": before}, repo={"log": "it broke on Friday"}), {"a.md": after})]
    )
    assert found.invented_dates == ["2026-01-04"]
    assert found.invented_words == ["sadly"]


ROW = "- [Relay](relay.md) — see there\n"
LINKED = {"a.md": "See [[relay]] for it.\n", "relay.md": "- relay: 15\n"}


@each(
    ("about", "before", "after", "expected"),
    [
        ({"row": "relay.md"}, {"MEMORY.md": ""}, {"MEMORY.md": ROW}, "right"),
        ({"row": "relay.md"}, {"MEMORY.md": ""}, {"MEMORY.md": ""}, "left"),
        ({"row": "relay.md"}, {"MEMORY.md": ROW * 2}, {"MEMORY.md": ROW * 2}, "left"),
        ({"row": "relay.md"}, {"MEMORY.md": ROW}, {"MEMORY.md": ROW * 2}, "wrong"),
        ({"long": "relay.md"}, {"MEMORY.md": ROW}, {"MEMORY.md": f"# New\n\n{ROW}"}, "right"),
        ({"long": "relay.md"}, {"MEMORY.md": ROW}, {"MEMORY.md": ROW.replace("there", "it")}, "wrong"),
        ({"fits": True}, {"MEMORY.md": ROW * 300}, {"MEMORY.md": ROW * 200}, "right"),
        ({"fits": True}, {"MEMORY.md": ROW * 300}, {"MEMORY.md": ROW * 201}, "left"),
        ({"link": "a.md"}, LINKED, LINKED, "right"),
        ({"link": "a.md"}, LINKED, {"a.md": LINKED["a.md"]}, "wrong"),
    ],
)
def test_rows_and_links_are_held(
    about: dict[str, Any], before: dict[str, str], after: dict[str, str], expected: str
) -> None:
    states = (
        DirectoryPassages({path: text.encode() for path, text in files.items()}) for files in (before, after)
    )
    assert judge(case(**about), States(*states)).verdict == expected


def test_a_score_counts_by_kind_and_says_what_is_not_right() -> None:
    cases = [
        Case("update", "d/update-1", "d", stands=(NEW,), gone=(OLD,)),
        Case("fact", "d/fact-1", "d", "it runs", stands=(OLD,)),
    ]
    made = BuiltDirectory("d", {"a.md": b"- `copper-indexer` runs 15.\n"})
    found = score(cases, [Ran(made, made.files)]).as_json()
    assert found["kinds"]["update"] == {"rate": 0.0, "right": 0, "left": 1, "wrong": 0}
    assert found["kinds"]["fact"]["rate"] == 1.0 and (found["right"], found["wrong"]) == (0.5, 0)
    assert (found["facts_kept"], found["facts_to_keep"]) == (1.0, 1)
    assert [miss["case"] for miss in found["misses"]] == ["d/update-1"]
    of_the_report_half = score(cases, [Ran(made, {"a.md": b"- lost on 2026-01-04\n"})]).as_json(cases=False)
    assert "misses" not in of_the_report_half and of_the_report_half["invented_words"] == 2
    assert (of_the_report_half["facts_kept"], of_the_report_half["wrong"]) == (0.0, 2)
