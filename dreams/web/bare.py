"""Pages that need nothing: no database, no template, no session. For when one of those is what failed."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.utils.html import format_html

_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
    "<title>{title} · memoryweb</title>"
    '<link rel="stylesheet" href="/static/css/tokens.css"><link rel="stylesheet" href="/static/css/base.css"></head>'
    '<body><main><h1>{title}</h1><p>{text}</p><p><a href="{onward}">To the inbox</a></p></main></body></html>'
)


def page(status: int, title: str, text: str, onward: str = "/") -> HttpResponse:
    return HttpResponse(format_html(_PAGE, title=title, text=text, onward=onward), status=status)


def failed(became: str) -> HttpResponse:
    return page(500, "Something failed here", f"{became} The server’s log has the details.")


def wrong_host() -> HttpResponse:
    here = f"http://127.0.0.1:{settings.PORT}/"
    return page(
        400,
        "Wrong address",
        f"This server answers at {here}. For another name, set MEMORYWEB_HOSTS.",
        here,
    )


def cross_site() -> HttpResponse:
    return page(
        403,
        "Refused",
        "This request came from another site. Open the page here and do it from there.",
    )
