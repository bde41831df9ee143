"""Order, short circuit, force, and when an answer counts as changed."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from dreams.conf import Config
from dreams.lib.locks import LockFact
from dreams.lib.timestamps import to_ns
from dreams.services.scheduling.gates import (
    GATES,
    Case,
    EngineFact,
    Facts,
    InputsFact,
    Mode,
    SessionFact,
    SpendingFact,
    Switch,
    evaluate,
    fingerprint,
    is_open,
)
from tests.world.cases import each

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Asked:
    """Facts that note which expensive ones were asked for."""

    def __init__(self, **answers):
        self.names = []
        self.answers = {
            "clock": None,
            "sessions": [SessionFact(f"s{i}", "", to_ns(NOW)) for i in range(5)],
            "inputs": InputsFact("a", None),
            "engine": EngineFact(),
            "spending": SpendingFact(),
            "lock": LockFact(),
        } | answers

    def facts(self, **cheap):
        return Facts(**cheap, **{name: self.asker(name) for name in self.answers})

    def asker(self, name):
        def ask():
            self.names.append(name)
            return self.answers[name]

        return ask


def test_a_paused_project_costs_nothing():
    asked = Asked()
    found = evaluate(Case(asked.facts(paused=True), Config(), NOW))
    assert [result.name for result in found] == ["paused"]
    assert asked.names == []


def test_a_quiet_project_costs_one_stat():
    asked = Asked(clock=to_ns(NOW))
    evaluate(Case(asked.facts(), Config(), NOW))
    assert asked.names == ["clock"]


def test_nothing_after_the_first_closed_gate_is_computed():
    asked = Asked(sessions=[])
    found = evaluate(Case(asked.facts(), Config(), NOW))
    assert asked.names == ["clock", "sessions"]
    assert [result.passed for result in found] == [True] * list(GATES).index("sessions") + [False]


def test_an_open_project_asks_each_fact_once_cheapest_first():
    asked = Asked()
    found = evaluate(Case(asked.facts(), Config(), NOW))
    assert is_open(found)
    assert asked.names == ["clock", "sessions", "inputs", "engine", "spending", "lock"]


def test_the_command_evaluates_all():
    asked = Asked()
    found = evaluate(Case(asked.facts(paused=True), Config(), NOW), stop_at_first=False)
    assert [result.name for result in found] == list(GATES)
    assert len(asked.names) == 6


SAVES_WORK = {"review", "time", "throttle", "sessions", "inputs"}
HELD = {"paused", "project", "memory", "mode", "engine", "budget", "lock"}
EVERYTHING_CLOSED = Facts(
    paused=True,
    project_on=False,
    open_proposal="p00000001",
    memory=Switch(False, "user settings"),
    mode=Mode.DAILY_LOG,
    last_scan_at=NOW,
    clock=lambda: to_ns(NOW),
    inputs=lambda: InputsFact("a", "a"),
    engine=lambda: EngineFact("anthropic", "There is no key. Set one."),
    spending=lambda: SpendingFact(free=False, estimate=Decimal(2)),
    lock=lambda: LockFact(held=True, pid=1),
)


def test_force_passes_what_saves_work_and_never_what_a_person_or_a_lock_closed():
    config = Config(max_cost_day=1)
    plain = evaluate(Case(EVERYTHING_CLOSED, config, NOW), stop_at_first=False)
    closed = {result.name for result in plain if not result.passed}
    assert closed >= SAVES_WORK | HELD
    forced = evaluate(Case(EVERYTHING_CLOSED, config, NOW), stop_at_first=False, force=True)
    opened = {result.name for result in forced if result.passed} & closed
    assert opened >= SAVES_WORK
    assert not opened & HELD
    assert all(result.reason.startswith("Forced.") for result in forced if result.name in opened)
    assert all(result.opens_at is None for result in forced if result.passed)


def test_force_says_that_the_open_proposal_is_superseded():
    found = evaluate(Case(EVERYTHING_CLOSED, Config(), NOW), stop_at_first=False, force=True)
    assert "supersede" in found[list(GATES).index("review")].reason


def test_force_adds_nothing_to_an_open_gate():
    asked = Asked()
    assert evaluate(Case(asked.facts(), Config(), NOW), force=True) == evaluate(
        Case(asked.facts(), Config(), NOW)
    )


def test_a_naive_now_is_refused():
    with pytest.raises(ValueError, match="offset"):
        evaluate(Case(Facts(), Config(), datetime(2026, 3, 10, 12)))  # noqa: DTZ001 - the mistake under test


@each("closed", ["time", "lock", "budget", "back-off"])
def test_the_answer_does_not_change_because_hours_passed(closed):
    facts = {
        "time": Asked(clock=to_ns(NOW)).facts(),
        "lock": Asked(lock=LockFact(True, 7, NOW, NOW + 90 * HOUR)).facts(),
        "budget": Asked(spending=SpendingFact(free=False, today=Decimal(9))).facts(),
        "back-off": Asked().facts(retry_at=NOW + 20 * HOUR, failures=2),
    }[closed]
    config = Config(max_cost_day=9)
    first = evaluate(Case(facts, config, NOW))
    later = evaluate(Case(facts, config, NOW + 5 * HOUR))
    assert not is_open(first)
    assert first[-1].reason != later[-1].reason
    assert fingerprint(first) == fingerprint(later) != "open"


def test_the_answer_changes_with_another_session_or_another_gate():
    few = Asked(sessions=[SessionFact("a", "", 1)])
    fewer = Asked(sessions=[])
    answers = {
        fingerprint(evaluate(Case(facts, Config(), NOW)))
        for facts in (few.facts(), fewer.facts(), Asked().facts(), few.facts(paused=True))
    }
    assert len(answers) == 4


def test_not_having_looked_is_no_new_answer():
    asked = Asked(sessions=[])
    looked = evaluate(Case(asked.facts(), Config(), NOW))
    throttled = evaluate(Case(asked.facts(last_scan_at=NOW), Config(), NOW))
    assert fingerprint(throttled) is None
    all_of_it = evaluate(Case(asked.facts(last_scan_at=NOW), Config(), NOW), stop_at_first=False)
    assert fingerprint(all_of_it) == fingerprint(looked)


def test_the_printed_keys_are_the_documented_ones():
    result = evaluate(Case(Asked(clock=to_ns(NOW)).facts(), Config(), NOW))[-1]
    assert result.as_json() == {
        "name": "time",
        "passed": False,
        "reason": "24 h must pass since the last dream, which was just now; opens in 24 h.",
        "opens_at": "2026-03-11T12:00:00+00:00",
    }


def test_the_defaults_are_those_of_the_reference_behaviour():
    config = Config()
    assert (config.min_hours, config.scan_minutes, config.min_sessions) == (24, 10, 5)
    assert config.correction_weight == 2.0
