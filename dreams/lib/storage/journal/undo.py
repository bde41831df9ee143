"""Restores all old files from any point before the commit, without overwriting anybody's changes.

Each step depends only on the disk, on the file at the temporary name (T) and at the file's own name (N): nothing, our
new file, our new file that somebody appended to, the old file, or another. So it does not matter where the run, or an
earlier undo, stopped. Text appended to a new file is appended to the old text.
"""

import errno
import os
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.storage.journal.plan import FileState, JournalDamaged, Task, sha256_of
from dreams.lib.storage.journal.resolving import NEW_FILE_MODE, SeenFile, Who, restore_mtime, seen_file
from dreams.lib.storage.journal.swap import Work, exchange, is_known, keep, remove_dir, retire, write_temp
from dreams.lib.storage.journal.system import Patience, StillOpen, nobody_writes

_TRIES = 32  # others may move files meanwhile; chosen
_DRAIN = 0.2  # of the patience: text written even later is found by `collect_late`


class Move(Enum):
    """One step towards the old state."""

    DONE = auto()
    DROP = auto()  # retire T, whose bytes are in the journal
    KEEP = auto()  # retire T after its bytes are in the journal
    EXCHANGE = auto()
    PUT_BACK = auto()  # rename T to the empty N
    TAKE_OUT = auto()  # rename our N to the empty T
    REBUILD = auto()  # write T again from the kept old text
    MEND = auto()  # N is ours and grown: write the old text and what was appended
    MEND_LATE = auto()  # the same, for T after it was taken out
    JOIN = auto()  # the file was removed and somebody created a new one: write the old text and theirs


_TAKES_T = (Move.DROP, Move.KEEP, Move.MEND, Move.MEND_LATE, Move.JOIN)
_CHANGE: dict[tuple[Who, Who], Move] = {
    ("absent", "ours"): Move.REBUILD,
    ("absent", "grown"): Move.MEND,
    ("old", "ours"): Move.EXCHANGE,
    ("old", "grown"): Move.MEND,
    ("old", "old"): Move.DROP,
    ("old", "absent"): Move.DROP,  # somebody removed our new file: it stays removed
    ("old", "other"): Move.DROP,
    ("other", "ours"): Move.EXCHANGE,
    ("other", "grown"): Move.MEND,
    ("other", "old"): Move.EXCHANGE,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "other"): Move.KEEP,
}
_ADD: dict[tuple[Who, Who], Move] = {
    ("absent", "ours"): Move.TAKE_OUT,
    ("absent", "grown"): Move.MEND,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "ours"): Move.KEEP,
    ("other", "grown"): Move.KEEP,
    ("other", "other"): Move.KEEP,
}
_DELETE: dict[tuple[Who, Who], Move] = {
    ("old", "absent"): Move.PUT_BACK,
    ("old", "old"): Move.DROP,
    ("old", "other"): Move.JOIN,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "old"): Move.KEEP,
    ("other", "other"): Move.KEEP,
}


def decide(task: Task, temp: Who, name: Who) -> Move:
    """The next step for one file. Our own temporary file is always dropped."""
    if temp == "ours":
        return Move.DROP
    if temp == "grown":
        return Move.MEND_LATE
    table = _ADD if task.before is None else _DELETE if task.after is None else _CHANGE
    return table.get((temp, name), Move.DONE)


def is_built_upon(work: Work) -> bool:
    """Whether every file was swapped, and somebody has since appended to a new one, or created a removed one again.

    Then they saw the complete new state, and it is safer to finish it: a line that moved from one file to another
    would otherwise be missing from what they wrote.
    """
    if work.inodes is None:
        return False
    seen = [_swapped(work, task) for task in work.resolved.tasks]
    return None not in seen and True in seen


def _swapped(work: Work, task: Task) -> bool | None:
    """Whether somebody has appended to a swapped file; None if not swapped, or changed in another way."""
    try:
        with work.root.parent(task.where) as (folder, name):
            drop_aside(work, folder, task)
            temp = work.who(task, seen_file(work.system, folder, task.temp))
            here = work.who(task, seen_file(work.system, folder, name))
    except FileNotFoundError:
        return None
    if temp != ("absent" if task.before is None else "old"):
        return None
    if task.after is None:
        return here == "other" if here in ("absent", "other") else None
    return here == "grown" if here in ("ours", "grown") else None


def undo(work: Work) -> list[str]:
    """Undoes all files, then directories, then mtimes. Returns the errors; if there are any, run it again."""
    troubles = []
    for task in reversed(work.resolved.tasks):
        try:
            _undo_one(work, task)
        except (OSError, SafeFsError, JournalDamaged) as error:
            troubles.append(f"{task.path!r}: {error}")
    try:
        for rel in reversed(tuple(work.resolved.make_dirs)):
            remove_dir(work, rel)
        for rel, state in work.resolved.dirs_before.items():
            restore_mtime(work.system, work.root, rel, state)
        work.sync_folders()
    except (OSError, SafeFsError) as error:
        troubles.append(f"a directory: {error}")
    return troubles


def _undo_one(work: Work, task: Task) -> None:
    with suppress(FileNotFoundError), work.root.parent(task.where) as (folder, name):
        if work.inodes is None:
            # No file is swapped before all temporary files are complete, so this one can only be ours.
            with suppress(FileNotFoundError):
                work.system.unlink(folder, task.temp)
            return
        with suppress(FileNotFoundError):
            work.system.unlink(folder, task.rebuilt)
        drop_aside(work, folder, replace(task, temp=task.mended))
        if seen_file(work.system, folder, task.mended) is not None:
            retire(work, folder, task, task.mended)
        drop_aside(work, folder, task)
        _settle(work, folder, task, name)


def drop_aside(work: Work, folder: int, task: Task) -> None:
    """Removes the fallback's third name: the old inode is at T, or still (also) at N."""
    if seen_file(work.system, folder, task.aside) is None:
        return
    if seen_file(work.system, folder, task.temp) is None:
        work.system.replace(folder, task.aside, task.temp)
    else:
        work.system.unlink(folder, task.aside)


def _settle(work: Work, folder: int, task: Task, name: str) -> None:
    placed: set[int] = set()
    for _ in range(_TRIES):
        temp, here = seen_file(work.system, folder, task.temp), seen_file(work.system, folder, name)
        if temp and here and os.path.samestat(temp.stat, here.stat):
            work.system.unlink(folder, task.temp)  # killed between the two calls that make a rename
            continue
        move = decide(task, work.who(task, temp), work.who(task, here))
        if move is Move.KEEP:
            move = Move.EXCHANGE if _newer(temp, here, placed) else _keep_or_join(work, task, temp)
        if move in _TAKES_T and temp is not None and _is_written_to(work, folder, task, temp):
            continue
        if move is Move.DONE:
            if work.who(task, here) in ("ours", "grown"):
                raise OSError(errno.EBUSY, "is still new", task.path)
            _say_what_is_left(work, task, work.who(task, here))
            return
        if temp is not None and move in (Move.EXCHANGE, Move.PUT_BACK):
            placed.add(temp.stat.st_ino)
        with suppress(FileExistsError, BlockingIOError):
            _do(work, folder, task, name, move, temp, here)
    raise BlockingIOError(11, "is being changed all the time; try again when that has ended", task.path)


def _keep_or_join(work: Work, task: Task, temp: SeenFile | None) -> Move:
    """A removed file that had grown before is joined with the newly created one, like an old one."""
    old = work.texts(task).old
    if task.after is None and old is not None and temp and temp.data and temp.data.startswith(old):
        return Move.JOIN
    return Move.KEEP


def _is_written_to(work: Work, folder: int, task: Task, temp: SeenFile) -> bool:
    """Whether T changed since it was read. Waits a little for a process that opened it while it was in place."""
    now = _seen_at_rest(work, folder, task.temp)
    return now is None or now.sha256 != temp.sha256


def _seen_at_rest(work: Work, folder: int, name: str) -> SeenFile | None:
    with (
        suppress(StillOpen, FileNotFoundError),
        nobody_writes(work.system, folder, name, Patience(work.system, _DRAIN)),
    ):
        pass
    return seen_file(work.system, folder, name)


def _newer(temp: SeenFile | None, here: SeenFile | None, placed: set[int]) -> bool:
    """Whether T was just swapped out by an older foreign version that we had put back."""
    if temp is None or here is None:
        return False
    return here.stat.st_ino in placed and temp.stat.st_ino not in placed


def _do(
    work: Work, folder: int, task: Task, name: str, move: Move, temp: SeenFile | None, here: SeenFile | None
) -> None:
    system = work.system
    match move:
        case Move.DROP:
            retire(work, folder, task, task.temp)
        case Move.KEEP if temp is not None:
            keep(work, task, temp)
            retire(work, folder, task, task.temp)
        case Move.EXCHANGE:
            exchange(system, folder, task, name)
        case Move.PUT_BACK:
            system.move_new(folder, task.temp, name)
        case Move.TAKE_OUT:
            system.move_new(folder, name, task.temp)
        case Move.REBUILD if task.before is not None:
            _rebuild(work, folder, task, task.before)
        case Move.MEND | Move.MEND_LATE | Move.JOIN:
            _mend(work, folder, task, name, move, temp, here)


def _rebuild(work: Work, folder: int, task: Task, state: FileState) -> None:
    """Writes under a third name until complete: an incomplete old file at T would be exchanged into place."""
    write_temp(work, task, state, task.rebuilt)
    try:
        work.system.move_new(folder, task.rebuilt, task.temp)
    except FileExistsError:
        work.system.unlink(folder, task.rebuilt)


def _mend(
    work: Work, folder: int, task: Task, name: str, move: Move, temp: SeenFile | None, here: SeenFile | None
) -> None:
    """Writes the final text of the undo to N; then T is no longer needed."""
    if here is not None and here.data is None:
        if temp is not None and not is_known(work, temp):
            keep(work, task, temp)
        retire(work, folder, task, task.temp)
        return
    if temp is not None and temp.data is None:
        raise OSError(errno.EBUSY, "something that is no readable file is at our temporary name", task.temp)
    wanted = _wanted(work, task, move, temp, here)
    if (here is None or here.data != wanted) and not _place(work, folder, task, name, here, wanted):
        return
    work.mended.add(task.path)
    if temp is not None:
        work.journal.put_blob(temp.data or b"")
        work.journal.sync_blobs()
        retire(work, folder, task, task.temp)


def _wanted(work: Work, task: Task, move: Move, temp: SeenFile | None, here: SeenFile | None) -> bytes:
    texts = work.texts(task)
    old, new = texts.old or b"", texts.new or b""
    now, aside = (here.data if here else None) or b"", temp.data if temp else None
    match move:
        case Move.MEND:
            return joined(old if aside is None else aside, now[len(new) :])
        case Move.MEND_LATE:
            late = (aside or b"")[len(new) :]
            # A run killed in between has already appended it.
            return now if now.startswith(joined(old, late)) else joined(now, late)
        case _:
            return now if now.startswith(old) else joined(old if aside is None else aside, now)


def joined(text: bytes, more: bytes) -> bytes:
    """`text` followed by `more` on a new line."""
    if text and more and not text.endswith(b"\n") and not more.startswith((b"\n", b"\r\n")):
        return text + b"\n" + more
    return text + more


def _place(work: Work, folder: int, task: Task, name: str, here: SeenFile | None, wanted: bytes) -> bool:
    """Writes `wanted` to N. False if N was changed at this moment: then their file is there, and the caller decides again."""
    like = task.before or task.after or FileState(sha256_of(wanted), NEW_FILE_MODE, None)
    for data in (wanted, *((here.data,) if here and here.data is not None else ())):
        work.journal.put_blob(data)
    work.journal.sync_blobs()
    state = replace(like, sha256=sha256_of(wanted), mtime_ns=None)
    with suppress(FileNotFoundError):
        work.system.unlink(folder, task.rebuilt)
    write_temp(work, task, state, task.rebuilt)
    if here is None:
        try:
            work.system.move_new(folder, task.rebuilt, name)
        except FileExistsError:
            work.system.unlink(folder, task.rebuilt)
            return False
        return True
    work.system.move_new(folder, task.rebuilt, task.mended)
    exchange(work.system, folder, replace(task, temp=task.mended), name)
    return _came_out(work, folder, task, name, here)


def _came_out(work: Work, folder: int, task: Task, name: str, expected: SeenFile) -> bool:
    """Checks the file that our text replaced, once nobody writes to it. If it has changed, it is put back."""
    out = _seen_at_rest(work, folder, task.mended)
    if out is None or out.sha256 == expected.sha256:
        if out is not None:
            retire(work, folder, task, task.mended)
        return True
    if out.data is not None and expected.data is not None and out.data.startswith(expected.data):
        return _add(work, folder, task, name, out.data, out.data[len(expected.data) :])
    exchange(work.system, folder, replace(task, temp=task.mended), name)
    # This is ours, unless somebody has changed even that: then it is kept.
    ours = seen_file(work.system, folder, task.mended)
    if ours is not None and not is_known(work, ours):
        keep(work, task, ours)
    if ours is not None:
        retire(work, folder, task, task.mended)
    return False


def _add(work: Work, folder: int, task: Task, name: str, seen: bytes, more: bytes) -> bool:
    """Appends to N text that was appended at this moment. If we die here, it becomes a version."""
    retire(work, folder, task, task.mended)
    here = seen_file(work.system, folder, name)
    if here is None or here.data is None:
        return False
    done = _place(work, folder, task, name, here, joined(here.data, more))
    if done:
        work.journal.put_blob(seen)
        work.journal.sync_blobs()
    return done


def _say_what_is_left(work: Work, task: Task, here: Who) -> None:
    expected: Who = "absent" if task.before is None else "old"
    if task.path in work.mended:
        work.said.append(f"{task.path!r} has its old text again, and behind it what was appended meanwhile")
    elif here != expected:
        what = "is gone" if here == "absent" else "was changed by somebody else"
        work.said.append(f"{task.path!r} {what} meanwhile and was left unchanged")
