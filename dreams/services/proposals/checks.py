"""What the checks say of a proposal: the directory before and after it as they look at it. What they said is kept with a
key of the very texts: the same are not read twice.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from dreams import conf, findings
from dreams.engines import drafts
from dreams.findings import secrets
from dreams.findings.base import ChangedHunk, Report, Subject
from dreams.findings.ledger.units import units_of_lines
from dreams.findings.regression import LONGEST_PROMPT, MOST_PROMPTS
from dreams.lib import diff
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.lib.secrets import redact
from dreams.lib.source_digest import source_digest
from dreams.models import (
    FileChange,
    Hunk,
    LeftOut,
    Operation,
    Project,
    Prompt,
    Proposal,
)
from dreams.services import hosts
from dreams.services.memories import derivable, instructions
from dreams.services.proposals import reports
from dreams.services.proposals.reading import (
    Texts,
    bytes_of,
    choices,
    citations_of,
    decided_bytes,
    fates_of,
    text_hunks,
    texts_of,
)
from dreams.services.proposals.transcript_verdicts import TranscriptVerdicts


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
    if reports.is_checked(proposal, key):
        return
    report = findings.examine(with_verdicts(subject, heard))
    left_out = heard.left_out()
    if left_out:  # another look may hear more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    reports.save(proposal, {(hunk.path, hunk.hunk_id) for hunk in subject.hunks}, report, key)


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say of a draft, and what they looked at."""

    report: Report
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
) -> Checked:
    """The checks of a proposal that is about to be made: before the transaction, in which nobody else could write.

    `undo`: nobody looks at it before it is carried out, and each line that it removes is one that was applied before.
    """
    hosts.name_secrets()
    subject = _subject_of_draft(project, before, draft, origin)
    examine_all = findings.examine_undo if undo else findings.examine
    return Checked(examine_all(with_verdicts(subject, heard)), subject, is_whole=not undo)


def keep_checked(
    proposal: Proposal, checked: Checked, operations: Mapping[str, Operation], heard: TranscriptVerdicts
) -> None:
    """Save what was said of the draft, beside the rows that were made of it. The digest is that of `subject_of`."""
    named = {key: str(row.pk) for key, row in operations.items()}
    hunks = [replace(hunk, operation=named.get(hunk.operation, "")) for hunk in checked.subject.hunks]
    key = _key(replace(checked.subject, hunks=hunks), heard) if checked.is_whole else ""
    report, left_out = checked.report, heard.left_out()
    if left_out:  # another look may hear more
        report, key = replace(report, findings=(*report.findings, left_out)), ""
    reports.save(proposal, {(hunk.path, hunk.hunk_id) for hunk in hunks}, report, key)


def report_with(proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]) -> Report:
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
        changed += _changed_hunks(
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
            removed=_bare(made.hunk.removed),
            new_start=made.hunk.new_start,
            added=_bare(made.hunk.added),
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


def _changed_hunks(file: FileChange, chosen: Mapping[str, diff.Choice], texts: Texts) -> list[ChangedHunk]:
    found: list[ChangedHunk] = []
    shift = 0
    for row, hunk in text_hunks(file, texts):
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
                citations=tuple(
                    c for c in citations_of(row) if c.source != "agent"
                ),  # its own word supports nothing
                fates=fates_of(row),
                by_hand=isinstance(choice, str) or file.proposal.origin not in Proposal.DRAFTED,
                operation=str(row.operation_id or ""),
            )
        )
        shift += len(lines) - len(hunk.base_lines)
    return found


def _bare(joined: str) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in diff.split_lines(joined))


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
