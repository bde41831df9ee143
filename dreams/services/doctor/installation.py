"""The checks of `doctor` of what is kept, the machine and this installation, one function each."""

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
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django.utils.text import capfirst

from dreams import conf
from dreams.engines.anthropic.probe import probe
from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.lib.sandbox.tool_worker import fences
from dreams.services import auditlog, verifying
from dreams.services.database import takes_no_file
from dreams.services.doctor.check import MOST_NAMES, Check, State
from dreams.services.search import postgresql
from memoryweb import version

# The database, and everything stored.


PRAGMAS = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")


def database() -> Check:
    executor = MigrationExecutor(connection)
    behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if behind:
        return Check(
            "Database",
            "warn",
            f"{plural(len(behind), 'step')} behind",
            remedy="Start `serve` again, or run any command that needs it: both update it.",
        )
    if connection.vendor == "postgresql":
        return _postgresql()
    found = {name: _pragma(name) for name in PRAGMAS}
    said = f"SQLite, journal mode {found['journal_mode']}"
    detail = f"{settings.DATABASES['default']['NAME']}, " + ", ".join(f"{k} {v}" for k, v in found.items())
    if found["journal_mode"] != "wal":
        remedy = "Move the data directory to a local disk: network disks cannot do WAL, and pages will wait for dreams."
        return Check("Database", "warn", said, detail, remedy)
    return Check("Database", "ok", said, detail)


def _postgresql() -> Check:
    """The server, the driver, and whether search has its index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'pg_trgm'), "
            "to_regclass(%s)::text",
            [postgresql.INDEX],
        )
        server, trigrams, index = cursor.fetchone()
    said = f"PostgreSQL {server}"
    driver = f"psycopg {metadata.version('psycopg')}"
    if not (trigrams and index):
        remedy = f"As an administrator of the database: CREATE EXTENSION IF NOT EXISTS pg_trgm; {postgresql.CREATE_INDEX}"
        return Check("Database", "warn", said, f"{driver}; search works without pg_trgm, only slower", remedy)
    return Check("Database", "ok", said, f"{driver}, pg_trgm {trigrams}")


def _pragma(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return str(cursor.fetchone()[0])


def kept(*, thorough: bool) -> Check:
    """Whether histories, texts, journals and the audit log are as they were written."""
    if not thorough and (cut := auditlog.cut_off()):
        return Check("Kept data", "bad", cut[0], "In the audit log", verifying.AUDIT_REMEDY)
    if not thorough and (lost := verifying.lost_histories()):
        said = f"{plural(len(lost), 'history is', 'histories are')} missing"
        names = ", ".join(str(path) for path in lost[:MOST_NAMES])
        return Check("Kept data", "warn", said, names, f"{verifying.REMEDY} {verifying.OR_ANEW}")
    if not thorough:
        remedy = "`doctor --thorough`, or “Check everything” on the health page, reads all of it back."
        return Check("Kept data", "info", "Not checked now", remedy=remedy)
    report = verifying.verify()
    read = verifying.counted(report.checked)
    if not report.problems:
        return Check("Kept data", "ok", "Intact", f"Checked: {read}")
    worst = report.worst
    detail = f"In {worst.where}; {plural(len(report.problems), 'problem')} in {read}; `verify` names each"
    return Check("Kept data", "bad", capfirst(worst.what), detail, worst.remedy)


# The machine and this installation: versions, settings, disk, the system's sandbox, time zone.


LITTLE_SPACE = 200 * 10**6  # below it writes may fail soon; chosen
SOME_SPACE = 10**9  # below it a copy of the database before an update may not fit; chosen
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
        unknown = " ".join(conf.unknown_in_environment())
        remedy = "Correct or unset what the environment has for nothing."
        good = Check("Settings", "ok", "They fit together")
        return Check("Settings", "warn", unknown, remedy=remedy) if unknown else good
    said = " ".join(str(error.msg) for error in errors)
    return Check("Settings", "bad", said, remedy=" ".join(str(error.hint) for error in errors if error.hint))


def data_directory() -> Check:
    """Whether only the person can read the database, the keys and the history."""
    data = Path(settings.DATA_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        remedy = "Make this account its owner, or set MEMORYWEB_DATA_DIR."
        return Check("Data directory", "bad", f"{data} cannot be written to", remedy=remedy)
    # The mode matters even in a private folder, as copies keep it.
    shared = [path for path in (data, *(data / name for name in PRIVATE_FILES)) if _is_shared(path)]
    if shared:
        names = ", ".join(str(path) for path in shared)
        return Check(
            "Data directory", "warn", "Other users can read it", names, f"Run `chmod -R go= {data}`."
        )
    return Check("Data directory", "ok", f"Private (mode {_mode(data):o})", str(data))


def _is_shared(path: Path) -> bool:
    return path.exists() and bool(_mode(path) & 0o077)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    state: State = "bad" if free < LITTLE_SPACE else "warn" if free < SOME_SPACE else "ok"
    remedy = "" if state == "ok" else "Make room on this disk."
    if takes_no_file():
        remedy = "Remove files from this disk: all its inodes are used."
        return Check("Disk", "bad", "No more files fit", str(settings.DATA_DIR), remedy)
    return Check("Disk", state, f"{amounts.bytes_(free)} free", str(settings.DATA_DIR), remedy)


def sandbox() -> Check:
    """The system's sandbox for a model's tools, in addition to their own checks."""
    found = fences.offered()
    if found.has_os_sandbox:
        missing = [] if found.landlock else ["the kernel has no Landlock"]
        missing += [found.trouble] if found.trouble else []
        detail = "Isolates a model’s tools, in addition to their own checks" + "".join(
            f"; {said}" for said in missing
        )
        # One layer is enough: missing ones are reported without a remedy.
        return Check("Sandbox", "ok", " and ".join(found.layers), detail)
    detail = f"The kernel has no Landlock, and {found.trouble}"
    if conf.current().require_os_sandbox:
        remedy = f"{INSTALL} Or switch off “Refuse to dream without an OS sandbox” in Settings."
        return Check("Sandbox", "bad", "This system has none, but the settings require one", detail, remedy)
    return Check("Sandbox", "info", "Built-in checks only", detail, f"Nothing needs to be done. {INSTALL}")


def time_zone() -> Check:
    name = conf.current().time_zone or settings.TIME_ZONE
    try:
        zone = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        remedy = "Set MEMORYWEB_TIME_ZONE, such as Europe/Berlin."
        return Check("Time zone", "bad", f"{name} is not known here", remedy=remedy)
    return Check("Time zone", "ok", name, f"Now {timezone.localtime(timezone=zone):%Y-%m-%d %H:%M %Z}")


def ask_a_model() -> Check:
    """Ask the model over the network, for some hundred tokens; sends nothing from memories."""
    found = probe(conf.current().model)
    facts = "; ".join(f"{name}: {said}" for name, said in found.facts)
    return Check("Connection", "ok" if found.ok else "bad", found.said.rstrip("."), facts, found.remedy)
