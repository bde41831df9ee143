"""What dreams need: folders to read, an engine that can run, and nobody who paused them."""

from __future__ import annotations

import datetime as dt

from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.lib import ages
from dreams.lib.files.text import plural
from dreams.models import DreamRun, Project, ScheduledJob
from dreams.services import demo, discovery, notify
from dreams.services.doctor.check import Check
from memoryweb import env

RECENT = dt.timedelta(days=7)
MOST_NAMES = 5


def roots() -> Check:
    chosen = discovery.configured_roots()
    found = [root for root in chosen if root.is_dir()]
    missing = ", ".join(str(root) for root in chosen if root not in found)
    if not found:
        remedy = "Set MEMORYWEB_ROOTS, or start `serve`, which makes a demo."
        return Check("Config folders", "bad", f"None found: {missing}", remedy=remedy)
    number = plural(Project.objects.filter(gone_at__isnull=True).count(), "project")
    names = ", ".join(str(root) for root in found)
    if missing:
        remedy = "Correct them in Settings, Places, or in MEMORYWEB_ROOTS."
        return Check("Config folders", "warn", f"Not found: {missing}", f"{number} in {names}", remedy)
    return Check("Config folders", "ok", number + (" (the demo)" if demo.is_shown() else ""), names)


def dreams(now: dt.datetime) -> Check:
    if conf.current().paused:
        remedy = "Resume it at the end of Settings."
        return Check("Dreaming", "bad", "Paused everywhere", remedy=remedy)
    recent = DreamRun.objects.filter(status=DreamRun.Status.FAILED, ended_at__gt=now - RECENT).count()
    failed = f"{plural(recent, 'failed dream')} in the last 7 days"
    failing = list(Project.objects.filter(failures__gt=0, gone_at__isnull=True).order_by("-failures"))
    if failing:
        names = ", ".join(str(project) for project in failing[:MOST_NAMES])
        last = DreamRun.objects.filter(project=failing[0], status=DreamRun.Status.FAILED).first()
        why = f"{failing[0]}: {last.error} " if last and last.error else ""
        remedy = "Each is retried automatically; the page of the failed dream says what to do."
        return Check("Dreaming", "warn", f"Failing: {names}", f"{why}{failed}", remedy)
    said = f"On; {plural(DreamRun.objects.count(), 'dream')} so far, none failing"
    return Check("Dreaming", "ok", said, failed)


def schedule() -> Check:
    """Jobs that fail, and a digest that has an address and nobody who sends it, or the reverse."""
    rows = list(ScheduledJob.objects.filter(ended_at__isnull=True).select_related("project"))
    failing = [str(row) for row in rows if row.failures]
    if failing:
        remedy = "The page Schedule says why."
        return Check("Schedule", "warn", f"Failing: {', '.join(failing[:MOST_NAMES])}", remedy=remedy)
    has_digest = any(row.kind == ScheduledJob.Kind.DIGEST for row in rows)
    if notify.configured() and not has_digest:
        remedy = 'Add a job: `jobs add "0 8 * * *" digest`.'
        return Check("Schedule", "warn", "A digest has an address, but no job sends it", remedy=remedy)
    if env.text("MEMORYWEB_DIGEST_HOURS"):
        said = "MEMORYWEB_DIGEST_HOURS is no longer used"
        return Check("Schedule", "warn", said, remedy="Remove it. The times of the digest are on Schedule.")
    following = min((row.next_at for row in rows if row.next_at), default=None)
    coming = f"the next {ages.until(following, timezone.now())}" if following else ""
    return Check("Schedule", "ok", plural(len(rows), "job"), coming)


def engine() -> Check:
    """Everywhere's engine, and whether the projects that chose a model can ask one."""
    found = keys.state()
    overrides = conf.Overrides.load()
    config = overrides.config(None)
    waiting = [p for p in _present() if overrides.config(p.pk).engine != "rules"]
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


def _present() -> list[Project]:
    return list(Project.objects.filter(gone_at__isnull=True).only("pk"))


def _key_in_words(found: keys.KeyState) -> str:
    return f"Key: {found.said}" if found.usable else "No key, and none is needed"
