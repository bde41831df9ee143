"""Accounts: what each may do, and adding, changing and removing them.

A role follows from Django's two flags: a superuser is an admin, a staff member a reviewer, anybody else a viewer. The
account used by login links stays an admin, so that there is always one.
"""

from enum import IntEnum
from typing import Any

from django.contrib.auth.models import AbstractUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from dreams.lib.refusal import Refusal
from dreams.models import LoginSession
from dreams.services import auditlog, database, login
from dreams.services.review import Actor

#: Names of non-persons in the audit log; no account may have them.
RESERVED = frozenset({"memoryweb", "policy", "system", "you"})


class Role(IntEnum):
    """Each role may also do what those before it may."""

    VIEWER = 1
    REVIEWER = 2
    ADMIN = 3

    @property
    def label(self) -> str:
        return self.name.lower()

    @property
    def may(self) -> str:
        return _MAY[self]

    @classmethod
    def named(cls, name: str) -> "Role":
        """The role with this name. Raises PersonRefused for an unknown one."""
        try:
            return cls[name.upper()]
        except KeyError:
            roles = ", ".join(role.label for role in cls)
            raise PersonRefused(f"“{name}” is not a role. Choose one of: {roles}.") from None


_MAY = {
    Role.VIEWER: "reads proposals, memories and history, but no transcripts and no secrets",
    Role.REVIEWER: "reads everything, starts dreams, decides, applies and undoes",
    Role.ADMIN: "does everything, including settings, policies, schedules, people and purging secrets",
}


class PersonRefused(Refusal):
    """The change is not possible; the message says why."""


def role_of(user: AbstractUser | AnonymousUser) -> Role | None:
    """The user's role; None if not logged in."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    return Role.REVIEWER if user.is_staff else Role.VIEWER


def everybody() -> QuerySet[User]:
    """All accounts that may log in, by name."""
    return User.objects.filter(is_active=True).order_by("username")


def are_several() -> bool:
    """Whether there are several people, so that pages show who did something. One query."""
    return everybody().order_by()[:2].count() > 1


def reviewers() -> QuerySet[User]:
    """The accounts that may decide."""
    return everybody().filter(Q(is_staff=True) | Q(is_superuser=True))


def add(name: str, role: Role, by: Actor, *, password: str = "") -> User:
    """Adds an account or restores a removed one, without a password until `login.set_password` sets one.

    Raises PersonRefused, and login.PasswordRefused for a password that is too weak.
    """
    name = _checked(name)
    login.ensure_owner()  # login links log in the first admin
    with transaction.atomic():
        database.one_at_a_time("people")
        user = User.objects.filter(username__iexact=name).first() or User(username=name)
        if user.is_active and user.pk:
            raise PersonRefused(f"There is already an account called {user.username}.")
        user.is_active = True
        user.set_unusable_password()
        _give(user, role)
        _log("person.added", user.username, by, role=role.label)
        if password:
            login.set_password(user.username, password, by.name)
    return user


def set_role(name: str, role: Role, by: Actor) -> bool:
    """Changes a person's role; False if they already have it. Raises PersonRefused."""
    with transaction.atomic():
        database.one_at_a_time("people")
        user = find(name)
        was = role_of(user)
        if was == role:
            return False
        _refuse_owner(user)
        _give(user, role)
        _log("person.changed", user.username, by, was=was.label if was else "", role=role.label)
    return True


def remove(name: str, by: Actor) -> None:
    """Disables the account and ends its logins. The person's decisions keep the name.

    Raises PersonRefused.
    """
    with transaction.atomic():
        database.one_at_a_time("people")
        user = find(name)
        _refuse_owner(user)
        user.is_active = False
        user.set_unusable_password()
        user.save(update_fields=["is_active", "password"])
        _log("person.removed", user.username, by)
        login.end(LoginSession.objects.filter(user=user), by.name, by_command=by.by_command)


def reset_password(name: str, password: str, by: Actor) -> int:
    """Sets a new password for another person and ends their logins. Returns how many.

    Raises PersonRefused, and login.PasswordRefused for a password that is too weak.
    """
    with transaction.atomic():
        user = find(name)
        _refuse_owner(user)
        if user.username == by.name:
            raise PersonRefused("Changing your own password needs the current one. Nothing was changed.")
        login.set_password(user.username, password, by.name)
        return login.end(LoginSession.objects.filter(user=user), by.name, by_command=by.by_command)


def find(name: str) -> User:
    """The account with this name. Raises PersonRefused if there is none that may log in."""
    user = everybody().filter(username=name).first()
    if user is None:
        raise PersonRefused(f"No account is called {name}. `people` lists them.")
    return user


def _checked(name: str) -> str:
    name = User.normalize_username(name.strip())
    try:
        User._meta.get_field("username").clean(name, None)
    except ValidationError as refused:
        raise PersonRefused(f"This name cannot be used: {' '.join(refused.messages)}") from refused
    if name.casefold() in RESERVED:
        raise PersonRefused(f"{name} cannot be used as a name: it has a special meaning in the audit log.")
    return name


def _refuse_owner(user: User) -> None:
    if user == login.ensure_owner():
        raise PersonRefused(
            f"{user.username} is the account that login links log in to. It stays an admin, so that there is always one."
        )


def _give(user: User, role: Role) -> None:
    user.is_superuser, user.is_staff = role == Role.ADMIN, role >= Role.REVIEWER
    user.save()


def _log(action: str, name: str, by: Actor, **data: Any) -> None:
    auditlog.record(action, actor=by, object_id=name, **data)
