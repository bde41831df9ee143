"""The decisions of this visit, newest last, so that each can be undone. Kept in the session, at most `MOST`.

Undoing one is a decision too and is logged as one; the log of decisions is never changed.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from dreams.lib.files.text import plural
from dreams.models import Hunk, Proposal
from dreams.services import blobs, review
from dreams.services.review import Actor, ReviewRefused
from dreams.web.htmx import Request

if TYPE_CHECKING:
    from dreams.web.pages.review_proposal import LoadedDecision

MOST = 30  # steps that can be undone, kept in the session; chosen
# The session is read with every request, so it must stay small: thousands of verdicts do not fit.
MOST_HUNKS = 2_000
VERBS = {
    Hunk.Verdict.APPROVED: "Approved",
    Hunk.Verdict.REJECTED: "Rejected",
    Hunk.Verdict.PENDING: "Undid",
    Hunk.Verdict.EDITED: "Edited and approved",
}


class Before(TypedDict):
    """A hunk's previous verdict; `base` is the digest of its file's text then."""

    pk: int
    verdict: str
    edited: str
    reason: str
    base: str


class UndoStep(TypedDict):
    said: str
    before: list[Before]


def remember(decided: "Iterable[LoadedDecision]") -> list[Before]:
    """The current verdicts on every change of these decisions."""
    return [
        Before(
            pk=hunk.pk,
            verdict=hunk.verdict,
            edited=hunk.edited_sha,
            reason=hunk.decide_reason,
            base=hunk.file.base_sha,
        )
        for one in decided
        for hunk in one.hunks
    ]


def sentence(
    verdict: Hunk.Verdict,
    decided: "Sequence[LoadedDecision]",
    before: Sequence[Before] = (),
    reason: str = "",
) -> str:
    """ "Approved 1 decision in a.md." Uses the file that each decision is shown with. A reason that is given later is a
    step of its own, whose undo leaves the verdict."""
    only_reason = reason and all(one["verdict"] == verdict for one in before)
    paths = list(dict.fromkeys(one.main.file.path for one in decided))
    where = f"in {paths[0]}" if len(paths) == 1 else f"in {plural(len(paths), 'file')}"
    verb = "Gave a reason for" if only_reason else VERBS[verdict]
    return f"{verb} {plural(len(decided), 'decision')} {where}."


def push(request: Request, proposal: Proposal, before: list[Before], said: str) -> None:
    steps = _steps(request, proposal)
    if before:
        steps.append(UndoStep(said=said, before=before))
    request.session[_key(proposal)] = _bounded(steps)
    request.session.pop(_undone_key(proposal), None)


def _bounded(steps: list[UndoStep]) -> list[UndoStep]:
    kept, room = 0, MOST_HUNKS
    for step in reversed(steps[-MOST:]):
        room -= len(step["before"])
        if room < 0 and kept:
            break
        kept += 1
    return steps[len(steps) - kept :]


def last(request: Request, proposal: Proposal) -> str:
    """The last verdict as a sentence; empty if there is none to undo."""
    steps = _steps(request, proposal)
    return steps[-1]["said"] if steps else ""


def undone(request: Request, proposal: Proposal) -> str:
    """The last undo as a sentence; empty if something was decided since."""
    return str(request.session.get(_undone_key(proposal), ""))


def pop(request: Request, proposal: Proposal, reviewer: Actor) -> list[Hunk]:
    """Restores what the last step changed. Raises ReviewRefused if the file changed since, or somebody else decided."""
    steps = _steps(request, proposal)
    if not steps:
        raise ReviewRefused("There is no decision to undo.")
    step = steps.pop()
    request.session[_key(proposal)] = steps
    rows = Hunk.objects.filter(file__proposal=proposal, pk__in=[b["pk"] for b in step["before"]])
    hunks = {hunk.pk: hunk for hunk in rows.select_related("file", "operation")}
    for before in step["before"]:
        hunk = hunks.get(before["pk"])
        by_another = hunk is not None and hunk.decided_by not in ("", reviewer.name)
        if hunk is None or by_another or hunk.file.base_sha != before["base"]:
            raise ReviewRefused(
                "This changed since your last decision, which cannot be undone. Decide again."
            )
    for verdict in (Hunk.Verdict.PENDING, Hunk.Verdict.REJECTED, Hunk.Verdict.APPROVED, Hunk.Verdict.EDITED):
        _put_back(proposal, hunks, [b for b in step["before"] if b["verdict"] == verdict], reviewer)
    request.session[_undone_key(proposal)] = f"Undone: {step['said'][:1].lower()}{step['said'][1:]}"
    return [hunks[before["pk"]] for before in step["before"]]


def _put_back(proposal: Proposal, hunks: dict[int, Hunk], before: Sequence[Before], reviewer: Actor) -> None:
    """`hunks` of the whole step, as they were last seen; refused if somebody else decides on them at the same moment."""
    if not before:
        return
    verdict, reason = Hunk.Verdict(before[0]["verdict"]), before[0]["reason"]
    for some in [[one] for one in before] if verdict == Hunk.Verdict.EDITED else [before]:
        chosen = {one["pk"]: hunks[one["pk"]] for one in some}
        operations = {hunk.operation_id for hunk in chosen.values() if hunk.operation_id}
        seen = [hunk for pk, hunk in hunks.items() if pk in chosen or hunk.operation_id in operations]
        if verdict == Hunk.Verdict.EDITED:
            typed = blobs.get_text(some[0]["edited"])
            [hunk] = chosen.values()
            decided = review.edit(proposal, hunk, typed, reviewer, reason=some[0]["reason"], seen=seen)
        else:
            decided = review.decide(proposal, [*chosen.values()], verdict, reviewer, reason=reason, seen=seen)
        hunks.update((hunk.pk, hunk) for hunk in decided if hunk.pk in hunks)


def _steps(request: Request, proposal: Proposal) -> list[UndoStep]:
    return cast(list[UndoStep], list(request.session.get(_key(proposal), [])))


def _key(proposal: Proposal) -> str:
    return f"verdicts:{proposal.public_id}"


def _undone_key(proposal: Proposal) -> str:
    return f"undone:{proposal.public_id}"
