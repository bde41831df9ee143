"""Tells whether something changed since it was read: a day's requests, a project's sessions and memories, the whole database.

Days and projects (SQLite only): summing a year of requests takes half a second, although only its last days change. Each date
(UTC) has a mark, and each project one for its sessions and one for its memories. Triggers change the mark with every inserted,
changed or deleted row, so a stored count is valid while its mark is the same. Marks are random, because numbers would repeat
after a backup is restored. PostgreSQL has no marks and counts each time, which is as fast.

The tables of marks and their triggers are in `dreams/migrations/_marks.py`.

The whole database: SQLite tells each connection whether another one committed since the last question. A connection that
never writes sees all commits, also of other processes, in microseconds. PostgreSQL is asked for its snapshot, which changes
with each commit.
"""

import datetime as dt
import os
import sqlite3
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from django.db import DatabaseError, connection
from django.db.models import Count, QuerySet

_DAYS, _PROJECTS = "dreams_usagemark", "dreams_projectmark"
T = TypeVar("T")


def per_project(rows: QuerySet[Any]) -> QuerySet[Any, tuple[int, int]]:
    """(project, how many of `rows`), for each that has some."""
    counted: QuerySet[Any] = rows.order_by().values("project").annotate(n=Count("pk"))
    return counted.values_list("project", "n")


class CountKind(StrEnum):
    SESSIONS = "sessions"
    MEMORIES = "memories"


def has_marks() -> bool:
    return connection.vendor == "sqlite"


def _marks(sql: str, values: list[str | int]) -> dict[Any, int]:
    if not has_marks():
        return {}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return dict(cursor.fetchall())


def of_days(since: dt.date) -> dict[str, int]:
    """The marks of dates (ISO, UTC) from `since` on that have or had requests; empty on PostgreSQL."""
    return _marks(f"SELECT date, mark FROM {_DAYS} WHERE date >= %s", [since.isoformat()])  # noqa: S608 - as above


def of_projects(kind: CountKind) -> dict[int, int]:
    """The marks of projects that ever had such a row; empty on PostgreSQL."""
    return _marks(f"SELECT project, mark FROM {_PROJECTS} WHERE kind = %s", [kind])  # noqa: S608 - as above


#: Of one process; beyond it all are dropped.
MOST_KEPT = 10_000
_kept: dict[tuple[CountKind, int, Hashable], tuple[int, Any]] = {}


def kept(kind: CountKind, project: int, what: Hashable, count: Callable[[], T]) -> T:
    """The cached result of `count`, which must depend only on rows of this kind and on `what`. Callers must not change it."""
    if not has_marks():
        return count()
    sql = f"SELECT project, mark FROM {_PROJECTS} WHERE kind = %s AND project = %s"  # noqa: S608 - as above
    marks = _marks(sql, [kind, project])
    return _kept_each(kind, [project], what, marks, lambda _: {project: count()})[project]


def kept_each(
    kind: CountKind, projects: Sequence[int], what: Hashable, count: Callable[[list[int]], Mapping[int, T]]
) -> Mapping[int, T]:
    """As `kept`, for many projects: `count` is called for the missing ones."""
    if not has_marks():
        return count(list(projects))
    return _kept_each(kind, projects, what, of_projects(kind), count)


def _kept_each(
    kind: CountKind,
    projects: Sequence[int],
    what: Hashable,
    marks: Mapping[int, int],
    count: Callable[[list[int]], Mapping[int, T]],
) -> Mapping[int, T]:
    found: dict[int, T] = {}
    for project in projects:
        one = _kept.get((kind, project, what))
        if one and one[0] == marks.get(project, 0):
            found[project] = one[1]
    counted = count(missing) if (missing := [one for one in projects if one not in found]) else {}
    if len(_kept) + len(counted) >= MOST_KEPT:
        _kept.clear()
    for project, value in counted.items():
        _kept[kind, project, what] = (marks.get(project, 0), value)
    return {**found, **counted}


# --- The whole database -------------------------------------------------------------------------------------------

#: By process and file: a fork must not use its parent's connection, and a restored copy is another file.
_Place = tuple[int, int, int]

_lock = threading.Lock()
_watchers: dict[_Place, sqlite3.Connection] = {}


def database_state() -> Hashable | None:
    """A value that stays the same until somebody commits; None if that is unknown.

    Anything read after this call is still valid while a later call returns the same. None within a transaction, as only that
    transaction sees its writes.
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
        # Do not wait: if the database is busy, its state is unknown.
        _watchers[place] = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    [version] = _watchers[place].execute("PRAGMA data_version").fetchone()
    return int(version)
