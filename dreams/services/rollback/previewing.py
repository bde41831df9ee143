"""Previews an undo without writing anything.

An undo is a three-way merge: the applied text is the base, the current text is one side, and the applied text without
the undone hunks is the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dreams.engines import drafts
from dreams.lib import progress
from dreams.lib.diff import merge
from dreams.lib.files import text, workspace
from dreams.lib.refusal import Refusal
from dreams.models import AppliedFile, FileChange, Hunk, Proposal
from dreams.services import hosts, proposals, review
from dreams.services.memories import syncing, time_travel
from dreams.services.proposals import rebase


class NothingToUndo(Refusal):
    """Nothing selected is applied; the message says why."""


class AlreadyUndone(NothingToUndo):
    """All that is selected was applied and undone."""


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
    """One file of an undo. `left` is what earlier undos left of what was applied; `result` is None to remove the file; `merged`
    is set on a conflict; `renamed` is the file that has the applied bytes if this one is gone, as after a rename by hand,
    which an undo does not follow."""

    path: str
    applied: bytes | None
    left: bytes | None
    now: bytes | None
    wanted: bytes | None
    result: bytes | None = None
    merged: merge.Merge | None = None
    restored: proposals.RestoredStat = field(default_factory=proposals.RestoredStat)
    renamed: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether only undos changed the file since; then its mode and mtime are restored too."""
        return self.now in (self.applied, self.left)

    @property
    def offered(self) -> bytes | None:
        """The result; for an unsolved conflict, the text to show: the undo where it clashes, and later edits everywhere
        else."""
        if self.merged is None:
            return self.result
        if self.now is None or self.wanted is None:
            return self.wanted
        return text.encode(self.merged.resolve(dict.fromkeys(range(len(self.merged.conflicts)), "theirs")))

    @property
    def changes(self) -> bool:
        return self.merged is None and self.result != self.now


@dataclass(frozen=True, slots=True)
class Preview:
    """The hunks and files that an undo would change."""

    proposal: Proposal
    hunks: tuple[Hunk, ...]
    files: tuple[UndoneFile, ...]

    @property
    def conflicts(self) -> tuple[UndoneFile, ...]:
        return tuple(file for file in self.files if file.merged is not None)


def preview(proposal: Proposal, selection: Selection = EVERYTHING) -> Preview:
    """The effect of undoing `selection` on the files on disk; for another host's project, on the files as last seen.

    Raises NothingToUndo, review.ReviewRefused.
    """
    if proposal.project.host != hosts.host():
        return _planned(proposal, selection, syncing.contents(proposal.project))
    snapshot = workspace.take(syncing.memory_dir(proposal.project), proposals.paths(proposal))
    return preview_of(proposal, selection, snapshot)


def preview_of(proposal: Proposal, selection: Selection, snapshot: workspace.Snapshot) -> Preview:
    planned = _planned(proposal, selection, snapshot.contents())
    # Raises review.ReviewRefused if a file cannot be read, as it would count as removed.
    unread = {file.path: why for file in planned.files if (why := snapshot.unread(file.path))}
    if unread:
        named = ", ".join(f"{path} ({why})" for path, why in sorted(unread.items()))
        raise review.ReviewRefused(
            f"Nothing was written: {named} cannot be read now. Undo it once that is over."
        )
    return planned


def _planned(proposal: Proposal, selection: Selection, now: Mapping[str, bytes]) -> Preview:
    hunks = _selected(proposal, selection)
    paths = sorted({hunk.file.path for hunk in hunks})
    kept = _WrittenFiles.of(proposal, paths)
    by_path: dict[str, list[Hunk]] = {path: [] for path in paths}
    for hunk in hunks:
        by_path[hunk.file.path].append(hunk)
    files = [_undone(kept, path, by_path[path], now) for path in progress.each("Comparing files", paths)]
    return Preview(proposal, tuple(hunks), tuple(files))


def _selected(proposal: Proposal, selection: Selection) -> list[Hunk]:
    """The applied hunks to undo, with the parts that must be undone with them."""
    applied = Hunk.objects.filter(file__proposal=proposal, applied_in__isnull=False).select_related("file")
    standing = list(applied.filter(undone_in__isnull=True).order_by("file__path", "number"))
    if not standing and not applied.exists():
        raise NothingToUndo(f"{proposal.public_id} was never applied; there is nothing to undo.")
    if not standing:
        raise AlreadyUndone(f"{proposal.public_id} has already been undone; there is nothing to undo.")
    if selection.is_all:
        return standing
    named = review.select_hunks(proposal, paths=selection.paths, hunk_ids=selection.hunk_ids)
    chosen = {hunk.pk for hunk in named}
    if selection.hunk_ids:
        chosen |= {hunk.pk for hunk in review.with_parts(named)}
    else:
        chosen |= _removals_of(named)
    found = [hunk for hunk in standing if hunk.pk in chosen]
    if not found:
        nothing = AlreadyUndone if applied.filter(pk__in=chosen).exists() else NothingToUndo
        raise nothing(f"None of that is currently applied in {proposal.public_id}; there is nothing to undo.")
    return found


def _removals_of(named: Sequence[Hunk]) -> set[int]:
    """The hunks that removed lines after moving them to one of these files; without them, the lines would be lost."""
    operations = {hunk.operation_id for hunk in named if hunk.operation_id and hunk.new_count}
    return {
        hunk.pk for hunk in Hunk.objects.filter(operation__in=operations) if hunk.base_count > hunk.new_count
    }


@dataclass(frozen=True, slots=True)
class _WrittenFiles:
    """What a proposal wrote to each file, with its texts; loaded at once, as an undo may be of hundreds of files."""

    files: Mapping[str, FileChange]
    written: Mapping[str, Sequence[AppliedFile]]
    texts: proposals.Texts

    @classmethod
    def of(cls, proposal: Proposal, paths: Sequence[str]) -> "_WrittenFiles":
        files = {file.path: file for file in proposal.files.prefetch_related("hunks") if file.path in paths}
        written: dict[str, list[AppliedFile]] = {path: [] for path in paths}
        for row in AppliedFile.objects.filter(application__proposal=proposal).order_by("pk"):
            if row.path in written:
                written[row.path].append(row)
        shas = {sha for file in files.values() for sha in (file.base_sha, file.new_sha)}
        shas |= {hunk.edited_sha for file in files.values() for hunk in file.hunks.all()}
        shas |= {rows[-1].after_sha for rows in written.values() if rows}
        return cls(files, written, proposals.Texts(time_travel.bytes_of(proposal.project, shas - {""})))


def _undone(kept: _WrittenFiles, path: str, hunks: Iterable[Hunk], files: Mapping[str, bytes]) -> UndoneFile:
    now = files.get(path)
    written = kept.written[path]
    first, last = (written[0], written[-1]) if written else (None, None)
    undone = {hunk.hunk_id for hunk in hunks}
    applied = proposals.bytes_of(last.after_sha, kept.texts) if last else now
    wanted, is_whole = _without(kept.files[path], kept.texts, undone)
    left, _ = _without(kept.files[path], kept.texts, set())
    renamed = (other for other, data in files.items() if now is None and data == applied)
    file = UndoneFile(path, applied, left, now, wanted, renamed=next(renamed, ""))
    merged = rebase.merged_bytes(rebase.Sides(applied, now, wanted), path)
    if isinstance(merged, merge.Merge):
        return replace(file, merged=merged)
    restored = proposals.RestoredStat()
    if is_whole and file.is_exact and first is not None and first.before_sha:
        # An existing file keeps its mode, which a person may have changed since.
        restored = proposals.RestoredStat(first.before_mode if now is None else None, first.before_mtime_ns)
    return replace(file, result=merged, restored=restored)


def _without(file: FileChange, texts: proposals.Texts, undone: set[str]) -> tuple[bytes | None, bool]:
    """The file without the undone hunks, and whether no hunk is left in it."""
    chosen = proposals.choices(file, undecided=False, texts=texts)
    for row in file.hunks.all():
        if row.applied_in_id is None or row.undone_in_id is not None or row.hunk_id in undone:
            chosen[row.hunk_id] = False
    base, new = (proposals.bytes_of(sha, texts) for sha in (file.base_sha, file.new_sha))
    lines = [hunk for _, hunk in proposals.text_hunks(file, texts)]
    return drafts.rebuild(base, new, lines, chosen), not any(chosen.values())
