"""What an undo means for what it undid: its hunks, its batches, the sessions that it had used up.

Told in one transaction with the undo's own rows, so that a crash leaves neither without the other.
"""

from __future__ import annotations

from collections.abc import Collection

from django.utils import timezone

from dreams.models import AppliedBatch, Hunk, LeftOut, Proposal, Session
from dreams.services import daily_logs, review
from dreams.services.questions import states


def remember(
    undo: Proposal, batch: AppliedBatch, pks: Collection[int], *, never_again: bool, reason: str
) -> None:
    """`batch` wrote `undo`, which took these hunks back. `never_again`: they are not proposed again as they were."""
    hunks = list(Hunk.objects.filter(pk__in=pks).select_related("file", "operation"))
    first = undo.undoes
    if first is None or not hunks:
        return
    Hunk.objects.filter(pk__in=pks).update(undone_in=batch)
    states.undone(hunks)
    if never_again:
        review.leave_out(first, hunks, reason)
    left = Hunk.objects.filter(file__proposal=first, applied_in__isnull=False, undone_in__isnull=True)
    if not left.exists():
        first.applications.update(undone_at=timezone.now())
    _give_back_sessions(first)
    if not left.exists() and first.undoes is not None:
        _redone(first, first.undoes)


def _redone(undo: Proposal, first: Proposal) -> None:
    """An undo was undone as a whole: what it had undone is written again, and can be undone again."""
    hunks = Hunk.objects.filter(file__proposal=first, undone_in__proposal=undo)
    LeftOut.objects.filter(proposal=first, hunk_id__in=hunks.values("hunk_id")).delete()
    first.applications.filter(hunks__in=hunks).update(undone_at=None)
    hunks.update(undone_in=None)
    review.use_up_sessions(first)


def _give_back_sessions(proposal: Proposal) -> None:
    """What was learnt from them is no longer there: the next dream may read them again. Unfinished work used none up."""
    if proposal.dream is None or proposal.partial:
        return
    for reviewed in proposal.dream.reviewed.all():
        Session.objects.filter(pk=reviewed.session_id).update(
            used_bytes=reviewed.from_byte, given_back_at=timezone.now()
        )
    daily_logs.give_back(proposal.dream)
