"""The order that makes a crash harmless, proven by a trace of the calls."""

from itertools import pairwise
from pathlib import Path

from dreams.lib.storage.journal import run, sha256_of
from tests.world.journal import NEW, OLD, Traced, make_place, make_plan


def trace(tmp_path: Path, rename_flags: bool = True) -> list[tuple[str, str]]:
    system, place = Traced(rename_flags), make_place(tmp_path)
    assert run(make_plan(place), place.journal, system).status == "applied"
    return system.calls


def test_texts_then_journal_then_temporary_files_then_swaps_then_directories_then_commit(
    tmp_path: Path,
) -> None:
    calls = trace(tmp_path)
    texts = {sha256_of(data) for data in (NEW["a.md"], NEW["team/new.md"], OLD["a.md"], OLD["gone.md"])}

    def places(call: str, names: set[str]) -> list[int]:
        found = [i for i, (c, what) in enumerate(calls) if c == call and what in names]
        assert len({calls[i][1] for i in found}) == len(names)
        return found

    temps = {".memoryweb-d1-0.tmp", ".memoryweb-d1-1.tmp"}
    swaps = places("exchange", {"a.md"}) + places("move_new", {"new.md", ".memoryweb-d1-2.tmp"})
    commit = places("fsync", {"commit.json"})
    folders = [i for i in places("fsync_dir", {"", "team"}) if max(swaps) < i < commit[0]]
    order = [
        places("fsync", texts),
        places("fsync_dir", {"blobs"}),
        places("fsync", {"record.json"}),
        places("fsync_dir", {"record"}),
        places("create", temps),
        places("fsync", temps),
        swaps,
        folders,
        commit,
        places("fsync_dir", {"commit"}),
        places("unlink", {".memoryweb-d1-0.tmp", ".memoryweb-d1-2.tmp"}),
        places("fsync", {"end.json"}),
    ]
    assert {calls[i][1] for i in folders} == {"", "team"}
    for earlier, later in pairwise(order):
        if later == places("fsync", temps):
            continue  # each file is created and synced before the next is created
        assert max(earlier) < min(later)


def test_metadata_is_set_before_the_file_is_synced(tmp_path: Path) -> None:
    calls = [call for call, what in trace(tmp_path) if what == ".memoryweb-d1-0.tmp"]
    assert calls[:2] == ["create", "write"]
    assert "chmod" in calls[: calls.index("fsync")]


def test_no_name_outside_the_two_directories_is_written(tmp_path: Path) -> None:
    before = {p.name for p in tmp_path.iterdir()}
    trace(tmp_path / "p")
    assert {p.name for p in tmp_path.iterdir()} - before == {"p"}
    assert {p.name for p in (tmp_path / "p").iterdir()} == {"memory", "journal"}
