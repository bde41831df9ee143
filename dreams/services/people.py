"""Accounts: what each may do, and adding, changing and removing them.

A role is what Django's two marks of an account say: a superuser is an admin, a member of the staff a reviewer, anybody else a
viewer. The account that a login link leads to stays an admin, so that the desk is never without one.
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

#: Who is no person in the audit log; nobody may be called so.
RESERVED = frozenset({"memoryweb", "policy", "system", "you"})


class Role(IntEnum):
    """Each may do what those before may."""

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
        """Raises PersonRefused for a word that is no role."""
        try:
            return cls[name.upper()]
        except KeyError:
            roles = ", ".join(role.label for role in cls)
            raise PersonRefused(f"“{name}” is not a role. Choose one of: {roles}.") from None


_MAY = {
    Role.VIEWER: "reads proposals, memories and history, but no transcripts and no secrets",
    Role.REVIEWER: "reads everything, starts dreams, decides, applies and undoes",
    Role.ADMIN: "does everything: also settings, policies, schedules, people, and purging secrets",
}


class PersonRefused(Refusal):
    """What was asked for cannot be done; the text says why."""


def role_of(user: AbstractUser | AnonymousUser) -> Role | None:
    """None for somebody who is not logged in."""
    if not user.is_authenticated or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    return Role.REVIEWER if user.is_staff else Role.VIEWER


def everybody() -> QuerySet[User]:
    """Those who may log in, by name."""
    return User.objects.filter(is_active=True).order_by("username")


def are_several() -> bool:
    """Whether who did something is worth saying. One query."""
    return everybody().order_by()[:2].count() > 1


def reviewers() -> QuerySet[User]:
    """Those who may decide."""
    return everybody().filter(Q(is_staff=True) | Q(is_superuser=True))


def add(name: str, role: Role, by: Actor, *, password: str = "") -> User:
    """A new account, or a removed one back; without a password until `login.set_password` gives one.

    Raises PersonRefused, and login.PasswordRefused for a password that is too weak.
    """
    name = _checked(name)
    login.ensure_owner()  # the first admin is whom login links lead to
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
    """False where the person had it already. Raises PersonRefused."""
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
    """The account can no longer log in, and where it is logged in that ends now. What the person decided keeps the name.

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
    """A new password for somebody else, who forgot theirs; wherever the account is logged in, that ends. Returns how often.

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
    """Raises PersonRefused where nobody who may log in is called so."""
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
