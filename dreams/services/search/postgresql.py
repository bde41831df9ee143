"""Search on PostgreSQL: a trigram index if the extension can be installed; otherwise the same results, more slowly."""

from typing import Any

from django.apps import apps
from django.db import connection

from dreams.services.search.query import TextKind

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


HOLDS = "strpos(t.text, %s) > 0"
# A join keeps no order by itself: the planner puts its tables in any.
IN_ORDER = " ORDER BY f.id DESC"


def newest(terms: tuple[str, ...], kind: TextKind, most: int) -> tuple[str, list[Any]]:
    """As in `sqlite`: LIKE is what the index of trigrams answers."""
    holds = " AND ".join([f"{kind.value}_id IS NOT NULL", *["text LIKE %s"] * len(terms)])
    patterns = [f"%{connection.ops.prep_for_like_query(term)}%" for term in terms]
    return f"SELECT id FROM {TABLE} WHERE {holds} ORDER BY id DESC LIMIT %s", [*patterns, most]  # noqa: S608 - names of our own


def reset() -> None:
    """As in `sqlite`; the server keeps its own index true."""
    apps.get_model("dreams", "SearchText").objects.all().delete()


def sweep() -> None:
    """Removed rows leave the index with the next vacuum, which the server does by itself."""
