"""Adds texts to the search index and removes them. Pending texts are marked in their own rows, so a crash loses nothing.

A memory's text is added with its version. Typed prompts, of which a first discovery may find a hundred thousand, are added
later by the scheduler in small steps, in order of time. Pages only read.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dreams.lib.files import text as texts
from dreams.lib.secrets import redact
from dreams.models import HistoryPrompt, InstructionText, Prompt, SearchText, Session, Version
from dreams.services import blobs, session_notes
from dreams.services.search import postgresql, sqlite
from dreams.services.search.query import CANDIDATES, TextKind, fold

# The database in use: `sqlite` and `postgresql` have the same functions.


def newest(terms: tuple[str, ...], kind: TextKind, most: int = CANDIDATES) -> tuple[str, list[Any]]:
    """A query with its values for ids of the newest texts that may have all of `terms` (folded, see `query`), newest first."""
    found: tuple[str, list[Any]] = _database().newest(terms, kind, most)
    return found


def holds(terms: tuple[str, ...]) -> str:
    """The condition that text `t` has all of `terms` (its values), as the index only finds candidates."""
    return " AND ".join([_database().HOLDS] * len(terms))


def in_order() -> str:
    """The end of a query that joins tables to `newest` as `f`, so that rows come newest first."""
    order: str = _database().IN_ORDER
    return order


def rows(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def is_common(terms: tuple[str, ...], kind: TextKind, many: int = CANDIDATES) -> bool:
    """Whether `terms` may be in `many` texts, or more than are searched; uses only the index."""
    sql, values = newest(terms, kind, many)
    [(found,)] = rows(f"SELECT count(*) FROM ({sql}) AS f", values)  # noqa: S608 - values are apart
    return bool(found >= many)


def reset() -> None:
    """Empty the index, and rebuild it if it is damaged. Nothing is found until it is filled again."""
    _database().reset()


def sweep() -> None:
    """Make sure that no part of a removed text stays in the index's pages."""
    _database().sweep()


def _database() -> ModuleType:
    return postgresql if connection.vendor == "postgresql" else sqlite


# More than a page shows of a memory; only the beginning of longer ones is searchable.
MAX_CHARS = 400_000
# Of one transaction, for which all other writers wait on SQLite.
PROMPTS_AT_ONCE = 2_000
CHARS_AT_ONCE = 1 << 20
VERSIONS_AT_ONCE = 50
# Of one call of `add`; the rest waits.
BYTES_AT_ONCE = 1 << 20

log = logging.getLogger(__name__)


def add(versions: Mapping[str, bytes]) -> None:
    """Add texts of new versions, by sha256, in the caller's transaction. Bounded: the rest waits."""
    taken: dict[str, bytes] = {}
    room = BYTES_AT_ONCE
    for sha, data in versions.items():
        if len(data) <= room:
            taken[sha] = data
            room -= len(data)
    if taken:
        _keep_versions(taken)


def waiting(most: int | None = None) -> int:
    """How many texts are not indexed yet, each kind counted up to `most`. One query."""
    [(found,)] = rows(*_counting(connection.vendor, most))
    return int(found)


@cache
def _counting(vendor: str, most: int | None) -> tuple[str, Sequence[Any]]:
    """The query with its values, built once for each database and limit."""
    del vendor  # which speaks a language of its own
    kinds = (Version.objects.filter(indexed=False), *map(_waiting, _SOURCES))
    parts = [rows.order_by().values("pk")[:most].query.sql_with_params() for rows in kinds]
    sums = " + ".join(f"(SELECT count(*) FROM ({sql}) AS w)" for sql, _ in parts)  # noqa: S608 - values are apart
    return f"SELECT {sums}", [value for _, values in parts for value in values]


def catch_up(seconds: float) -> int:
    """Add waiting texts for about so long; returns how many still wait. Safe to run in parallel.

    In order of time, as the index treats the last added text as the newest. A locked or missing database ends it; the next
    call continues.
    """
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            if not (_take_versions() or any(map(_take, _SOURCES))):
                return 0
    except DatabaseError as error:
        log.warning("the search index waits: %s", error)
    return waiting()


def begin_again() -> None:
    """Empty the index, so that everything waits again: the remedy for damage. No text is lost, as it is made from others."""
    with transaction.atomic():
        reset()
        Version.objects.filter(indexed=True).update(indexed=False)
        for model, source in _SOURCES.items():
            waits = _mark(source.kind, done=False)
            model.objects.exclude(**waits).update(**waits)


def forget(sha256: str) -> None:
    """Remove a text completely from the index, for a secret that is purged from the history."""
    with transaction.atomic():
        SearchText.objects.filter(blob=sha256).delete()
        # Otherwise it would be added again.
        Version.objects.filter(sha256=sha256).update(indexed=True)
        sweep()


def read_again(*changed: QuerySet[Any]) -> None:
    """Index changed prompts, pastes, instruction files or sessions again: the old texts are removed, the new ones wait."""
    with transaction.atomic():
        for rows in changed:
            owner = _SOURCES[rows.model].kind
            SearchText.objects.filter(**{f"{owner.value}__in": rows.values("pk")}).delete()
            rows.update(**_mark(owner, done=False))
        sweep()


def _mark(kind: TextKind, *, done: bool) -> dict[str, Any]:
    """The column of the row of a text that says whether it is in the index."""
    if kind is TextKind.SESSION:
        return {"title_indexed_at": timezone.now() if done else None}
    return {"indexed": done}


def _waiting(model: Any) -> QuerySet[Any]:
    found: QuerySet[Any] = model.objects.filter(**_mark(_SOURCES[model].kind, done=False))
    return found


def _take_versions() -> bool:
    """One step; False when none waits."""
    rows = list(
        Version.objects.filter(indexed=False).order_by("at").values_list("pk", "sha256")[:VERSIONS_AT_ONCE]
    )
    if not rows:
        return False
    kept = blobs.get_many(sha for _, sha in rows)
    with transaction.atomic():
        _keep_versions(kept)
        # Removals have no text, and lost texts will not come back: neither is tried again.
        Version.objects.filter(pk__in=[pk for pk, _ in rows]).update(indexed=True)
    return True


def _keep_versions(data: Mapping[str, bytes]) -> None:
    read = {sha: texts.storable(texts.decode(content), MAX_CHARS) for sha, content in data.items()}
    rows = [SearchText(blob_id=sha, text=fold(text)) for sha, text in read.items()]
    with transaction.atomic():
        SearchText.objects.bulk_create(rows, ignore_conflicts=True)
        Version.objects.filter(sha256__in=list(data), indexed=False).update(indexed=True)


def _texts(rows: QuerySet[Any]) -> list[tuple[int, str]]:
    return list(rows.values_list("pk", "text"))


def _pasted(rows: QuerySet[HistoryPrompt]) -> list[tuple[int, str]]:
    return [(pk, pasted_text(pastes)) for pk, pastes in rows.values_list("pk", "pastes")]


def pasted_text(pastes: Iterable[Mapping[str, Any]]) -> str:
    """The stored pasted texts of a prompt; long ones are stored by the agent and read only when shown."""
    return "\n".join(str(one.get("text", "")) for one in pastes).strip()


def _titles(rows: QuerySet[Session]) -> list[tuple[int, str]]:
    """Each title with its session's notes and open ends."""
    titles = dict(rows.values_list("pk", "title"))
    notes, tasks = session_notes.texts(titles), session_notes.open_ends_of(titles)
    return [
        (pk, "\n".join((title, *notes.get(pk, ()), *(task.subject for task in tasks.get(pk, ())))))
        for pk, title in titles.items()
    ]


class _Source(NamedTuple):
    """What of a model is in the index, in which order it is added, and how it is read."""

    kind: TextKind
    order: str
    read: Callable[[QuerySet[Any]], list[tuple[int, str]]]


_SOURCES: Mapping[Any, _Source] = {
    Session: _Source(TextKind.SESSION, "touched_at", _titles),
    Prompt: _Source(TextKind.TYPED, "at", _texts),
    HistoryPrompt: _Source(TextKind.PASTED, "prompt__at", _pasted),
    InstructionText: _Source(TextKind.INSTRUCTION, "changed_at", _texts),
}


def _take(model: Any) -> bool:
    """As `_take_versions`, with redacting and folding before the transaction, to keep it short."""
    kind, order, read = _SOURCES[model]
    most = VERSIONS_AT_ONCE if kind is TextKind.INSTRUCTION else PROMPTS_AT_ONCE
    found: dict[int, tuple[str, str]] = {}
    room = CHARS_AT_ONCE
    for key, text in read(_waiting(model).order_by(order)[:most]):
        found[key] = text, _without_secrets(text)
        room -= len(text)
        if room <= 0:
            break
    if found:
        with transaction.atomic():
            rows = model.objects.filter(pk__in=list(found))
            # What changed meanwhile waits again: a purge may have taken a secret out of it.
            same = [
                key for key, text in read(rows.order_by("pk").select_for_update()) if text == found[key][0]
            ]
            texts_of = ((key, found[key][1]) for key in same)
            _keep(kind, [(key, text) for key, text in texts_of if text or kind is not TextKind.PASTED])
            rows.filter(pk__in=same).update(**_mark(kind, done=True))
    return bool(found)


def _without_secrets(text: str) -> str:
    try:
        return fold(redact.redact(text))
    except Exception:
        # A text that cannot be indexed must not stop the others.
        log.exception("a text is left out of the search index")
        return ""


def _keep(kind: TextKind, texts_of: Iterable[tuple[int, str]]) -> None:
    SearchText.objects.bulk_create(
        [SearchText(**{f"{kind.value}_id": key, "text": text}) for key, text in texts_of],
        update_conflicts=True,
        unique_fields=[kind.value],
        update_fields=["text"],
    )
