"""The marks of days and projects (SQLite) and the triggers that change them; `dreams/services/cached_counts.py` reads them.

A migration that makes SQLite rebuild one of these tables loses its triggers and must create them again.
"""

_DAYS, _PROJECTS = "dreams_usagemark", "dreams_projectmark"
_USAGE, _SESSION, _MEMORY, _VERSION = (
    f"dreams_{name}" for name in ("requestusage", "session", "memory", "version")
)


def _day_marked(row: str) -> str:
    """An upsert costs two microseconds for each row; an insert and an update cost six."""
    return (
        f"INSERT INTO {_DAYS} (date, mark) SELECT substr({row}.at, 1, 10), random() WHERE {row}.at IS NOT NULL"
        " ON CONFLICT (date) DO UPDATE SET mark = excluded.mark;"
    )


_OF_SESSION = f"SELECT substr(at, 1, 10) FROM {_USAGE} WHERE session_id = new.id AND at IS NOT NULL"  # noqa: S608 - names of our own
CREATE_DAYS = (
    f"CREATE TABLE {_DAYS} (date TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID",
    f"INSERT INTO {_DAYS} SELECT DISTINCT substr(at, 1, 10), random() FROM {_USAGE} WHERE at IS NOT NULL"  # noqa: S608 - as above
    " GROUP BY 1",
    f"CREATE TRIGGER {_DAYS}_added AFTER INSERT ON {_USAGE} BEGIN {_day_marked('new')} END",
    f"CREATE TRIGGER {_DAYS}_removed AFTER DELETE ON {_USAGE} BEGIN {_day_marked('old')} END",
    f"CREATE TRIGGER {_DAYS}_changed AFTER UPDATE ON {_USAGE} BEGIN {_day_marked('old')} {_day_marked('new')} END",
    f"CREATE TRIGGER {_DAYS}_moved AFTER UPDATE OF project_id ON {_SESSION} WHEN new.project_id <> old.project_id"  # noqa: S608 - as above
    f" BEGIN UPDATE {_DAYS} SET mark = random() WHERE date IN ({_OF_SESSION}); END",
)
DROP_DAYS = (
    *(f"DROP TRIGGER IF EXISTS {_DAYS}_{name}" for name in ("added", "removed", "changed", "moved")),
    f"DROP TABLE IF EXISTS {_DAYS}",
)

#: Columns of a session that are counted; others change with every line of its transcript.
_COUNTED = "project_id, session_id, touched_at, last_at, gone_at, own, corrections, root_key, given_back_at"


def _project_marked(kind: str, project: str) -> str:
    return (
        f"INSERT INTO {_PROJECTS} (kind, project, mark) SELECT '{kind}', {project}, random() WHERE {project} IS NOT NULL"
        " ON CONFLICT (kind, project) DO UPDATE SET mark = excluded.mark;"
    )


def _triggers(table: str, kind: str, project: str, columns: str = "") -> list[str]:
    """`project`: an expression for the project of the row `{row}`."""
    new, old = (_project_marked(kind, project.format(row=row)) for row in ("new", "old"))
    of = f" OF {columns}" if columns else ""
    return [
        f"CREATE TRIGGER IF NOT EXISTS {table}_mark_added AFTER INSERT ON {table} BEGIN {new} END",
        f"CREATE TRIGGER IF NOT EXISTS {table}_mark_removed AFTER DELETE ON {table} BEGIN {old} END",
        f"CREATE TRIGGER IF NOT EXISTS {table}_mark_changed AFTER UPDATE{of} ON {table} BEGIN {old} {new} END",
    ]


_OF_VERSION = f"(SELECT project_id FROM {_MEMORY} WHERE id = {{row}}.memory_id)"  # noqa: S608 - names of our own
CREATE_OF_VERSIONS = tuple(_triggers(_VERSION, "memories", _OF_VERSION))
CREATE_PROJECTS = (
    f"CREATE TABLE {_PROJECTS} (kind TEXT, project INTEGER, mark INTEGER NOT NULL, PRIMARY KEY (kind, project)) WITHOUT ROWID",
    *_triggers(_SESSION, "sessions", "{row}.project_id", _COUNTED),
    *_triggers(_MEMORY, "memories", "{row}.project_id"),
    *CREATE_OF_VERSIONS,
)
DROP_PROJECTS = (
    *(
        f"DROP TRIGGER IF EXISTS {table}_mark_{name}"
        for table in (_SESSION, _MEMORY, _VERSION)
        for name in ("added", "removed", "changed")
    ),
    f"DROP TABLE IF EXISTS {_PROJECTS}",
)
