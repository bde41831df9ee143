"""Queries that every page asks, put into SQL once for the life of the process.

To put one together takes Django ten to a hundred times as long as the database takes to answer it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

Rows = list[tuple[Any, ...]]
Argument = int | str | dt.datetime
_SOME_DAY = dt.datetime(1901, 1, 1, tzinfo=dt.UTC)


def prepared(make: Callable[..., QuerySet[Any, Any]]) -> Callable[..., Rows]:
    """A function that asks what `make` asks of the same arguments: numbers, texts and moments, which must stand in the query
    as they are given and may not decide what it looks like.

    Its rows are as the database has them: numbers and texts are, times, truths and JSON are not what a model gives.
    """
    made: dict[tuple[object, ...], tuple[str, list[tuple[int | None, Any]]]] = {}

    def ask(*given: Argument) -> Rows:
        key = (connection.vendor, "" in given, *map(type, given))
        if key not in made:
            made[key] = _question(make, given)
        sql, places = made[key]
        stored = [_stored(one) for one in given]
        with connection.cursor() as cursor:
            cursor.execute(sql, [value if place is None else stored[place] for place, value in places])
            rows: Rows = cursor.fetchall()
        return rows

    return ask


def _question(
    make: Callable[..., QuerySet[Any, Any]], given: Sequence[Argument]
) -> tuple[str, list[tuple[int | None, Any]]]:
    """The SQL, and for each of its parameters which argument it is, or its value where it is none."""
    if "" in given:
        raise ValueError("an empty text may decide what the query looks like")
    marks = [_mark(one, number) for number, one in enumerate(given)]
    known = [_stored(mark) for mark in marks]
    sql, values = make(*marks).query.sql_with_params()
    places = [(known.index(value) if value in known else None, value) for value in values]
    if {place for place, _ in places} - {None} != set(range(len(given))):
        raise ValueError("an argument is nowhere in the query")
    return sql, places


def _mark(one: Argument, number: int) -> Argument:
    """Stands for an argument until that is known; no query has it by itself."""
    if isinstance(one, dt.datetime):
        return _SOME_DAY + dt.timedelta(days=number)
    return f"\N{REPLACEMENT CHARACTER}{number}" if isinstance(one, str) else -9_000_000_001 - number


def _stored(one: Argument) -> Any:
    return connection.ops.adapt_datetimefield_value(one) if isinstance(one, dt.datetime) else one
