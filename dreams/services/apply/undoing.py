"""What the write of an undo takes back, as rows: changes, sessions, questions and earned policies."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from django.db.models import QuerySet
from django.utils import timezone

from dreams.models import AppliedBatch, Evidence, FileChange, Hunk, LeftOut, Proposal, Session
from dreams.services import daily_logs, policies, review
from dreams.services.proposals import undos
from dreams.services.questions import question_states


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The hunks that an undo undoes, whether they must not be proposed again, the person's reason, and whether nobody is to
    review it first."""

    hunks: tuple[int, ...] = ()
    never_again: bool = False
    reason: str = ""
    at_once: bool = False

    @classmethod
    def of(cls, undo: Proposal) -> "TakenBack":
        """What a person asked for; empty in rows from before this was kept. A host with an older version may add more."""
        kept = {name: undo.undo_asked[name] for name in cls.__slots__ if name in undo.undo_asked}
        return cls(**kept | {"hunks": tuple(kept.get("hunks", ()))})


def undone_by(undo: Proposal) -> list[Hunk]:
    """The changes that a written undo undid, also if they were redone since. Of a redo those that it brought back, not
    the one change per file of the undo between."""
    if undo.undoes is None or undo.state != Proposal.State.APPLIED:
        return []
    left = Hunk.objects.filter(file__proposal=undo, applied_in__isnull=True).values("file__path")
    asked = TakenBack.of(undo).hunks
    rows = Hunk.objects.filter(pk__in=asked) if asked else Hunk.objects.filter(undone_in__proposal=undo)
    rows = rows.exclude(file__path__in=left).select_related("file", "operation")
    found = list(rows.order_by("file__path", "number"))
    if undo.undoes.undoes_id is None:
        return found
    paths = {hunk.file.path for hunk in found}
    return [hunk for hunk in undone_by(undo.undoes) if hunk.file.path in paths]


def taken_back(undo: Proposal, ready: Iterable[FileChange]) -> TakenBack:
    """What writing the files `ready` of a reviewed undo undoes.

    The changes of a file count as undone if the person approved all of its undo, with whatever solution of conflicts, or
    nothing had to change. Others stay applied, and can be undone later.
    """
    asked = TakenBack.of(undo)
    whole = {file.path for file in ready if all(hunk.is_taken for hunk in file.hunks.all())}
    others = set(undo.files.values_list("path", flat=True)) - whole
    wanted = Hunk.objects.filter(pk__in=asked.hunks, undone_in__isnull=True)
    left = wanted.exclude(file__path__in=others).values_list("pk", flat=True)
    return replace(asked, hunks=tuple(left))


def keep_undone(undo: Proposal, batch: AppliedBatch, back: TakenBack) -> None:
    """Record that `batch` wrote `undo`, which undid the hunks of `back`."""
    hunks = list(Hunk.objects.filter(pk__in=back.hunks).select_related("file", "operation"))
    first = undo.undoes
    if first is None or not hunks:
        return
    Hunk.objects.filter(pk__in=back.hunks).update(undone_in=batch)
    _supersede_others(undo, first)
    question_states.undone(hunks)
    if back.never_again:
        review.leave_out(first, hunks, back.reason)
    left = Hunk.objects.filter(file__proposal=first, applied_in__isnull=False, undone_in__isnull=True)
    if not left.exists():
        first.applications.update(undone_at=timezone.now())
    _give_back_sessions(first)
    if first.undoes is not None:
        _redone(first, first.undoes, left)


def _supersede_others(undo: Proposal, first: Proposal) -> None:
    """Other undos that wait to undo what `undo` has undone, all of it, can no longer be applied."""
    waiting = first.undone_by.filter(state__in=Proposal.UNFINISHED)
    for other in waiting.exclude(pk=undo.pk):
        asked = TakenBack.of(other).hunks
        if asked and not Hunk.objects.filter(pk__in=asked, undone_in__isnull=True).exists():
            waiting.filter(pk=other.pk).update(state=Proposal.State.SUPERSEDED, closed_at=timezone.now())


def _redone(undo: Proposal, first: Proposal, left: QuerySet[Hunk]) -> None:
    """After the undo of an undo, in the files where nothing of it is `left`: what it had undone there is applied again, and
    can be undone again. Not where another undo holds: `first` would undo there what is undone already."""
    undone = Hunk.objects.filter(file__proposal=first, undone_in__proposal=undo)
    hunks = undone
    if left.exists():
        hunks = undone.filter(file__path__in=undo.files.exclude(hunks__in=left).values("path"))
    held = Hunk.objects.filter(pk__in=TakenBack.of(first).hunks, undone_in__isnull=False)
    hunks = hunks.exclude(file__path__in=held.values("file__path"))
    left_out = LeftOut.objects.filter(proposal=first, hunk_id__in=hunks.values("hunk_id"))
    redone = Hunk.objects.filter(pk__in=TakenBack.of(undo).hunks, file__path__in=_paths_undone(undo))
    _remember(undo, [hunk.pk for hunk in undone | redone], never_again=left_out.exists())
    left_out.delete()
    first.applications.filter(hunks__in=hunks).update(undone_at=None)
    hunks.update(undone_in=None)
    if not left.exists():
        review.use_up_sessions(first)
    _holds_again(first)


def _paths_undone(undo: Proposal) -> QuerySet[FileChange, str]:
    """The files that an undo restored completely and in which it was undone since."""
    whole = undo.files.exclude(hunks__applied_in__isnull=True)
    return whole.filter(hunks__undone_in__isnull=False).values_list("path", flat=True)


def _remember(undo: Proposal, pks: list[int], *, never_again: bool) -> None:
    """Remember what it undid, for the undo of its undo."""
    undo.undo_asked = asdict(replace(TakenBack.of(undo), hunks=tuple(pks), never_again=never_again))
    undo.save(update_fields=["undo_asked"])


def _holds_again(undo: Proposal) -> None:
    """After the undo of an undo was undone: the first undo is in effect again."""
    batch = undo.applications.order_by("pk").last()
    if batch is not None:
        asked = TakenBack.of(undo)
        hunks = Hunk.objects.filter(pk__in=asked.hunks, undone_in__isnull=True)
        hunks = hunks.exclude(file__path__in=_paths_undone(undo))
        keep_undone(undo, batch, replace(asked, hunks=tuple(hunk.pk for hunk in hunks)))


def _give_back_sessions(proposal: Proposal) -> None:
    """Sessions whose lessons were undone may be read again. Unfinished work did not use any."""
    if proposal.dream is None or proposal.partial:
        return
    for reviewed in proposal.dream.reviewed.all():
        Session.objects.filter(pk=reviewed.session_id).update(
            used_bytes=reviewed.from_byte, given_back_at=timezone.now()
        )
    daily_logs.give_back(proposal.dream)


def policies_ended(made: AppliedBatch) -> list[str]:
    """End the earned policies whose changes a person undid or replaced with this batch; a sentence for each."""
    proposal = made.proposal
    if proposal.origin in Proposal.DRAFTED:
        return []
    undone = Hunk.objects.filter(undone_in=made)
    ended = policies.undone(proposal.undoes, undone, actor=made.actor) if proposal.undoes else []
    return ended + policies.corrected(made)


def in_neither(made: AppliedBatch) -> list[str]:
    """After the undo of the arrival of memories that had moved: where each can be restored that left its project since."""
    first = made.proposal.undoes
    if first is None or undos.redone(first).origin != Proposal.Origin.COPIED:
        return []
    paths = first.files.filter(hunks__undone_in=made, kind=FileChange.Kind.ADD).values_list("path", flat=True)
    places = {f"{first.project.memory_dir}/{path}": path for path in paths}
    left = Evidence.objects.filter(
        place__in=places,
        hunk__file__proposal__origin=Proposal.Origin.FORGET,
        hunk__applied_in__isnull=False,
        hunk__undone_in__isnull=True,
        hunk__file__kind=FileChange.Kind.DELETE,
    ).select_related("hunk__file__proposal__project")
    return [
        f"{places[row.place]} is in neither project now: `rollback {away.public_id}` restores it in {away.project}."
        for row in left
        for away in [row.hunk.file.proposal]
        if not away.project.memories.filter(path=row.hunk.file.path, gone_at__isnull=True).exists()
    ]
