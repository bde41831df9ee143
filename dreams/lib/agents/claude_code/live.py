"""Claude Code's registry of running sessions, `<root>/sessions/<pid>.json`. Pure: no Django."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

import msgspec

from ..base import LiveSession, Skipped
from .listing import entries, open_folder, printable, read_small, why

MAX_ENTRIES = 2_000
_ENTRY_BYTES = 1 << 16


class _Entry(msgspec.Struct, rename="camel"):
    session_id: str
    pid: int | None = None
    cwd: str | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def pid_alive(pid: int) -> bool:
    """Whether a process of this id runs; one of another user counts."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def live_sessions(root: str, alive: Callable[[int], bool] = pid_alive) -> Iterator[LiveSession | Skipped]:
    """Sessions whose process is alive; nothing where there is no registry (older versions)."""
    folder = os.path.join(root, "sessions")
    try:
        with open_folder(folder) as fd:
            for count, entry in enumerate(entries(fd, folder)):
                if count >= MAX_ENTRIES:
                    return
                if isinstance(entry, Skipped):
                    yield entry
                elif entry[0].endswith(".json") and stat.S_ISREG(entry[1].st_mode):
                    yield from _live(fd, folder, entry[0], alive)
    except FileNotFoundError:
        return
    except OSError as error:
        yield Skipped(printable(folder), why(error))


def _live(fd: int, folder: str, name: str, alive: Callable[[int], bool]) -> Iterator[LiveSession | Skipped]:
    path = printable(f"{folder}/{name}")
    try:
        entry = _decode(read_small(name, _ENTRY_BYTES, dir_fd=fd))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Skipped(path, why(error))
        return
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield Skipped(path, "not an entry of a running session that we can read")
        return
    stem = name.removesuffix(".json")
    pid = entry.pid if entry.pid is not None else int(stem) if stem.isascii() and stem.isdigit() else 0
    if 0 < pid < 2**31 and alive(pid):
        yield LiveSession(entry.session_id, pid, entry.cwd or "")
