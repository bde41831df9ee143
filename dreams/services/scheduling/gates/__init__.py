"""Decides when a memory directory may dream: Case (facts, settings, now) → [GateResult]. Pure.

Cheapest first. The scheduler stops at the first closed gate, so an idle project costs one database row and
one stat; the `gates` command evaluates all of them.

`force` opens gates that only save work (`forceable`) and supersedes an open proposal. It never opens the lock, a
budget cap, or a switch that a person turned off; nor the agent's daily-log and remote modes, where a dream would
disturb the agent; nor an engine without an API key, where every dream would fail.

When a person asks for a dream that reads the daily logs (`logs`), log lines count in place of sessions, and the time gate
and the daily-log mode are passed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from dreams.services.scheduling.gates import rules
from dreams.services.scheduling.gates.facts import (
    LIVE_GRACE,
    EngineFact,
    Facts,
    InputsFact,
    Mode,
    SessionFact,
    SpendingFact,
    Switch,
    detect_mode,
    is_live,
    past,
)
from dreams.services.scheduling.gates.rules import GATES, Case

UNCHECKED = "Could not check: "
SWITCHES = tuple(gate.name for gate in GATES.values() if gate.is_switch)
OF_MODELS = tuple(gate.name for gate in GATES.values() if gate.of_models)


def title(name: object) -> str:
    """ "Sessions gate"; the plain name for a gate that this version does not know."""
    known = GATES.get(str(name or ""))
    label = known.label if known else str(name or "").capitalize()
    return f"{label} gate" if label else "A gate"


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate's answer. `reason` is always set; `opens_at` (UTC) if the gate opens by waiting; `missing` is how many more
    sessions would open it; `heavy` says which sessions count more than once."""

    name: str
    passed: bool
    reason: str
    opens_at: datetime | None = None
    cause: str = field(default="", compare=False, repr=False)
    missing: int = field(default=0, compare=False)
    heavy: str = field(default="", compare=False)

    @property
    def is_pause(self) -> bool:
        """Whether it is closed only because the sessions were checked a moment ago."""
        return self.cause == rules.SCANNED

    def as_json(self) -> dict[str, str | bool | None]:
        """The four keys that the `gates` command prints; `opens_at` as ISO 8601."""
        opens_at = self.opens_at.isoformat() if self.opens_at else None
        return {"name": self.name, "passed": self.passed, "reason": self.reason, "opens_at": opens_at}


def evaluate(
    case: Case,
    *,
    force: bool = False,
    scheduled: bool = False,
    logs: bool = False,
    stop_at_first: bool = True,
    names: Iterable[str] = GATES,
) -> list[GateResult]:
    """The results of the gates in `names`: all, or up to the first closed one.

    `scheduled`: a scheduled job decides when, so the time gate is passed. `logs`: a person asked for a dream that reads
    the daily logs, and new lines count in place of sessions.
    """
    is_asked_for = force or scheduled or logs
    results: list[GateResult] = []
    for name in names:
        ruling = _ruling(name, case, logs=logs)
        if ruling.passed or not is_asked_for:
            results.append(_result(name, ruling))
        else:
            results.append(_in_spite(name, ruling, force=force, scheduled=scheduled, logs=logs))
        if stop_at_first and not results[-1].passed:
            break
    return results


#: The `fingerprint` of a project whose last dream was too recent.
CLOSED_BY_CLOCK = f"time: {rules.RECENT}"
is_recent = rules.is_recent


def is_open(results: Iterable[GateResult]) -> bool:
    """True when every evaluated gate passed."""
    return all(result.passed for result in results)


def first_closed(results: Iterable[GateResult]) -> GateResult | None:
    return next((result for result in results if not result.passed), None)


def fingerprint(results: Iterable[GateResult]) -> str | None:
    """The answer without times, to see whether it changed: "open", or the first closed gate and its cause.

    None when only the check interval is closed: nothing was checked, so the last answer is still valid. (If stored,
    it would alternate with the sessions' answer every ten minutes.)
    """
    closed = [result for result in results if not result.passed]
    for result in closed:
        if result.cause != rules.SCANNED:
            return f"{result.name}: {result.cause}"
    return None if closed else "open"


def _ruling(name: str, case: Case, *, logs: bool) -> rules.Ruling:
    try:
        return rules.log_lines(case) if logs and name == "sessions" else GATES[name].rule(case)
    except OSError as error:
        return _unreadable(error)


def _in_spite(name: str, ruling: rules.Ruling, *, force: bool, scheduled: bool, logs: bool) -> GateResult:
    """The result of a closed gate, which passes where `force`, `scheduled` or `logs` allow it."""
    if force and GATES[name].forceable:
        also = " The new dream will supersede it." if name == "review" else ""
        return GateResult(name, True, f"Forced. Without force: {ruling.reason}{also}")
    if scheduled and name == "time":
        return GateResult(name, True, f"Scheduled. Without the schedule: {ruling.reason}")
    if logs and (name == "time" or ruling.cause in _PASSED_FOR_LOGS):
        return GateResult(name, True, f"You requested it. Otherwise: {ruling.reason}")
    return GateResult(name, *ruling)


@lru_cache(maxsize=256)
def _result(name: str, ruling: rules.Ruling) -> GateResult:
    """Cached: most of thousands of projects give the same results."""
    return GateResult(name, *ruling)


#: Causes that do not matter when the logs are read, as no sessions are counted for it.
_PASSED_FOR_LOGS = frozenset({Mode.DAILY_LOG.value, rules.SCANNED})


def _unreadable(error: OSError) -> rules.Ruling:
    """A fact that cannot be read closes its gate: dreaming on a guess is worse than waiting."""
    what = error.strerror or str(error) or type(error).__name__
    place = f" ({error.filename})" if error.filename else ""
    reason = f"{UNCHECKED}{what}{place}. Fix that; it is retried at the next check."
    return rules.Ruling(False, reason, None, f"error {what}")
