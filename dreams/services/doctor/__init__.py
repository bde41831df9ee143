"""Checks what is installed, what runs and what would stop a dream; each check names a remedy.

The one list of checks: the command prints it, the health page shows it.
"""

import datetime as dt
from collections.abc import Callable, Sequence

from django.utils import timezone

from dreams.services import hosts
from dreams.services.doctor import installation, work
from dreams.services.doctor.check import Check, State, safely

_ORDER: Sequence[State] = ("bad", "warn", "ok", "info")


def examine(
    now: dt.datetime | None = None, *, thorough: bool = False, connection: bool = False
) -> list[Check]:
    """All checks, in reading order. `thorough` also verifies everything stored, which takes a while; `connection` also asks the
    model a question."""
    at = now or timezone.now()
    here = hosts.host()
    todo: Sequence[tuple[str, Callable[[], Check]]] = (
        ("Version", installation.versions),
        ("Settings", installation.configuration),
        ("Data directory", installation.data_directory),
        ("Disk", installation.disk),
        ("Database", installation.database),
        ("Config folders", work.roots),
        ("Watching", work.watched),
        ("Prompt history", work.prompt_history),
        ("Host", work.host_here),
        ("Server", work.server),
        ("Scheduler", lambda: work.ticks(at)),
        ("Workers", lambda: work.workers(at)),
        ("Dreaming", lambda: work.dreams(at, here)),
        ("Schedule", lambda: work.schedule(here)),
        ("Engine", work.engine),
        ("Sandbox", installation.sandbox),
        ("Time zone", installation.time_zone),
        ("Kept data", lambda: installation.kept(thorough=thorough)),
        *([("Connection", installation.ask_a_model)] if connection else []),
    )
    return [safely(name, check) for name, check in todo]


def examine_other(one: hosts.KnownHost, now: dt.datetime | None = None) -> list[Check]:
    """Checks of another host, as far as the database knows."""
    at = now or timezone.now()
    return [
        safely("Host", lambda: work.host_there(one)),
        safely("Dreaming", lambda: work.dreams(at, one.key)),
        safely("Schedule", lambda: work.schedule(one.key)),
    ]


def worst_first(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: _ORDER.index(check.state))
