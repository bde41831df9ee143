"""What an unfinished dream had changed, made a proposal because a person asks for it. Never by itself.

It goes through the same door as everything else: hunks, findings, review. The clock stays, and no session is used up:
the dream did not read them to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import IntegrityError, transaction

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib.diff import merge
from dreams.lib.files import text, workspace
from dreams.lib.files.text import plural
from dreams.models import DreamRun, Proposal
from dreams.services import auditlog, proposals
from dreams.services.dreaming import steps
from dreams.services.memories import syncing
from dreams.services.proposals import rebase

NAMED = 5


class PartialRefused(Exception):
    """The work cannot be proposed: one line for a person, with the remedy."""


def propose(dream: DreamRun, actor: str) -> Proposal:
    """An open proposal of what `dream` had changed before it stopped. Raises PartialRefused; nothing is changed then.

    Where the memories changed since, its changes are merged onto what stands there now; where both changed the same
    place it is refused.
    """
    syncing.refresh(dream.project)
    try:
        with transaction.atomic():
            # A second press of the button waits here, and is then told that it was done.
            dream = DreamRun.objects.select_for_update().select_related("project").get(pk=dream.pk)
            _refuse(dream)
            made = _proposed(dream, actor)
            steps.forget(dream)
    except IntegrityError as error:
        raise PartialRefused("Another proposal is open. Decide on it, then ask again.") from error
    return made


def _refuse(dream: DreamRun) -> None:
    before = dream.proposals.filter(partial=True).first()
    if before is not None:
        raise PartialRefused(f"It was proposed already, as {before.public_id}.")
    if not dream.is_over:
        raise PartialRefused(f"{dream.public_id} is still at work. Wait for it, or cancel it.")
    if dream.status == DreamRun.Status.COMPLETED:
        raise PartialRefused(f"{dream.public_id} was completed: its page shows what it proposed.")
    if not steps.changed(dream):
        raise PartialRefused(
            f"{dream.public_id} had changed nothing, or its work is no longer stored ({steps.KEEP.days} days)."
        )
    running = dream.project.dreams.filter(
        status__in=[DreamRun.Status.PENDING, DreamRun.Status.RUNNING]
    ).first()
    if running is not None:
        raise PartialRefused(f"{running.public_id} dreams about this project now. Wait for it, or cancel it.")
    waiting = proposals.open_for(dream.project)
    if waiting is not None:
        raise PartialRefused(f"{waiting.public_id} waits for your review. Decide on it first.")


def _proposed(dream: DreamRun, actor: str) -> Proposal:
    edits = steps.edits_of(dream)
    now = workspace.take(syncing.memory_dir(dream.project)).contents()
    after, moved = _brought_onto(now, edits)
    draft = drafts.draft(now, after, edits, proposals.rejected_before(dream.project))
    if draft.is_empty:
        raise PartialRefused(
            "Nothing is left to propose: it is already in your notes, or you rejected it before."
        )
    origin = proposals.Origin(
        Proposal.Origin.DREAM, actor=actor, summary=_summary(edits, moved), dream=dream, partial=True
    )
    made = proposals.create(dream.project, origin, draft, now)
    auditlog.record("dream.partial", actor=actor, project=dream.project, object_id=dream.public_id)
    return made


def _brought_onto(now: Mapping[str, bytes], edits: Sequence[Edit]) -> tuple[dict[str, bytes], list[str]]:
    """The directory with the dream's changes, and the files that had changed meanwhile."""
    after, moved, torn = dict(now), [], []
    for path, (base, wanted) in _ends(edits).items():
        here = now.get(path)
        merged = rebase.merged_bytes(rebase.Sides(base, here, wanted), path)
        if isinstance(merged, merge.Merge):
            torn.append(path)
            continue
        moved += [path] if here != base else []
        if merged is None:
            after.pop(path, None)
        else:
            after[path] = merged
    if torn:
        raise PartialRefused(
            f"{_named(torn)} changed since at the same place, so this work no longer fits. Dream again instead."
        )
    return after, moved


def _ends(edits: Sequence[Edit]) -> dict[str, tuple[bytes | None, bytes | None]]:
    """For each file, what it was before the first step and after the last."""
    ends: dict[str, tuple[bytes | None, bytes | None]] = {}
    for edit in edits:
        before, after = (None if side is None else text.encode(side) for side in (edit.before, edit.after))
        ends[edit.path] = (ends[edit.path][0] if edit.path in ends else before, after)
    return ends


def _summary(edits: Sequence[Edit], moved: Sequence[str]) -> str:
    said = f"Unfinished: the dream stopped after {plural(len(edits), 'step')}. What it still meant to do is not here."
    return f"{said} Merged with what changed since: {_named(moved)}." if moved else said


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
