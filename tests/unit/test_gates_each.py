"""Every gate at its borders, exact to the second, with a frozen now."""

import dataclasses
import errno
import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal

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
)
from tests.world.cases import each

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY = timedelta(hours=24)
DEFAULTS = Config()


def results(facts, config=DEFAULTS, **options):
    return {
        result.name: result for result in evaluate(Case(facts, config, NOW), stop_at_first=False, **options)
    }


def touched(number, **fields):
    return [SessionFact(f"s{i}", f"s{i}", to_ns(NOW), **fields) for i in range(number)]


def at(moment):
    return lambda: to_ns(moment)


def stays(value):
    return lambda: value


CLOSED = {
    "paused": Facts(paused=True),
    "project": Facts(project_on=False),
    "review": Facts(open_proposal="p00000001"),
    "memory": Facts(memory=Switch(False, "user settings")),
    "mode": Facts(mode=Mode.REMOTE),
    "time": Facts(clock=at(NOW)),
    "throttle": Facts(last_scan_at=NOW),
    "sessions": Facts(),
    "inputs": Facts(inputs=stays(InputsFact("a", "a"))),
    "engine": Facts(engine=stays(EngineFact("anthropic", "There is no key. Set one."))),
    "budget": Facts(spending=stays(SpendingFact(free=False, estimate=Decimal(2), today=Decimal(9)))),
    "lock": Facts(lock=stays(LockFact(held=True, pid=77))),
}
# Limits that are off by default.
LIMITED = Config(
    max_cost_day=10,
)


@each("name", GATES)
def test_each_gate_closes_by_its_own_fact_only(name):
    quiet = dataclasses.replace(CLOSED[name])
    if name != "sessions":
        quiet = dataclasses.replace(quiet, sessions=lambda: touched(5))
    closed = [gate for gate, result in results(quiet, LIMITED).items() if not result.passed]
    # A lock file dated now closes the time gate; sessions of the same instant are then not newer.
    assert closed == (["time", "sessions"] if name == "time" else [name])


@each("name", GATES)
def test_force_passes_a_gate_that_only_saves_work_and_no_other(name):
    forced = results(CLOSED[name], LIMITED, force=True)
    assert forced[name].passed is GATES[name].forceable


@each("name", GATES)
def test_a_reason_is_always_a_sentence(name):
    for facts in (CLOSED[name], Facts()):
        for forced in (False, True):
            for result in results(facts, LIMITED, force=forced).values():
                assert result.reason.endswith(".")
                assert len(result.reason) > 15


def test_what_costs_least_is_asked_first_and_the_lock_last():
    order = list(results(Facts()))
    assert order == list(GATES) and order[0] == "paused" and order[-1] == "lock"
    costly = [GATES[name].costly for name in order]
    assert costly == sorted(costly), "no gate that needs only rows stands behind one that needs more"


@each(
    ("age", "passed"),
    [(DAY - SECOND, False), (DAY, True), (DAY + SECOND, True), (timedelta(0), False), (DAY * 400, True)],
)
def test_the_time_gate_opens_to_the_second(age, passed):
    result = results(Facts(clock=at(NOW - age)))["time"]
    assert result.passed is passed
    assert result.opens_at == (None if passed else NOW - age + DAY)


def test_the_time_gate_is_open_at_the_moment_it_names():
    clock = stays(to_ns(NOW - timedelta(hours=3)) + 123_456_789)
    opens_at = results(Facts(clock=clock))["time"].opens_at
    moments = {opens_at: True, opens_at - timedelta(microseconds=1): False}
    for moment, passed in moments.items():
        found = evaluate(Case(Facts(clock=clock), Config(), moment), stop_at_first=False)
        assert [result.passed for result in found if result.name == "time"] == [passed]


def test_no_lock_file_means_never_and_open():
    result = results(Facts())["time"]
    assert result.passed
    assert "No dream yet" in result.reason


def test_any_other_stat_error_closes_the_time_gate_with_its_reason():
    def denied():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/memory/.consolidate-lock")

    result = results(Facts(clock=denied))["time"]
    assert not result.passed
    assert "Permission denied (/memory/.consolidate-lock)" in result.reason


@each(
    ("clock", "when"),
    [(to_ns(NOW + timedelta(days=3)), "in 3 days"), (2**63 - 1, "in "), (10**30, "beyond any calendar")],
)
def test_a_lock_file_from_the_future_counts_as_none_and_says_so(clock, when):
    found = results(Facts(clock=stays(clock), sessions=lambda: []))
    assert found["time"].passed and "A clock was wrong, so it does not count." in found["time"].reason
    assert when in found["time"].reason and found["sessions"].reason.endswith("so far.")


def test_a_file_system_clock_a_moment_ahead_is_no_wrong_clock():
    assert "wrong" not in results(Facts(clock=at(NOW + SECOND)))["time"].reason


def test_an_impossible_mtime_closes_the_gate_and_breaks_nothing():
    result = results(Facts(clock=stays(-(10**30))))["time"]
    assert not result.passed
    assert result.reason


@each(("age", "passed"), [(599, False), (600, True), (601, True), (-5, True)])
def test_the_throttle_opens_to_the_second(age, passed):
    result = results(Facts(last_scan_at=NOW - age * SECOND))["throttle"]
    assert result.passed is passed
    assert result.opens_at == (None if passed else NOW + SECOND)


def test_a_project_that_keeps_failing_waits_for_its_next_try():
    result = results(Facts(retry_at=NOW + timedelta(hours=2), failures=3))["throttle"]
    assert (result.passed, result.opens_at) == (False, NOW + timedelta(hours=2))
    assert "3 dreams failed in a row" in result.reason
    assert results(Facts(retry_at=NOW, failures=3))["throttle"].passed


def test_the_agents_own_dream_switch_is_shown_but_closes_nothing():
    result = results(Facts(agent_dreams=False))["project"]
    assert result.passed
    assert "own auto-dream is off" in result.reason


@each("mode", [Mode.DAILY_LOG, Mode.REMOTE])
def test_other_modes_are_skipped_and_said(mode):
    assert results(Facts(mode=mode))["mode"].reason.startswith("Skipped: ")


def test_the_memory_gate_says_where_it_was_switched_off():
    result = results(Facts(memory=Switch(False, "autoMemoryEnabled in user settings")))["memory"]
    assert "autoMemoryEnabled in user settings" in result.reason


@each(("last", "passed"), [(None, True), ("b", True), ("a", False)])
def test_unchanged_inputs_do_not_dream(last, passed):
    result = results(Facts(inputs=stays(InputsFact("a", last))))["inputs"]
    assert result.passed is passed
    assert ("no finished dream" in result.reason) is (last is None)


def test_a_held_lock_names_its_holder_and_its_end():
    fact = LockFact(True, 77, NOW - timedelta(minutes=12), NOW + timedelta(minutes=48))
    result = results(Facts(lock=stays(fact)))["lock"]
    assert result.opens_at == NOW + timedelta(minutes=48)
    assert "process 77, since 12 min ago" in result.reason
    assert "in 48 min" in result.reason


def test_a_lock_left_behind_is_free_and_said():
    result = results(Facts(lock=stays(LockFact(False, 77))))["lock"]
    assert result.passed
    assert "process 77 left it behind" in result.reason


def test_an_unusable_lock_is_closed_with_the_remedy():
    assert not results(Facts(lock=stays(LockFact(error="It is a link; move it away."))))["lock"].passed


LOGS = Facts(mode=Mode.DAILY_LOG, clock=at(NOW), last_scan_at=NOW, log_lines=stays(12))


def test_a_dream_that_is_asked_to_read_the_logs_passes_time_and_mode_and_counts_lines_instead_of_sessions():
    found = results(LOGS, logs=True)
    assert all(result.passed for result in found.values())
    assert found["mode"].reason.startswith("You requested it. Otherwise: Skipped: the agent keeps daily logs")
    assert found["sessions"].reason == "12 lines of the daily logs are new."
    assert [name for name, result in results(LOGS).items() if not result.passed] == [
        "mode",
        "time",
        "throttle",
        "sessions",
    ]


def test_without_a_new_line_there_is_nothing_to_read():
    found = results(dataclasses.replace(LOGS, log_lines=stays(0)), logs=True)
    assert not found["sessions"].passed and "No lines were added" in found["sessions"].reason


@each(
    ("gate", "facts"),
    [
        *((name, facts) for name, facts in CLOSED.items() if name not in {"time", "throttle", "sessions"}),
        ("throttle", Facts(retry_at=NOW + SECOND, failures=1)),
    ],
)
def test_every_other_gate_holds_for_it(gate, facts):
    facts = dataclasses.replace(facts, log_lines=stays(12))
    assert not results(facts, LIMITED, logs=True)[gate].passed


@each(
    ("failures", "says"), [(1, "A dream failed; tried again"), (3, "3 dreams failed in a row; tried again")]
)
def test_a_wait_after_failures_does_not_call_the_last_dream_failed(failures, says):
    """The last one may have been cancelled since."""
    facts = Facts(retry_at=NOW + timedelta(minutes=8), failures=failures)
    ruling = GATES["throttle"].rule(Case(facts, Config(), NOW))
    assert not ruling.passed and ruling.reason.startswith(says)
