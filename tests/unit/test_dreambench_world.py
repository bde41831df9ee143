"""A generated world is the same for a seed, true before anybody works on it, and readable as an agent's own files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from dreams.dev.dreambench import folders, world
from dreams.dev.dreambench.builder import KINDS, World
from dreams.dev.dreambench.folders import naive_merge, nothing
from dreams.dev.dreambench.passages import DirectoryPassages
from dreams.lib.agents import transcripts
from tests.world.cases import each


@pytest.fixture(scope="module")
def made() -> World:
    return world.make(7, 60)


def test_the_same_seed_makes_the_same_world_and_another_seed_another(made: World) -> None:
    again, other = world.make(7, 60), world.make(8, 60)
    assert again.cases == made.cases
    assert [d.files for d in again.directories] == [d.files for d in made.directories]
    assert [d.files for d in other.directories] != [d.files for d in made.directories]


def test_every_kind_is_there_at_the_small_size(made: World) -> None:
    assert {case.kind for case in made.cases} == set(KINDS)


@pytest.mark.more
def test_what_must_be_kept_or_go_stands_there_before_unless_it_is_only_said(made: World) -> None:
    for directory in made.directories:
        before = DirectoryPassages(directory.files)
        for case in made.cases_of(directory.name):
            if case.kind not in {"told", "dependent", "preference"}:
                assert all(before.says(claim) for claim in case.stands), case
            if case.kind == "secret":
                continue
            if case.kind not in {"flip-back", "lure"}:
                assert all(before.says(claim) for claim in case.gone), case
            else:
                assert not any(before.says(claim) for claim in case.gone), case


def test_the_transcripts_hold_what_was_typed_and_tool_output_is_not_taken_for_it(
    made: World, tmp_path: Path
) -> None:
    directory = made.directories[0]
    folders.write(directory, tmp_path / "memory", tmp_path / "sessions", tmp_path / "repo")
    typed = set()
    for path in (tmp_path / "sessions").iterdir():
        with path.open("rb") as file:
            typed |= {turn.typed for turn in transcripts.page(file.fileno(), 0, 500).turns if turn.typed}
    said = {m.text.strip() for s in directory.sessions for m in s.messages if m.role == "user"}
    printed = {m.text.strip() for s in directory.sessions for m in s.messages if m.role == "tool"}
    assert said <= {text.strip() for text in typed}
    assert not printed & typed


@pytest.mark.more
def test_doing_nothing_keeps_every_fact_and_leaves_all_the_work(made: World) -> None:
    scored = folders.baseline(made, nothing)
    assert scored.facts_kept == 1.0 and scored.wrong == 0 and not scored.invented_words
    for kind in ("same fact", "update", "told", "forget value", "expiry", "date", "derived", "preference"):
        assert scored.kinds[kind]["right"] == 0, kind
    assert scored.loaded_whole == scored.directories - 1, "one index is over its limits"


@pytest.mark.more
def test_a_merge_by_looks_loses_facts_somewhere() -> None:
    score = folders.baseline(world.make(2, 30), naive_merge)
    assert score.wrong_merges > 0
    assert (score.facts_kept or 0) < 1.0


def test_the_page_about_it_lists_every_kind_with_what_is_right() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/dreambench.md").read_text("utf-8")
    for kind, right in KINDS.items():
        assert f"| {kind} | {right} |" in page, kind


@each(("facts", "taken"), [(9, False), (10, True), (20_000, True), (20_001, False)])
def test_the_number_of_facts_has_its_limits(facts: int, taken: bool) -> None:
    with nullcontext() if taken else pytest.raises(ValueError, match="from 10 to 20,000"):
        World(7, facts)
