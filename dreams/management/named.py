"""Shared arguments of commands: a project, a dream or proposal, and the person."""

import getpass
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandParser

from dreams.management.base import in_one_line
from dreams.models import DreamRun, Project, Proposal, public_ids
from dreams.services import lookup
from dreams.services.review import Actor


def words(one: Mapping[str, Any], *, explain: bool = False) -> Iterator[str]:
    """A finding: severity, place, message, and below it the remedy.

    `one` has `severity`, `path`, `line`, `message`, `remedy` and `rule`; most messages start with their place.
    """
    place = f"{one['path']}, line {one['line']}" if one["line"] else one["path"]
    where = f"{place}: " if place and not one["message"].startswith(one["path"]) else ""
    yield in_one_line(f"{one['severity']:6} {where}{one['message']}")
    if one["remedy"]:
        yield f"       {one['remedy']}"
    if explain:
        yield f"       Rule {one['check']}/{one['code']}: {one['rule']}"


#: As `lookup.project` finds it.
PROJECT_HELP = "slug, memory directory, id, or the name on the pages"


def add_project(parser: CommandParser, *, optional: bool = False) -> None:
    parser.add_argument("project", nargs="?" if optional else None, metavar="PROJECT", help=PROJECT_HELP)


def add_part(parser: CommandParser) -> None:
    parser.add_argument(
        "--path", action="append", default=[], metavar="P", help="only this file; may be repeated"
    )
    parser.add_argument(
        "--hunk", action="append", default=[], metavar="ID", help="only this change; may be repeated"
    )


def add_dream(parser: CommandParser) -> None:
    parser.add_argument("dream", metavar="DREAM", help="id of a dream or of its proposal")


def add_dream_or_project(parser: CommandParser) -> None:
    parser.add_argument(
        "of",
        metavar="DREAM|PROJECT",
        help=f"id of a dream or of its proposal; or a project: {PROJECT_HELP}",
    )


def dream_or_project(name: str) -> DreamRun | Project:
    """A dream or a project; a proposal without a dream means its project. Raises as `lookup.project`."""
    if public_ids.PATTERN.fullmatch(name):
        try:
            return lookup.dream(name)
        except lookup.Unknown:
            made = Proposal.objects.filter(public_id=name).select_related("project").first()
            if made is not None:
                return made.project
    return lookup.project(name)


def add_show_secrets(parser: CommandParser) -> None:
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="show secrets, which are masked otherwise; the audit log records it",
    )


def any_project(name: str | None) -> Project | None:
    """None if none was named. An empty name, as from an unset variable of a script, is refused as unknown."""
    return None if name is None else lookup.project(name)


def me() -> Actor:
    """The person at the terminal; approvals given by command are marked as such."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "command"
    return Actor(name, by_command=True)
