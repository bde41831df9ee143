"""Packing: bring many small packs into few and drop what no kept state needs.

Nothing is removed before its copy is durable, and nothing at all while a needed object cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dulwich.objects import Commit, ObjectID, Tag, Tree

from . import durable
from .gitrepo import FOLDER, GitRepo

_SUBMODULE = 0o160000


def reachable(repo: GitRepo, heads: Iterable[ObjectID]) -> list[ObjectID]:
    """Every object that `heads` lead to, each once. Raises HistoryDamaged when the way is broken."""
    found: set[ObjectID] = set()
    leaves: set[ObjectID] = set()
    waiting = list(heads)
    while waiting:
        oid = waiting.pop()
        if oid in found:
            continue
        found.add(oid)
        obj = repo.parsed(oid)
        if isinstance(obj, Commit):
            waiting += [obj.tree, *obj.parents]
        elif isinstance(obj, Tag):
            waiting.append(obj.object[1])
        elif isinstance(obj, Tree):
            for entry in obj.iteritems():
                if entry.mode == FOLDER:
                    waiting.append(entry.sha)
                elif entry.mode != _SUBMODULE:
                    leaves.add(entry.sha)
    # Sorted, so that the same objects give the same pack.
    return sorted(found | leaves)


def sweep(repo: GitRepo) -> int:
    """Write all that any ref leads to into one pack and remove everything else. Under the lock.

    Refs that a person made with git are kept too. Returns the number of files removed.
    """
    repo.reload()
    keep = reachable(repo, repo.refs().values())
    old = repo.packs()
    loose = [path for _, path in repo.loose()]
    name = repo.write_pack(len(keep), repo.records(keep)) if keep else ""
    repo.reload()
    stale = [
        path for pack in old if pack != name for path in _pack_files(repo.pack_path(pack)) if path.exists()
    ]
    for path in [*stale, *loose]:
        path.unlink(missing_ok=True)
    for folder in {path.parent for path in [*stale, *loose]}:
        durable.sync_folder(folder)
    repo.reload()
    return len(stale) + len(loose)


def _pack_files(pack: Path) -> list[Path]:
    # The index goes first: a pack without one is invisible, an index without its pack is an error.
    return [pack.with_suffix(suffix) for suffix in (".idx", ".rev", ".bitmap", ".pack")]
