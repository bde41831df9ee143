"""What `doctor` finds, one broken thing at a time."""

from __future__ import annotations

import datetime as dt
import json
import os
import sqlite3
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import DatabaseError
from django.utils import timezone
from pytest_django import Settings

from dreams.lib import amounts
from dreams.lib.sandbox.tool_worker import fences
from dreams.management.base import Refused
from dreams.models import AuditEntry, Override, ScheduledJob
from dreams.services import doctor, server_registry, settings_changes
from dreams.services.doctor import installation, work
from dreams.services.hosts import host
from dreams.services.scheduling import scheduler
from tests.world import directory as world
from tests.world.model_server import ModelServer, Script, use
from tests.world.rows import make_dream, make_project

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


@pytest.fixture(autouse=True)
def healthy(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private data directory, a config folder, nothing running."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DEMO_ROOT = settings.DATA_DIR / "demo"
    settings.DATA_DIR.mkdir(mode=0o700)
    settings.ROOTS = (tmp_path / ".claude",)
    settings.ROOTS[0].mkdir()
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "ANTHROPIC_BASE_URL", "MEMORYWEB_CHROMIUM"):
        monkeypatch.delenv(name, raising=False)
    cache.clear()


def found(name: str) -> doctor.Check:
    return {check.name: check for check in doctor.examine()}[name]


def override(key: str, value: object) -> None:
    Override.objects.create(key=key, value=value)


def test_a_machine_that_lacks_nothing_is_told_so_and_every_trouble_has_a_remedy() -> None:
    checks = doctor.examine()
    assert [check.name for check in checks if check.state == "bad"] == []
    assert all(check.remedy for check in checks if check.state != "ok")
    assert len({check.name for check in checks}) == len(checks)


@pytest.mark.not_on_postgresql
def test_a_job_that_fails_is_named() -> None:
    assert (found("Schedule").state, found("Schedule").said) == ("ok", "0 jobs")
    made = timezone.now()
    ScheduledJob.objects.create(kind="verify", cron="0 3 * * *", host=host(), made_at=made, failures=1)
    assert (found("Schedule").state, found("Schedule").said) == ("warn", "Failing: Verify: all projects")


def test_an_address_for_the_digest_that_no_job_sends_to_is_told() -> None:
    override("digest_email", "me@example.org")
    check = found("Schedule")
    assert check.state == "warn" and "no job sends it" in check.said and "jobs add" in check.remedy


@pytest.mark.also_on_postgresql
def test_hours_of_the_digest_that_nobody_reads_any_more_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_DIGEST_HOURS", "12")
    assert "no longer used" in found("Schedule").said


def test_versions_are_those_that_are_installed() -> None:
    assert "django-q2 1." in found("Version").detail


def test_no_config_folder_stops_dreams(settings: Settings) -> None:
    settings.ROOTS[0].rmdir()
    check = found("Config folders")
    assert (check.state, str(settings.ROOTS[0]) in check.said) == ("bad", True)


def test_a_second_config_folder_that_is_missing_stops_nothing(settings: Settings) -> None:
    settings.ROOTS = (*settings.ROOTS, Path("/nowhere"))
    check = found("Config folders")
    assert (check.state, check.said) == ("warn", "Not found: /nowhere")


def test_a_config_folder_of_another_agent_is_told(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "memory_summary.md").touch()
    settings.ROOTS = (tmp_path,)
    check = found("Config folders")
    assert (check.state, f"{tmp_path} is Codex’s folder" in check.said) == ("warn", True)


def test_a_memory_directory_without_a_right_to_it_is_named(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ROOTS = (tmp_path,)
    project = world.make_project(tmp_path)
    assert found("Config folders").state == "ok"
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: path != project.memory_dir and real(path, mode, **more)
    )
    check = found("Config folders")
    assert check.state == "warn" and "No right to read and write 1 memory directory" in check.said
    assert project.memory_dir in check.detail and "Give yourself the right" in check.remedy


def test_folders_that_were_set_in_the_pages_are_corrected_there(tmp_path: Path) -> None:
    override("roots", str(tmp_path / "gone"))
    check = found("Config folders")
    assert check.state == "bad" and check.remedy == "Correct them in Settings, Places, or in MEMORYWEB_ROOTS."


def test_a_data_directory_that_others_can_read_is_told_with_the_command_that_closes_it(
    settings: Settings,
) -> None:
    (settings.DATA_DIR / "photos").mkdir()  # a folder of other things keeps its mode
    settings.DATA_DIR.chmod(0o755)
    check = found("Data directory")
    assert check.state == "warn"
    assert f"chmod -R go= {settings.DATA_DIR}" in check.remedy


def test_a_key_that_others_can_read_is_named_also_in_a_private_directory(settings: Settings) -> None:
    key = settings.DATA_DIR / "secret_key"
    key.touch(0o600)
    assert found("Data directory").state == "ok"
    key.chmod(0o644)
    check = found("Data directory")
    assert (check.state, check.detail) == ("warn", str(key))


@pytest.mark.parametrize(("free", "state"), [(10**12, "ok"), (500 * 10**6, "warn"), (10**6, "bad")])
@pytest.mark.not_on_postgresql
def test_a_full_disk_is_said_in_time(monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    assert (found("Disk").state, found("Disk").said) == (state, f"{amounts.bytes_(free)} free")


@pytest.mark.also_on_postgresql
def test_a_disk_with_room_that_takes_no_more_files_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "os.statvfs",
        lambda path: SimpleNamespace(
            f_files=100, f_favail=0, f_bavail=10**9, f_blocks=1, f_frsize=4096, f_bfree=1
        ),
    )
    check = found("Disk")
    assert (check.state, check.said) == ("bad", "No more files fit") and "Remove files" in check.remedy


def test_on_a_full_disk_it_is_not_said_that_no_worker_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    since = (timezone.now() - dt.timedelta(minutes=2)).isoformat()
    started = server_registry.Running(1, 1.0, "", 1, since)
    monkeypatch.setattr("dreams.services.server_registry.running", lambda: started)
    check = found("Workers")
    assert (check.said, check.remedy) == ("None", "The server was started 2 min ago; look again in a minute.")
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=0))
    check = found("Workers")
    assert check.said == "Not known" and "disk is full" in check.remedy


@pytest.mark.also_on_postgresql
def test_the_database_is_up_to_date_and_lets_pages_read_while_dreams_write() -> None:
    check = found("Database")
    assert check.state == "ok"
    assert "journal mode wal" in check.said or "pg_trgm" in check.detail


def test_a_model_without_a_key_stops_dreams_and_one_in_a_key_file_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    override("engine", "anthropic")
    check = found("Engine")
    assert check.state == "bad" and "Set ANTHROPIC_API_KEY" in check.remedy
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text("made-up")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(path))
    check = found("Engine")
    assert check.state == "ok" and "bound to api.anthropic.com" in check.detail
    path.chmod(0o644)
    assert "chmod 600" in found("Engine").remedy


def test_a_project_that_chose_a_model_is_told_that_there_is_no_key() -> None:
    project = make_project("acme-api")
    Override.objects.create(key="engine", value="anthropic", project=project)
    check = found("Engine")
    assert (check.state, check.said) == ("bad", "A model for 1 project is chosen, but there is no usable key")


def test_a_pause_stops_dreams() -> None:
    override("paused", True)
    assert found("Dreaming").state == "bad"


def test_dreams_are_counted_once_they_are_over_as_on_the_page_of_dreams() -> None:
    for status in ("completed", "failed", "running"):
        make_dream(make_project(status), status)
    make_dream(make_project("cancelled before it began"), "killed", started_at=None)
    assert found("Dreaming").said == "On; 2 dreams so far, no project is failing now"


@pytest.mark.also_on_postgresql
def test_a_failing_project_is_named_with_its_last_error() -> None:
    project = make_project("acme-api", failures=2)
    make_dream(project, "failed", error="The disk was full.")
    check = found("Dreaming")
    assert check.state == "warn"
    assert "acme-api" in check.said
    assert "The disk was full." in check.detail


@pytest.mark.also_on_postgresql
def test_a_scheduler_that_stands_still_while_a_server_runs_stops_dreams() -> None:
    now = timezone.now()
    server = server_registry.write("http://127.0.0.1:1", 1)
    cache.set(scheduler.LAST_TICK, (now - dt.timedelta(seconds=20)).isoformat())
    assert work.ticks(now).state == "ok"
    cache.set(scheduler.LAST_TICK, (now - dt.timedelta(hours=1)).isoformat())
    assert work.ticks(now).state == "warn", "it has just started"
    assert work.ticks(server.since + work.LATE).state == "bad"
    cache.set(scheduler.LAST_TICK, (now + dt.timedelta(days=1)).isoformat())
    ahead = work.ticks(server.since + work.LATE)
    assert (ahead.state, ahead.said[:13]) == ("bad", "Not known yet"), "a clock ran ahead"
    server_registry.clear()
    assert work.ticks(server.since + work.LATE).state == "warn", "no server is no fault"


@pytest.mark.also_on_postgresql
def test_workers_are_counted_and_none_while_a_server_runs_stops_dreams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = timezone.now()
    assert work.workers(now).state == "warn", "no server is no fault"
    server = server_registry.write("http://127.0.0.1:1", 1)
    assert work.workers(server.since + work.LATE).state == "bad"
    monkeypatch.setattr("django_q.status.Stat.get_all", lambda: [SimpleNamespace(workers=[1, 2])])
    check = work.workers(now)
    assert (check.state, check.said, check.detail) == ("ok", "2 ready", "0 tasks waiting")


def test_a_changed_audit_entry_is_found_when_all_is_read_back() -> None:
    settings_changes.set_override("min_hours", 3, actor="owner")
    assert installation.kept(thorough=True).state == "ok"
    AuditEntry.objects.update(actor="someone else")
    assert installation.kept(thorough=False).state == "info"
    check = installation.kept(thorough=True)
    assert check.state == "bad"
    assert check.said.startswith("Audit entry") and "audit log" not in check.said
    assert check.detail.startswith("In the audit log; 1 problem in ")
    assert check.remedy


NO_BUBBLE = "bubblewrap is not installed"


@pytest.mark.not_on_postgresql
def test_a_sandbox_that_is_asked_for_and_missing_stops_dreams(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [fences.Fences(trouble=NO_BUBBLE)]
    monkeypatch.setattr(fences, "offered", lambda: offered[0])
    check = found("Sandbox")
    assert check.state == "info" and NO_BUBBLE in check.detail and "apt install bubblewrap" in check.remedy
    override("require_os_sandbox", True)
    check = found("Sandbox")
    assert check.state == "bad" and "Refuse to dream" in check.remedy
    offered[0] = fences.Fences(landlock=3, trouble=NO_BUBBLE)
    check = found("Sandbox")
    assert (check.state, check.said) == ("ok", "Landlock (version 3)") and NO_BUBBLE in check.detail
    offered[0] = fences.Fences(landlock=7, bubblewrap=True)
    assert found("Sandbox").said == "bubblewrap and Landlock (version 7)"
    offered[0] = fences.Fences(bubblewrap=True)
    check = found("Sandbox")
    assert check.state == "ok" and "no Landlock" in check.detail


def test_a_variable_that_sets_nothing_is_named_with_the_nearest_right_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "MEMORYWEB_MIN_HOUR",
        "MEMORYWEB_PROT",
        "MEMORYWEB_MIN_SESSIONS",
        "MEMORYWEB_SECRET_KEY_FILE",
    ):
        monkeypatch.setenv(name, "7")
    check = installation.configuration()
    assert check.state == "warn"
    assert "MEMORYWEB_MIN_HOUR is not a setting; MEMORYWEB_MIN_HOURS is." in check.said
    assert "MEMORYWEB_PROT is not a setting; MEMORYWEB_PORT is." in check.said
    assert check.said.count("is not a setting") == 2


def test_settings_that_do_not_fit_together_are_told_with_the_remedy(settings: Settings) -> None:
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "retry": 10}
    check = found("Settings")
    assert check.state == "bad"
    assert "MEMORYWEB_TASK_RETRY" in check.remedy


def test_one_check_that_fails_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> doctor.Check:
        raise DatabaseError("disk I/O error")

    monkeypatch.setattr(installation, "database", fails)
    found = {check.name: check for check in doctor.examine()}
    assert found["Database"].state == "bad"
    assert "disk I/O error" in found["Database"].said
    assert found["Engine"].state == "ok"


def test_what_to_do_about_the_database_is_beside_it_and_the_others_refer_to_it(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def fails() -> doctor.Check:
        raise DatabaseError("database or disk is full") from full

    monkeypatch.setattr(installation, "database", fails)
    monkeypatch.setattr(work, "engine", fails)
    found = {check.name: check for check in doctor.examine()}
    assert found["Database"].said.startswith("No space is left for ")
    assert found["Database"].remedy == "Make room on that disk."
    assert found["Engine"].remedy == "See Database."
    full.sqlite_errorcode = sqlite3.SQLITE_IOERR
    found = {check.name: check for check in doctor.examine()}
    assert str(settings.DATA_DIR) in found["Database"].remedy and "See" not in found["Database"].remedy


def test_the_command_fails_when_something_stops_dreams_and_prints_all_the_same() -> None:
    out = StringIO()
    call_command("doctor", json=True, stdout=out)
    result = json.loads(out.getvalue())
    assert result["ok"] is True
    assert {"name", "state", "said", "remedy"} <= result["checks"][0].keys()
    override("paused", True)
    with pytest.raises(Refused, match="Dreaming") as refused:
        call_command("doctor", json=True, stdout=StringIO())
    assert refused.value.result is not None
    assert refused.value.result["ok"] is False


def test_in_words_every_remedy_stands_below_the_table() -> None:
    out = StringIO()
    call_command("doctor", stdout=out)
    assert "Server: Start one with `python manage.py serve`." in out.getvalue()


def test_everything_kept_is_read_back_only_when_asked_for() -> None:
    for thorough, said in ((False, "Not checked now"), (True, "Intact")):
        out = StringIO()
        call_command("doctor", thorough=thorough, stdout=out)
        assert said in out.getvalue()


@pytest.mark.more
def test_a_model_is_asked_only_when_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(Script([use("ready", word="yes")])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        doctor.examine()
        assert server.seen == []
        out = StringIO()
        call_command("doctor", connection=True, stdout=out)
    assert "and calls tools" in out.getvalue() and "Round trip:" in out.getvalue()
    with pytest.raises(Refused, match="Connection"):
        call_command("doctor", connection=True, json=True, stdout=StringIO())
