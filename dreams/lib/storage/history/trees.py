"""Between the files of a memory directory and the git trees of one state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from . import manifest
from .gitrepo import FILE, FOLDER, GitRepo
from .model import Entry, HistoryDamaged, Meta


def entries(files: Mapping[str, bytes], metas: Mapping[str, Meta]) -> dict[str, Entry]:
    """The manifest of a state. Raises ValueError for a path that cannot be below a memory directory."""
    found = {path: Entry(None, 0, meta) for path, meta in metas.items()}
    for path, data in files.items():
        found[path] = Entry(hashlib.sha256(data).hexdigest(), len(data), metas.get(path))
    for path, entry in found.items():
        if path or entry.sha256:
            manifest.location(path)
    return found


def build(found: Mapping[str, Entry], blobs: Mapping[str, ObjectID]) -> list[ShaFile]:
    """The manifest's blob and the trees of a state, children before parents; the root is the last one.

    Raises ValueError when a path is both a file and a directory.
    """
    kept = Blob.from_string(manifest.dump(found))
    top: dict[tuple[bytes, ...], Tree] = {(): Tree()}
    top[()].add(manifest.MANIFEST, FILE, kept.id)
    for path, entry in found.items():
        if entry.sha256:
            *folders, name = manifest.location(path)
            _put(top, tuple(folders), name, FILE, blobs[entry.sha256], path)
    objects: list[ShaFile] = [kept]
    for where in sorted(top, key=len, reverse=True):
        objects.append(top[where])
        if where:
            _put(top, where[:-1], where[-1], FOLDER, top[where].id, "")
    return objects


def _put(
    top: dict[tuple[bytes, ...], Tree],
    where: tuple[bytes, ...],
    name: bytes,
    mode: int,
    oid: ObjectID,
    path: str,
) -> None:
    for depth in range(len(where) + 1):
        top.setdefault(where[:depth], Tree())
    if name in top[where] or (mode == FILE and (*where, name) in top):
        raise ValueError(f"{path or name!r} is both a file and a directory")
    top[where].add(name, mode, oid)


def find(repo: GitRepo, root: ObjectID, where: manifest.Location) -> ObjectID | None:
    """The blob at a place in a state, None if there is none."""
    oid = root
    for depth, name in enumerate(where, start=1):
        tree = repo.tree(oid)
        if name not in tree:
            return None
        mode, oid = tree[name]
        if (mode == FOLDER) == (depth == len(where)):
            return None
    return oid


def manifest_of(repo: GitRepo, commit: Commit) -> dict[str, Entry]:
    """The manifest that a commit holds."""
    oid = find(repo, commit.tree, (manifest.MANIFEST,))
    if oid is None:
        raise HistoryDamaged(f"commit {commit.id.decode()} has no manifest; import an export of this history")
    return manifest.load(repo.blob(oid))


def flat(repo: GitRepo, root: ObjectID) -> dict[manifest.Location, ObjectID]:
    """Every file of a state with its blob."""
    files: dict[manifest.Location, ObjectID] = {}
    waiting: list[tuple[manifest.Location, ObjectID]] = [((), root)]
    while waiting:
        where, oid = waiting.pop()
        for entry in repo.tree(oid).iteritems():
            place = (*where, entry.path)
            if entry.mode == FOLDER:
                waiting.append((place, entry.sha))
            else:
                files[place] = entry.sha
    return files
