"""What runs: the server, its scheduler, its workers."""

from __future__ import annotations

import datetime as dt

from django.core.cache import cache

from dreams.lib import ages
from dreams.lib.files.text import plural
from dreams.services import server_registry
from dreams.services.doctor.check import Check
from dreams.services.hosts import cluster_name, host
from dreams.services.scheduling import scheduler

# A tick is due every minute and is looked for every half minute.
LATE = dt.timedelta(minutes=3)


def server() -> Check:
    running = server_registry.running()
    if running is None:
        remedy = "Start one with `python manage.py serve`. Until then dreams start by command only."
        return Check("Server", "warn", "None runs on this data directory", remedy=remedy)
    return Check("Server", "ok", running.address, f"Process {running.pid}")


def ticks(now: dt.datetime) -> Check:
    """The scheduler's own mark. Late although a server runs, it stops every dream."""
    found = cache.get(scheduler.LAST_TICK)
    last = dt.datetime.fromisoformat(found) if found else None
    if last is not None and now - last < LATE:
        return Check("Scheduler", "ok", "Running", f"Looked {ages.ago(last, now)}")
    said = f"Stopped {ages.ago(last, now)}" if last else "Has never looked"
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
        return Check(name, "warn", said, detail, "Start it with `python manage.py serve`.")
    if now - running.since < LATE:
        return Check(name, "warn", said, detail, "The server has just started; look again in a minute.")
    remedy = "If this stays for five minutes, stop `serve` and start it again; its last lines say why."
    return Check(name, "bad", said, detail, remedy)
