"""The work of a dream that ended early: its changes with reasons and evidence are kept as they happen. Bounded in steps, bytes,
days and dreams; the kept steps are always the first ones, without gaps.

It only becomes a proposal if a person asks for it, with hunks, findings and review like any other. The clock does not move and
no session is used up, as the dream did not finish reading.
"""

import datetime as dt
from collections.abc import Mapping, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Max

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib.diff import merge
from dreams.lib.files import text, workspace
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import DreamRun, Proposal, Session, WorkStep, WorkText
from dreams.services import auditlog, proposals, review
from dreams.services.memories import syncing
from dreams.services.proposals import rebase, saving

MOST_STEPS = 1_000  # of one dream; chosen
MOST_BYTES = 16 * 1024 * 1024  # of the texts of all steps; chosen
KEEP = dt.timedelta(days=14)  # that unfinished work is kept; chosen
MOST_DREAMS = 20  # newest dreams whose unfinished work is kept


def save(dream: DreamRun, edits: Sequence[Edit], earlier: int = 0) -> None:
    """Save the steps of one turn, after `earlier` ones of the dream; call it in the turn's transaction."""
    if not edits:
        return
    last = dream.steps.aggregate(last=Max("number"))["last"] or 0
    if last != earlier:  # one did not fit, or a purge took them
        return
    sizes = dict(dream.step_texts.values_list("sha256", "size"))
    for number, edit in enumerate(edits, last + 1):
        found = {text.sha256(data): data for data in edit.as_bytes}
        fresh = {sha: data for sha, data in found.items() if sha not in sizes}
        sizes |= {sha: len(data) for sha, data in fresh.items()}
        if number > MOST_STEPS or sum(sizes.values()) > MOST_BYTES:
            break
        WorkText.objects.bulk_create(
            WorkText(dream=dream, sha256=sha, data=data, size=len(data)) for sha, data in fresh.items()
        )
        _row(dream, number, edit).save(force_insert=True)


def _row(dream: DreamRun, number: int, edit: Edit) -> WorkStep:
    return WorkStep(
        dream=dream,
        number=number,
        path=edit.path,
        before_sha=text.sha_of(edit.before),
        after_sha=text.sha_of(edit.after),
        operation=text.storable(edit.operation, 200),
        kind=edit.kind,
        reason=text.storable(edit.reason, 2000),
        citations=[saving.stored_citation(found) for found in edit.citations],
        fates=[saving.stored_fate(fate) for fate in edit.fates],
    )


# --- Read back ----------------------------------------------------------------------------------------------------


def files(dream: DreamRun) -> list[str]:
    """The files that the kept steps changed, by name; one query."""
    ends: dict[str, tuple[str, str]] = {}
    for path, before, after in dream.steps.values_list("path", "before_sha", "after_sha"):
        ends[path] = (ends[path][0] if path in ends else before, after)
    return sorted(path for path, (before, after) in ends.items() if before != after)


def edits_of(dream: DreamRun) -> list[Edit]:
    """The kept steps as the engine made them, in order."""
    texts = {row.sha256: text.decode(bytes(row.data)) for row in dream.step_texts.all()}
    rows = list(dream.steps.all())
    named = {c.get("session_pk") for row in rows for c in row.citations}
    sessions = set(Session.objects.filter(pk__in=named - {None}).values_list("pk", flat=True))
    return [
        Edit(
            path=row.path,
            before=texts[row.before_sha] if row.before_sha else None,
            after=texts[row.after_sha] if row.after_sha else None,
            operation=row.operation,
            kind=saving.operation_kind(row.kind),
            reason=row.reason,
            citations=tuple(saving.citation(found, sessions) for found in row.citations),
            fates=tuple(saving.fate(found) for found in row.fates),
        )
        for row in rows
    ]


# --- Sweeping -----------------------------------------------------------------------------------------------------


def forget(dream: DreamRun) -> None:
    """Delete the steps of a dream that ended well, or whose work was proposed."""
    dream.steps.all().delete()
    dream.step_texts.all().delete()


def sweep(now: dt.datetime) -> int:
    """Delete the steps of old dreams, and of those beyond the newest; returns how many."""
    early = DreamRun.objects.filter(status__in=DreamRun.TERMINAL, steps__isnull=False).distinct()
    kept = early.filter(ended_at__gt=now - KEEP).order_by("-ended_at").values_list("pk", flat=True)
    old = list(early.exclude(pk__in=list(kept[:MOST_DREAMS])))
    for dream in old:
        forget(dream)
    return len(old)


NAMED = 5  # files in one sentence; chosen


class UnfinishedRefused(Refusal):
    """The work cannot be proposed; the message is one line for a person, with the remedy."""


def propose(dream: DreamRun, actor: str) -> Proposal:
    """An open proposal of what `dream` had changed before it stopped. Raises UnfinishedRefused without changing anything,
    and ReviewRefused while the folder is away.

    If memories changed since, the changes are merged; conflicts are refused.
    """
    review.refuse_if_away(dream.project)
    syncing.refresh(dream.project)
    try:
        with transaction.atomic():
            # A second press of the button waits here, and then learns that it was done.
            dream = DreamRun.objects.select_for_update().select_related("project").get(pk=dream.pk)
            _refuse(dream)
            made = _proposed(dream, actor)
            forget(dream)
    except IntegrityError as error:
        raise UnfinishedRefused("Another proposal is open. Decide on it, then try again.") from error
    return made


def _refuse(dream: DreamRun) -> None:
    before = dream.proposals.filter(partial=True).first()
    if before is not None:
        raise UnfinishedRefused(f"It has already been proposed, as {before.public_id}.")
    if not dream.is_over:
        raise UnfinishedRefused(f"{dream.public_id} is still running. Wait for it, or cancel it.")
    if dream.status == DreamRun.Status.COMPLETED:
        raise UnfinishedRefused(f"{dream.public_id} was completed: its page shows what it proposed.")
    if not files(dream):
        raise UnfinishedRefused(
            f"{dream.public_id} had changed nothing, or its work is no longer stored ({KEEP.days} days)."
        )
    running = dream.project.dreams.filter(status__in=DreamRun.UNFINISHED).first()
    if running is not None:
        raise UnfinishedRefused(
            f"{running.public_id} is already running for this project. Wait for it, or cancel it."
        )
    waiting = proposals.open_dream_proposal(dream.project)
    if waiting is not None:
        raise UnfinishedRefused(f"Finish {waiting.public_id} first: it is not written yet.")


def _proposed(dream: DreamRun, actor: str) -> Proposal:
    edits = edits_of(dream)
    now = workspace.take(syncing.memory_dir(dream.project)).contents()
    after, moved = _brought_onto(now, edits)
    draft = drafts.draft(now, after, edits, proposals.rejected_hunks(dream.project))
    if draft.is_empty:
        raise UnfinishedRefused(
            "Nothing is left to propose: it is already in your notes, or it was rejected before."
        )
    origin = proposals.ProposalOrigin(
        Proposal.Origin.DREAM, actor=actor, summary=_summary(edits, moved), dream=dream, partial=True
    )
    made = proposals.create(dream.project, origin, draft, now)
    auditlog.record("dream.partial", actor=actor, about=dream)
    return made


def _brought_onto(now: Mapping[str, bytes], edits: Sequence[Edit]) -> tuple[dict[str, bytes], list[str]]:
    """The directory with the dream's changes, and the files that changed meanwhile."""
    after, moved, torn = dict(now), [], []
    for path, (base, wanted) in _ends(edits).items():
        here = now.get(path)
        merged = rebase.merged_bytes(rebase.Sides(base, here, wanted, keeps_both=True), path)
        if isinstance(merged, merge.Merge):
            torn.append(path)
            continue
        moved += [path] if here != base else []
        if merged is None:
            after.pop(path, None)
        else:
            after[path] = merged
    if torn:
        raise UnfinishedRefused(
            f"{_named(torn)} has since changed in the same place, so this work no longer fits. Dream again instead."
        )
    return after, moved


def _ends(edits: Sequence[Edit]) -> dict[str, tuple[bytes | None, bytes | None]]:
    """For each file, its text before the first step and after the last."""
    ends: dict[str, tuple[bytes | None, bytes | None]] = {}
    for edit in edits:
        before, after = (None if side is None else text.encode(side) for side in (edit.before, edit.after))
        ends[edit.path] = (ends[edit.path][0] if edit.path in ends else before, after)
    return ends


def _summary(edits: Sequence[Edit], moved: Sequence[str]) -> str:
    said = f"Unfinished: the dream stopped after {plural(len(edits), 'step')}. What it had not done yet is missing."
    return f"{said} Merged with later changes to: {_named(moved)}." if moved else said


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
