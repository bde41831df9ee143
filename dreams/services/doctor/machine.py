"""The machine and this installation: versions, settings, disk, the fence that the system offers, time zone."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
import zoneinfo
from importlib import metadata
from pathlib import Path

import django
from django.conf import settings
from django.core import checks as system
from django.utils import timezone

from dreams import conf
from dreams.lib.sandbox.tool_worker import fences
from dreams.services.doctor.check import Check, State
from memoryweb import version

LITTLE_SPACE = 200 * 1024**2
SOME_SPACE = 1024**3
PACKAGES = ("django-q2", "anthropic", "dulwich", "waitress")
PRIVATE_FILES = ("secret_key", "memoryweb.sqlite3")
INSTALL = (
    "For a fence, install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`) where user namespaces are "
    "allowed, or use Linux 5.13 or later with Landlock."
)


def versions() -> Check:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    python = ".".join(map(str, sys.version_info[:3]))
    return Check(
        "Version",
        "ok",
        f"memoryweb {version()}",
        f"Python {python}, Django {django.get_version()}, {packages}, SQLite {sqlite3.sqlite_version}",
    )


def configuration() -> Check:
    errors = [found for found in system.run_checks() if found.level >= system.ERROR]
    if not errors:
        return Check("Settings", "ok", "They fit together")
    said = " ".join(str(error.msg) for error in errors)
    return Check("Settings", "bad", said, remedy=" ".join(str(error.hint) for error in errors if error.hint))


def data_directory() -> Check:
    """The database, the keys and the history are the person's alone."""
    data = Path(settings.DATA_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        remedy = "Give it to this account, or set MEMORYWEB_DATA_DIR."
        return Check("Data directory", "bad", f"{data} cannot be written to", remedy=remedy)
    # A file's own mode counts also in a private folder: a copy of it keeps the mode.
    shared = [path for path in (data, *(data / name for name in PRIVATE_FILES)) if _is_shared(path)]
    if shared:
        names = ", ".join(str(path) for path in shared)
        return Check("Data directory", "warn", "Others can read it", names, f"Run `chmod -R go= {data}`.")
    return Check("Data directory", "ok", f"Private (mode {_mode(data):o})", str(data))


def _is_shared(path: Path) -> bool:
    return path.exists() and bool(_mode(path) & 0o077)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _size(count: int) -> str:
    """Bytes in words; little is not rounded to nothing."""
    return f"{count / 1024**3:.1f} GB" if count >= 1024**3 else f"{count // 1024**2} MB"


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    state: State = "bad" if free < LITTLE_SPACE else "warn" if free < SOME_SPACE else "ok"
    remedy = "" if state == "ok" else "Make room on this disk."
    return Check("Disk", state, f"{_size(free)} free", str(settings.DATA_DIR), remedy)


def sandbox() -> Check:
    """The system's own fence around a model's tools; the tools have their checks beneath it."""
    found = fences.offered()
    if found.has_os_sandbox:
        missing = [] if found.landlock else ["the kernel has no Landlock"]
        missing += [found.trouble] if found.trouble else []
        detail = "Fences a model's tools in, beside their own checks" + "".join(
            f"; {said}" for said in missing
        )
        # One layer is enough: what is missing is told, and nothing need be done.
        return Check("Sandbox", "ok", " and ".join(found.layers), detail)
    detail = f"The kernel has no Landlock, and {found.trouble}"
    if conf.current().require_os_sandbox:
        remedy = f"{INSTALL} Or switch off “Refuse to dream without an OS sandbox” in Settings."
        return Check("Sandbox", "bad", "The system has none, and Settings ask for one", detail, remedy)
    return Check("Sandbox", "info", "Built-in checks only", detail, f"Nothing need be done. {INSTALL}")


def time_zone() -> Check:
    name = conf.current().time_zone or settings.TIME_ZONE
    try:
        zone = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        remedy = "Set MEMORYWEB_TIME_ZONE, such as Europe/Berlin."
        return Check("Time zone", "bad", f"{name} is not known here", remedy=remedy)
    return Check("Time zone", "ok", name, f"Now {timezone.localtime(timezone=zone):%Y-%m-%d %H:%M %Z}")
