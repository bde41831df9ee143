"""What is kept comes back: texts by sha256, states, versions of a path, and readable by ordinary git."""

import hashlib
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.lib.storage.history import (
    HistoryError,
    HistoryStore,
    ManifestEntry,
    Meta,
    State,
    UnknownVersion,
    trees,
)
from tests.world.strategies import tries

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
META = Meta(0o640, 1_700_000_000_123_456_789)


@pytest.fixture
def store(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "history" / "project.git") as opened:
        yield opened


def keep(store, files, day=0, **trailers):
    metas = dict.fromkeys(files, META)
    return store.commit(State(files, metas, f"Day {day}", trailers, NOON + timedelta(days=day), "Ann"))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def git(where, *arguments):
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments],
        cwd=where,
        check=True,
        capture_output=True,
        env={**os.environ},
    )
    return done.stdout.decode("utf-8", "surrogateescape")


def test_a_new_history_is_private_to_its_owner(store):
    assert store.path.stat().st_mode & 0o777 == 0o700


def test_a_path_that_holds_no_history_is_named_in_the_error(tmp_path):
    with pytest.raises(HistoryError, match="nothing here"):
        HistoryStore(tmp_path / "nothing here")


def test_a_committed_text_is_read_back_by_its_sha256(store):
    keep(store, {"a.md": b"one\r\n"})
    assert store.read(sha256(b"one\r\n")) == b"one\r\n"
    assert store.has(sha256(b"one\r\n"))


def test_a_text_never_kept_is_unknown_and_the_error_says_where_to_look(store):
    assert not store.has(sha256(b"other"))
    with pytest.raises(UnknownVersion, match="`history` lists"):
        store.read(sha256(b"other"))
    with pytest.raises(UnknownVersion):
        store.read("../../etc/passwd")


def test_the_same_state_makes_no_second_commit(store):
    assert keep(store, {"a.md": b"one"}) is not None
    assert keep(store, {"a.md": b"one"}, day=1) is None
    assert len(store.log()) == 1


def test_a_mode_alone_makes_a_state(store):
    keep(store, {"a.md": b"one"})
    other = {"a.md": Meta(0o600, 5)}
    assert store.commit(State({"a.md": b"one"}, other, "s", {}, NOON, "Ann")) is not None


def test_a_commit_tells_who_when_and_why(store):
    made = keep(store, {"a.md": b"one"}, Reason="first\n\n.dotted\n last", Dream="d1")
    assert made == store.log()[0]
    assert (made.author, made.at, made.subject) == ("Ann", NOON, "Day 0")
    assert made.trailers == {"Reason": "first\n\n.dotted\n last", "Dream": "d1"}


def test_a_state_is_found_by_its_commit(store):
    first, second = keep(store, {"a.md": b"1"}), keep(store, {"a.md": b"2"}, day=2)
    assert store.tree_at(first.id) == {"a.md": sha256(b"1")}
    assert store.tree_at(second.id) == {"a.md": sha256(b"2")}


def test_a_manifest_keeps_modes_times_and_directories(store):
    metas = {"sub/a.md": META, "sub": Meta(0o711, 7), "empty": Meta(0o700, 8), "": Meta(0o750, 9)}
    made = store.commit(State({"sub/a.md": b"hi"}, metas, "s", {}, NOON, "Ann"))
    assert store.restore_manifest(made.id) == {
        "sub/a.md": ManifestEntry(sha256(b"hi"), 2, META),
        "sub": ManifestEntry(None, 0, metas["sub"]),
        "empty": ManifestEntry(None, 0, metas["empty"]),
        "": ManifestEntry(None, 0, metas[""]),
    }


def test_an_id_that_is_no_commit_is_refused(store):
    for wrong in ("main", "f" * 40, "../x", "é" * 40):
        with pytest.raises(UnknownVersion):
            store.restore_manifest(wrong)


@pytest.mark.parametrize("path", ["../a", "/a", "a//b", "a/./b", "", "a\0b", "\ud800"])
def test_a_path_outside_the_memory_directory_is_refused(store, path):
    with pytest.raises(ValueError, match=r"path|name"):
        keep(store, {path: b"x"})
    assert store.log() == []


def test_a_path_that_is_both_file_and_directory_is_refused(store):
    for files in ({"a": b"1", "a/b": b"2"}, {"a/b": b"2", "a": b"1"}):
        with pytest.raises(ValueError, match="both a file and a directory"):
            keep(store, files)


def test_odd_names_come_back_as_they_were(store):
    files = {
        "new\nline.md": b"1",
        "bad\udcff\udc80.md": b"2",
        ".git/config": b"3",
        "x/.GIT": b"4",
        "ü/🙂.md": b"5",
    }
    made = keep(store, files)
    assert store.tree_at(made.id) == {path: sha256(data) for path, data in files.items()}
    assert store.verify() == []


def test_a_text_put_aside_is_kept_and_shared_with_later_commits(store):
    assert store.put_many([b"draft", b"quote", b"draft"]) == [
        sha256(b"draft"),
        sha256(b"quote"),
        sha256(b"draft"),
    ]
    packs = len(list(store.path.glob("objects/pack/*.pack")))
    store.put(b"quote")
    assert len(list(store.path.glob("objects/pack/*.pack"))) == packs
    keep(store, {"a.md": b"draft"})
    assert store.read(sha256(b"quote")) == b"quote"


def test_a_thousand_files_make_one_pack(store):
    made = keep(store, {f"d{n % 9}/{n}.md": b"text %d" % n for n in range(1000)})
    assert len(list(store.path.glob("objects/pack/*.pack"))) == 1
    assert len(store.tree_at(made.id)) == 1000


def test_ordinary_git_clones_it_and_reads_its_trailers(store, tmp_path):
    keep(
        store,
        {"a.md": b"one", "new\nline.md": b"2", ".git/hooks/x": b"evil"},
        Dream="d1",
        Reason="so\n\nit is",
    )
    git(tmp_path, "clone", "-q", str(store.path), "copy")
    assert (tmp_path / "copy/memory/a.md").read_bytes() == b"one"
    assert (tmp_path / "copy/memory/new\nline.md").read_bytes() == b"2"
    assert not (tmp_path / "copy/.git/hooks/x").exists()
    assert (
        git(tmp_path / "copy", "log", "--format=%an %s %(trailers:key=Dream,valueonly)").strip()
        == "Ann Day 0 d1"
    )
    git(store.path, "fsck", "--strict", "--full")


def test_the_collection_of_ordinary_git_loses_nothing(store):
    first = keep(store, {"a.md": b"one"})
    kept = store.put(b"evidence")
    git(store.path, "gc", "-q", "--prune=now")
    assert keep(store, {"a.md": b"two"}, day=1) is not None
    assert [commit.id for commit in store.log()][1:] == [first.id]
    assert store.read(kept) == b"evidence"
    assert store.verify() == []


def test_two_stores_that_are_open_at_once_see_each_others_commits(store):
    with HistoryStore(store.path) as other:
        keep(store, {"a.md": b"one"})
        keep(other, {"a.md": b"two"}, day=1)
        told = [store.tree_at(commit.id) for commit in store.log()]
        assert told == [{"a.md": sha256(b"two")}, {"a.md": sha256(b"one")}]


names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@tries(20, 60)
@given(
    st.text(max_size=30),
    st.dictionaries(st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,9}", fullmatch=True), st.text(max_size=30)),
)
def test_every_message_is_read_back_as_it_was_said(subject, trailers):
    trailers = {key: value.replace("\0", "") for key, value in trailers.items()}
    back, read = trees.read_message(trees.message(subject, trailers))
    assert read == trailers
    assert back == (" ".join(subject.replace("\0", "").split()) or "(no message)")


@tries(20, 60)
@given(
    st.dictionaries(
        names,
        st.tuples(st.integers(0, 0o7777), st.integers(-(2**63), 2**63 - 1), st.binary(max_size=9)),
        max_size=4,
    )
)
def test_every_manifest_is_read_back_as_it_was_written(found):
    entries = {
        path.replace("/", "-"): ManifestEntry(sha256(raw), len(raw), Meta(mode, mtime))
        for path, (mode, mtime, raw) in found.items()
        if path.replace("/", "-") not in (".", "..")
    }
    assert trees.load(trees.dump(entries)) == entries


def test_no_git_program_is_needed(store, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    keep(store, {"a.md": b"one"})
    store.export(Path(f"{store.path}.bundle"))
    with HistoryStore.import_bundle(Path(f"{store.path}.copy"), Path(f"{store.path}.bundle")) as copy:
        assert copy.log() == store.log()
