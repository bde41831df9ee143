"""From a draft to rows, with evidence, ledger and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from dreams.engines import drafts
from dreams.engines.types import Citation, Fate
from dreams.findings.evidence import judge
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
from dreams.services import auditlog, blobs
from dreams.services.proposals.examining import examine
from dreams.services.proposals.hearing import Hearing, of_dream
from dreams.services.proposals.limits import QUOTE_LIMIT
from dreams.services.proposals.reading import memory_type
from dreams.services.proposals.standing import carry_over
from dreams.services.proposals.subjects import subject_of_draft


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
    Proposal.objects.filter(pk=proposal.pk).update(examined="")
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
