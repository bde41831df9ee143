"""Security checks for every page, outermost first (`settings.MIDDLEWARE` sets the order).

The server listens on the loopback address, but any page in the person's browser can send requests there, and
a foreign domain can resolve to it. So the host, the origin and what a page may load are all
checked here, before any view runs.
"""

import logging
import zoneinfo
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import timezone

from dreams import conf
from dreams.services import database
from dreams.web.views import errors

Handler = Callable[[HttpRequest], HttpResponse]
log = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def no_body_for_head(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Removes the body of an answer to HEAD. Servers send what they get, and on a kept connection the client would take it for the
    beginning of the next answer."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method == "HEAD" and isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        elif request.method == "HEAD" and isinstance(response, HttpResponse):
            response.headers.setdefault("Content-Length", str(len(response.content)))
            response.content = b""
        return response

    return middleware


def plain_errors(get_response: Handler) -> Handler:
    """Answers any failure, even of the error page itself, with a plain page and logs the details."""

    def middleware(request: HttpRequest) -> HttpResponse:
        try:
            return get_response(request)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return errors.plain_failure(request)

    return middleware


def exact_host(get_response: Handler) -> Handler:
    """Accepts only the served hosts, port included; refuses foreign names that resolve here."""

    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request) if _host_is_ours(request) else errors.plain_wrong_host()

    return middleware


def _host_is_ours(request: HttpRequest) -> bool:
    try:
        host = request.get_host().lower()
    except DisallowedHost:
        return False
    name, port = _split(host)
    if name in LOOPBACK:
        return port == settings.PORT
    # A configured name (MEMORYWEB_HOSTS): without a port behind a proxy, or with the served port.
    given = {allowed.lower() for allowed in settings.ALLOWED_HOSTS} - {"*"}
    return name in given and (host == name or port == settings.PORT)


def _split(host: str) -> tuple[str, int]:
    """Splits `[::1]:8765` into ("[::1]", 8765); without a port, HTTP's default."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        return host, 80
    return name, int(port) if port.isdecimal() and len(port) <= len("65535") else 0


def security_headers(get_response: Handler) -> Handler:
    """Sets what a page may load and who may frame it, on every response, including errors and static files."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        if not request.path.startswith(settings.STATIC_URL):
            # Pages show private notes, which must not stay in a cache after logout.
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware


def same_site_only(get_response: Handler) -> Handler:
    """Stops other sites, and other ports of this machine, from posting here and from embedding or reading a page.

    A link from elsewhere (a digest mail) first gets a page that redirects: browsers do not send the strict cookie
    with the first request from another site, but they do with the one that follows from our page.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method not in errors.SAFE_METHODS:
            return get_response(request) if _is_own_post(request) else errors.plain_cross_site()
        if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
            return get_response(request)
        return _onward(request) if _is_followed_link(request) else errors.plain_cross_site()

    return middleware


def _is_own_post(request: HttpRequest) -> bool:
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return False
    origin = request.headers.get("Origin")
    return origin is None or origin == f"{request.scheme}://{request.get_host()}"


def _is_followed_link(request: HttpRequest) -> bool:
    return (
        request.headers.get("Sec-Fetch-Mode") == "navigate"
        and request.headers.get("Sec-Fetch-Dest") == "document"
    )


def _onward(request: HttpRequest) -> HttpResponse:
    # In a refresh, `//host/…` would be the address of another site.
    address = "/" + request.get_full_path().lstrip("/")
    return HttpResponse(render_to_string("dreams/onward.html", {"address": address}))


def no_nul_sent(get_response: Handler) -> Handler:
    """Removes NUL characters from addresses and forms: PostgreSQL takes them in no text, and no browser sends them."""

    def middleware(request: HttpRequest) -> HttpResponse:
        for name in ("GET", "POST"):
            given: QueryDict = getattr(request, name)
            if any("\0" in value for values in dict.values(given) for value in values):
                found = given.copy()
                for key, values in given.lists():
                    found.setlist(key, [value.replace("\0", "") for value in values])
                setattr(request, name, found)
        return get_response(request)

    return middleware


def page_for_every_answer(get_response: Handler) -> Handler:
    """Explains a 405 for a GET of an address that only takes forms; the browser would show an empty page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 405 or response.content or request.method != "GET":
            return response
        answer = errors.only_for_buttons(request)
        answer.headers["Allow"] = response.headers["Allow"]
        return answer

    return middleware


def local_time(get_response: Handler) -> Handler:
    """Activates the configured time zone, and keeps the settings on the request for the page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone(request)):
            return get_response(request)

    return middleware


def _zone(request: HttpRequest) -> zoneinfo.ZoneInfo:
    try:
        request.config = conf.current()  # type: ignore[attr-defined] # read back by dreams.web.context
    except (DatabaseError, conf.BadValue) as error:
        # Not migrated yet, or a stored value is no longer valid: the health page must still load and say so.
        if not database.is_away(error):  # then the page reports it
            log.warning("Settings could not be read", exc_info=True)
        return zoneinfo.ZoneInfo(settings.TIME_ZONE)
    return zoneinfo.ZoneInfo(request.config.time_zone or settings.TIME_ZONE)  # type: ignore[attr-defined] # set above
