"""Whether anything was committed to the database since somebody looked.

SQLite tells each of its connections whether another one committed since it was asked last. A connection that never writes is
told of everybody's commits: of this process, of the queue's, of another program's. It is asked in microseconds. PostgreSQL is
asked for its snapshot, which says whose changes can be seen: each commit of a change makes it another one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Hashable
from pathlib import Path

from django.db import DatabaseError, connection

#: The process, and the file: a fork may not touch its parent's connection, and a copy that was put back is another file.
_Place = tuple[int, int, int]

_lock = threading.Lock()
_watchers: dict[_Place, sqlite3.Connection] = {}


def state() -> Hashable | None:
    """The same for as long as nobody commits anything; None where that cannot be told.

    Whatever is read after this was asked, and still has the same state later, is still what the database says. Within a
    transaction there is none: what that wrote is seen by itself alone.
    """
    if connection.in_atomic_block:
        return None
    try:
        return _of_file() if connection.vendor == "sqlite" else _snapshot()
    except (OSError, sqlite3.Error, DatabaseError):
        return None


def _snapshot() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        [found] = cursor.fetchone()
    return str(found)


def _of_file() -> Hashable:
    path = str(connection.settings_dict["NAME"])
    found = Path(path).stat()
    place = (os.getpid(), found.st_dev, found.st_ino)
    with _lock:
        return (*place, _version(place, path))


def _version(place: _Place, path: str) -> int:
    if place not in _watchers:
        for other in [one for one in _watchers if one[0] == place[0]]:
            _watchers.pop(other).close()
        # Nobody waits for it: where the database is busy with itself, its state cannot be told now.
        _watchers[place] = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    [version] = _watchers[place].execute("PRAGMA data_version").fetchone()
    return int(version)
