"""One function per gate: what is known → open or closed, why, and when it opens. Pure.

A cause is the reason without the hours in it: two evaluations with the same cause gave the same answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from dreams.lib.ages import ago, exact, until
from dreams.lib.amounts import money
from dreams.lib.files.text import plural
from dreams.lib.locks import LockFact
from dreams.lib.timestamps import from_ns, later, next_day, next_month, to_ns
from dreams.services.scheduling.gates.facts import (
    LONGEST_RETRY,
    Facts,
    GateConfig,
    Mode,
    SpendingFact,
    Tally,
    count_sessions,
    past,
)


class Verdict(NamedTuple):
    """What one gate says."""

    passed: bool
    reason: str
    opens_at: datetime | None = None
    cause: str = ""
    missing: int = 0
    heavy: str = ""


@dataclass
class Case:
    """One evaluation: the facts, the thresholds and the frozen moment; the clock is read at most once.

    Raises ValueError for a naive `now`.
    """

    facts: Facts
    config: GateConfig
    now: datetime
    now_ns: int = field(init=False)

    def __post_init__(self) -> None:
        if self.now.utcoffset() is None:
            raise ValueError("now needs an offset, as in 2026-03-01T12:00:00+00:00.")
        self.now_ns = to_ns(self.now)

    @cached_property
    def clock(self) -> int | None:
        """When this project was last consolidated, ns, as its lock file says; None for never."""
        return self.facts.clock()


def paused(case: Case) -> Verdict:
    if case.facts.paused:
        return Verdict(
            False, "Dreaming is paused everywhere; resume it on the settings page.", None, "paused"
        )
    return Verdict(True, "Dreaming is not paused.")


def project(case: Case) -> Verdict:
    if not case.facts.is_watched:
        return Verdict(
            False,
            "Its config folder is no longer in Settings, Places; add it again to have dreams here.",
            None,
            "unwatched",
        )
    if not case.facts.project_on:
        return Verdict(False, "Dreams are off for this project; switch them on on its page.", None, "off")
    note = {
        True: "; the agent's own auto-dream is on too",
        False: "; the agent's own auto-dream is off, which concerns only the agent",
        None: "",
    }[case.facts.agent_dreams]
    return Verdict(True, f"Dreams are on for this project{note}.")


def review(case: Case) -> Verdict:
    proposal = case.facts.open_proposal
    if proposal is not None:
        return Verdict(False, f"Proposal {proposal} waits for you; finish its review first.", None, proposal)
    return Verdict(True, "No proposal waits for you.")


def memory(case: Case) -> Verdict:
    switch = case.facts.memory
    if not switch.on:
        reason = (
            f"The agent's auto memory is off ({switch.source}); switch it on there to let memories be tidied."
        )
        return Verdict(False, reason, None, "off")
    return Verdict(True, f"The agent's auto memory is on ({switch.source}).")


def mode(case: Case) -> Verdict:
    if case.facts.mode is Mode.DAILY_LOG:
        reason = "Skipped: the agent keeps daily logs here and tidies them itself."
        return Verdict(False, reason, None, Mode.DAILY_LOG)
    if case.facts.mode is Mode.REMOTE:
        reason = (
            "Skipped: the agent runs in remote mode (CLAUDE_CODE_REMOTE is set); its memories are elsewhere."
        )
        return Verdict(False, reason, None, Mode.REMOTE)
    return Verdict(True, "The agent works in its normal mode.")


def time(case: Case) -> Verdict:
    wait = exact(case.config.min_age)
    last_ns = case.clock
    if last_ns is None:
        return Verdict(True, f"No dream yet, so the {wait} between dreams need no waiting.")
    last = from_ns(last_ns)
    if past(last_ns, case.now_ns) is None:
        when = f" was {until(last, case.now)}" if last else " was after all calendars"
        return Verdict(
            True, f"The lock file says that the last dream{when}. A clock was wrong; it counts as none."
        )
    opens_at = later(last, case.config.min_age) if last else None
    if last is None or opens_at is None:
        return Verdict(False, f"The lock file has an impossible date; {_REDATE}.", None, "impossible")
    if not is_recent(last_ns, case.now_ns, case.config.min_age):
        return Verdict(
            True, f"{wait} since the last dream have passed; the last one was {ago(last, case.now)}."
        )
    since = ago(min(last, case.now), case.now)
    reason = f"{wait} must pass since the last dream, which was {since}; {_opens(opens_at, case)}."
    return Verdict(False, reason, opens_at, RECENT)


_REDATE = "correct it with touch on .consolidate-lock in the memory directory, or dream now by force"


RECENT = "recent"


def is_recent(last_ns: int, now_ns: int, min_age: timedelta) -> bool:
    """Whether the time gate is closed for a last dream at that moment: `min_age` has not passed, and no clock was wrong."""
    age = min_age // timedelta(microseconds=1) * 1_000
    return past(last_ns, now_ns) is not None and last_ns > now_ns - age


def throttle(case: Case) -> Verdict:
    facts, now = case.facts, case.now
    if facts.retry_at is not None and now < facts.retry_at <= now + LONGEST_RETRY:
        times = "once" if facts.failures <= 1 else f"{facts.failures} times in a row"
        reason = f"The last dream failed ({times}); tried again {until(facts.retry_at, now)}."
        return Verdict(False, reason, facts.retry_at, f"back-off {facts.failures}")
    wait = exact(case.config.scan_throttle)
    # A scan from the future means that the clock was set back. Scanning once more harms nobody.
    if facts.last_scan_at is None or facts.last_scan_at > now:
        return Verdict(True, "Sessions have not been checked yet.")
    opens_at = later(facts.last_scan_at, case.config.scan_throttle)
    if opens_at is not None and opens_at > now:
        reason = f"Sessions are checked at most every {wait}; {_opens(opens_at, case)}."
        return Verdict(False, reason, opens_at, SCANNED)
    return Verdict(True, f"Sessions were last checked {ago(facts.last_scan_at, now)}.")


SCANNED = "scanned"


def sessions(case: Case) -> Verdict:
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
    return Verdict(
        passed, f"{reason}{tally.left_out()}.", None, f"{tally.score:g}/{needed}", missing, tally.heavy
    )


def log_lines(case: Case) -> Verdict:
    """In place of `sessions`, for a dream that is asked to read the logs."""
    lines = case.facts.log_lines()
    if not lines:
        return Verdict(
            False, "No line was added to the daily logs since the last dream.", None, "no log lines"
        )
    return Verdict(True, f"{plural(lines, 'line')} of the daily logs {'is' if lines == 1 else 'are'} new.")


def inputs(case: Case) -> Verdict:
    fact = case.facts.inputs()
    if fact.last is None:
        return Verdict(True, "memoryweb has no finished dream here to compare with.")
    if fact.current == fact.last:
        return Verdict(False, "Nothing changed since the last dream.", None, "unchanged")
    return Verdict(True, "Sessions or memories changed since the last dream.")


def engine(case: Case) -> Verdict:
    fact = case.facts.engine()
    if fact.trouble:
        return Verdict(False, fact.trouble, None, fact.trouble[:200])
    if fact.name == "rules":
        return Verdict(True, "The rules engine needs nothing.")
    return Verdict(True, "The model engine has an address, and a key where it needs one.")


def budget(case: Case) -> Verdict:
    spending, config = case.facts.spending(), case.config
    if spending.free:
        return Verdict(True, "The rules engine costs nothing.")
    if config.dream_cap is not None and spending.estimate > config.dream_cap:
        return _too_dear("one dream", config.dream_cap, spending)
    for what, cap, spent, boundary in _caps(spending, config):
        if cap is None:
            continue
        if spending.estimate > cap:
            return _too_dear(what, cap, spending)
        if spent >= cap or spent + spending.estimate > cap:
            opens_at = boundary(case.now, config.zone)
            reason = (
                f"{money(spent)} of the {money(cap)} for {what} are spent and {spending.what} takes about "
                f"{money(spending.estimate)}; {_opens(opens_at, case)}."
            )
            return Verdict(False, reason, opens_at, what)
    return Verdict(True, f"About {money(spending.estimate)} for {spending.what} is within the budget.")


def lock(case: Case) -> Verdict:
    fact = case.facts.lock()
    if fact.error:
        return Verdict(False, fact.error, None, f"error {fact.error}")
    if not fact.held:
        left = f"; process {fact.pid} left it behind" if fact.pid is not None else ""
        return Verdict(True, f"The lock is free{left}.")
    return Verdict(False, _held(fact, case), fact.opens_at, f"held by {fact.pid}")


def _held(fact: LockFact, case: Case) -> str:
    holder = fact.holder or (f"process {fact.pid}" if fact.pid is not None else "another process")
    since = f", since {ago(fact.since, case.now)}" if fact.since else ""
    latest = f", or {until(fact.opens_at, case.now)}" if fact.opens_at else ""
    return f"The lock is held by {holder}{since}; it opens when that is done{latest}."


_Boundary = Callable[[datetime, tzinfo], datetime]


def _caps(spending: SpendingFact, config: GateConfig) -> list[tuple[str, Decimal | None, Decimal, _Boundary]]:
    return [
        ("today", config.day_cap, spending.today, next_day),
        ("this month", config.month_cap, spending.month, next_month),
        ("this project this month", config.project_cap, spending.project_month, next_month),
    ]


def _too_dear(what: str, cap: Decimal, spending: SpendingFact) -> Verdict:
    reason = (
        f"{spending.what.capitalize()} takes about {money(spending.estimate)}, over the {money(cap)} for {what}; "
        "raise the cap or choose the rules engine, which is free."
    )
    return Verdict(False, reason, None, f"over {what}")


def _opens(moment: datetime, case: Case) -> str:
    return f"opens {until(moment, case.now)}"
