"""Writes files that survive a power cut: written aside, synced, renamed, then the folder synced."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from dreams.lib.files import flush
from dreams.lib.files.safefs import held

from .model import HistoryBusy

#: The suffix of our temporary files; a file with it after a crash was never part of the history.
UNFINISHED = ".unfinished"
LOCK_SECONDS = 30.0
_SYNCS_AT_ONCE = 8
#: From so many folders on, one sync of the file system costs less than one for each file.
_MANY = 4


def sync_folder(folder: Path) -> None:
    """Makes the names in `folder` durable; a rename alone may be lost in a power cut."""
    with held(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        flush.to_disk(fd)


def sync_trees(folders: Sequence[Path]) -> None:
    """Makes complete folders of one file system durable, after writing there without syncing.

    Many in one sync of the file system, if available. Else all in parallel: the disk joins waiting syncs, so a busy
    one needs a few waits and not one for each file.
    """
    if len(folders) >= _MANY and flush.all_to_disk(folders[0]):
        return
    with ThreadPoolExecutor(_SYNCS_AT_ONCE) as pool:
        waiting = [
            pool.submit(sync, path)
            for folder in folders
            for where, _, names in os.walk(folder)
            for sync, path in (
                (sync_folder, Path(where)),
                *((_sync_file, Path(where) / name) for name in names),
            )
        ]
    for done in waiting:
        done.result()


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        flush.to_disk(file.fileno())


def write_file(target: Path, write: Callable[[BinaryIO], object], *, folder_too: bool = True) -> None:
    """Replaces `target` in one step by a new file that `write` fills; on an error the new file is removed.

    A link, pipe or device is never replaced: a person may have typed /dev/null. Without `folder_too` the caller syncs the
    folder, after more names are there.
    """
    if target.is_symlink() or (target.exists() and not (target.is_file() or target.is_dir())):
        raise FileExistsError(errno.EEXIST, "Not a plain file", str(target))
    unfinished = target.parent / (target.name + UNFINISHED)
    unfinished.unlink(missing_ok=True)  # left by a crash; every caller has the lock
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            write(file)
            file.flush()
            flush.to_disk(file.fileno())
        unfinished.rename(target)
        if folder_too:
            sync_folder(target.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the kernel lock at `path`, which ends with its process, even on kill -9."""
    lock = FileLock(path, timeout=LOCK_SECONDS, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise HistoryBusy(
            f"another process is writing to {path.parent}; try again when it is done"
        ) from error
    try:
        yield
    finally:
        lock.release()
