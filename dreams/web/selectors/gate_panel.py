"""The gates of one project now, closed ones first, and what a person's own start would have to pass."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from dreams import facts, gates, scheduler
from dreams.models import Project
from dreams.text import plural
from dreams.web.selectors.gate_names import GATES
from dreams.web.selectors.projects import ACTIVE, without_distance


@dataclass(frozen=True, slots=True)
class Gate:
    name: str
    label: str
    icon: str
    passed: bool
    reason: str
    opens_at: dt.datetime | None
    forceable: bool


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a project now, and what a person's own start would have to pass."""

    gates: list[Gate]
    supersedes: str
    dream: str
    dream_status: str

    @property
    def closed(self) -> list[Gate]:
        return [gate for gate in self.gates if not gate.passed]

    @property
    def opened(self) -> list[Gate]:
        return [gate for gate in self.gates if gate.passed]

    @property
    def is_open(self) -> bool:
        return not self.closed

    @property
    def blocking(self) -> list[Gate]:
        """Closed gates that no force passes."""
        return [gate for gate in self.closed if not gate.forceable]

    @property
    def opens_at(self) -> dt.datetime | None:
        """When all are open, if every closed one opens by itself."""
        moments = [gate.opens_at for gate in self.closed]
        known = [moment for moment in moments if moment is not None]
        return max(known) if known and len(known) == len(moments) else None

    @property
    def untimed_words(self) -> str:
        """The closed gates that no moment opens, as a sentence without its end."""
        names = [gate.label for gate in self.closed if gate.opens_at is None]
        return f"The {_listed(names)} gate{'s do' if len(names) > 1 else ' does'} not open by the clock"

    @property
    def last_to_open(self) -> Gate | None:
        """The one that opens last among those that open by themselves."""
        timed = [(gate.opens_at, number) for number, gate in enumerate(self.closed) if gate.opens_at]
        return self.closed[max(timed)[1]] if timed else None

    @property
    def headline(self) -> str:
        if self.is_open:
            return "All gates are open"
        return f"{plural(len(self.closed), 'gate')} closed"

    @property
    def forced_words(self) -> str:
        """The closed gates that force passes, as a person lists them."""
        return _listed([gate.label for gate in self.closed if gate.forceable])


def _listed(labels: Sequence[str]) -> str:
    *first, last = [label.lower() for label in labels] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def gates_of(project: Project, now: dt.datetime) -> Gates:
    everywhere = facts.Everywhere.load()
    results = scheduler.evaluate_all(project, now, everywhere)
    active = project.dreams.filter(status__in=ACTIVE).first()
    found = [_gate(result) for result in results]
    # Closed ones first: they are what a person came to see.
    return Gates(
        gates=sorted(found, key=lambda gate: gate.passed),
        supersedes=everywhere.open_proposals.get(project.pk, ""),
        dream=active.public_id if active else "",
        dream_status=active.get_status_display() if active else "",
    )


def _gate(result: gates.GateResult) -> Gate:
    label, icon = GATES.get(result.name, (result.name.capitalize(), "dot"))
    return Gate(
        result.name,
        label,
        icon,
        result.passed,
        without_distance(result.reason) if result.opens_at else result.reason,
        result.opens_at,
        result.name in gates.FORCEABLE,
    )
