"""What dreams need: folders to read, an engine that can run, and nobody who paused them."""

from __future__ import annotations

import datetime as dt
import os

from django.conf import settings

from dreams import conf, demo, discovery
from dreams.doctor.check import Check
from dreams.models import DreamRun, Project
from dreams.text import plural

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
        remedy = "Switch “Pause all dreaming” off in Settings, When."
        return Check("Dreaming", "bad", "Paused everywhere", remedy=remedy)
    recent = DreamRun.objects.filter(status=DreamRun.Status.FAILED, ended_at__gt=now - RECENT).count()
    failed = f"{plural(recent, 'failed dream')} in the last 7 days"
    failing = list(Project.objects.filter(failures__gt=0, gone_at__isnull=True).order_by("-failures"))
    if failing:
        names = ", ".join(str(project) for project in failing[:MOST_NAMES])
        last = DreamRun.objects.filter(project=failing[0], status=DreamRun.Status.FAILED).first()
        why = f" ({last.error})" if last else ""
        remedy = "Each is tried again later by itself; the failed dream's page says what to do."
        return Check("Dreaming", "warn", f"Failing: {names}{why}", failed, remedy)
    said = f"On; {plural(DreamRun.objects.count(), 'dream')} so far, none failing"
    return Check("Dreaming", "ok", said, failed)


def engine() -> Check:
    config = conf.current()
    if config.engine == "rules":
        key = "A key is in the environment" if settings.HAS_API_KEY else "No key, and none is needed"
        return Check("Engine", "ok", "Rules, offline", key)
    if not settings.HAS_API_KEY and not os.environ.get("ANTHROPIC_BASE_URL"):
        remedy = "Set ANTHROPIC_API_KEY and start again, or choose the rules engine in Settings."
        return Check("Engine", "bad", f"Model {config.model} is chosen, but there is no key", remedy=remedy)
    return Check("Engine", "ok", f"Model {config.model}")
