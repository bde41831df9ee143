"""Proposals: made from two states of a directory, read back as hunks, examined, superseded.

Rows hold ids, sha256s and line ranges; the texts are blobs. This module is the only one that turns them into each
other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from dreams import auditlog, blobs, conf, drafts, findings, memdir, text, textdiff
from dreams.engines.base import Citation, Fate
from dreams.findings.base import ChangedHunk, Report, Subject
from dreams.models import (
    DreamRun,
    Evidence,
    FileChange,
    Finding,
    Hunk,
    LedgerEntry,
    LeftOut,
    Operation,
    Project,
    Proposal,
    Session,
)

QUOTE_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Restored:
    """What a rollback wants a file to have besides its bytes."""

    mode: int | None = None
    mtime_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a proposal comes from."""

    kind: Proposal.Origin
    actor: str = ""
    summary: str = ""
    dream: DreamRun | None = None
    by_policy: bool = False
    undoes: Proposal | None = None
    restored: Mapping[str, Restored] = field(default_factory=dict)


def create(project: Project, origin: Origin, draft: drafts.Draft, before: Mapping[str, bytes]) -> Proposal:
    """Save `draft` as an open proposal, with evidence, ledger and findings. `before` is the whole directory."""
    with transaction.atomic():
        proposal = Proposal.objects.create(
            project=project,
            dream=origin.dream,
            by_policy=origin.by_policy,
            origin=origin.kind,
            summary=origin.summary,
            undoes=origin.undoes,
            created_by=origin.actor,
        )
        operations = _save_operations(proposal, draft)
        for file in draft.files:
            _save_file(proposal, file, operations, origin.restored.get(file.path, Restored()))
        examine(proposal, before)
        auditlog.record(
            "proposal.made",
            actor=origin.actor,
            project=project,
            object_id=proposal.public_id,
            origin=origin.kind.value,
            files={f.path: [text.sha256(f.base or b""), text.sha256(f.new or b"")] for f in draft.files},
        )
    return proposal


def open_for(project: Project) -> Proposal | None:
    """The dream's proposal that waits for a person, if there is one."""
    states = [Proposal.State.OPEN, Proposal.State.SUBMITTED]
    return project.proposals.filter(origin=Proposal.Origin.DREAM, by_policy=False, state__in=states).first()


def supersede(proposal: Proposal, actor: str) -> dict[tuple[str, str], Hunk]:
    """Close `proposal` in favour of a newer one; returns its decided hunks by (path, hunk id), to carry over.

    Its sessions were not used up: they are given back.
    """
    with transaction.atomic():
        states = [Proposal.State.OPEN, Proposal.State.SUBMITTED]
        closed = Proposal.objects.filter(pk=proposal.pk, state__in=states).update(
            state=Proposal.State.SUPERSEDED, closed_at=timezone.now()
        )
        if not closed:
            return {}
        if proposal.dream_id:
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


def inputs_key(hunk: Hunk) -> str:
    """As `drafts.DraftHunk.inputs_key`, from the saved evidence."""
    return drafts.DraftHunk(textdiff.Hunk(hunk.hunk_id, 0, (), 0, ()), "", _citations(hunk), ()).inputs_key


# --- Reading back ---------------------------------------------------------------------------------------------


def bytes_of(sha: str) -> bytes | None:
    """The bytes of a file's state; None for a file that does not exist."""
    return blobs.get(sha) if sha else None


def text_hunks(file: FileChange) -> list[tuple[Hunk, textdiff.Hunk]]:
    """The rows of a file's hunks with their lines, in order."""
    base = textdiff.split_lines(blobs.get_text(file.base_sha))
    new = textdiff.split_lines(blobs.get_text(file.new_sha))
    return [(row, lines_of(row, base, new)) for row in file.hunks.all()]


def lines_of(row: Hunk, base: Sequence[str], new: Sequence[str]) -> textdiff.Hunk:
    """The row of a hunk with its lines, from the split texts of its file."""
    return textdiff.Hunk(
        row.hunk_id,
        row.base_start,
        tuple(base[row.base_start : row.base_start + row.base_count]),
        row.new_start,
        tuple(new[row.new_start : row.new_start + row.new_count]),
    )


def choices(file: FileChange, *, undecided: bool) -> dict[str, textdiff.Choice]:
    """hunk id → taken, not taken, or the text in its place. `undecided` says what a pending hunk counts as."""
    chosen: dict[str, textdiff.Choice] = {}
    for hunk in file.hunks.all():
        if hunk.verdict == Hunk.Verdict.EDITED:
            chosen[hunk.hunk_id] = blobs.get_text(hunk.edited_sha)
        else:
            chosen[hunk.hunk_id] = hunk.is_taken or (undecided and hunk.verdict == Hunk.Verdict.PENDING)
    return chosen


def decided_bytes(file: FileChange, *, undecided: bool = False) -> bytes | None:
    """The file as the verdicts want it; None when it is not to exist."""
    found = [hunk for _, hunk in text_hunks(file)]
    chosen = choices(file, undecided=undecided)
    return drafts.rebuild(bytes_of(file.base_sha), bytes_of(file.new_sha), found, chosen)


# --- Findings -------------------------------------------------------------------------------------------------


def examine(proposal: Proposal, before: Mapping[str, bytes], *, undecided: bool = True) -> Report:
    """Check what would be written and save findings and ledger anew; confirmations stay by key.

    `undecided` False looks only at what was approved: a rejected destination then shows as a loss.
    """
    subject = subject_of(proposal, before, undecided=undecided)
    report = findings.examine(subject)
    _save_report(proposal, report)
    return report


def subject_of(proposal: Proposal, before: Mapping[str, bytes], *, undecided: bool) -> Subject:
    after = dict(before)
    changed: list[ChangedHunk] = []
    for file in proposal.files.prefetch_related("hunks__evidence"):
        base, new = bytes_of(file.base_sha), decided_bytes(file, undecided=undecided)
        before = (
            {**before, file.path: base}
            if base is not None
            else {p: d for p, d in before.items() if p != file.path}
        )
        if new is None:
            after.pop(file.path, None)
        else:
            after[file.path] = new
        changed += _changed_hunks(file, undecided)
    return Subject(before=before, after=after, hunks=changed, config=conf.current(proposal.project))


def _changed_hunks(file: FileChange, undecided: bool) -> list[ChangedHunk]:
    chosen = choices(file, undecided=undecided)
    found: list[ChangedHunk] = []
    shift = 0
    for row, hunk in text_hunks(file):
        choice = chosen[hunk.id]
        if choice is False:
            continue
        added = choice if isinstance(choice, str) else hunk.added
        lines = _bare(added)
        found.append(
            ChangedHunk(
                path=file.path,
                hunk_id=hunk.id,
                base_start=hunk.base_start,
                removed=_bare(hunk.removed),
                new_start=hunk.base_start + shift,
                added=lines,
                citations=_citations(row),
                fates=_fates(row),
                by_hand=isinstance(choice, str) or file.proposal.origin != Proposal.Origin.DREAM,
            )
        )
        shift += len(lines) - len(hunk.base_lines)
    return found


def _bare(joined: str) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in textdiff.split_lines(joined))


def _citations(row: Hunk) -> tuple[Citation, ...]:
    return tuple(
        Citation(
            source=e.source,  # type: ignore[arg-type] # TextChoices holds the same words
            quote=e.quote,
            place=e.place,
            session_pk=e.session_id,
            line_no=e.line_no,
            offset=e.offset,
            role=e.role,
            at=e.at,
            context=e.context,
            found=e.found,
            note=e.note,
        )
        for e in row.evidence.all()
    )


def _fates(row: Hunk) -> tuple[Fate, ...]:
    """What the engine said of removed lines; the ledger checks it and fills in the rest."""
    return tuple(
        Fate(e.text, e.fate, e.target_path, e.target_text, e.note)  # type: ignore[arg-type] # as above
        for e in row.ledger.all()
        if e.fate != LedgerEntry.Fate.UNEXPLAINED
    )


def _save_report(proposal: Proposal, report: Report) -> None:
    files = {file.path: file for file in proposal.files.all()}
    hunks = {
        (h.file.path, h.hunk_id): h
        for h in Hunk.objects.filter(file__proposal=proposal).select_related("file")
    }
    confirmed = {
        key: (by, at)
        for key, by, at in proposal.findings.filter(confirmed_at__isnull=False).values_list(
            "key", "confirmed_by", "confirmed_at"
        )
    }
    proposal.findings.all().delete()
    Finding.objects.bulk_create(
        Finding(
            proposal=proposal,
            file=files.get(found.path),
            hunk=hunks.get((found.path, found.hunk_id)),
            key=found.key,
            check_name=found.check,
            code=found.code,
            severity=found.severity,
            message=text.storable(found.message, 2000),
            remedy=text.storable(found.remedy, 1000),
            line_no=found.line_no,
            confirmed_by=confirmed.get(found.key, ("", None))[0],
            confirmed_at=confirmed.get(found.key, ("", None))[1],
        )
        for found in report.findings
    )
    by_hunk = defaultdict(list)
    for row in report.ledger:
        by_hunk[row.path, row.hunk_id].append(row)
    looked_at = [hunks[place] for place in by_hunk if place in hunks]
    LedgerEntry.objects.filter(hunk__in=looked_at).delete()
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            hunk=hunks[place],
            text=text.storable(row.text, QUOTE_LIMIT),
            fate=row.fate,
            target_path=row.target_path,
            target_line=row.target_line,
            target_text=text.storable(row.target_text, QUOTE_LIMIT),
            note=text.storable(row.note, 500),
        )
        for place, rows in by_hunk.items()
        if place in hunks
        for row in rows
    )


# --- Saving ---------------------------------------------------------------------------------------------------


def _save_operations(proposal: Proposal, draft: drafts.Draft) -> dict[str, Operation]:
    rows = [
        Operation(proposal=proposal, key=made.key, kind=made.kind, reason=text.storable(made.reason, 2000))
        for made in draft.operations.values()
    ]
    return {row.key: row for row in Operation.objects.bulk_create(rows)}


def _save_file(
    proposal: Proposal, file: drafts.DraftFile, operations: Mapping[str, Operation], restored: Restored
) -> FileChange:
    change = FileChange.objects.create(
        proposal=proposal,
        path=file.path,
        kind=file.kind,
        memory_type=memory_type(file.path, file.new if file.new is not None else file.base),
        base_sha=blobs.put(file.base) if file.base is not None else "",
        new_sha=blobs.put(file.new) if file.new is not None else "",
        mode=restored.mode,
        mtime_ns=restored.mtime_ns,
    )
    save_hunks(change, file.hunks, operations)
    return change


def save_hunks(
    change: FileChange, hunks: Sequence[drafts.DraftHunk], operations: Mapping[str, Operation]
) -> None:
    """Rows for `hunks`, with their evidence and what the engine said of removed lines."""
    rows = Hunk.objects.bulk_create(
        Hunk(
            file=change,
            operation=operations.get(made.operation),
            hunk_id=made.hunk.id,
            number=number,
            base_start=made.hunk.base_start,
            base_count=len(made.hunk.base_lines),
            new_start=made.hunk.new_start,
            new_count=len(made.hunk.new_lines),
        )
        for number, made in enumerate(hunks)
    )
    pairs = list(zip(rows, hunks, strict=True))
    Evidence.objects.bulk_create(_evidence(row, c) for row, made in pairs for c in made.citations)
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            hunk=row,
            text=text.storable(fate.text, QUOTE_LIMIT),
            fate=fate.kind,
            target_path=fate.target_path,
            target_text=text.storable(fate.target_text, QUOTE_LIMIT),
            note=text.storable(fate.note, 500),
        )
        for row, made in pairs
        for fate in made.fates
    )


def _evidence(row: Hunk, citation: Citation) -> Evidence:
    return Evidence(
        hunk=row,
        source=citation.source,
        session_id=citation.session_pk,
        place=text.storable(citation.place),
        line_no=citation.line_no,
        offset=citation.offset,
        role=citation.role,
        at=citation.at,
        quote=text.storable(citation.quote, QUOTE_LIMIT),
        line_hash=text.sha256(text.encode(text.storable(citation.context or citation.quote))),
        context=text.storable(citation.context, QUOTE_LIMIT),
        found=citation.found,
        note=text.storable(citation.note, 300),
    )


def memory_type(path: str, data: bytes | None) -> str:
    """`index` for MEMORY.md, else the memory's own type, else empty."""
    if path.rpartition("/")[2] == "MEMORY.md":
        return "index"
    return memdir.memory_type(memdir.parse(data or b""), path) or ""
