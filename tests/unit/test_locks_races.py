"""The lock between real processes: races, kill -9, theft, and an agent that knows nothing of our guards."""

import multiprocessing
import os
import signal
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import psutil
import pytest

from dreams.lib import process
from dreams.lib.locks import (
    LOCK_NAME,
    Busy,
    Healing,
    Held,
    LockLost,
    acquire,
    heal,
    last_consolidated_ns,
    status,
)
from dreams.lib.locks.lockfile import write_body

FORK = multiprocessing.get_context("fork")
RACERS = 6
ROUNDS = 520
LONG_AGO_NS = 1_600_000_000_123_456_789
NOBODY = 2**31 - 1
WAIT = 60


def now():
    return datetime.now(UTC)


@pytest.fixture
def memory(tmp_path):
    directory = tmp_path / "project" / "memory"
    directory.mkdir(parents=True)
    return directory


def nothing(path):
    path.unlink(missing_ok=True)


def empty(path):
    path.write_bytes(b"")
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))


def dead(path):
    path.write_bytes(b"%d" % NOBODY)


def stale(path):
    path.write_bytes(b"%d" % os.getpid())
    an_hour_ago = now().timestamp() - 3601
    os.utime(path, (an_hour_ago, an_hour_ago))


STARTS = (nothing, empty, dead, stale)


def race(memory, number, rounds, barrier, wins, problems):
    """One racer. The winner of a round holds on until everybody has tried."""
    me = process.current()
    for turn in range(rounds):
        if number == 0 and memory.exists():
            STARTS[turn % len(STARTS)](memory / LOCK_NAME)
        barrier.wait(WAIT)
        taken = acquire(memory, me, now())
        if isinstance(taken, Held):
            with wins.get_lock():
                wins[turn] += 1
        elif taken.broken:
            problems.put(taken.reason)
        barrier.wait(WAIT)
        if isinstance(taken, Held) and not taken.rewind().done:
            problems.put("a rewind failed")
        barrier.wait(WAIT)


def run_race(memory, rounds):
    barrier, wins, problems = FORK.Barrier(RACERS), FORK.Array("i", rounds), FORK.SimpleQueue()
    racers = [
        FORK.Process(target=race, args=(memory, number, rounds, barrier, wins, problems), daemon=True)
        for number in range(RACERS)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(WAIT)
    assert [racer.exitcode for racer in racers] == [0] * RACERS
    assert problems.empty()
    return list(wins)


@pytest.mark.more
def test_of_many_racing_acquirers_exactly_one_wins_every_round(memory):
    assert run_race(memory, ROUNDS) == [1] * ROUNDS


def test_of_many_racing_for_a_missing_directory_exactly_one_wins(memory):
    memory.rmdir()
    assert run_race(memory, 3) == [1] * 3
    assert not memory.exists()


def hold(memory, pipe):
    """Take the lock, tell who, then answer one "beat" at a time until killed."""
    taken = acquire(memory, process.current(), now())
    pipe.send((process.current(), isinstance(taken, Held)))
    while pipe.poll(WAIT) and pipe.recv() == "beat":
        try:
            pipe.send(taken.heartbeat())
        except LockLost as lost:
            pipe.send(str(lost))


@contextmanager
def holder(memory):
    ours, theirs = FORK.Pipe()
    child = FORK.Process(target=hold, args=(memory, theirs), daemon=True)
    child.start()
    assert ours.poll(WAIT)
    identity, held = ours.recv()
    assert held
    try:
        yield identity, ours
    finally:
        child.kill()
        child.join(WAIT)


def kill_and_wait(pid):
    """kill -9; the dead child stays unreaped, a zombie, as under a parent that is busy."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_a_killed_holder_is_replaced_at_once(memory):
    with holder(memory) as (identity, _):
        refused = acquire(memory, process.current(), now())
        assert isinstance(refused, Busy)
        assert refused.holder == identity.pid
        kill_and_wait(identity.pid)
        assert not status(memory, now()).held
        taken = acquire(memory, process.current(), now())
        assert isinstance(taken, Held)
        assert taken.rewind().done


def test_a_killed_holders_clock_is_healed(memory):
    empty(memory / LOCK_NAME)
    with holder(memory) as (identity, _):
        assert last_consolidated_ns(memory) > LONG_AGO_NS
        assert heal(memory, identity.pid, identity.start_time, LONG_AGO_NS).outcome is Healing.ALIVE
        kill_and_wait(identity.pid)
        assert heal(memory, identity.pid, identity.start_time, LONG_AGO_NS).outcome is Healing.HEALED
    assert last_consolidated_ns(memory) == LONG_AGO_NS
    assert (memory / LOCK_NAME).read_bytes() == b""


def test_a_killed_holder_of_a_missing_directory_is_replaced(memory):
    memory.rmdir()
    with holder(memory) as (identity, _):
        assert isinstance(acquire(memory, process.current(), now()), Busy)
        kill_and_wait(identity.pid)
        taken = acquire(memory, process.current(), now())
        assert isinstance(taken, Held)
        taken.rewind()


def test_a_stale_holder_that_lives_loses_the_lock_and_learns_it(memory):
    with holder(memory) as (_, pipe):
        later = now() + timedelta(minutes=61)
        taken = acquire(memory, process.current(), later)
        assert isinstance(taken, Held)
        pipe.send("beat")
        assert pipe.poll(WAIT)
        assert "took the lock" in pipe.recv()
        assert taken.rewind().done


def test_a_reused_pid_is_known_by_its_start_time(memory):
    with holder(memory) as (identity, _):
        before_reuse = process.ProcessIdentity(identity.pid, identity.start_time - 60)
        assert isinstance(acquire(memory, process.current(), now(), known=identity), Busy)
        taken = acquire(memory, process.current(), now(), known=before_reuse)
        assert isinstance(taken, Held)


def naive(memory, rounds, pipe):
    """The agent's own protocol without our guards: read, judge, write, read back."""
    path, mine, got = memory / LOCK_NAME, b"%d" % os.getpid(), 0

    def read():
        try:
            return path.read_bytes()
        except FileNotFoundError:  # the other has just let go
            return b""

    for _ in range(rounds):
        body = read()
        # On a memory file system a read beside a truncation sees NULs: no number to an agent, as nothing is.
        if body != mine and body.isdigit() and process.is_alive(int(body)):
            continue
        path.write_bytes(mine)
        if read() == mine:
            got += 1
            path.write_bytes(b"")
    pipe.send(got)


def test_beside_a_naive_agent_nothing_breaks_and_every_theft_is_reported(memory):
    ours, theirs = FORK.Pipe()
    agent = FORK.Process(target=naive, args=(memory, 1500, theirs), daemon=True)
    agent.start()
    mine, me = b"%d" % os.getpid(), process.current()
    outcomes = []
    for _ in range(300):
        taken = acquire(memory, me, now())
        assert isinstance(taken, Held) or not taken.broken
        if isinstance(taken, Held):
            released = taken.rewind()
            assert released.done or released.problem
            outcomes.append(released)
    assert ours.poll(WAIT)
    agent.join(WAIT)
    assert agent.exitcode == 0
    assert any(released.done for released in outcomes)
    path = memory / LOCK_NAME
    assert not path.exists() or path.read_bytes() != mine


def test_what_an_agent_without_guards_writes_between_our_steps_is_not_lengthened(memory, monkeypatch):
    """Its shorter PID with a NUL behind it would be no number to it."""
    path, real = memory / LOCK_NAME, os.pwrite

    def overwritten(fd, data, offset):
        written = real(fd, data, offset)
        path.write_bytes(b"77")
        return written

    path.write_bytes(b"")
    monkeypatch.setattr(os, "pwrite", overwritten)
    with path.open("r+b") as file:
        write_body(file.fileno(), b"12345")
    assert path.read_bytes() == b"77"


STEPS = ("pwrite", "ftruncate", "utime", "unlink")


def life_killed_before(step, memory, saved):
    """One whole failed hold; kill -9 strikes before the given step that changes the disk."""
    left = step

    def deadly(function):
        def call(*args, **options):
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return call

    for name in STEPS:
        setattr(os, name, deadly(getattr(os, name)))
    me = process.current()

    def save(record):
        saved.send(record)

    taken = acquire(memory, me, now(), before_write=save)
    taken.heartbeat()
    taken.rewind()


@pytest.mark.more
@pytest.mark.parametrize("start", [nothing, empty, dead])
def test_a_kill_at_any_step_is_healed_but_for_the_one_that_leaves_an_empty_body(memory, start):
    """Between two system calls the body is empty and the mtime new: then, as with the agent, a day is lost."""
    unhealed = []
    for step in range(1, 30):
        start(memory / LOCK_NAME)
        prior_ns = last_consolidated_ns(memory)
        ours, theirs = FORK.Pipe()
        child = FORK.Process(target=life_killed_before, args=(step, memory, theirs), daemon=True)
        child.start()
        child.join(WAIT)
        assert ours.poll(WAIT)
        record = ours.recv()
        heal(memory, record.pid, record.start_time, record.prior_mtime_ns)
        if last_consolidated_ns(memory) != prior_ns:
            unhealed.append(step)
            assert (memory / LOCK_NAME).read_bytes() == b""
        taken = acquire(memory, process.current(), now())
        assert isinstance(taken, Held)
        taken.rewind()
        if child.exitcode == 0:
            break
    assert child.exitcode == 0
    assert step > 3  # from nothing there is nothing to cut: write, time, unlink, and the life that ends
    assert len(unhealed) <= 1


def test_a_process_is_known_by_pid_and_start_time():
    me = process.current()
    assert process.is_alive(me.pid, me.start_time)
    assert not process.is_alive(me.pid, me.start_time - 5)
    assert not process.is_alive(NOBODY)
    assert not any(process.is_alive(pid) for pid in (0, -1, 2**40))
    assert process.is_alive(os.getppid())


def test_a_process_of_another_user_that_the_system_hides_is_alive(monkeypatch):
    def refused(pid: int, signal: int) -> None:
        raise PermissionError

    # As of `hidepid`: there is no folder of it, but the system says that it is not ours.
    monkeypatch.setattr(os, "kill", refused)
    assert process.is_alive(NOBODY)
    assert not process.is_alive(NOBODY, 5.0), "ours are never hidden"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_process_is_the_same_after_the_clock_was_set(monkeypatch, platform):
    me = process.current()
    created, booted = psutil.Process.create_time, psutil.boot_time
    # Both follow the clock; psutil does so on macOS too.
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: created(self) + 10)
    monkeypatch.setattr(psutil, "boot_time", lambda: booted() + 10)
    monkeypatch.setattr(sys, "platform", platform)
    assert process.is_alive(me.pid, me.start_time)


def test_a_start_is_known_where_psutil_renames_what_has_no_public_name():
    found = psutil.Process()
    found.create_time()  # which it keeps
    found._proc = object()
    assert abs(process._start_time(found) - process.current().start_time) < 0.5


def test_a_zombie_is_dead():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    try:
        assert not process.is_alive(child)
    finally:
        os.waitpid(child, 0)
