"""What is installed, what runs, and what would stop a dream: one small check each, with its remedy.

The one list of checks: the command prints it, the health page shows it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from django.utils import timezone

from dreams.services import hosts
from dreams.services.doctor import rows
from dreams.services.doctor.rows import Check, State, ask_a_model, safely

__all__ = ["Check", "State", "examine", "examine_other", "worst_first"]

_ORDER: Sequence[State] = ("bad", "warn", "ok", "info")


def examine(
    now: dt.datetime | None = None, *, thorough: bool = False, connection: bool = False
) -> list[Check]:
    """Every check, in reading order. `thorough` also reads back everything that is kept, which takes a while;
    `connection` also asks the model a question."""
    at = now or timezone.now()
    here = hosts.host()
    todo: Sequence[tuple[str, Callable[[], Check]]] = (
        ("Version", rows.versions),
        ("Settings", rows.configuration),
        ("Data directory", rows.data_directory),
        ("Disk", rows.disk),
        ("Database", rows.database),
        ("Config folders", rows.roots),
        ("Watching", rows.watched),
        ("Prompt history", rows.prompt_history),
        ("Host", rows.host_here),
        ("Server", rows.server),
        ("Scheduler", lambda: rows.ticks(at)),
        ("Workers", lambda: rows.workers(at)),
        ("Dreaming", lambda: rows.dreams(at, here)),
        ("Schedule", lambda: rows.schedule(here)),
        ("Engine", rows.engine),
        ("Sandbox", rows.sandbox),
        ("Time zone", rows.time_zone),
        ("Kept data", lambda: rows.kept(thorough=thorough)),
        *([("Connection", ask_a_model)] if connection else []),
    )
    return [safely(name, check) for name, check in todo]


def examine_other(one: hosts.Known, now: dt.datetime | None = None) -> list[Check]:
    """What can be said of another host from here: what the database knows of it."""
    at = now or timezone.now()
    return [
        safely("Host", lambda: rows.host_there(one)),
        safely("Dreaming", lambda: rows.dreams(at, one.key)),
        safely("Schedule", lambda: rows.schedule(one.key)),
    ]


def worst_first(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: _ORDER.index(check.state))
