"""Health: each thing that could keep dreams from happening, worst first, with its remedy."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.test import Client, override_settings
from django.utils import timezone
from django_q.models import Schedule

from dreams import settings_service
from dreams.hosts import cluster_name, host
from dreams.models import AuditEntry
from dreams.web.context import scheduler_runs
from dreams.web.selectors import health
from tests import world as make

pytestmark = pytest.mark.django_db


def _schedule(next_run: dt.datetime, cluster: str = "") -> None:
    Schedule.objects.create(
        func="dreams.tasks.tick",
        next_run=next_run,
        cluster=cluster or cluster_name(host()),
        schedule_type="I",
    )


def test_a_scheduler_that_never_ran_or_stopped_is_broken_with_a_remedy() -> None:
    now = timezone.now()
    assert health.scheduler(now).state == "block"
    _schedule(now - dt.timedelta(hours=3))
    found = health.scheduler(now)
    assert (found.state, found.value) == ("block", "Stopped for 3 h")
    assert "serve" in found.remedy
    assert not scheduler_runs(now)


def test_a_scheduler_in_time_is_good() -> None:
    now = timezone.now()
    _schedule(now - dt.timedelta(seconds=40))
    assert health.scheduler(now).state == "ok"
    assert scheduler_runs(now)


def test_another_hosts_scheduler_is_not_ours() -> None:
    _schedule(timezone.now(), "memoryweb@elsewhere")
    assert not scheduler_runs(timezone.now())


def test_workers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert health.queue().state == "block"
    monkeypatch.setattr(health.Stat, "get_all", lambda: [SimpleNamespace(workers=[1, 2])])
    assert health.queue().value == "2 ready"


@pytest.mark.parametrize(("free", "state"), [(10**12, "ok"), (500 * 1024**2, "warn"), (10**6, "block")])
def test_a_full_disk_is_said_in_time(monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    assert health.disk().state == state


def test_a_data_directory_that_others_can_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    key = tmp_path / "secret_key"
    key.touch(0o600)
    with override_settings(DATA_DIR=tmp_path):
        assert health.private_files().state == "ok"
        key.chmod(0o644)
        found = health.private_files()
    assert (found.state, found.detail) == ("warn", "secret_key")


def test_a_model_without_a_key_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert health.engine().state == "ok"
    settings_service.set_override("engine", "anthropic", actor="owner")
    assert health.engine().state == "block"
    with override_settings(HAS_API_KEY=True):
        assert health.engine().state == "ok"


def test_no_fence_of_the_system_is_a_note_unless_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_has_landlock", lambda: False)
    monkeypatch.setattr(health.shutil, "which", lambda name: None)
    assert health.sandbox().state == "info"
    settings_service.set_override("require_os_sandbox", True, actor="owner")
    assert health.sandbox().state == "block"


def test_a_missing_config_folder_is_named(tmp_path: Path) -> None:
    settings_service.set_override("roots", f"{tmp_path}\n{tmp_path}/gone", actor="owner")
    found = health.roots()
    assert (found.state, found.value) == ("warn", f"Not found: {tmp_path}/gone")


def test_a_project_that_fails_is_named() -> None:
    make.make_project("poison", failures=3)
    found = health.failed_dreams(timezone.now())
    assert (found.state, found.value) == ("warn", "Failing: poison")


def test_a_changed_audit_entry_is_found_when_all_is_checked() -> None:
    settings_service.set_override("min_hours", 3, actor="owner")
    assert health.audit_log(thorough=True).state == "ok"
    AuditEntry.objects.update(actor="someone else")
    assert health.audit_log(thorough=True).state == "block"
    assert health.audit_log(thorough=False).state == "info"


def test_the_database_is_up_to_date_and_in_wal() -> None:
    assert health.database().state == "ok"


def test_a_check_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(health.shutil, "disk_usage", fail)
    found = health.checks(timezone.now())
    assert any(check.value == "the disk is gone" for check in found)
    assert any(check.name == "Engine" for check in found)


def test_the_page_shows_the_worst_first_and_checks_all_when_asked(browser: Client) -> None:
    states = [check.state for check in health.checks(timezone.now())]
    assert states == sorted(states, key=lambda state: health.ORDER[state])
    assert b"Unbroken" not in browser.get("/health/").content
    assert b"Unbroken" in browser.get("/health/?thorough=1").content


def test_every_page_shows_that_the_scheduler_stands_still(browser: Client) -> None:
    assert b"needs a look" in browser.get("/").content
    _schedule(timezone.now())
    assert b"needs a look" not in browser.get("/").content
