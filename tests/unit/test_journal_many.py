"""Many texts are brought to disk in one step, and are as safe there as by one step for each."""

from __future__ import annotations

import errno
import shutil
from itertools import count, pairwise
from pathlib import Path

import pytest

from dreams.lib.files import flush
from dreams.lib.storage.journal import recover, run, sha256_of
from tests.world.cases import each
from tests.world.journal import NEW, OLD, Dying, Failing, Place, Traced, make_place, make_plan
from tests.world.processes.killed import dies

pytestmark = pytest.mark.skipif(not flush.tells_what_failed(), reason="the system has no such step")
TEMPS = {".memoryweb-d1-0.tmp", ".memoryweb-d1-1.tmp"}
TEXTS = {sha256_of(data) for data in (NEW["a.md"], NEW["team/new.md"], OLD["a.md"], OLD["gone.md"])}


def fresh(base: Path) -> Place:
    shutil.rmtree(base, ignore_errors=True)
    return make_place(base)


def test_texts_are_on_disk_before_any_of_them_has_its_name_and_the_record_is_last(tmp_path: Path) -> None:
    place, system = make_place(tmp_path), Traced()
    system.many = 4
    assert run(make_plan(place), place.journal, system).status == "applied"
    calls = system.calls
    order = [
        [i for i, (call, what) in enumerate(calls) if call == "write" and what in TEXTS],
        [calls.index(("fsync_all", "blobs"))],
        [i for i, (call, what) in enumerate(calls) if call == "replace" and what in TEXTS],
        [calls.index(("fsync_dir", "blobs"))],
        [calls.index(("create", "record.json.tmp"))],
    ]
    assert all(max(earlier) < min(later) for earlier, later in pairwise(order))
    assert len(order[2]) == len(TEXTS)
    assert not [what for call, what in calls if call == "fsync" and what in TEXTS]


def test_new_files_are_on_disk_with_their_modes_before_any_of_them_has_its_name(tmp_path: Path) -> None:
    place, system = make_place(tmp_path), Traced()
    system.many = len(TEMPS)
    assert run(make_plan(place), place.journal, system).status == "applied"
    calls = system.calls
    order = [
        [i for i, (call, what) in enumerate(calls) if call in {"write", "chmod"} and what in TEMPS],
        [calls.index(("fsync_all", "staged"))],
        [calls.index(("create", "staged.json.tmp"))],
        [i for i, (call, _) in enumerate(calls) if call in {"exchange", "move_new"}],
    ]
    assert all(max(earlier) < min(later) for earlier, later in pairwise(order))
    assert not [what for call, what in calls if call == "fsync" and what in TEMPS]


def test_with_few_texts_nobody_waits_for_what_other_programs_have_written(tmp_path: Path) -> None:
    place, system = make_place(tmp_path), Traced()
    system.many = 5
    assert run(make_plan(place), place.journal, system).status == "applied"
    assert {what for call, what in system.calls if call == "fsync"} >= TEXTS | TEMPS
    assert "fsync_all" not in {call for call, _ in system.calls}


@each(("what", "named"), [("blobs", set()), ("staged", TEXTS)])
def test_a_disk_that_refuses_the_step_leaves_the_memories_alone_and_no_unsure_text_has_its_name(
    what: str, named: set[str], tmp_path: Path
) -> None:
    whole = Traced()
    whole.many = 1
    place = fresh(tmp_path / "p")
    run(make_plan(place), place.journal, whole)
    place = fresh(tmp_path / "p")
    before = place.tree()
    system = Failing(whole.calls.index(("fsync_all", what)), errno.EIO)
    system.many = 1
    assert run(make_plan(place), place.journal, system).status == "failed"
    assert place.tree() == before
    assert system.calls.count(("fsync_all", what)) == 1
    assert {path.name for path in place.journal.rglob("*")} & TEXTS == named
    assert place.leftovers() == []


@pytest.mark.more
def test_killed_at_every_step_then_recovered_the_tree_is_all_old_or_all_new(tmp_path: Path) -> None:
    ends = set[str]()
    for step in count():
        place = fresh(tmp_path / "p")
        before = place.tree()
        dying = Dying(step)
        dying.many = 1
        if not dies(run, make_plan(place), place.journal, dying):
            break
        recover(place.journal)
        assert place.leftovers() == []
        assert place.texts() == NEW or place.tree() == before
        ends.add("new" if place.texts() == NEW else "old")
        again = Traced()
        again.many = 1
        assert run(make_plan(place), place.journal, again).status == "applied"
        assert place.texts() == NEW
    assert step > 40
    assert ends == {"old", "new"}
