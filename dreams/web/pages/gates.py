"""A project's gates, for its page."""

import datetime as dt
from dataclasses import dataclass

from dreams.lib.files.text import joined, plural
from dreams.models import Project
from dreams.services import dreaming, host_requests, policies
from dreams.services.scheduling import gate_inputs, gates, scheduler
from dreams.services.scheduling.gates import rules
from dreams.services.scheduling.gates.facts import Tally
from dreams.services.scheduling.next_dream import NextDream, beside_its_moment


@dataclass(frozen=True, slots=True)
class GateRow:
    kind: rules.Gate
    passed: bool
    reason: str
    opens_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Gates:
    """All gates of a project now, and those that apply to a manual start. `refuses` as in a review."""

    gates: list[GateRow]
    next: NextDream
    sentence: str  # empty where a gate says the same
    supersedes: str
    is_decided: bool  # that proposal, and not submitted
    dream: str
    dream_status: str
    may_apply: bool
    refuses: str

    @property
    def writes(self) -> str:
        """What a dream may write, for the person who starts it."""
        if self.may_apply:
            return "What your policies allow is applied without asking you; the rest waits for your review."
        return "Nothing is written until you approve it."

    @property
    def closed(self) -> list[GateRow]:
        return [gate for gate in self.gates if not gate.passed]

    @property
    def opened(self) -> list[GateRow]:
        return [gate for gate in self.gates if gate.passed]

    @property
    def is_open(self) -> bool:
        return not self.closed

    @property
    def unforceable(self) -> list[GateRow]:
        """Closed gates that cannot be forced."""
        return [gate for gate in self.closed if not gate.kind.forceable]

    @property
    def opens_at(self) -> dt.datetime | None:
        """When all gates will be open, if no closed one needs a person."""
        return self.next.opens_at

    @property
    def headline(self) -> str:
        return "All gates are open" if self.is_open else f"{plural(len(self.closed), 'gate')} closed"

    @property
    def forced_words(self) -> str:
        """The names of the closed gates that can be forced, as a list in words."""
        return joined([gate.kind.label.lower() for gate in self.closed if gate.kind.forceable])


def gates_of(project: Project, now: dt.datetime, tally: Tally | None = None) -> Gates:
    everywhere = gate_inputs.Everywhere.load()
    results = scheduler.evaluate_all(project, now, everywhere, tally=tally)
    active = next((row for row in dreaming.active() if row.project_id == project.pk), None)
    found = [
        GateRow(gates.GATES[result.name], result.passed, beside_its_moment(result), result.opens_at)
        for result in results
    ]
    together = NextDream.of(results)
    sentence = together.what_next(now)
    # Closed ones first: they are the most important.
    return Gates(
        gates=sorted(found, key=lambda gate: gate.passed),
        next=together,
        sentence="" if sentence in [gate.reason for gate in found] else sentence,
        supersedes=everywhere.open_proposals.get(project.pk, ""),
        is_decided=everywhere.waits.get(project.pk) == "submit",
        dream=active.public_id if active else "",
        dream_status=active.get_status_display() if active else "",
        may_apply=policies.may_apply(project),
        refuses=host_requests.refuses(project),
    )
