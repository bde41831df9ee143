"""A generated world is the same for a seed, true before anybody works on it, and readable as an agent's own files."""

from __future__ import annotations

import random
from contextlib import nullcontext
from pathlib import Path

import pytest

from dreams.dev.dreambench import folders, generator
from dreams.dev.dreambench.builder import KINDS, OWN_KINDS, World
from dreams.dev.dreambench.folders import naive_merge, nothing
from dreams.dev.dreambench.session_cases import DirectoryPassages
from dreams.dev.dreambench.shapes import ATTRIBUTES, FOUND, Deal
from dreams.lib.agents import transcripts
from tests.world.cases import each

# In our own words; `make test-more` has the others.
MADE_IN = [
    name if name == "own" else pytest.param(name, marks=pytest.mark.sweep)
    for name in sorted(generator.WORDINGS)
]


@pytest.fixture(scope="module", params=MADE_IN)
def made(request: pytest.FixtureRequest) -> World:
    return generator.make(seed=7, facts=60, wordings=request.param)


def test_the_same_seed_makes_the_same_world_and_another_seed_another(made: World) -> None:
    again, other = generator.make(7, 60, made.wordings), generator.make(8, 60, made.wordings)
    assert again.cases == made.cases
    assert [d.files for d in again.directories] == [d.files for d in made.directories]
    assert [d.files for d in other.directories] != [d.files for d in made.directories]


def test_every_kind_is_there_at_the_small_size(made: World) -> None:
    assert {case.kind for case in made.cases} == set(OWN_KINDS)


def test_found_wordings_are_none_of_our_own_and_cover_each_fact() -> None:
    for own, found in zip(ATTRIBUTES, FOUND, strict=True):
        assert own.sort == found.sort
        assert not {*own.said, *own.told} & {*found.said, *found.told}


@pytest.mark.more
def test_what_must_be_kept_or_go_stands_there_before_unless_it_is_only_said(made: World) -> None:
    for directory in made.directories:
        before = DirectoryPassages(directory.files)
        for case in made.cases_of(directory.name):
            if case.kind not in {"told", "preference"}:
                assert all(before.says(claim) for claim in case.stands), case
            if case.kind not in {"flip-back", "lure", "secret"}:
                assert all(before.says(claim) for claim in case.gone), case
            else:
                assert not any(before.says(claim) for claim in case.gone), case


def test_a_third_of_the_wordings_is_held_out_and_another_third_for_another_seed() -> None:
    options = ATTRIBUTES[0].told
    parts = [Deal(seed, random.Random(seed)).parts(options) for seed in range(12)]  # noqa: S311 - a benchmark, not a secret
    assert all(len(held) == len(options) // 3 for _, held in parts)
    assert len({tuple(held) for _, held in parts}) > 1


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
    for kind in ("duplicate", "update", "told", "forget", "expiry", "date", "derived", "preference"):
        assert scored.kinds[kind]["right"] == 0, kind
    assert scored.loaded_whole == scored.directories - 1, "one index is over its limits"


@pytest.mark.more
def test_a_merge_by_looks_loses_facts_somewhere() -> None:
    score = folders.baseline(generator.make(2, 30), naive_merge)
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
