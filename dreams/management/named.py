"""Shared arguments of commands: a project, a dream or proposal, and the person."""

import getpass
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from django.core.management.base import CommandParser

from dreams.management.base import BadUsage
from dreams.models import DreamRun, Project, Proposal, Session, public_ids
from dreams.services import lookup
from dreams.services.review import Actor

T = TypeVar("T")

# A finding in words: severity, place, message, and below it the remedy.


def words(one: Mapping[str, Any], *, explain: bool = False) -> Iterator[str]:
    """`one` has `severity`, `path`, `line`, `message`, `remedy` and `rule`; most messages start with their place."""
    place = f"{one['path']}, line {one['line']}" if one["line"] else one["path"]
    where = f"{place}: " if place and not one["message"].startswith(one["path"]) else ""
    # A name may contain a line break, but a finding is one line.
    yield f"{one['severity']:6} {where}{one['message']}".replace("\n", "⟨U+000A⟩")
    if one["remedy"]:
        yield f"       {one['remedy']}"
    if explain:
        yield f"       Rule {one['check']}/{one['code']}: {one['rule']}"


def add_project(parser: CommandParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "project", nargs="?" if optional else None, metavar="PROJECT", help="slug, memory directory or id"
    )


def add_dream(parser: CommandParser) -> None:
    parser.add_argument("dream", metavar="DREAM", help="id of a dream or of its proposal")


def add_dream_or_project(parser: CommandParser) -> None:
    parser.add_argument(
        "of",
        metavar="DREAM|PROJECT",
        help="id of a dream or of its proposal; or a project's slug, memory directory or id",
    )


def dream_or_project(name: str) -> DreamRun | Project:
    """A dream or a project; a proposal without a dream means its project. Raises as `project`."""
    if public_ids.PATTERN.fullmatch(name):
        try:
            return lookup.dream(name)
        except lookup.Unknown:
            made = Proposal.objects.filter(public_id=name).select_related("project").first()
            if made is not None:
                return made.project
    return project(name)


def add_show_secrets(parser: CommandParser) -> None:
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="show secrets, which are masked otherwise; the audit log records it",
    )


def _one(find: Callable[[str], T], name: str) -> T:
    """Raises BadUsage if it is ambiguous, lookup.Unknown if it is unknown."""
    try:
        return find(name)
    except lookup.Ambiguous as error:
        raise BadUsage(str(error)) from error


def project(name: str, *, anywhere: bool = False) -> Project:
    """A project of this host; with `anywhere`, else of another host. Raises as `_one`."""
    return _one(partial(lookup.project, anywhere=anywhere), name)


def any_project(name: str | None) -> Project | None:
    """As `project`; None if none was named. An empty name, as from an unset variable of a script, is refused as unknown."""
    return None if name is None else project(name)


def session(name: str) -> Session:
    return _one(lookup.session, name)


def dream(name: str) -> DreamRun:
    return _one(lookup.dream, name)


def proposal(name: str) -> Proposal:
    return _one(lookup.proposal, name)


def all_proposals(name: str) -> list[Proposal]:
    return _one(lookup.all_proposals, name)


def me() -> Actor:
    """The person at the terminal; approvals given by command are marked as such."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "command"
    return Actor(name, by_command=True)
