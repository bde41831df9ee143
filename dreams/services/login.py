"""Login by a one-time link, as local notebook servers do: no password to choose, none to leak. Also lists and ends logins.

A link works once and for ten minutes. Only its hash is stored. The code is in the URL's fragment, which browsers do not
send to servers, so no log has it; the page posts it.
"""

import datetime as dt
import hashlib
import secrets
import threading
import time
from typing import NamedTuple

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from dreams.lib.refusal import Refusal
from dreams.models import LoginLink, LoginSession
from dreams.services import auditlog, database

LIFETIME = dt.timedelta(minutes=10)  # of a link, which is opened soon after it is printed; chosen
OWNER = "owner"
# 32 characters that are not confused when read aloud; 20 of them are 100 bits.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 20
GROUP = 5
TRIES = 10  # wrong passwords for one account from one address, in TRIES_SECONDS; chosen
TRIES_SECONDS = 60


class Link(NamedTuple):
    """`path` is relative to the site's address; `code` is the same secret in groups, to paste or type."""

    path: str
    code: str


class PasswordRefused(Refusal):
    """The message says why, and what is required."""


class TooManyTries(Exception):
    """More than TRIES wrong passwords for one account from one address in a minute.

    Codes are not limited: they have 100 bits, and with a limit anybody could lock the owner out.
    """


def make_link(now: dt.datetime | None = None) -> Link:
    """Creates a link. Old ones work until they are used or ten minutes old."""
    now = now or timezone.now()
    token = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    with transaction.atomic():
        LoginLink.objects.filter(expires_at__lt=now - dt.timedelta(days=1)).delete()
        link = LoginLink.objects.create(token_hash=hashed(token), expires_at=now + LIFETIME)
        auditlog.record("login.link", object_id=str(link.pk))
    return Link(f"/login/#token={token}", "-".join(token[i : i + GROUP] for i in range(0, LENGTH, GROUP)))


def use_code(code: str, now: dt.datetime | None = None) -> User | None:
    """The owner, once per link; None when the code is wrong, used or expired."""
    now = now or timezone.now()
    with transaction.atomic():
        # In one UPDATE: of two requests with the same code, one finds no row.
        used = LoginLink.objects.filter(
            token_hash=hashed(_cleaned(code)),
            used_at__isnull=True,
            expires_at__gt=now,
            # Later than any lifetime: made while a clock was wrong.
            expires_at__lte=now + LIFETIME,
        ).update(used_at=now)
        if used:
            user = ensure_owner()
            auditlog.record("login", actor=user.get_username(), by="link")
            return user
    return None


def set_password(name: str, password: str, by: str = "") -> None:
    """Sets an account's password; `by` is the person who asks, if known. Raises PasswordRefused for an unknown account or
    a weak password."""
    owner = ensure_owner()
    user = User.objects.filter(username=name, is_active=True).first() if name else owner
    if user is None:
        raise PasswordRefused(f"No account is called {name}. The owner’s is {owner.get_username()}.")
    try:
        validate_password(password, user)
    except ValidationError as refused:
        raise PasswordRefused(" ".join(refused.messages)) from refused
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        auditlog.record("login.password", actor=by, object_id=user.get_username())


def change_password(user: User, old: str, new: str, address: str = "") -> None:
    """Changes a person's own password; needs the old one. Raises PasswordRefused, and TooManyTries as at a login."""
    _count_try(user.get_username(), address)
    if not user.check_password(old):
        raise PasswordRefused("The current password is wrong. Nothing was changed.")
    _count_try(user.get_username(), address, -1)
    set_password(user.get_username(), new, user.get_username())


def use_password(name: str, password: str, address: str = "") -> User | None:
    """The account, or None; `address` is the client's address. Raises TooManyTries."""
    _count_try(name, address)
    user = authenticate(username=name, password=password)
    if not isinstance(user, User):
        return None
    _count_try(name, address, -1)
    auditlog.record("login", actor=user.get_username(), by="password")
    return user


# The wrong passwords for each account from each address within a minute of the first, and when that minute is over. Not in the
# cache, which forgets the oldest entries when somebody tries many names.
_wrong: dict[str, tuple[int, float]] = {}
_counting = threading.Lock()


def _count_try(name: str, address: str, by: int = 1) -> None:
    """Counts a try before its password is checked, so that those at the same time count too; a right one is taken out again.

    Raises TooManyTries.
    """
    now, who = time.time(), hashed(f"{address} {name}")
    with _counting:
        # Later than a minute from now: counted while a clock was wrong.
        over = [one for one, (_, until) in _wrong.items() if not now < until <= now + TRIES_SECONDS]
        for one in over:
            del _wrong[one]
        count, until = _wrong.get(who, (0, now + TRIES_SECONDS))
        if by > 0 and count >= TRIES:
            raise TooManyTries
        _wrong[who] = max(0, count + by), until


def ensure_owner() -> User:
    """The account that a link logs in: the first superuser, created without a password when first needed."""
    users = User.objects
    found = users.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if found is not None:
        return found
    made, new = users.get_or_create(username=OWNER)
    made.is_superuser = made.is_staff = made.is_active = True
    if new:
        made.set_unusable_password()
    made.save()
    return made


def has_password_account() -> bool:
    """Whether any account has a password; a server open to a network needs one."""
    users = User.objects.filter(is_active=True)
    return any(user.has_usable_password() for user in users[:100])


# --- Current logins -------------------------------------------------------------------------------------------------

#: How precisely the last use of a login is stored: a write for each request would be too many.
SEEN_SECONDS = 600
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
_SYSTEMS = {
    **{"Android": "Android", "iPhone": "an iPhone", "iPad": "an iPad", "CrOS": "ChromeOS"},
    **{"Windows": "Windows", "Macintosh": "a Mac", "Linux": "Linux"},
}


def device_name(user_agent: str) -> str:
    """ "Firefox on Linux"; "another program" for an unknown browser. The user agent itself is not stored."""
    browser = next((name for sign, name in _BROWSERS.items() if f"{sign}/" in user_agent), "another program")
    system = next((name for sign, name in _SYSTEMS.items() if sign in user_agent), "")
    return f"{browser} on {system}" if system else browser


def remember(user: User, session_key: str, address: str, user_agent: str) -> None:
    """Stores a login, so that it can be listed and ended."""
    now = timezone.now()
    LoginSession.objects.exclude(Exists(_alive(now))).delete()
    LoginSession.objects.create(
        user=user,
        session_key=session_key,
        made_at=now,
        seen_at=now,
        address=address[:64],
        device=device_name(user_agent),
    )


def renamed(old_key: str, new_key: str) -> None:
    """Updates a login whose session key changed."""
    LoginSession.objects.filter(session_key=old_key).update(session_key=new_key)


def mark_used(session_key: str) -> None:
    """Stores that the login is in use, at most once in ten minutes; no page waits for that."""
    with database.unless_full():
        if not cache.add(f"login-seen-{hashed(session_key)}", 1, SEEN_SECONDS):
            return
        with database.unless_busy():
            LoginSession.objects.filter(session_key=session_key).update(seen_at=timezone.now())


def sessions() -> QuerySet[LoginSession]:
    """All current logins, most recently used first."""
    rows = LoginSession.objects.filter(Exists(_alive(timezone.now())), user__is_active=True)
    return rows.select_related("user")


def forget_expired() -> None:
    """Deletes expired browser sessions: each visit to the login page without a cookie makes one, such as a health check's."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


def _alive(now: dt.datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=now)


def end(rows: QuerySet[LoginSession], actor: str, *, by_command: bool = False) -> int:
    """Ends these logins: their next request is anonymous. Returns how many."""
    with transaction.atomic():
        keys: dict[str, list[str]] = {}
        for row in rows.select_related("user"):
            keys.setdefault(row.user.get_username(), []).append(row.session_key)
        ended = [key for found in keys.values() for key in found]
        Session.objects.filter(session_key__in=ended).delete()
        LoginSession.objects.filter(session_key__in=ended).delete()
        for name, found in keys.items():
            auditlog.record(
                "login.ended", actor=actor, object_id=name, count=len(found), by_command=by_command
            )
    return len(ended)


def _cleaned(code: str) -> str:
    """A typed code in its standard form: it may have any case, dashes and spaces, O for 0, and I or L for 1."""
    kept = "".join(code.split()).replace("-", "").upper()[: LENGTH * 2]
    return kept.translate(str.maketrans("OIL", "011"))


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
