"""The version history of one project: a bare git repository that ordinary `git clone` and `git log` read.

Each commit has `memory/…` (the files as they were), `odd-names/…` (files that git would not check out) and
`manifest.json` (sha256, mode and mtime of every path), so that a state can be restored without the
database. Callers name texts by sha256 and never by commit.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path

from dulwich import objects as git
from dulwich.objects import Blob, ObjectID, ShaFile

from dreams.lib.storage.history import bundle, gitrepo, purge, trees, upkeep
from dreams.lib.storage.history.gitrepo import INDEX, MAIN, GitRepo
from dreams.lib.storage.history.model import (
    Commit,
    HistoryDamage,
    HistoryDamaged,
    HistoryError,
    ManifestEntry,
    State,
    UnknownVersion,
)
from dreams.lib.storage.history.trees import Index

#: As in git: a repack costs about 1 ms for each commit of the history, an extra pack costs readers little.
MAX_PACKS = 50
MAX_LOOSE = 500


class HistoryStore:
    """One project's history. Cheap to open; use one per thread and close it (a `with` block does)."""

    def __init__(self, path: Path) -> None:
        """Open `path` (`<data>/history/<key>.git`). Raises HistoryError if there is none."""
        try:
            self._repo = GitRepo(path)
        except Exception as error:  # dulwich raises several kinds for "not a repository"
            raise HistoryError(f"{path} is no version history ({error}); create it, or import one") from error
        self.path = path

    @classmethod
    def open_or_create(cls, path: Path) -> "HistoryStore":
        """Opens `path`, and makes it (mode 0700) if it does not exist."""
        if not path.exists():
            gitrepo.build(path, lambda _: None, keep=True)
        return cls(path)

    @staticmethod
    def begin(folder: Path, states: Mapping[str, State]) -> set[str]:
        """Makes histories (`<key>.git` below `folder`) that begin with one state each; returns the names of those made.

        Skips those that exist, and those that cannot be made: `open_or_create` and `commit` raise the error. Many
        are made durable together, in a few waits for the disk.
        """
        firsts: dict[str, gitrepo.First] = {}
        for name, state in states.items():
            with suppress(ValueError):
                firsts[name] = _first(state)
        return gitrepo.begin(folder, firsts)

    @classmethod
    def import_bundle(cls, path: Path, file: Path) -> "HistoryStore":
        """Makes `path` from an export. Nothing remains if the file is damaged (HistoryError)."""
        bundle.restore(path, file)
        return cls(path)

    def __enter__(self) -> "HistoryStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes open files."""
        self._repo.close()

    # Texts by sha256

    def put(self, data: bytes) -> str:
        """Stores a text that need not be part of a commit; returns its sha256."""
        return self.put_many([data])[0]

    def put_many(self, texts: Sequence[bytes]) -> list[str]:
        """Stores several texts in one durable step; returns their sha256s, in order."""
        with self._repo.lock():
            return self._keep(texts)

    def has(self, sha256: str) -> bool:
        """Whether a text with this sha256 is stored."""
        return trees.is_sha256(sha256) and Index(self._repo).get(sha256) is not None

    def read(self, sha256: str) -> bytes:
        """The text, re-hashed. Raises UnknownVersion, or HistoryDamaged if it has changed."""
        blob = Index(self._repo).get(sha256) if trees.is_sha256(sha256) else None
        if blob is None:
            raise UnknownVersion(f"no version {sha256!r} in {self.path}; `history` lists the stored ones")
        data = self._repo.blob(blob)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise HistoryDamaged(f"version {sha256} in {self.path} is damaged")
        return data

    def texts(self) -> list[str]:
        """The sha256 of every stored text."""
        return sorted(sha256 for sha256, _ in Index(self._repo).items())

    # States

    def commit(self, state: State) -> Commit | None:
        """Stores the complete memory directory; None if it equals the last state.

        Raises ValueError for an impossible path or trailer name, HistoryBusy while another process writes.
        """
        entries, text = _checked(state)
        with self._repo.lock():
            head = self._repo.ref(MAIN)
            kept = _KeptTexts(Index(self._repo), list(state.files.values()))
            objects = trees.build(entries, kept.blobs)
            if head and self._repo.commit(head).tree == objects[-1].id:
                self._write(kept, [])
                return None
            at = int(state.at.timestamp())
            made = trees.new_commit(objects[-1].id, head, text, at, state.author)
            self._write(kept, [*objects, made])
            self._repo.move_ref(MAIN, head, made.id)
            # Each pack means two open files for every reader. The state is stored, even if the repack fails.
            with suppress(HistoryError, OSError):
                self._pack(MAX_PACKS, MAX_LOOSE)
        return _described(made)

    def log(self, limit: int = 50, offset: int = 0) -> list[Commit]:
        """Commits, newest first."""
        return list(islice(self.states(), offset, offset + limit))

    def states(self) -> Iterator[Commit]:
        """All commits, newest first, read one by one."""
        return (_described(commit) for _, commit in self._repo.lines(self._repo.ref(MAIN)))

    def tree_at(self, commit: str) -> dict[str, str]:
        """Path → sha256 of the state of a commit."""
        entries = self.restore_manifest(commit)
        return {path: entry.sha256 for path, entry in entries.items() if entry.sha256}

    def restore_manifest(self, commit: str) -> dict[str, ManifestEntry]:
        """Path → sha256, size, mode and mtime of a state; directories have no sha256."""
        oid = ObjectID(commit.encode("ascii", "replace"))
        if len(commit) != 40 or not all(digit in "0123456789abcdef" for digit in commit):
            raise UnknownVersion(f"{commit!r} is no commit id; see `history`")
        if oid not in self._repo:
            raise UnknownVersion(f"no commit {commit} in {self.path}; see `history`")
        return trees.manifest_of(self._repo, self._repo.commit(oid))

    # Upkeep

    def recover(self) -> list[str]:
        """Removes the remains of a crash and finishes an interrupted purge; returns what it did. Safe at every start."""
        with self._repo.lock():
            done = gitrepo.clean(self.path)
            return done + purge.resume(self._repo)

    @contextmanager
    def left_alone(self) -> Iterator[None]:
        """Nobody writes to this history during the block, this object included."""
        with self._repo.lock():
            yield

    def pack(self, max_packs: int = MAX_PACKS, max_loose: int = MAX_LOOSE) -> int:
        """Repacks if there are more packs or loose objects than that; returns the number of files removed.

        Texts of a commit or a `put` are never removed.
        """
        with self._repo.lock():
            return self._pack(max_packs, max_loose)

    def _pack(self, max_packs: int, max_loose: int) -> int:
        loose = sum(1 for _ in islice(self._repo.loose(), max_loose + 1))
        if len(self._repo.packs()) <= max_packs and loose <= max_loose:
            return 0
        return upkeep.sweep(self._repo)

    def verify(self) -> list[HistoryDamage]:
        """Re-hashes every object and reads every sha256 of every state; returns the problems."""
        problems = upkeep.verify(self._repo)
        if not problems:
            return []
        with self._repo.lock():  # again, under the lock: during a repack objects seem missing
            return upkeep.verify(self._repo)

    def export(self, file: Path) -> None:
        """Writes the history as one git bundle (v2, `git clone file` can read it), completely or not at all."""
        with self._repo.lock():  # so that both refs are of one moment
            bundle.export(self._repo, file)

    def purge(
        self,
        sha256s: Sequence[str],
        reason: str,
        who: str,
        at: datetime,
        instead: Mapping[str, bytes] | None = None,
    ) -> dict[str, str]:
        """Replaces leaked texts in every state and removes them from the disk.

        `instead` has the replacement of an old text (for example without its secret); the others get a
        tombstone. Returns old sha256 → sha256 of the replacement. Commit ids change from the first state that had one
        of them. A crash in between is finished by `recover`. The caller records it in the audit log; messages
        and trailers are kept as they are.
        """
        given = dict(instead or {})
        with self._repo.lock():
            names = dict(zip(given, self._keep(list(given.values())), strict=True))
            return purge.purge(self._repo, sha256s, reason, who, at, names)

    def purged(self) -> dict[str, str]:
        """What `note_purged` was given of every purged text, with the sha256 of the text in its place today."""
        return purge.purged(self._repo)

    def note_purged(self, found: Mapping[str, str]) -> None:
        """Adds purged texts to the list that exports carry: 64 hexadecimal digits that identify each one, and the sha256
        of the stored text in its place."""
        with self._repo.lock():
            purge.note(self._repo, found)

    def _keep(self, texts: Sequence[bytes]) -> list[str]:
        kept = _KeptTexts(Index(self._repo), texts)
        self._write(kept, [])
        return kept.names

    def _write(self, kept: "_KeptTexts", others: Sequence[ShaFile]) -> None:
        """Writes new texts, their index and the objects that refer to them in one pack."""
        self._repo.write([*kept.objects, *others])
        if kept.head:
            self._repo.move_ref(INDEX, kept.index.head, kept.head)


class _KeptTexts:
    """Texts to store: the new ones among them, and the index with them. Writes nothing."""

    def __init__(self, index: Index, texts: Sequence[bytes]) -> None:
        self.index = index
        self.names = [hashlib.sha256(text).hexdigest() for text in texts]
        known = {name: index.get(name) for name in self.names}
        new = {
            name: Blob.from_string(text)
            for name, text in zip(self.names, texts, strict=True)
            if known[name] is None
        }
        made = index.changed({name: blob.id for name, blob in new.items()}) if new else []
        self.objects: list[ShaFile] = [*new.values(), *made] if made else []
        #: The index's new commit, None if it already has all.
        self.head = made[-1].id if made else None
        self.blobs = {name: blob for name, blob in known.items() if blob} | {
            name: blob.id for name, blob in new.items()
        }


def _checked(state: State) -> tuple[dict[str, ManifestEntry], bytes]:
    """The manifest and the commit's message. Raises ValueError for a state that cannot be stored."""
    if state.at.tzinfo is None:
        raise ValueError("a commit's time needs an offset")
    return trees.entries(state.files, state.manifest), trees.message(state.subject, state.trailers)


def _first(state: State) -> gitrepo.First:
    entries, text = _checked(state)
    kept = _KeptTexts(Index(None), list(state.files.values()))
    objects = trees.build(entries, kept.blobs)
    made = trees.new_commit(objects[-1].id, None, text, int(state.at.timestamp()), state.author)
    unique = {obj.id: obj for obj in (*kept.objects, *objects, made)}
    refs = {MAIN: made.id} | ({INDEX: kept.head} if kept.head else {})
    return gitrepo.First(list(unique.values()), refs)


def _described(commit: git.Commit) -> Commit:
    subject, trailers = trees.read_message(commit.message)
    return Commit(
        commit.id.decode(), trees.moment_of(commit), trees.author_of(commit.author), subject, trailers
    )
