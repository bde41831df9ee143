"""Error pages: what happened and what to do.

They have the menu if possible. Server errors, and pages that fail while being rendered, do not use the request, so
that a broken database cannot break them.
"""

import logging
import sys
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import is_valid_path, reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from dreams import conf
from dreams.lib.refusal import Refusal
from dreams.services import database, project_lock, server_registry
from dreams.web.htmx import login_page, wants_fragment

log = logging.getLogger(__name__)
TOO_MUCH = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Needs neither the database nor templates nor the session, for when one of these failed.
_PLAIN = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta name="color-scheme" content="light dark">'
    "<title>{title} · memoryweb</title>"
    '<link rel="stylesheet" href="/static/css/tokens.css"><link rel="stylesheet" href="/static/css/base.css"></head>'
    '<body><main><h1>{title}</h1><p>{text}</p><p><a href="{onward}">To the inbox</a></p></main></body></html>'
)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if isinstance(exception, TOO_MUCH):
        return too_much(request)
    return _page(request, 400, "This request cannot be read", "Go back and try again from the page itself.")


def too_much(request: HttpRequest) -> HttpResponse:
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024**2} MB and {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields"
    return _page(
        request,
        413,
        "Too much at once",
        f"A form can send at most {most}. Nothing was changed. Try again in smaller parts.",
        onward=_page_of_the_form(request),
    )


def forbidden(request: HttpRequest, exception: Exception | str | None = None) -> HttpResponse:
    """Also accepts the sentence to show: who may do what was requested."""
    return _page(request, 403, "Not allowed", str(exception or "This account may not do that."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(
        request,
        404,
        "Nothing here",
        "It may have been renamed, or belong to a project that was removed.",
    )


def only_for_buttons(request: HttpRequest) -> HttpResponse:
    """For a GET of an address that only takes forms, from the browser's history or typed."""
    above = request.path.rstrip("/").rpartition("/")[0] + "/"
    has_page = above != "/" and is_valid_path(above)
    return _page(
        request,
        405,
        "This address has no page",
        "It belongs to a button and cannot be opened directly. Nothing was changed.",
        onward=above if has_page else "",
        way_on="Back to its page" if has_page else "",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls this while it handles the exception."""
    error = sys.exc_info()[1]
    if database.is_busy(error):
        return busy(request)
    if error is not None and database.is_away(error):
        return away(request, error)
    if database.is_full(error):
        return full(request, error)
    if isinstance(error, conf.BadValue):
        said = f"{error}. Health shows where it is set."
        return _page(None, 500, "A setting is wrong", said, onward=reverse("health"), way_on="Health")
    if isinstance(error, Refusal):  # mostly of what somebody else did since the page was opened
        is_elsewhere = isinstance(error, project_lock.ProjectElsewhere)
        title = "Another computer’s project" if is_elsewhere else "Not done"
        answer = _page(None, 409, title, str(error), onward=_page_of_the_form(request), way_on="Back")
        return _without_traceback(answer)
    title, said = _unexpected(request)
    return _page(
        None,
        500,
        title,
        said,
        onward="" if request.method in SAFE_METHODS else _page_of_the_form(request),
    )


def busy(request: HttpRequest) -> HttpResponse:
    """Another process locked the database for longer than a page waits: mostly a dream, an import or a backup."""
    why = "Another process was writing to it for longer than this page waits."
    return _try_again(request, "The database is busy", f"{why} {what_became(request)} Try again in a moment.")


def full(request: HttpRequest, error: BaseException | None) -> HttpResponse:
    """No space left, for the database or for a file."""
    said = f"{database.why_full(error)} {what_became(request)} Make room on that disk, then try again."
    return _page(None, 507, "The disk is full", said, onward=_page_of_the_form(request))


def away(request: HttpRequest, error: BaseException) -> HttpResponse:
    """The database server was stopped, or the network to it is down."""
    why = database.why_away(error)
    return _try_again(
        request,
        "The database is unavailable",
        f"{why} {what_became(request)} memoryweb continues once the server is back.",
    )


def _try_again(request: HttpRequest, title: str, said: str) -> HttpResponse:
    again = request.method in SAFE_METHODS
    answer = _page(
        None,
        503,
        title,
        said,
        # `//host/…` would be the address of another site.
        onward="/" + request.get_full_path().lstrip("/") if again else _page_of_the_form(request),
        way_on="Try again" if again else "",
    )
    answer.headers["Retry-After"] = "10"
    log.error("%s, so %s was answered 503: %s", title, request.path, said)
    return _without_traceback(answer)


def _without_traceback(answer: HttpResponse) -> HttpResponse:
    """Django would log one for each request. It is for faults of ours, and this answer says all there is to know."""
    answer._has_been_logged = True  # type: ignore[attr-defined] # Django's own mark
    return answer


def what_became(request: HttpRequest) -> str:
    """Whether the request changed anything: a form may have done part of its work before the failure."""
    if request.method in SAFE_METHODS:
        return "Nothing was changed by this request."
    return "It may not have been done: check before you try again."


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The CSRF check failed: almost always because the page was opened before the last login, or the login has expired."""
    back, is_part = _page_of_the_form(request), wants_fragment(request)
    copy = "If you typed something, go back and copy it first"
    if not request.user.is_authenticated:
        stays = "What you typed is still here: log in, come back, and try again." if is_part else f"{copy}."
        said = f"Nothing was changed. {stays}"
        return _page(request, 403, "You are logged out", said, onward=login_page(back), way_on="Log in")
    since = "You logged in or out since this page was opened, so nothing was changed."
    # A page that stays open gets the new token from this response.
    said = f"{since} {'Do it again now.' if is_part else f'{copy}. Then reload the page and try again.'}"
    return _page(request, 403, "This page was too old", said, onward=back)


def _page_of_the_form(request: HttpRequest) -> str:
    """The page of the form, from the Referer; "" unless it is a path of this site."""
    came_from = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(came_from, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(came_from)
    onward = urlunsplit(("", "", parts.path, parts.query, ""))
    return onward if url_has_allowed_host_and_scheme(onward, allowed_hosts=None) else ""


def _page(
    request: HttpRequest | None, status: int, title: str, text: str, onward: str = "", way_on: str = ""
) -> HttpResponse:
    way_on = way_on or ("Reload it" if onward else "To the inbox")
    context = {"status": status, "title": title, "text": text, "onward": onward or "/", "way_on": way_on}
    for known in [request, None] if request is not None else [None]:
        try:
            return HttpResponse(render_to_string("dreams/error.html", context, request=known), status=status)
        except Exception:
            log.exception("The error page itself failed")
    return _plain(status, title, text)


def _plain(status: int, title: str, text: str, onward: str = "/") -> HttpResponse:
    return HttpResponse(format_html(_PLAIN, title=title, text=text, onward=onward), status=status)


def plain_failure(request: HttpRequest) -> HttpResponse:
    return _plain(500, *_unexpected(request))


def _unexpected(request: HttpRequest) -> tuple[str, str]:
    """A title and what to do. After an update, any page of a still running server may fail until it is restarted."""
    if (running := server_registry.running()) and running.is_outdated:
        again = "This server is still running the earlier version. Stop it where it was started, then start it again."
        return "memoryweb was updated", f"{again} {what_became(request)}"
    return "Something failed here", f"{what_became(request)} The server’s log has the details."


def plain_wrong_host() -> HttpResponse:
    here = f"http://127.0.0.1:{settings.PORT}/"
    return _plain(
        400,
        "Wrong address",
        f"This server answers at {here}. For another name, set MEMORYWEB_HOSTS.",
        here,
    )


def plain_cross_site() -> HttpResponse:
    return _plain(
        403,
        "Refused",
        "This request came from another site. Open the page here and do it from there.",
    )
