"""Back to all-old from any point before the commit, and never over somebody else's change.

What is done is decided from the disk alone, by what stands at the temporary name (T) and at the file's own name (N):
nothing, our new file, the old file, or another. So it does not matter where the run, or an earlier undo, stopped.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum, auto

from dreams.safefs import SafeFsError

from .look import Seen, Who, look, restore_mtime, who
from .plan import FileState, JournalDamaged
from .records import Task
from .stage import Work, write_temp
from .swap import exchange, keep, remove_dir

_TRIES = 32


class Move(Enum):
    """One step towards the old state."""

    DONE = auto()
    DROP = auto()  # remove T, which holds nothing that is not in the journal
    KEEP = auto()  # remove T after its bytes are in the journal
    EXCHANGE = auto()
    PUT_BACK = auto()  # rename T to the empty N
    TAKE_OUT = auto()  # rename our N to the empty T
    REBUILD = auto()  # write T anew from the kept old text


_CHANGE: dict[tuple[Who, Who], Move] = {
    ("absent", "ours"): Move.REBUILD,
    ("old", "ours"): Move.EXCHANGE,
    ("old", "old"): Move.DROP,
    ("old", "absent"): Move.DROP,  # somebody removed our new file: theirs is the last word
    ("old", "other"): Move.DROP,
    ("other", "ours"): Move.EXCHANGE,
    ("other", "old"): Move.EXCHANGE,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "other"): Move.KEEP,
}
_ADD: dict[tuple[Who, Who], Move] = {
    ("absent", "ours"): Move.TAKE_OUT,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "ours"): Move.KEEP,
    ("other", "other"): Move.KEEP,
}
_DELETE: dict[tuple[Who, Who], Move] = {
    ("old", "absent"): Move.PUT_BACK,
    ("old", "old"): Move.DROP,
    ("old", "other"): Move.DROP,
    ("other", "absent"): Move.PUT_BACK,
    ("other", "old"): Move.KEEP,
    ("other", "other"): Move.KEEP,
}


def decide(task: Task, temp: Who, name: Who) -> Move:
    """The next step for one file. Our own temporary file is simply dropped, wherever it is."""
    if temp == "ours":
        return Move.DROP
    table = _ADD if task.before is None else _DELETE if task.after is None else _CHANGE
    return table.get((temp, name), Move.DONE)


def undo(work: Work) -> list[str]:
    """Undo all files, then directories, then mtimes. Returns what went wrong; then it is to be run again."""
    troubles = []
    for task in reversed(work.script.tasks):
        try:
            _undo_one(work, task)
        except (OSError, SafeFsError, JournalDamaged) as error:
            troubles.append(f"{task.path!r}: {error}")
    try:
        for rel in reversed(tuple(work.script.make_dirs)):
            remove_dir(work, rel)
        for rel, state in work.script.dirs_before.items():
            restore_mtime(work.system, work.root, rel, state)
        work.sync_folders()
    except (OSError, SafeFsError) as error:
        troubles.append(f"a directory: {error}")
    return troubles


def _undo_one(work: Work, task: Task) -> None:
    with suppress(FileNotFoundError), work.root.parent(task.where) as (folder, name):
        if work.inodes is None:
            # No file was swapped before all temporary files were whole, so this one can only be ours.
            with suppress(FileNotFoundError):
                work.system.unlink(folder, task.temp)
            return
        with suppress(FileNotFoundError):
            work.system.unlink(folder, task.rebuilt)
        _drop_aside(work, folder, task)
        _settle(work, folder, task, name)


def _drop_aside(work: Work, folder: int, task: Task) -> None:
    """Bring the fallback's three names back to two: the old inode is at T, or still (also) at N."""
    if look(work.system, folder, task.aside) is None:
        return
    if look(work.system, folder, task.temp) is None:
        work.system.replace(folder, task.aside, task.temp)
    else:
        work.system.unlink(folder, task.aside)


def _settle(work: Work, folder: int, task: Task, name: str) -> None:
    placed: set[int] = set()
    for _ in range(_TRIES):
        temp, here = look(work.system, folder, task.temp), look(work.system, folder, name)
        inode = work.inode(task)
        move = decide(task, who(temp, task, inode), who(here, task, inode))
        if move is Move.KEEP and _newer(temp, here, placed):
            move = Move.EXCHANGE
        if move is Move.DONE:
            _say_if_left(work, task, who(here, task, inode))
            return
        if temp is not None and move in (Move.EXCHANGE, Move.PUT_BACK):
            placed.add(temp.stat.st_ino)
        with suppress(FileExistsError, BlockingIOError):
            _do(work, folder, task, name, move, temp)
    raise BlockingIOError(11, "is being changed all the time; try again when that has ended", task.path)


def _newer(temp: Seen | None, here: Seen | None, placed: set[int]) -> bool:
    """Whether T came out just now from where we had put an older foreign version."""
    if temp is None or here is None:
        return False
    return here.stat.st_ino in placed and temp.stat.st_ino not in placed


def _do(work: Work, folder: int, task: Task, name: str, move: Move, temp: Seen | None) -> None:
    system = work.system
    match move:
        case Move.DROP:
            system.unlink(folder, task.temp)
        case Move.KEEP if temp is not None:
            keep(work, task, temp)
            system.unlink(folder, task.temp)
        case Move.EXCHANGE:
            exchange(system, folder, task, name)
        case Move.PUT_BACK:
            system.move_new(folder, task.temp, name)
        case Move.TAKE_OUT:
            system.move_new(folder, name, task.temp)
        case Move.REBUILD if task.before is not None:
            _rebuild(work, folder, task, task.before)


def _rebuild(work: Work, folder: int, task: Task, state: FileState) -> None:
    """Under a third name until it is whole: half an old file at T would be exchanged into place."""
    write_temp(work, task, state, task.rebuilt)
    try:
        work.system.move_new(folder, task.rebuilt, task.temp)
    except FileExistsError:
        work.system.unlink(folder, task.rebuilt)


def _say_if_left(work: Work, task: Task, here: Who) -> None:
    expected: Who = "absent" if task.before is None else "old"
    if here != expected:
        what = "is gone" if here == "absent" else "was changed by somebody else"
        work.said.append(f"{task.path!r} {what} meanwhile and was left as it is")
