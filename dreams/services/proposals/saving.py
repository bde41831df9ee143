"""From a draft to rows, with evidence, ledger and findings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import get_args

from django.db import transaction
from django.utils.dateparse import parse_datetime

from dreams import findings
from dreams.engines import drafts
from dreams.engines.types import Citation, EvidenceSource, Fate, FateKind, OperationKind
from dreams.findings.base import Report
from dreams.findings.evidence import judge
from dreams.findings.ledger.units import units_of_lines
from dreams.lib.files import text
from dreams.models import (
    DreamRun,
    Evidence,
    FileChange,
    Hunk,
    Operation,
    Project,
    Proposal,
)
from dreams.services import auditlog, blobs, host_key
from dreams.services.proposals import reports
from dreams.services.proposals.hearing import QUOTE_LIMIT, Hearing, of_dream, of_proposal
from dreams.services.proposals.reading import memory_type
from dreams.services.proposals.subjects import carry_over, listening, subject_of, subject_of_draft

# An engine's edit as JSON fields and back: its citations, and what became of the lines that it removed.


def stored_citation(found: Citation) -> dict[str, object]:
    """`citation` reads it."""
    fields = asdict(found) | {"at": found.at.isoformat() if found.at else None}
    return {
        name: text.storable(value, QUOTE_LIMIT) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def stored_fate(found: Fate) -> dict[str, str]:
    """`fate` reads it."""
    return {name: text.storable(value, QUOTE_LIMIT) for name, value in asdict(found).items()}


def citation(found: Mapping[str, object], sessions: Collection[int]) -> Citation:
    """`sessions` are the rows that still exist; a citation of another one keeps its quote and place only."""
    session, at = _number(found.get("session_pk")), found.get("at")
    source: EvidenceSource = next(
        (kind for kind in get_args(EvidenceSource) if kind == found.get("source")), "memory"
    )
    return Citation(
        source=source,
        quote=str(found.get("quote", "")),
        place=str(found.get("place", "")),
        session_pk=session if session in sessions else None,
        line_no=_number(found.get("line_no")),
        offset=_number(found.get("offset")),
        role=str(found.get("role", "")),
        at=parse_datetime(at) if isinstance(at, str) else None,
        context=str(found.get("context", "")),
        found=bool(found.get("found", False)),
        note=str(found.get("note", "")),
    )


def fate(found: Mapping[str, object]) -> Fate:
    kind: FateKind = next((kind for kind in get_args(FateKind) if kind == found.get("kind")), "stated")
    names = ("text", "target_path", "target_text", "note")
    line, path, target, note = (str(found.get(name, "")) for name in names)
    return Fate(line, kind, path, target, note)


def operation_kind(name: str) -> OperationKind:
    return next((kind for kind in get_args(OperationKind) if kind == name), "edit")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


# Findings and ledger of exactly the text that would be written, saved beside the hunks.


def examine(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool = True,
    heard: Hearing | None = None,
) -> None:
    """Check what would be written and save findings, ledger and the sessions' answers anew; confirmations stay by key.

    `undecided` False looks at exactly what was approved: a rejected destination then shows as a loss. What was said of
    other changes stays beside them. Where the last look was at the very same texts nothing is done.
    """
    host_key.use()
    heard = heard or of_proposal(proposal)
    subject = subject_of(proposal, before, undecided=undecided)
    key = reports.key_of(subject, heard)
    if reports.stands(proposal, key):
        return
    report = findings.examine(listening(subject, heard))
    left_out = heard.left_out()
    if left_out:  # another look may hear more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    reports.save(proposal, {(hunk.path, hunk.hunk_id) for hunk in subject.hunks}, report, key)


def report_with(proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]) -> Report:
    """What the checks would say with these texts (hunk pk → text) in place of the proposed ones. Saves nothing."""
    host_key.use()
    subject = subject_of(proposal, before, undecided=True, instead=instead)
    return findings.examine(listening(subject, of_proposal(proposal)))


def listened(proposal: Proposal, typed: str) -> Hearing:
    """What the proposal's sessions say, `typed` looked up already: before a transaction, which waits for no disk."""
    heard = of_proposal(proposal)
    heard.listen(unit.text for unit in units_of_lines(typed.splitlines()))
    return heard


@dataclass(frozen=True, slots=True)
class Restored:
    """What a rollback wants a file to have besides its bytes."""

    mode: int | None = None
    mtime_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """Who made an operation, whether an earned policy may apply its like, and the policy that applies it."""

    maker: str = ""
    is_routine: bool = False
    policy_pk: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a proposal comes from."""

    kind: Proposal.Origin
    actor: str = ""
    summary: str = ""
    dream: DreamRun | None = None
    by_policy: bool = False
    partial: bool = False
    undoes: Proposal | None = None
    restored: Mapping[str, Restored] = field(default_factory=dict)
    marks: Mapping[str, Mark] = field(default_factory=dict)


def create(
    project: Project,
    origin: Origin,
    draft: drafts.Draft,
    before: Mapping[str, bytes],
    heard: Hearing | None = None,
) -> Proposal:
    """Save `draft` as an open proposal, with evidence, ledger and findings. `before` is the whole directory."""
    heard = heard or of_dream(origin.dream)
    if heard.sessions:  # before the transaction, which waits for no disk
        judge(subject_of_draft(project, before, draft, heard))
    with transaction.atomic():
        proposal = Proposal.objects.create(
            project=project,
            dream=origin.dream,
            by_policy=origin.by_policy,
            partial=origin.partial,
            origin=origin.kind,
            summary=origin.summary,
            undoes=origin.undoes,
            created_by=origin.actor,
        )
        operations = _save_operations(proposal, draft, origin.marks)
        for file in draft.files:
            _save_file(proposal, file, operations, origin.restored.get(file.path, Restored()))
        examine(proposal, before, heard=heard)
        auditlog.record(
            "proposal.made",
            actor=origin.actor,
            project=project,
            object_id=proposal.public_id,
            origin=origin.kind.value,
            files={f.path: [text.sha256(f.base or b""), text.sha256(f.new or b"")] for f in draft.files},
        )
    return proposal


def redraft(proposal: Proposal, draft: drafts.Draft, before: Mapping[str, bytes]) -> None:
    """Put `draft` in the place of what an open proposal wants. The same hunks keep their verdicts, and what was
    confirmed stays confirmed. Call it in a transaction that holds the proposal."""
    old = Hunk.objects.filter(file__proposal=proposal).exclude(verdict=Hunk.Verdict.PENDING)
    verdicts = {(hunk.file.path, hunk.hunk_id): hunk for hunk in old.select_related("file")}
    proposal.findings.update(file=None, hunk=None)
    proposal.files.all().delete()
    proposal.operations.all().delete()
    operations = _save_operations(proposal, draft, {})
    for file in draft.files:
        _save_file(proposal, file, operations, Restored())
    carry_over(proposal, verdicts)
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")
    examine(proposal, before)


def _save_operations(
    proposal: Proposal, draft: drafts.Draft, marks: Mapping[str, Mark]
) -> dict[str, Operation]:
    rows = [
        Operation(
            proposal=proposal,
            key=made.key,
            kind=made.kind,
            reason=text.storable(made.reason, 2000),
            maker=mark.maker,
            is_routine=mark.is_routine,
            policy_id=mark.policy_pk,
        )
        for made in draft.operations.values()
        for mark in [marks.get(made.key, Mark())]
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
            claims=[_claim(fate) for fate in made.fates],
        )
        for number, made in enumerate(hunks)
    )
    pairs = list(zip(rows, hunks, strict=True))
    Evidence.objects.bulk_create(_evidence(row, c) for row, made in pairs for c in made.citations)


def save_hunk(row: Hunk, made: drafts.DraftHunk, operation: Operation, citations: Sequence[Citation]) -> None:
    """The operation, claims and evidence of a hunk whose row exists; `citations` come before the draft's own."""
    row.operation, row.claims = operation, [_claim(fate) for fate in made.fates]
    row.save(update_fields=["operation", "claims"])
    found = dict.fromkeys([*citations, *made.citations])
    Evidence.objects.bulk_create(_evidence(row, citation) for citation in found)


def _claim(fate: Fate) -> dict[str, str]:
    return {
        "text": text.storable(fate.text, QUOTE_LIMIT),
        "fate": fate.kind,
        "path": fate.target_path,
        "target": text.storable(fate.target_text, QUOTE_LIMIT),
        "note": text.storable(fate.note, 500),
    }


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
        context=text.storable(citation.context, QUOTE_LIMIT),
        found=citation.found,
        note=text.storable(citation.note, 300),
    )
