"""The machine and this installation: versions, settings, disk, the fence that the system offers, time zone."""

from __future__ import annotations

import ctypes
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
from dreams.doctor.check import Check, State
from memoryweb import version

LITTLE_SPACE = 200 * 1024**2
SOME_SPACE = 1024**3
PACKAGES = ("django-q2", "anthropic", "dulwich", "waitress")
PRIVATE_FILES = ("secret_key", "memoryweb.sqlite3")
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION = 1


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
        return Check("Data directory", "warn", "Others can read it", names, f"Run: chmod -R go= {data}")
    return Check("Data directory", "ok", f"Private (mode {_mode(data):o})", str(data))


def _is_shared(path: Path) -> bool:
    return path.exists() and bool(_mode(path) & 0o077)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    state: State = "bad" if free < LITTLE_SPACE else "warn" if free < SOME_SPACE else "ok"
    remedy = "" if state == "ok" else "Make room on this disk."
    return Check("Disk", state, f"{free / 1024**3:.1f} GB free", str(settings.DATA_DIR), remedy)


def sandbox() -> Check:
    """The system's own fence around a model's tools; the tools have their checks beneath it."""
    abi = landlock_abi()
    layers = [f"Landlock (ABI {abi})"] if abi else []
    layers += ["bubblewrap"] if shutil.which("bwrap") else []
    if layers:
        detail = "Fences a model's tools in, beside their own checks"
        return Check("Sandbox", "ok", " and ".join(layers), detail)
    if conf.current().require_os_sandbox:
        remedy = "Install bubblewrap, or switch off “Refuse to dream without an OS sandbox” in Settings."
        return Check("Sandbox", "bad", "The system has none, and Settings ask for one", remedy=remedy)
    detail = "The system offers neither Landlock nor bubblewrap"
    remedy = "Nothing need be done; bubblewrap would be a second fence."
    return Check("Sandbox", "info", "Built-in checks only", detail, remedy)


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
        remedy = "Set MEMORYWEB_TIME_ZONE, such as Europe/Berlin."
        return Check("Time zone", "bad", f"{name} is not known here", remedy=remedy)
    return Check("Time zone", "ok", name, f"Now {timezone.localtime(timezone=zone):%Y-%m-%d %H:%M %Z}")
