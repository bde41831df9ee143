"""Saves a draft as a proposal with evidence, ledger and findings, and carries verdicts over to a newer proposal."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from dreams.engines import drafts
from dreams.engines.types import Citation, EvidenceSource, Fate, FateKind, OperationKind
from dreams.lib.files import text
from dreams.models import DreamRun, Evidence, FileChange, Hunk, LeftOut, Operation, Project, Proposal, Session
from dreams.services import auditlog, blobs, database, project_lock
from dreams.services.catching import card_states
from dreams.services.proposals import decisions
from dreams.services.proposals.checks import (
    MOST_AT_ONCE,
    SAVING,
    check_draft,
    examine,
    save_check_results,
)
from dreams.services.proposals.rows_to_hunks import memory_type
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT, TranscriptVerdicts
from dreams.services.questions import question_states

# Citations and claims of an engine as JSON fields and back.


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
    """`sessions` are those that still exist (pks); a citation of another one keeps only its quote and place."""
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


@dataclass(frozen=True, slots=True)
class RestoredStat:
    """Mode and time of a file that comes back by an undo, or from another project."""

    mode: int | None = None
    mtime_ns: int | None = None


@dataclass(frozen=True, slots=True)
class OperationMark:
    """Who made an operation, whether an earned policy may apply this kind, and the policy that applies it."""

    maker: str = ""
    is_routine: bool = False
    policy_pk: int | None = None


@dataclass(frozen=True, slots=True)
class ProposalOrigin:
    """Where a proposal comes from."""

    kind: Proposal.Origin
    actor: str = ""
    summary: str = ""
    dream: DreamRun | None = None
    by_policy: bool = False
    partial: bool = False
    undoes: Proposal | None = None
    moved_to: Project | None = None
    undo_asked: Mapping[str, Any] = field(default_factory=dict)
    restored: Mapping[str, RestoredStat] = field(default_factory=dict)
    conflicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # as in `FileChange.conflict`
    marks: Mapping[str, OperationMark] = field(default_factory=dict)
    is_unreviewed: bool = False  # an undo that is applied without a review


def create(
    project: Project,
    origin: ProposalOrigin,
    draft: drafts.Draft,
    before: Mapping[str, bytes],
    transcripts: TranscriptVerdicts | None = None,
    instead_of: Proposal | None = None,
    unless: Callable[[], Proposal | None] | None = None,
) -> Proposal:
    """Save `draft` as an open proposal, with evidence, ledger and findings. `before` is the whole directory. `instead_of` is
    superseded in the same transaction, and equal hunks keep their verdicts. `unless` finds one that is there already, also
    where another request has just made it; it is for callers that hold no rows, as others may wait for these."""
    transcripts = transcripts or TranscriptVerdicts.of_dream(origin.dream)
    # Before the transaction, which must not wait for the disk or the checks.
    checked = check_draft(project, origin.kind, draft, before, transcripts, undo=origin.is_unreviewed)
    blobs.put_whole(data for file in draft.files for data in (file.base, file.new) if data is not None)
    with transaction.atomic():
        if unless:
            database.one_at_a_time(f"proposals of {project.pk}")
            if found := unless():
                return found
        who = origin.dream.requested_by if origin.dream else origin.actor
        verdicts = supersede(instead_of, who) if instead_of else {}
        proposal = Proposal.objects.create(
            project=project,
            dream=origin.dream,
            by_policy=origin.by_policy,
            partial=origin.partial,
            origin=origin.kind,
            summary=origin.summary,
            undoes=origin.undoes,
            moved_to=origin.moved_to,
            undo_asked=dict(origin.undo_asked),
            created_by=origin.actor,
            directory=project_lock.directory(project),
        )
        operations = _save_operations(proposal, draft, origin.marks)
        _save_files(proposal, draft, operations, origin)
        save_check_results(proposal, checked, operations, transcripts)
        if verdicts:
            carry_over(proposal, verdicts)
        moves: dict[str, Any] = {"moved_to": str(origin.moved_to)} if origin.moved_to else {}
        auditlog.record(
            "proposal.made",
            actor=origin.actor,
            project=project,
            object_id=proposal.public_id,
            origin=origin.kind.value,
            files={f.path: [text.sha256(f.base or b""), text.sha256(f.new or b"")] for f in draft.files},
            **moves,
        )
    return proposal


def redraft(proposal: Proposal, draft: drafts.Draft, before: Mapping[str, bytes]) -> None:
    """Replace the changes of an open proposal by `draft`. Equal hunks keep their verdicts, confirmed findings stay
    confirmed. Call it in a transaction that has locked the proposal."""
    old = Hunk.objects.filter(file__proposal=proposal).exclude(verdict=Hunk.Verdict.PENDING)
    verdicts = {(hunk.file.path, hunk.hunk_id): hunk for hunk in old.select_related("file")}
    proposal.findings.update(file=None, hunk=None)
    proposal.files.all().delete()
    proposal.operations.all().delete()
    operations = _save_operations(proposal, draft, {})
    blobs.put_whole(data for file in draft.files for data in (file.base, file.new) if data is not None)
    _save_files(proposal, draft, operations)
    carry_over(proposal, verdicts)
    now = project_lock.directory(proposal.project)
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="", directory=now)
    examine(proposal, before)


def _save_operations(
    proposal: Proposal, draft: drafts.Draft, marks: Mapping[str, OperationMark]
) -> dict[str, Operation]:
    rows = [
        Operation(
            proposal=proposal,
            key=made.key,
            kind=made.kind,
            reason=made.reason,
            maker=mark.maker,
            is_routine=mark.is_routine,
            policy_id=mark.policy_pk,
        )
        for made in draft.operations.values()
        for mark in [marks.get(made.key, OperationMark())]
    ]
    return {row.key: row for row in Operation.objects.bulk_create(rows)}


def _save_files(
    proposal: Proposal,
    draft: drafts.Draft,
    operations: Mapping[str, Operation],
    origin: ProposalOrigin | None = None,
) -> None:
    """Rows for all files and hunks of a draft, whose texts are saved already."""
    rows = FileChange.objects.bulk_create(_file_change(proposal, file, origin) for file in draft.files)
    _save_hunks(
        [
            (change, number, made)
            for change, file in zip(rows, draft.files, strict=True)
            for number, made in enumerate(file.hunks)
        ],
        operations,
    )


def _file_change(proposal: Proposal, file: drafts.DraftFile, origin: ProposalOrigin | None) -> FileChange:
    restored = (origin.restored.get(file.path) if origin else None) or RestoredStat()
    return FileChange(
        proposal=proposal,
        path=file.path,
        kind=file.kind,
        memory_type=memory_type(file.path, file.new if file.new is not None else file.base),
        base_sha=text.sha_of(file.base),
        new_sha=text.sha_of(file.new),
        mode=restored.mode,
        mtime_ns=restored.mtime_ns,
        conflict=origin.conflicts.get(file.path) if origin else None,
    )


def _save_hunks(
    hunks: Sequence[tuple[FileChange, int, drafts.DraftHunk]], operations: Mapping[str, Operation]
) -> None:
    for some in database.in_parts(hunks, MOST_AT_ONCE, SAVING):
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
            for change, number, made in some
        )
        pairs = zip(rows, some, strict=True)
        Evidence.objects.bulk_create(_evidence(row, c) for row, (_, _, made) in pairs for c in made.citations)


def save_hunk(row: Hunk, made: drafts.DraftHunk, operation: Operation, citations: Sequence[Citation]) -> None:
    """Save operation, claims and evidence of a hunk whose row exists; `citations` come before the draft's own."""
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


def open_dream_proposal(project: Project) -> Proposal | None:
    """The dream's proposal that waits for a review or to be written, if there is one."""
    return project.proposals.filter(
        origin=Proposal.Origin.DREAM, by_policy=False, state__in=Proposal.UNFINISHED
    ).first()


def open_with_origin(project: Project, origin: Proposal.Origin) -> Proposal | None:
    """The open proposal of this origin, for origins that have at most one per project: cards, answers."""
    return project.proposals.filter(origin=origin, state=Proposal.State.OPEN).first()


def supersede(proposal: Proposal, actor: str) -> dict[tuple[str, str], Hunk]:
    """Close `proposal` in favour of a newer one; returns its decided hunks by (path, hunk id), to carry over.

    Its sessions become unread again.
    """
    with transaction.atomic():
        closed = Proposal.objects.filter(pk=proposal.pk, state__in=Proposal.UNFINISHED).update(
            state=Proposal.State.SUPERSEDED, closed_at=timezone.now()
        )
        if not closed:
            return {}
        proposal.refresh_from_db(fields=["state"])
        question_states.proposal_ended(proposal)
        card_states.proposal_ended(proposal)
        if proposal.dream_id and not proposal.partial:
            Session.objects.filter(reviewed_by__dream=proposal.dream_id).update(given_back_at=timezone.now())
        auditlog.record("proposal.superseded", actor=actor, about=proposal)
    decided = (
        Hunk.objects.filter(file__proposal=proposal)
        .exclude(verdict=Hunk.Verdict.PENDING)
        .select_related("file")
    )
    return {(hunk.file.path, hunk.hunk_id): hunk for hunk in decided}


def carry_over(proposal: Proposal, verdicts: Mapping[tuple[str, str], Hunk]) -> int:
    """Give the hunks of `proposal` the verdicts that equal hunks had before; returns how many.

    A decision with a new hunk stays undecided: no operation is approved in part.
    """
    rows = Hunk.objects.filter(file__proposal=proposal).select_related("file")
    carried = 0
    for parts in decisions.grouped(rows).values():
        old = [verdicts.get((hunk.file.path, hunk.hunk_id)) for hunk in parts]
        for hunk, was in zip(parts, old, strict=True):
            if was is not None and None not in old:
                _carry(was, hunk)
                carried += 1
    return carried


def _carry(was: Hunk, hunk: Hunk) -> None:
    for name in ("verdict", "edited_sha", "decided_by", "decided_at", "decide_reason"):
        setattr(hunk, name, getattr(was, name))
    hunk.verdict_base_sha = hunk.file.base_sha
    hunk.save()


def rejected_hunks(project: Project) -> dict[tuple[str, str], str]:
    """(path, hunk id) → inputs key of every hunk that a person rejected."""
    rows = LeftOut.objects.decided().filter(project=project).values_list("path", "hunk_id", "inputs_key")
    return {(path, hunk_id): key for path, hunk_id, key in rows}
