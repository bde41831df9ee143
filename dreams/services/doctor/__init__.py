"""What is installed, what runs, and what would stop a dream: one small check each, with its remedy.

The one list of checks: the command prints it, the health page shows it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from django.utils import timezone

from dreams.services.doctor import dreaming, machine, running, store
from dreams.services.doctor.check import Check, State, safely
from dreams.services.doctor.connection import connection as ask_a_model

__all__ = ["Check", "State", "examine"]


def examine(
    now: dt.datetime | None = None, *, thorough: bool = False, connection: bool = False
) -> list[Check]:
    """Every check, in reading order. `thorough` also reads back everything that is kept, which takes a while;
    `connection` also asks the model a question."""
    at = now or timezone.now()
    todo: Sequence[tuple[str, Callable[[], Check]]] = (
        ("Version", machine.versions),
        ("Settings", machine.configuration),
        ("Data directory", machine.data_directory),
        ("Disk", machine.disk),
        ("Database", store.database),
        ("Config folders", dreaming.roots),
        ("Server", running.server),
        ("Scheduler", lambda: running.ticks(at)),
        ("Workers", lambda: running.workers(at)),
        ("Dreaming", lambda: dreaming.dreams(at)),
        ("Schedule", dreaming.schedule),
        ("Engine", dreaming.engine),
        ("Sandbox", machine.sandbox),
        ("Time zone", machine.time_zone),
        ("Kept data", lambda: store.kept(thorough=thorough)),
        *([("Connection", ask_a_model)] if connection else []),
    )
    return [safely(name, check) for name, check in todo]
