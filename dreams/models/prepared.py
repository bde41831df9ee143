"""Compiles frequent queries to SQL once per process.

Compiling one takes Django ten to a hundred times as long as the database takes to answer it. A function that returns a
queryset and is `@prepared` is called once for each form of its query; after that its SQL is executed with other values,
and the rows are the same as those of the queryset.
"""

import copy
import datetime as dt
import enum
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection, connections
from django.db.models import QuerySet
from django.db.models.sql.compiler import SQLCompiler

P = ParamSpec("P")
Row = TypeVar("Row")

MOST_FORMS = 200  # forms of one query; beyond that all are dropped
_SOME_DAY = dt.date(1901, 1, 1)
_SOME_MOMENT = dt.datetime(1901, 1, 1, tzinfo=dt.UTC)


class Fixed(int):
    """A number that is part of the form, such as the index of a page's first row: a slice cannot be a parameter."""


def prepared(make: Callable[P, QuerySet[Any, Row]]) -> Callable[P, list[Row]]:
    """A function that returns the rows of `make`'s queryset for the same arguments.

    Numbers, texts, dates and times must be used unchanged as parameters and must not change the form of the query. None,
    True, False, "", tuples, classes, enum members and `Fixed` may; lists are for `__in`. `make` must not depend on
    anything else, such as the database, the clock or a setting, as it is not called again.
    """
    made: dict[object, _Form[Row]] = {}

    @wraps(make)
    def ask(*given: P.args, **named: P.kwargs) -> list[Row]:
        key = (connection.vendor, *named, *map(_shape, (*given, *named.values())))
        form = made.get(key)
        if form is None:
            if len(made) >= MOST_FORMS:
                made.clear()
            form = made[key] = _form(make, given, named)
        return form.rows(given, named)

    return ask


@dataclass(frozen=True, slots=True)
class _Form(Generic[Row]):
    """One form of a query: its SQL, and for each parameter the index of its value, or a constant."""

    make: Callable[..., QuerySet[Any, Row]]
    queryset: QuerySet[Any, Row]
    compiler: SQLCompiler
    sql: str
    places: Sequence[tuple[int | None, Any]]

    def rows(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Row]:
        values = _flat((*given, *named.values()))
        asked = (self.sql, [own if place is None else values[place] for place, own in self.places])
        # A queryset gets its compiler from its query; this one already has its SQL and is not shared.
        ready: Any = copy.copy(self.compiler)
        ready.connection = connections[ready.using]
        ready.as_sql = lambda *_, **__: asked
        found: Any = self.queryset.all()
        found.query.get_compiler = lambda *_, **__: ready
        return list(found)


def _form(
    make: Callable[..., QuerySet[Any, Row]], given: Sequence[Any], named: Mapping[str, Any]
) -> _Form[Row]:
    """The query compiled with a unique placeholder for each value."""
    counted = itertools.count(1)
    marks = [_mark(value, counted) for value in (*given, *named.values())]
    known = _flat(marks)
    with connection.execute_wrapper(_refuse):
        rows = make(*marks[: len(given)], **dict(zip(named, marks[len(given) :], strict=True)))
        compiler: Any = rows.query.get_compiler(using=rows.db)
        sql, parameters = _put_together(compiler)
    places = [(known.index(one) if one in known else None, one) for one in parameters]
    if {place for place, _ in places} - {None} != {*range(len(known))} and [] not in marks:
        raise ValueError(f"an argument of {make.__name__} is nowhere in its query")
    return _Form(make, rows, compiler, sql, places)


def _put_together(compiler: Any) -> tuple[str, Sequence[Any]]:
    """The SQL and its parameters; "" if the compiler knows that no row can match. The converters to Python values are
    also looked up once."""
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:
        return "", ()
    converters = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
    compiler.get_converters = lambda _: converters
    return sql, parameters


def _refuse(*_: object) -> NoReturn:
    raise ValueError(
        "what makes a prepared query may not ask the database: it would be answered once for all times"
    )


# --- Values ---------------------------------------------------------------------------------------------------------


def _is_of_form(value: object) -> bool:
    """Whether a value may change the form of the query."""
    return value is None or isinstance(value, bool | tuple | type | enum.Enum | Fixed) or value == ""


def _shape(value: Any) -> object:
    """A key that is equal for all values with the same SQL."""
    if isinstance(value, list):
        return (type(value[0]), _room(value)) if value else ()
    return (type(value), value) if _is_of_form(value) else type(value)


def _room(values: Sequence[Any]) -> int:
    """The padded length of a list, a power of two, so that there are few forms. Its last value is repeated."""
    return 1 << (len(values) - 1).bit_length()


def _mark(value: Any, counted: Iterator[int]) -> Any:
    if isinstance(value, list):
        return [_mark_of(value[0], counted) for _ in range(_room(value))] if value else []
    return value if _is_of_form(value) else _mark_of(value, counted)


def _mark_of(value: object, counted: Iterator[int]) -> object:
    if isinstance(value, dt.datetime):
        return _SOME_MOMENT + dt.timedelta(days=next(counted))
    if isinstance(value, dt.date):
        return _SOME_DAY + dt.timedelta(days=next(counted))
    if isinstance(value, int):
        return 2_000_000_000 + next(counted)  # fits into columns of four bytes
    if isinstance(value, str):
        return f"\N{REPLACEMENT CHARACTER}{next(counted)}"
    raise TypeError(f"a {type(value).__name__} cannot be a value of a prepared query")


def _flat(values: Sequence[Any]) -> list[Any]:
    """The parameter values as the database stores them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found += map(_stored, value)
            found += found[-1:] * (_room(value) - len(value)) if value else []
        elif not _is_of_form(value):
            found.append(_stored(value))
    return found


def _stored(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return connection.ops.adapt_datefield_value(value) if isinstance(value, dt.date) else value
