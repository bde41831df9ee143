"""Caches rendered pages until something changes.

A page is kept per account and address for a few seconds, as long as nothing is committed to the database. So a page
never shows old rows. Other values on it (how long ago something was, whether a session runs, who holds a lock) may be
those few seconds old.
"""

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.utils import timezone

from dreams.services import cached_counts
from dreams.web.htmx import Request

P = ParamSpec("P")
#: How old a page may be; chosen: short enough to pass for current.
FRESH = dt.timedelta(seconds=5)
MOST = 32  # pages, of about a hundred thousand bytes; chosen
#: How long a request waits for another that builds the same page before it builds it too; seconds; chosen.
PATIENCE = 2.0
#: The CSRF token differs in each response; a kept page has a byte in its place that no page contains.
_BEFORE_TOKEN = (b'"X-CSRFToken": "', b'name="csrfmiddlewaretoken" value="')
_PLACE = b"\0"


@dataclass(frozen=True, slots=True)
class _Made:
    """A rendered page without its CSRF token, with the state of the database and the time of rendering."""

    state: Hashable
    at: dt.datetime
    content: bytes
    headers: Sequence[tuple[str, str]]

    def is_fresh(self, state: Hashable) -> bool:
        return self.state == state and abs(timezone.now() - self.at) < FRESH


@dataclass(slots=True)
class _KeptPage:
    """The last rendering of a page. `is_steady`: nothing changed during it, so waiting for the next one makes sense."""

    making: threading.Lock = field(default_factory=threading.Lock)
    made: _Made | None = None
    is_steady: bool = True


_pages: OrderedDict[Hashable, _KeptPage] = OrderedDict()
_guard = threading.Lock()


def kept(
    view: Callable[Concatenate[Request, P], HttpResponse],
) -> Callable[Concatenate[Request, P], HttpResponse]:
    """Decorator for views that change nothing and depend on no session data but account, messages and CSRF token."""

    @wraps(view)
    def answer(request: Request, /, *given: P.args, **named: P.kwargs) -> HttpResponse:
        if request.method != "GET" or request.htmx or len(get_messages(request)):
            return view(request, *given, **named)
        page = _place((request.user.pk, request.build_absolute_uri()))
        with _turn(page):
            state, now = cached_counts.database_state(), timezone.now()
            if page.made and state is not None and page.made.is_fresh(state):
                return _again(request, page.made)
            response = view(request, *given, **named)
            if state is not None and response.status_code == 200:
                _keep(page, response, state, now)
            return response

    return answer


def _place(key: Hashable) -> _KeptPage:
    with _guard:
        page = _pages.setdefault(key, _KeptPage())
        _pages.move_to_end(key)
        if len(_pages) > MOST:
            _pages.popitem(last=False)
        return page


@contextmanager
def _turn(page: _KeptPage) -> Iterator[None]:
    """Waits for a rendering in progress, but only for one: the next could be outdated again before it is done."""
    is_first = page.making.acquire(blocking=False)
    if not is_first and page.is_steady and page.making.acquire(timeout=PATIENCE):
        page.making.release()
    try:
        yield
    finally:
        if is_first:
            page.making.release()


def _keep(page: _KeptPage, response: HttpResponse, state: Hashable, now: dt.datetime) -> None:
    parts = [part for before in _BEFORE_TOKEN for part in response.content.split(before)[1:]]
    tokens = {part[: part.find(b'"')] for part in parts}
    if len(tokens) != 1:
        return  # none or several tokens: it cannot be reused
    content = response.content.replace(tokens.pop(), _PLACE)
    page.made = _Made(state, now, content, tuple(response.items()))
    page.is_steady = page.made.is_fresh(cached_counts.database_state())


def _again(request: Request, made: _Made) -> HttpResponse:
    response = HttpResponse(made.content.replace(_PLACE, get_token(request).encode()))
    for name, value in made.headers:
        response.headers[name] = value
    return response
