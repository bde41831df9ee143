"""A host keeps what is its own when the computer is renamed; two people on one computer are two hosts; a former name's
projects can be taken over, with their history."""

from __future__ import annotations

import datetime as dt
import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.utils import timezone
from django_q.models import Schedule

from dreams.lib.storage.history import HistoryStore
from dreams.management.base import Refused
from dreams.models import (
    AuditEntry,
    DreamRun,
    HistoryFile,
    Host,
    Memory,
    ModelRequest,
    Project,
    ScheduledJob,
    Session,
    Version,
)
from dreams.services import blobs, discovery, doctor, hosts, secret_purge
from dreams.services.doctor import work
from dreams.services.memories import syncing
from dreams.services.scheduling import scheduler
from tests.world import directory as world
from tests.world.rows import make_project, make_session

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db
FORMER = "old-laptop"


@pytest.fixture
def elsewhere(settings: SettingsWrapper, tmp_path: Path) -> str:
    """The key of a second host, which was seen a minute ago."""
    hosts.register()
    mine = settings.DATA_DIR
    settings.DATA_DIR, settings.HOST_NAME = tmp_path / "other-data", "desk"
    hosts.register()
    hosts.note_seen()
    key = hosts.host()
    settings.DATA_DIR, settings.HOST_NAME = mine, ""
    return key


def _gone_quiet(name: str) -> None:
    Host.objects.filter(name=name).update(last_seen_at=timezone.now() - dt.timedelta(hours=2))


@pytest.mark.not_on_postgresql
def test_a_computer_that_is_renamed_keeps_its_projects(
    tmp_path: Path, settings: SettingsWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.make_project(tmp_path)
    settings.ROOTS = (tmp_path,)
    hosts.register()
    monkeypatch.setattr(platform, "node", lambda: "renamed")
    hosts.register()
    discovery.discover()
    assert Project.objects.count() == 1
    assert hosts.name_of(hosts.host()) != "renamed"


def test_a_host_is_called_as_the_settings_say_also_later(settings: SettingsWrapper) -> None:
    hosts.register()
    settings.HOST_NAME = "laptop"
    hosts.register()
    assert [row.name for row in Host.objects.all()] == ["laptop"]


def test_two_people_on_one_computer_are_two_hosts(settings: SettingsWrapper, tmp_path: Path) -> None:
    hosts.register()
    settings.DATA_DIR = tmp_path / "of-another-person"
    hosts.register()
    first, second = Host.objects.order_by("pk")
    assert first.key != second.key and first.name != second.name


def test_rows_from_before_hosts_had_keys_become_this_hosts_at_the_first_start(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    Project.objects.update(host=platform.node())
    job = ScheduledJob.objects.create(
        host=platform.node(), kind="digest", cron="0 8 * * *", made_at=timezone.now()
    )
    Schedule.objects.create(
        name="tick", func="dreams.tasks.tick", cluster=hosts.cluster_name(platform.node())
    )
    hosts.register()
    project.refresh_from_db()
    job.refresh_from_db()
    assert project.host == job.host == hosts.host()
    assert not Schedule.objects.exists()


def test_what_another_person_of_this_computer_has_stays_theirs(tmp_path: Path) -> None:
    """On a server: a folder that is not ours is not taken."""
    project = world.make_project(tmp_path)
    assert hosts._is_mine(project)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dreams.services.hosts.connection", type("C", (), {"vendor": "postgresql"}))
        assert hosts._is_mine(project)
        patch.setattr("os.getuid", lambda: 4_294_967)
        assert not hosts._is_mine(project)


def test_a_former_name_is_adopted_with_its_history_and_what_discovery_made_anew_goes(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = world.make_project(tmp_path)
    DreamRun.objects.create(project=old, status=DreamRun.Status.COMPLETED)
    make_session(old)
    Project.objects.update(host=FORMER)
    HistoryFile.objects.create(host=FORMER, root=str(tmp_path), offset=77)
    job = ScheduledJob.objects.create(
        host=FORMER, project=old, kind="dream", cron="0 8 * * *", made_at=timezone.now()
    )
    settings.ROOTS = (tmp_path,)
    hosts.register()
    discovery.discover()
    assert Project.objects.count() == 2
    done = hosts.adopt(FORMER, "me")
    assert (done.moved, done.left) == (["-home-dev-app"], [])
    [kept] = Project.objects.all()
    assert kept.pk == old.pk and kept.host == hosts.host()
    assert kept.dreams.count() == 1 and Session.objects.filter(project=kept).exists()
    job.refresh_from_db()
    assert job.host == hosts.host()
    assert [(row.host, row.offset) for row in HistoryFile.objects.all()] == [(hosts.host(), 77)]
    assert AuditEntry.objects.filter(action="host.adopted", object_id=FORMER).exists()
    world.put(world.folder(kept) / "new.md", "New.\n")
    discovery.discover()
    assert Project.objects.count() == 1 and Memory.objects.filter(project=kept, path="new.md").exists()


def test_what_was_worked_on_under_both_names_is_left(tmp_path: Path) -> None:
    old = world.make_project(tmp_path)
    Project.objects.update(host=FORMER)
    twin = make_project(memory_dir=old.memory_dir)
    DreamRun.objects.create(project=twin, status=DreamRun.Status.COMPLETED)
    done = hosts.adopt(FORMER, "me")
    assert (done.moved, done.left) == ([], ["-home-dev-app"])
    assert Project.objects.count() == 2


def test_what_was_seen_and_paid_under_the_new_name_stays_after_the_former_one_is_adopted(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = world.make_project(tmp_path)
    folder, settings.ROOTS = world.folder(old), (tmp_path,)
    make_session(old)
    (folder / "feedback_testing.md").unlink()
    syncing.refresh(old)
    Project.objects.update(host=FORMER)
    hosts.register()
    for text in ("", "Two.\n", "Three.\n"):
        if text:
            for name in ("project_deploy.md", "new.md", "feedback_testing.md"):
                world.put(folder / name, text)
        discovery.discover()
    (folder / "feedback_testing.md").unlink()
    discovery.discover()
    twin = Project.objects.get(host=hosts.host())
    ModelRequest.objects.create(project=twin, at=timezone.now(), model="m", cost_usd=2)
    hosts.adopt(FORMER, "me")
    discovery.discover()
    assert _texts(old, "project_deploy.md") == [world.DEPLOY, "Two.\n", "Three.\n"]
    assert _texts(old, "new.md") == ["Two.\n", "Three.\n"]
    assert _texts(old, "feedback_testing.md") == [world.TESTING, "", "Two.\n", "Three.\n", ""]
    assert _texts(old, "MEMORY.md") == [world.INDEX]
    assert ModelRequest.objects.get().project == old
    _assert_history_is_as_rows(old)


def test_what_changes_or_goes_between_the_last_look_and_an_adoption_leaves_what_was_seen(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = _of_a_former_name(tmp_path, settings)
    folder = world.folder(old)
    for text in ("First.\n", "Two.\n"):
        for name in ("project_deploy.md", "new.md", "feedback_testing.md"):
            world.put(folder / name, text)
        discovery.discover()
    world.put(folder / "project_deploy.md", "Three.\n")
    (folder / "new.md").unlink()
    (folder / "feedback_testing.md").unlink()
    hosts.adopt(FORMER, "me")
    world.put(folder / "project_deploy.md", world.DEPLOY)
    discovery.discover()
    assert _texts(old, "project_deploy.md") == [world.DEPLOY, "First.\n", "Two.\n", world.DEPLOY]
    assert _texts(old, "new.md") == ["First.\n", "Two.\n", ""]
    assert _texts(old, "feedback_testing.md") == [world.TESTING, "First.\n", "Two.\n", ""]
    _assert_history_is_as_rows(old)


def test_a_second_change_between_an_adoption_and_the_next_look_leaves_the_first_one(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = _of_a_former_name(tmp_path, settings)
    folder = world.folder(old)
    for name in ("project_deploy.md", "new.md", "only.md"):
        world.put(folder / name, "---\nname: First\n---\nFirst.\n")
    discovery.discover()
    (folder / "feedback_testing.md").unlink()
    discovery.discover()
    hosts.adopt(FORMER, "me")
    world.put(folder / "project_deploy.md", "Two.\n")
    (folder / "new.md").unlink()
    world.put(folder / "feedback_testing.md", "Two.\n")
    discovery.discover()
    first = "---\nname: First\n---\nFirst.\n"
    assert _texts(old, "project_deploy.md") == [world.DEPLOY, first, "Two.\n"]
    assert _texts(old, "new.md") == [first, ""] and _texts(old, "only.md") == [first]
    assert _texts(old, "feedback_testing.md") == [world.TESTING, "", "Two.\n"]
    assert old.memories.get(path="only.md").name == "First"
    assert not old.memories.filter(gone_at=None, inode=0).exists()
    with syncing.open_history(old) as store:
        assert len(store.log(9)) == 2
    _assert_history_is_as_rows(old)


def test_what_is_as_the_last_look_left_it_is_in_the_history_after_an_adoption(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = _of_a_former_name(tmp_path, settings)
    (world.folder(old) / "feedback_testing.md").unlink()
    discovery.discover()
    hosts.adopt(FORMER, "me")
    for _ in range(2):
        discovery.discover()
        with syncing.open_history(old) as store:
            now, commits = store.tree_at(store.log(1)[0].id), len(store.log(9))
        assert now == dict(old.memories.filter(gone_at=None).values_list("path", "sha256"))
        assert "feedback_testing.md" not in now and commits == 2


def test_a_purge_takes_a_secret_also_from_the_history_that_an_adoption_left(
    tmp_path: Path, settings: SettingsWrapper
) -> None:
    old = _of_a_former_name(tmp_path, settings)
    folder = world.folder(old)
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    for text in (f"It is {token}.\n", "Three.\n"):
        world.put(folder / "project_deploy.md", text)
        discovery.discover()
    hosts.adopt(FORMER, "me")
    discovery.discover()
    old.refresh_from_db()
    secrets = [leak.id for leak in secret_purge.find_secrets(old).found]
    assert not secret_purge.purge(old, secrets, world.ME).waits
    kept = {path: HistoryStore(path) for path in syncing.history_paths()}
    assert len(kept) == 2
    for store in kept.values():
        with store:
            assert not any(token.encode() in store.read(sha) for sha in store.texts())


def _assert_history_is_as_rows(project: Project) -> None:
    with syncing.open_history(project) as store:
        now = store.tree_at(store.log(1)[0].id)
    assert now == dict(project.memories.filter(gone_at=None).values_list("path", "sha256"))


def _of_a_former_name(tmp_path: Path, settings: SettingsWrapper) -> Project:
    """A project under a former name, whose folder this host looks into."""
    old, settings.ROOTS = world.make_project(tmp_path), (tmp_path,)
    make_session(old)
    Project.objects.update(host=FORMER)
    hosts.register()
    return old


def _texts(project: Project, path: str) -> list[str]:
    rows = Version.objects.filter(memory__project=project, memory__path=path).order_by("number")
    return [blobs.get_text(row.sha256) for row in rows]


def test_a_host_that_runs_is_not_adopted_and_one_that_is_away_is(elsewhere: str) -> None:
    make_project(host=elsewhere)
    with pytest.raises(hosts.CannotAdopt, match="desk is running"):
        hosts.adopt("desk", "me")
    _gone_quiet("desk")
    assert hosts.adopt("desk", "me").moved
    assert [row.key for row in Host.objects.all()] == [hosts.host()]


def test_a_name_that_nobody_has_is_refused_with_those_that_there_are(elsewhere: str) -> None:
    make_project(host=FORMER)
    with pytest.raises(Refused, match=r"No host is called nobody.*desk, old-laptop"):
        call_command("hosts", "adopt", "nobody")
    with pytest.raises(hosts.CannotAdopt, match="is this host"):
        hosts.adopt(hosts.name_of(hosts.host()), "me")


def test_the_command_lists_hosts_and_when_each_was_seen_by_this_clock(
    elsewhere: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(host=elsewhere)
    call_command("hosts", "--json")
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["hosts"]}
    assert rows["desk"]["projects"] == 1 and not rows["desk"]["is_away"] and not rows["desk"]["is_here"]
    seen = dt.datetime.fromisoformat(rows["desk"]["last_seen"])
    assert abs(timezone.now() - seen) < dt.timedelta(minutes=1)
    [mine] = [row for name, row in rows.items() if name != "desk"]
    assert mine["is_here"] and mine["is_away"]
    scheduler.tick()
    assert not next(one for one in hosts.known() if one.is_here).is_away


def test_the_list_of_hosts_says_which_of_them_take_requests(
    elsewhere: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Host.objects.filter(key=elsewhere).update(accepts_requests=True)
    call_command("hosts", "--json")
    rows = json.loads(capsys.readouterr().out)["hosts"]
    assert {row["is_here"]: row["accepts"] for row in rows} == {True: False, False: True}
    call_command("hosts")
    assert {line.split()[-1] for line in capsys.readouterr().out.splitlines()} >= {"yes", "no"}


def test_a_command_and_a_message_name_a_host_by_its_name(
    elsewhere: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(host=elsewhere)
    make_project("mine")
    call_command("projects", "--json", "--host", "desk")
    assert [row["host"] for row in json.loads(capsys.readouterr().out)["projects"]] == ["desk"]
    call_command("projects", "--host", "all")
    assert "desk" in capsys.readouterr().out
    with pytest.raises(Refused, match="belongs to desk"):
        call_command("gates", str(Project.objects.get(host=elsewhere).pk))


@pytest.mark.not_on_postgresql
def test_doctor_speaks_of_one_host(elsewhere: str, capsys: pytest.CaptureFixture[str]) -> None:
    make_project("broken", host=elsewhere, failures=2)
    _gone_quiet("desk")
    call_command("doctor", "--json", "--host", "desk")
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert "is away" in checks["Host"]["said"] and "broken" in checks["Dreaming"]["said"]
    here = {check.name: check for check in doctor.examine()}
    assert "broken" not in here["Dreaming"].said and "desk" in here["Host"].detail


def test_a_replaced_host_id_is_pointed_at(settings: SettingsWrapper, tmp_path: Path) -> None:
    settings.HOST_NAME = "laptop"
    hosts.register()
    hosts.note_seen()
    world.make_project(tmp_path)
    settings.DATA_DIR = tmp_path / "with-another-id"
    hosts.register()
    assert work.host_here().state == "ok", "the other one may be running"
    _gone_quiet("laptop")
    found = work.host_here()
    assert found.state == "warn" and "`host_id` was replaced" in found.said
    assert found.remedy.endswith("`hosts adopt laptop`.")
    assert hosts.adopt("laptop", "me").moved
    assert work.host_here().state == "ok"


def test_a_former_name_that_never_came_back_is_pointed_at(elsewhere: str) -> None:
    make_project(host=FORMER)
    found = work.host_here()
    assert found.state == "warn" and f"hosts adopt {FORMER}" in found.remedy
