"""The journal's own directory: one folder per attempt at a plan, with texts by sha256 and checksummed records.

<journal_dir>/.lock
<journal_dir>/<plan id>.<attempt>/blobs/<sha256>     new and old contents
                                  record.json        the resolved plan: from here on recovery is needed
                                  staged.json        the temporary files are complete
                                  commit.json        all files are swapped: from here on it is never undone
                                  end.json           nothing is left to do
                                  kept.json          somebody's texts that wait to be made versions
                                  old/<name>         replaced files, in case somebody still writes to them
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

from dreams.lib import progress
from dreams.lib.files.safefs import held
from dreams.lib.files.text import is_there
from dreams.lib.locks.lockfile import DirectoryBusy, take_kernel_lock
from dreams.lib.storage.journal.plan import Kept, KeptTexts, ResolvedPlan, decode, encode

from .plan import FILE_LIMIT, JournalBusy, JournalDamaged, sha256_of
from .system import System

T = TypeVar("T")
RecordName = Literal["record", "staged", "commit", "end", "kept"]

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RECORD_LIMIT = 256 * 1024 * 1024  # of a record with its texts; chosen


class Journal:
    """One attempt's folder, open by handle. Use it as a context manager."""

    def __init__(self, system: System, path: Path) -> None:
        self.system = system
        self.path = path
        self._fd = os.open(path, _DIR)
        self._blobs = -1
        try:
            self._blobs = os.open("blobs", _DIR, dir_fd=self._fd)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for fd in (self._fd, self._blobs):
            if fd >= 0:
                os.close(fd)
        self._fd = self._blobs = -1

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put_blob(self, data: bytes) -> str:
        """Stores a text on disk; returns its sha256. `sync_blobs` makes its name durable too."""
        name = sha256_of(data)
        if not (self.path / "blobs" / name).exists():
            self._write_whole(self._blobs, name, data)
        return name

    def put_blobs(self, texts: Sequence[bytes]) -> None:
        """Stores texts on disk with their names.

        Many are written aside, flushed in one step, and only then get their names: a name always means that its text
        is complete.
        """
        if not self.system.syncs_together(len(texts)):
            for text in progress.each("Keeping texts", texts):
                self.put_blob(text)
            return self.sync_blobs()
        fresh = dict[str, None]()
        with self._named():
            for text in progress.each("Keeping texts", texts):
                name = sha256_of(text)
                if name not in fresh and not self.knows(name):
                    os.close(self._written_aside(self._blobs, name, text))
                    fresh[name] = None
            self.system.fsync_all(self._blobs, "blobs")
            for name in fresh:
                self.system.replace(self._blobs, f"{name}.tmp", name)
        return self.sync_blobs()

    def sync_blobs(self) -> None:
        with self._named():
            self.system.fsync_dir(self._blobs, "blobs")

    def blob(self, sha256: str) -> bytes:
        """A stored text. Raises JournalDamaged if it is missing or has changed."""
        try:
            data, _ = self.system.read(self._blobs, sha256, FILE_LIMIT)
        except FileNotFoundError:
            raise JournalDamaged(f"{self.path.name}: the text {sha256} is missing") from None
        if sha256_of(data) != sha256:
            raise JournalDamaged(f"{self.path.name}: the text {sha256} is damaged")
        return data

    def put(self, name: RecordName, value: object) -> None:
        """Writes a record, complete and durable before this returns."""
        self._write_whole(self._fd, f"{name}.json", encode(value))
        with self._named():
            self.system.fsync_dir(self._fd, name)

    def get(self, name: RecordName, kind: type[T]) -> T | None:
        file = f"{name}.json"
        try:
            data, _ = self.system.read(self._fd, file, _RECORD_LIMIT)
        except FileNotFoundError:
            return None
        return decode(data, kind, file)

    def has(self, name: RecordName) -> bool:
        return is_there(self.path / f"{name}.json")

    def drop(self, name: RecordName) -> None:
        """Removes a record, durably before this returns."""
        with suppress(FileNotFoundError):
            self.system.unlink(self._fd, f"{name}.json")
        self.system.fsync_dir(self._fd, name)

    def keep(self, path: str, data: bytes) -> str:
        """Stores a text that has no other place, durably before this returns; returns its sha256."""
        kept = Kept(path, self.put_blob(data))
        self.sync_blobs()
        earlier = self.get("kept", KeptTexts)
        if earlier is None or kept not in earlier.texts:
            self.put("kept", KeptTexts((*(earlier.texts if earlier else ()), kept)))
        return kept.sha256

    def knows(self, sha256: str) -> bool:
        """Whether a text is in the journal already."""
        return (self.path / "blobs" / sha256).exists()

    def old_folder(self) -> int:
        """A handle on the folder of replaced files, made on first use. The caller closes it."""
        try:
            self.system.mkdir(self._fd, "old", 0o700)
            self.system.fsync_dir(self._fd, "old")
        except FileExistsError:
            pass
        return os.open("old", _DIR, dir_fd=self._fd)

    def sync_old(self) -> None:
        """Flushes the folder of replaced files, if there is one: once for all of them."""
        if (self.path / "old").exists():
            with held(self.old_folder()) as folder:
                self.system.fsync_dir(folder, "old")

    def _write_whole(self, folder: int, name: str, data: bytes) -> None:
        with self._named():
            with held(self._written_aside(folder, name, data)) as fd:
                self.system.fsync(fd, name)
            self.system.replace(folder, f"{name}.tmp", name)

    def _written_aside(self, folder: int, name: str, data: bytes) -> int:
        """A handle on a complete new file next to `name`, not yet flushed."""
        with suppress(FileNotFoundError):
            os.unlink(f"{name}.tmp", dir_fd=folder)
        fd = self.system.create(folder, f"{name}.tmp")
        try:
            self.system.write(fd, data, name)
        except BaseException:
            os.close(fd)
            raise
        return fd

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Adds to an error of the disk that it concerns the journal, not a memory."""
        try:
            yield
        except OSError as error:
            error.filename = str(self.path)
            raise


@contextmanager
def locked(journal_dir: str | os.PathLike[str], wait_seconds: float = 10) -> Iterator[Path]:
    """Makes the directory if needed and locks it; the lock ends with the process. Raises JournalBusy."""
    where = Path(journal_dir)
    where.mkdir(mode=0o700, exist_ok=True)
    with held(os.open(where / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as fd:
        try:
            take_kernel_lock(fd, wait_seconds)
        except DirectoryBusy:
            raise JournalBusy("another process is writing memory files; try again when it is done") from None
        yield where


def attempts(journal_dir: Path, plan_id: str = "") -> list[Path]:
    """The folders of all attempts, or of one plan's, oldest attempt first."""
    if not journal_dir.is_dir():
        return []
    found = []
    for path in journal_dir.iterdir():
        name, _, number = path.name.rpartition(".")
        if name and number.isdecimal() and plan_id in ("", name):
            found.append((name, int(number), path))
    return [path for _, _, path in sorted(found)]


def begin(system: System, journal_dir: Path, plan_id: str) -> Journal:
    """A new attempt's empty folder."""
    earlier = attempts(journal_dir, plan_id)
    number = int(earlier[-1].name.rpartition(".")[2]) + 1 if earlier else 1
    path = journal_dir / f"{plan_id}.{number}"
    try:
        with held(os.open(path.parent, _DIR)) as folder:
            system.mkdir(folder, path.name, 0o700)
            with held(os.open(path.name, _DIR, dir_fd=folder)) as inner:
                system.mkdir(inner, "blobs", 0o700)
            system.fsync_dir(folder, path.name)
        return Journal(system, path)
    except OSError:
        if path.exists():
            discard(path)
        raise


def discard(path: Path) -> None:
    """Removes an attempt without a record, or one that ended and is no longer needed.

    Renamed first: an applied attempt that lost its commit record before its `record` would look interrupted, and
    be undone.
    """
    gone = path.with_name(f"{path.name}.gone")
    path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def sweep(journal_dir: Path) -> None:
    """Removes the rest of an interrupted `discard`."""
    for path in journal_dir.glob("*.gone"):
        shutil.rmtree(path, ignore_errors=True)


def unfinished(system: System, journal_dir: Path, target_dir: str) -> list[str]:
    """Names of attempts on this directory, under any path, that recovery must still end."""
    real, found = os.path.realpath(target_dir), []
    for path in attempts(journal_dir):
        if is_there(path / "end.json") or not is_there(path / "record.json"):
            continue
        with Journal(system, path) as journal, suppress(JournalDamaged):
            resolved = journal.get("record", ResolvedPlan)
            if resolved is not None and os.path.realpath(f"{resolved.base}/{resolved.prefix}") == real:
                found.append(path.name)
    return found
