"""`secrets PROJECT`: list secrets, propose to remove them, or purge kept texts with them. For another host's project it sends a request."""

from functools import partial
from typing import Any

from dreams.lib.files.text import plural
from dreams.management import base, named, queued
from dreams.models import Project
from dreams.services import host_requests, lookup, secret_purge
from dreams.services.host_requests import Deed, NewRequest


class Command(base.Command):
    help = "List secrets in a project's memories and in their stored versions."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument(
            "--redact", action="store_true", help="propose changes that remove them from the memories"
        )
        parser.add_argument(
            "--purge",
            metavar="ID",
            action="append",
            default=[],
            help="remove this secret from everything stored",
        )
        parser.add_argument("--reason", default="", help="why, for the audit log")
        queued.add_wait(parser)

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"], anywhere=True)
        result: dict[str, Any] = {"project": project.slug, "proposal": "", "purged": 0}
        if host_requests.is_elsewhere(project):
            return {**result, **_ask(project, options), **_found(project)}
        if options["purge"]:
            done = secret_purge.purge(project, options["purge"], named.me(), reason=options["reason"])
            if done.waits:
                why = "; ".join(done.waits).rstrip(".")
                raise base.Refused(f"It is not finished: {why}. `recover` tries again.")
            result["purged"] = done.texts
        if options["redact"]:
            made = secret_purge.propose(project, named.me())
            result["proposal"] = made.public_id if made else ""
        return {**result, **_found(project)}

    def words(self, result: base.Result) -> base.Words:
        if result.get("queued"):
            yield from queued.words(result)
        elif result.get("request"):
            yield from result["said"]
        if result["purged"]:
            yield f"Removed from {plural(result['purged'], 'stored text')}."
        if result["proposal"]:
            yield f"Proposed: {result['proposal']}. Look at it with: proposal {result['proposal']} --diff"
        if not result["secrets"]:
            yield "No secrets found."
        for secret in result["secrets"]:
            where = ", ".join(f"{place['path']}:{place['line']}" for place in secret["places"])
            yield f"{secret['id']}  {secret['rule']}  {where or 'only in stored texts'}  ({plural(secret['kept_texts'], 'stored text')})"


def _ask(project: Project, options: base.Options) -> base.Result:
    """The result of the request to the host that has the files. Raises Refused."""
    if options["purge"] and options["redact"]:
        raise base.BadUsage("Another host does one thing at a time: --redact first, then --purge.")
    if options["redact"]:
        return queued.ask(partial(NewRequest, Deed.REDACT, project), options["wait"])
    if not options["purge"]:
        return {}
    new_request = host_requests.to_purge(project, options["purge"], options["reason"])
    if len(new_request.given["places"]) < len(set(options["purge"])):
        known = secret_purge.find_secrets(project).found
        listed = ", ".join(leak.id for leak in known) or "none"
        raise base.Refused(
            f"Nothing was asked: {project.slug} has no secret of that id here. There are: {listed}."
        )
    return queued.ask(lambda: new_request, options["wait"])


def _found(project: Project) -> base.Result:
    return {"secrets": [_as_json(leak) for leak in secret_purge.find_secrets(project).found]}


def _as_json(leak: secret_purge.Leak) -> base.Result:
    return {
        "id": leak.id,
        "rule": leak.rule,
        "places": [{"path": place.path, "line": place.line_no} for place in leak.places],
        "paths": leak.paths,
        "kept_texts": leak.texts,
    }
