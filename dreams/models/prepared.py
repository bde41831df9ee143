"""Compiles frequent queries to SQL once per process.

Compiling one takes Django ten to a hundred times as long as the database takes to answer it. A function that returns a
queryset and is `@prepared` is called once for each form of its query; after that its SQL is executed with other values,
and the rows are the same as those of the queryset. They are made here: a queryset would take four times as long to make
one row as the database takes to find it.
"""

import datetime as dt
import enum
import itertools
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    Count,
    Field,
    ForeignKey,
    IntegerField,
    Model,
    QuerySet,
    Sum,
    prefetch_related_objects,
)
from django.db.models.base import ModelState
from django.db.models.fields.related_lookups import RelatedIn
from django.db.models.lookups import In
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    NamedValuesListIterable,
    ValuesIterable,
    ValuesListIterable,
)
from django.db.models.utils import create_namedtuple_class

P = ParamSpec("P")
Row = TypeVar("Row")

MOST_FORMS = 200  # forms of one query; beyond that all are dropped
#: Values of one list. SQLite takes 32,766 in a query as its makers build it, and a query may have three lists.
MOST_VALUES = 1 << 13
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
        key = (*named, *map(_shape, (*given, *named.values())))
        form = made.get(key)
        if form is None:
            if any(isinstance(one, list) and len(one) > MOST_VALUES for one in (*given, *named.values())):
                return list(make(*given, **named))
            if len(made) >= MOST_FORMS:
                made.clear()
            form = made[key] = _form(make, given, named)
        return form.rows(given, named)

    return ask


@dataclass(frozen=True, slots=True)
class _Form(Generic[Row]):
    """One form of a query: its SQL, the index of each parameter's value or a constant, and what reads its rows
    (None if no row can match)."""

    make: Callable[..., QuerySet[Any, Row]]
    sql: str
    sqlite: str
    places: Sequence[tuple[int | None, Any]]
    read: "_Reader | None"

    def rows(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Row]:
        if self.read is None:
            return []
        here = connections[DEFAULT_DB_ALIAS]  # looked up once: a tenth of a short query
        values = _flat((*given, *named.values()), here.ops)
        values = [own if place is None else values[place] for place, own in self.places]
        return self.read(self._found(values, here), here)

    def _found(self, values: list[Any], here: BaseDatabaseWrapper) -> list[Any]:
        """The rows as the database has them.

        A cursor of Django puts SQLite's placeholders into the text each time, which takes longer than a short query. It is
        only used where somebody watches the queries.
        """
        if here.vendor != "sqlite" or here.execute_wrappers or here.queries_logged:
            with here.cursor() as cursor:
                cursor.execute(self.sql, values)
                return list(cursor.fetchall())
        here.ensure_connection()
        here.validate_no_broken_transaction()
        with here.wrap_database_errors:
            return list(here.connection.execute(self.sqlite, values))


def _form(
    make: Callable[..., QuerySet[Any, Row]], given: Sequence[Any], named: Mapping[str, Any]
) -> _Form[Row]:
    """The query compiled with a unique placeholder for each value."""
    counted = itertools.count(1)
    marks = [_mark(value, counted) for value in (*given, *named.values())]
    known = _flat(marks, connection.ops)
    with connection.execute_wrapper(_refuse):
        rows = make(*marks[: len(given)], **dict(zip(named, marks[len(given) :], strict=True)))
        compiler: Any = rows.query.get_compiler(using=rows.db)
        sql, parameters = _put_together(compiler)
    at = {mark: place for place, mark in enumerate(known)}
    places = [(at.get(one), one) for one in parameters]
    if {place for place, _ in places} - {None} != {*range(len(known))} and [] not in marks:
        raise ValueError(f"an argument of {make.__name__} is nowhere in its query")
    sqlite = sql % (("?",) * len(places))  # as Django would write it
    return _Form(make, sql, sqlite, places, _Reader.of(rows, compiler) if sql else None)


def _put_together(compiler: Any) -> tuple[str, Sequence[Any]]:
    """The SQL and its parameters; "" if the compiler knows that no row can match."""
    try:
        found: tuple[str, Sequence[Any]] = compiler.as_sql()
    except EmptyResultSet:
        return "", ()
    return found


def _refuse(*_: object) -> NoReturn:
    raise ValueError(
        "what makes a prepared query may not ask the database: it would be answered once for all times"
    )


# --- Rows ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Makes what a queryset yields of the rows of its query.

    `width` leaves out columns that only order; `converters` are by column.
    """

    width: int | None
    converters: Sequence[tuple[int, Sequence[Callable[..., Any]], Any]]
    make: Callable[[Any], Any]
    prefetched: Sequence[Any]

    @classmethod
    def of(cls, queryset: Any, compiler: Any) -> "_Reader":
        """`compiler` has put the query of `queryset` together."""
        columns = [column for column, *_ in compiler.select[: compiler.col_count]]
        converters = [
            (place, [_MUCH_FASTER.get(getattr(one, "__name__", ""), one) for one in found], column)
            for place, (found, column) in compiler.get_converters(columns).items()
            if not _is_whole(column, compiler.connection)
        ]
        return cls(
            compiler.col_count if compiler.has_extra_select else None,
            converters,
            _maker(queryset, compiler),
            queryset._prefetch_related_lookups,
        )

    def __call__(self, rows: Sequence[Sequence[Any]], here: BaseDatabaseWrapper) -> list[Any]:
        if self.width is not None:
            rows = [row[: self.width] for row in rows]
        if self.converters:
            rows = [*map(list, rows)]
            for place, converters, column in self.converters:
                for convert in converters:
                    for row in rows:
                        row[place] = convert(row[place], column, here)  # type: ignore[index] # a list
        found = [*map(self.make, rows)]
        if self.prefetched and found:
            prefetch_related_objects(found, *self.prefetched)
        return found


def _maker(queryset: Any, compiler: Any) -> Callable[[Any], Any]:
    """What makes a row that of `queryset`: a model with its annotations, or values."""
    names = [*(queryset.query.selected or ())]
    makers: Mapping[Any, Callable[[], Callable[[Any], Any]]] = {
        ModelIterable: lambda: _Instance.of(
            compiler.klass_info, compiler.select, compiler.annotation_col_map or {}
        ),
        FlatValuesListIterable: lambda: operator.itemgetter(0),
        ValuesListIterable: lambda: tuple,
        NamedValuesListIterable: lambda: create_namedtuple_class(*names)._make,
        ValuesIterable: lambda: lambda row: dict(zip(names, row, strict=True)),
    }
    return makers[queryset._iterable_class]()


@dataclass(frozen=True, slots=True)
class _Instance:
    """Makes a model, and those that are joined to it, of a row.

    As `Model.from_db` does, without its signals and without setting each field by itself.
    """

    model: type[Model]
    cells: slice
    names: Sequence[str]
    key: int
    annotated: Mapping[str, int]
    joined: Sequence[tuple["_Instance", Callable[..., None], Callable[..., None]]]

    @classmethod
    def of(cls, told: Mapping[str, Any], select: Sequence[Any], annotated: Mapping[str, int]) -> "_Instance":
        model, places = told["model"], told["select_fields"]
        cells = slice(places[0], places[-1] + 1)
        names = [column.target.attname for column, *_ in select[cells]]
        joined = [
            (cls.of(one, select, {}), one["local_setter"], one["remote_setter"])
            for one in told.get("related_klass_infos", ())
        ]
        return cls(model, cells, names, names.index(model._meta.pk.attname), annotated, joined)

    def __call__(self, row: Sequence[Any]) -> Model | None:
        values = row[self.cells]
        if values[self.key] is None:
            return None  # an outer join found none
        made = self.model.__new__(self.model)
        made._state = state = ModelState()
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        made.__dict__.update(zip(self.names, values, strict=True))
        for make, remember, remember_back in self.joined:
            other = make(row)
            remember(made, other)
            if other is not None:
                remember_back(other, made)
        for name, place in self.annotated.items():
            setattr(made, name, row[place])
        return made


def _is_whole(column: Any, here: BaseDatabaseWrapper) -> bool:
    """Whether its values are whole numbers as they come: to SQLite, counts and sums of whole numbers are."""
    is_sum = isinstance(column, Count | Sum) and isinstance(column.output_field, IntegerField)
    return is_sum and here.vendor == "sqlite"


def _moment(stored: dt.datetime | str | None, *_: object) -> dt.datetime | None:
    """A time as SQLite stores it, in UTC: text if it is computed, such as the latest of several."""
    moment = dt.datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return moment and moment.replace(tzinfo=dt.UTC)


#: Django's, which also reads other forms: by name, as each connection has its own.
_MUCH_FASTER = {"convert_datetimefield_value": _moment}


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


def _flat(values: Sequence[Any], database: Any) -> list[Any]:
    """The parameter values as the database stores them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found += (_stored(one, database) for one in value)
            found += found[-1:] * (_room(value) - len(value)) if value else []
        elif not _is_of_form(value):
            found.append(_stored(value, database))
    return found


def _stored(value: Any, database: Any) -> Any:
    if isinstance(value, dt.datetime):
        return database.adapt_datetimefield_value(value)
    return database.adapt_datefield_value(value) if isinstance(value, dt.date) else value


# --- Long lists -----------------------------------------------------------------------------------------------------


class _AnyIn(In):
    """`__in`, and with it a prefetch, for any number of values: SQLite gets many as one, in JSON."""

    def process_rhs(self, compiler: Any, connection: Any) -> Any:
        sql, values = super().process_rhs(compiler, connection)
        if connection.vendor != "sqlite" or len(values) <= MOST_VALUES or not self.rhs_is_direct_value():
            return sql, values
        return "(SELECT value FROM json_each(%s))", [json.dumps([*values])]


class _AnyRelatedIn(_AnyIn, RelatedIn):
    """The same for the key of another row."""


Field.register_lookup(_AnyIn)
ForeignKey.register_lookup(_AnyRelatedIn)
