"""`rollback DREAM`: undo all of it, some files or some hunks."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias, TypeVar

from dreams.management import base, named, queued, shown
from dreams.models import Hunk, Proposal
from dreams.services import host_requests, lookup, review, rollback
from dreams.services.apply import applying, writing

Done = TypeVar("Done")
Part: TypeAlias = "tuple[Proposal, rollback.Selection]"
SHOWN = 3  # files with conflicts; --json has all


class Command(base.Command):
    help = "Undo an applied dream, some files, or single changes; on a conflict nothing is written."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_dream(parser)
        named.add_part(parser)
        parser.add_argument("--reason", default="", metavar="TEXT", help="why, kept with the undo")
        parser.add_argument(
            "--never-again",
            action="store_true",
            help="do not propose this again, unless new sessions support it",
        )
        parser.add_argument(
            "--preview", action="store_true", help="show what would change, and change nothing"
        )
        named.add_show_secrets(parser)
        queued.add_wait(parser)

    def run(self, options: base.Options) -> base.Result:
        selection = rollback.Selection(tuple(options["path"]), tuple(options["hunk"]))
        chosen = self._applied(options["dream"])
        if not chosen:
            raise base.Refused(f"{options['dream']} proposed nothing, so there is nothing to undo.")
        parts = _parts(chosen, selection)
        if options["preview"]:
            look = partial(_preview, is_bare=options["show_secrets"])
            return {"files": list(chain.from_iterable(_each(parts, look)))}
        if host_requests.is_elsewhere(chosen[0].project):
            return self._asked(chosen, selection, options)
        writing.recover()
        undo = partial(rollback.rollback, reason=options["reason"], never_again=options["never_again"])
        me = named.me()
        try:
            reports = _each(parts, lambda one, part: undo(one, me, part))
        except rollback.AlreadyUndone as nothing:
            reports = [applying.ApplyReport(said=(str(nothing),), proposal=chosen[0].public_id, already=True)]
        result = shown.report(applying.joined(reports[0].proposal, reports))
        if failed := [report for report in reports if report.error]:
            raise base.Refused(failed[0].refusal, result)
        if any(not report.complete for report in reports):
            waiting = [f"{each.path}: {each.why}." for report in reports for each in report.conflicts]
            more = f" And {len(waiting) - SHOWN} more." if len(waiting) > SHOWN else ""
            so_far = "Not all was undone" if result["applied"] else "Nothing was written"
            raise base.Refused(f"{so_far}. {' '.join(waiting[:SHOWN])}{more}", result)
        return result

    def _asked(
        self, chosen: list[Proposal], selection: rollback.Selection, options: base.Options
    ) -> base.Result:
        if len(chosen) > 1:
            names = ", ".join(one.public_id for one in chosen)
            raise base.Refused(f"Its parts were applied separately. Undo them one by one: {names}")
        wanted = {"reason": options["reason"], "never_again": options["never_again"]}
        new_request = partial(host_requests.to_undo, chosen[0], selection, **wanted)
        return queued.ask(new_request, options["wait"])

    def _applied(self, name: str) -> list[Proposal]:
        """A dream's applied proposals, newest first; others have nothing to undo."""
        found = lookup.all_proposals(name)
        return [proposal for proposal in found if proposal.applications.exists()] or found[:1]

    def words(self, result: base.Result) -> base.Words:
        if result.get("queued"):
            return queued.words(result)
        if "files" not in result:
            return shown.report_words(result)
        return shown.preview_words(result["files"])


def _parts(chosen: Sequence[Proposal], selection: rollback.Selection) -> list[Part]:
    """The parts, each with what of the selection it has; one with all of it if some is in none, which is then refused."""
    if selection.is_all:
        return [(one, selection) for one in chosen]
    rows = list(
        Hunk.objects.filter(file__proposal__in=chosen).values_list("file__proposal", "file__path", "hunk_id")
    )
    parts = []
    for one in chosen:
        has = {name for pk, *names in rows if pk == one.pk for name in names}
        paths, hunks = (
            tuple(name for name in names if name in has) for names in (selection.paths, selection.hunk_ids)
        )
        if bool(paths) == bool(selection.paths) and bool(hunks) == bool(selection.hunk_ids):
            parts.append((one, rollback.Selection(paths, hunks)))
    found = {name for _, part in parts for name in (*part.paths, *part.hunk_ids)}
    return parts if found == {*selection.paths, *selection.hunk_ids} else [(chosen[0], selection)]


def _each(parts: Sequence[Part], do: Callable[[Proposal, rollback.Selection], Done]) -> list[Done]:
    """What `do` makes of each part that has something to undo. Raises NothingToUndo if none has."""
    done, nothing = [], []
    for proposal, selection in parts:
        try:
            done.append(do(proposal, selection))
        except rollback.NothingToUndo as why:
            nothing.append(why)
    if not done:
        raise next((why for why in nothing if isinstance(why, rollback.AlreadyUndone)), nothing[0])
    return done


def _preview(proposal: Proposal, selection: rollback.Selection, *, is_bare: bool) -> list[base.Result]:
    if is_bare:
        review.log_secrets_shown(proposal, named.me())
    return [_previewed(file, is_bare=is_bare) for file in rollback.preview(proposal, selection).files]


def _previewed(file: rollback.UndoneFile, *, is_bare: bool) -> base.Result:
    if file.merged is not None:
        return {"path": file.path, "outcome": "conflict", "sha256": None, "diff": []}
    outcome = "removed" if file.result is None else "restored" if file.is_exact else "merged"
    return shown.preview(file.path, file.now, file.result, outcome, is_bare=is_bare)
