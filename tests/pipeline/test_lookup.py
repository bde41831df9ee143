"""From what a person types to a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreams.lib.refusal import Ambiguous
from dreams.models import DreamRun, Project
from dreams.services import lookup
from dreams.services.hosts import host
from tests.world.rows import make_dream, make_project, make_proposal

pytestmark = pytest.mark.django_db


def made(memory_dir: Path | str, slug: str = "-home-me-app", **fields: object) -> Project:
    return make_project(host=host(), memory_dir=str(memory_dir), slug=slug, **fields)


def test_a_directory_is_found_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "real" / "memory"
    memory.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    project = made(memory)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "real")
    for text in (
        str(memory),
        f"{memory}/",
        "~/real/memory",
        "memory",
        "./memory/",
        f"{tmp_path}/link/memory",
    ):
        assert lookup.project(text) == project


def test_a_gone_project_gives_way_to_one_that_is_there() -> None:
    gone = made("/a/memory", gone_at="2026-03-02T10:00:00Z")
    assert lookup.project("-home-me-app") == gone
    present = made("/b/memory")
    assert lookup.project("-home-me-app") == present


def test_another_machines_project_is_not_meant() -> None:
    made("/a/memory", slug="-a")
    make_project(host="elsewhere", memory_dir="/b/memory", slug="-b")
    with pytest.raises(lookup.Unknown):
        lookup.project("-b")


def test_of_other_machines_the_one_is_named_that_still_has_it() -> None:
    make_project(host="old", memory_dir="/a/memory", slug="-b", gone_at="2026-03-02T10:00:00Z")
    make_project(host="new", memory_dir="/b/memory", slug="-b")
    with pytest.raises(lookup.Unknown, match="belongs to new"):
        lookup.project("-b")


def test_the_name_that_the_pages_show_is_understood_where_nothing_is_called_so() -> None:
    shown = made("/a/memory", slug="-home-me-app", name="app")
    assert lookup.project("app") == shown
    called_so = made("/b/memory", slug="app", name="other")
    assert lookup.project("app") == called_so


def test_a_shown_name_of_two_projects_lists_both() -> None:
    made("/a/memory", slug="-home-me-app", name="app")
    made("/b/memory", slug="-work-app", name="app")
    with pytest.raises(Ambiguous, match=r"/a/memory.*/b/memory"):
        lookup.project("app")


@pytest.mark.parametrize("text", ["", "~nobody-knows/x", "9" * 40, "²", "a\0b", "-home-me-ap"])
def test_what_nothing_is_called_is_unknown_and_never_an_error(text: str) -> None:
    made("/a/memory")
    with pytest.raises(lookup.Unknown) as caught:
        lookup.project(text)
    assert ("-home-me-app" in str(caught.value)) == (text == "-home-me-ap")


def test_a_dream_and_its_proposal_are_found_by_either_id() -> None:
    project = made("/a/memory")
    dream = make_dream(project, DreamRun.Status.COMPLETED)
    proposal = make_proposal(project, dream)
    assert lookup.dream(proposal.public_id) == lookup.dream(dream.public_id) == dream
    assert lookup.proposal(proposal.public_id) == proposal
    with pytest.raises(lookup.Unknown):
        lookup.dream("dzzzzzzzz")


def test_the_end_of_a_long_slug_brings_up_the_whole_one() -> None:
    made("/a/memory", slug="-home-ada-code-koenvue")
    made("/b/memory", slug="-home-ada-code-compose-envkit-qa-engineer")
    with pytest.raises(lookup.Unknown, match="Near it: -home-ada-code-koenvue"):
        lookup.project("koenvue")
