"""Queries that pages ask all the time, put into SQL once for the life of the process.

To put one together takes Django ten to a hundred times as long as the database takes to answer it. A function that makes
a queryset and is `@prepared` is called once for each form that its query may take; from then on its SQL is asked with
other values, and the rows are those that the queryset itself would find.
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

MOST_FORMS = 200  # of one query; of more all are forgotten
_SOME_DAY = dt.date(1901, 1, 1)
_SOME_MOMENT = dt.datetime(1901, 1, 1, tzinfo=dt.UTC)


class Fixed(int):
    """A number that is part of the form, such as the place of a page's first row: a slice cannot be given as a value."""


def prepared(make: Callable[P, QuerySet[Any, Row]]) -> Callable[P, list[Row]]:
    """A function that answers what the queryset of `make` finds for the same arguments.

    Numbers, texts, days and moments must be in the query as they are given and may not decide what it looks like, except
    for None, true, false, "", tuples, classes, members of enumerations and what is `Fixed`, which may; lists are for
    `__in`. `make` may look at nothing else: not at the database, the clock or a setting, as it is not called again.
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
    """One form of a query: its SQL, and for each parameter which of the values it is, or its own where it is none."""

    make: Callable[..., QuerySet[Any, Row]]
    queryset: QuerySet[Any, Row]
    compiler: SQLCompiler
    sql: str
    places: Sequence[tuple[int | None, Any]]

    def rows(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Row]:
        values = _flat((*given, *named.values()))
        asked = (self.sql, [own if place is None else values[place] for place, own in self.places])
        # What a queryset asks of its query is a compiler; this one has its SQL already, and is nobody else's.
        ready: Any = copy.copy(self.compiler)
        ready.connection = connections[ready.using]
        ready.as_sql = lambda *_, **__: asked
        found: Any = self.queryset.all()
        found.query.get_compiler = lambda *_, **__: ready
        return list(found)


def _form(
    make: Callable[..., QuerySet[Any, Row]], given: Sequence[Any], named: Mapping[str, Any]
) -> _Form[Row]:
    """The query with a mark for each value, which nothing else in it equals."""
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
    """The SQL and its parameters; "" where no row can be found, which the compiler knows. How values become those of Python
    is looked up once as well."""
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
    """Whether a value may decide what the query looks like."""
    return value is None or isinstance(value, bool | tuple | type | enum.Enum | Fixed) or value == ""


def _shape(value: Any) -> object:
    """The same for all values that the same SQL is good for."""
    if isinstance(value, list):
        return (type(value[0]), _room(value)) if value else ()
    return (type(value), value) if _is_of_form(value) else type(value)


def _room(values: Sequence[Any]) -> int:
    """Lists are brought to a power of two by their last value again, so that there are few forms of any length."""
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
        return 2_000_000_000 + next(counted)  # columns of four bytes take it
    if isinstance(value, str):
        return f"\N{REPLACEMENT CHARACTER}{next(counted)}"
    raise TypeError(f"a {type(value).__name__} cannot be a value of a prepared query")


def _flat(values: Sequence[Any]) -> list[Any]:
    """Those that are parameters, as the database has them."""
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
