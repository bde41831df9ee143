"""Merging an answer's edits into an open proposal, and taking them out again.

What is there already keeps its verdicts, evidence and findings: an answer joins only where every hunk of the proposal is
still cut as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dreams import blobs, drafts, proposals, rebase, text, textdiff
from dreams.engines.types import Citation, Edit, OperationKind
from dreams.models import FileChange, Hunk, Operation, Proposal, Question
from dreams.services.questions.options import DoesNotFit, brought_onto


class NothingToDo(Exception):
    """The files say already what the answer wants."""


#: How a change that answers a question is called.
KINDS: Mapping[str, OperationKind] = {
    "same": "merge",
    "changed": "update",
    "conflict": "update",
    "leans": "update",
    "forget": "prune",
    "expired": "prune",
    "derived": "prune",
    "gone": "prune",
    "index": "demote",
    "learn": "learn",
}


@dataclass(frozen=True, slots=True)
class _Merged:
    """One file of the proposal with the answer in it; `known` are the hunks that were there before."""

    file: FileChange | None
    known: Sequence[tuple[Hunk, textdiff.Hunk]]
    draft: drafts.DraftFile

    @property
    def added(self) -> list[drafts.DraftHunk]:
        before = {row.hunk_id for row, _ in self.known}
        return [made for made in self.draft.hunks if made.hunk.id not in before]


def join(
    proposal: Proposal,
    question: Question,
    edits: Sequence[Edit],
    present: Mapping[str, bytes],
    citations: Sequence[Citation] = (),
) -> list[Operation]:
    """Add the edits to `proposal` as one operation, or one for each row of an `index` question. Undecided yet.

    `citations` are the question's; each hunk has them as evidence beside its edit's own. `present` is the directory as last seen. Call it in a transaction that holds the proposal. Raises DoesNotFit and
    NothingToDo; nothing is saved then.
    """
    merged, draft = _merged(proposal, edits, present)
    made: dict[str, Operation] = {}
    for found in merged:
        for hunk in found.added:
            _operation(made, proposal, question, draft, hunk)
    for found in merged:
        _save(proposal, found, made, citations)
    Proposal.objects.filter(pk=proposal.pk).update(examined="")
    return list(dict.fromkeys(made.values()))


def _merged(
    proposal: Proposal, edits: Sequence[Edit], present: Mapping[str, bytes]
) -> tuple[list[_Merged], drafts.Draft]:
    paths = {edit.path for edit in edits}
    rows = proposal.files.filter(path__in=paths).select_related("proposal").prefetch_related("hunks")
    files = {file.path: file for file in rows}
    torn = [path for path, file in files.items() if file.conflict or not file.rebase_confirmed]
    if torn:
        raise DoesNotFit(torn)
    texts = proposals.texts_of(files.values())
    now = {path: _side(files.get(path), "new_sha", path, present, texts) for path in paths}
    after = brought_onto(now, edits)
    if not after:
        raise NothingToDo
    base = {path: _side(files.get(path), "base_sha", path, present, texts) for path in after}
    draft = drafts.draft(_there(base), _there(after), edits)
    by_path = {file.path: file for file in draft.files}
    found = []
    for path in sorted(after):
        known = proposals.text_hunks(files[path], texts) if path in files else []
        cut = by_path.get(path)
        if cut is None or not {row.hunk_id for row, _ in known} <= {made.hunk.id for made in cut.hunks}:
            raise DoesNotFit([path])
        found.append(_Merged(files.get(path), known, cut))
    return found, draft


def _side(
    file: FileChange | None, side: str, path: str, present: Mapping[str, bytes], texts: proposals.Texts
) -> bytes | None:
    return present.get(path) if file is None else proposals.bytes_of(getattr(file, side), texts)


def _there(files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if data is not None}


def _operation(
    made: dict[str, Operation],
    proposal: Proposal,
    question: Question,
    draft: drafts.Draft,
    hunk: drafts.DraftHunk,
) -> None:
    """The row for the hunk's operation, made at the first hunk of each: only an `index` question has more than one."""
    if hunk.operation in made:
        return
    drafted = draft.operations[hunk.operation]
    if made and (question.kind != Question.Kind.INDEX or not drafted.steps):
        made[hunk.operation] = next(iter(made.values()))
        return
    made[hunk.operation] = Operation.objects.create(
        proposal=proposal,
        key=f"{question.public_id}-{len(made) + 1}" if made else question.public_id,
        kind=KINDS[question.kind],
        reason=text.storable(drafted.reason if drafted.steps else question.why, 2000),
    )


def _save(
    proposal: Proposal,
    found: _Merged,
    operations: Mapping[str, Operation],
    citations: Sequence[Citation],
) -> None:
    draft, file = found.draft, found.file or FileChange(proposal=proposal, path=found.draft.path)
    file.kind = draft.kind
    file.memory_type = proposals.memory_type(draft.path, draft.new if draft.new is not None else draft.base)
    file.base_sha = blobs.put(draft.base) if draft.base is not None else ""
    file.new_sha = blobs.put(draft.new) if draft.new is not None else ""
    file.save()
    rebase.replace_hunks(file, found.known, [made.hunk for made in draft.hunks])
    rows = {row.hunk_id: row for row in Hunk.objects.filter(file=file)}
    for made in found.added:
        proposals.save_hunk(rows[made.hunk.id], made, operations[made.operation], citations)


def take_out(proposal: Proposal, operations: Sequence[Operation]) -> None:
    """Remove these operations with their hunks; the rest of the proposal keeps its verdicts. In a transaction."""
    wanted = {operation.pk for operation in operations}
    files = FileChange.objects.filter(proposal=proposal, hunks__operation__in=wanted).distinct()
    for file in files.select_related("proposal").prefetch_related("hunks"):
        _take_out_of(file, wanted)
    Operation.objects.filter(pk__in=wanted).delete()
    Proposal.objects.filter(pk=proposal.pk).update(examined="")


def _take_out_of(file: FileChange, operations: set[int]) -> None:
    rows = proposals.text_hunks(file)
    others = [(row, lines) for row, lines in rows if row.operation_id not in operations]
    if not others:
        file.delete()
        return
    base, new = proposals.bytes_of(file.base_sha), proposals.bytes_of(file.new_sha)
    chosen = {row.hunk_id: row.operation_id not in operations for row, _ in rows}
    without = drafts.rebuild(base, new, [lines for _, lines in rows], chosen)
    Hunk.objects.filter(file=file, operation__in=operations).delete()
    file.new_sha = blobs.put(without) if without is not None else ""
    file.kind = drafts.change_kind(base, without)
    file.save()
    rebase.replace_hunks(file, others, drafts.file_hunks(file.path, base, without))


def hunks_of(operations: Sequence[Operation]) -> Iterator[Hunk]:
    """The hunks of these operations with their files, in order."""
    found = Hunk.objects.filter(operation__in=operations).select_related("file", "operation")
    yield from found.order_by("file__path", "number")
