"""Which proposal waits, and what becomes of verdicts when a newer one takes its place."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from dreams.models import (
    Hunk,
    LeftOut,
    Project,
    Proposal,
    Session,
)
from dreams.services import auditlog
from dreams.services.catching import states as caught
from dreams.services.questions import states

_WAITING = (Proposal.State.OPEN, Proposal.State.SUBMITTED)


def open_for(project: Project) -> Proposal | None:
    """The dream's proposal that waits for a person, if there is one."""
    return project.proposals.filter(origin=Proposal.Origin.DREAM, by_policy=False, state__in=_WAITING).first()


def supersede(proposal: Proposal, actor: str) -> dict[tuple[str, str], Hunk]:
    """Close `proposal` in favour of a newer one; returns its decided hunks by (path, hunk id), to carry over.

    Its sessions were not used up: they are given back.
    """
    with transaction.atomic():
        closed = Proposal.objects.filter(pk=proposal.pk, state__in=_WAITING).update(
            state=Proposal.State.SUPERSEDED, closed_at=timezone.now()
        )
        if not closed:
            return {}
        proposal.refresh_from_db(fields=["state"])
        states.settle(proposal)
        caught.settle(proposal)
        if proposal.dream_id and not proposal.partial:
            Session.objects.filter(reviewed_by__dream=proposal.dream_id).update(given_back_at=timezone.now())
        auditlog.record(
            "proposal.superseded", actor=actor, project=proposal.project, object_id=proposal.public_id
        )
    decided = (
        Hunk.objects.filter(file__proposal=proposal)
        .exclude(verdict=Hunk.Verdict.PENDING)
        .select_related("file")
    )
    return {(hunk.file.path, hunk.hunk_id): hunk for hunk in decided}


def carry_over(proposal: Proposal, verdicts: Mapping[tuple[str, str], Hunk]) -> int:
    """Give the hunks of `proposal` the verdicts that the same hunks had before; returns how many."""
    carried = 0
    for hunk in Hunk.objects.filter(file__proposal=proposal).select_related("file"):
        old = verdicts.get((hunk.file.path, hunk.hunk_id))
        if old is None:
            continue
        hunk.verdict, hunk.edited_sha = old.verdict, old.edited_sha
        hunk.decided_by, hunk.decided_at, hunk.decide_reason = (
            old.decided_by,
            old.decided_at,
            old.decide_reason,
        )
        hunk.verdict_base_sha = hunk.file.base_sha
        hunk.save()
        carried += 1
    return carried


def rejected_before(project: Project) -> dict[tuple[str, str], str]:
    """(path, hunk id) → inputs key of every hunk that a person rejected and that stays out."""
    rows = LeftOut.objects.filter(project=project).values_list("path", "hunk_id", "inputs_key")
    return {(path, hunk_id): key for path, hunk_id, key in rows}
