"""`secrets PROJECT`: where secrets stand; propose to take them out; purge what was kept of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser

from dreams.management import named
from dreams.management.base import Command as BaseCommand
from dreams.management.base import Refused
from dreams.models import Project
from dreams.services import secret_purge
from dreams.services.memories import hand_edits


class Command(BaseCommand):
    help = "List secrets in a project's memories and in their stored versions."

    def arguments(self, parser: CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument(
            "--redact", action="store_true", help="propose changes that remove them from the memories"
        )
        parser.add_argument(
            "--purge",
            metavar="ID",
            action="append",
            default=[],
            help="remove this secret from everything that is stored",
        )
        parser.add_argument("--reason", default="", help="why, for the audit log")

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        project = named.project(options["project"])
        result: dict[str, Any] = {"project": project.slug, "proposal": "", "purged": 0}
        if options["purge"]:
            result["purged"] = _purge(project, options["purge"], options["reason"])
        if options["redact"]:
            result["proposal"] = _redact(project)
        found = secret_purge.look(project)
        result["secrets"] = [_as_json(leak) for leak in found.found]
        return result

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        if result["purged"]:
            yield f"Taken out of {result['purged']} stored texts."
        if result["proposal"]:
            yield f"Proposed: {result['proposal']}. Look at it with: proposal {result['proposal']} --diff"
        if not result["secrets"]:
            yield "No secrets found."
        for secret in result["secrets"]:
            where = ", ".join(f"{place['path']}:{place['line']}" for place in secret["places"])
            yield f"{secret['id']}  {secret['rule']}  {where or 'only kept'}  ({secret['kept_texts']} stored texts)"


def _purge(project: Project, wanted: list[str], reason: str) -> int:
    try:
        done = secret_purge.purge(project, wanted, named.me(), reason=reason)
    except secret_purge.PurgeRefused as refused:
        raise Refused(str(refused)) from refused
    if done.waits:
        raise Refused(f"The git history is not rewritten yet: {'; '.join(done.waits)} `recover` tries again.")
    return done.texts


def _redact(project: Project) -> str:
    try:
        made = secret_purge.propose(project, named.me())
    except hand_edits.Stale as stale:
        raise Refused(str(stale)) from stale
    return made.public_id if made else ""


def _as_json(leak: secret_purge.Leak) -> dict[str, Any]:
    return {
        "id": leak.id,
        "rule": leak.rule,
        "places": [{"path": place.path, "line": place.line_no} for place in leak.places],
        "paths": sorted(leak.paths),
        "kept_texts": leak.texts,
    }
