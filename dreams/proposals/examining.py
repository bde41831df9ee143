"""Findings and ledger of exactly the text that would be written, saved beside the hunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction

from dreams import conf, drafts, findings, hostkey, instructions, redact, repeated, text, textdiff
from dreams.findings.base import ChangedHunk, Judged, Report, Subject
from dreams.findings.questions import LONGEST_PROMPT, MOST_PROMPTS
from dreams.findings.units import units_of_lines
from dreams.language import similarity
from dreams.models import (
    FileChange,
    Finding,
    Hunk,
    LedgerEntry,
    LeftOut,
    Project,
    Prompt,
    Proposal,
)
from dreams.proposals.hearing import Hearing, of_proposal, stored
from dreams.proposals.limits import QUOTE_LIMIT
from dreams.proposals.reading import bytes_of, choices, citations_of, decided_bytes, fates_of, text_hunks


def examine(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool = True,
    heard: Hearing | None = None,
) -> Report:
    """Check what would be written and save findings, ledger and the sessions' answers anew; confirmations stay by key.

    `undecided` False looks at exactly what was approved: a rejected destination then shows as a loss. What is said of
    changes that nobody has decided on stays beside them.
    """
    hostkey.use()
    heard = heard or of_proposal(proposal)
    report = findings.examine(_listening(subject_of(proposal, before, undecided=undecided), heard))
    if not undecided:
        report = _with_undecided(proposal, before, report, heard)
    left_out = heard.left_out()
    report = replace(report, findings=(*report.findings, left_out)) if left_out else report
    with transaction.atomic():
        _save_report(proposal, report)
    return report


def report_with(proposal: Proposal, before: Mapping[str, bytes], instead: Mapping[int, str]) -> Report:
    """What the checks would say with these texts (hunk pk → text) in place of the proposed ones. Saves nothing."""
    hostkey.use()
    subject = subject_of(proposal, before, undecided=True, instead=instead)
    return findings.examine(_listening(subject, of_proposal(proposal)))


def listened(proposal: Proposal, typed: str) -> Hearing:
    """What the proposal's sessions say, `typed` looked up already: before a transaction, which waits for no disk."""
    heard = of_proposal(proposal)
    heard.listen(unit.text for unit in units_of_lines(typed.splitlines()))
    return heard


def _listening(subject: Subject, heard: Hearing) -> Subject:
    return replace(subject, heard=heard.ask, against=heard.against) if heard.sessions else subject


def _with_undecided(
    proposal: Proposal, before: Mapping[str, bytes], report: Report, heard: Hearing
) -> Report:
    pending = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.PENDING)
    places = set(pending.values_list("file__path", "hunk_id"))
    if not places:
        return report
    whole = findings.examine(_listening(subject_of(proposal, before, undecided=True), heard))
    return Report(
        report.findings + tuple(f for f in whole.findings if (f.path, f.hunk_id) in places),
        report.ledger + tuple(row for row in whole.ledger if (row.path, row.hunk_id) in places),
        report.judged + tuple(one for one in whole.judged if (one.path, one.hunk_id) in places),
    )


def subject_of(
    proposal: Proposal,
    before: Mapping[str, bytes],
    *,
    undecided: bool,
    instead: Mapping[int, str] | None = None,
) -> Subject:
    after = dict(before)
    changed: list[ChangedHunk] = []
    for file in proposal.files.prefetch_related("hunks__evidence"):
        base, new = bytes_of(file.base_sha), decided_bytes(file, undecided=undecided, instead=instead)
        before = (
            {**before, file.path: base}
            if base is not None
            else {p: d for p, d in before.items() if p != file.path}
        )
        if new is None:
            after.pop(file.path, None)
        else:
            after[file.path] = new
        changed += _changed_hunks(file, undecided, instead)
    return _subject(proposal.project, before, after, changed, _rejected_lines(proposal))


def subject_of_draft(
    project: Project, before: Mapping[str, bytes], draft: drafts.Draft, heard: Hearing | None = None
) -> Subject:
    """What a draft would write if all of it were approved: for checks before there is a proposal."""
    after = drafts.only(draft, before, draft.operations)
    changed = [
        ChangedHunk(
            path=file.path,
            hunk_id=made.hunk.id,
            base_start=made.hunk.base_start,
            removed=_bare(made.hunk.removed),
            new_start=made.hunk.new_start,
            added=_bare(made.hunk.added),
            citations=made.citations,
            fates=made.fates,
        )
        for file in draft.files
        for made in file.hunks
    ]
    subject = _subject(project, before, after, changed, _rejected_by(project))
    return _listening(subject, heard) if heard else subject


def _subject(
    project: Project,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    changed: Sequence[ChangedHunk],
    rejected: frozenset[str],
) -> Subject:
    return Subject(
        before=before,
        after=after,
        hunks=changed,
        config=conf.current(project),
        instructions=instructions.text_for(project),
        repeated=repeated.by_code(_changed(before, after), project.repo_dir),
        asked=_asked(project),
        rejected=rejected,
    )


def _changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in after.items() if before.get(path) != data}


def _asked(project: Project) -> list[str]:
    """What people typed in this project's past sessions, without secrets; our own dreams' prompts are nobody's."""
    rows = Prompt.objects.filter(session__project=project, session__own=False)
    texts = rows.order_by("-at").values_list("text", flat=True)[:MOST_PROMPTS]
    return [redact.redact(found[: LONGEST_PROMPT + 1]) for found in texts]


def _rejected_lines(proposal: Proposal) -> frozenset[str]:
    """Normalised lines that a person rejected, for as long as another proposal may bring them back."""
    if proposal.origin != Proposal.Origin.DREAM:
        return frozenset()
    return _rejected_by(proposal.project, besides=proposal)


def _rejected_by(project: Project, besides: Proposal | None = None) -> frozenset[str]:
    rows = LeftOut.objects.filter(project=project)
    if besides is not None:
        rows = rows.exclude(proposal=besides)
    added = rows.values_list("added", flat=True)
    return frozenset(similarity.normalised(line) for lines in added for line in lines if line.strip())


def _changed_hunks(
    file: FileChange, undecided: bool, instead: Mapping[int, str] | None = None
) -> list[ChangedHunk]:
    chosen = choices(file, undecided=undecided, instead=instead)
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
                citations=citations_of(row),
                fates=fates_of(row),
                by_hand=isinstance(choice, str) or file.proposal.origin != Proposal.Origin.DREAM,
            )
        )
        shift += len(lines) - len(hunk.base_lines)
    return found


def _bare(joined: str) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in textdiff.split_lines(joined))


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
    _save_heard(hunks, report.judged)
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


def _save_heard(hunks: Mapping[tuple[str, str], Hunk], judged: Sequence[Judged]) -> None:
    """Beside each hunk what the sessions say of its statements; a rejected one keeps what was said before."""
    answers = defaultdict(list)
    for one in judged:
        answers[one.path, one.hunk_id].append(stored(one.line_no, one.text, one.heard))
    changed = [
        hunk
        for place, hunk in hunks.items()
        if hunk.verdict != Hunk.Verdict.REJECTED and hunk.heard != answers[place]
    ]
    for hunk in changed:
        hunk.heard = answers[hunk.file.path, hunk.hunk_id]
    Hunk.objects.bulk_update(changed, ["heard"], batch_size=200)
