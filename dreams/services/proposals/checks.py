"""What the checks say of a proposal: the directory before and after it as they look at it. What they said is kept with a
key of the very texts: the same are not read twice.
"""

import datetime as dt
import hashlib
import re
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
    bare,
    bytes_of,
    changed_hunks,
    choices,
    decided_bytes,
    texts_of,
)
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT, TranscriptVerdicts, stored


def examine(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool = True,
    heard: TranscriptVerdicts | None = None,
) -> None:
    """Check what would be written and save findings, ledger and the sessions' answers anew; confirmations stay by key.

    `undecided` False looks at exactly what was approved: a rejected destination then shows as a loss. What was said of
    other changes stays beside them. Where the last look was at the very same texts nothing is done.
    """
    hosts.name_secrets()
    heard = heard or TranscriptVerdicts.of_proposal(proposal)
    subject = subject_of(proposal, before, undecided=undecided)
    key = _key(subject, heard)
    if not Proposal.objects.filter(pk=proposal.pk, checked_digest=key).exists():
        _keep(proposal, subject.hunks, findings.examine(with_verdicts(subject, heard)), heard, key)


@dataclass(frozen=True, slots=True)
class CheckResults:
    """What the checks say of a draft, and what they looked at."""

    report: FindingsReport
    subject: Subject
    is_whole: bool


def check_draft(
    project: Project,
    origin: Proposal.Origin,
    draft: drafts.Draft,
    before: Mapping[str, bytes],
    heard: TranscriptVerdicts,
    *,
    undo: bool,
) -> CheckResults:
    """The checks of a proposal that is about to be made: before the transaction, in which nobody else could write.

    `undo`: nobody looks at it before it is carried out, and each line that it removes is one that was applied before.
    """
    hosts.name_secrets()
    subject = _subject_of_draft(project, before, draft, origin)
    examine_all = findings.examine_undo if undo else findings.examine
    return CheckResults(examine_all(with_verdicts(subject, heard)), subject, is_whole=not undo)


def keep_checked(
    proposal: Proposal, checked: CheckResults, operations: Mapping[str, Operation], heard: TranscriptVerdicts
) -> None:
    """Save what was said of the draft, beside the rows that were made of it. The digest is that of `subject_of`."""
    named = {key: str(row.pk) for key, row in operations.items()}
    hunks = [replace(hunk, operation=named.get(hunk.operation, "")) for hunk in checked.subject.hunks]
    key = _key(replace(checked.subject, hunks=hunks), heard) if checked.is_whole else ""
    _keep(proposal, hunks, checked.report, heard, key)


def report_with(
    proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]
) -> FindingsReport:
    """What the checks would say with these texts (hunk pk → text) in place of the proposed ones. Saves nothing."""
    hosts.name_secrets()
    subject = subject_of(proposal, before, undecided=True, instead=instead)
    return findings.examine(with_verdicts(subject, TranscriptVerdicts.of_proposal(proposal)))


def verdicts_on(proposal: Proposal, typed: str) -> TranscriptVerdicts:
    """What the proposal's sessions say, `typed` looked up already: before a transaction, which waits for no disk."""
    heard = TranscriptVerdicts.of_proposal(proposal)
    heard.look_up(unit.text for unit in units_of_lines(typed.splitlines()))
    return heard


#: A line that a person rejected and that comes back unasked is named.
_UNASKED = (Proposal.Origin.DREAM, Proposal.Origin.SUGGESTED)


def with_verdicts(subject: Subject, heard: TranscriptVerdicts) -> Subject:
    return replace(subject, heard=heard.ask, against=heard.against) if heard.sessions else subject


def subject_of(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool,
    instead: Mapping[int, str] | None = None,
) -> Subject:
    """The proposal as its verdicts want it. `before` is the directory as it was last seen; each file of the proposal
    counts as the state that it starts from."""
    files = list(proposal.files.prefetch_related("hunks__evidence"))
    texts = texts_of(files)
    was, after = dict(before), dict(before)
    changed: list[ChangedHunk] = []
    for file in files:
        _put(was, file.path, bytes_of(file.base_sha, texts))
        _put(after, file.path, decided_bytes(file, undecided=undecided, instead=instead, texts=texts))
        changed += changed_hunks(
            file, choices(file, undecided=undecided, instead=instead, texts=texts), texts
        )
    return _subject(proposal.project, was, after, changed, _rejected_lines(proposal))


def _put(files: dict[str, bytes], path: str, data: bytes | None) -> None:
    if data is None:
        files.pop(path, None)
    else:
        files[path] = data


def subject_of_draft(
    project: Project,
    before: Mapping[str, bytes],
    draft: drafts.Draft,
    heard: TranscriptVerdicts | None = None,
) -> Subject:
    """What a draft of a dream would write if all of it were approved: for checks before there is a proposal."""
    subject = _subject_of_draft(project, before, draft, Proposal.Origin.DREAM)
    return with_verdicts(subject, heard) if heard else subject


def _subject_of_draft(
    project: Project, before: Mapping[str, bytes], draft: drafts.Draft, origin: Proposal.Origin
) -> Subject:
    after = drafts.only(draft, before, draft.operations)
    changed = [
        ChangedHunk(
            path=file.path,
            hunk_id=made.hunk.id,
            base_start=made.hunk.base_start,
            removed=bare(made.hunk.removed),
            new_start=made.hunk.new_start,
            added=bare(made.hunk.added),
            citations=tuple(c for c in made.citations if c.source != "agent"),  # as for rows
            fates=made.fates,
            by_hand=origin not in Proposal.DRAFTED,
            operation=made.operation,
        )
        for file in draft.files
        for made in file.hunks
    ]
    return _subject(project, before, after, changed, _rejected_by(project) if origin in _UNASKED else {})


def _subject(
    project: Project,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    changed: Sequence[ChangedHunk],
    rejected: Mapping[str, dt.date],
) -> Subject:
    # The repository of another host's project is on its disk.
    repo = project.repo_dir if project.host == hosts.host() else ""
    return Subject(
        before=before,
        after=after,
        hunks=changed,
        config=conf.current(project),
        instructions=instructions.texts(project),
        scope=project.scope,
        repeated=derivable.look(_changed(before, after), repo),
        asked=_asked(project),
        rejected=rejected,
    )


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in after.items() if before.get(path) != data}


def _asked(project: Project) -> list[str]:
    """What people typed in this project's past sessions, without secrets; our own dreams' prompts are nobody's."""
    rows = Prompt.objects.filter(session__project=project, session__own=False)
    texts = rows.order_by(F("at").desc(nulls_last=True)).values_list("text", flat=True)[:MOST_PROMPTS]
    return [redact.redact(found[: LONGEST_PROMPT + 1]) for found in texts]


def _rejected_lines(proposal: Proposal) -> Mapping[str, dt.date]:
    """Only a dream or an agent may bring a line back without being asked."""
    return _rejected_by(proposal.project, besides=proposal) if proposal.origin in _UNASKED else {}


def _rejected_by(project: Project, besides: Proposal | None = None) -> Mapping[str, dt.date]:
    """Normalised lines that a person rejected, with the day. What was approved and undone for good was not rejected."""
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


#: What sessions say is asked for while the checks run; which sessions those are is in the key.
_ASKED = frozenset({"heard", "against"})


def _key(subject: Subject, heard: TranscriptVerdicts) -> str:
    """Equal for subjects of which the checks say the same: every text, hunk, setting and session, the key
    that secrets are named with, and the checks themselves."""
    made = hashlib.sha256(f"{source_digest()} {secrets.fingerprint('')}".encode())
    for field in fields(subject):
        if field.name not in _ASKED:
            made.update(
                f"{field.name} {_told(getattr(subject, field.name))}\n".encode("utf-8", "surrogatepass")
            )
    made.update(repr([session.pk for session in heard.sessions]).encode())
    return made.hexdigest()


def _told(value: object) -> str:
    """The same for what is equal, whatever its order in memory."""
    if isinstance(value, frozenset):
        return repr(sorted(value))
    if isinstance(value, Mapping):
        return repr(sorted((key, text.sha256(v) if isinstance(v, bytes) else v) for key, v in value.items()))
    return repr(value)


Places = Mapping[tuple[str, str], Hunk]
_LINE = re.compile(r"\bline \d+")

# What they said, saved beside the proposal. What a person confirmed stays confirmed while it is said.

MOST_AT_ONCE = 200  # rows of one transaction: about 20 ms of SQLite's write lock


def _keep(
    proposal: Proposal,
    looked_at: Iterable[ChangedHunk],
    report: FindingsReport,
    heard: TranscriptVerdicts,
    key: str,
) -> None:
    """Put a report in place of what was said of the hunks looked at, and of the whole; confirmations stay by key. What
    was said of other hunks stays beside them.

    In several transactions, the digest with the last one: after an end in between the checks run again, and till then
    too much is said rather than too little.
    """
    if left_out := heard.left_out():  # another look may hear more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")
    places = {(hunk.path, hunk.hunk_id) for hunk in looked_at}
    rows = Hunk.objects.filter(file__proposal=proposal).select_related("file")
    hunks = {place: row for row in rows if (place := (row.file.path, row.hunk_id)) in places}
    _save_findings(proposal, hunks, report)
    _save_ledger(hunks, report)
    _save_heard(hunks, report.judged)
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest=key)


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """What a person confirmed: by the finding's key and, for changes that a rebase gave another id, by what was said of
    which hunk. A hunk that went into another left its findings with the file."""

    by_key: Mapping[str, Finding]
    by_words: Mapping[tuple[str, str, str, int | None], Finding]

    @classmethod
    def of(cls, proposal: Proposal) -> "_Confirmed":
        rows = list(proposal.findings.filter(confirmed_at__isnull=False).select_related("file"))
        by_words = {
            (row.file.path if row.file else "", row.code, _without_place(row.message), row.hunk_id): row
            for row in rows
        }
        return cls({row.key: row for row in rows}, by_words)

    def fields(self, found: NewFinding, hunk: Hunk | None) -> "_Confirmation":
        said = (found.path, found.code, _without_place(text.storable(found.message, 2000)))
        row = self.by_key.get(found.key) or self.by_words.get((*said, hunk.pk if hunk else None))
        row = row or self.by_words.get((*said, None))
        by, at = (row.confirmed_by, row.confirmed_at) if row else ("", None)
        return {"confirmed_by": by, "confirmed_at": at}


class _Confirmation(TypedDict):
    confirmed_by: str
    confirmed_at: dt.datetime | None


def _without_place(message: str) -> str:
    """Lines move; what is said of them stays the same."""
    return _LINE.sub("line", message)


def _save_findings(proposal: Proposal, hunks: Places, report: FindingsReport) -> None:
    """Those that are said already, in this order, stay as they are: a submit says mostly what was said before."""
    files = {file.path: file for file in proposal.files.all()}
    confirmed = _Confirmed.of(proposal)
    mine = {None, *(row.pk for row in hunks.values())}
    old = [row for row in proposal.findings.order_by("pk") if row.hunk_id in mine]
    new = [
        _row(proposal, found, files.get(found.path), hunks.get((found.path, found.hunk_id)), confirmed)
        for found in report.findings
    ]
    pairs = zip(old, new, strict=False)
    same = next(
        (at for at, pair in enumerate(pairs) if _said(pair[0]) != _said(pair[1])), min(len(old), len(new))
    )
    for part in database.in_parts(new[same:], MOST_AT_ONCE):
        Finding.objects.bulk_create(part)
    for gone in database.in_parts(old[same:], MOST_AT_ONCE):
        Finding.objects.filter(pk__in=[row.pk for row in gone]).delete()


def _said(row: Finding) -> tuple[object, ...]:
    """All of a finding but its number."""
    return tuple(
        getattr(row, field.attname) for field in Finding._meta.concrete_fields if not field.primary_key
    )


def _row(
    proposal: Proposal, found: NewFinding, file: FileChange | None, hunk: Hunk | None, confirmed: _Confirmed
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
        message_parts=_parts(found.message_parts),
        line_no=found.line_no,
        **confirmed.fields(found, hunk),
    )


def _parts(told: MessageParts) -> dict[str, str]:
    return {name: text.storable(said, 2000) for name, said in asdict(told).items() if said}


def _save_ledger(hunks: Places, report: FindingsReport) -> None:
    by_hunk: dict[Hunk, list[LedgerEntry]] = defaultdict(list)
    for row in report.ledger:
        if hunk := hunks.get((row.path, row.hunk_id)):
            by_hunk[hunk].append(_entry(hunk, row))
    old: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for entry in LedgerEntry.objects.filter(hunk__in=by_hunk).order_by("pk").values_list(*_ENTRY):
        old[entry[0]].append(entry)
    changed = [
        (hunk, entries)
        for hunk, entries in by_hunk.items()
        if old[hunk.pk] != [tuple(getattr(entry, name) for name in _ENTRY) for entry in entries]
    ]
    for part in database.in_parts(changed, MOST_AT_ONCE):
        with transaction.atomic():
            LedgerEntry.objects.filter(hunk__in=[hunk for hunk, _ in part]).delete()
            LedgerEntry.objects.bulk_create(entry for _, entries in part for entry in entries)


_ENTRY = ("hunk_id", "text", "fate", "target_path", "target_line", "target_text", "note")


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


def _save_heard(hunks: Places, judged: Sequence[JudgedStatement]) -> None:
    """Beside each hunk what the sessions say of its statements."""
    answers = defaultdict(list)
    for one in judged:
        answers[one.path, one.hunk_id].append(stored(one.line_no, one.text, one.heard))
    changed = [hunk for place, hunk in hunks.items() if hunk.transcript_verdicts != answers[place]]
    for hunk in changed:
        hunk.transcript_verdicts = answers[hunk.file.path, hunk.hunk_id]
    for part in database.in_parts(changed, MOST_AT_ONCE):
        Hunk.objects.bulk_update(part, ["transcript_verdicts"])
