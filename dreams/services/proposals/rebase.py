"""Rebases a proposal when a file changed after the decision: decisions are kept, and one confirmation is asked.

Nothing is written here. MEMORY.md is merged by row, other files by line. Where both sides changed the same place,
the file carries a conflict until a person chooses.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from dreams.engines import drafts
from dreams.lib import diff, memdir
from dreams.lib.diff import merge
from dreams.lib.diff.index_merge import merge_index
from dreams.lib.files import safefs, text, workspace
from dreams.lib.files.seen import seen
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import FileChange, Finding, Hunk, Memory, Proposal
from dreams.models.prepared import prepared
from dreams.services import blobs, hosts, project_lock, proposals

Outcome = Literal["same", "rebased", "conflict", "already-there", "unread"]


class NoConflict(Refusal):
    """There is nothing to solve here any more; the message says so."""


class ConflictChanged(Refusal):
    """The choices were made for other texts; a page shows the new ones."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The three texts of a conflict; None where the file does not exist on that side. `keeps_both`: what both sides add at
    one place stays, where that is certain, because a person sees the result before it is written."""

    base: bytes | None
    now: bytes | None
    wanted: bytes | None
    keeps_both: bool = False


def rebase(file: FileChange, now: bytes | None) -> Outcome:
    """Rebase `file` onto the bytes that are on disk `now` (None: it was deleted)."""
    sha = text.sha_of(now)
    if sha == file.base_sha and not file.conflict:
        return "same"
    with transaction.atomic():
        # What is decided at this moment would be lost, as rows are saved whole.
        locked = Proposal.objects.select_for_update(of=("self",)).select_related("project")
        proposal = locked.get(pk=file.proposal_id)
        file.refresh_from_db()
        file.proposal = proposal
        return _rebase_locked(file, now, sha)


def _rebase_locked(file: FileChange, now: bytes | None, sha: str) -> Outcome:
    if sha == file.base_sha and not _is_of_an_undo(file):
        # The file is back to its base, for example because its directory was away for a while
        if file.conflict:
            file.conflict = None
            file.save(update_fields=["conflict"])
        return "same"
    if file.conflict and file.conflict["now"] == sha and _is_of_an_undo(file):
        return "conflict"
    base = proposals.bytes_of(_merge_base(file))
    for wanted in _texts_to_merge(file):
        sides = Sides(base, now, wanted, not _is_of_an_undo(file))
        merged = merged_bytes(sides, file.path)
        if not isinstance(merged, merge.Merge):
            return _rebase_onto(file, now, merged)
    remember_conflict(file, sides)
    return "conflict"


def _merge_base(file: FileChange) -> str:
    """The sha256 that a conflict starts from: for an undo what was applied, else the file's own base."""
    return str(file.conflict["base"]) if file.conflict else file.base_sha


def _is_of_an_undo(file: FileChange) -> bool:
    return _merge_base(file) != file.base_sha


def _is_open(file: FileChange) -> bool:
    return file.proposal.state == Proposal.State.OPEN


def _texts_to_merge(file: FileChange) -> Iterator[bytes | None]:
    """The texts to try to merge, in order. Once submitted, only what was decided.

    Before that, first with every hunk, so that all can still be decided; then without the rejected ones, which will not
    be written and must not cause a conflict. An undecided hunk that clashes is a conflict to solve: it must not
    disappear unnoticed.
    """
    if file.conflict and _is_of_an_undo(file):
        yield proposals.bytes_of(file.conflict["wanted"])
    elif _is_open(file):
        yield proposals.bytes_of(file.new_sha)
        yield proposals.decided_bytes(file, undecided=True)
    else:
        yield proposals.decided_bytes(file)


def merged_bytes(sides: Sides, path: str) -> bytes | merge.Merge | None:
    """The merged bytes, None for no file, or the conflict."""
    base, now, wanted = sides.base, sides.now, sides.wanted
    if wanted in (now, base):
        return now
    if now == base:
        return wanted
    merged = three_way(sides, path)
    if merged.clean and base is not None and now is not None and wanted is not None:
        return text.encode(merged.text)
    return merged


def three_way(sides: Sides, path: str) -> merge.Merge:
    """The chunks of a conflict; a file that one side deleted is a single conflict."""
    base, now, wanted = (text.decode(side or b"") for side in (sides.base, sides.now, sides.wanted))
    if None in (sides.base, sides.now, sides.wanted) or not all(
        text.is_utf8(side or b"") for side in (sides.base, sides.now, sides.wanted)
    ):
        sides_lines = [merge.TextLines(0, tuple(diff.split_lines(side))) for side in (base, now, wanted)]
        return merge.Merge((merge.Chunk("conflict", sides_lines[0], sides_lines[1], sides_lines[2]),))
    if memdir.is_index(path):
        return merge_index(base, now, wanted, keeps_both=sides.keeps_both)
    # Touching edits are both taken: the result is shown and confirmed before it is written, and notes grow at the
    # end, right behind the line that a dream changed.
    return merge.merge3(base, now, wanted, keeps_both=sides.keeps_both)


def conflict_state(file: FileChange) -> str:
    """A digest of the three texts that choices are made for."""
    found = file.conflict or {}
    return text.sha256(" ".join(str(found.get(name)) for name in ("base", "now", "wanted")).encode())


def sides_of(file: FileChange) -> Sides:
    """The three texts of the file's conflict. Raises NoConflict."""
    if not file.conflict:
        raise NoConflict(f"{file.path} no longer has a conflict.")
    found = file.conflict
    base, now, wanted = (proposals.bytes_of(found[name]) for name in ("base", "now", "wanted"))
    return Sides(base, now, wanted, not _is_of_an_undo(file))


def resolve(file: FileChange, choices: Mapping[int, merge.Choice], *, remove: bool = False) -> Outcome:
    """Solve the conflict of `file`: the result becomes what the file wants, based on the state it has now.

    Solving it approves its changes, except those whose operation has undecided changes in other files: no operation is
    approved in part. `remove` deletes the file, for a conflict in which one side deleted it. Raises NoConflict, and `merge.UnresolvedConflictError` when a conflict has no choice.
    """
    sides = sides_of(file)
    result = None if remove else text.encode(three_way(sides, file.path).resolve(choices))
    outcome = _rebase_onto(file, sides.now, result)
    FileChange.objects.filter(pk=file.pk).update(rebase_confirmed=True)
    elsewhere = Hunk.objects.filter(file__proposal=file.proposal_id, operation__isnull=False).exclude(
        file=file
    )
    waiting = elsewhere.exclude(verdict__in=Hunk.TAKEN).values("operation")
    solved = Hunk.objects.filter(file=file, verdict=Hunk.Verdict.PENDING).exclude(operation__in=waiting)
    solved.update(verdict=Hunk.Verdict.APPROVED, verdict_base_sha=file.base_sha)
    return outcome


def remember_conflict(file: FileChange, sides: Sides) -> None:
    """Save the three texts, so that the page shows the inputs of the merge even if the disk changes again."""
    file.conflict = stored_conflict(sides)
    file.save(update_fields=["conflict"])


def stored_conflict(sides: Sides) -> dict[str, str]:
    """The sha256s of its texts, which are stored."""
    texts = {"base": sides.base, "now": sides.now, "wanted": sides.wanted}
    return {name: blobs.put(side) if side is not None else "" for name, side in texts.items()}


def _rebase_onto(file: FileChange, now: bytes | None, new: bytes | None) -> Outcome:
    """Give `file` a new base and new hunks; unchanged hunks keep verdict, evidence and operation."""
    with transaction.atomic():
        old_hunks = proposals.text_hunks(file)
        file.rebased_from = file.base_sha
        blobs.put_whole(side for side in (now, new) if side is not None)
        file.base_sha, file.new_sha = text.sha_of(now), text.sha_of(new)
        file.kind = drafts.change_kind(now, new)
        file.conflict = None
        file.rebase_confirmed = now == new
        file.save()
        _replace_hunks(file, old_hunks, drafts.file_hunks(file.path, now, new) if now != new else [])
        # Deleting rows deleted their findings.
        Proposal.objects.filter(pk=file.proposal_id).update(checked_digest="")
    return "already-there" if now == new else "rebased"


def _replace_hunks(file: FileChange, old: Sequence[tuple[Hunk, diff.Hunk]], new: Sequence[diff.Hunk]) -> None:
    """Rows of `file` for its `new` hunks: a hunk equal to an `old` one keeps that row, with all that belongs to it."""
    left = {row.hunk_id: (row, lines) for row, lines in old}
    matched: list[tuple[diff.Hunk, Hunk | None]] = []
    for hunk in new:
        row = left.pop(hunk.id, (None, hunk))[0]
        matched.append((hunk, row))
    # A hunk whose surroundings changed has another id and nearly the same text: it takes the row most like it.
    placed: list[tuple[Hunk, diff.Hunk]] = []
    for hunk, row in matched:
        reused = row or _nearest(hunk, left.values())
        if row is None and reused is not None:
            left.pop(reused.hunk_id)
        placed.append((reused or Hunk(file=file), hunk))
    old_lines = {row.pk: lines for row, lines in old}
    gained = [
        (row, hunk, _lines(hunk) - _lines(old_lines[row.pk])) for row, hunk in placed if row.pk in old_lines
    ]
    for merged, lines in left.values():
        # A line that it had before, such as an empty one, says nothing; the change may be in the file already.
        into = _nearest(lines, [(row, hunk) for row, hunk, more in gained if more & _lines(lines)])
        if into is not None:
            _join(into, merged, file)
    _delete_merged_hunks([row.pk for row, _ in left.values()])
    for number, (row, hunk) in enumerate(placed):
        _carry_verdict(row, old_lines.get(row.pk), hunk, file)
        row.hunk_id, row.number = hunk.id, number
        row.base_start, row.base_count = hunk.base_start, len(hunk.base_lines)
        row.new_start, row.new_count = hunk.new_start, len(hunk.new_lines)
        row.save()
    _reopen_operations(file)


def _join(into: Hunk, merged: Hunk, file: FileChange) -> None:
    """`into` now has the lines of `merged` too. Where they were decided differently, nobody has decided the whole."""
    same = (into.verdict, into.decided_by) == (merged.verdict, merged.decided_by)
    if _is_open(file):
        if not same or into.verdict == Hunk.Verdict.EDITED:
            into.verdict, into.edited_sha = Hunk.Verdict.PENDING, ""
    elif merged.is_taken and into.decided_by != merged.decided_by:
        into.decided_by = ""


def _reopen_operations(file: FileChange) -> None:
    """Reset all verdicts of operations with an undecided hunk: no operation is approved in part."""
    waiting = file.hunks.filter(verdict=Hunk.Verdict.PENDING, operation__isnull=False).values("operation")
    others = Hunk.objects.filter(file__proposal=file.proposal_id, operation__in=waiting)
    others.filter(verdict__in=Hunk.TAKEN).update(
        verdict=Hunk.Verdict.PENDING, edited_sha="", verdict_base_sha=""
    )


def _delete_merged_hunks(hunks: Sequence[int]) -> None:
    """Delete hunks that were merged into others; their confirmed findings stay with the file for the next check."""
    Finding.objects.filter(hunk__in=hunks, confirmed_at__isnull=False).update(hunk=None)
    Hunk.objects.filter(pk__in=hunks).delete()


def _carry_verdict(row: Hunk, was: diff.Hunk | None, hunk: diff.Hunk, file: FileChange) -> None:
    if row.verdict == Hunk.Verdict.EDITED and was is not None:
        _carry_edit(row, was, hunk, file)
    elif not _is_open(file):
        # What was merged is what was decided.
        row.verdict, row.edited_sha = Hunk.Verdict.APPROVED, ""
    row.verdict_base_sha = file.base_sha if row.verdict != Hunk.Verdict.PENDING else ""


def _carry_edit(row: Hunk, was: diff.Hunk, hunk: diff.Hunk, file: FileChange) -> None:
    """Keep a person's edit: merge it with changed surroundings or, where that fails, make the hunk undecided again."""
    if not _is_open(file):
        row.edited_sha = blobs.put(text.encode("".join(hunk.new_lines)))  # it was merged with what is on disk
    elif row.hunk_id != hunk.id:
        merged = merge.merge3(
            "".join(was.base_lines),
            blobs.get_text(row.edited_sha),
            "".join(hunk.base_lines),
        )
        if merged.clean:
            row.edited_sha = blobs.put(text.encode(merged.text))
        else:
            row.verdict, row.edited_sha = Hunk.Verdict.PENDING, ""


def _nearest(hunk: diff.Hunk, among: Iterable[tuple[Hunk, diff.Hunk]]) -> Hunk | None:
    """The one that shares most lines with `hunk`, if any shares one."""
    scored = [(len(_lines(hunk) & _lines(lines)), row) for row, lines in among]
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def _lines(hunk: diff.Hunk) -> set[str]:
    return {*hunk.base_lines, *hunk.new_lines}


def leads_to(proposal: Proposal) -> str:
    """Where its memory directory leads now, if it is not the one that it was made for; else ""."""
    now = project_lock.directory(proposal.project)
    return now if proposal.directory not in ("", now) else ""


def changed_since(
    proposal: Proposal, files: Iterable[FileChange], memories: Mapping[str, Memory]
) -> frozenset[str]:
    """Paths whose bytes on disk are not the proposal's base. A stat each; only what differs is read."""
    if proposal.project.host != hosts.host():
        return frozenset()  # that path on this host is another folder
    try:
        root = safefs.Root.open(Path(proposal.project.memory_dir))
    except OSError:
        return frozenset(file.path for file in files if _expected_sha(file))
    with root:
        return frozenset(
            file.path
            for file in files
            if _current_sha(root, file.path, memories.get(file.path)) != _expected_sha(file)
        )


def missing_on_disk(proposal: Proposal, stale: Collection[str]) -> frozenset[str]:
    """Those of these changed paths that are no longer on disk."""
    folder = Path(proposal.project.memory_dir)
    return frozenset(path for path in stale if not os.path.lexists(folder / path))


def _expected_sha(file: FileChange) -> str:
    return file.conflict["now"] if file.conflict else file.base_sha


def _current_sha(root: safefs.Root, path: str, known: Memory | None) -> str:
    """The sha256 of the file on disk; empty without a file."""
    try:
        found = root.lstat(path)
        if known is not None and seen(found) == (known.size, known.mtime_ns, known.inode):
            return known.sha256
        return text.sha256(root.read_bytes(path, limit=workspace.MAX_FILE_BYTES))
    except FileNotFoundError:
        return ""
    except (OSError, safefs.SafeFsError):
        # A file that cannot be read never equals the base.
        return "unreadable"


@dataclass(frozen=True, slots=True)
class StuckFile:
    """A file that changed or disappeared on disk: in conflict, or rebased and not confirmed."""

    pk: int
    path: str
    in_conflict: bool
    is_gone: bool


def stuck_files(pks: Sequence[int]) -> Mapping[int, list[StuckFile]]:
    """Proposal → its files that a person must look at again; without files whose changes are all written."""
    found: dict[int, list[StuckFile]] = {}
    for proposal, *file in _stuck(list(pks)):
        found.setdefault(proposal, []).append(StuckFile(*file))
    return found


@prepared
def _stuck(pks: list[int]) -> QuerySet[FileChange, tuple[Any, ...]]:
    rows = FileChange.objects.filter(proposal__in=pks).filter(
        Q(conflict__isnull=False) | Q(rebase_confirmed=False)
    )
    unwritten = Hunk.objects.filter(file=OuterRef("pk"), applied_in__isnull=True)
    still_open = Q(proposal__state=Proposal.State.OPEN) | Exists(unwritten.filter(verdict__in=Hunk.TAKEN))
    rows = (
        rows.filter(still_open)
        .annotate(in_conflict=Q(conflict__isnull=False), is_gone=Q(conflict__now=""))
        .order_by("path")
    )
    return rows.values_list("proposal", "pk", "path", "in_conflict", "is_gone")


def stuck_reason(conflicts: Sequence[StuckFile]) -> str:
    if all(file.is_gone for file in conflicts):
        return "is no longer on disk" if len(conflicts) == 1 else "are no longer on disk"
    return "changed in the same place on disk"


def stuck_paths(files: Sequence[StuckFile]) -> str:
    if len(files) == 1:
        return files[0].path
    return f"{files[0].path} and {plural(len(files) - 1, 'other file')}"
