"""Pages that are made once for the same rows: what nobody changed is not put together again for the next reader.

A page is kept for the account that asked for it, and answers the same address for a few seconds as long as nothing at all was
committed to the database. So no changed row ever shows an old page. What a page tells beside its rows (how long ago something
was, whether a session runs, who holds a lock) may be as old as those few seconds.
"""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.messages import get_messages
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.utils import timezone

from dreams.services import committed
from dreams.web.htmx import Request

P = ParamSpec("P")
#: How old a page may be; chosen: short enough to be called now.
FRESH = dt.timedelta(seconds=5)
MOST = 32  # pages, of about a hundred thousand bytes; chosen
#: Whoever asks for a page that is being made waits so long for it, and then makes it too; seconds; chosen.
PATIENCE = 2.0
#: The token of forms, which each answer has anew; in a kept page there is a byte in its place that no page has.
_TOKENS = re.compile(rb'(?:"X-CSRFToken": |name="csrfmiddlewaretoken" value=)"([^"]*)"')
_PLACE = b"\0"


@dataclass(slots=True)
class _Kept:
    """A page as it was last made, if it was: of which state of the database, when, and without its token."""

    making: threading.Lock = field(default_factory=threading.Lock)
    state: Hashable = None
    made_at: dt.datetime | None = None
    content: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()

    def is_fresh(self, state: Hashable) -> bool:
        made = self.made_at
        return made is not None and self.state == state and abs(timezone.now() - made) < FRESH


_pages: OrderedDict[Hashable, _Kept] = OrderedDict()
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
        if not page.making.acquire(timeout=PATIENCE):
            return view(request, *given, **named)
        try:
            state = committed.state()
            if state is not None and page.is_fresh(state):
                return _again(request, page)
            made_at = timezone.now()
            response = view(request, *given, **named)
            if state is not None and response.status_code == 200:
                _keep(page, response, state, made_at)
            return response
        finally:
            page.making.release()

    return answer


def _place(key: Hashable) -> _Kept:
    with _guard:
        page = _pages.setdefault(key, _Kept())
        _pages.move_to_end(key)
        if len(_pages) > MOST:
            _pages.popitem(last=False)
        return page


def _keep(page: _Kept, response: HttpResponse, state: Hashable, made_at: dt.datetime) -> None:
    tokens = set(_TOKENS.findall(response.content))
    if len(tokens) != 1:
        return  # what tokens it has is not known for sure
    page.content = response.content.replace(tokens.pop(), _PLACE)
    page.headers = tuple(response.items())
    page.state, page.made_at = state, made_at


def _again(request: Request, page: _Kept) -> HttpResponse:
    response = HttpResponse(page.content.replace(_PLACE, get_token(request).encode()))
    for name, value in page.headers:
        response.headers[name] = value
    return response
