"""PostgreSQL: an index of trigrams where the extension may be installed; without it the same answers come slower."""

from __future__ import annotations

from django.db.models import Q

TABLE = "dreams_searchtext"
INDEX = f"{TABLE}_grams"
# Not installed, or this account may not: then the texts are read one by one.
CREATE = (
    f"""
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX {INDEX} ON {TABLE} USING gin (text gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
  RAISE NOTICE 'Search works without pg_trgm, only slower.';
END $$
""",
)
DROP = (f"DROP INDEX IF EXISTS {INDEX}",)


def narrowing(terms: tuple[str, ...]) -> Q:
    """As in `sqlite`: LIKE is what the index of trigrams answers."""
    wanted = Q()
    for term in terms:
        wanted &= Q(text__contains=term)
    return wanted


def sweep() -> None:
    """Removed rows leave the index with the next vacuum, which the server does by itself."""
