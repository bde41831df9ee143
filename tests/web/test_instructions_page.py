"""The instruction files of a project: in the agent's order, with texts, sizes and what is wrong. Nothing is written."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from dreams.findings.base import NewFinding
from dreams.management.base import Refused
from dreams.models import DreamRun, Project, Question
from dreams.services import dreaming, settings_changes
from dreams.services.memories import checkup, instructions, syncing
from tests.world import directory as world

pytestmark = pytest.mark.django_db
PASSWORD = "".join(["xK9", "vQ2mPz", "L7wRt"])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    deploy = world.DEPLOY.replace("runs on host alpha", "listens on port 9090")
    files = {"MEMORY.md": world.INDEX, "feedback_testing.md": world.TESTING, "project_deploy.md": deploy}
    made = world.make_project(tmp_path / "home" / ".claude", files)
    repo = tmp_path / "home" / "app"
    (repo / "src").mkdir(parents=True)
    (repo / "CLAUDE.md").write_text(
        "# Rules\n\nThe API listens on port 8080.\nUse make reset before a run.\n\n@docs/style.md @gone.md\n@../far.md\n"
    )
    (repo / "docs").mkdir()
    (repo / "docs/style.md").write_text(f"<b>Indent</b> with tabs.\npassword = {PASSWORD}\n")
    (repo / "src/CLAUDE.md").write_text("Only here.\n")
    (tmp_path / "home" / "far.md").write_text("From far away.\n")
    Project.objects.filter(pk=made.pk).update(repo_dir=str(repo))
    made.refresh_from_db()
    return made


def _text(browser: Client, project: Project, **query: str) -> str:
    response = browser.get(f"/projects/{project.pk}/instructions/", query)
    assert response.status_code == 200
    return response.content.decode().replace("<wbr>", "")


def _listed(project: Project, *arguments: str) -> dict[str, dict[str, Any]]:
    out = StringIO()
    call_command("instructions", str(project.pk), *arguments, json=True, stdout=out)
    return {file["name"]: file for file in json.loads(out.getvalue())["files"]}


def test_files_are_shown_in_order_with_text_sizes_and_problems(browser: Client, project: Project) -> None:
    text = _text(browser, project)
    places = [text.index(f">{name}<") for name in ("CLAUDE.md", "docs/style.md", "gone.md")]
    assert places == sorted(places)
    assert "included by CLAUDE.md, line 6" in text and "There is no such file." in text
    assert "Outside the repository; not loaded" in text and "From far away" not in text
    assert "&lt;b&gt;Indent&lt;/b&gt;" in text and PASSWORD not in text
    assert "only for <span" in text and "src/" in text


def test_a_line_that_a_memory_contradicts_names_both_places(browser: Client, project: Project) -> None:
    text = _text(browser, project)
    assert "A memory contradicts line 3:" in text and "The API listens on port 8080." in text
    assert "project_deploy.md" in text and "line 6: “The API listens on port 9090.”" in text


def test_a_contradiction_is_found_behind_what_many_others_say(browser: Client, project: Project) -> None:
    said = "".join(f"- Report {number} is sent to team {number}.\n" for number in range(40))
    (Path(project.memory_dir) / "a_reports.md").write_text(f"---\ntype: project\n---\n\n{said}")
    syncing.refresh(project)
    assert "A memory contradicts line 3:" in _text(browser, project)


def test_another_folder_shows_what_is_loaded_there(browser: Client, project: Project) -> None:
    text = _text(browser, project, folder="src")
    assert "Only here." in text and "only for" not in text
    assert "is no folder of" in _text(browser, project, folder="../..")
    assert "is no folder of" in _text(browser, project, folder="nowhere")


def test_what_is_outside_is_loaded_once_the_project_is_trusted(browser: Client, project: Project) -> None:
    settings_changes.set_trusted(project, True, actor="owner")
    assert "From far away." in _text(browser, project)


def test_a_memory_that_could_be_an_instruction_is_shown_to_copy_and_nothing_is_written(
    browser: Client, project: Project
) -> None:
    before = {path: path.read_bytes() for path in Path(project.repo_dir).rglob("*") if path.is_file()}
    text = _text(browser, project)
    assert "readonly>Tests run against a real database." in text and "Copy to CLAUDE.md" in text
    assert before == {path: path.read_bytes() for path in Path(project.repo_dir).rglob("*") if path.is_file()}
    assert browser.post(f"/projects/{project.pk}/instructions/").status_code == 405


def test_a_project_without_a_repository_says_so(browser: Client, tmp_path: Path) -> None:
    assert "No instruction files" in _text(browser, world.make_project(tmp_path / "x"))


def test_the_command_lists_them_with_everything_that_is_known(project: Project) -> None:
    files = _listed(project)
    assert list(files) == ["CLAUDE.md", "docs/style.md", "gone.md", "~/far.md", "src/CLAUDE.md"]
    first, included = files["CLAUDE.md"], files["docs/style.md"]
    assert (first["scope"], first["depth"], first["included_by"]) == ("project", 0, None)
    assert first["problems"] == ["line 3 contradicted by project_deploy.md, line 6"]
    assert included["included_by"] == first["path"] and (included["depth"], included["line"]) == (1, 6)
    assert included["bytes"] == len((Path(project.repo_dir) / "docs/style.md").read_bytes())
    assert 0 < included["tokens"] < included["bytes"] and included["problems"] == []
    assert files["gone.md"]["problems"] == ["missing"] and files["~/far.md"]["problems"] == ["outside"]
    assert list(_listed(project, "--cwd", "src"))[-1] == "src/CLAUDE.md"
    with pytest.raises(Refused, match="no folder"):
        _listed(project, "--cwd", "/etc")


def test_a_memory_that_repeats_an_included_file_is_told_with_file_and_line(project: Project) -> None:
    assert list(instructions.texts(project)) == ["CLAUDE.md", "docs/style.md"]
    (told,) = [found for found in checkup.check(project).found if found.code == "in-instructions"]
    assert isinstance(told, NewFinding) and "repeats CLAUDE.md, line 4" in told.message
    style = Path(project.repo_dir) / "docs/style.md"
    style.write_text("Be brief.\n\nSnapshots are reviewed by hand.\n")
    messages = [found.message for found in checkup.check(project).found if found.code == "in-instructions"]
    assert any("repeats docs/style.md, line 3" in message for message in messages), messages


def test_a_dream_asks_about_a_memory_that_an_included_file_says_already(project: Project) -> None:
    said = "Snapshots of the invoices page are reviewed by hand before every release."
    (Path(project.repo_dir) / "docs/style.md").write_text(f"Be brief.\n\n{said}\n")
    memory = "---\nname: Snapshots\ndescription: how they are reviewed\ntype: project\n---\n\n" + said + "\n"
    world.put(world.folder(project) / "project_snapshots.md", memory)
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    asked = Question.objects.filter(project=project, kind=Question.Kind.DERIVED)
    assert "docs/style.md seems to say this already, in line 3." in asked.values_list("why", flat=True)


def test_the_lines_that_say_it_already_are_named_once_and_in_order(project: Project) -> None:
    first = "Snapshots of the invoices page are reviewed by hand before every release."
    second = "Releases of the invoices page are announced in the channel of the shop."
    (Path(project.repo_dir) / "docs/style.md").write_text(f"{first}\n\n{second}\n")
    memory = "---\nname: Snapshots\ndescription: how they are reviewed\ntype: project\n---\n\n"
    told = f"- {second}\n- {first}\n"
    world.put(world.folder(project) / "project_snapshots.md", memory + told + f"\n## Again\n\n- {second}\n")
    dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.PAGE, forced=True).pk)
    asked = Question.objects.filter(project=project, kind=Question.Kind.DERIVED)
    assert "docs/style.md seems to say this already, in lines 1, 3." in asked.values_list("why", flat=True)
