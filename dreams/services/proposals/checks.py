"""Runs the checks on a proposal, from the directory before and after it, and saves their findings with a digest of the
inputs: unchanged inputs are not checked again.
"""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TypedDict

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from dreams import conf, findings
from dreams.engines import drafts
from dreams.engines.versions import source_digest
from dreams.findings import secrets
from dreams.findings.base import (
    ChangedHunk,
    FindingsReport,
    JudgedStatement,
    MessageParts,
    NewFinding,
    RemovedLine,
    Subject,
)
from dreams.findings.ledger.units import units_of_lines
from dreams.findings.regression import LONGEST_PROMPT, MOST_PROMPTS
from dreams.lib import progress
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.lib.secrets import redact
from dreams.models import (
    FileChange,
    Finding,
    Hunk,
    LedgerEntry,
    LeftOut,
    Operation,
    Project,
    Prompt,
    Proposal,
)
from dreams.services import database, hosts
from dreams.services.memories import derivable, instructions
from dreams.services.proposals.rows_to_hunks import (
    bytes_of,
    changed_hunks,
    choices,
    decided_bytes,
    strip_line_ends,
    texts_of,
)
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT, TranscriptVerdicts, stored_answer
from dreams.services.questions import question_states


def examine(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool = True,
    verdicts: TranscriptVerdicts | None = None,
) -> None:
    """Check what would be written and replace findings, ledger and the sessions' answers; confirmations stay by key.

    `undecided` False checks exactly what was approved: a rejected destination then shows as a loss. Findings on other
    changes stay. Does nothing when the last check had the same inputs.
    """
    hosts.name_secrets()
    verdicts = verdicts or TranscriptVerdicts.of_proposal(proposal)
    subject = subject_of(proposal, before, undecided=undecided)
    key = _subject_digest(subject, verdicts)
    if not Proposal.objects.filter(pk=proposal.pk, checked_digest=key).exists():
        report = findings.examine(_with_verdicts(subject, verdicts))
        _save_report(proposal, subject.hunks, report, verdicts, key)


@dataclass(frozen=True, slots=True)
class CheckResults:
    """The report on a draft, and what was checked."""

    report: FindingsReport
    subject: Subject
    is_complete: bool


def check_draft(
    project: Project,
    origin: Proposal.Origin,
    draft: drafts.Draft,
    before: Mapping[str, bytes],
    verdicts: TranscriptVerdicts,
    *,
    undo: bool = False,
) -> CheckResults:
    """Check a draft before the transaction that saves it: during a transaction nobody else can write.

    The report is kept with `verdicts`: engine, policy and proposal of a dream mostly check the same draft.
    `undo`: it is applied without a review, and each line that it removes was applied before.
    """
    hosts.name_secrets()
    subject = _subject_of_draft(project, before, draft, origin)
    if undo:
        report = findings.examine_undo(_with_verdicts(subject, verdicts))
        return CheckResults(report, subject, is_complete=False)
    key = _subject_digest(subject, verdicts)
    if verdicts.reported is None or verdicts.reported[0] != key:
        verdicts.reported = key, findings.examine(_with_verdicts(subject, verdicts))
    return CheckResults(verdicts.reported[1], subject, is_complete=True)


def save_check_results(
    proposal: Proposal, checked: CheckResults, rows: Mapping[str, Operation], verdicts: TranscriptVerdicts
) -> None:
    """Save the results for a draft with the rows made from it. The digest is that of `subject_of`."""
    operation_pks = {key: str(row.pk) for key, row in rows.items()}
    hunks = [replace(hunk, operation=operation_pks.get(hunk.operation, "")) for hunk in checked.subject.hunks]
    key = _subject_digest(replace(checked.subject, hunks=hunks), verdicts) if checked.is_complete else ""
    _save_report(proposal, hunks, checked.report, verdicts, key)


def report_with(
    proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]
) -> FindingsReport:
    """The report if these texts (hunk pk → text) replaced the proposed ones. Saves nothing."""
    hosts.name_secrets()
    subject = subject_of(proposal, before, undecided=True, instead=instead)
    return findings.examine(_with_verdicts(subject, TranscriptVerdicts.of_proposal(proposal)))


def verdicts_on(proposal: Proposal, typed: str) -> TranscriptVerdicts:
    """The proposal's sessions, with `typed` looked up already: a transaction must not wait for the disk."""
    verdicts = TranscriptVerdicts.of_proposal(proposal)
    verdicts.look_up(unit.text for unit in units_of_lines(typed.splitlines()))
    return verdicts


def _with_verdicts(subject: Subject, verdicts: TranscriptVerdicts) -> Subject:
    return replace(subject, heard=verdicts.ask, against=verdicts.against) if verdicts.sessions else subject


def subject_of(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool,
    instead: Mapping[int, str] | None = None,
) -> Subject:
    """What the proposal would write, by its verdicts. `before` is the directory as last seen; for files of the proposal
    their base is used."""
    files = list(proposal.files.prefetch_related("hunks__evidence"))
    texts = texts_of(files)
    base, after = dict(before), dict(before)
    changed: list[ChangedHunk] = []
    for file in progress.each("Reading changes", files):
        _put(base, file.path, bytes_of(file.base_sha, texts))
        _put(after, file.path, decided_bytes(file, undecided=undecided, instead=instead, texts=texts))
        changed += changed_hunks(
            file, choices(file, undecided=undecided, instead=instead, texts=texts), texts
        )
    changed = question_states.explained(proposal, changed, after)
    return _subject(proposal.project, base, after, changed, _rejected_lines(proposal))


def _put(files: dict[str, bytes], path: str, data: bytes | None) -> None:
    if data is None:
        files.pop(path, None)
    else:
        files[path] = data


def _subject_of_draft(
    project: Project, before: Mapping[str, bytes], draft: drafts.Draft, origin: Proposal.Origin
) -> Subject:
    after = drafts.only(draft, before, draft.operations)
    changed = [
        ChangedHunk(
            path=file.path,
            hunk_id=made.hunk.id,
            base_start=made.hunk.base_start,
            removed=strip_line_ends(made.hunk.removed),
            new_start=made.hunk.new_start,
            added=strip_line_ends(made.hunk.added),
            citations=tuple(c for c in made.citations if c.source != "agent"),  # as for rows
            fates=made.fates,
            by_hand=origin not in Proposal.DRAFTED,
            operation=made.operation,
        )
        for file in draft.files
        for made in file.hunks
    ]
    return _subject(
        project, before, after, changed, _rejected_in(project) if origin in Proposal.REMEMBERED else {}
    )


def _subject(
    project: Project,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    changed: Sequence[ChangedHunk],
    rejected: Mapping[str, dt.date],
) -> Subject:
    # The repository of a project on another host cannot be read here.
    repo = project.repo_dir if project.host == hosts.host() else ""
    return Subject(
        before=before,
        after=after,
        hunks=changed,
        config=conf.current(project),
        instructions=instructions.texts(project),
        scope=project.scope,
        repeated=derivable.by_code(_changed(before, after), repo),
        asked=_recent_prompts(project),
        rejected=rejected,
    )


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in after.items() if before.get(path) != data}


def _recent_prompts(project: Project) -> list[str]:
    """What people typed in this project's past sessions, without secrets and without the prompts of dreams."""
    rows = Prompt.objects.filter(session__project=project, session__own=False)
    texts = rows.order_by(F("at").desc(nulls_last=True)).values_list("text", flat=True)[:MOST_PROMPTS]
    return [redact.redact(found[: LONGEST_PROMPT + 1]) for found in texts]


def _rejected_lines(proposal: Proposal) -> Mapping[str, dt.date]:
    """Empty for proposals that a person made: they may bring a rejected line back."""
    return _rejected_in(proposal.project, besides=proposal) if proposal.origin in Proposal.REMEMBERED else {}


def _rejected_in(project: Project, besides: Proposal | None = None) -> Mapping[str, dt.date]:
    """Normalised lines that a person rejected, with the day. Changes that were approved and later undone do not count."""
    undone = Hunk.objects.filter(
        file__proposal=OuterRef("proposal"),
        file__path=OuterRef("path"),
        hunk_id=OuterRef("hunk_id"),
        undone_in__isnull=False,
    )
    rows = LeftOut.objects.decided().filter(~Exists(undone), project=project).order_by("at")
    if besides is not None:
        rows = rows.exclude(proposal=besides)
    return {
        comparing.normalised(line): timezone.localdate(at)
        for lines, at in rows.values_list("added", "at")
        for line in lines
        if line.strip()
    }


#: These are called during the checks; the digest has the sessions instead.
_LAZY_FIELDS = frozenset({"heard", "against"})


def _subject_digest(subject: Subject, verdicts: TranscriptVerdicts) -> str:
    """Of all that the checks depend on: every text, hunk, setting and session, the key for naming secrets, and the code of
    the checks."""
    made = hashlib.sha256(f"{source_digest()} {secrets.fingerprint('')}".encode())
    for field in fields(subject):
        if field.name not in _LAZY_FIELDS:
            made.update(
                f"{field.name} {_stable(getattr(subject, field.name))}\n".encode("utf-8", "surrogatepass")
            )
    made.update(repr([session.pk for session in verdicts.sessions]).encode())
    return made.hexdigest()


def _stable(value: object) -> str:
    """Equal for equal values, whatever their order in memory."""
    if isinstance(value, frozenset):
        return repr(sorted(value))
    if isinstance(value, Mapping):
        return repr(sorted((key, text.sha256(v) if isinstance(v, bytes) else v) for key, v in value.items()))
    return repr(value)


HunksByPlace = Mapping[tuple[str, str], Hunk]

MOST_AT_ONCE = 200  # rows of one transaction: about 20 ms of SQLite's write lock
SAVING = "Saving what was found"


def _save_report(
    proposal: Proposal,
    checked: Iterable[ChangedHunk],
    report: FindingsReport,
    verdicts: TranscriptVerdicts,
    key: str,
) -> None:
    """Replace the findings on the `checked` hunks and on the proposal by those of `report`; confirmations stay by key.
    Findings on other hunks stay.

    In several transactions, the digest in the last one: after a crash in between the checks run again, and until then
    there are too many findings rather than too few.
    """
    if left_out := verdicts.left_out():  # another check may find more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")
    places = {(hunk.path, hunk.hunk_id) for hunk in checked}
    rows = Hunk.objects.filter(file__proposal=proposal).select_related("file")
    hunks = {place: row for row in rows if (place := (row.file.path, row.hunk_id)) in places}
    with progress.finishing(SAVING):
        _save_findings(proposal, hunks, report)
        _save_ledger(hunks, report)
        _save_transcript_verdicts(hunks, report.judged)
        Proposal.objects.filter(pk=proposal.pk).update(checked_digest=key)


@dataclass(frozen=True, slots=True)
class _Confirmations:
    """Confirmed findings by key and, for hunks that a rebase gave another id, by path, code, what they are about and hunk.
    When a hunk was merged into another, its findings belong to the file."""

    by_key: Mapping[str, Finding]
    by_subject: Mapping[tuple[str, str, str, int | None], Finding]

    @classmethod
    def load(cls, proposal: Proposal) -> "_Confirmations":
        rows = list(proposal.findings.filter(confirmed_at__isnull=False).select_related("file"))
        by_subject = {
            (
                row.file.path if row.file else "",
                row.code,
                row.message_parts.get(Finding.ABOUT, ""),
                row.hunk_id,
            ): row
            for row in rows
        }
        return cls({row.key: row for row in rows}, by_subject)

    def fields(self, found: NewFinding, hunk: Hunk | None) -> "_Confirmation":
        subject = (found.path, found.code, _about(found))
        row = self.by_key.get(found.key) or self.by_subject.get((*subject, hunk.pk if hunk else None))
        row = row or self.by_subject.get((*subject, None))
        by, at = (row.confirmed_by, row.confirmed_at) if row else ("", None)
        return {"confirmed_by": by, "confirmed_at": at}


class _Confirmation(TypedDict):
    confirmed_by: str
    confirmed_at: dt.datetime | None


def _about(found: NewFinding) -> str:
    """A digest of what a finding is about, whichever hunk it is in: two alike in one hunk are confirmed one by one."""
    return text.sha256((found.about or found.message).encode("utf-8", "surrogatepass"))[:24]


def _save_findings(proposal: Proposal, hunks: HunksByPlace, report: FindingsReport) -> None:
    """Rows that are already there, in this order, stay: a submit mostly repeats the findings of before."""
    files = {file.path: file for file in proposal.files.all()}
    confirmed = _Confirmations.load(proposal)
    mine = {None, *(row.pk for row in hunks.values())}
    old = [row for row in proposal.findings.order_by("pk") if row.hunk_id in mine]
    new = [
        _row(proposal, found, files.get(found.path), hunks.get((found.path, found.hunk_id)), confirmed)
        for found in report.findings
    ]
    pairs = zip(old, new, strict=False)
    same = next(
        (at for at, pair in enumerate(pairs) if _without_pk(pair[0]) != _without_pk(pair[1])),
        min(len(old), len(new)),
    )
    for part in database.in_parts(new[same:], MOST_AT_ONCE, SAVING):
        Finding.objects.bulk_create(part)
    for gone in database.in_parts(old[same:], MOST_AT_ONCE):
        Finding.objects.filter(pk__in=[row.pk for row in gone]).delete()


def _without_pk(row: Finding) -> tuple[object, ...]:
    return tuple(
        getattr(row, field.attname) for field in Finding._meta.concrete_fields if not field.primary_key
    )


def _row(
    proposal: Proposal, found: NewFinding, file: FileChange | None, hunk: Hunk | None, old: _Confirmations
) -> Finding:
    return Finding(
        proposal=proposal,
        file=file,
        hunk=hunk,
        key=found.key,
        check_name=found.check,
        code=found.code,
        severity=found.severity,
        message=text.storable(found.message, 2000),
        remedy=text.storable(found.remedy, 1000),
        message_parts=_stored_parts(found.message_parts) | {Finding.ABOUT: _about(found)},
        line_no=found.line_no,
        **old.fields(found, hunk),
    )


def _stored_parts(parts: MessageParts) -> dict[str, str]:
    return {name: text.storable(part, 2000) for name, part in asdict(parts).items() if part}


def _save_ledger(hunks: HunksByPlace, report: FindingsReport) -> None:
    by_hunk: dict[Hunk, list[LedgerEntry]] = defaultdict(list)
    for row in report.ledger:
        if hunk := hunks.get((row.path, row.hunk_id)):
            by_hunk[hunk].append(_entry(hunk, row))
    old: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for entry in LedgerEntry.objects.filter(hunk__in=by_hunk).order_by("pk").values_list(*_ENTRY_FIELDS):
        old[entry[0]].append(entry)
    changed = [
        (hunk, entries)
        for hunk, entries in by_hunk.items()
        if old[hunk.pk] != [tuple(getattr(entry, name) for name in _ENTRY_FIELDS) for entry in entries]
    ]
    for part in database.in_parts(changed, MOST_AT_ONCE, SAVING):
        with transaction.atomic():
            LedgerEntry.objects.filter(hunk__in=[hunk for hunk, _ in part]).delete()
            LedgerEntry.objects.bulk_create(entry for _, entries in part for entry in entries)


_ENTRY_FIELDS = ("hunk_id", "text", "fate", "target_path", "target_line", "target_text", "note")


def _entry(hunk: Hunk, row: RemovedLine) -> LedgerEntry:
    return LedgerEntry(
        hunk=hunk,
        text=text.storable(row.text, QUOTE_LIMIT),
        fate=row.fate,
        target_path=row.target_path,
        target_line=row.target_line,
        target_text=text.storable(row.target_text, QUOTE_LIMIT),
        note=text.storable(row.note, 500),
    )


def _save_transcript_verdicts(hunks: HunksByPlace, judged: Sequence[JudgedStatement]) -> None:
    """Save with each hunk what the sessions say about its statements."""
    answers = defaultdict(list)
    for one in judged:
        answers[one.path, one.hunk_id].append(stored_answer(one.line_no, one.text, one.heard))
    changed = [hunk for place, hunk in hunks.items() if hunk.transcript_verdicts != answers[place]]
    for hunk in changed:
        hunk.transcript_verdicts = answers[hunk.file.path, hunk.hunk_id]
    for part in database.in_parts(changed, MOST_AT_ONCE, SAVING):
        Hunk.objects.bulk_update(part, ["transcript_verdicts"])
