"""One address serves the page and its fragment: what htmx asks for, and how it is answered."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """A request after HtmxMiddleware; views annotate with it."""

    htmx: HtmxDetails


class SeeOther(HttpResponseRedirect):
    """303: the browser comes back with a GET, and a reload never posts twice."""

    status_code = 303


def wants_fragment(request: HttpRequest) -> bool:
    """True for an htmx request that swaps a part; a boosted link or a restored history entry wants the page."""
    details: HtmxDetails | None = getattr(request, "htmx", None)
    # False in a boolean context means: not from htmx.
    return details is not None and bool(details) and not (details.boosted or details.history_restore_request)


def page(
    request: HttpRequest,
    template: str,
    fragment: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Render `template`, or `fragment` alone where htmx asked. Use status 422 for an invalid form."""
    return rendered(request, fragment if wants_fragment(request) else template, context, status)


def rendered(
    request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """What an address answers of which htmx gets something else than a browser."""
    response = render(request, template, dict(context), status=status)
    # Without it the back button may show a bare fragment from the browser's cache.
    patch_vary_headers(response, ["HX-Request"])
    return response


def go(request: HttpRequest, to: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """After a POST: on to `to` (a view name, a model or an address), with or without JavaScript."""
    url = resolve_url(to, *args, **kwargs)
    return HttpResponseClientRedirect(url) if wants_fragment(request) else SeeOther(url)


def login_page(back: str) -> str:
    """The address of the login page, which leads on to `back`."""
    page = resolve_url("login")
    return page if back in ("", "/") else f"{page}?{urlencode({'next': back})}"
