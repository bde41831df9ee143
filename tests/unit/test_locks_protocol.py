"""Taking, refusing, keeping and letting go, in one process; the races are in test_locks_races."""

import errno
import fcntl
import os
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from dreams.lib import process
from dreams.lib.locks import (
    LOCK_NAME,
    Busy,
    Healing,
    Heartbeat,
    Held,
    LockFileError,
    LockLost,
    acquire,
    acquiring,
    heal,
    held,
    last_consolidated_ns,
    lockfile,
    status,
)
from dreams.lib.process import ProcessIdentity

ME = process.current()
LONG_AGO_NS = 1_600_000_000_123_456_789
NOBODY = 2**31 - 1


def now():
    return datetime.now(UTC)


@pytest.fixture
def memory(tmp_path):
    directory = tmp_path / "project" / "memory"
    directory.mkdir(parents=True)
    return directory


def put(memory, body=b"", mtime_ns=None):
    path = memory / LOCK_NAME
    path.write_bytes(body)
    if mtime_ns is not None:
        os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def take(memory, **options):
    taken = acquire(memory, ME, now(), **options)
    assert isinstance(taken, Held), taken
    return taken


def seen(memory):
    """Names, bytes, modes and mtimes, of the directory too."""
    entries = [(path.name, path.read_bytes(), path.lstat()) for path in sorted(memory.iterdir())]
    own = memory.lstat()
    return own.st_mtime_ns, [
        (name, body, at.st_mode, at.st_mtime_ns, at.st_ino) for name, body, at in entries
    ]


def test_the_body_is_exactly_the_pid(memory):
    with take(memory):
        assert (memory / LOCK_NAME).read_bytes() == b"%d" % os.getpid()


def test_a_new_lock_file_has_the_mode_that_the_agent_would_give_it(memory):
    before = os.umask(0o022)
    try:
        with take(memory):
            assert (memory / LOCK_NAME).stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)


def test_a_second_taker_is_told_who_has_it_and_until_when(memory):
    with take(memory):
        refused = acquire(memory, ME, now())
        assert isinstance(refused, Busy)
        assert refused.holder == os.getpid()
        assert refused.opens_at - refused.since == timedelta(minutes=60)
        assert f"Process {os.getpid()} holds the lock" in refused.reason
        assert status(memory, now()).held


@pytest.mark.parametrize(
    "body", [b"", b"nonsense", b"-1", b"0", b"99999999999", b"12 34", b"\xff\x00", b"%d" % NOBODY]
)
def test_a_dead_or_unreadable_holder_may_be_replaced(memory, body):
    path = put(memory, body)
    with take(memory):
        assert path.read_bytes() == b"%d" % os.getpid()


def test_a_fresh_lock_of_a_living_process_is_never_taken(memory):
    path = put(memory, b"%d\n" % os.getppid())
    before = seen(memory)
    assert isinstance(acquire(memory, ME, now()), Busy)
    assert seen(memory) == before
    assert path.read_bytes() == b"%d\n" % os.getppid()


@pytest.mark.parametrize(
    ("minutes", "seconds", "free"), [(59, 59, False), (60, 0, True), (61, 0, True), (-5, 0, False)]
)
def test_a_lock_is_stale_after_sixty_minutes_even_if_its_holder_lives(memory, minutes, seconds, free):
    moment = datetime(2026, 3, 10, 12, tzinfo=UTC)
    written = moment - timedelta(minutes=minutes, seconds=seconds)
    put(memory, b"%d" % os.getppid(), int(written.timestamp()) * 10**9)
    assert status(memory, moment).held is not free
    assert isinstance(acquire(memory, ME, moment), Held) is free


def test_a_reused_pid_is_seen_by_its_start_time(memory):
    put(memory, b"%d" % os.getppid())
    parent = ProcessIdentity(os.getppid(), process._start_time(psutil.Process(os.getppid())))
    assert isinstance(acquire(memory, ME, now(), known=parent), Busy)
    reused = ProcessIdentity(parent.pid, parent.start_time - 500)
    other = ProcessIdentity(NOBODY, 1.0)
    assert isinstance(acquire(memory, ME, now(), known=other), Busy)
    with take(memory, known=reused):
        assert not status(memory, now(), known=ProcessIdentity(ME.pid, ME.start_time - 500)).held


def test_a_completed_dream_moves_the_clock(memory):
    put(memory, b"7", LONG_AGO_NS)
    at = datetime(2026, 3, 10, 12, 0, 0, 123456, tzinfo=UTC)
    held = take(memory)
    assert held.release_completed(at).done
    assert (memory / LOCK_NAME).read_bytes() == b""
    assert last_consolidated_ns(memory) == int(at.timestamp()) * 10**9 + 123_456_000


def test_a_failed_dream_puts_the_clock_back_to_the_nanosecond(memory):
    path = put(memory, b"%d" % NOBODY, LONG_AGO_NS)
    with take(memory):
        assert path.stat().st_mtime_ns > LONG_AGO_NS
    assert path.read_bytes() == b""
    assert path.stat().st_mtime_ns == LONG_AGO_NS


def test_a_failed_first_dream_leaves_no_lock_file(memory):
    take(memory).rewind()
    assert last_consolidated_ns(memory) is None
    assert list(memory.iterdir()) == []


@pytest.mark.parametrize("body", [None, b"", b"%d" % NOBODY, b"old text that is longer than a pid\n"])
def test_apply_leaves_no_trace_of_its_lock(memory, body):
    (memory / "MEMORY.md").write_text("- [A](a.md)\n")
    if body is not None:
        put(memory, body, LONG_AGO_NS).chmod(0o640)
    os.utime(memory, ns=(LONG_AGO_NS, LONG_AGO_NS))
    before = seen(memory)
    held = take(memory, keep_dir_mtime=True)
    assert (memory / LOCK_NAME).read_bytes() == b"%d" % os.getpid()
    held.heartbeat()
    assert held.release_keeping_clock().done
    assert seen(memory) == before


def test_a_lock_file_of_somebody_else_whose_clock_could_not_be_put_back_is_not_taken(memory, monkeypatch):
    """Who may write to it may not set its time: only its owner may."""
    put(memory, b"", LONG_AGO_NS)
    before = seen(memory)
    utime = os.utime

    def refused(target, *given, **named):
        if named.get("ns"):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        utime(target, *given, **named)

    monkeypatch.setattr(os, "utime", refused)
    taken = acquire(memory, ME, now())
    assert isinstance(taken, Busy) and taken.broken
    assert f"make {LOCK_NAME} in it your own" in taken.reason
    assert seen(memory) == before


def test_a_folder_of_somebody_else_can_be_locked_and_let_go(memory, monkeypatch):
    utime = os.utime

    def refused(target, *given, **named):
        if stat.S_ISDIR(os.stat(target).st_mode):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        utime(target, *given, **named)

    monkeypatch.setattr(os, "utime", refused)
    assert take(memory, keep_dir_mtime=True).release_keeping_clock().done
    assert not list(memory.iterdir())


def test_letting_go_twice_does_nothing_more(memory):
    put(memory, b"", LONG_AGO_NS)
    held = take(memory)
    first = held.rewind()
    with take(memory) as other:
        assert held.rewind() == held.release_completed(now()) == held.release_keeping_clock() == first
        other.heartbeat()
        with pytest.raises(LockLost, match="released"):
            held.heartbeat()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP])
def test_where_a_file_system_has_no_locks_nothing_is_taken_and_the_remedy_is_one(memory, monkeypatch, code):
    def refused(fd, kind):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refused)
    taken = acquire(memory, ME, now())
    assert isinstance(taken, Busy) and taken.broken
    assert "that has locks" in taken.reason and "that has locks" in status(memory, now()).error
    assert not list(memory.iterdir())


@pytest.fixture
def in_a_container(monkeypatch):
    """Process numbers of its own, and a root on another file system than the memories."""
    readlink, stat_of = os.readlink, os.stat
    top = stat_of("/")
    elsewhere = os.stat_result((*top[:2], top.st_dev + 1, *top[3:]))
    number = "pid:[4026532999]"
    monkeypatch.setattr(
        os, "readlink", lambda path, **o: number if "ns/pid" in str(path) else readlink(path, **o)
    )
    monkeypatch.setattr(os, "stat", lambda path, **o: elsewhere if path == "/" else stat_of(path, **o))
    monkeypatch.setattr(acquiring, "sees_those_of_the_machine", process.sees_those_of_the_machine)
    process.sees_those_of_the_machine.cache_clear()
    yield
    process.sees_those_of_the_machine.cache_clear()


def test_in_a_container_a_fresh_lock_from_outside_is_held_although_its_process_is_unknown(
    memory, in_a_container
):
    path = put(memory, b"%d" % NOBODY)
    assert status(memory, now()).held
    assert isinstance(acquire(memory, ME, now()), Busy)
    assert path.read_bytes() == b"%d" % NOBODY
    an_hour_ago = time.time_ns() - 3_601 * 10**9
    put(memory, b"%d" % NOBODY, an_hour_ago)
    assert not status(memory, now()).held


def test_in_a_container_a_lock_that_we_left_there_ourselves_is_free(memory, in_a_container):
    put(memory, b"%d" % NOBODY)
    with take(memory, known=ProcessIdentity(NOBODY, 5.0)):
        assert (memory / LOCK_NAME).read_bytes() == b"%d" % os.getpid()


def test_a_heartbeat_keeps_the_lock_fresh(memory):
    with take(memory) as held:
        later = now() + timedelta(minutes=50)
        held.heartbeat(later)
        assert status(memory, later + timedelta(minutes=59)).held


def test_a_heartbeat_ends_with_the_maximum_lifetime(memory, monkeypatch):
    begun = time.monotonic()
    with take(memory) as held:
        monkeypatch.setattr(time, "monotonic", lambda: begun + 119 * 60)
        held.heartbeat()
        monkeypatch.setattr(time, "monotonic", lambda: begun + 121 * 60)
        with pytest.raises(LockLost, match="2 h, the longest"):
            held.heartbeat()


def test_a_machine_that_slept_for_a_night_goes_on_with_its_hold(memory):
    with take(memory) as held:
        morning = now() + timedelta(hours=9)
        held.heartbeat(morning)
        assert status(memory, morning).held


def test_a_stolen_lock_is_noticed_and_left_to_the_thief(memory):
    held = take(memory)
    path = put(memory, b"%d" % os.getppid(), LONG_AGO_NS)
    with pytest.raises(LockLost, match="took the lock"):
        held.heartbeat()
    outcome = held.rewind()
    assert not outcome.done
    assert "not ours any more" in outcome.problem
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (b"%d" % os.getppid(), LONG_AGO_NS)


def test_a_second_dream_of_the_same_process_is_not_undone_by_the_first(memory):
    first = take(memory)
    second = acquire(memory, ME, now() + timedelta(hours=2))
    assert isinstance(second, Held)
    with pytest.raises(LockLost):
        first.heartbeat()
    assert not first.rewind().done
    second.heartbeat()
    assert second.rewind().done


def test_a_replaced_directory_is_noticed(memory):
    held = take(memory)
    memory.rename(memory.with_name("moved"))
    memory.mkdir()
    with pytest.raises(LockLost, match="moved or replaced"):
        held.heartbeat()
    assert held.rewind().done
    assert list(memory.with_name("moved").iterdir()) == []


def test_a_rewind_that_fails_is_reported_and_not_raised(memory):
    held = take(memory)
    (memory / LOCK_NAME).unlink()
    (memory / LOCK_NAME).mkdir()
    outcome = held.rewind()
    assert not outcome.done
    assert "is a directory, not a lock file" in outcome.problem


ODD = {
    "link": lambda path, victim: path.symlink_to(victim),
    "dangling": lambda path, victim: path.symlink_to(victim.with_name("nothing")),
    "fifo": lambda path, victim: os.mkfifo(path),
    "directory": lambda path, victim: path.mkdir(),
    "second name": lambda path, victim: path.hardlink_to(victim),
    "huge": lambda path, victim: path.write_bytes(b"1" * 5000),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_lock_path_that_is_no_lock_file_is_refused_with_the_remedy(memory, tmp_path, kind):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    ODD[kind](memory / LOCK_NAME, victim)
    refused = acquire(memory, ME, now())
    assert isinstance(refused, Busy)
    assert refused.broken
    assert "not a lock file; move it away" in refused.reason
    assert victim.read_bytes() == b"precious"
    assert not victim.with_name("nothing").exists()
    assert "right to write" not in refused.reason, "the lock itself is in the way, not a right"
    assert status(memory, now()).error.endswith("move it away. Do so, then try again.")
    with pytest.raises(LockFileError):
        last_consolidated_ns(memory)


@pytest.mark.parametrize("has_lock_file", [False, True])
def test_a_directory_that_cannot_be_written_to_has_no_usable_lock(memory, monkeypatch, has_lock_file):
    if has_lock_file:
        put(memory)
    assert not status(memory, now()).error
    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)  # root may write everywhere
    assert "Permission denied. Give yourself the right to write there" in status(memory, now()).error


def test_a_memory_path_that_is_a_file_or_a_link_is_refused(memory):
    file = memory / "file"
    file.write_text("")
    link = memory / "link"
    link.symlink_to(memory)
    for path in (file, link):
        refused = acquire(path, ME, now())
        assert isinstance(refused, Busy)
        assert refused.broken


@pytest.mark.parametrize("has_lock_file", [False, True])
def test_a_lock_that_a_full_disk_cuts_short_leaves_all_as_it_was(memory, monkeypatch, has_lock_file):
    if has_lock_file:
        put(memory, b"old", LONG_AGO_NS)
    before, whole = seen(memory), os.pwrite

    def full(fd, data, at):
        monkeypatch.setattr(os, "pwrite", whole)
        return whole(fd, data[:-1], at)

    monkeypatch.setattr(os, "pwrite", full)
    refused = acquire(memory, ME, now(), keep_dir_mtime=True)
    assert isinstance(refused, Busy) and refused.broken
    assert "Nothing was changed; make room on that disk, then try again." in refused.reason
    assert seen(memory) == before
    assert take(memory).rewind().done


def test_who_takes_the_lock_between_our_write_and_our_last_look_has_it(memory, monkeypatch):
    path, real = put(memory, b"old", LONG_AGO_NS), os.utime

    def overwritten(target, *args, **given):
        real(target, *args, **given)
        if not args and not given:  # the last step of taking it
            path.write_bytes(b"4242")

    monkeypatch.setattr(os, "utime", overwritten)
    refused = acquire(memory, ME, now())
    assert isinstance(refused, Busy) and (refused.holder, refused.broken) == (4242, False)
    assert "took the lock at the same moment" in refused.reason
    assert path.read_bytes() == b"4242"


def test_a_directory_that_somebody_keeps_busy_is_left_alone_and_said(memory, monkeypatch):
    put(memory, b"", LONG_AGO_NS)
    for waiting in ("_WAIT_SECONDS", "_HEALING_WAIT_SECONDS"):
        monkeypatch.setattr(acquiring, waiting, 0.01)
    for waiting in ("_RELEASE_WAIT", "_BEAT_WAIT"):
        monkeypatch.setattr(held, waiting, 0.01)
    taken = take(memory)
    before = seen(memory)
    fd = os.open(memory, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        refused = acquire(memory, ME, now())
        assert isinstance(refused, Busy) and "right now; try again when it is done" in refused.reason
        assert heal(memory, NOBODY, 1.0, LONG_AGO_NS).outcome is Healing.BUSY
        released = taken.rewind()
        assert not released.done and "busy; the clock was not put back" in released.problem
        assert seen(memory) == before
    finally:
        os.close(fd)


def test_what_heals_a_crash_is_known_before_the_file_is_touched(memory):
    path = put(memory, b"old", LONG_AGO_NS)
    records = []

    def save(record):
        assert path.read_bytes() == b"old"
        records.append(record)

    with take(memory, before_write=save) as held:
        assert records == [held.record]
        assert (records[0].pid, records[0].prior_mtime_ns, records[0].prior_body) == (
            ME.pid,
            LONG_AGO_NS,
            b"old",
        )


def test_nothing_is_written_when_the_record_cannot_be_kept(memory):
    put(memory, b"old", LONG_AGO_NS)
    before = seen(memory)

    def fail(record):
        raise RuntimeError("database is gone")

    with pytest.raises(RuntimeError):
        acquire(memory, ME, now(), before_write=fail)
    assert seen(memory) == before
    take(memory).rewind()


def test_a_body_half_replaced_reads_as_our_pid_and_never_as_a_mixture(memory, monkeypatch):
    path = put(memory, b"1234567890")

    def crash(fd, length):
        raise InterruptedError

    monkeypatch.setattr(os, "ftruncate", crash)
    with path.open("r+b") as file, pytest.raises(InterruptedError):
        lockfile.write_body(file.fileno(), b"42")
    assert lockfile.parse_pid(path.read_bytes()) == 42


def test_a_missing_directory_is_held_by_its_parent_and_not_created(memory):
    memory.rmdir()
    with take(memory) as held:
        assert not held.file_made
        held.heartbeat()
        refused = acquire(memory, ME, now())
        assert isinstance(refused, Busy)
        assert not refused.broken
        assert status(memory, now()).held
        assert not memory.exists()
        inherited = [os.dup(fd) for fd in held._descriptors]  # as a child process has them
    assert not memory.exists()
    take(memory).rewind()
    for fd in inherited:
        os.close(fd)


def test_a_hold_on_a_missing_directory_outlives_its_creation_by_somebody_else(memory):
    memory.rmdir()
    with take(memory):
        memory.mkdir()
        assert isinstance(acquire(memory, ME, now()), Busy)
    take(memory).rewind()


def test_a_missing_directory_whose_nearest_parent_is_the_top_one_is_held(tmp_path):
    """As for a memory directory `/notes`; its hold is on "/", which has no parent that another hold could be on."""
    with take(Path(f"/{tmp_path.name}-is-not-there") / "memory") as held:
        held.release_keeping_clock()


def test_two_missing_levels_are_held_too(memory):
    memory.rmdir()
    memory.parent.rmdir()
    with take(memory):
        memory.parent.mkdir()
        assert isinstance(acquire(memory, ME, now()), Busy)


def test_the_lock_file_appears_when_apply_creates_the_directory(memory):
    memory.rmdir()
    held = take(memory)
    memory.mkdir()
    held.directory_created(LONG_AGO_NS)
    held.directory_created(LONG_AGO_NS)
    assert held.file_made
    assert (memory / LOCK_NAME).read_bytes() == b"%d" % os.getpid()
    assert held.release_keeping_clock().done
    assert last_consolidated_ns(memory) == LONG_AGO_NS
    assert (memory / LOCK_NAME).read_bytes() == b""


def test_an_apply_that_failed_in_a_new_directory_leaves_no_lock_file(memory):
    memory.rmdir()
    held = take(memory)
    memory.mkdir()
    held.directory_created(LONG_AGO_NS)
    assert held.rewind().done
    assert list(memory.iterdir()) == []


def test_rollback_may_remove_the_directory_it_holds(memory):
    held = take(memory)
    (memory / LOCK_NAME).unlink()
    memory.rmdir()
    assert not held.release_keeping_clock().done
    assert not memory.exists()


def test_a_directory_that_was_locked_by_another_first_is_not_ours(memory):
    memory.rmdir()
    held = take(memory)
    memory.mkdir()
    put(memory, b"%d" % os.getppid())
    with pytest.raises(LockLost):
        held.heartbeat()
    with pytest.raises(LockLost):
        held.directory_created()
    assert not held.release_completed(now()).done
    assert (memory / LOCK_NAME).read_bytes() == b"%d" % os.getppid()


def test_a_dream_completed_without_a_directory_has_no_clock_to_move(memory):
    memory.rmdir()
    assert take(memory).release_completed(now()).done
    assert not memory.exists()
    held = take(memory)
    memory.mkdir()
    at = datetime(2026, 3, 10, tzinfo=UTC)
    assert held.release_completed(at).done
    assert last_consolidated_ns(memory) == int(at.timestamp()) * 10**9


def test_healing_needs_a_dead_holder_whose_pid_still_stands_there(memory):
    path = put(memory, b"%d" % ME.pid)
    assert heal(memory, ME.pid, ME.start_time, LONG_AGO_NS).outcome is Healing.ALIVE
    assert heal(memory, NOBODY, 1.0, LONG_AGO_NS).outcome is Healing.NOT_OURS
    assert heal(memory / "missing", NOBODY, 1.0, None).outcome is Healing.NOT_OURS
    assert path.read_bytes() == b"%d" % ME.pid
    # The same PID with another start time: ours died, and its number was given out again.
    assert heal(memory, ME.pid, ME.start_time - 500, LONG_AGO_NS).outcome is Healing.HEALED
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (b"", LONG_AGO_NS)
    assert heal(memory, ME.pid, ME.start_time - 500, LONG_AGO_NS).outcome is Healing.NOT_OURS


def test_healing_a_first_hold_removes_the_file(memory):
    put(memory, b"%d" % NOBODY)
    assert heal(memory, NOBODY, 1.0, None).outcome is Healing.HEALED
    assert list(memory.iterdir()) == []


def test_healing_can_put_an_old_body_back(memory):
    path = put(memory, b"%d" % NOBODY)
    heal(memory, NOBODY, 1.0, LONG_AGO_NS, prior_body=b"12345678")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (b"12345678", LONG_AGO_NS)


def test_healing_reports_what_it_cannot_do(memory):
    (memory / LOCK_NAME).mkdir()
    healed = heal(memory, NOBODY, 1.0, None)
    assert healed.outcome is Healing.FAILED
    assert "move it away" in healed.reason


def test_the_heartbeat_thread_beats_and_tells_of_a_theft(memory):
    path = put(memory, b"", LONG_AGO_NS)
    held = take(memory)
    os.utime(path, ns=(LONG_AGO_NS, LONG_AGO_NS))
    with Heartbeat(held, every=timedelta(milliseconds=2)) as beat:
        beaten = any(path.stat().st_mtime_ns != LONG_AGO_NS or time.sleep(0.002) for _ in range(5000))
        put(memory, b"%d" % os.getppid())
        beat._thread.join(10)
    assert beaten
    assert "took the lock" in str(beat.lost)


def test_a_release_inside_the_heartbeat_is_no_theft(memory):
    with take(memory) as held, Heartbeat(held, every=timedelta(milliseconds=1)) as beat:
        held.release_completed(now())
        beat._thread.join(10)
    assert beat.lost is None


def test_no_descriptor_is_left_open(memory):
    def descriptors():
        return len(os.listdir("/dev/fd"))

    take(memory).rewind()
    before = descriptors()
    for _ in range(5):
        with take(memory):
            acquire(memory, ME, now())
            status(memory, now())
    memory.rmdir()
    for _ in range(5):
        with take(memory):
            pass
    assert descriptors() == before


def test_a_file_in_the_directorys_place_is_to_be_moved_away(tmp_path):
    (tmp_path / "memory").write_text("")
    refused = acquire(tmp_path / "memory", ME, now())
    assert isinstance(refused, Busy) and refused.broken
    assert refused.reason.endswith(
        "move away the file or link that is in the directory’s place, then try again."
    )
    assert status(tmp_path / "memory", now()).error.endswith(
        "Move away the file or link that is in the directory’s place, then try again."
    )
