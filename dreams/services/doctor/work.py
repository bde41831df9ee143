"""The checks of `doctor` of what dreams need and of what runs, one function each."""

import datetime as dt
import os
import shutil
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.lib import amounts
from dreams.lib.agents import registry
from dreams.lib.files.text import is_folder, plural
from dreams.models import DreamRun, HistoryFile, Project, ScheduledJob
from dreams.services import demo, discovery, hosts, notify, server_registry
from dreams.services.discovery import watching
from dreams.services.doctor.check import MOST_NAMES, NO_SPACE, Check
from dreams.services.hosts import cluster_name, host
from dreams.services.scheduling import scheduler
from memoryweb import env, faults, typed

# What dreams need: folders, an engine, and no pause.


RECENT = dt.timedelta(days=7)  # older failures are not reported; chosen


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
    unread = [f"{root} is {why}" for root in found if (why := registry.why_unread(root))]
    if missing or unread:
        said = "; ".join([*([f"Not found: {missing}"] if missing else []), *unread])
        return Check("Config folders", "warn", said, f"{number} in {names}", remedy)
    if closed := [one.memory_dir for one in projects if _is_closed(one.memory_dir)]:
        said = f"No right to read and write {plural(len(closed), 'memory directory', 'memory directories')}"
        remedy = "Give yourself the right to it, or turn off dreams for its project."
        return Check("Config folders", "warn", said, ", ".join(closed[:MOST_NAMES]), remedy)
    return Check("Config folders", "ok", number + (" (the demo)" if demo.is_shown() else ""), names)


def _is_closed(folder: str) -> bool:
    """Whether a memory directory is there, or cannot be seen, and we may not write in it."""
    try:
        Path(folder).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return not os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def watched() -> Check:
    """Whether folders are watched; if not, changes are found at the next check."""
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
    """How much of the agents' prompt history could be read and assigned to projects."""
    files = list(HistoryFile.objects.filter(host=host()).order_by("root"))
    if not files:
        return Check("Prompt history", "ok", "None found")
    unread, unplaced = sum(one.malformed_lines for one in files), sum(one.unplaced for one in files)
    told = [f"{plural(unread, 'line')} could not be read"] if unread else []
    told += [f"{plural(unplaced, 'prompt')} from folders of no known project"] if unplaced else []
    lines = plural(sum(one.line_no for one in files), "line")
    # No remedy: the file belongs to the agent, and prompts are assigned once their project exists.
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
    over = runs.filter(started_at__isnull=False, ended_at__isnull=False).count()
    said = f"On; {plural(over, 'dream')} so far, no project is failing now"
    return Check("Dreaming", "ok", said, failed)


def schedule(of: str) -> Check:
    """Failing jobs of one host, and an address for digests that no job sends to."""
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
    """The default engine, and whether projects with a model can reach it."""
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
    """The name of this host, and the other hosts."""
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


def _seen(one: hosts.KnownHost) -> str:
    return f"{one.name} ({one.seen})"


def host_there(one: hosts.KnownHost) -> Check:
    """Another host, as far as the database knows."""
    projects = plural(one.projects, "project")
    if one.is_away:
        remedy = f"Start `serve` or `cluster` on {one.name}."
        return Check("Host", "warn", f"{_seen(one)} is away", projects, remedy)
    return Check("Host", "ok", _seen(one), projects)


# A tick is due every minute and checked every half minute.
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
    """When the scheduler last ticked; if it is late although a server runs, no dream starts."""
    found = cache.get(scheduler.LAST_TICK)
    last = dt.datetime.fromisoformat(found) if found else None
    if last is not None and abs(now - last) < LATE:  # later: by a clock that ran ahead
        if failures := cache.get(scheduler.LAST_FAILURES):
            said = f"Running, but {plural(len(failures), 'step')} of its last check failed"
            remedy = (
                f"If it stays, report it with the traceback in {faults.file_in(Path(settings.DATA_DIR))}."
            )
            return Check("Scheduler", "warn", said, "; ".join(failures[:MOST_NAMES]), remedy)
        return Check("Scheduler", "ok", "Running", f"Ran {amounts.ago(last, now)}")
    said = f"Stopped {amounts.ago(last, now)}" if last else "Has never run"
    if last and last > now:
        said = "Not known yet, as the clock was set back since its last check"
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
