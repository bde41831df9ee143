"""Logging in by a one-time link or its code, by password where an account has one, and logging out."""

from __future__ import annotations

from django.contrib import auth
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from dreams.services import login as logins
from dreams.web.access import safe_next
from dreams.web.htmx import SeeOther
from memoryweb import typed

WRONG_CODE = (
    f"This code is wrong, was used, or is older than ten minutes. Make a new one with `{typed('login_url')}`."
)
WRONG_PAIR = "Name and password do not fit together."
TOO_MANY = f"Too many wrong passwords. Wait a minute, or use a code: `{typed('login_url')}` makes one."


@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    """The page that reads the code from its address, and the form to paste it."""
    if request.method == "POST":
        return _log_in_with_code(request)
    if request.user.is_authenticated:
        return redirect(safe_next(request))
    return _page(request)


@require_POST
def with_password(request: HttpRequest) -> HttpResponse:
    try:
        user = logins.use_password(
            request.POST.get("name", ""),
            request.POST.get("password", ""),
            request.META.get("REMOTE_ADDR", ""),
        )
    except logins.TooManyTries:
        return _page(request, password_error=TOO_MANY, status=429)
    if user is None:
        return _page(request, password_error=WRONG_PAIR, status=422)
    return _enter(request, user)


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return SeeOther("/login/")


def _log_in_with_code(request: HttpRequest) -> HttpResponse:
    user = logins.use_code(request.POST.get("code", ""))
    if user is None:
        return _page(request, code_error=WRONG_CODE, status=422)
    return _enter(request, user)


def _enter(request: HttpRequest, user: User) -> HttpResponse:
    if request.user.is_authenticated:  # as another one: what that visit had shown is not this one's
        auth.logout(request)
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    logins.remember(
        user,
        request.session.session_key or "",
        request.META.get("REMOTE_ADDR", ""),
        request.headers.get("User-Agent", ""),
    )
    return SeeOther(safe_next(request))


def _page(
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
