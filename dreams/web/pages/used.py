"""The values that occur in a column, for the choices of a filter: one step into an index for each, not a walk over all rows."""

from __future__ import annotations

from django.db import connection, models


def used(model: type[models.Model], column: str, most: int) -> list[tuple[str | int, int]]:
    """At most `most` values of an indexed `column`, in their order, each with the newest row's id. One query.

    `DISTINCT` reads the whole table on SQLite and PostgreSQL; a log has few values in very many rows.
    """
    quoted = connection.ops.quote_name
    table, column = quoted(model._meta.db_table), quoted(column)
    following = f"SELECT MIN({column}) FROM {table} WHERE {column} > step.found"  # noqa: S608 - names of our own
    newest = f"SELECT MAX(id) FROM {table} WHERE {column} = step.found"  # noqa: S608 - as above
    sql = (
        f"WITH RECURSIVE step(found) AS (SELECT MIN({column}) FROM {table}"  # noqa: S608 - as above
        f" UNION ALL SELECT ({following}) FROM step WHERE found IS NOT NULL)"
        f" SELECT found, ({newest}) FROM step WHERE found IS NOT NULL LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [most])
        return [(value, newest_pk) for value, newest_pk in cursor.fetchall()]
