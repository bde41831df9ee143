"""Which days' requests are still what they were when somebody summed them up. SQLite only.

A year of requests takes SQLite half a second to sum up, and all but its last days are what they were an hour ago. Each
date (of UTC) has a mark, and triggers give it another one with every row of it that comes, changes or goes, so no writer
can forget to: what was kept beside a mark is true for as long as the mark stands. Marks are random, because counts would
come again after a backup is put back. PostgreSQL sums as fast as it would compare, and has none.

A migration that makes SQLite build `dreams_requestusage` or `dreams_session` anew would lose the triggers: it must put
them back.
"""

from __future__ import annotations

import datetime as dt

from django.db import connection

TABLE = "dreams_usagemark"
_USAGE = "dreams_requestusage"
_SESSION = "dreams_session"


def _marked(row: str) -> str:
    """An upsert costs two microseconds for each row; an insert and an update cost six."""
    return (
        f"INSERT INTO {TABLE} (date, mark) SELECT substr({row}.at, 1, 10), random() WHERE {row}.at IS NOT NULL"
        " ON CONFLICT (date) DO UPDATE SET mark = excluded.mark;"
    )


_OF_SESSION = f"SELECT substr(at, 1, 10) FROM {_USAGE} WHERE session_id = new.id AND at IS NOT NULL"  # noqa: S608 - names of our own
CREATE = (
    f"CREATE TABLE {TABLE} (date TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID",
    f"INSERT INTO {TABLE} SELECT DISTINCT substr(at, 1, 10), random() FROM {_USAGE} WHERE at IS NOT NULL"  # noqa: S608 - as above
    " GROUP BY 1",
    f"CREATE TRIGGER {TABLE}_added AFTER INSERT ON {_USAGE} BEGIN {_marked('new')} END",
    f"CREATE TRIGGER {TABLE}_removed AFTER DELETE ON {_USAGE} BEGIN {_marked('old')} END",
    f"CREATE TRIGGER {TABLE}_changed AFTER UPDATE ON {_USAGE} BEGIN {_marked('old')} {_marked('new')} END",
    f"CREATE TRIGGER {TABLE}_moved AFTER UPDATE OF project_id ON {_SESSION} WHEN new.project_id <> old.project_id"  # noqa: S608 - as above
    f" BEGIN UPDATE {TABLE} SET mark = random() WHERE date IN ({_OF_SESSION}); END",
)
DROP = (
    *(f"DROP TRIGGER IF EXISTS {TABLE}_{name}" for name in ("added", "removed", "changed", "moved")),
    f"DROP TABLE IF EXISTS {TABLE}",
)


def has_marks() -> bool:
    return connection.vendor == "sqlite"


def marks(since: dt.date) -> dict[str, int]:
    """The mark of each date (ISO, of UTC) from `since` on that has or had requests; none where there are no marks."""
    if not has_marks():
        return {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT date, mark FROM {TABLE} WHERE date >= %s", [since.isoformat()])  # noqa: S608 - as above
        return dict(cursor.fetchall())
