"""What is installed, what runs, and what would stop a dream: one small check each, with its remedy.

`bad` is what stops every dream; `warn` is what a person should know of. For the command and for the health page.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import os
import shutil
import sqlite3
import stat
import sys
import zoneinfo
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import django
from django.conf import settings
from django.core import checks as system
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from dreams import conf, demo, discovery, scheduler
from dreams.language import ages
from dreams.models import DreamRun, Project
from dreams.serving import record
from dreams.text import plural
from memoryweb import version

State = Literal["ok", "warn", "bad"]
LITTLE_SPACE = 200 * 1024**2
SOME_SPACE = 1024**3
# A tick is due every minute and is looked for every half minute.
LATE = dt.timedelta(minutes=3)
PACKAGES = ("django-q2", "anthropic", "dulwich", "waitress")
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION = 1


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about one thing, in words, and what to do where something is wrong."""

    name: str
    state: State
    said: str
    remedy: str = ""


def examine(now: dt.datetime | None = None) -> list[Check]:
    """Every check, in reading order. One that fails hides no other: this is where one looks when things fail."""
    at = now or timezone.now()
    todo: Sequence[tuple[str, Callable[[], Check]]] = (
        ("Version", versions),
        ("Settings", configuration),
        ("Data directory", data_directory),
        ("Disk", disk),
        ("Database", database),
        ("Config folders", roots),
        ("Server", server),
        ("Scheduler", lambda: ticks(at)),
        ("Dreaming", dreaming),
        ("Engine", engine),
        ("Sandbox", sandbox),
        ("Time zone", time_zone),
    )
    return [_safely(name, check) for name, check in todo]


def _safely(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except DatabaseError as error:
        return Check(name, "bad", f"The database does not answer: {error}", "See Database, above.")
    except (OSError, ValueError) as error:
        return Check(
            name, "bad", f"This could not be looked at: {error}", "Put right what the message names."
        )


def versions() -> Check:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    python = ".".join(map(str, sys.version_info[:3]))
    return Check(
        "Version",
        "ok",
        f"memoryweb {version()}, Python {python}, Django {django.get_version()}, {packages}, SQLite {sqlite3.sqlite_version}",
    )


def configuration() -> Check:
    errors = [found for found in system.run_checks() if found.level >= system.ERROR]
    if not errors:
        return Check("Settings", "ok", "They fit together")
    return Check(
        "Settings",
        "bad",
        " ".join(str(error.msg) for error in errors),
        " ".join(str(error.hint) for error in errors if error.hint),
    )


def data_directory() -> Check:
    """The database, the keys and the history are the person's alone."""
    data = Path(settings.DATA_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        return Check(
            "Data directory",
            "bad",
            f"{data} cannot be written to",
            "Give it to this account, or set MEMORYWEB_DATA_DIR.",
        )
    shared = [path for path in (data, data / "secret_key", data / "memoryweb.sqlite3") if _is_shared(path)]
    # Inside a private folder a file's own mode opens nothing.
    if data in shared:
        names = ", ".join(str(path) for path in shared)
        return Check("Data directory", "warn", f"Others can read {names}", f"Run: chmod -R go= {data}")
    return Check("Data directory", "ok", f"{data}, private (mode {_mode(data):o})")


def _is_shared(path: Path) -> bool:
    return path.exists() and bool(_mode(path) & 0o077)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    said = f"{free / 1024**3:.1f} GB free"
    state: State = "bad" if free < LITTLE_SPACE else "warn" if free < SOME_SPACE else "ok"
    return Check(
        "Disk", state, said, "" if state == "ok" else f"Make room on the disk of {settings.DATA_DIR}."
    )


def database() -> Check:
    executor = MigrationExecutor(connection)
    behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if behind:
        return Check(
            "Database",
            "warn",
            f"{plural(len(behind), 'step')} behind",
            "Nothing to do: the next command that needs it brings it up to date.",
        )
    if connection.vendor != "sqlite":
        return Check("Database", "ok", connection.display_name)
    found = {name: _pragma(name) for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")}
    said = f"{settings.DATABASES['default']['NAME']}, " + ", ".join(f"{k} {v}" for k, v in found.items())
    if found["journal_mode"] != "wal":
        remedy = "Move the data directory to a local disk: network disks cannot do WAL, and pages will wait for dreams."
        return Check("Database", "warn", said, remedy)
    return Check("Database", "ok", said)


def _pragma(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return str(cursor.fetchone()[0])


def roots() -> Check:
    chosen = discovery.configured_roots()
    found = [root for root in chosen if root.is_dir()]
    missing = ", ".join(str(root) for root in chosen if root not in found)
    if not found:
        return Check(
            "Config folders",
            "bad",
            f"None found: {missing}",
            "Set MEMORYWEB_ROOTS, or start `serve`, which makes a demo.",
        )
    number = Project.objects.filter(gone_at__isnull=True).count()
    names = ", ".join(str(root) for root in found)
    said = f"{names}: {plural(number, 'project')}" + (" (the demo)" if demo.is_shown() else "")
    if missing:
        return Check("Config folders", "warn", f"{said}; not found: {missing}", "Correct MEMORYWEB_ROOTS.")
    return Check("Config folders", "ok", said)


def server() -> Check:
    running = record.running()
    if running is None:
        remedy = "Start one with: python manage.py serve. Until then dreams start by command only."
        return Check("Server", "warn", "None runs on this data directory", remedy)
    return Check("Server", "ok", f"{running.address}, process {running.pid}")


def ticks(now: dt.datetime) -> Check:
    """The scheduler's own mark. Late although a server runs, it stops every dream."""
    found = cache.get(scheduler.LAST_TICK)
    last = dt.datetime.fromisoformat(found) if found else None
    if last is not None and now - last < LATE:
        return Check("Scheduler", "ok", f"Looked {ages.span(now - last)} ago")
    said = f"Stopped {ages.span(now - last)} ago" if last else "Has never looked"
    running = record.running()
    if running is None:
        return Check("Scheduler", "warn", said, "Start it with: python manage.py serve")
    if last is None or now - running.since < LATE:
        return Check("Scheduler", "warn", said, "The server has just started; look again in a minute.")
    remedy = "If this stays for five minutes, stop `serve` and start it again; its last lines say why."
    return Check("Scheduler", "bad", said, remedy)


def dreaming() -> Check:
    if conf.current().paused:
        return Check(
            "Dreaming", "bad", "Paused everywhere", "Switch “Pause all dreaming” off in Settings, When."
        )
    failing = list(Project.objects.filter(failures__gt=0, gone_at__isnull=True).order_by("-failures")[:5])
    if failing:
        names = ", ".join(str(project) for project in failing)
        last = DreamRun.objects.filter(project=failing[0], status=DreamRun.Status.FAILED).first()
        why = f" ({last.error})" if last else ""
        return Check("Dreaming", "warn", f"Failing: {names}{why}", "Each is tried again later by itself.")
    return Check("Dreaming", "ok", f"On; {plural(DreamRun.objects.count(), 'dream')} so far, none failing")


def engine() -> Check:
    config = conf.current()
    has_key = settings.HAS_API_KEY
    if config.engine == "rules":
        return Check(
            "Engine", "ok", "Rules, offline" + ("; a key is there too" if has_key else ", no key needed")
        )
    if not has_key and not os.environ.get("ANTHROPIC_BASE_URL"):
        remedy = "Set ANTHROPIC_API_KEY and start again, or choose the rules engine in Settings."
        return Check("Engine", "bad", f"Model {config.model} is chosen, but there is no key", remedy)
    return Check("Engine", "ok", f"Model {config.model}")


def sandbox() -> Check:
    """The system's own fence around a model's tools; the tools have their checks beneath it."""
    abi = landlock_abi()
    layers = [f"Landlock (ABI {abi})"] if abi else []
    layers += ["bubblewrap"] if shutil.which("bwrap") else []
    if layers:
        return Check("Sandbox", "ok", " and ".join(layers))
    if conf.current().require_os_sandbox:
        remedy = "Install bubblewrap, or switch off “Refuse to dream without an OS sandbox” in Settings."
        return Check("Sandbox", "bad", "The system has none, and Settings ask for one", remedy)
    return Check(
        "Sandbox",
        "warn",
        "The system has none; the built-in checks remain",
        "Install bubblewrap for a second fence.",
    )


def landlock_abi() -> int:
    """The version of Landlock that the kernel offers; 0 where there is none. Only asks: nothing is fenced in."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    return max(int(answer), 0)


def time_zone() -> Check:
    name = conf.current().time_zone or settings.TIME_ZONE
    try:
        zone = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return Check(
            "Time zone", "bad", f"{name} is not known here", "Set MEMORYWEB_TIME_ZONE, such as Europe/Berlin."
        )
    return Check("Time zone", "ok", f"{name}, now {timezone.localtime(timezone=zone):%Y-%m-%d %H:%M %Z}")
