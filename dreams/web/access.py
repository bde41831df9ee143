"""Who may do what: one table with every address, and the middleware that checks it before any view runs.

Templates are written for users who may do everything. Links and forms that the reader may not use are removed from the
response, so that no template has to know about roles.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils.html import escape
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from dreams.services import login
from dreams.services.people import Role, role_of
from dreams.services.review import Actor
from dreams.web.htmx import login_page, wants_fragment
from dreams.web.views import errors

#: Addresses that need no account: logging in itself, and those that carry their own token.
OPEN = frozenset({"login", "login-password", "logout", "feed", "hook-session-end"})

_VIEWER = """
    inbox pulse next projects projects-several project project-questions project-caught project-checkup project-statements project-recall
    project-instructions project-at project-between memory memory-blame memory-related memory-compare memory-skill questions question
    search dreams dream schedules review usage audit health account login-end logins-end-others
    account-password
"""
_REVIEWER = """
    news-seen snooze bring-back bulk bulk-decide by-kind by-kind-decide
    project-dream project-questions-more project-caught-read project-caught-submit card-decide card-edit card-take-back
    project-recall-model project-open-ends project-logs evidence project-prompts prompt-hide project-secrets project-redact
    project-restore project-propose project-copy memory-secrets memory-restore memory-edit memory-forget memory-move memory-index-row
    session session-prompt session-write-notes session-ask-notes session-cancel-notes session-notes-now session-notes
    question-answer question-take-back dream-cancel dream-propose-partial request-withdraw
    review-decide review-take-back review-edit review-mend review-preview review-confirm review-viewed review-secrets
    review-bring-up review-submit review-apply review-second review-under-way review-stop conflict undo audit-export engines
"""
_ADMIN = """
    project-purge project-set-aside project-trust search-rebuild schedule-run schedule-remove engines-test
    settings project-settings settings-reset project-settings-reset settings-pause settings-resume settings-digest
    person-add person-role person-password person-remove
    policy-answer policy-end feed-make feed-revoke hook hook-write
"""
#: The name of an address → the least role that may use it. An address without a row is refused to everybody.
LEAST: dict[str, Role] = {
    **dict.fromkeys(_VIEWER.split(), Role.VIEWER),
    **dict.fromkeys(_REVIEWER.split(), Role.REVIEWER),
    **dict.fromkeys(_ADMIN.split(), Role.ADMIN),
}
#: Where a POST needs a higher role than a GET of the same address.
TO_POST = {"schedules": Role.ADMIN}
#: Forms that change only the account that sends them. A viewer may send no others.
OWN = frozenset({"login-end", "logins-end-others", "account-password"})
#: The URL namespace of Django's admin.
ADMIN_SPACE = "admin"


def least(name: str, *, posts: bool = False) -> Role | None:
    """The least role that may use an address (`admin:…` for Django's admin); None if nobody may."""
    if name.partition(":")[0] == ADMIN_SPACE:
        return Role.ADMIN
    needed = LEAST.get(name)
    if needed is None or not posts or name in OWN:
        return needed
    return max(needed, TO_POST.get(name, Role.REVIEWER))


def allows(role: Role | None, name: str, *, posts: bool = False) -> bool:
    needed = least(name, posts=posts)
    return name in OPEN or (role is not None and needed is not None and role >= needed)


class AccountsOnly:
    """Middleware: redirects visitors to the login page and back; refuses an account without the needed role."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        role = role_of(request.user)
        is_page = response.headers.get("Content-Type", "").startswith("text/html") and not response.streaming
        if is_page and role not in (None, Role.ADMIN):
            response.content = _usable(response.content.decode(), role, request.path).encode()
        return response

    def process_view(
        self, request: HttpRequest, view: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        name = _name(request.resolver_match)
        if name in OPEN:
            return None
        role = role_of(request.user)
        if role is None:
            return _logged_out(request) if name == "pulse" else _to_login(request)
        posts = request.method not in ("GET", "HEAD")
        if not allows(role, name, posts=posts):
            return errors.forbidden(request, _who_can(role, least(name, posts=posts)))
        login.mark_used(request.session.session_key or "")
        return None


def _name(match: ResolverMatch | None) -> str:
    return match.view_name if match else ""


def _who_can(role: Role, needed: Role | None) -> str:
    if needed is None:
        return "Nobody may use this address yet."
    who = "an admin" if needed == Role.ADMIN else "a reviewer or an admin"
    return f"Your role is {role.label}. Only {who} can do this. Ask an admin to change your role."


# --- Links and forms that the reader may use ------------------------------------------------------------------------------

#: Pages whose only purpose is a change: links to them are removed with their text.
_DEEDS = frozenset(
    {"undo", "conflict", "snooze", "bulk", "memory-edit", "memory-forget", "memory-move", "project-restore"}
)
_FORM = re.compile(r"<form\b([^>]*)>.*?</form>", re.DOTALL)
_LINK = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.DOTALL)
_BUTTON = re.compile(r"<button\b([^>]*)>.*?</button>|<(?:input|select)\b([^>]*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(?<![\w-])(action|href|formaction|method|class|form|id)="([^"]*)"')


def _usable(page: str, role: Role | None, here: str) -> str:
    """The page without the forms, buttons and links that `role` may not use. A link in a sentence keeps its text."""
    gone: set[str] = set()
    page = _FORM.sub(partial(_form, role=role, here=here, gone=gone), page)
    page = _BUTTON.sub(partial(_button, role=role, gone=gone), page)
    return _LINK.sub(partial(_link, role=role), page)


def _form(found: re.Match[str], role: Role | None, here: str, gone: set[str]) -> str:
    given = _attributes(found[1])
    if _leads_on(role, given.get("action") or here, posts=given.get("method", "").lower() == "post"):
        return found[0]
    gone.add(given.get("id", ""))
    return ""


def _button(found: re.Match[str], role: Role | None, gone: set[str]) -> str:
    """Also handles fields that belong to a form elsewhere on the page."""
    given = _attributes(found[1] or found[2] or "")
    of_gone = given.get("form") in gone if given.get("form") else False
    return "" if of_gone or not _leads_on(role, given.get("formaction", ""), posts=True) else found[0]


def _link(found: re.Match[str], role: Role | None) -> str:
    given = _attributes(found[1])
    address = given.get("href", "")
    if _leads_on(role, address):
        return found[0]
    classes = given.get("class", "").split()
    if "session-title" in classes:
        return f"{'A' if 'row-title' in classes else 'a'} session"  # its title is what a person typed
    is_deed = "button" in classes or _address_name(urlsplit(address).path) in _DEEDS
    return "" if is_deed else f'<span class="{escape(given.get("class", ""))}">{found[2]}</span>'


def _attributes(text: str) -> dict[str, str]:
    return {match[1]: match[2] for match in _ATTRIBUTE.finditer(text)}


def _leads_on(role: Role | None, address: str, *, posts: bool = False) -> bool:
    """Whether `role` may use the address. Other sites and anchors on this page are always allowed."""
    try:
        path = urlsplit(address.replace("&amp;", "&")).path
    except ValueError:  # of a host that Python refuses
        return True
    name = _address_name(path) if path.startswith("/") else ""
    return not name or allows(role, name, posts=posts)


@lru_cache(maxsize=4096)
def _address_name(path: str) -> str:
    try:
        return _name(resolve(path))
    except Resolver404:
        return ""


def actor(request: HttpRequest) -> str:
    """The user name for decisions and the audit log."""
    return request.user.get_username()


def reviewer(request: HttpRequest) -> Actor:
    return Actor(actor(request))


def is_path_here(wanted: str) -> bool:
    """Whether it is a path of this site and cannot redirect to another."""
    return wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)


def safe_next(request: HttpRequest) -> str:
    """The address after login: `next` if it is a path of this site, else the inbox."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    return wanted if is_path_here(wanted) else resolve_url("inbox")


def _page_that_asks(request: HttpRequest) -> str:
    """The page to return to after login: the one that shows the requested fragment."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    with suppress(ValueError):  # a client may send anything
        return (htmx.current_url_abs_path if htmx else None) or "/"
    return "/"


def _logged_out(request: HttpRequest) -> HttpResponse:
    """The message for an open page after logout. It does not redirect, as the page may hold typed text."""
    return render(request, "_logged_out.html", {"login": login_page(_page_that_asks(request))})


def _to_login(request: HttpRequest) -> HttpResponse:
    if wants_fragment(request):
        return HttpResponseClientRedirect(login_page(_page_that_asks(request)))
    # After a POST the form's own data is gone, so its address would only answer "method not allowed".
    return HttpResponseRedirect(
        login_page(request.get_full_path() if request.method in ("GET", "HEAD") else "/")
    )
