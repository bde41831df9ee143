"""Whether a project's sessions are read for what the person said: the gates of a dream that are about switches and money.

The budget is asked for one window, and again before each request. Time, throttle, sessions and review do not matter, and
no lock is taken; while somebody dreams, reading waits.
"""

from __future__ import annotations

import datetime as dt

from dreams import conf
from dreams.models import DreamRun, Project
from dreams.services import forecast
from dreams.services.scheduling import gates
from dreams.services.scheduling.gate_inputs import Everywhere, facts_of, paid, why_closed

NAMES = ("paused", "project", "memory", "mode", "engine", "budget")


def closed(project: Project, everywhere: Everywhere, now: dt.datetime) -> str:
    """Why nothing is caught in this project now, with the remedy; empty when it is."""
    config = everywhere.config(project)
    if not config.catching:
        return "Catching is off here; switch it on in the settings."
    return why_closed(
        project,
        everywhere,
        now,
        NAMES,
        engine=config.catch_engine,
        spending=lambda: _spending(project, config, now),
    )


def _spending(project: Project, config: conf.Config, now: dt.datetime) -> gates.SpendingFact:
    if config.catch_engine == "rules":
        return gates.SpendingFact(free=True)
    return paid(project, config, now, forecast.of_a_window(project, config.model), "reading ten messages")


def is_dreaming(project: Project, everywhere: Everywhere, now: dt.datetime) -> bool:
    """Whether a dream of ours is pending or running, or somebody holds the lock."""
    unfinished = (DreamRun.Status.PENDING, DreamRun.Status.RUNNING)
    return (
        project.dreams.filter(status__in=unfinished).exists()
        or facts_of(project, everywhere, now).lock().held
    )
