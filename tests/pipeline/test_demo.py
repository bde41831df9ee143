"""The demo: believable to every reader of ours, the same each time, and ready to dream."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import Settings

from dreams.models import DreamRun, Project, Proposal, Session
from dreams.services import demo, dreaming, settings_changes, verifying
from dreams.services.demo import writing
from dreams.services.scheduling import scheduler

NOW = dt.datetime(2026, 6, 17, 15, 0, tzinfo=dt.UTC)


@pytest.fixture
def data(tmp_path: Path, settings: Settings) -> Path:
    """An own data directory, in which no config folder is found."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DEMO_ROOT = settings.DATA_DIR / "demo"
    settings.ROOTS = (tmp_path / "home" / ".claude",)
    settings.DATA_DIR.mkdir()
    cache.clear()
    return settings.DATA_DIR


def _listing(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.more
def test_the_same_moment_makes_the_same_demo(tmp_path: Path) -> None:
    for name in ("one", "two"):
        writing.write(tmp_path / name, Path("/final"), NOW)
    assert _listing(tmp_path / "one") == _listing(tmp_path / "two")
    assert len(_listing(tmp_path / "one")) > 40


@pytest.mark.more
def test_nothing_in_it_lies_in_the_future_or_was_touched_just_now(tmp_path: Path) -> None:
    writing.write(tmp_path / "demo", Path("/final"), NOW)
    times = [path.stat().st_mtime for path in (tmp_path / "demo").rglob("*.jsonl")]
    assert max(times) < (NOW - dt.timedelta(hours=1)).timestamp()
    assert min(times) > (NOW - dt.timedelta(days=30)).timestamp()


@pytest.mark.more
@pytest.mark.django_db
def test_a_demo_is_wanted_only_where_no_config_folder_exists(data: Path, settings: Settings) -> None:
    assert demo.is_wanted()
    assert not demo.is_shown()
    settings.ROOTS[0].mkdir(parents=True)
    assert not demo.is_wanted()


@pytest.mark.more
@pytest.mark.django_db
def test_it_is_made_once_and_a_half_made_one_is_made_anew(data: Path, settings: Settings) -> None:
    (data / "demo.draft" / "projects").mkdir(parents=True)
    (data / "demo.draft" / "projects" / "left over").touch()
    assert demo.ensure(NOW)
    first = _listing(demo.root())
    assert not any("left over" in path for path in first)
    assert not demo.is_shown()
    settings.ROOTS = (demo.root(),)
    assert demo.is_shown()
    assert not demo.ensure()
    assert _listing(demo.root()) == first
    assert os.listdir(data) == ["demo"], "nothing beside it"


def _dream_all(data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tick as often as it takes, and dream what each tick hands out."""
    demo.ensure()
    settings.ROOTS = (demo.root(),)
    handed_out: list[int] = []
    monkeypatch.setattr(scheduler, "enqueue", lambda dream: handed_out.append(dream.pk))
    for _ in range(5):
        scheduler.tick()
        while handed_out:
            dreaming.run_dream(handed_out.pop())


@pytest.mark.more
@pytest.mark.django_db(transaction=True)
def test_its_gates_open_by_themselves_and_its_dreams_are_of_four_kinds(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    _dream_all(data, settings, monkeypatch)
    by_name = {project.name: project for project in Project.objects.all()}
    assert set(by_name) == {"orders-api", "pocket-garden", "homelab", "bookshelf"}
    assert {(dream.project.name, dream.status) for dream in DreamRun.objects.select_related("project")} == {
        ("orders-api", "completed"),
        ("pocket-garden", "completed"),
        ("bookshelf", "completed"),
    }
    proposed = Proposal.objects.filter(state=Proposal.State.OPEN)
    assert {proposal.project.name for proposal in proposed} == {"orders-api", "pocket-garden"}
    assert DreamRun.objects.order_by("pk")[0].project.name == "orders-api", "the one used last comes first"
    closed = [gate for gate in by_name["homelab"].gate_evaluations.first().results if not gate["passed"]]
    assert [gate["name"] for gate in closed] == ["time"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.more
def test_the_dream_of_the_orders_project_shows_what_dreams_can_do(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    _dream_all(data, settings, monkeypatch)
    proposal = Proposal.objects.get(project__name="orders-api")
    kinds = set(proposal.operations.values_list("kind", flat=True))
    assert {"learn", "merge", "index"} <= kinds
    learnt = " ".join(proposal.operations.filter(kind="learn").values_list("reason", flat=True))
    assert "uv instead of pip" in learnt and "needs the VPN" in learnt
    assert set(proposal.questions.values_list("kind", "state")) >= {("changed", "open"), ("expired", "open")}
    memory = Path(proposal.project.memory_dir)
    assert "Yesterday" in (memory / "project_deploys.md").read_text(), "nothing changed before approval"
    whys = proposal.questions.values_list("why", flat=True)
    assert any(why.startswith("“Yesterday” is 20") for why in whys), "a relative day is asked about"


@pytest.mark.more
@pytest.mark.django_db(transaction=True)
def test_its_transcripts_are_read_without_a_problem(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    _dream_all(data, settings, monkeypatch)
    sessions = Session.objects.all()
    assert sessions.count() == 21
    assert not sessions.exclude(malformed_lines=0).exists()
    assert not sessions.filter(title="").exists()
    assert sessions.filter(corrections__gt=0).count() == 3
    assert sessions.get(title="Write a test for partial refunds").files.filter(kind="subagent").count() == 1
    reminded = sessions.filter(prompts__text__contains="system-reminder")
    assert not reminded.exists(), "what a hook says was typed by nobody"


@pytest.mark.django_db(transaction=True)
def test_the_demo_leaves_within_a_tick_once_your_own_folders_are_chosen(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    demo.ensure()
    settings.ROOTS = (demo.root(),)
    monkeypatch.setattr(scheduler, "enqueue", lambda _: None)
    scheduler.tick()
    own = tmp_path / "own"
    memory = own / "projects" / "-home-dev-app" / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Deploys](deploys.md) — when\n")
    settings_changes.set_override("roots", str(own), actor="owner")
    waiting = DreamRun.objects.get()
    scheduler.tick()
    assert demo.root().is_dir(), "a dream of it is at work"
    DreamRun.objects.filter(pk=waiting.pk).update(status=DreamRun.Status.KILLED)
    scheduler.tick()
    assert [project.memory_dir for project in Project.objects.all()] == [str(memory)]
    assert not Session.objects.exists()
    assert not demo.root().exists()
    assert verifying.verify().problems == []
