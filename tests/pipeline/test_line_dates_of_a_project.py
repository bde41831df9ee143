"""Since when each line of a project's memories stands, from their kept versions."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from dreams.models import Project
from dreams.services.dreaming import dream_inputs
from dreams.services.memories import syncing
from tests.world import directory as world

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


def in_three_states(folder: Path, count: int) -> Project:
    """`count` memories, each changed twice after it was first seen."""
    files = {f"note_{number}.md": f"First line of {number}.\n" for number in range(count)}
    project = world.make_project(folder, files)
    for word in ("Second", "Third"):
        files = {path: text + f"{word} line of {path}.\n" for path, text in files.items()}
        for path, text in files.items():
            (world.folder(project) / path).write_text(text)
        syncing.refresh(project)
    return project


def test_a_line_has_the_day_of_the_version_that_brought_it(tmp_path: Path) -> None:
    project = in_three_states(tmp_path, 2)
    dated = dream_inputs.line_dates(project, dt.UTC)
    assert dated.keys() == {"note_0.md", "note_1.md"}
    for path, lines in dated.items():
        versions = list(project.memories.get(path=path).versions.order_by("at"))
        assert len(versions) == 3
        assert [line and line.day for line in lines[:3]] == [row.at.date() for row in versions]


@pytest.mark.also_on_postgresql
def test_more_memories_are_no_more_queries(tmp_path: Path, django_assert_max_num_queries) -> None:
    project = in_three_states(tmp_path, 20)
    with django_assert_max_num_queries(6):
        assert len(dream_inputs.line_dates(project, dt.UTC)) == 20


def test_only_the_newest_versions_of_a_memory_are_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(dream_inputs, "MAX_VERSIONS", 2)
    monkeypatch.setattr(dream_inputs, "_MEMORIES_AT_ONCE", 1)
    project = in_three_states(tmp_path, 2)
    pks = list(project.memories.values_list("pk", flat=True))
    kept = dream_inputs._last_versions(pks)
    for pk in pks:
        newest = project.memories.get(pk=pk).versions.order_by("-at", "-pk")[:2]
        assert list(kept[pk]) == list(reversed(newest))
    assert len(dream_inputs.line_dates(project, dt.UTC)) == 2


def test_a_directory_that_was_copied_has_no_days(tmp_path: Path) -> None:
    project = world.make_project(
        tmp_path, {f"note_{number}.md": "We moved yesterday.\n" for number in range(5)}
    )
    assert {day for lines in dream_inputs.line_dates(project, dt.UTC).values() for day in lines} == {None}


def test_a_rows_file_may_have_had_another_description_when_it_was_written(tmp_path: Path) -> None:
    def note(description: str) -> str:
        return f"---\nname: n\ndescription: {description}\ntype: project\n---\n\nThe probe.\n"

    rows = {name: f"- [{name}]({name}.md) — planned" for name in ("a", "b", "c")}
    project = world.make_project(
        tmp_path,
        {"MEMORY.md": f"{rows['a']}\n{rows['b']}\n"} | {f"{name}.md": note("Planned") for name in rows},
    )
    here = world.folder(project)
    for changed in ({"a.md": note("Done"), "c.md": note("Built")}, {"MEMORY.md": "\n".join(rows.values())}):
        for path, text in changed.items():
            (here / path).write_text(text)
        syncing.refresh(project)
    assert dream_inputs.described_then(project) == {rows["a"]: "Planned"}, (
        "the row of c is newer than its file"
    )
    (here / "a.md").write_text(note("Planned") + "It is built.\n")
    syncing.refresh(project)
    assert dream_inputs.described_then(project) == {}, "it is described as it was"
