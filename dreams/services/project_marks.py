"""Which projects' sessions and memories are still what they were when somebody counted them. SQLite only.

As in `usage_rollups`: each project has a mark for its sessions and one for its memories, triggers give it another one with
every row that comes, changes or goes, and what was counted beside a mark is true for as long as the mark stands. PostgreSQL
has none, and counts each time.

A migration that makes SQLite build one of these tables anew would lose its triggers: it must put them back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Any, TypeVar

from django.db import connection

TABLE = "dreams_projectmark"
_SESSION, _MEMORY, _VERSION = "dreams_session", "dreams_memory", "dreams_version"
T = TypeVar("T")


class Kind(StrEnum):
    SESSIONS = "sessions"
    MEMORIES = "memories"


#: What is counted of a session; the rest of its row changes with every line of its transcript.
_COUNTED = "project_id, session_id, touched_at, last_at, gone_at, own, corrections, root_key, given_back_at"


def _marked(kind: Kind, project: str) -> str:
    return (
        f"INSERT INTO {TABLE} (kind, project, mark) SELECT '{kind}', {project}, random() WHERE {project} IS NOT NULL"
        " ON CONFLICT (kind, project) DO UPDATE SET mark = excluded.mark;"
    )


def _triggers(table: str, kind: Kind, project: str, columns: str = "") -> list[str]:
    """`project`: where the row `{row}` of the table belongs."""
    new, old = (_marked(kind, project.format(row=row)) for row in ("new", "old"))
    of = f" OF {columns}" if columns else ""
    return [
        f"CREATE TRIGGER {table}_mark_added AFTER INSERT ON {table} BEGIN {new} END",
        f"CREATE TRIGGER {table}_mark_removed AFTER DELETE ON {table} BEGIN {old} END",
        f"CREATE TRIGGER {table}_mark_changed AFTER UPDATE{of} ON {table} BEGIN {old} {new} END",
    ]


_OF_VERSION = f"(SELECT project_id FROM {_MEMORY} WHERE id = {{row}}.memory_id)"  # noqa: S608 - names of our own
CREATE = (
    f"CREATE TABLE {TABLE} (kind TEXT, project INTEGER, mark INTEGER NOT NULL, PRIMARY KEY (kind, project)) WITHOUT ROWID",
    *_triggers(_SESSION, Kind.SESSIONS, "{row}.project_id", _COUNTED),
    *_triggers(_MEMORY, Kind.MEMORIES, "{row}.project_id"),
    *_triggers(_VERSION, Kind.MEMORIES, _OF_VERSION),
)
DROP = (
    *(
        f"DROP TRIGGER IF EXISTS {table}_mark_{name}"
        for table in (_SESSION, _MEMORY, _VERSION)
        for name in ("added", "removed", "changed")
    ),
    f"DROP TABLE IF EXISTS {TABLE}",
)


def has_marks() -> bool:
    return connection.vendor == "sqlite"


def marks(kind: Kind) -> dict[int, int]:
    """The mark of each project that ever had such a row; none where there are no marks."""
    if not has_marks():
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT project, mark FROM {TABLE} WHERE kind = %s", [kind])  # noqa: S608 - as above
        return dict(cursor.fetchall())


def _mark(kind: Kind, project: int) -> int | None:
    if not has_marks():
        return None
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT mark FROM {TABLE} WHERE kind = %s AND project = %s", [kind, project])  # noqa: S608 - as above
        row = cursor.fetchone()
    return row[0] if row else 0


#: Of one process; more are forgotten all at once.
MOST_KEPT = 10_000
_kept: dict[tuple[Kind, int, Hashable], tuple[int, Any]] = {}


def kept(kind: Kind, project: int, what: Hashable, count: Callable[[], T]) -> T:
    """What `count` finds, which depends on nothing but the rows of this kind and on `what`. Nobody may change it."""
    mark = _mark(kind, project)
    if mark is None:
        return count()
    key = (kind, project, what)
    found = _kept.get(key)
    if found is None or found[0] != mark:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        found = _kept[key] = (mark, count())
    value: T = found[1]
    return value
