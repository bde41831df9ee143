"""The database in use: `sqlite` and `postgresql` have the same functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan

from dreams.models import SearchText
from dreams.services.search import postgresql, sqlite
from dreams.services.search.kinds import CANDIDATES, Kind

IMPATIENT_MS = 100


def matching(terms: tuple[str, ...], kind: Kind, most: int = CANDIDATES) -> QuerySet[SearchText]:
    """Texts of a kind that hold all of `terms` (folded, see `query`), exactly; none where there are no terms.

    Of very common terms only the newest texts are looked at, see `is_common`.
    """
    if not terms:
        return SearchText.objects.none()
    return surely(terms).filter(_narrowing(terms, kind, most))


def surely(terms: tuple[str, ...]) -> QuerySet[SearchText]:
    """Texts that hold all of `terms`, by looking into each: the index may only say "perhaps"."""
    return SearchText.objects.filter(*(GreaterThan(StrIndex("text", Value(term)), 0) for term in terms))


def earlier(terms: tuple[str, ...], most: int = CANDIDATES) -> Q:
    """Versions that hold all of `terms` and are no longer what stands in their memory; of common terms the newest."""
    if not terms:
        return Q(pk__in=())
    if not _is_postgresql():
        return sqlite.earlier(terms, most)
    now = Q(memory__gone_at__isnull=True, sha256=F("memory__sha256"))
    return Q(sha256__in=matching(terms, Kind.MEMORY, most).values("blob_id")) & ~now


def is_common(terms: tuple[str, ...], kind: Kind, most: int = CANDIDATES) -> bool:
    """Whether `terms` may stand in more texts than `matching` looks at."""
    return SearchText.objects.filter(_narrowing(terms, kind, most)).count() >= most


def _narrowing(terms: tuple[str, ...], kind: Kind, most: int) -> Q:
    if _is_postgresql():
        return postgresql.narrowing(terms, kind, most)
    return sqlite.narrowing(terms, kind, most)


@contextmanager
def impatient() -> Iterator[None]:
    """Give up at once where another writer is at work: what waits can wait, and whoever searches cannot."""
    if _is_postgresql():
        yield
        return
    options = connection.settings_dict.get("OPTIONS", {})
    _set_busy_timeout(IMPATIENT_MS)
    try:
        yield
    finally:
        _set_busy_timeout(int(float(options.get("timeout", 5)) * 1000))


def _set_busy_timeout(milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")


def reset() -> None:
    """Empty the index, and make it anew where it is damaged. Nothing is found until it is filled again."""
    if _is_postgresql():
        postgresql.reset()
    else:
        sqlite.reset()


def sweep() -> None:
    """Make sure that nothing of a removed text stays in the index's own pages."""
    if _is_postgresql():
        postgresql.sweep()
    else:
        sqlite.sweep()


def _is_postgresql() -> bool:
    return connection.vendor == "postgresql"
