"""No host waits for another: dreams at once are counted per host, a row whose lease ended is nobody's load, and any host
may end it after a grace."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

from dreams.lib import process
from dreams.lib.storage import journal
from dreams.models import DreamRun, Host, Project, Purge
from dreams.services import dreaming, hosts, secret_purge
from dreams.services.memories import syncing
from dreams.services.scheduling import gate_inputs, scheduler
from tests.world import directory as world
from tests.world.rows import make_project
from tests.world.two_hosts import TwoHosts

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def two(settings: SettingsWrapper, tmp_path: Path) -> TwoHosts:
    return TwoHosts(settings, tmp_path)


def _running(project: Project, lease: dt.timedelta, **more: object) -> DreamRun:
    return DreamRun.objects.create(
        project=project,
        status=DreamRun.Status.RUNNING,
        started_at=timezone.now(),
        lease_until=timezone.now() + lease,
        **more,
    )


def _away(two: TwoHosts) -> None:
    Host.objects.filter(key=two.desk).update(last_seen_at=timezone.now() - 5 * HOUR)


def test_a_dream_of_another_host_is_no_load_here(two: TwoHosts) -> None:
    now = timezone.now()
    _running(make_project("far", host=two.desk), HOUR)
    DreamRun.objects.create(project=make_project("further", host=two.desk))
    assert dreaming.under_way(two.desk, now) == 2
    _running(make_project("near"), HOUR)
    assert dreaming.under_way(make_project("any").host, now) == 1


def test_a_row_whose_lease_ended_is_nobodys_load(two: TwoHosts) -> None:
    project = make_project()
    _running(project, -HOUR)
    assert dreaming.under_way(project.host, timezone.now()) == 0


def test_a_dream_of_a_host_that_is_away_is_ended_by_any_host_after_the_grace(two: TwoHosts) -> None:
    _away(two)
    gone = _running(make_project("gone", host=two.desk), -3 * HOUR)
    # Clocks of hosts may differ by an hour.
    lately = _running(make_project("lately", host=two.desk), -HOUR)
    report = scheduler.repair()
    gone.refresh_from_db()
    lately.refresh_from_db()
    assert (gone.status, lately.status) == (DreamRun.Status.FAILED, DreamRun.Status.RUNNING)
    assert report.lost == [gone.public_id]


def test_a_dream_of_a_host_that_runs_is_left_to_it(two: TwoHosts) -> None:
    found = _running(make_project("far", host=two.desk), -3 * HOUR)
    scheduler.repair()
    found.refresh_from_db()
    assert found.status == DreamRun.Status.RUNNING


def test_a_worker_of_another_host_is_not_looked_for_among_the_processes_here(two: TwoHosts) -> None:
    me = process.current()
    found = _running(
        make_project("far", host=two.desk), HOUR, worker_pid=os.getpid() + 1, worker_started=me.start_time
    )
    scheduler.repair()
    found.refresh_from_db()
    assert found.status == DreamRun.Status.RUNNING


def test_cancel_ends_a_forsaken_dream_at_once(two: TwoHosts) -> None:
    _away(two)
    gone = _running(make_project("gone", host=two.desk), -3 * HOUR)
    assert dreaming.cancel(gone, "me")
    gone.refresh_from_db()
    assert gone.status == DreamRun.Status.KILLED
    alive = _running(make_project("alive", host=two.desk), HOUR)
    assert dreaming.cancel(alive, "me")
    alive.refresh_from_db()
    assert alive.status == DreamRun.Status.RUNNING and alive.cancel_requested_at is not None


def test_the_page_says_what_a_dream_waits_for(two: TwoHosts, browser: Client) -> None:
    _away(two)
    far = DreamRun.objects.create(project=make_project("far", host=two.desk))
    page = browser.get(f"/dreams/{far.public_id}/").content.decode()
    assert page.count("It is waiting for ") == 1
    assert "It is waiting for desk, which is away (last seen 5 h ago)." in page and "worker" not in page
    near = DreamRun.objects.create(project=make_project("near"))
    page = browser.get(f"/dreams/{near.public_id}/").content.decode()
    assert page.count("aiting for") == page.count("It is waiting for a free worker.") == 1
    # What is told of it while the page is open says that it waits no more.
    DreamRun.objects.filter(pk=near.pk).update(status=DreamRun.Status.COMPLETED)
    live = browser.get(f"/dreams/{near.public_id}/?after=0", headers={"HX-Request": "true"}).content.decode()
    assert re.search(r'<p[^>]*id="dream-waits"[^>]*hx-swap-oob="true"[^>]*hidden[^>]*></p>', live)


def test_the_gates_of_another_hosts_project_look_at_no_folder_here(two: TwoHosts, tmp_path: Path) -> None:
    project = world.make_project(tmp_path / "root")
    (world.folder(project) / ".consolidate-lock").write_text(str(os.getpid()))
    everywhere = gate_inputs.Everywhere.load()
    assert gate_inputs.case_of(project, everywhere, timezone.now()).facts.lock().held
    two.give(project)
    facts = gate_inputs.case_of(project, everywhere, timezone.now()).facts
    assert not facts.lock().held and facts.clock() is None


@pytest.mark.not_on_postgresql
def test_a_purge_that_was_cut_off_is_finished_by_the_host_with_the_history(
    two: TwoHosts, tmp_path: Path
) -> None:
    project = world.make_project(tmp_path / "root")
    two.give(project)
    with two.there():
        syncing.open_history(project).close()
    made = Purge.objects.create(at=timezone.now(), replaced={}, histories=[project.history_key])
    assert secret_purge.resume() == []
    made.refresh_from_db()
    assert made.done_at is None
    with two.there():
        assert secret_purge.resume() == ["Finished a purge of 0 texts."]


def _purge_that_waits(
    two: TwoHosts, root: Path, monkeypatch: pytest.MonkeyPatch, *, is_lost: bool = False
) -> Project:
    """A project of the other host, which began a purge that waits for the journal, and for the history if that is lost."""

    def busy(*_: object) -> None:
        raise journal.JournalBusy("another process is writing memory files")

    token = "ghp_" + "q7Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoM"
    project = world.make_project(root, {"notes.md": f"It is {token}.\n"})
    two.give(project)
    with two.there():
        world.put(world.folder(project) / "notes.md", "It is gone.\n")
        syncing.refresh(project)
        [leak] = secret_purge.find_secrets(project).found
        if is_lost:
            shutil.rmtree(syncing.history_path(project))
        with monkeypatch.context() as patched:
            patched.setattr(journal, "forget_texts", busy)
            assert secret_purge.purge(project, [leak.id], world.ME).waits
    return project


@pytest.mark.not_on_postgresql
def test_a_purge_that_waits_for_a_journal_is_not_called_finished_by_a_host_without_it(
    two: TwoHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its history is rewritten, so no host is left to be told by that."""
    _purge_that_waits(two, tmp_path / "root", monkeypatch)
    assert Purge.objects.get().histories == []
    assert secret_purge.resume() == []
    assert Purge.objects.get().done_at is None
    with two.there():
        assert secret_purge.resume() == ["Finished a purge of 1 text."]


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("is_lost", [True, False])
def test_an_unfinished_purge_of_a_deleted_project_is_finished_by_the_host_that_began_it(
    two: TwoHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_lost: bool
) -> None:
    """Where its history is lost, no file shows whose it was; where that is rewritten, none is looked for."""
    project = _purge_that_waits(two, tmp_path / "root", monkeypatch, is_lost=is_lost)
    project.delete()
    assert bool(Purge.objects.get().histories) == is_lost
    assert secret_purge.resume() == [] and Purge.objects.get().done_at is None
    with two.there():
        assert secret_purge.resume() == ["Finished a purge of 1 text."]


@pytest.mark.not_on_postgresql
def test_a_purge_that_an_adopted_host_began_is_not_called_finished_for_what_only_that_host_had(
    two: TwoHosts, tmp_path: Path
) -> None:
    project = world.make_project(tmp_path / "root")
    two.give(project)
    Purge.objects.create(at=timezone.now(), replaced={}, histories=[project.history_key])
    _away(two)
    hosts.adopt("desk", "me")
    [said] = secret_purge.resume()
    assert said.startswith("Finished a purge of 0 texts. If it was begun on desk")
    assert "its data directory was not read" in said
