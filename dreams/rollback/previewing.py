"""What an undo would do, without writing anything.

An undo is a three-way merge: what was applied is the base, what stands there now is one side, and what was applied
minus the undone hunks is the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dreams import (
    drafts,
    memories,
    merge,
    proposals,
    rebase,
    review,
    workspace,
)
from dreams.models import AppliedFile, FileChange, Hunk, Proposal


class NothingToUndo(Exception):
    """Nothing of this is applied, or all of it was undone; the message says which."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What to undo: everything, or some files, or some hunks."""

    paths: tuple[str, ...] = ()
    hunk_ids: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        return not (self.paths or self.hunk_ids)


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class UndoneFile:
    """One file of an undo. `result` is None where the file is not to exist; `merged` is set on a conflict."""

    path: str
    applied: bytes | None
    now: bytes | None
    wanted: bytes | None
    result: bytes | None = None
    merged: merge.Merge | None = None
    restored: proposals.Restored = field(default_factory=proposals.Restored)

    @property
    def is_exact(self) -> bool:
        """Nobody touched the file since: it comes back with its mode and mtime."""
        return self.now == self.applied

    @property
    def changes(self) -> bool:
        return self.merged is None and self.result != self.now


@dataclass(frozen=True, slots=True)
class Preview:
    """What an undo would do. Nothing is written to make one."""

    proposal: Proposal
    hunks: tuple[Hunk, ...]
    files: tuple[UndoneFile, ...]

    @property
    def conflicts(self) -> tuple[UndoneFile, ...]:
        return tuple(file for file in self.files if file.merged is not None)


def preview(proposal: Proposal, selection: Selection = EVERYTHING) -> Preview:
    """What undoing `selection` would do to what stands on disk now. Raises NothingToUndo, review.ReviewRefused."""
    return preview_of(proposal, selection, workspace.take(memories.memory_dir(proposal.project)))


def preview_of(proposal: Proposal, selection: Selection, snapshot: workspace.Snapshot) -> Preview:
    hunks = _selected(proposal, selection)
    paths = sorted({hunk.file.path for hunk in hunks})
    now = snapshot.contents()
    return Preview(
        proposal, tuple(hunks), tuple(_undone(proposal, path, hunks, now.get(path)) for path in paths)
    )


def _selected(proposal: Proposal, selection: Selection) -> list[Hunk]:
    """The applied hunks to undo, with the parts that must go with them."""
    applied = Hunk.objects.filter(file__proposal=proposal, applied_in__isnull=False).select_related("file")
    standing = list(applied.filter(undone_in__isnull=True).order_by("file__path", "number"))
    if not standing:
        what = "was undone before" if applied.exists() else "was never applied"
        raise NothingToUndo(f"{proposal.public_id} {what}; there is nothing to undo.")
    if selection.is_all:
        return standing
    named = review.select(proposal, paths=selection.paths, hunk_ids=selection.hunk_ids)
    chosen = {hunk.pk for hunk in named}
    if selection.hunk_ids:
        chosen |= {hunk.pk for hunk in review.together(named)}
    else:
        chosen |= _removals_of(named)
    found = [hunk for hunk in standing if hunk.pk in chosen]
    if not found:
        raise NothingToUndo(
            f"Nothing of that is applied now in {proposal.public_id}; there is nothing to undo."
        )
    return found


def _removals_of(named: Sequence[Hunk]) -> set[int]:
    """The parts that took lines away because they had arrived in one of the files named: else they would be lost."""
    operations = {hunk.operation_id for hunk in named if hunk.operation_id and hunk.new_count}
    return {
        hunk.pk for hunk in Hunk.objects.filter(operation__in=operations) if hunk.base_count > hunk.new_count
    }


def _undone(proposal: Proposal, path: str, hunks: Iterable[Hunk], now: bytes | None) -> UndoneFile:
    written = AppliedFile.objects.filter(application__proposal=proposal, path=path)
    first, last = written.order_by("pk").first(), written.order_by("-pk").first()
    undone = {hunk.hunk_id for hunk in hunks if hunk.file.path == path}
    applied = proposals.bytes_of(last.after_sha) if last else now
    wanted, is_whole = _without(proposal, path, undone)
    file = UndoneFile(path, applied, now, wanted)
    merged = rebase.merged_bytes(rebase.Sides(applied, now, wanted), path)
    if isinstance(merged, merge.Merge):
        return UndoneFile(path, applied, now, wanted, merged=merged)
    exact = is_whole and file.is_exact and first is not None and first.before_sha
    restored = (
        proposals.Restored(first.before_mode, first.before_mtime_ns)
        if exact and first
        else proposals.Restored()
    )
    return UndoneFile(path, applied, now, wanted, result=merged, restored=restored)


def _without(proposal: Proposal, path: str, undone: set[str]) -> tuple[bytes | None, bool]:
    """The file as it would be had the undone hunks never been taken; and whether that is the state before."""
    file = FileChange.objects.get(proposal=proposal, path=path)
    chosen: dict[str, bool | str] = {}
    for row, choice in zip(file.hunks.all(), proposals.choices(file, undecided=False).values(), strict=True):
        stands = row.applied_in_id is not None and row.undone_in_id is None and row.hunk_id not in undone
        chosen[row.hunk_id] = choice if stands else False
    lines = [hunk for _, hunk in proposals.text_hunks(file)]
    base, new = proposals.bytes_of(file.base_sha), proposals.bytes_of(file.new_sha)
    return drafts.rebuild(base, new, lines, chosen), not any(chosen.values())
