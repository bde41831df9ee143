"""Between the files of a memory directory and the git trees of one state; and sha256 → git blob, kept inside the
repository itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree

from dreams.lib.storage.history import manifest
from dreams.lib.storage.history.gitrepo import FILE, FOLDER, INDEX, GitRepo
from dreams.lib.storage.history.manifest import identity
from dreams.lib.storage.history.model import Entry, HistoryDamaged, Meta


class Index:
    """The index as of one reading of its ref; shelves (the first two digits) are read when asked for."""

    def __init__(self, repo: GitRepo | None) -> None:
        """None: of a repository that is still to be made."""
        self._repo = repo
        self.head = repo.ref(INDEX) if repo else None
        self._root = repo.tree(repo.commit(self.head).tree) if repo and self.head else Tree()
        self._shelves: dict[bytes, dict[bytes, ObjectID]] = {}

    def get(self, sha256: str) -> ObjectID | None:
        """The blob that holds the text with this sha256."""
        return self._shelf(sha256[:2].encode()).get(sha256[2:].encode())

    def items(self) -> Iterator[tuple[str, ObjectID]]:
        """Every kept sha256 with its blob."""
        for entry in self._root.iteritems():
            for rest, blob in self._shelf(entry.path).items():
                yield (entry.path + rest).decode("ascii", "replace"), blob

    def changed(self, add: Mapping[str, ObjectID], drop: frozenset[str] = frozenset()) -> list[ShaFile]:
        """The objects of the index with `add` added and `drop` left out; the last one is its commit.

        Empty when that is what the index holds already.
        """
        root = Tree()
        for entry in self._root.iteritems():
            root.add(entry.path, entry.mode, entry.sha)
        objects: list[ShaFile] = []
        for name in sorted({sha256[:2] for sha256 in (*add, *drop)}):
            shelf = self._shelf_tree(name, add, drop)
            if len(shelf):
                root[name.encode()] = (FOLDER, shelf.id)
                objects.append(shelf)
            elif name.encode() in root:
                del root[name.encode()]
        return [] if self.head and root.id == self._root.id else [*objects, root, _commit(root)]

    def _shelf(self, name: bytes) -> dict[bytes, ObjectID]:
        if name not in self._shelves:
            repo = self._repo if name in self._root else None
            entries = repo.tree(self._root[name][1]).iteritems() if repo else ()
            self._shelves[name] = {entry.path: entry.sha for entry in entries}
        return self._shelves[name]

    def _shelf_tree(self, name: str, add: Mapping[str, ObjectID], drop: frozenset[str]) -> Tree:
        tree = Tree()
        for rest, blob in self._shelf(name.encode()).items():
            if name + rest.decode("ascii", "replace") not in drop:
                tree.add(rest, FILE, blob)
        for sha256, blob in add.items():
            if sha256.startswith(name):
                tree.add(sha256[2:].encode(), FILE, blob)
        return tree


def _commit(tree: Tree) -> Commit:
    """The same tree always gives the same commit, so that a repeated update changes nothing."""
    commit = Commit()
    commit.tree = tree.id
    commit.parents = []
    commit.author = commit.committer = identity("memoryweb")
    commit.author_time = commit.commit_time = 0
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = b"Texts kept by their sha256\n"
    return commit


# --- Trees -----------------------------------------------------------------------------------------------------------


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
