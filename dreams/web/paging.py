"""Pages and filters of lists. Every list on a page is bounded and shows its position and its filter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

from dreams.models.prepared import Fixed
from dreams.services import hosts

T = TypeVar("T")
MAX_SEARCH = 200  # letters; chosen


@dataclass(frozen=True, slots=True)
class PageOfRows(Generic[T]):
    """The items of one page, and the page itself for `{% pages %}`."""

    items: list[T]
    page: Page[Any]

    @property
    def total(self) -> int:
        return self.page.paginator.count


@dataclass(frozen=True, slots=True)
class RowQuery(Sequence[Any]):
    """A list for `page_of` whose pages are queried one by one: `ask` gets the index of the first row."""

    total: int
    ask: Callable[[Fixed], list[Any]]

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, part: Any) -> Any:
        return self.ask(Fixed(part.start))


def page_of(rows: Any, number: str | int | None, size: int) -> Page[Any]:
    """Page `number` of a queryset or list; the nearest page if it is out of range or no number."""
    return Paginator(rows, size).get_page(number)


def listed(page: Page[Any], make: Callable[[Any], T]) -> PageOfRows[T]:
    return PageOfRows([make(row) for row in page.object_list], page)


def chosen(value: str | None, allowed: Sequence[str], default: str = "") -> str:
    """A filter's value if it is allowed, else "": an invalid address shows everything."""
    return value if value is not None and value in allowed else default


def search_text(value: str | None) -> str:
    """The text of a search field, cut to length."""
    return (value or "").strip()[:MAX_SEARCH]


def number_or_none(value: str | None) -> int | None:
    """A whole number from an address, or None; limited to the range of a database column."""
    if value is None or not value.isascii() or not value.isdecimal() or len(value) > 18:
        return None
    return int(value)


def host_asked(request: HttpRequest) -> str:
    """The key of the host in `?host=`; "" for all hosts and for an unknown one."""
    name = search_text(request.GET.get("host"))
    return hosts.key_of(name) if name else ""


# Not valid account names: the program itself, and changes made outside it.
SYSTEM, OUTSIDE = "-system", "-outside"
WORDS = {SYSTEM: "system", OUTSIDE: "outside memoryweb"}


@dataclass(frozen=True, slots=True)
class Filter:
    """`who` is a name, SYSTEM or OUTSIDE. An empty field matches everything."""

    kind: str = ""
    who: str = ""

    @property
    def is_on(self) -> bool:
        return bool(self.kind or self.who)


EVERYTHING = Filter()
