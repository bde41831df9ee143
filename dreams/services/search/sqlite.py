"""SQLite: a full-text table of trigrams beside `SearchText`, kept by triggers, so that nothing can be forgotten.

Trigrams find any run of three characters and more, in words, identifiers, paths and scripts without spaces. Positions
are left out (`detail=none`, half the size): a row that holds all trigrams of a term is looked at once more.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL

from dreams.services.search.query import CANDIDATES, Kind

TABLE = "dreams_searchtext"
FTS = f"{TABLE}_fts"
VOCAB = f"{TABLE}_vocab"
GRAM = 3  # letters, as FTS5's trigram tokenizer cuts
# Trigrams that begin with a term of two characters: beyond so many the rarer half would only be noise.
MOST_GRAMS = 400
# A trigram of its own says what a text is, so that looking for one kind never reads the other.
_LETTERS = {
    Kind.MEMORY: "m",
    Kind.TYPED: "t",
    Kind.SESSION: "s",
    Kind.PASTED: "p",
    Kind.INSTRUCTION: "i",
}
_TAGS = {kind: f"\x01{letter}\x01" for kind, letter in _LETTERS.items()}
_NOTHING = "\x01\x01\x01"


def _indexed(*kinds: Kind) -> Callable[[str], str]:
    """What is indexed of a row: its tag, its text, and two characters more, so that its last two begin a trigram.

    `kinds` are those whose column the table has, memories aside: triggers of an old migration name no later one.
    """

    def of(row: str) -> str:
        tag = _tag(Kind.MEMORY)
        for kind in kinds:
            tag = f"iif({row}.{kind.value}_id IS NULL, {tag}, {_tag(kind)})"
        return f"{tag} || {row}.text || char(10, 10)"

    return of


def _tag(kind: Kind) -> str:
    return f"char(1, {ord(_LETTERS[kind])}, 1)"


def _triggers(indexed: Callable[[str], str]) -> tuple[str, ...]:
    delete = f"INSERT INTO {FTS} ({FTS}, rowid, text) VALUES ('delete', old.id, {indexed('old')})"  # noqa: S608 - names of our own
    insert = f"INSERT INTO {FTS} (rowid, text) VALUES (new.id, {indexed('new')})"  # noqa: S608 - as above
    return (
        f"CREATE TRIGGER {TABLE}_added AFTER INSERT ON {TABLE} BEGIN {insert}; END",
        f"CREATE TRIGGER {TABLE}_removed AFTER DELETE ON {TABLE} BEGIN {delete}; END",
        f"CREATE TRIGGER {TABLE}_changed AFTER UPDATE OF text ON {TABLE} BEGIN {delete}; {insert}; END",
    )


_TABLES = (
    f"CREATE VIRTUAL TABLE {FTS} USING fts5(text, content='', columnsize=0, detail=none, tokenize='trigram')",
    f"CREATE VIRTUAL TABLE {VOCAB} USING fts5vocab({FTS}, 'row')",
)
CREATE_TRIGGERS = _triggers(_indexed(Kind.TYPED, Kind.SESSION, Kind.PASTED, Kind.INSTRUCTION))
DROP_TRIGGERS = tuple(f"DROP TRIGGER IF EXISTS {TABLE}_{name}" for name in ("added", "removed", "changed"))
CREATE = (*_TABLES, *CREATE_TRIGGERS)
# As migrations had them.
TRIGGERS_BEFORE_SESSIONS = _triggers(_indexed(Kind.TYPED))
CREATE_BEFORE_SESSIONS = (*_TABLES, *TRIGGERS_BEFORE_SESSIONS)
TRIGGERS_BEFORE_INSTRUCTIONS = _triggers(_indexed(Kind.TYPED, Kind.SESSION))
DROP = (*DROP_TRIGGERS, f"DROP TABLE IF EXISTS {VOCAB}", f"DROP TABLE IF EXISTS {FTS}")


_NEWEST = f"SELECT rowid FROM {FTS} WHERE {FTS} MATCH %s ORDER BY rowid DESC LIMIT %s"  # noqa: S608 - as above


def narrowing(terms: tuple[str, ...], kind: Kind, most: int) -> Q:
    """Rows that may hold all of `terms`: a superset, the newest `most` of it, found by the index alone."""
    return Q(pk__in=RawSQL(_NEWEST, [_wanted(terms, kind), most]))  # noqa: S611 - as above; what was typed is a parameter


def is_common(terms: tuple[str, ...], kind: Kind, most: int) -> bool:
    """Whether `narrowing` has that many. No row is looked up: each is in the index once."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({_NEWEST})", [_wanted(terms, kind), most])  # noqa: S608 - as above
        found: int = cursor.fetchone()[0]
    return found >= most


def earlier(terms: tuple[str, ...], most: int) -> Q:
    """Versions with all of `terms` that no longer stand in their memory: the newest `most`, or what there are.

    From the index on step by step, so that it ends with the last one wanted: asked for as texts in a list of texts,
    every one that holds a common word is looked at first.
    """
    holds = " AND ".join(["instr(t.text, %s) > 0"] * len(terms))
    sql = (
        f"SELECT v.id FROM ({_NEWEST}) AS f"  # noqa: S608 - as above
        f" CROSS JOIN {TABLE} AS t ON t.id = f.rowid"
        " CROSS JOIN dreams_version AS v ON v.sha256 = t.blob_id"
        " CROSS JOIN dreams_memory AS m ON m.id = v.memory_id"
        f" WHERE {holds} AND NOT (m.gone_at IS NULL AND m.sha256 = v.sha256) LIMIT %s"
    )
    few = most if most < CANDIDATES else -1
    return Q(pk__in=RawSQL(sql, [_wanted(terms, Kind.MEMORY), CANDIDATES, *terms, few]))  # noqa: S611 - as above


def _wanted(terms: tuple[str, ...], kind: Kind) -> str:
    return " AND ".join([_quoted(_TAGS[kind]), *map(_expression, terms)])


def _expression(term: str) -> str:
    """One term in the index's own language; every trigram is quoted, so none of it is read as syntax."""
    if len(term) < GRAM:
        return "(" + " OR ".join(map(_quoted, _beginning_with(term))) + ")"
    return " AND ".join(_quoted(term[at : at + GRAM]) for at in range(len(term) - GRAM + 1))


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


def _beginning_with(term: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT term FROM {VOCAB} WHERE term >= %s AND term < %s LIMIT %s",  # noqa: S608 - as above
            [term, term + "\U0010ffff", MOST_GRAMS],
        )
        return [row[0] for row in cursor.fetchall()] or [_NOTHING]


def reset() -> None:
    """The index anew and empty, whatever state it was in. All rows of `SearchText` go with it."""
    with connection.cursor() as cursor:
        for sql in DROP:
            cursor.execute(sql)
        cursor.execute(f"DELETE FROM {TABLE}")  # noqa: S608 - as above
        for sql in CREATE:
            cursor.execute(sql)


def sweep() -> None:
    """Make one index out of its parts: only then are the trigrams of removed texts gone from the file."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {FTS} ({FTS}) VALUES ('optimize')")  # noqa: S608 - as above
