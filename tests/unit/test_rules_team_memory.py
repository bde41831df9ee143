"""Team memory is corrected by what a person said, and otherwise left as it is."""

from __future__ import annotations

from pathlib import Path

from tests.world.rules import dream, memory, session

FILES = {
    "MEMORY.md": "- [Notes](notes.md) — what else there is\n",
    "notes.md": memory("The wiki is read by everybody.\n", name="Notes"),
    "team/MEMORY.md": "- [Staging](staging.md) — the staging database listens on port 5433\n",
    "team/staging.md": memory("The staging database listens on port 5433.\n", name="Staging"),
}


def test_a_value_that_a_person_said_has_changed_is_corrected_in_team_memory_and_its_row(
    tmp_path: Path,
) -> None:
    said = "The staging database listens on port 5434 now, not 5433."
    done = dream(tmp_path, FILES, [session(1, said)])
    assert "port 5434" in done.text("team/staging.md") and "port 5434" in done.text("team/MEMORY.md")
    [operation] = done.operations("update").values()
    assert all(edit.citations[0].quote == said and edit.citations[0].role == "user" for edit in operation)


def test_nothing_is_learnt_into_team_memory(tmp_path: Path) -> None:
    done = dream(tmp_path, FILES, [session(1, "Remember that the staging database is wiped on Sundays.")])
    assert done.text("team/staging.md") == FILES["team/staging.md"]
    assert {edit.path for edit in done.edits if edit.path.startswith("team/")} == set()


def test_a_rewording_changes_no_team_memory(tmp_path: Path) -> None:
    said = "Note: The staging database listens on port 5433 and on a socket."
    done = dream(tmp_path, FILES, [session(1, said)])
    assert done.text("team/staging.md") == FILES["team/staging.md"]


def test_what_team_memory_says_is_not_taken_for_something_else(tmp_path: Path) -> None:
    own = {"notes.md": memory("The staging database is wiped on Sundays.\n", name="Notes")}
    said = "The staging database listens on port 5434 now, not 5433."
    assert not dream(tmp_path, {**FILES, **own}, [session(1, said)]).outcome.questions


def test_a_likely_change_of_team_memory_is_asked(tmp_path: Path) -> None:
    team = {"team/staging.md": memory("Ana owns the importer.\n", name="Owners")}
    done = dream(tmp_path, {**FILES, **team}, [session(1, "Tom owns the importer now.")])
    [question] = done.outcome.questions
    assert question.kind == "changed" and question.places[0].path == "team/staging.md"
    assert not [edit for edit in done.edits if edit.path.startswith("team/")]
