"""The memory directory, or one above it, is exchanged for a link while files are written: nothing outside is touched."""

import shutil
from itertools import count
from pathlib import Path

import pytest

from dreams.lib.files.safefs import UnsafePath
from dreams.lib.storage.journal import Plan, abandon, recover, run
from tests.world.journal import NEW, OLD, Dying, Place, Traced, change, list_journals, make_place, make_plan
from tests.world.manifest import manifest
from tests.world.processes.killed import dies

LEVELS = pytest.mark.parametrize("above", [False, True], ids=["directory", "one-above"])
ONE_MORE = pytest.mark.parametrize(
    "above", [False, pytest.param(True, marks=pytest.mark.sweep)], ids=["directory", "one-above"]
)


class Exchanged:
    """A place whose directory can be exchanged for a link to another one with the same files."""

    def __init__(self, base: Path, *, above: bool) -> None:
        shutil.rmtree(base, ignore_errors=True)
        place = make_place(base / "real")
        self.place = Place(place.memory, base / "journal")
        self.outside = make_place(base / "outside").memory
        self.what = place.memory.parent if above else place.memory
        self.link_to = self.outside.parent if above else self.outside
        self.aside = base / "aside"
        self.before = manifest(self.outside)

    def exchange(self) -> None:
        self.what.rename(self.aside)
        self.what.symlink_to(self.link_to)

    def put_back(self) -> None:
        self.what.unlink()
        self.aside.rename(self.what)

    @property
    def untouched(self) -> bool:
        return manifest(self.outside) == self.before


class At(Traced):
    """Runs an action before call number `at`."""

    def __init__(self, at: int, action: object) -> None:
        super().__init__()
        self.at, self.action = at, action

    def step(self, call: str, what: str) -> None:
        super().step(call, what)
        if len(self.calls) - 1 == self.at:
            self.action()


@pytest.mark.more
@LEVELS
def test_exchanged_at_every_step_of_a_run(tmp_path: Path, above: bool) -> None:
    ends = []
    for step in count():
        world = Exchanged(tmp_path / "w", above=above)
        system = At(step, world.exchange)
        result = run(make_plan(world.place), world.place.journal, system)
        if len(system.calls) <= step:
            break
        assert world.untouched, system.calls[step]
        world.put_back()
        assert world.place.texts() == (NEW if result.status == "applied" else OLD), system.calls[step]
        assert recover(world.place.journal) == []
        assert world.place.leftovers() == []
        ends.append(result.status)
    assert step > 40
    assert set(ends) == {"conflict", "applied"}, "what was exchanged before the commit is not written"


@ONE_MORE
def test_exchanged_between_the_crash_and_the_recovery(tmp_path: Path, above: bool) -> None:
    waited = 0
    for step in count():
        world = Exchanged(tmp_path / "w", above=above)
        if not dies(run, make_plan(world.place), world.place.journal, Dying(step)):
            break
        world.exchange()
        done = recover(world.place.journal)
        assert world.untouched, step
        assert [one.action for one in done] in ([], ["nothing"])
        waited += bool(done)
        world.put_back()
        recover(world.place.journal)
        assert world.place.texts() in (OLD, NEW)
        assert world.place.leftovers() == []
    assert waited > 20


def test_another_directory_in_its_place_is_not_recovered_into(tmp_path: Path) -> None:
    world = Exchanged(tmp_path / "w", above=False)
    trace = Traced()
    run(make_plan(world.place), world.place.journal, trace)
    world = Exchanged(tmp_path / "w", above=False)
    step = trace.calls.index(("create", "commit.json.tmp"))
    assert dies(run, make_plan(world.place), world.place.journal, Dying(step))
    world.what.rename(world.aside)
    shutil.copytree(world.outside, world.what)
    before = manifest(world.what)
    [done] = recover(world.place.journal)
    assert done.action == "nothing"
    assert "another directory" in done.said[0]
    assert manifest(world.what) == before
    [entry] = list_journals(world.place.journal)
    abandon(world.place.journal, entry.name, "it is gone")
    assert recover(world.place.journal) == []


def test_a_directory_that_is_a_link_from_the_start_is_resolved_once(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    (tmp_path / "chosen").symlink_to(place.memory)
    plan = Plan(str(tmp_path / "chosen"), (change("a.md", OLD["a.md"], NEW["a.md"]),), "d1", "")
    assert run(plan, place.journal, Traced()).status == "applied"
    assert place.texts()["a.md"] == NEW["a.md"]


def test_a_directory_exchanged_before_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Exchanged(tmp_path / "w", above=False)
    plan = make_plan(world.place)
    from dreams.lib.storage.journal import resolving

    place = resolving.locate(plan)
    monkeypatch.setattr(resolving, "locate", lambda _: (world.exchange(), place)[1])
    with pytest.raises(UnsafePath):
        run(plan, world.place.journal, Traced())
    assert world.untouched
