"""Joins many small packs into few and removes unreachable objects; and verifies every object by its hash."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import Commit, ObjectID, Tag, Tree
from dulwich.pack import Pack

from dreams.lib.storage.history import durable, trees
from dreams.lib.storage.history.gitrepo import FOLDER, HEAD, INDEX, MAIN, PURGED, REFS, GitRepo, object_id
from dreams.lib.storage.history.model import HistoryDamage, HistoryDamaged
from dreams.lib.storage.history.trees import Index

_SUBMODULE = 0o160000  # git's mode of one


def reachable(repo: GitRepo, heads: Iterable[ObjectID]) -> list[ObjectID]:
    """Every object reachable from `heads`, each once. Raises HistoryDamaged if one is missing."""
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
    """Writes all objects reachable from any ref into one pack and removes everything else. Under the lock.

    Refs that a person made with git are kept too. Returns the number of files removed.
    """
    repo.reload()
    for ref in REFS:
        repo.ref(ref)  # raises for an emptied one, which `refs` leaves out
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
    # The index is removed first: a pack without one is invisible, an index without its pack is an error.
    return [pack.with_suffix(suffix) for suffix in (".idx", ".rev", ".bitmap", ".pack")]


# --- Reading everything back -----------------------------------------------------------------------------------------

_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}


def verify(repo: GitRepo) -> list[HistoryDamage]:
    """All problems, each once."""
    repo.reload()
    return [*_files(repo), *_states(repo)]


def _files(repo: GitRepo) -> Iterator[HistoryDamage]:
    head = repo.path / "HEAD"
    if not head.is_file() or head.read_bytes() != HEAD:
        line = HEAD.decode().strip()
        yield HistoryDamage("HEAD is damaged, so git cannot read it", str(head), f"Let its line be `{line}`.")
    for name in repo.packs():
        yield from _pack(repo.pack_path(name))
    for oid, path in repo.loose():
        if not _loose_is_whole(oid, path):
            yield HistoryDamage(f"object {oid.decode()} is damaged", str(path))


def _pack(path: Path) -> Iterator[HistoryDamage]:
    if not path.exists():
        yield HistoryDamage(f"the pack {path.name} is missing; only its index is there", str(path))
        return
    try:
        with Pack(str(path.with_suffix("")), object_format=DEFAULT_OBJECT_FORMAT) as pack:
            pack.index.check()
            pack.data.check()
            pack.check_length_and_checksum()
            for oid in pack:
                if object_id(*pack.get_raw(oid)) != oid:
                    yield HistoryDamage(f"object {oid.decode()} is damaged", str(path))
    except Exception as error:  # dulwich raises a dozen kinds on bad bytes; all mean damage here
        said = str(error)
        yield HistoryDamage(f"the pack {path.name} is damaged ({said or type(error).__name__})", str(path))


def _loose_is_whole(oid: ObjectID, path: Path) -> bool:
    inflate = zlib.decompressobj()
    try:
        head, _, data = inflate.decompress(path.read_bytes()).partition(b"\0")
        kind, _, size = head.partition(b" ")
        whole = inflate.eof and not inflate.unused_data and size == b"%d" % len(data)
        return whole and object_id(_KINDS[kind], data) == oid
    except (zlib.error, KeyError, OSError):
        return False


class _Texts:
    """The sha256 of each blob, read once; bad blobs are remembered."""

    def __init__(self, repo: GitRepo) -> None:
        self._repo = repo
        self._sha256s: dict[ObjectID, str | None] = {}
        self.reported: set[ObjectID] = set()

    def problem(self, blob: ObjectID, sha256: str, name: str, where: str) -> Iterator[HistoryDamage]:
        """At most one problem for each blob."""
        if blob not in self._sha256s:
            self._sha256s[blob] = self._hash(blob)
        if self._sha256s[blob] != sha256 and blob not in self.reported:
            self.reported.add(blob)
            state = "missing or damaged" if self._sha256s[blob] is None else "not the text that was stored"
            yield HistoryDamage(f"{name} is {state} (sha256 {sha256}, git object {blob.decode()})", where)

    def _hash(self, blob: ObjectID) -> str | None:
        try:
            return hashlib.sha256(self._repo.blob(blob)).hexdigest()
        except HistoryDamaged:
            return None


def _states(repo: GitRepo) -> Iterator[HistoryDamage]:
    texts = _Texts(repo)
    index: dict[str, ObjectID] = {}
    try:
        index = dict(Index(repo).items())
    except HistoryDamaged as error:
        yield HistoryDamage(
            f"the list of stored texts cannot be read: {error.args[0]}", f"{repo.path}/{INDEX.decode()}"
        )
    try:
        for oid, commit in repo.lines(repo.ref(MAIN)):
            yield from _state(repo, oid, commit, texts, index)
    except HistoryDamaged as error:
        yield HistoryDamage(f"the line of states is broken: {error.args[0]}", f"{repo.path}/{MAIN.decode()}")
    try:
        reachable(repo, [head] if (head := repo.ref(PURGED)) else [])
    except HistoryDamaged as error:
        yield HistoryDamage(
            f"the list of purged texts cannot be read: {error.args[0]}", f"{repo.path}/{PURGED.decode()}"
        )
    for sha256, blob in index.items():
        yield from texts.problem(blob, sha256, "a stored text", str(repo.path))


def _state(
    repo: GitRepo, oid: ObjectID, commit: Commit, texts: _Texts, index: dict[str, ObjectID]
) -> Iterator[HistoryDamage]:
    where = f"{repo.path}, commit {oid.decode()}"
    try:
        at = trees.moment_of(commit)
        where = f"{repo.path}, the state of {at:%Y-%m-%d %H:%M:%S} UTC (commit {oid.decode()})"
        files = trees.flat(repo, commit.tree)
        entries = trees.manifest_of(repo, commit)
    except HistoryDamaged as error:
        yield HistoryDamage(f"a state cannot be read: {error.args[0]}", where)
        return
    files.pop((trees.MANIFEST,))
    for path, entry in entries.items():
        if entry.sha256 is None:
            continue
        blob = files.pop(trees.location(path), None)
        if blob is None or index.get(entry.sha256) != blob:
            yield HistoryDamage(f"{path!r} (sha256 {entry.sha256}) is not among the stored texts", where)
        else:
            yield from texts.problem(blob, entry.sha256, repr(path), where)
    for place in files:
        yield HistoryDamage(f"{b'/'.join(place)!r} is in the state but not in its manifest", where)
