"""What the checks look at: the directory before and after, and the hunks between, from rows or from a draft."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from dreams import conf
from dreams.engines import drafts
from dreams.findings.base import ChangedHunk, Subject
from dreams.findings.regression import LONGEST_PROMPT, MOST_PROMPTS
from dreams.lib import diff
from dreams.lib.prose import comparing
from dreams.lib.secrets import redact
from dreams.models import (
    FileChange,
    Hunk,
    LeftOut,
    Project,
    Prompt,
    Proposal,
    Session,
)
from dreams.services import auditlog, hosts
from dreams.services.catching import states as caught
from dreams.services.memories import derivable, instructions
from dreams.services.proposals.hearing import Hearing
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
from dreams.services.questions import states

# Which proposal waits, and what becomes of verdicts when a newer one takes its place.


_WAITING = (Proposal.State.OPEN, Proposal.State.SUBMITTED)


def open_for(project: Project) -> Proposal | None:
    """The dream's proposal that waits for a person, if there is one."""
    return project.proposals.filter(origin=Proposal.Origin.DREAM, by_policy=False, state__in=_WAITING).first()


def open_of(project: Project, origin: Proposal.Origin) -> Proposal | None:
    """The one of this origin that waits for a review, where a project has at most one: of cards, of answers."""
    return project.proposals.filter(origin=origin, state=Proposal.State.OPEN).first()


def supersede(proposal: Proposal, actor: str) -> dict[tuple[str, str], Hunk]:
    """Close `proposal` in favour of a newer one; returns its decided hunks by (path, hunk id), to carry over.

    Its sessions were not used up: they are given back.
    """
    with transaction.atomic():
        closed = Proposal.objects.filter(pk=proposal.pk, state__in=_WAITING).update(
            state=Proposal.State.SUPERSEDED, closed_at=timezone.now()
        )
        if not closed:
            return {}
        proposal.refresh_from_db(fields=["state"])
        states.settle(proposal)
        caught.settle(proposal)
        if proposal.dream_id and not proposal.partial:
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


#: A line that a person rejected and that comes back unasked is named.
_UNASKED = (Proposal.Origin.DREAM, Proposal.Origin.SUGGESTED)


def listening(subject: Subject, heard: Hearing) -> Subject:
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
            operation=made.operation,
        )
        for file in draft.files
        for made in file.hunks
    ]
    subject = _subject(project, before, after, changed, _rejected_by(project))
    return listening(subject, heard) if heard else subject


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
    texts = rows.order_by("-at").values_list("text", flat=True)[:MOST_PROMPTS]
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
    rows = LeftOut.objects.filter(~Exists(undone), project=project).order_by("at")
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
