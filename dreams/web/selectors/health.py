"""What could keep dreams from happening: one small check each, worst first, each with its remedy."""

from __future__ import annotations

import ctypes
import datetime as dt
import os
import shutil
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django_q.models import OrmQ
from django_q.status import Stat

from dreams import auditlog, conf, memories
from dreams.history import HistoryError, HistoryStore
from dreams.language import ages
from dreams.models import DreamRun, Project
from dreams.text import plural
from dreams.web.context import OVERDUE, our_schedule

State = Literal["block", "warn", "ok", "info"]
ORDER: dict[State, int] = {"block": 0, "warn": 1, "ok": 2, "info": 3}
LITTLE_SPACE = 200 * 1024 * 1024
SOME_SPACE = 1024 * 1024 * 1024
LONG_QUEUE = dt.timedelta(minutes=10)
RECENT = dt.timedelta(days=7)
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION = 1


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    value: str
    detail: str = ""
    remedy: str = ""


def checks(now: dt.datetime, *, thorough: bool = False) -> list[Check]:
    """All checks, worst first. `thorough` also reads the whole audit log."""
    todo: list[Callable[[], Check]] = [
        lambda: scheduler(now),
        queue,
        lambda: failed_dreams(now),
        roots,
        database,
        disk,
        private_files,
        engine,
        sandbox,
        lambda: stored_versions(thorough=thorough),
        lambda: audit_log(thorough=thorough),
    ]
    return sorted((_safely(check) for check in todo), key=lambda check: ORDER[check.state])


def _safely(check: Callable[[], Check]) -> Check:
    """One check that fails must not hide the others: this page is where one looks when things fail."""
    try:
        return check()
    except (DatabaseError, HistoryError, OSError, ValueError) as error:
        return Check("A check failed", "block", str(error), remedy="The server's log has more.")


def scheduler(now: dt.datetime) -> Check:
    """The schedule's next run is never long past while the queue looks at it."""
    row = our_schedule().first()
    remedy = "Start it with: python manage.py serve"
    if row is None:
        return Check("Scheduler", "block", "Never started here", "No dream starts by itself.", remedy)
    if row.next_run is not None and row.next_run <= now - OVERDUE:
        late = ages.span(now - row.next_run)
        return Check("Scheduler", "block", f"Stopped for {late}", "No dream starts by itself.", remedy)
    return Check("Scheduler", "ok", "Running", f"Looks again {ages.until(row.next_run or now, now)}")


def queue() -> Check:
    waiting = OrmQ.objects.count()
    clusters = Stat.get_all()
    workers = sum(len(stat.workers) for stat in clusters)
    detail = f"{plural(waiting, 'task')} waiting"
    if not workers:
        return Check(
            "Workers", "block", "None", detail, "Start them with: python manage.py serve. They need a minute."
        )
    return Check("Workers", "ok", f"{workers} ready", detail)


def failed_dreams(now: dt.datetime) -> Check:
    failing = Project.objects.filter(failures__gt=0, gone_at__isnull=True).order_by("-failures")
    recent = DreamRun.objects.filter(status=DreamRun.Status.FAILED, ended_at__gt=now - RECENT).count()
    names = ", ".join(str(project) for project in failing[:5])
    if names:
        return Check(
            "Dreams",
            "warn",
            f"Failing: {names}",
            f"{plural(recent, 'failed dream')} in the last 7 days. Each is tried again later.",
            "Open the failed dream: its error says what to do.",
        )
    return Check("Dreams", "ok", "None failing", f"{plural(recent, 'failed dream')} in the last 7 days")


def roots() -> Check:
    given = [Path(line) for line in conf.current().roots.splitlines() if line.strip()] or list(settings.ROOTS)
    found = [root for root in given if root.is_dir()]
    number = Project.objects.filter(gone_at__isnull=True).count()
    names = ", ".join(str(root) for root in given)
    if len(found) < len(given):
        missing = ", ".join(str(root) for root in given if root not in found)
        return Check(
            "Config folders", "warn", f"Not found: {missing}", names, "Correct them in Settings, Places."
        )
    return Check("Config folders", "ok", plural(number, "project"), names)


def database() -> Check:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return Check(
            "Database",
            "block",
            "Not up to date",
            remedy="Run: python manage.py migrate (serve does it by itself)",
        )
    if connection.vendor != "sqlite":
        return Check("Database", "ok", connection.display_name)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        mode = str(cursor.fetchone()[0])
    if mode not in ("wal", "memory"):
        return Check(
            "Database",
            "warn",
            f"SQLite, journal mode {mode}",
            "Pages and dreams will wait for one another.",
            "Move the data directory to a local disk: network disks cannot do WAL.",
        )
    return Check("Database", "ok", "SQLite", "Journal mode WAL")


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    text = f"{free / 1024**3:.1f} GB free"
    where = str(settings.DATA_DIR)
    if free < SOME_SPACE:
        return Check(
            "Disk", "block" if free < LITTLE_SPACE else "warn", text, where, "Make room on this disk."
        )
    return Check("Disk", "ok", text, where)


def private_files() -> Check:
    """The data directory and its keys are the person's alone."""
    data = Path(settings.DATA_DIR)
    open_to_others = [
        path.name if path != data else str(path)
        for path in (data, data / "secret_key")
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if open_to_others:
        return Check(
            "Data directory",
            "warn",
            "Others on this machine can read it",
            ", ".join(open_to_others),
            f"Run: chmod -R go= {data}",
        )
    return Check("Data directory", "ok", "Private", str(data))


def engine() -> Check:
    chosen = conf.current().engine
    key = "A key is in the environment" if settings.HAS_API_KEY else "No key, and none needed for rules"
    if chosen == "anthropic" and not settings.HAS_API_KEY and not os.environ.get("ANTHROPIC_BASE_URL"):
        return Check(
            "Engine",
            "block",
            "A model is chosen, but there is no key",
            remedy="Set ANTHROPIC_API_KEY and start again, or choose the rules engine in Settings.",
        )
    if chosen == "anthropic":
        return Check("Engine", "ok", f"Model {conf.current().model}", key)
    return Check("Engine", "ok", "Rules, offline", key)


def sandbox() -> Check:
    """The fence of the operating system around a model's tools; the tools have their own beneath it."""
    layers = [
        name
        for name, there in (("Landlock", _has_landlock()), ("bubblewrap", shutil.which("bwrap")))
        if there
    ]
    if layers:
        return Check(
            "Sandbox", "ok", " and ".join(layers), "Fences a model's tools in, beside their own checks"
        )
    if conf.current().require_os_sandbox:
        return Check(
            "Sandbox",
            "block",
            "None on this system, and settings ask for one",
            remedy="Install bubblewrap, or switch off “Refuse to dream without an OS sandbox”.",
        )
    return Check(
        "Sandbox", "info", "Built-in checks only", "This system offers neither Landlock nor bubblewrap."
    )


def _has_landlock() -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    # Asks for the version only: makes nothing, fences nothing in.
    return int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)) > 0


def stored_versions(*, thorough: bool) -> Check:
    """Every stored text of every project, read and hashed again."""
    if not thorough:
        return Check("History", "info", "Not checked now", "Check everything to read every stored version.")
    projects = [project for project in Project.objects.all() if memories.history_path(project).exists()]
    for project in projects:
        with HistoryStore(memories.history_path(project)) as store:
            problems = store.verify()
        if problems:
            first = problems[0]
            return Check("History", "block", f"{project}: {first.what}", first.where, first.remedy)
    return Check("History", "ok", "Whole", f"Every stored version of {plural(len(projects), 'project')}")


def audit_log(*, thorough: bool) -> Check:
    if not thorough:
        return Check("Audit log", "info", "Not checked now", "Check everything to read it from the start.")
    problems = auditlog.verify_chain()
    if problems:
        return Check(
            "Audit log",
            "block",
            problems[0],
            f"{plural(len(problems), 'problem')} in all",
            "Someone changed the database. Compare it with a copy from before.",
        )
    return Check("Audit log", "ok", "Unbroken", "Every entry is as it was written")
