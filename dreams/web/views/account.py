"""Logging in by a one-time link, its code or a password, and logging out; an account: its logins, and ending them. For
admins also the people: their roles, adding and removing them."""

from django.contrib import auth, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.services import login as logins, people
from dreams.services.people import PersonRefused, Role
from dreams.services.review import Actor
from dreams.web.access import actor, safe_next
from dreams.web.htmx import Request, SeeOther, go
from memoryweb import typed

WRONG_CODE = f"This code is wrong, already used, or older than ten minutes. Create a new one with `{typed('login_url')}`."
WRONG_PAIR = "The name or the password is wrong."
MOST = 200  # rows; chosen
TOO_MANY = f"Too many wrong passwords. Wait a minute, or use a code: `{typed('login_url')}` creates one."


@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """The page that reads the code from its address, and the form to paste it."""
    if request.method == "POST":
        user = logins.use_code(request.POST.get("code", ""))
        return _enter(request, user) if user else _login_page(request, code_error=WRONG_CODE, status=422)
    if request.user.is_authenticated and request.user.pk == logins.ensure_owner().pk:
        return redirect(safe_next(request))
    return _login_page(request)


@require_POST
def with_password(request: HttpRequest) -> HttpResponse:
    try:
        user = logins.use_password(
            request.POST.get("name", ""),
            request.POST.get("password", ""),
            request.META.get("REMOTE_ADDR", ""),
        )
    except logins.TooManyTries:
        return _login_page(request, password_error=TOO_MANY, status=429)
    if user is None:
        return _login_page(request, password_error=WRONG_PAIR, status=422)
    return _enter(request, user)


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return SeeOther("/login/")


def _enter(request: HttpRequest, user: User) -> HttpResponse:
    if request.user.is_authenticated:  # as another account, which must not get this session's data
        auth.logout(request)
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    logins.remember(
        user,
        request.session.session_key or "",
        request.META.get("REMOTE_ADDR", ""),
        request.headers.get("User-Agent", ""),
    )
    return SeeOther(safe_next(request))


def _login_page(
    request: HttpRequest, *, code_error: str = "", password_error: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "next": safe_next(request),
        "name": request.POST.get("name", "")[:150],
        "code_error": code_error,
        "password_error": password_error,
        "with_password": logins.has_password_account(),
        "new_code": typed("login_url"),
    }
    return render(request, "dreams/login.html", context, status=status)


@require_safe
def account(request: Request) -> HttpResponse:
    return _page(request)


@require_POST
def end_login(request: Request, pk: int) -> HttpResponse:
    """Ends one of the account's own logins; admins may end any."""
    rows = logins.sessions() if _is_admin(request) else logins.sessions().filter(user=request.user.pk)
    if logins.end(rows.filter(pk=pk), actor(request)):
        messages.success(request, "Ended. That browser has to log in again.")
    else:
        messages.info(request, "That login has ended already, or is not yours.")
    return go(request, "account")


@require_POST
def end_others(request: Request) -> HttpResponse:
    ended = _end_others(request)
    said = f"Ended {plural(ended, 'other login')}." if ended else "You are logged in nowhere else."
    messages.success(request, said)
    return go(request, "account")


def _end_others(request: Request) -> int:
    here = request.session.session_key or ""
    others = logins.sessions().filter(user=request.user.pk).exclude(session_key=here)
    return logins.end(others, actor(request))


@require_POST
def password(request: Request) -> HttpResponse:
    """Changes the own password; ends every other login of the account."""
    user = get_object_or_404(User, pk=request.user.pk)
    old, new = request.POST.get("old", ""), request.POST.get("new", "")
    try:
        logins.change_password(user, old, new, request.META.get("REMOTE_ADDR", ""))
    except logins.PasswordRefused as refused:
        return _page(request, why_not=str(refused), status=422)
    except logins.TooManyTries:
        return _page(request, why_not="Too many wrong passwords. Wait a minute.", status=429)
    _end_others(request)
    was = request.session.session_key or ""
    user.refresh_from_db()
    auth.update_session_auth_hash(request, user)
    logins.renamed(was, request.session.session_key or "")
    messages.success(request, "The password was changed. You are logged out everywhere else.")
    return go(request, "account")


@require_POST
def add(request: Request) -> HttpResponse:
    """Adds a person with a first password, or without one until the command sets it. All or nothing."""
    name, password = request.POST.get("name", ""), request.POST.get("password", "")
    try:
        role = Role.named(request.POST.get("role", ""))
        made = people.add(name, role, Actor(actor(request)), password=password)
    except (PersonRefused, logins.PasswordRefused) as refused:
        return _page(request, error=str(refused), status=422)
    more = "" if password else f" Give the account a password: {typed('password')} {made.username}"
    messages.success(request, f"Added {made.username}.{more}")
    return go(request, "account")


@require_POST
def role(request: Request, pk: int) -> HttpResponse:
    person = get_object_or_404(people.everybody(), pk=pk)
    try:
        wanted = Role.named(request.POST.get("role", ""))
        if people.set_role(person.username, wanted, Actor(actor(request))):
            messages.success(request, f"{person.username}: {wanted.label} from now on.")
        else:
            messages.info(request, f"{person.username}: {wanted.label}, as before.")
    except PersonRefused as refused:
        messages.error(request, str(refused))
    return go(request, "account")


@require_POST
def reset_password(request: Request, pk: int) -> HttpResponse:
    """Sets a new password for a person who forgot theirs; they must change it at their next login."""
    person = get_object_or_404(people.everybody(), pk=pk)
    try:
        ended = people.reset_password(
            person.username, request.POST.get("password", ""), Actor(actor(request))
        )
    except PersonRefused as refused:
        messages.error(request, str(refused))
    except logins.PasswordRefused as refused:
        return _page(request, reset_for=person.pk, why_not_reset=str(refused), status=422)
    else:
        which = "a new password" if person.has_usable_password() else "a password now"
        also = " and was logged out everywhere" if ended else ""
        messages.success(request, f"{person.username} has {which}{also}.")
    return go(request, "account")


@require_POST
def remove(request: Request, pk: int) -> HttpResponse:
    person = get_object_or_404(people.everybody(), pk=pk)
    try:
        people.remove(person.username, Actor(actor(request)))
        messages.success(request, f"{person.username} can no longer log in.")
    except PersonRefused as refused:
        messages.error(request, str(refused))
    return go(request, "account")


def _is_admin(request: Request) -> bool:
    return people.role_of(request.user) == Role.ADMIN


def _page(request: Request, *, status: int = 200, **refused: object) -> HttpResponse:
    """`refused`: values for the refused form."""
    is_admin = _is_admin(request)
    everybody = list(people.everybody()[:MOST]) if is_admin else []
    sessions, owner = logins.sessions(), logins.ensure_owner()
    context = {
        "logins": sessions.filter(user=request.user.pk)[:MOST],
        "elsewhere": sessions.exclude(user=request.user.pk)[:MOST] if is_admin else [],
        "here": request.session.session_key,
        "role": people.role_of(request.user),
        "roles": list(Role),
        "people": [{"user": user, "role": people.role_of(user)} for user in everybody],
        "owner": owner,
        "are_several": people.are_several(),
        "new_password": typed("password"),
        "new_role": request.POST.get("role", Role.REVIEWER.label),
        "name": request.POST.get("name", "")[:150],
        **refused,
    }
    return render(request, "dreams/account.html", context, status=status)
