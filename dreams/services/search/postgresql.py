"""PostgreSQL: an index of trigrams where the extension can be installed; without it the same answers come slower."""

from __future__ import annotations

from django.apps import apps
from django.db.models import Q

from dreams.services.search.query import Kind

TABLE = "dreams_searchtext"
INDEX = f"{TABLE}_grams"
CREATE_INDEX = f"CREATE INDEX {INDEX} ON {TABLE} USING gin (text gin_trgm_ops);"
# Not installed, or this account may not: then the texts are read one by one.
CREATE = (
    f"""
DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  {CREATE_INDEX}
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported OR undefined_object THEN
  RAISE NOTICE 'Search works without pg_trgm, only slower.';
END $$
""",
)
DROP = (f"DROP INDEX IF EXISTS {INDEX}",)


def narrowing(terms: tuple[str, ...], kind: Kind, most: int) -> Q:
    """As in `sqlite`: LIKE is what the index of trigrams answers."""
    rows = apps.get_model("dreams", "SearchText").objects.filter(**{f"{kind.value}__isnull": False})
    for term in terms:
        rows = rows.filter(text__contains=term)
    return Q(pk__in=rows.order_by("-pk").values("pk")[:most])


def reset() -> None:
    """As in `sqlite`; the server keeps its own index true."""
    apps.get_model("dreams", "SearchText").objects.all().delete()


def sweep() -> None:
    """Removed rows leave the index with the next vacuum, which the server does by itself."""
