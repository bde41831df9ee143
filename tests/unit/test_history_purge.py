"""Purging is the one rewrite of history; packing never removes what is kept."""

import hashlib
import json
import subprocess
import zlib
from datetime import UTC, datetime, timedelta

import pytest

from dreams.lib.storage.history import (
    HistoryDamaged,
    HistoryError,
    HistoryStore,
    Meta,
    State,
    UnknownVersion,
    upkeep,
)
from dreams.lib.storage.history.store import MAX_PACKS

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
LEAK = b"".join((b"pass", b"word: ", b"hunter", b"2\n"))
OTHER = b"another leak"


def keep(store, day, **files):
    tree = {f"{name}.md": text for name, text in files.items()}
    metas = dict.fromkeys(tree, Meta(0o600, day))
    return store.commit(State(tree, metas, f"Day {day}", {}, NOON + timedelta(days=day), "Ann"))


def newest_tree(store):
    return store.tree_at(store.log(1)[0].id)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def everything_on_disk(store):
    """All bytes below the repository, objects unpacked by git itself."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "cat-file", "--batch", "--batch-all-objects"],
        cwd=store.path,
        check=True,
        capture_output=True,
    ).stdout
    return listed + b"".join(path.read_bytes() for path in store.path.rglob("*") if path.is_file())


@pytest.fixture
def store(tmp_path):
    with HistoryStore.open_or_create(tmp_path / "p.git") as opened:
        keep(opened, 0, a=b"clean")
        keep(opened, 1, a=LEAK, b=LEAK)
        keep(opened, 2, a=OTHER, b=b"kept")
        keep(opened, 3, a=b"clean again", b=b"kept")
        yield opened


def test_a_purged_text_is_gone_from_every_state_and_from_the_disk(store):
    assert LEAK in everything_on_disk(store)
    replaced = store.purge([sha256(LEAK)], "leaked", "Ann", NOON)
    assert not store.has(sha256(LEAK))
    with pytest.raises(UnknownVersion):
        store.read(sha256(LEAK))
    after = everything_on_disk(store)
    assert LEAK not in after
    assert zlib.compress(LEAK)[2:-4] not in after
    assert sha256(LEAK).encode() not in after
    assert store.verify() == []
    assert store.tree_at(store.log()[2].id) == {
        "a.md": replaced[sha256(LEAK)],
        "b.md": replaced[sha256(LEAK)],
    }


def test_a_text_that_is_given_takes_the_place_of_the_purged_one(store):
    redacted = b"[redacted]\n"
    replaced = store.purge([sha256(LEAK)], "leaked", "Ann", NOON, {sha256(LEAK): redacted})
    assert store.read(replaced[sha256(LEAK)]) == redacted
    assert not store.has(sha256(LEAK)) and store.verify() == []


def test_the_list_of_what_was_purged_goes_with_an_export_and_follows_later_purges(store, tmp_path):
    name = "0" * 64
    [new] = store.put_many([b"[redacted] and more"])
    store.note_purged({name: new})
    replaced = store.purge([new], "leaked", "Ann", NOON, {new: b"[redacted]"})
    assert store.purged() == {name: replaced[new]} and store.verify() == []
    store.export(tmp_path / "out.bundle")
    with HistoryStore.import_bundle(tmp_path / "again.git", tmp_path / "out.bundle") as again:
        assert again.purged() == store.purged() and again.read(replaced[new]) == b"[redacted]"
    (store.path / "refs/memoryweb/purged").write_bytes((store.path / "refs/heads/main").read_bytes())
    with pytest.raises(HistoryDamaged, match="the list of purged texts"):
        store.purged()


def test_a_tombstone_says_when_who_and_why_and_nothing_of_the_text(store):
    [stone] = store.purge([sha256(LEAK)], "leaked in a dream", "Ann", NOON).values()
    text = store.read(stone).decode()
    assert "2026-05-01" in text
    assert "Ann" in text
    assert "leaked in a dream" in text
    assert LEAK.decode().split()[-1] not in text


def test_all_else_stays_as_it_was(store):
    before = store.log()
    metas = [entry.meta for commit in before for entry in store.restore_manifest(commit.id).values()]
    store.purge([sha256(LEAK)], "leaked", "Ann", NOON)
    after = store.log()
    told = [(commit.at, commit.author, commit.subject, commit.trailers) for commit in before]
    assert [(commit.at, commit.author, commit.subject, commit.trailers) for commit in after] == told
    assert after[-1] == before[-1]  # commits before the leak keep their ids
    assert [entry.meta for commit in after for entry in store.restore_manifest(commit.id).values()] == metas
    assert store.read(sha256(b"kept")) == b"kept"


def test_several_purged_versions_of_a_path_stay_apart(store):
    replaced = store.purge([sha256(LEAK), sha256(OTHER)], "leaked", "Ann", NOON)
    assert len(set(replaced.values())) == 2
    told = [store.tree_at(commit.id).get("a.md") for commit in store.log()]
    assert told[1:3] == [replaced[sha256(OTHER)], replaced[sha256(LEAK)]]


def test_a_text_that_is_only_put_aside_can_be_purged(store):
    aside = store.put(b"leaked evidence")
    store.purge([aside], "leaked", "Ann", NOON)
    assert not store.has(aside)
    assert b"leaked evidence" not in everything_on_disk(store)


def test_an_unknown_text_changes_nothing(store):
    before = store.log()
    with pytest.raises(UnknownVersion, match="nothing was removed"):
        store.purge([sha256(LEAK), sha256(b"never")], "leaked", "Ann", NOON)
    assert store.log() == before
    assert store.has(sha256(LEAK))


def test_a_branch_made_by_hand_that_may_hold_the_text_stops_a_purge(store):
    (store.path / "refs/heads/mine").write_text(store.log()[0].id + "\n")
    with pytest.raises(HistoryError, match="refs/heads/mine"):
        store.purge([sha256(LEAK)], "leaked", "Ann", NOON)
    assert store.has(sha256(LEAK))


def test_the_note_of_an_unfinished_purge_holds_no_content(store, monkeypatch):
    monkeypatch.setattr("dreams.lib.storage.history.purge.sweep", lambda repo: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.purge([sha256(LEAK)], "leaked", "Ann", NOON)
    note = (store.path / "purge.json").read_bytes()
    assert LEAK not in note
    assert json.loads(note)["sha256s"] == [sha256(LEAK)]
    monkeypatch.undo()
    assert store.recover() == ["finished removing 1 texts from the history of p.git"]
    assert LEAK not in everything_on_disk(store)


def test_a_repack_keeps_every_state_every_text_put_aside_and_refs_made_by_hand(store):
    aside = store.put(b"evidence")
    (store.path / "refs/tags/mine").write_text(store.log()[1].id + "\n")
    states = {commit.id: store.tree_at(commit.id) for commit in store.log()}
    assert store.pack(max_packs=1) > 0
    assert len(list(store.path.glob("objects/pack/*.pack"))) == 1
    assert {commit.id: store.tree_at(commit.id) for commit in store.log()} == states
    for tree in states.values():
        assert all(sha256(store.read(text)) == text for text in tree.values())
    assert store.read(aside) == b"evidence"
    assert store.verify() == []


def test_few_packs_are_left_alone(store):
    assert store.pack() == 0


def test_loose_objects_written_by_other_programs_are_packed_too(store):
    kept = newest_tree(store)
    for pack in list(store.path.glob("objects/pack/*.pack")):
        raw = pack.read_bytes()
        pack.with_suffix(".idx").unlink()
        pack.unlink()
        subprocess.run(
            ["git", "-c", "safe.directory=*", "unpack-objects", "-q"], cwd=store.path, check=True, input=raw
        )
    assert store.pack(max_loose=3) > 3
    assert not list(store.path.glob("objects/??/*"))
    assert newest_tree(store) == kept
    assert store.verify() == []


@pytest.mark.more
def test_a_state_can_be_restored_after_many_more_commits_and_repacks(store):
    first = store.log()[-1]
    for day in range(4, 40):
        keep(store, day, a=b"text %d" % day)
        store.pack(max_packs=5)
    assert store.read(store.tree_at(first.id)["a.md"]) == b"clean"
    assert len(store.log(limit=100)) == 40


@pytest.mark.more
def test_many_commits_leave_few_files_to_hold_open(store):
    made = [keep(store, day, a=b"text %d" % day).id for day in range(4, MAX_PACKS + 9)]
    assert len(list(store.path.glob("objects/pack/*.pack"))) < 10
    assert [commit.id for commit in store.log(limit=len(made))] == made[::-1]
    assert store.verify() == []


@pytest.mark.more
def test_a_state_is_kept_where_old_ones_cannot_be_repacked(store, monkeypatch):
    def fail(repo):
        raise HistoryDamaged("an object is missing")

    monkeypatch.setattr(upkeep, "sweep", fail)
    for day in range(4, MAX_PACKS + 9):
        keep(store, day, a=b"text %d" % day)
    assert store.read(store.tree_at(store.log()[0].id)["a.md"]) == b"text %d" % (MAX_PACKS + 8)
