"""`restore PROJECT PATH --version V`: restore a version as a new change."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand as DjangoCommand

from dreams.management import base, named, queued, shown
from dreams.models import Project, Version
from dreams.services import blobs, host_requests
from dreams.services.apply import writing
from dreams.services.apply.applying import ApplyReport
from dreams.services.memories import hand_edits

LEAST_PREFIX = 6  # characters of a sha256, as in git; chosen


class Command(base.Command):
    help = "Restore one version of a memory, as a new change."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        # Django's --version would print the version of Django.
        kwargs.setdefault("conflict_handler", "resolve")
        return DjangoCommand.create_parser(self, prog_name, subcommand, **kwargs)

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument("path", metavar="PATH")
        parser.add_argument(
            "--version", required=True, metavar="V", help="sha256 of the version, or its first characters"
        )
        parser.add_argument("--reason", default="", metavar="TEXT")
        queued.add_wait(parser)

    def run(self, options: base.Options) -> base.Result:
        project = named.project(options["project"], anywhere=True)
        sha = _full(project, options["path"], options["version"])
        if host_requests.is_elsewhere(project):
            new_request = partial(host_requests.to_restore, project, options["path"], sha, options["reason"])
            return queued.ask(new_request, options["wait"])
        writing.recover()
        try:
            done = hand_edits.restore(project, options["path"], sha, named.me(), reason=options["reason"])
        except blobs.MissingBlob as error:
            raise base.Refused(str(error)) from error
        result = shown.report(done)
        if not done.complete:
            raise base.Refused(done.refusal if done.error else _why_not(done), result)
        return result

    def words(self, result: base.Result) -> base.Words:
        return queued.words(result) if result.get("queued") else shown.report_words(result)


def _why_not(done: ApplyReport) -> str:
    [waiting, *_] = done.conflicts + done.rebased
    return f"Nothing was restored: {waiting.why.removeprefix('conflict: ')}. It waits as {done.proposal}."


def _full(project: Project, path: str, start: str) -> str:
    """The sha256 of the version of `path` that begins with `start`. Raises BadUsage, Refused."""
    if len(start) < LEAST_PREFIX:
        raise base.BadUsage(f"--version {start!r} is too short; give at least {LEAST_PREFIX} characters.")
    rows = Version.objects.filter(memory__project=project, memory__path=path, sha256__startswith=start)
    found = sorted(set(rows.values_list("sha256", flat=True)))
    if not found:
        raise base.Refused(f"{path} has no version {start}. `history {project.slug} {path}` lists them.")
    if len(found) > 1:
        raise base.BadUsage(f"{start} is more than one version: {', '.join(sha[:16] for sha in found)}.")
    return found[0]
