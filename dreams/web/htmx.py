"""Requests and responses of htmx: one address serves the page and its fragment."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

MOST_BACK = 2_048  # characters, of which each may become three; browsers and proxies take 8,000 of an address


class Request(HttpRequest):
    """The type of a request after HtmxMiddleware, for annotations in views."""

    htmx: HtmxDetails


class SeeOther(HttpResponseRedirect):
    """303: the browser follows with a GET, so that a reload never posts twice."""

    status_code = 303


def wants_fragment(request: HttpRequest) -> bool:
    """Whether an htmx request replaces a part of the page; a boosted link or a restored history entry needs all of it."""
    details: HtmxDetails | None = getattr(request, "htmx", None)
    # It is false if the request is not from htmx.
    return details is not None and bool(details) and not (details.boosted or details.history_restore_request)


def page(
    request: HttpRequest,
    template: str,
    fragment: str,
    context: Mapping[str, Any],
    status: int = 200,
) -> HttpResponse:
    """Renders `template`, or only `fragment` for htmx. Use status 422 for an invalid form."""
    return rendered(request, fragment if wants_fragment(request) else template, context, status)


def rendered(
    request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """The response of an address that answers htmx and browsers differently."""
    response = render(request, template, dict(context), status=status)
    # Without it the back button may show only the fragment, from the browser's cache.
    patch_vary_headers(response, ["HX-Request"])
    return response


def go(request: HttpRequest, to: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """Redirects after a POST to `to` (a view name, a model or an address), with or without JavaScript."""
    url = resolve_url(to, *args, **kwargs)
    return HttpResponseClientRedirect(url) if wants_fragment(request) else SeeOther(url)


def login_page(back: str) -> str:
    """The address of the login page, which redirects to `back` afterwards, or to the inbox if no address has room for it."""
    page = resolve_url("login")
    return page if back in ("", "/") or len(back) > MOST_BACK else f"{page}?{urlencode({'next': back})}"
