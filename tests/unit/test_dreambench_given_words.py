"""A world in the words of a folder: its truth holds before anybody works on it, and its halves stay apart."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dreams.dev.dreambench import folders, shapes, world
from dreams.dev.dreambench.builder import KINDS, DirectoryBuilder, World
from dreams.dev.dreambench.passages import DirectoryPassages
from dreams.dev.dreambench.shapes import Words
from dreams.lib import memdir

ROWS = [
    *(
        {
            "kind": "fact",
            "sort": sort,
            "texts": [f"{{subject}} has {word} {{value}}", f"{word} {{value}} belongs to {{subject}}"],
            "told": [f"{{subject}} has {word} {{value}} now, not {{old}}"],
            "leans": [f"checklist: compare {word} {{value}} of {{subject}}"],
        }
        for word, sort in (("door", "port"), ("box", "path"), ("keeper", "person"), ("age", "days"), ("tag", "version"))
    ),
    *({"kind": "environment", "sort": "port", "texts": [f"{{subject}} {{env}} {w} {{value}}"]} for w in "pqrstu"),
    *({"kind": "dated", "texts": [f"{w} {{day}} {{fact}}"]} for w in "pqrstu"),
    *({"kind": "forget", "texts": [f"forget {w} {{subject}}", f"forget {w} {{fact}}"]} for w in "pqrstu"),
    *({"kind": "expiry", "texts": [f"{w} {{subject}} until {{day}}"]} for w in "pqrstu"),
    *({"kind": "lure", "texts": [f"{w} somebody claims {{fact}}"]} for w in "pqrstu"),
    *({"kind": "secret", "texts": [f"{w} {{subject}} opens with {{secret}}"]} for w in "pqrstu"),
    *(
        {
            "kind": "code",
            "file": "Makefile",
            "content": f"{{word}}:\n\techo {w}\n",
            "texts": [f"make {{word}} echoes {w}"],
            "more": [f"make {{word}} echoes {w}, slowly"],
        }
        for w in "pqrstu"
    ),
    {"kind": "filler", "texts": ["nothing more to say"]},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    given = tmp_path / "given"
    given.mkdir()
    (given / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n")
    return given


@pytest.fixture
def made(folder: Path) -> World:
    return world.make(3, 60, folder)


def test_the_same_seed_makes_the_same_world_and_another_seed_another(made: World, folder: Path) -> None:
    again, other = world.make(3, 60, folder), world.make(4, 60, folder)
    assert again.cases == made.cases
    assert [d.files for d in again.directories] == [d.files for d in made.directories]
    assert [d.files for d in other.directories] != [d.files for d in made.directories]


def test_every_kind_of_the_generator_is_there_in_both_halves(made: World) -> None:
    wanted = {*world.SHARES, "fact"}
    assert wanted <= KINDS.keys()
    for half in shapes.HALVES:
        assert wanted == {case.kind for case in made.cases if case.directory.startswith(half)}


def test_what_must_be_kept_or_go_is_there_before_unless_a_session_brings_it(made: World) -> None:
    for directory in made.directories:
        before = DirectoryPassages(directory.files)
        for case in made.cases_of(directory.name):
            if case.kind in {"told", "dependent"}:
                assert not any(before.says(claim) for claim in case.stands), case
            else:
                assert all(before.says(claim) for claim in case.stands), case
            if case.kind not in {"lure", "secret"}:
                assert all(before.says(claim) for claim in case.gone), case


def test_copies_have_the_same_statements_and_a_group_is_in_files_of_its_own(made: World) -> None:
    for directory in made.directories:
        before = DirectoryPassages(directory.files)
        for case in made.cases_of(directory.name):
            if case.kind in {"same body", "same fact"}:
                for claim in case.stands:
                    holders = [p for p in before.holding(claim) if not p.summary]
                    assert 2 <= len(holders) <= 5
                    assert len({p.path for p in holders}) == len(holders)


def test_every_memory_has_a_row_whose_link_is_a_link(folder: Path) -> None:
    (folder / "names.jsonl").write_text(
        '{"kind": "subject", "texts": ["`{a}-{b}`"]}\n{"kind": "title", "texts": ["{subject} notes"]}\n'
    )
    for directory in world.make(3, 60, folder).directories:
        targets = {row.target for row in memdir.parse_index(directory.files["MEMORY.md"].decode()).rows}
        assert targets == directory.files.keys() - {"MEMORY.md"}


def test_doing_nothing_keeps_every_fact_and_leaves_all_the_work(made: World) -> None:
    scored = folders.baseline(made, lambda directory: directory.files)
    assert scored.facts_kept == 1.0 and scored.wrong == 0 and not scored.invented_words
    for kind in (
        "same fact",
        "same body",
        "update",
        "told",
        "dependent",
        "forget value",
        "expiry",
        "derived",
    ):
        assert scored.kinds[kind]["right"] == 0, kind
    for kind in ("fact", "environment", "look-alike", "not derived", "unexpired", "lure"):
        assert scored.kinds[kind]["left"] == 0, kind


def test_no_wording_is_in_both_halves(made: World, folder: Path) -> None:
    found = shapes.read(folder)
    for kind in ("fact", "environment", "forget", "expiry"):
        halves = [{text for s in found.kind(kind, half) for text in s.texts} for half in shapes.HALVES]
        assert all(halves) and not halves[0] & halves[1]


def test_figures_of_the_report_half_have_no_text_of_a_case_in_them(made: World) -> None:
    scored = folders.baseline(made, lambda directory: directory.files, "report")
    assert scored.misses
    shown = json.dumps(scored.as_json(cases=False))
    assert "misses" not in json.loads(shown)
    assert not any(missed.case.about in shown for missed in scored.misses)


def test_lines_that_are_no_shapes_are_named_and_stop_nothing(folder: Path) -> None:
    (folder / "more.jsonl").write_text(
        'no json\n{"kind": "poem"}\n{"kind": "fact", "texts": ["{subject} only"]}\n[1]\n{"kind": "fact"}\n'
        '{"kind": "code", "file": "../x", "content": "{word}", "texts": ["{word}"]}\n'
    )
    (folder / "odd.jsonl").write_bytes(b"\xff\xfe\n")
    refused = shapes.read(folder).refused
    assert len(refused) == 7
    assert any("lacks {value}" in line for line in refused)


def test_memories_as_they_are_give_shapes_without_their_own_names_and_values(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(
        "---\nname: x\n---\n\n# Build 4711\n\n- The `mail-relay` listens on port 8421 in the cellar.\n"
        "- Nothing to see here at all, really.\n\n```\nthe mail-relay is on 9999 here\n```\n"
        "Ask before the photo-store grows beyond `ops/limits.yaml` again.\n"
    )
    found = shapes.read(tmp_path)
    assert [(s.texts, s.sort) for s in found.of["fact"]] == [
        (("The `{subject}` listens on port {value} in the cellar.",), "digits4"),
        (("Ask before the {subject} grows beyond `{value}` again.",), "path"),
    ]


def test_a_folder_without_statements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(shapes.NoShapes, match="no statement with a subject and a value"):
        shapes.read(tmp_path)
    with pytest.raises(shapes.NoShapes, match="is not a folder"):
        shapes.read(tmp_path / "none")


def test_no_two_things_of_a_directory_have_one_name(folder: Path) -> None:
    rng = random.Random(1)  # noqa: S311 - a benchmark, not a secret
    maker = DirectoryBuilder(rng, Words(rng), shapes.read(folder), "work", "work-1")
    subjects = [maker.subject() for _ in range(300)]
    named = [name for _, name in (*subjects, *(maker.sibling(said) for said, _ in subjects))]
    assert len(set(named)) == len(named)
