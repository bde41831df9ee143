"""One flipped bit is found and named; an export restores elsewhere, a damaged one leaves nothing behind."""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from dulwich.objects import Blob
from dulwich.repo import Repo
from hypothesis import example, given, strategies as st

from dreams.lib.storage.history import (
    HistoryDamaged,
    HistoryError,
    HistoryStore,
    Meta,
    State,
    trees,
)
from dreams.lib.storage.history.model import HistoryNewer
from tests.world.strategies import tries

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def fill(store):
    for day, text in enumerate((b"first " * 40, b"second " * 40)):
        files = {"notes/a.md": text, "b.md": b"same"}
        metas = dict.fromkeys(files, Meta(0o644, 3))
        store.commit(State(files, metas, f"Day {day}", {}, NOON + timedelta(days=day), "Ann"))
    store.put(b"evidence")


@pytest.fixture
def store(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "p.git") as opened:
        fill(opened)
        yield opened


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A packed history and its export, to be copied and damaged."""
    folder = tmp_path_factory.mktemp("whole")
    with HistoryStore.open_or_create(folder / "p.git") as store:
        fill(store)
        store.pack(max_packs=1)
        store.export(folder / "p.bundle")
    return folder


def flip(file, bit):
    raw = bytearray(file.read_bytes())
    raw[bit // 8 % len(raw)] ^= 1 << bit % 8
    file.chmod(0o600)
    file.write_bytes(raw)


def make_loose(store):
    """What `git unpack-objects` would do: every object in a file of its own."""
    with Repo(str(store.path)) as repo:
        objects = [repo.object_store[oid] for oid in repo.object_store]
        for pack in store.path.glob("objects/pack/*"):
            pack.unlink()
        for obj in objects:
            repo.object_store.add_object(obj)


def object_file(store, text):
    name = Blob.from_string(text).id.decode()
    return store.path / "objects" / name[:2] / name[2:]


def test_a_whole_history_has_no_problems(store):
    assert store.verify() == []
    make_loose(store)
    assert store.verify() == []


@tries(20, 80)
@given(bit=st.integers(0, 1 << 20), index=st.booleans())
@example(bit=100, index=False)  # an object's kind, which its own zlib check does not cover
def test_one_flipped_bit_anywhere_in_a_pack_or_its_index_is_found(whole, tmp_path_factory, bit, index):
    copy = tmp_path_factory.mktemp("flipped") / "p.git"
    shutil.copytree(whole / "p.git", copy)
    [file] = copy.glob("objects/pack/*.idx" if index else "objects/pack/*.pack")
    flip(file, bit)
    with HistoryStore(copy) as store:
        assert any(file.stem in problem.what for problem in store.verify())


def test_one_flipped_bit_in_a_loose_text_is_found_and_its_path_and_state_are_named(store):
    make_loose(store)
    flip(object_file(store, b"first " * 40), 8 * 20)
    problems = store.verify()
    assert any(str(object_file(store, b"first " * 40)) == problem.where for problem in problems)
    [named] = [problem for problem in problems if "'notes/a.md'" in problem.what]
    assert "2026-05-01" in named.where
    assert "export" in named.remedy


def test_a_missing_text_is_found_and_named(store):
    make_loose(store)
    object_file(store, b"same").unlink()
    [problem] = store.verify()
    assert problem.what.startswith("'b.md' is missing")


def test_a_missing_text_that_is_in_no_state_is_found_too(store):
    make_loose(store)
    object_file(store, b"evidence").unlink()
    [problem] = store.verify()
    assert "a stored text is missing" in problem.what


def test_a_pack_that_is_missing_beside_its_index_is_named(whole, tmp_path):
    shutil.copytree(whole / "p.git", tmp_path / "p.git")
    [pack] = (tmp_path / "p.git").glob("objects/pack/*.pack")
    pack.unlink()
    with HistoryStore(tmp_path / "p.git") as store:
        assert f"the pack {pack.name} is missing" in " ".join(problem.what for problem in store.verify())
        with pytest.raises(HistoryError):
            store.log()


def test_a_manifest_of_a_newer_version_is_read_by_none_that_could_misread_it(store, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(trees, "FORMAT", trees.FORMAT + 1)
        store.commit(State({"b.md": b"new"}, {}, "Later", {}, NOON + timedelta(days=9), "Ann"))
    with pytest.raises(HistoryNewer, match="is newer than this program; update it"):
        store.restore_manifest(store.log()[0].id)
    assert store.read(store.tree_at(store.log()[1].id)["b.md"]) == b"same"


def test_every_loose_object_that_is_missing_is_found(store):
    store.pack(max_packs=1)  # drops what is superseded, so that all that is left is needed
    make_loose(store)
    needed = list(store.path.glob("objects/??/*"))
    found = 0
    for path in needed:
        aside = path.rename(path.with_suffix(".aside"))
        found += bool(store.verify())
        aside.rename(path)
    assert found == len(needed) > 10
    assert store.verify() == []


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/memoryweb/index"])
def test_a_ref_that_a_loss_of_power_emptied_is_found_and_no_missing_one(store, name):
    (store.path / name).write_bytes(b"")
    assert name in " ".join(problem.what for problem in store.verify())
    with pytest.raises(HistoryDamaged, match=f"{name} is no ref. Move the folder of the history away"):
        fill(store)


@pytest.mark.parametrize("name", ["refs/heads/main", "refs/memoryweb/index", "refs/memoryweb/purged"])
def test_a_repack_removes_nothing_that_an_emptied_ref_held_and_says_so(store, name):
    store.note_purged({"0" * 64: "1" * 64})
    (store.path / name).write_bytes(b"")
    assert name in " ".join(problem.what for problem in store.verify())
    before = sorted((store.path / "objects/pack").iterdir())
    with pytest.raises(HistoryDamaged, match=f"{name} is no ref"):
        store.pack(max_packs=1)
    assert sorted((store.path / "objects/pack").iterdir()) == before


def test_a_head_that_git_cannot_read_is_found_with_the_line_that_it_needs(store):
    flip(store.path / "HEAD", 45)
    (problem,) = store.verify()
    assert "HEAD is damaged" in problem.what and "`ref: refs/heads/main`" in problem.remedy
    (store.path / "HEAD").unlink()
    assert len(store.verify()) == 1
    (store.path / "HEAD").write_text("ref: refs/heads/main\n")
    assert store.verify() == []


def test_reading_a_damaged_text_fails_instead_of_giving_wrong_bytes(store):
    make_loose(store)
    flip(object_file(store, b"same"), 8 * 8)
    sha256 = store.tree_at(store.log(1)[0].id)["b.md"]
    with pytest.raises(HistoryDamaged):
        store.read(sha256)


def test_a_repack_removes_nothing_while_something_cannot_be_read(store):
    make_loose(store)
    flip(object_file(store, b"same"), 8 * 8)
    before = sorted(store.path.rglob("objects/??/*"))
    with pytest.raises(HistoryDamaged):
        store.pack(max_loose=1)
    assert sorted(store.path.rglob("objects/??/*")) == before


def test_an_export_restores_elsewhere_without_anything_else(store, tmp_path):
    store.export(tmp_path / "out.bundle")
    assert (tmp_path / "out.bundle").stat().st_mode & 0o777 == 0o600
    states = {commit.id: store.restore_manifest(commit.id) for commit in store.log()}
    shutil.rmtree(store.path)
    with HistoryStore.import_bundle(tmp_path / "else" / "q.git", tmp_path / "out.bundle") as copy:
        assert {commit.id: copy.restore_manifest(commit.id) for commit in copy.log()} == states
        assert copy.read(copy.tree_at(copy.log()[-1].id)["notes/a.md"]) == b"first " * 40
        assert copy.verify() == []
        assert copy.commit(State({"b.md": b"on"}, {}, "goes on", {}, NOON + timedelta(days=9), "Ann"))


def test_ordinary_git_clones_an_export(store, tmp_path):
    store.export(tmp_path / "out.bundle")
    subprocess.run(
        ["git", "clone", "-q", "out.bundle", "copy"], cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "copy/memory/notes/a.md").read_bytes() == b"second " * 40


def test_a_history_without_versions_says_that_there_is_nothing_to_export(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "p.git") as empty:
        with pytest.raises(HistoryError, match="nothing to export"):
            empty.export(tmp_path / "out.bundle")
        assert not (tmp_path / "out.bundle").exists()


def test_an_import_never_replaces_a_history_that_holds_something(store, tmp_path):
    store.export(tmp_path / "out.bundle")
    with pytest.raises(HistoryError, match="already holds a history"):
        HistoryStore.import_bundle(store.path, tmp_path / "out.bundle")
    assert len(store.log()) == 2
    HistoryStore.open_or_create(tmp_path / "empty.git").close()
    with HistoryStore.import_bundle(tmp_path / "empty.git", tmp_path / "out.bundle") as copy:
        assert copy.log() == store.log()


@tries(20, 60)
@given(bit=st.integers(0, 1 << 20), cut=st.booleans())
def test_a_damaged_export_is_refused_and_leaves_nothing_behind(whole, tmp_path_factory, bit, cut):
    folder = tmp_path_factory.mktemp("damaged")
    file = folder / "x.bundle"
    raw = (whole / "p.bundle").read_bytes()
    file.write_bytes(raw[: bit % len(raw)] if cut else raw)
    if not cut:
        flip(file, bit)
    with pytest.raises(HistoryError, match="no whole export"):
        HistoryStore.import_bundle(folder / "q.git", file)
    assert not [path for path in folder.iterdir() if path.name not in ("x.bundle", ".building.flock")]
