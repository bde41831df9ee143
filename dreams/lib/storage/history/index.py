"""sha256 → git blob, kept inside the repository itself: a tree `ab/cdef… → blob` under a ref of its own.

It is both the quick lookup and what keeps a text reachable, so that no garbage collection, ours or git's,
removes it. Each update is a parentless commit: the index has no history of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dulwich.objects import Commit, ObjectID, ShaFile, Tree

from .gitrepo import FILE, FOLDER, INDEX, GitRepo
from .message import identity


class Index:
    """The index as of one reading of its ref; shelves (the first two digits) are read when asked for."""

    def __init__(self, repo: GitRepo) -> None:
        self._repo = repo
        self.head = repo.ref(INDEX)
        self._root = repo.tree(repo.commit(self.head).tree) if self.head else Tree()
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
            there = name in self._root
            entries = self._repo.tree(self._root[name][1]).iteritems() if there else ()
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
