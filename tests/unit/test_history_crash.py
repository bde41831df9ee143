"""A process killed at any step leaves the state before or after, and the history works on."""

import errno
import os
import shutil
import signal
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from dulwich.objects import Blob

from dreams.lib.files import flush
from dreams.lib.storage.history import HistoryBusy, HistoryStore, Meta, State, durable
from dreams.lib.storage.history.gitrepo import GitRepo
from tests.world.processes.killed import dies

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
STEPS = [(os, "fsync"), (os, "replace"), (Path, "rename"), (Path, "unlink"), (os, "unlink"), (os, "mkdir")]
STEPS += [(flush, "sync_file_system")]
SECRET = b"the word that leaked"


def keep(store, text, day):
    metas = {"a.md": Meta(0o600, 1)}
    return store.commit(State({"a.md": text}, metas, f"Day {day}", {}, NOON + timedelta(days=day), "Ann"))


class Steps:
    """Counts each durable step; just before the chosen one `act` happens."""

    def __init__(self, patch, act, fatal=-1):
        self.count, self.act, self.fatal = 0, act, fatal
        for owner, name in STEPS:
            patch.setattr(owner, name, self.wrapped(getattr(owner, name)))

    def wrapped(self, real):
        def step(*args, **kwargs):
            self.at()
            return real(*args, **kwargs)

        return step

    def at(self):
        self.count += 1
        if self.count == self.fatal:
            self.act()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def until_step(fatal, action):
    """`action`, killed at step `fatal`."""
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, die, fatal)
        action()


def fresh(whole, path):
    """A copy of a prepared history, so that each step is tried on the same one."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(whole, path)


def every_step(prepare, action, check, stride=1):
    """Kill `action`, a function of this module and what it is given, at its first step, at its second, and so on until it runs through.

    A `stride` of 3 tries every third step.
    """
    step = 1 - stride
    killed = True
    while killed:
        step += stride
        prepare(step)
        killed = dies(until_step, step, action)
        check(step, killed)
    assert step > 8, "the steps were not seen"


def commit_one_more(path):
    with HistoryStore(path) as store:
        number = len(list(store.log(limit=1000)))
        keep(store, b"text %d" % number, number)


def make(path):
    HistoryStore.open_or_create(path).close()


def states(store: HistoryStore) -> list[str]:
    """The sha256 of a.md in every state, newest first."""
    return [store.tree_at(commit.id)["a.md"] for commit in store.log(limit=1000)]


def repack(path):
    with HistoryStore(path) as store:
        store.pack(max_packs=1)


def purge(path, sha256):
    with HistoryStore(path) as store:
        store.purge([sha256], "leaked", "Ann", NOON)


def test_a_commit_killed_at_any_step_leaves_the_state_before_or_after(tmp_path):
    path = tmp_path / "p.git"
    with HistoryStore.open_or_create(path) as store:
        keep(store, b"text 0", 0)
    seen = set()

    def prepare(step):
        seen.clear()
        with HistoryStore(path) as store:
            seen.update(commit.id for commit in store.log(limit=1000))

    def check(step, killed):
        with HistoryStore(path) as store:
            store.recover()
            assert store.verify() == []
            ids = [commit.id for commit in store.log(limit=1000)]
            assert seen <= set(ids)
            assert len(ids) in (len(seen), len(seen) + 1)
            if not killed:
                assert store.read(states(store)[0]) == b"text %d" % len(seen)

    every_step(prepare, partial(commit_one_more, path), check)


def test_making_a_history_killed_at_any_step_leaves_none_or_a_whole_one(tmp_path):
    path = tmp_path / "p.git"

    def prepare(step):
        if path.exists():
            path.rename(tmp_path / f"old{step}")

    def check(step, killed):
        with HistoryStore.open_or_create(path) as store:
            assert keep(store, b"text", 0)
            assert store.verify() == []
        assert not list(tmp_path.glob(".p.git*"))

    every_step(prepare, partial(make, path), check)


def first_state(number):
    text = {"a.md": b"text %d" % number, "deep/b.md": b"the same"}
    return State(text, {path: Meta(0o600, 1) for path in text}, "First look", {}, NOON, "Ann")


def begin(folder, names):
    HistoryStore.begin(folder, {name: first_state(number) for number, name in enumerate(names)})


@pytest.mark.more
@pytest.mark.parametrize("whole_file_system", [True, pytest.param(False, marks=pytest.mark.sweep)])
def test_many_begun_together_and_killed_at_any_step_are_each_whole_or_not_there(
    tmp_path, monkeypatch, whole_file_system
):
    if not whole_file_system:
        monkeypatch.setattr(flush, "tells_what_failed", lambda: False)
        monkeypatch.setattr(durable, "_SYNCS_AT_ONCE", 1)
    monkeypatch.setattr(durable, "_MANY", 2)
    names = ["0.git", "1.git"]
    folder = tmp_path / "history"

    def check(step, killed):
        there = [name for name in names if (folder / name).exists()]
        assert killed or there == names
        for name in there:
            with HistoryStore(folder / name) as store:
                assert store.verify() == []
                assert len(store.log()) == 1
        begin(folder, names)
        for number, name in enumerate(names):
            with HistoryStore(folder / name) as store:
                assert store.read(store.tree_at(store.log()[-1].id)["a.md"]) == b"text %d" % number
                assert store.verify() == []
        assert {path.name for path in folder.iterdir()} == {*names, ".building.flock"}

    every_step(lambda step: shutil.rmtree(folder, ignore_errors=True), partial(begin, folder, names), check)


def test_one_that_cannot_begin_stops_no_other_and_one_that_is_there_is_left_alone(tmp_path):
    begin(tmp_path, ["0.git"])
    odd = State({"../out.md": b"x"}, {}, "First look", {}, NOON, "Ann")
    states = {"0.git": first_state(5), "odd.git": odd, "new.git": first_state(1)}
    assert HistoryStore.begin(tmp_path, states) == {"new.git"}
    with HistoryStore(tmp_path / "0.git") as store:
        assert store.read(store.tree_at(store.log()[-1].id)["a.md"]) == b"text 0"
    assert not (tmp_path / "odd.git").exists()


def test_a_history_begun_with_a_state_takes_the_next_one(tmp_path):
    begin(tmp_path, ["0.git"])
    with HistoryStore.open_or_create(tmp_path / "0.git") as store:
        same = first_state(0)
        assert store.commit(replace(same, subject="Again")) is None
        assert keep(store, b"later", 3)
        assert len(store.log()) == 2
        assert store.verify() == []


@pytest.mark.more
def test_a_repack_killed_at_any_step_loses_nothing(tmp_path):
    whole, path = tmp_path / "whole.git", tmp_path / "p.git"
    with HistoryStore.open_or_create(whole) as store:
        kept = store.put(b"evidence")
        ids = [keep(store, b"text %d" % number, number).id for number in range(3)]

    def check(step, killed):
        with HistoryStore(path) as store:
            store.recover()
            assert store.verify() == []
            assert [commit.id for commit in store.log()] == ids[::-1]
            assert store.read(kept) == b"evidence"

    every_step(lambda step: fresh(whole, path), partial(repack, path), check)


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.sweep)])
def test_a_purge_killed_at_any_step_is_finished_by_recover_or_was_not_begun(tmp_path, stride):
    whole, path = tmp_path / "whole.git", tmp_path / "p.git"
    with HistoryStore.open_or_create(whole) as store:
        for day, text in enumerate((b"before", SECRET, b"after")):
            keep(store, text, day)
        old = states(store)[1]

    def check(step, killed):
        with HistoryStore(path) as store:
            store.recover()
            assert store.verify() == []
            texts = [store.read(sha256) for sha256 in states(store)]
            assert texts[0] == b"after"
            assert texts[2] == b"before"
            assert store.has(old) == (texts[1] == SECRET)
            assert killed or texts[1].startswith(b"This text was removed")
            assert store.recover() == []

    every_step(lambda step: fresh(whole, path), partial(purge, path, old), check, stride)


def test_a_process_killed_at_any_moment_keeps_every_commit_it_reported(tmp_path):
    path = tmp_path / "p.git"
    with HistoryStore.open_or_create(path) as store:
        keep(store, b"start", 0)
    for round_ in range(4):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with HistoryStore(path) as store:
                for number in range(10_000):
                    made = keep(store, b"%d %d" % (round_, number), number)
                    os.write(writer, made.id.encode())
            os._exit(0)
        os.close(writer)
        time.sleep(0.03 + round_ * 0.017)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader, "rb") as reported:
            ids = reported.read().decode()
        with HistoryStore(path) as store:
            store.recover()
            assert store.verify() == []
            line = {commit.id for commit in store.log(limit=100_000)}
            assert {ids[at : at + 40] for at in range(0, len(ids) // 40 * 40, 40)} <= line
            store.pack()


def test_a_ref_lock_of_a_killed_worker_stops_its_project_for_a_minute_and_not_until_the_next_start(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "p.git") as store:
        keep(store, b"one", 0)
        for ref in ("heads/main", "memoryweb/index"):
            stale = store.path / f"refs/{ref}.lock"
            stale.touch()
            with pytest.raises(HistoryBusy, match="run recover"):
                keep(store, f"two {ref}".encode(), 1)
            before = time.time() - 61
            os.utime(stale, (before, before))
            assert keep(store, f"two {ref}".encode(), 1) and not stale.exists()
        assert store.verify() == []


def test_a_young_ref_lock_is_named_and_removed_only_by_recover(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "p.git") as store:
        keep(store, b"one", 0)
        stale = store.path / "refs/heads/main.lock"
        stale.touch()
        with pytest.raises(HistoryBusy, match="run recover"):
            keep(store, b"two", 1)
        assert stale.exists()
        assert any("refs/heads/main.lock" in line for line in store.recover())
        assert keep(store, b"two", 1)


def test_a_new_history_has_its_name_surely_on_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(durable, "sync_folder", synced.append)
    HistoryStore.open_or_create(tmp_path / "p.git").close()
    assert synced[-1] == tmp_path


def test_a_commit_whose_name_is_not_surely_on_disk_is_none(tmp_path, monkeypatch):
    def refuse(folder):
        if folder.name == "heads":
            raise OSError(errno.EIO, "the disk refuses")

    with HistoryStore.open_or_create(tmp_path / "p.git") as store:
        first = keep(store, b"one", 0)
        with monkeypatch.context() as patch:
            patch.setattr(durable, "sync_folder", refuse)
            with pytest.raises(OSError, match="refuses"):
                keep(store, b"two", 1)
        assert [commit.id for commit in store.log()] == [first.id]
        assert keep(store, b"two", 1)


def test_a_writer_waits_for_another_and_then_says_who_is_in_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr("dreams.lib.storage.history.durable.LOCK_SECONDS", 0.05)
    with HistoryStore.open_or_create(tmp_path / "p.git") as store:
        release, held = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            with HistoryStore(store.path) as other, other._repo.lock():
                os.write(held[1], b"x")
                os.read(release[0], 1)
            os._exit(0)
        os.read(held[0], 1)
        with pytest.raises(HistoryBusy, match="another process"):
            keep(store, b"one", 0)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert keep(store, b"one", 0)  # the kernel let go of the dead one's lock
        for end in (*release, *held):
            os.close(end)


def test_a_disk_error_at_any_step_is_reported_and_a_retry_keeps_the_text(tmp_path):
    whole, path = tmp_path / "whole.git", tmp_path / "p.git"
    with HistoryStore.open_or_create(whole) as store:
        keep(store, b"first", 0)
    reached, step = True, 0

    def fail():
        raise OSError(28, "No space left on device")

    while reached:
        step += 1
        fresh(whole, path)
        failed = False
        with HistoryStore(path) as store, pytest.MonkeyPatch.context() as patch:
            steps = Steps(patch, fail, step)
            try:
                keep(store, b"second", 1)
            except OSError:
                failed = True
            reached = steps.count >= step
        with HistoryStore(path) as store:
            assert store.verify() == []
            store.recover()
            assert not list(path.rglob("*.unfinished"))
            assert (keep(store, b"second", 1) is not None) == failed
            assert [store.read(sha256) for sha256 in states(store)] == [b"second", b"first"]
            assert store.verify() == []
    assert step > 8


def test_a_pack_whose_writing_failed_leaves_no_file_for_a_retry_to_trust(tmp_path):
    HistoryStore.open_or_create(tmp_path / "p.git").close()
    repo = GitRepo(tmp_path / "p.git")
    blob = Blob.from_string(b"text")
    step, failed = 0, True

    def fail():
        raise OSError(5, "Input/output error")

    while failed:
        step += 1
        with pytest.MonkeyPatch.context() as patch:
            Steps(patch, fail, step)
            try:
                repo.write([blob])
                failed = False
            except OSError:
                assert list((repo.path / "objects/pack").iterdir()) == []
    assert repo.blob(blob.id) == b"text"
    assert step > 6
    repo.close()


def test_a_repack_that_fails_keeps_the_pack_that_already_has_the_same_content(tmp_path):
    def fail():
        raise OSError(5, "Input/output error")

    with HistoryStore.open_or_create(tmp_path / "p.git") as store:
        keep(store, b"one", 0)
        store.pack(max_packs=0)
        failed = 0
        for step in range(1, 20):
            with pytest.MonkeyPatch.context() as patch:
                Steps(patch, fail, step)
                try:
                    store.pack(max_packs=0)
                except OSError:
                    failed += 1
            assert store.verify() == []
        assert failed > 4


def test_a_pack_that_cannot_be_read_leaves_no_file(tmp_path):
    HistoryStore.open_or_create(tmp_path / "p.git").close()
    repo = GitRepo(tmp_path / "p.git")
    packs = repo.path / "objects/pack"
    before = sorted(packs.iterdir())
    with pytest.raises(ValueError, match="unreadable"):
        repo.add_pack(_broken_off())
    assert sorted(packs.iterdir()) == before
    repo.close()


def _broken_off():
    yield b"PACK"
    raise ValueError("unreadable")
