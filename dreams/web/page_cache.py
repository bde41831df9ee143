"""Caches pages: what nobody has changed is not built again for the next request.

A page is kept for the account that asked for it, and answers the same address for a few seconds as long as nothing at all was
committed to the database. So no changed row ever shows an old page. What a page tells beside its rows (how long ago something
was, whether a session runs, who holds a lock) may be as old as those few seconds.
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
#: How old a page may be; chosen: short enough to be called now.
FRESH = dt.timedelta(seconds=5)
MOST = 32  # pages, of about a hundred thousand bytes; chosen
#: Whoever asks for a page that is being made waits so long for it, and then makes it too; seconds; chosen.
PATIENCE = 2.0
#: The token of forms, which each answer has anew; in a kept page there is a byte in its place that no page has.
_BEFORE_TOKEN = (b'"X-CSRFToken": "', b'name="csrfmiddlewaretoken" value="')
_PLACE = b"\0"


@dataclass(frozen=True, slots=True)
class _Made:
    """A page without its token, of which state of the database it is, and when it was made."""

    state: Hashable
    at: dt.datetime
    content: bytes
    headers: Sequence[tuple[str, str]]

    def is_fresh(self, state: Hashable) -> bool:
        return self.state == state and abs(timezone.now() - self.at) < FRESH


@dataclass(slots=True)
class _KeptPage:
    """A page as it was last made, if it was. `is_steady`: it was still true when it was done, so that it is worth a wait."""

    making: threading.Lock = field(default_factory=threading.Lock)
    made: _Made | None = None
    is_steady: bool = True


_pages: OrderedDict[Hashable, _KeptPage] = OrderedDict()
_guard = threading.Lock()


def kept(
    view: Callable[Concatenate[Request, P], HttpResponse],
) -> Callable[Concatenate[Request, P], HttpResponse]:
    """For a view that changes nothing, and shows nothing of a visit but its account, its messages and the token of forms."""

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
    """Who comes while the page is being made waits for that one, but for no other: each may be old before it is done."""
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
        return  # what tokens it has is not known for sure
    content = response.content.replace(tokens.pop(), _PLACE)
    page.made = _Made(state, now, content, tuple(response.items()))
    page.is_steady = page.made.is_fresh(cached_counts.database_state())


def _again(request: Request, made: _Made) -> HttpResponse:
    response = HttpResponse(made.content.replace(_PLACE, get_token(request).encode()))
    for name, value in made.headers:
        response.headers[name] = value
    return response
