"""Pages that need nothing: no database, no template, no session. For when one of those is what failed."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.utils.html import format_html

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    "<title>{title} · memoryweb</title></head>"
    "<body><main><h1>{title}</h1><p>{text}</p></main></body></html>"
)


def page(status: int, title: str, text: str) -> HttpResponse:
    return HttpResponse(format_html(_PAGE, title=title, text=text), status=status)


def failed() -> HttpResponse:
    return page(
        500, "Something failed here", "Nothing was changed by this request. The server's log has the details."
    )


def wrong_host() -> HttpResponse:
    return page(
        400,
        "Wrong address",
        f"This server answers at http://127.0.0.1:{settings.PORT}/. For another name, set MEMORYWEB_HOSTS.",
    )


def cross_site() -> HttpResponse:
    return page(
        403,
        "Refused",
        "This request came from another site. Open the page here and do it from there.",
    )
