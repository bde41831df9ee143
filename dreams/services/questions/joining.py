"""Adds an answer's change to an open proposal, and removes it again.

Hunks are computed against a file's base state. So are the answer's hunks, which are inserted between those of the
proposal; these keep their verdicts, evidence and findings. If two hunks touch the same lines, the answer does not
fit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit
from dreams.lib import diff
from dreams.lib.files import text
from dreams.models import FileChange, Hunk, Operation, Proposal, Question
from dreams.services import blobs, proposals
from dreams.services.questions.options import DoesNotFit, brought_onto


class NothingToDo(Exception):
    """The files already have the answer's text."""


@dataclass(frozen=True, slots=True)
class _Part:
    """An answer's change to one file, and the proposal's row and hunks of that file, if any."""

    draft: drafts.DraftFile
    file: FileChange | None
    known: Sequence[tuple[Hunk, diff.Hunk]]


def join(
    proposal: Proposal,
    question: Question,
    edits: Sequence[Edit],
    present: Mapping[str, bytes],
    citations: Sequence[Citation] = (),
) -> list[Operation]:
    """Add the edits to `proposal`, undecided, as one operation, or one per row of an `index` question.

    Each hunk gets the question's `citations` as evidence besides those of its edit. `present` is the directory as last
    seen. Call it in a transaction that locks the proposal. Raises DoesNotFit and NothingToDo before saving anything.
    """
    draft, parts = _parts(proposal, edits, present)
    kind = min((edit.kind for edit in edits), key=drafts.KIND_ORDER.index)
    made: dict[str, Operation] = {}
    for part in parts:
        for hunk in part.draft.hunks:
            _operation(made, proposal, question, draft, hunk, kind)
    for part in parts:
        _save(proposal, part, made, citations)
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")
    return list(dict.fromkeys(made.values()))


def fits(proposal: Proposal, edits: Sequence[Edit], present: Mapping[str, bytes]) -> bool:
    """Whether `join` could add these edits, or they need no change. Saves nothing."""
    try:
        _parts(proposal, edits, present)
    except DoesNotFit:
        return False
    except NothingToDo:
        return True
    return True


def _parts(
    proposal: Proposal, edits: Sequence[Edit], present: Mapping[str, bytes]
) -> tuple[drafts.Draft, list[_Part]]:
    paths = {edit.path for edit in edits}
    rows = proposal.files.filter(path__in=paths).select_related("proposal").prefetch_related("hunks")
    files = {file.path: file for file in rows}
    texts = proposals.texts_of(files.values())
    base = {
        path: proposals.bytes_of(files[path].base_sha, texts) if path in files else present.get(path)
        for path in paths
    }
    after = brought_onto(base, edits)
    if not after:
        raise NothingToDo
    draft = drafts.draft(_there(base), _there({**base, **after}), edits)
    parts = [_part(file, files.get(file.path), texts) for file in draft.files]
    torn = [part.draft.path for part in parts if part.file and not _fits(part, part.file)]
    if torn:
        raise DoesNotFit(torn)
    return draft, parts


def _part(draft: drafts.DraftFile, file: FileChange | None, texts: proposals.Texts) -> _Part:
    return _Part(draft, file, proposals.text_hunks(file, texts) if file else ())


def _there(files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if data is not None}


def _fits(part: _Part, file: FileChange) -> bool:
    """Whether no hunk of the answer overlaps another, in a file that both modify."""
    if file.conflict or {file.kind, part.draft.kind} != {FileChange.Kind.MODIFY.value}:
        return False
    known = [lines for _, lines in part.known]
    return all(_apart(made.hunk, other) for made in part.draft.hunks for other in known)


def _apart(one: diff.Hunk, other: diff.Hunk) -> bool:
    """Whether they share no line. Two insertions at one place overlap, as they have no order."""
    if one.id == other.id or (
        one.base_start == other.base_start and not (one.base_lines or other.base_lines)
    ):
        return False
    return one.base_end <= other.base_start or other.base_end <= one.base_start


def _operation(
    made: dict[str, Operation],
    proposal: Proposal,
    question: Question,
    draft: drafts.Draft,
    hunk: drafts.DraftHunk,
    kind: str,
) -> None:
    """Create the operation's row at its first hunk; only an `index` question has more than one."""
    if hunk.operation in made:
        return
    drafted = draft.operations[hunk.operation]
    if made and (question.kind != Question.Kind.INDEX or not drafted.steps):
        made[hunk.operation] = next(iter(made.values()))
        return
    made[hunk.operation] = Operation.objects.create(
        proposal=proposal,
        key=f"{question.public_id}-{len(made) + 1}" if made else question.public_id,
        kind=kind,
        reason=text.storable(drafted.reason if drafted.steps else question.why, 2000),
    )


def _save(
    proposal: Proposal,
    part: _Part,
    operations: Mapping[str, Operation],
    citations: Sequence[Citation],
) -> None:
    draft, file = part.draft, part.file or FileChange(proposal=proposal, path=part.draft.path)
    data = draft.new if draft.new is not None else draft.base
    file.kind, file.memory_type = draft.kind, proposals.memory_type(draft.path, data)
    file.base_sha = blobs.put(draft.base) if draft.base is not None else ""
    file.new_sha = blobs.put(draft.new) if draft.new is not None else ""
    file.save()
    rows = [Hunk(file=file, hunk_id=made.hunk.id) for made in draft.hunks]
    _place(file, [*part.known, *((row, made.hunk) for row, made in zip(rows, draft.hunks, strict=True))])
    for row, made in zip(rows, draft.hunks, strict=True):
        proposals.save_hunk(row, made, operations[made.operation], citations)


def _place(file: FileChange, hunks: Sequence[tuple[Hunk, diff.Hunk]]) -> None:
    """Save the rows of a file's hunks in order, and for a modified file its new text."""
    ordered = sorted(hunks, key=lambda pair: (pair[1].base_start, len(pair[1].base_lines)))
    shift = 0
    placed: list[diff.Hunk] = []
    for number, (row, lines) in enumerate(ordered):
        found = replace(lines, new_start=lines.base_start + shift)
        row.number, row.new_start, row.new_count = number, found.new_start, len(found.new_lines)
        row.base_start, row.base_count = found.base_start, len(found.base_lines)
        row.save()
        shift += len(found.new_lines) - len(found.base_lines)
        placed.append(found)
    if file.kind == FileChange.Kind.MODIFY:
        base = text.decode(proposals.bytes_of(file.base_sha) or b"")
        made = diff.apply_hunks(base, placed, {hunk.id: True for hunk in placed})
        file.new_sha = blobs.put(text.encode(made))
        file.save(update_fields=["new_sha"])


def take_out(proposal: Proposal, operations: Sequence[Operation]) -> None:
    """Remove these operations and their hunks; the others keep their verdicts. Call it in a transaction."""
    wanted = {operation.pk for operation in operations}
    files = FileChange.objects.filter(proposal=proposal, hunks__operation__in=wanted).distinct()
    for file in files.select_related("proposal").prefetch_related("hunks"):
        _take_out_of(file, wanted)
    Operation.objects.filter(pk__in=wanted).delete()
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")


def _take_out_of(file: FileChange, operations: set[int]) -> None:
    others = [(row, lines) for row, lines in proposals.text_hunks(file) if row.operation_id not in operations]
    if not others:
        file.delete()
        return
    Hunk.objects.filter(file=file, operation__in=operations).delete()
    _place(file, others)


def hunks_of(operations: Sequence[Operation]) -> Iterator[Hunk]:
    """The hunks of these operations with their files, in order."""
    found = Hunk.objects.filter(operation__in=operations).select_related("file", "operation")
    yield from found.order_by("file__path", "number")
