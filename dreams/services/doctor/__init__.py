"""Checks what is installed, what runs and what would stop a dream; each check names a remedy.

The one list of checks: the command prints it, the health page shows it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from django.utils import timezone

from dreams.services import hosts
from dreams.services.doctor import checks
from dreams.services.doctor.checks import Check, State, ask_a_model, safely

_ORDER: Sequence[State] = ("bad", "warn", "ok", "info")


def examine(
    now: dt.datetime | None = None, *, thorough: bool = False, connection: bool = False
) -> list[Check]:
    """Every check, in reading order. `thorough` also reads back everything that is kept, which takes a while;
    `connection` also asks the model a question."""
    at = now or timezone.now()
    here = hosts.host()
    todo: Sequence[tuple[str, Callable[[], Check]]] = (
        ("Version", checks.versions),
        ("Settings", checks.configuration),
        ("Data directory", checks.data_directory),
        ("Disk", checks.disk),
        ("Database", checks.database),
        ("Config folders", checks.roots),
        ("Watching", checks.watched),
        ("Prompt history", checks.prompt_history),
        ("Host", checks.host_here),
        ("Server", checks.server),
        ("Scheduler", lambda: checks.ticks(at)),
        ("Workers", lambda: checks.workers(at)),
        ("Dreaming", lambda: checks.dreams(at, here)),
        ("Schedule", lambda: checks.schedule(here)),
        ("Engine", checks.engine),
        ("Sandbox", checks.sandbox),
        ("Time zone", checks.time_zone),
        ("Kept data", lambda: checks.kept(thorough=thorough)),
        *([("Connection", ask_a_model)] if connection else []),
    )
    return [safely(name, check) for name, check in todo]


def examine_other(one: hosts.Known, now: dt.datetime | None = None) -> list[Check]:
    """What can be said of another host from here: what the database knows of it."""
    at = now or timezone.now()
    return [
        safely("Host", lambda: checks.host_there(one)),
        safely("Dreaming", lambda: checks.dreams(at, one.key)),
        safely("Schedule", lambda: checks.schedule(one.key)),
    ]


def worst_first(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: _ORDER.index(check.state))
