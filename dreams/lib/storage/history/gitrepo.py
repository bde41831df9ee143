"""A bare git repository with durable writes: every batch of objects is one synced pack, then a ref moves.

Packs instead of loose objects, because a commit of ten objects then needs two syncs instead of twenty.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from dulwich.file import FileLocked
from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree, hex_to_sha
from dulwich.pack import UnpackedObject, full_unpacked_object, write_pack_data, write_pack_index_v2
from dulwich.refs import Ref
from dulwich.repo import Repo

from . import durable
from .model import HistoryBusy, HistoryDamaged, HistoryError

MAIN = Ref(b"refs/heads/main")
HEAD = b"ref: " + MAIN + b"\n"  # git needs it, to clone for example; nothing here does
#: A ref to a commit whose tree names every stored text by its sha256; see `trees.Index`.
INDEX = Ref(b"refs/memoryweb/index")
#: A ref to a commit with the list of purged texts; see `purge.purged`.
PURGED = Ref(b"refs/memoryweb/purged")
REFS = (MAIN, INDEX, PURGED)
#: Git holds a ref's lock for milliseconds, and we hold ours while nobody else of us may write; chosen.
OLD_SECONDS = 60
FILE, FOLDER = 0o100644, 0o040000
BUILDING = ".building.flock"
# Without git's garbage collection, which would race with our `pack`.
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[gc]\n\tauto = 0\n"

_Object = TypeVar("_Object", Blob, Commit, Tree)


@dataclass(frozen=True, slots=True)
class First:
    """The first content of a new repository."""

    objects: Sequence[ShaFile]
    refs: Mapping[Ref, ObjectID]


class GitRepo:
    """One repository. Not to be shared between threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._repo = Repo(str(path))

    def close(self) -> None:
        """Closes open packs."""
        self._repo.close()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """The project's write lock; its file does not end in `.lock`, a suffix that git uses."""
        with durable.locked(self.path / "memoryweb.flock"):
            # dulwich caches packed refs: after a `git gc` it would return old refs.
            self.reload()
            yield

    def ref(self, name: Ref) -> ObjectID | None:
        """The commit a ref points to, None if it does not exist."""
        value = self._repo.refs.read_ref(name)
        if value is None:  # perhaps packed by git since dulwich read it
            self.reload()
            value = self._repo.refs.read_ref(name)
        is_emptied = value is None and (self.path / name.decode()).exists()  # for example after a power cut
        if is_emptied or (value is not None and len(value) != 40):
            raise HistoryDamaged(f"{self.path}/{name.decode()} is no ref")
        return None if value is None else ObjectID(value)

    def move_ref(self, name: Ref, old: ObjectID | None, new: ObjectID) -> None:
        """Moves a ref, durably, if it still points to `old`. Under the lock."""
        refs = self._repo.refs
        _remove_old(self.path / f"{name.decode()}.lock")
        try:
            moved = refs.add_if_new(name, new) if old is None else refs.set_if_equals(name, old, new)
        except FileLocked as error:
            raise HistoryBusy(
                f"{self.path} has a ref lock, left by a crash or held by git; run recover, or let git finish"
            ) from error
        if not moved:
            raise HistoryBusy(f"{self.path} was changed by another program meanwhile; try again")
        try:
            durable.sync_folder((self.path / name.decode()).parent)
        except OSError:
            # Restore it: a later "nothing changed" must not hide the failed sync.
            refs.remove_if_equals(name, new) if old is None else refs.set_if_equals(name, new, old)
            raise

    def refs(self) -> dict[Ref, ObjectID]:
        """Every ref with its object, also those that a person made with git."""
        return dict(self._repo.refs.as_dict())

    def __contains__(self, oid: ObjectID) -> bool:
        try:
            return oid in self._repo.object_store
        except Exception as error:  # dulwich raises several kinds for a damaged pack index
            raise HistoryDamaged(f"a pack in {self.path} cannot be read: {error}") from error

    def raw(self, oid: ObjectID) -> tuple[int, bytes]:
        """Git type number and bytes of an object, re-hashed. Raises HistoryDamaged if missing or changed."""
        try:
            kind, data = self._repo.object_store.get_raw(oid)
        except KeyError as error:
            raise HistoryDamaged(f"object {oid.decode()} is missing from {self.path}") from error
        except Exception as error:  # dulwich raises a dozen kinds on bad bytes
            raise HistoryDamaged(f"object {oid.decode()} in {self.path} cannot be read: {error}") from error
        if object_id(kind, data) != oid:
            raise HistoryDamaged(f"object {oid.decode()} in {self.path} is not what was stored")
        return kind, data

    def blob(self, oid: ObjectID) -> bytes:
        return self._of(Blob, oid).as_raw_string()

    def tree(self, oid: ObjectID) -> Tree:
        return self._of(Tree, oid)

    def commit(self, oid: ObjectID) -> Commit:
        return self._of(Commit, oid)

    def parsed(self, oid: ObjectID) -> ShaFile:
        """An object of any kind. Raises HistoryDamaged if it is missing, changed or malformed."""
        kind, data = self.raw(oid)
        try:
            parsed = ShaFile.from_raw_string(kind, data, sha=oid)
            if isinstance(parsed, Tree):
                parsed.items()  # parses now, so that bad bytes are found here
            if isinstance(parsed, Commit):
                parsed.parents  # noqa: B018  the same; dulwich parses when first asked
        except Exception as error:  # dulwich raises several kinds for malformed objects
            raise HistoryDamaged(f"object {oid.decode()} in {self.path} is malformed: {error}") from error
        return parsed

    def _of(self, cls: type[_Object], oid: ObjectID) -> _Object:
        parsed = self.parsed(oid)
        if not isinstance(parsed, cls):
            raise HistoryDamaged(f"object {oid.decode()} in {self.path} is not a {cls.type_name.decode()}")
        return parsed

    def write(self, objects: Iterable[ShaFile]) -> None:
        """Stores the missing objects, durably, in one pack."""
        new = {obj.id: obj for obj in objects if obj.id not in self}
        if new:
            self.write_pack(len(new), (full_unpacked_object(obj) for obj in new.values()))

    def write_pack(self, count: int, records: Iterator[UnpackedObject]) -> str:
        """Writes one pack with its index and returns its base name. A pack without an index is invisible."""
        folder = self.path / "objects" / "pack"
        written: list[tuple[dict[bytes, tuple[int, int]], bytes]] = []

        def data(file: BinaryIO) -> None:
            written.append(write_pack_data(file.write, records, DEFAULT_OBJECT_FORMAT, num_records=count))

        def index(file: BinaryIO) -> None:
            entries, checksum = written[0]
            rows = sorted((oid, offset, crc) for oid, (offset, crc) in entries.items())
            write_pack_index_v2(file, rows, checksum)

        left = [nameless := folder / "next.pack"]
        try:
            durable.write_file(nameless, data, folder_too=False)
            name = f"pack-{written[0][1].hex()}"
            index_file = (final := self.pack_path(name)).with_suffix(".idx")
            # The same objects were packed before: those files stay.
            left = [nameless] if index_file.exists() else [nameless, final, index_file]
            nameless.rename(final)
            # Also syncs the folder, once both names exist.
            durable.write_file(index_file, index)
        except BaseException:
            # A retry must not find objects whose sync failed and treat them as stored.
            for path in reversed(left):
                path.unlink(missing_ok=True)
            raise
        return name

    def records(self, oids: Iterable[ObjectID]) -> Iterator[UnpackedObject]:
        """The objects one by one, re-hashed, as input of `write_pack`."""
        for oid in oids:
            kind, data = self.raw(oid)
            yield UnpackedObject(kind, decomp_chunks=[data], sha=hex_to_sha(oid))

    def packs(self) -> list[str]:
        """Base names of the packs that have an index."""
        return sorted(path.stem for path in (self.path / "objects" / "pack").glob("*.idx"))

    def pack_path(self, name: str) -> Path:
        """The data file of a pack."""
        return self.path / "objects" / "pack" / f"{name}.pack"

    def loose(self) -> Iterator[tuple[ObjectID, Path]]:
        """Loose objects, which only other programs write here."""
        for path in sorted(self.path.glob("objects/??/*")):
            name = path.parent.name + path.name
            if len(name) == 40 and set(name) <= set("0123456789abcdef"):
                yield ObjectID(name.encode()), path

    def lines(self, head: ObjectID | None) -> Iterator[tuple[ObjectID, Commit]]:
        """Commits from `head` back to the first one, newest first, along first parents."""
        seen: set[ObjectID] = set()
        while head is not None and head not in seen:
            seen.add(head)
            commit = self.commit(head)
            yield head, commit
            head = commit.parents[0] if commit.parents else None

    def add_pack(self, chunks: Iterable[bytes]) -> None:
        """Adds a pack made elsewhere, including deltas; every object is re-hashed while it is indexed."""
        file, finish, abort = self._repo.object_store.add_pack()
        try:
            for chunk in chunks:
                file.write(chunk)
            finish()
        except BaseException:
            abort()
            raise
        durable.sync_folder(self.path / "objects" / "pack")

    def reload(self) -> None:
        """Closes packs after they were replaced."""
        self._repo.close()
        self._repo = Repo(str(self.path))


def object_id(kind: int, data: bytes) -> ObjectID:
    """Git's id of an object (a SHA-1, chosen by git; we address texts by sha256)."""
    header = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}[kind] + b" %d\0" % len(data)
    return ObjectID(hashlib.sha1(header + data, usedforsecurity=False).hexdigest().encode())


def build(path: Path, fill: Callable[[GitRepo], None], *, keep: bool) -> None:
    """Makes and fills a repository aside, then renames it to `path`, so that it exists completely or not at all.

    If one exists: with `keep` it is not changed, else an empty one is replaced and HistoryError is raised for one
    with content.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = _aside(path)
    with durable.locked(path.parent / BUILDING):
        shutil.rmtree(aside, ignore_errors=True)  # left by a crash
        if keep and path.exists():
            return
        try:
            _new(aside)
            ours = GitRepo(aside)
            try:
                fill(ours)
            finally:
                ours.close()
            durable.sync_trees([aside])
            if path.exists():
                _remove_empty(path)
            aside.rename(path)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        durable.sync_folder(path.parent)


def begin(folder: Path, firsts: Mapping[str, First]) -> set[str]:
    """Makes repositories (names below `folder`) with one commit each; returns the names of those made.

    As `build` for each, but made durable together: a few waits for the disk instead of a dozen for each. Skips those
    that exist, and those that cannot be made: making one alone later gives the error.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    made: dict[Path, Path] = {}
    with durable.locked(folder / BUILDING):
        try:
            for name, first in firsts.items():
                path = folder / name
                shutil.rmtree(_aside(path), ignore_errors=True)  # left by a crash
                if not path.exists() and _first(_aside(path), first):
                    made[_aside(path)] = path
            if made:
                durable.sync_trees(list(made))
            for aside, path in made.items():
                aside.rename(path)
            if made:
                durable.sync_folder(folder)
        finally:
            for aside in made:
                shutil.rmtree(aside, ignore_errors=True)
    return {path.name for path in made.values()}


def _first(aside: Path, first: First) -> bool:
    """Makes one without syncing. False if it cannot be made; then nothing of it remains."""
    try:
        _new(aside)
        packs = aside / "objects" / "pack"
        with (packs / "next.pack").open("xb") as file:
            entries, checksum = write_pack_data(
                file.write,
                (full_unpacked_object(obj) for obj in first.objects),
                DEFAULT_OBJECT_FORMAT,
                num_records=len(first.objects),
            )
        final = packs / f"pack-{checksum.hex()}.pack"
        (packs / "next.pack").rename(final)
        with final.with_suffix(".idx").open("xb") as file:
            write_pack_index_v2(
                file, sorted((oid, offset, crc) for oid, (offset, crc) in entries.items()), checksum
            )
        for name, oid in first.refs.items():
            (aside / name.decode()).write_bytes(oid + b"\n")
    except (OSError, ValueError):
        shutil.rmtree(aside, ignore_errors=True)
        return False
    return True


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}{durable.UNFINISHED}")


def _new(aside: Path) -> None:
    """An empty repository with git's layout, without its example files."""
    for name in ("", "objects", "objects/pack", "refs", "refs/heads", "refs/tags", "refs/memoryweb"):
        (aside / name).mkdir(mode=0o700)
    (aside / "HEAD").write_bytes(HEAD)
    (aside / "config").write_bytes(_CONFIG)


def _remove_empty(path: Path) -> None:
    repo = GitRepo(path)
    try:
        with repo.lock():
            if any(repo.ref(name) for name in REFS):
                raise HistoryError(f"{path} already holds a history; move it away first")
            shutil.rmtree(path)
    finally:
        repo.close()


def _remove_old(lock: Path) -> None:
    """The lock of a ref that a killed writer left: else nothing of this project is read before the next start."""
    with suppress(FileNotFoundError):
        if abs(time.time() - lock.stat().st_mtime) > OLD_SECONDS:
            lock.unlink()


def clean(path: Path) -> list[str]:
    """Removes the remains of a crash: ref and object locks, unfinished files, packs without an index.

    Only under the lock, because a running writer needs its lock files.
    """
    stale = [found for found in path.rglob("*.lock") if found.is_file()]
    stale += path.rglob(f"*{durable.UNFINISHED}")
    packs = path / "objects" / "pack"
    stale += [pack for pack in packs.glob("*.pack") if not pack.with_suffix(".idx").exists()]
    stale += packs.glob("tmp*")
    for found in sorted(set(stale)):
        found.unlink(missing_ok=True)
    for folder in {found.parent for found in stale}:
        durable.sync_folder(folder)
    return [f"removed {os.fspath(found.relative_to(path))}, left by a crash" for found in sorted(set(stale))]
