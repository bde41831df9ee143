"""The checks of `doctor`, one function each: what was found, in words, and what to do if something is wrong."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sqlite3
import stat
import sys
import zoneinfo
from collections.abc import Callable
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
from django.utils.text import capfirst

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.engines.anthropic.probe import probe
from dreams.lib import amounts
from dreams.lib.files.text import is_folder, plural
from dreams.lib.sandbox.tool_worker import fences
from dreams.lib.storage.history import HistoryError
from dreams.models import DreamRun, HistoryFile, Project, ScheduledJob
from dreams.services import auditlog, demo, discovery, hosts, notify, server_registry, verifying
from dreams.services.discovery import watching
from dreams.services.hosts import cluster_name, host
from dreams.services.scheduling import scheduler
from dreams.services.search import postgresql
from memoryweb import env, faults, typed, version

# `bad` stops every dream; `warn` is what a person should know of; `info` was not looked at.
State = Literal["ok", "warn", "bad", "info"]


@dataclass(frozen=True, slots=True)
class Check:
    """`said` is what was found; `detail` adds to it."""

    name: str
    state: State
    said: str
    detail: str = ""
    remedy: str = ""


def safely(name: str, check: Callable[[], Check]) -> Check:
    """One check that fails hides no other: this is where one looks when things fail."""
    try:
        return check()
    except DatabaseError as error:
        return Check(name, "bad", f"The database does not answer: {error}", remedy="See Database.")
    except conf.BadValue:
        # The check of the settings names it; here it would hide what else there is.
        return Check(name, "info", "Not checked: a setting is invalid", remedy="The Settings row says which.")
    except (HistoryError, OSError, ValueError) as error:
        said = f"This could not be checked: {error}"
        return Check(name, "bad", said, remedy="Fix what the message names.")


# What dreams need: folders to read, an engine that can run, and nobody who paused them.


RECENT = dt.timedelta(days=7)  # what failed longer ago is no news; chosen
MOST_NAMES = 5  # in one line; chosen


def roots() -> Check:
    chosen = discovery.configured_roots()
    found = [root for root in chosen if is_folder(root)]
    missing = ", ".join(str(root) for root in chosen if root not in found)
    remedy = "Correct them in Settings, Places, or in MEMORYWEB_ROOTS."
    if not found:
        return Check("Config folders", "bad", f"None found: {missing}", remedy=remedy)
    projects = _projects_on(host())
    number = plural(len(projects), "project")
    names = ", ".join(str(root) for root in found)
    if missing:
        return Check("Config folders", "warn", f"Not found: {missing}", f"{number} in {names}", remedy)
    folders = [one.memory_dir for one in projects if is_folder(one.memory_dir)]
    if closed := [folder for folder in folders if not os.access(folder, os.R_OK | os.W_OK | os.X_OK)]:
        said = f"No right to read and write {plural(len(closed), 'memory directory', 'memory directories')}"
        remedy = "Give yourself the right to it, or turn off dreams for its project."
        return Check("Config folders", "warn", said, ", ".join(closed[:MOST_NAMES]), remedy)
    return Check("Config folders", "ok", number + (" (the demo)" if demo.is_shown() else ""), names)


def watched() -> Check:
    """Nothing is wrong where folders are not watched: changes are found at the next check."""
    every = f"Others are checked every {conf.current().scan_minutes:g} min"
    if not conf.current().watch:
        return Check(
            "Watching", "info", "Folders are not watched (turned off in Settings)", every, "Settings, When"
        )
    found = watching.plan()
    here = plural(sum(not one.why_not for one in found), "folder")
    apart = "; ".join(f"{one.path}: {one.why_not}" for one in found if one.why_not)
    if apart:
        remedy = "Settings, When, says how often they are checked."
        return Check("Watching", "info", f"{here} watched for changes. Not watched: {apart}", every, remedy)
    return Check("Watching", "ok", f"{here} watched for changes")


def prompt_history() -> Check:
    """How much of the agents' prompt history could be read and placed."""
    files = list(HistoryFile.objects.filter(host=host()).order_by("root"))
    if not files:
        return Check("Prompt history", "ok", "None found")
    unread, unplaced = sum(one.malformed_lines for one in files), sum(one.unplaced for one in files)
    told = [f"{plural(unread, 'line')} could not be read"] if unread else []
    told += [f"{plural(unplaced, 'prompt')} from folders of no known project"] if unplaced else []
    lines = plural(sum(one.line_no for one in files), "line")
    # Nothing is to be done: the file is the agent's, and what has no project yet is placed when there is one.
    return Check("Prompt history", "ok", "; ".join((lines, *told)), ", ".join(map(str, files)))


def dreams(now: dt.datetime, of: str) -> Check:
    if conf.current().paused:
        remedy = "Resume it at the end of Settings."
        return Check("Dreaming", "bad", "Paused everywhere", remedy=remedy)
    runs = DreamRun.objects.filter(project__host=of)
    recent = runs.filter(status=DreamRun.Status.FAILED, ended_at__gt=now - RECENT).count()
    failed = f"{plural(recent, 'failed dream')} in the last 7 days"
    rows = Project.objects.filter(failures__gt=0, gone_at__isnull=True, host=of)
    failing = list(rows.order_by("-failures"))
    if failing:
        names = ", ".join(str(project) for project in failing[:MOST_NAMES])
        last = DreamRun.objects.filter(project=failing[0], status=DreamRun.Status.FAILED).first()
        why = f"{failing[0]}: {last.error} " if last and last.error else ""
        remedy = "The page of each failed dream says what to do, and whether it is retried automatically."
        return Check("Dreaming", "warn", f"Failing: {names}", f"{why}{failed}", remedy)
    said = f"On; {plural(runs.count(), 'dream')} so far, none failing"
    return Check("Dreaming", "ok", said, failed)


def schedule(of: str) -> Check:
    """Jobs of one host that fail, and a digest that has an address and nobody who sends it, or the reverse."""
    every = list(ScheduledJob.objects.filter(ended_at__isnull=True).select_related("project"))
    rows = [row for row in every if row.host == of]
    failing = [str(row) for row in rows if row.failures]
    if failing:
        remedy = "The Schedule page says why."
        return Check("Schedule", "warn", f"Failing: {', '.join(failing[:MOST_NAMES])}", remedy=remedy)
    has_digest = any(row.kind == ScheduledJob.Kind.DIGEST for row in every)
    if notify.configured() and not has_digest:
        remedy = 'Add a job: `jobs add "0 8 * * *" digest`.'
        return Check("Schedule", "warn", "A digest has an address, but no job sends it", remedy=remedy)
    if env.text("MEMORYWEB_DIGEST_HOURS"):
        said = "MEMORYWEB_DIGEST_HOURS is no longer used"
        return Check("Schedule", "warn", said, remedy="Remove it. The times of the digest are on Schedule.")
    following = min((row.next_at for row in rows if row.next_at), default=None)
    coming = f"the next {amounts.until(following, timezone.now())}" if following else ""
    return Check("Schedule", "ok", plural(len(rows), "job"), coming)


def engine() -> Check:
    """Everywhere's engine, and whether the projects that chose a model can ask one."""
    found = keys.state()
    overrides = conf.Overrides.load()
    config = overrides.config(None)
    waiting = [p for p in _projects_on(host()) if overrides.config(p.pk).engine != "rules"]
    if config.engine == "rules" and not waiting:
        return Check("Engine", "ok", "Rules, offline", _key_in_words(found))
    said = (
        f"Model {config.model}"
        if config.engine != "rules"
        else f"A model for {plural(len(waiting), 'project')}"
    )
    if not found.usable:
        return Check("Engine", "bad", f"{said} is chosen, but there is no usable key", remedy=found.remedy)
    return Check("Engine", "ok", f"{said} at {found.host}", f"Key: {found.said}")


def _projects_on(of: str) -> list[Project]:
    return list(Project.objects.filter(gone_at__isnull=True, host=of).only("memory_dir"))


def _key_in_words(found: keys.KeyState) -> str:
    return f"Key: {found.said}" if found.usable else "No key, and none is needed"


# What runs: this host and the others, the server, its scheduler, its workers.


def host_here() -> Check:
    """What this host is called, and which others there are."""
    found = hosts.known()
    others = [one for one in found if not one.is_here]
    mine = next((one.name for one in found if one.is_here), "") or hosts.name_of(host())
    detail = "Others: " + "; ".join(_seen(one) for one in others[:MOST_NAMES]) if others else "The only one"
    unknown = sorted(hosts.unnamed())
    if unknown:
        names = ", ".join(unknown[:MOST_NAMES])
        remedy = f"If one of them is this computer’s former name: `hosts adopt {unknown[0]}`."
        return Check("Host", "warn", mine, f"Projects of hosts that never came back: {names}", remedy)
    if former := hosts.before_another_id():
        said = f"{mine} is another host than {former}, which has the same name and folders: `host_id` was replaced"
        remedy = f"Put the former file back into {settings.DATA_DIR}, or take the projects over: `hosts adopt {former}`."
        return Check("Host", "warn", said, detail, remedy)
    return Check("Host", "ok", mine, detail)


def _seen(one: hosts.Known) -> str:
    return f"{one.name} ({amounts.ago(one.last_seen, timezone.now()) if one.last_seen else 'not seen yet'})"


def host_there(one: hosts.Known) -> Check:
    """Another host, as far as the database tells."""
    projects = plural(one.projects, "project")
    if one.is_away:
        remedy = f"Start `serve` or `cluster` on {one.name}."
        return Check("Host", "warn", f"{_seen(one)} is away", projects, remedy)
    return Check("Host", "ok", _seen(one), projects)


# A tick is due every minute and is looked for every half minute.
LATE = dt.timedelta(minutes=3)


def server() -> Check:
    running = server_registry.running()
    if running is None:
        remedy = f"Start one with `{typed('serve')}`. Until then dreams start by command only."
        return Check("Server", "warn", "None runs on this data directory", remedy=remedy)
    if running.is_outdated:
        said = f"{running.address} is still running an earlier version of memoryweb"
        remedy = "Stop `serve` and start it again; until then pages and dreams may fail."
        return Check("Server", "warn", said, f"Process {running.pid}", remedy)
    return Check("Server", "ok", running.address, f"Process {running.pid}")


def ticks(now: dt.datetime) -> Check:
    """The scheduler's own mark. Late although a server runs, it stops every dream."""
    found = cache.get(scheduler.LAST_TICK)
    last = dt.datetime.fromisoformat(found) if found else None
    if last is not None and now - last < LATE:
        if failures := cache.get(scheduler.LAST_FAILURES):
            said = f"Running, but {plural(len(failures), 'step')} of its last check failed"
            remedy = (
                f"If it stays, report it with the traceback in {faults.file_in(Path(settings.DATA_DIR))}."
            )
            return Check("Scheduler", "warn", said, "; ".join(failures[:MOST_NAMES]), remedy)
        return Check("Scheduler", "ok", "Running", f"Ran {amounts.ago(last, now)}")
    said = f"Stopped {amounts.ago(last, now)}" if last else "Has never run"
    return _standing_still("Scheduler", said, "No dream starts automatically", now)


def workers(now: dt.datetime) -> Check:
    from django_q.models import OrmQ  # noqa: PLC0415 - the queue reads its settings on import
    from django_q.status import Stat  # noqa: PLC0415 - as above

    ready = sum(len(cluster.workers) for cluster in Stat.get_all())
    waiting = f"{plural(OrmQ.objects.filter(key=cluster_name(host())).count(), 'task')} waiting"
    if ready:
        return Check("Workers", "ok", f"{ready} ready", waiting)
    return _standing_still("Workers", "None", waiting, now)


def _standing_still(name: str, said: str, detail: str, now: dt.datetime) -> Check:
    running = server_registry.running()
    if running is None:
        return Check(name, "warn", said, detail, f"Start it with `{typed('serve')}`.")
    if shutil.disk_usage(settings.DATA_DIR).free < NO_SPACE:
        remedy = "The disk is full: memoryweb cannot record that it runs. Make room on this disk."
        return Check(name, "warn", "Not known", detail, remedy)
    if now - running.since < LATE:
        since = amounts.ago(running.since, now)
        return Check(name, "warn", said, detail, f"The server was started {since}; look again in a minute.")
    remedy = "If this stays for five minutes, stop `serve` and start it again; its last lines say why."
    return Check(name, "bad", said, detail, remedy)


# What is kept: the database, and everything that was ever stored, read back.


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
    """Histories, texts, journals and the audit log, each as it was written?"""
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
    worst = report.problems[0]
    detail = f"In {worst.where}; {plural(len(report.problems), 'problem')} in {read}; `verify` names each"
    return Check("Kept data", "bad", capfirst(worst.what), detail, worst.remedy)


# The machine and this installation: versions, settings, disk, the fence that the system offers, time zone.


NO_SPACE = 10**6  # below it not even a small file of the cache can be written; chosen
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
        return Check("Settings", "ok", "They fit together")
    said = " ".join(str(error.msg) for error in errors)
    return Check("Settings", "bad", said, remedy=" ".join(str(error.hint) for error in errors if error.hint))


def data_directory() -> Check:
    """The database, the keys and the history are the person's alone."""
    data = Path(settings.DATA_DIR)
    if not os.access(data, os.W_OK | os.X_OK):
        remedy = "Make this account its owner, or set MEMORYWEB_DATA_DIR."
        return Check("Data directory", "bad", f"{data} cannot be written to", remedy=remedy)
    # A file's own mode counts also in a private folder: a copy of it keeps the mode.
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
    return Check("Disk", state, f"{amounts.bytes_(free)} free", str(settings.DATA_DIR), remedy)


def sandbox() -> Check:
    """The system's own fence around a model's tools; the tools have their checks beneath it."""
    found = fences.offered()
    if found.has_os_sandbox:
        missing = [] if found.landlock else ["the kernel has no Landlock"]
        missing += [found.trouble] if found.trouble else []
        detail = "Isolates a model's tools, in addition to their own checks" + "".join(
            f"; {said}" for said in missing
        )
        # One layer is enough: what is missing is told, and nothing need be done.
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
    """It goes over the network and uses some hundred tokens; nothing of a memory is sent."""
    found = probe(conf.current().model)
    facts = "; ".join(f"{name}: {said}" for name, said in found.facts)
    return Check("Connection", "ok" if found.ok else "bad", found.said.rstrip("."), facts, found.remedy)
