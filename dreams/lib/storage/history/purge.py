"""The only rewrite of history: replaces a leaked secret by a tombstone in every state and deletes it.

The purge is recorded first (only sha256s, never content), so that `resume` can finish it after a crash at any
step: each step can be repeated, and refs only move to complete objects.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from dreams.lib.storage.history.trees import Index
from dreams.lib.storage.history.upkeep import sweep

from . import durable, trees
from .gitrepo import FILE, INDEX, MAIN, PURGED, REFS, GitRepo
from .model import HistoryDamaged, HistoryError, ManifestEntry, UnknownVersion

INTENTION = "purge.json"
LIST = b"purged.json"
#: Rewritten commits in memory at a time.
BATCH = 64


def purge(
    repo: GitRepo,
    sha256s: Sequence[str],
    reason: str,
    who: str,
    at: datetime,
    instead: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Old sha256 → sha256 of its replacement. Under the lock. Raises UnknownVersion before anything is changed.

    `instead`: old sha256 → that of a stored text that replaces it; the others get a tombstone.
    """
    wanted = sorted(set(sha256s))
    index = Index(repo)
    if unknown := [sha256 for sha256 in wanted if not index.get(sha256)]:
        raise UnknownVersion(f"no version {unknown[0]} in {repo.path}; nothing was removed")
    if foreign := sorted(set(repo.refs()) - {*REFS, b"HEAD"}):
        name = foreign[0].decode("utf-8", "replace")
        raise HistoryError(
            f"{repo.path} has the ref {name}, which may hold the text; delete it with git first"
        )
    given = dict(instead or {})
    if lost := sorted(new for new in given.values() if not index.get(new)):
        raise UnknownVersion(f"{lost[0]} shall take a text's place, but is not kept in {repo.path}")
    intention = {"sha256s": wanted, "reason": reason, "who": who, "at": at.isoformat(), "instead": given}
    raw = json.dumps(intention).encode()
    durable.write_file(repo.path / INTENTION, lambda file: file.write(raw))
    return _run(repo)


def resume(repo: GitRepo) -> list[str]:
    """Finishes a purge that a crash interrupted; returns what was done, in words. Under the lock."""
    if not (repo.path / INTENTION).exists():
        return []
    try:
        return [f"finished removing {len(_run(repo))} texts from the history of {repo.path.name}"]
    except HistoryError as error:
        return [f"could not finish removing texts from {repo.path.name}: {error}"]


def tombstone(number: int, count: int, reason: str, who: str, at: str) -> bytes:
    """The replacement of a purged text. Numbered, so that two purged states still differ."""
    line = f"This text was removed from the history on {at} by {who} ({number} of {count})."
    return f"{line}\nReason: {reason}\n".encode("utf-8", "replace")


def _run(repo: GitRepo) -> dict[str, str]:
    stones = _replacements(repo)
    replaced = {old: hashlib.sha256(text).hexdigest() for old, text in stones.items()}
    sizes = {replaced[old]: len(text) for old, text in stones.items()}
    blobs: list[ShaFile] = [Blob.from_string(text) for text in stones.values()]
    _move_index(repo, blobs, {replaced[old]: blob.id for old, blob in zip(stones, blobs, strict=True)})
    _rewrite(repo, replaced, sizes)
    _move_index(repo, [], {}, frozenset(replaced))
    _save_list(repo, {name: replaced.get(new, new) for name, new in purged(repo).items()})
    sweep(repo)
    (repo.path / INTENTION).unlink()
    durable.sync_folder(repo.path)
    return replaced


def _replacements(repo: GitRepo) -> dict[str, bytes]:
    """Old sha256 → its replacement: the given text, else a tombstone."""
    wish = json.loads((repo.path / INTENTION).read_bytes())
    names, given = wish["sha256s"], wish.get("instead", {})
    return {
        sha256: _kept(repo, given[sha256])
        if sha256 in given
        else tombstone(number, len(names), wish["reason"], wish["who"], wish["at"])
        for number, sha256 in enumerate(names, start=1)
    }


def _kept(repo: GitRepo, sha256: str) -> bytes:
    blob = Index(repo).get(sha256)
    if blob is None:
        raise UnknownVersion(f"{sha256} shall take a text's place, but is missing from {repo.path}")
    return repo.blob(blob)


def _move_index(
    repo: GitRepo, blobs: list[ShaFile], add: Mapping[str, ObjectID], drop: frozenset[str] = frozenset()
) -> None:
    index = Index(repo)
    if made := index.changed(add, drop):
        repo.write([*blobs, *made])
        repo.move_ref(INDEX, index.head, made[-1].id)


def _rewrite(repo: GitRepo, replaced: Mapping[str, str], sizes: Mapping[str, int]) -> None:
    """Rewrites all commits; those before the first change keep their ids."""
    head = repo.ref(MAIN)
    index = Index(repo)
    parent: ObjectID | None = None
    waiting: list[ShaFile] = []
    for number, oid in enumerate(reversed([oid for oid, _ in repo.lines(head)]), start=1):
        objects = _rewritten(repo, index, repo.commit(oid), parent, replaced, sizes)
        waiting += objects
        parent = objects[-1].id if objects else oid
        if number % BATCH == 0:
            repo.write(waiting)
            waiting = []
    repo.write(waiting)
    if parent and parent != head:
        repo.move_ref(MAIN, head, parent)


def _rewritten(
    repo: GitRepo,
    index: Index,
    commit: Commit,
    parent: ObjectID | None,
    replaced: Mapping[str, str],
    sizes: Mapping[str, int],
) -> list[ShaFile]:
    """The new objects of one state, its commit last; empty if it does not change."""
    entries = trees.manifest_of(repo, commit)
    hit = any(entry.sha256 in replaced for entry in entries.values())
    parents = [parent] if parent else []
    if not hit and commit.parents == parents:
        return []
    new = Commit.from_string(commit.as_raw_string())
    new.parents = parents
    if not hit:
        return [new]
    changed = {path: _replaced(entry, replaced, sizes) for path, entry in entries.items()}
    blobs = {sha256: index.get(sha256) for entry in changed.values() if (sha256 := entry.sha256)}
    if lost := [sha256 for sha256, blob in blobs.items() if blob is None]:
        raise UnknownVersion(f"version {lost[0]} is missing from {repo.path}; run verify")
    objects = trees.build(changed, {sha256: blob for sha256, blob in blobs.items() if blob})
    new.tree = objects[-1].id
    return [*objects, new]


def _replaced(entry: ManifestEntry, replaced: Mapping[str, str], sizes: Mapping[str, int]) -> ManifestEntry:
    sha256 = replaced.get(entry.sha256 or "")
    return replace(entry, sha256=sha256, size=sizes[sha256]) if sha256 else entry


# --- The list of what was purged, which exports carry ----------------------------------------------------------------


def purged(repo: GitRepo) -> dict[str, str]:
    """What identifies each purged text (64 hexadecimal digits, made by the caller) → sha256 of the text in its place."""
    head = repo.ref(PURGED)
    if head is None:
        return {}
    blob = trees.find(repo, repo.commit(head).tree, (LIST,))
    try:
        found = json.loads(repo.blob(blob) if blob else b"")
        if all(trees.is_sha256(name) and trees.is_sha256(new) for name, new in found.items()):
            return dict(found)
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    raise HistoryDamaged(f"the list of purged texts in {repo.path} cannot be read")


def note(repo: GitRepo, found: Mapping[str, str]) -> None:
    """Adds to the list. Under the lock."""
    _save_list(repo, {**purged(repo), **found})


def _save_list(repo: GitRepo, found: Mapping[str, str]) -> None:
    if found == purged(repo):
        return
    blob = Blob.from_string(json.dumps(found, indent=0, sort_keys=True).encode())
    tree = Tree()
    tree.add(LIST, FILE, blob.id)
    made = trees.timeless(tree, b"Digests of purged texts\n")
    repo.write([blob, tree, made])
    repo.move_ref(PURGED, repo.ref(PURGED), made.id)
