"""`restore PROJECT PATH --version V`: restore a version as a new change. `--to DAY`: propose the state of a day."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand as DjangoCommand

from dreams.management import base, named, queued, shown
from dreams.models import Project, Version
from dreams.services import host_requests, lookup
from dreams.services.apply import writing
from dreams.services.apply.applying import ApplyReport
from dreams.services.memories import hand_edits, syncing, time_travel

LEAST_PREFIX = 6  # characters of a sha256, as in git; chosen
BEFORE_FIRST_LOOK = "This is before memoryweb’s first check: earlier changes and removals are not known."


class Command(base.Command):
    help = "Restore one version of a memory, as a new change, or propose all memories as they were on a day."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        # Django's --version would print the version of Django.
        kwargs.setdefault("conflict_handler", "resolve")
        return DjangoCommand.create_parser(self, prog_name, subcommand, **kwargs)

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument(
            "path", nargs="?", metavar="PATH", help="a memory; with --to, all unless it is given"
        )
        wanted = parser.add_mutually_exclusive_group(required=True)
        wanted.add_argument("--version", metavar="V", help="sha256 of the version, or its first characters")
        wanted.add_argument(
            "--to",
            metavar="DAY",
            help="propose what was there at the end of this day, or at a time: 2026-03-01T18:30",
        )
        parser.add_argument("--reason", default="", metavar="TEXT", help="why, kept with the change")
        parser.add_argument(
            "--preview", action="store_true", help="with --to: show what would change, and change nothing"
        )
        queued.add_wait(parser)

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"], anywhere=True)
        return _to(project, options) if options["to"] is not None else _version(project, options)

    def words(self, result: base.Result) -> base.Words:
        if result.get("queued"):
            return queued.words(result)
        if "files" not in result:
            return shown.report_words(result)
        if not result["files"]:
            return ["Nothing differs from the current files."]
        if not result["proposal"]:
            return [*result["said"], *shown.preview_words(result["files"])]
        return [
            *result["said"],
            f"Proposal {result['proposal']}: {result['summary']} Nothing is written yet.",
        ]


def _version(project: Project, options: base.Options) -> base.Result:
    path, reason = options["path"], options["reason"]
    if path is None or options["preview"]:
        raise base.BadUsage("--version restores one PATH, without --preview. `rollback` undoes it.")
    sha = _full(project, path, options["version"])
    if host_requests.is_elsewhere(project):
        return queued.ask(partial(host_requests.to_restore, project, path, sha, reason), options["wait"])
    writing.recover()
    done = hand_edits.restore(project, path, sha, named.me(), reason=reason)
    result = shown.report(done)
    if not done.complete:
        raise base.Refused(done.refusal if done.error else _why_not(done), result)
    return result


def _to(project: Project, options: base.Options) -> base.Result:
    """What would change to the state of then, and the proposal that it became unless it is a preview."""
    when = time_travel.moment_of(options["to"])
    if when is None:
        raise base.BadUsage(
            f"--to {options['to']!r} is no day or time, such as 2026-03-01 or 2026-03-01T18:30."
        )
    paths, reason = [path for path in [options["path"]] if path is not None], options["reason"]
    is_elsewhere, made = host_requests.is_elsewhere(project), None
    if is_elsewhere and not options["preview"]:
        new_request = partial(host_requests.to_propose_moment, project, when, paths, reason)
        return queued.ask(new_request, options["wait"])
    if not is_elsewhere:
        syncing.refresh(project)
    now, change = time_travel.states_now(project), hand_edits.at_moment(project, when, paths, reason=reason)
    seen = time_travel.bytes_of(project, [now[path] for path in change.after if path in now])
    if not options["preview"]:
        made = hand_edits.propose(project, change, named.me())
    return {
        "proposal": made and made.public_id,
        "summary": made.summary if made else change.reason,
        "when": when,
        "said": [BEFORE_FIRST_LOOK] if when < time_travel.first_check(project) else [],
        "files": [
            shown.preview(path, seen.get(now.get(path, "")), then, "removed" if then is None else "restored")
            for path, then in change.after.items()
        ],
    }


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
