"""All gates in the order in which they are evaluated, one function each: Case → open or closed, why, and when it opens.
Pure.

A cause is the reason without times: two evaluations with the same cause gave the same answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from dreams.conf.config import Config
from dreams.lib.amounts import ago, exact, money, until
from dreams.lib.files.text import plural
from dreams.lib.locks import LockFact
from dreams.lib.timestamps import from_ns, later, next_day, next_month, to_ns
from dreams.services.scheduling.gates.facts import (
    LONGEST_RETRY,
    Facts,
    Mode,
    SpendingFact,
    Tally,
    Waits,
    count_sessions,
    past,
)


class Ruling(NamedTuple):
    """One gate's answer, before `force` and the like are applied."""

    passed: bool
    reason: str
    opens_at: datetime | None = None
    cause: str = ""
    missing: int = 0
    heavy: str = ""


@dataclass
class Case:
    """One evaluation: the facts, the settings and the frozen moment; the clock is read at most once.

    Raises ValueError for a naive `now`.
    """

    facts: Facts
    config: Config
    now: datetime
    now_ns: int = field(init=False)

    def __post_init__(self) -> None:
        if self.now.utcoffset() is None:
            raise ValueError("now needs an offset, as in 2026-03-01T12:00:00+00:00.")
        self.now_ns = to_ns(self.now)

    @cached_property
    def clock(self) -> int | None:
        """When this project was last consolidated, in ns, from its lock file; None for never."""
        return self.facts.clock()


Rule = Callable[[Case], Ruling]


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate's rule and its properties. It has the rule's name; pages show `label` and `icon`."""

    name: str
    rule: Rule
    label: str
    icon: str
    #: A forced start passes it.
    forceable: bool = False
    #: Only new sessions open it.
    by_sessions: bool = False
    #: Only a person or the agent opens it.
    is_switch: bool = False
    #: Opens within minutes without anybody's action: a scheduled job waits for it, up to an hour.
    opens_soon: bool = False
    #: Also evaluated for model requests outside of dreams.
    of_models: bool = False
    #: Needs more than database rows: lists of projects show its last stored result.
    costly: bool = False
    #: The group of settings that can open it; the project's page links to it.
    settings: str = ""


GATES: dict[str, Gate] = {}


def gate(label: str, icon: str, **kind: Any) -> Callable[[Rule], Rule]:
    """Registers the decorated rule as a gate; `kind` are the other fields of `Gate`."""

    def add(rule: Rule) -> Rule:
        GATES[rule.__name__] = Gate(rule.__name__, rule, label, icon, **kind)
        return rule

    return add


@gate("Everywhere", "pause", is_switch=True)
def paused(case: Case) -> Ruling:
    if case.facts.paused:
        return Ruling(False, "Dreaming is paused everywhere; resume it on the settings page.", None, "paused")
    return Ruling(True, "Dreaming is not paused.")


@gate("Project", "folder", is_switch=True, settings="When")
def project(case: Case) -> Ruling:
    if not case.facts.is_watched:
        return Ruling(
            False,
            "Its config folder is no longer in Settings, Places; add it again to let dreams run here.",
            None,
            "unwatched",
        )
    if not case.facts.project_on:
        return Ruling(False, "Dreams are off for this project; turn them on in its settings.", None, "off")
    note = {
        True: "; the agent’s own auto-dream is on too",
        False: "; the agent’s own auto-dream is off, which concerns only the agent",
        None: "",
    }[case.facts.agent_dreams]
    return Ruling(True, f"Dreams are on for this project{note}.")


_WAITS: dict[Waits, str] = {
    "review": "is waiting for a review; finish that first",
    "submit": "is decided but not submitted yet; submit it first",
    "writing": "is decided but not written yet; finish that first",
    "second": "is waiting for a second person, who must approve what your team shares",
}


@gate("Review", "inbox", forceable=True)
def review(case: Case) -> Ruling:
    proposal = case.facts.open_proposal
    if proposal is not None:
        waits = case.facts.proposal_waits
        return Ruling(False, f"Proposal {proposal} {_WAITS[waits]}.", None, f"{proposal} {waits}")
    return Ruling(True, "No proposal is waiting for a review.")


@gate("Auto memory", "memory", is_switch=True)
def memory(case: Case) -> Ruling:
    switch = case.facts.memory
    if not switch.on:
        reason = (
            f"The agent’s auto memory is off ({switch.source}); turn it on there to let memories be tidied."
        )
        return Ruling(False, reason, None, "off")
    return Ruling(True, f"The agent’s auto memory is on ({switch.source}).")


@gate("Agent’s mode", "agent", is_switch=True)
def mode(case: Case) -> Ruling:
    if case.facts.mode is Mode.DAILY_LOG:
        reason = "Skipped: the agent keeps daily logs here and tidies them itself."
        return Ruling(False, reason, None, Mode.DAILY_LOG)
    if case.facts.mode is Mode.REMOTE:
        reason = (
            "Skipped: the agent runs in remote mode (CLAUDE_CODE_REMOTE is set); its memories are elsewhere."
        )
        return Ruling(False, reason, None, Mode.REMOTE)
    return Ruling(True, "The agent works in its normal mode.")


@gate("Time", "clock", forceable=True)
def time(case: Case) -> Ruling:
    min_age = timedelta(hours=case.config.min_hours)
    wait = exact(min_age)
    last_ns = case.clock
    if last_ns is None:
        return Ruling(True, f"No dream yet, so the {wait} between dreams do not apply.")
    last = from_ns(last_ns)
    if past(last_ns, case.now_ns) is None:
        when = f" was {until(last, case.now)}" if last else " was beyond any calendar"
        return Ruling(
            True, f"The lock file says that the last dream{when}. A clock was wrong, so it does not count."
        )
    opens_at = later(last, min_age) if last else None
    if last is None or opens_at is None:
        return Ruling(False, f"The lock file has an impossible date; {_REDATE}.", None, "impossible")
    if not is_recent(last_ns, case.now_ns, min_age):
        return Ruling(
            True, f"{wait} since the last dream have passed; the last one was {ago(last, case.now)}."
        )
    since = ago(min(last, case.now), case.now)
    reason = f"{wait} must pass since the last dream, which was {since}; {_opens(opens_at, case)}."
    return Ruling(False, reason, opens_at, RECENT)


_REDATE = "correct it with touch on .consolidate-lock in the memory directory, or dream now by force"


RECENT = "recent"


def is_recent(last_ns: int, now_ns: int, min_age: timedelta) -> bool:
    """Whether the last dream is too recent for the time gate: `min_age` has not passed, and `last_ns` is not in the future."""
    age = min_age // timedelta(microseconds=1) * 1_000
    return past(last_ns, now_ns) is not None and last_ns > now_ns - age


@gate("Check interval", "eye", forceable=True)
def throttle(case: Case) -> Ruling:
    facts, now = case.facts, case.now
    if facts.retry_at is not None and now < facts.retry_at <= now + LONGEST_RETRY:
        # Not “the last dream”: a dream cancelled since then does not change this.
        failed = "A dream failed" if facts.failures <= 1 else f"{facts.failures} dreams failed in a row"
        reason = f"{failed}; tried again {until(facts.retry_at, now)}."
        return Ruling(False, reason, facts.retry_at, f"back-off {facts.failures}")
    throttle = timedelta(minutes=case.config.scan_minutes)
    wait = exact(throttle)
    # A scan in the future means that the clock was set back. One more scan does no harm.
    if facts.last_scan_at is None or facts.last_scan_at > now:
        return Ruling(True, "Sessions have not been checked yet.")
    opens_at = later(facts.last_scan_at, throttle)
    if opens_at is not None and opens_at > now:
        reason = f"Sessions are checked at most every {wait}; {_opens(opens_at, case)}."
        return Ruling(False, reason, opens_at, SCANNED)
    return Ruling(True, f"Sessions were last checked {ago(facts.last_scan_at, now)}.")


SCANNED = "scanned"


@gate("Sessions", "session", forceable=True, by_sessions=True)
def sessions(case: Case) -> Ruling:
    needed, weight = case.config.min_sessions, case.config.correction_weight
    last_ns = past(case.clock, case.now_ns)
    found = case.facts.sessions()
    if isinstance(found, Tally):
        tally = found.for_gate(weight, needed)
    else:
        tally = count_sessions(found, last_ns, weight, needed)
    passed = tally.score >= needed
    reason = f"{tally.in_words(needed)} {'since the last dream' if last_ns is not None else 'so far'}"
    missing = 0 if passed else math.ceil(needed - tally.score)
    return Ruling(
        passed, f"{reason}{tally.left_out()}.", None, f"{tally.score:g}/{needed}", missing, tally.heavy
    )


def log_lines(case: Case) -> Ruling:
    """Used in place of `sessions` for a dream that reads the daily logs."""
    lines = case.facts.log_lines()
    if not lines:
        return Ruling(
            False, "No lines were added to the daily logs since the last dream.", None, "no log lines"
        )
    return Ruling(True, f"{plural(lines, 'line')} of the daily logs {'is' if lines == 1 else 'are'} new.")


@gate("Changes", "plus", forceable=True, by_sessions=True, costly=True)
def inputs(case: Case) -> Ruling:
    fact = case.facts.inputs()
    if fact.last is None:
        return Ruling(True, "memoryweb has no finished dream here to compare with.")
    if fact.current == fact.last:
        return Ruling(False, "Nothing changed since the last dream.", None, "unchanged")
    return Ruling(True, "Sessions or memories changed since the last dream.")


@gate("Engine", "gear", of_models=True, costly=True)
def engine(case: Case) -> Ruling:
    fact = case.facts.engine()
    if fact.trouble:
        return Ruling(False, fact.trouble, None, fact.trouble[:200])
    if fact.name == "rules":
        return Ruling(True, "The rules engine needs no model.")
    return Ruling(True, "The model engine has an address, and a key where it needs one.")


@gate("Budget", "coins", of_models=True, costly=True, settings="Budget")
def budget(case: Case) -> Ruling:
    spending, config = case.facts.spending(), case.config
    if spending.free:
        return Ruling(True, "The rules engine costs nothing.")
    cap = _cap(config.max_cost_dream)
    if spending.estimate > cap:
        return _too_dear("one dream", cap, spending)
    for what, cap, spent, boundary in _caps(spending, config):
        if spending.estimate > cap:
            return _too_dear(what, cap, spending)
        if spent >= cap or spent + spending.estimate > cap:
            opens_at = boundary(case.now, spending.zone)
            reason = (
                f"{money(spent)} of the {money(cap)} for {what} are spent and {spending.what} takes about "
                f"{money(spending.estimate)}; {_opens(opens_at, case)}."
            )
            return Ruling(False, reason, opens_at, what)
    return Ruling(True, f"About {money(spending.estimate)} for {spending.what} is within the budget.")


@gate("Lock", "key", costly=True, opens_soon=True)
def lock(case: Case) -> Ruling:
    fact = case.facts.lock()
    if fact.error:
        return Ruling(False, fact.error, None, f"error {fact.error}")
    if not fact.held:
        left = f"; process {fact.pid} left it behind" if fact.pid is not None else ""
        return Ruling(True, f"The lock is free{left}.")
    return Ruling(False, _held(fact, case), fact.opens_at, f"held by {fact.pid}")


def _held(fact: LockFact, case: Case) -> str:
    holder = fact.holder or (f"process {fact.pid}" if fact.pid is not None else "another process")
    since = f", since {ago(fact.since, case.now)}" if fact.since else ""
    latest = f", or {until(fact.opens_at, case.now)}" if fact.opens_at else ""
    return f"The lock is held by {holder}{since}; it opens when that is done{latest}."


_Boundary = Callable[[datetime, tzinfo], datetime]


def _caps(spending: SpendingFact, config: Config) -> list[tuple[str, Decimal, Decimal, _Boundary]]:
    return [
        ("today", _cap(config.max_cost_day), spending.today, next_day),
        ("this month", _cap(config.max_cost_month), spending.month, next_month),
        ("this project this month", _cap(config.max_cost_project), spending.project_month, next_month),
    ]


def _cap(dollars: float) -> Decimal:
    """A limit from a setting, where 0 means no limit."""
    return Decimal(str(dollars)) if dollars > 0 else Decimal("Infinity")


def _too_dear(what: str, cap: Decimal, spending: SpendingFact) -> Ruling:
    reason = (
        f"{spending.what.capitalize()} takes about {money(spending.estimate)}, over the {money(cap)} for {what}; "
        "raise that limit or choose the rules engine, which is free."
    )
    return Ruling(False, reason, None, f"over {what}")


def _opens(moment: datetime, case: Case) -> str:
    return f"opens {until(moment, case.now)}"
