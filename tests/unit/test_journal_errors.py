"""When the system refuses at any step: old content intact, no temporary file left, the journal says failed."""

import errno
import os
import shutil
import stat
from itertools import count
from pathlib import Path

import pytest

from dreams.lib.storage.journal import recover, run
from tests.world.cases import each
from tests.world.journal import NEW, Failing, Place, Traced, list_journals, make_place, make_plan

CODES = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def fresh(base: Path) -> Place:
    shutil.rmtree(base, ignore_errors=True)
    return make_place(base)


def steps(tmp_path: Path, rename_flags: bool = True) -> list[tuple[str, str]]:
    """The calls of a good run."""
    trace, place = Traced(rename_flags), fresh(tmp_path / "t")
    run(make_plan(place), place.journal, trace)
    return trace.calls


@pytest.mark.more
@pytest.mark.parametrize("code", CODES, ids=[errno.errorcode[code] for code in CODES])
def test_an_error_at_any_step_leaves_all_old_and_the_journal_says_failed(tmp_path: Path, code: int) -> None:
    calls = steps(tmp_path)
    committed = max(i for i, (_, what) in enumerate(calls) if what == "commit")
    for at in range(committed + 1):
        place = fresh(tmp_path / "p")
        before = place.tree()
        result = run(make_plan(place), place.journal, Failing(at, code))
        assert result.status == ("conflict" if calls[at][0] == "read" and at < 4 else "failed"), calls[at]
        assert place.tree() == before, calls[at]
        assert result.applied == ()
        assert [entry.state for entry in list_journals(place.journal) if entry.state != "failed"] == []
        assert recover(place.journal) == []
        assert run(make_plan(place), place.journal).status == "applied"


def test_an_error_after_the_commit_leaves_all_new_and_recovery_tidies_up(tmp_path: Path) -> None:
    calls = steps(tmp_path)
    committed = max(i for i, (_, what) in enumerate(calls) if what == "commit")
    tidied = 0
    for at in range(committed + 1, len(calls)):
        place = fresh(tmp_path / "p")
        result = run(make_plan(place), place.journal, Failing(at))
        assert result.status == "applied"
        tidied += [r.action for r in recover(place.journal)] == ["finished"]
        assert place.texts() == NEW
        assert place.leftovers() == []
        assert [entry.state for entry in list_journals(place.journal)] == ["applied"]
    assert tidied


@pytest.mark.more
@each("rename_flags", [True, False])
def test_a_disk_that_fails_for_good_is_recovered_once_it_works_again(
    tmp_path: Path, rename_flags: bool
) -> None:
    for at in range(0, len(steps(tmp_path, rename_flags)), 2):
        place = fresh(tmp_path / "p")
        before = place.tree()
        result = run(make_plan(place), place.journal, Failing(at, forever=True, rename_flags=rename_flags))
        recover(place.journal, Failing(0, errno.EROFS, forever=True))
        recover(place.journal)
        assert place.leftovers() == []
        undecided = any("decided by recover" in line for line in result.said)
        new = result.status == "applied" or (undecided and place.texts() == NEW)
        assert place.texts() == NEW if new else place.tree() == before


def test_a_failed_fsync_is_never_retried_as_if_good(tmp_path: Path) -> None:
    calls = steps(tmp_path)
    for at in (i for i, (call, _) in enumerate(calls) if call == "fsync"):
        place = fresh(tmp_path / "p")
        system = Failing(at)
        result = run(make_plan(place), place.journal, system)
        assert result.status != "applied" or calls[at][1] == "end.json"
        assert ("fsync", calls[at][1]) not in system.calls[at + 1 :]
        assert ("replace", calls[at][1]) not in system.calls[at + 1 :]


def test_an_error_while_undoing_leaves_it_to_recovery(tmp_path: Path) -> None:
    """The first error makes the run undo; then undoing fails as well, once, at each of its own steps."""
    calls = steps(tmp_path)
    first = calls.index(("create", "commit.json.tmp"))

    class Twice(Failing):
        second = 0

        def step(self, call: str, what: str) -> None:
            super().step(call, what)
            if len(self.calls) - 1 == self.second:
                raise OSError(errno.EIO, "again", what)

    for second in count(first + 1):
        place = fresh(tmp_path / "p")
        before = place.tree()
        system = Twice(first)
        system.second = second
        result = run(make_plan(place), place.journal, system)
        if len(system.calls) <= second:
            break
        assert result.status == "failed"
        recover(place.journal)
        assert place.tree() == before
    assert second > first + 10


def test_a_folder_of_somebody_else_keeps_its_new_time_and_an_undo_in_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write into a folder may not set its time: only its owner may. Recovery would try that for ever."""
    committed = next(i for i, (_, what) in enumerate(steps(tmp_path)) if what == "commit")
    place = fresh(tmp_path / "p")
    before, utime = place.texts(), os.utime

    def refused(target: int, **given: tuple[int, int]) -> None:
        if stat.S_ISDIR(os.stat(target).st_mode):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        utime(target, **given)

    monkeypatch.setattr(os, "utime", refused)
    result = run(make_plan(place), place.journal, Failing(committed, errno.ENOSPC))
    assert (result.status, recover(place.journal)) == ("failed", [])
    assert place.texts() == before and place.leftovers() == []


def test_where_no_file_can_have_two_names_nothing_is_written_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """exFAT, by a driver that has no exchanging rename either."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)
    place = fresh(tmp_path / "p")
    before = place.tree()
    result = run(make_plan(place), place.journal, Traced(False))
    assert (result.status, result.said, place.tree()) == ("failed", (), before)
    assert "refuses hard links" in result.error and "Give yourself the right" not in result.error
    assert recover(place.journal) == [] and place.leftovers() == []
