"""Search on SQLite: a trigram full-text table next to `SearchText`, kept in step by triggers.

Trigrams find any three or more characters, in words, identifiers, paths and scripts without spaces. Positions are not stored
(`detail=none`, half the size), so rows with all trigrams of a term are checked again.
"""

from collections.abc import Iterable
from typing import Any

from django.db import connection

from dreams.services.search.query import TextKind

TABLE = "dreams_searchtext"
FTS = f"{TABLE}_fts"
VOCAB = f"{TABLE}_vocab"
GRAM = 3  # letters, as FTS5's trigram tokenizer cuts
# Trigrams tried for a term of two characters; more would only add noise.
MOST_GRAMS = 400
# A special trigram marks the kind of a text, so that a search reads only one kind.
_LETTERS = {
    TextKind.MEMORY: "m",
    TextKind.TYPED: "t",
    TextKind.SESSION: "s",
    TextKind.PASTED: "p",
    TextKind.INSTRUCTION: "i",
}
_TAGS = {kind: f"\x01{letter}\x01" for kind, letter in _LETTERS.items()}
_NOTHING = "\x01\x01\x01"


def _indexed(row: str, kinds: Iterable[TextKind]) -> str:
    """The indexed form of a row: its tag, its text, and two more characters, so that its last two begin a trigram."""
    tag = _tag(TextKind.MEMORY)
    for kind in kinds:
        tag = f"iif({row}.{kind.value}_id IS NULL, {tag}, {_tag(kind)})"
    return f"{tag} || {row}.text || char(10, 10)"


def _tag(kind: TextKind) -> str:
    return f"char(1, {ord(_LETTERS[kind])}, 1)"


def triggers(*kinds: TextKind) -> tuple[str, ...]:
    """`kinds` are those with a column in the table: old migrations do not know later ones."""
    old, new = _indexed("old", kinds), _indexed("new", kinds)
    delete = f"INSERT INTO {FTS} ({FTS}, rowid, text) VALUES ('delete', old.id, {old})"  # noqa: S608 - names of our own
    insert = f"INSERT INTO {FTS} (rowid, text) VALUES (new.id, {new})"  # noqa: S608 - as above
    return (
        f"CREATE TRIGGER {TABLE}_added AFTER INSERT ON {TABLE} BEGIN {insert}; END",
        f"CREATE TRIGGER {TABLE}_removed AFTER DELETE ON {TABLE} BEGIN {delete}; END",
        f"CREATE TRIGGER {TABLE}_changed AFTER UPDATE OF text ON {TABLE} BEGIN {delete}; {insert}; END",
    )


TABLES = (
    f"CREATE VIRTUAL TABLE {FTS} USING fts5(text, content='', columnsize=0, detail=none, tokenize='trigram')",
    f"CREATE VIRTUAL TABLE {VOCAB} USING fts5vocab({FTS}, 'row')",
)
CREATE_TRIGGERS = triggers(TextKind.TYPED, TextKind.SESSION, TextKind.PASTED, TextKind.INSTRUCTION)
DROP_TRIGGERS = tuple(f"DROP TRIGGER IF EXISTS {TABLE}_{name}" for name in ("added", "removed", "changed"))
CREATE = (*TABLES, *CREATE_TRIGGERS)
DROP = (*DROP_TRIGGERS, f"DROP TABLE IF EXISTS {VOCAB}", f"DROP TABLE IF EXISTS {FTS}")


_NEWEST = f"SELECT rowid AS id FROM {FTS} WHERE {FTS} MATCH %s ORDER BY rowid DESC LIMIT %s"  # noqa: S608 - as above
HOLDS = "instr(t.text, %s) > 0"
# CROSS JOIN keeps the order of tables, so rows come in the order of `newest` without sorting.
IN_ORDER = ""


def newest(terms: tuple[str, ...], kind: TextKind, most: int) -> tuple[str, list[Any]]:
    """A query with its values for ids of texts that may have all of `terms`: the newest `most` candidates of the index. `HOLDS`
    checks each term."""
    wanted = " AND ".join([_quoted(_TAGS[kind]), *map(_expression, terms)])
    return _NEWEST, [wanted, most]


def _expression(term: str) -> str:
    """One term as an index query; every trigram is quoted, so that none is read as syntax."""
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
    """Create the index again, empty. All rows of `SearchText` are deleted."""
    with connection.cursor() as cursor:
        for sql in DROP:
            cursor.execute(sql)
        cursor.execute(f"DELETE FROM {TABLE}")  # noqa: S608 - as above
        for sql in CREATE:
            cursor.execute(sql)


def sweep() -> None:
    """Merge the index's parts, which removes the trigrams of deleted texts from the file."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {FTS} ({FTS}) VALUES ('optimize')")  # noqa: S608 - as above
