"""Submits a review, and lets a second person agree.

A project may require a second person for shared files: what one person approved and submitted is written when another has
agreed to exactly the same state. Of what two people decided, each approves the other's part. An undo needs one person, as what
it restores was approved before, unless it has words of that person.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Subquery
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.models import Decision, Evidence, FileChange, Finding, Hunk, LeftOut, Project, Proposal, Session
from dreams.services import auditlog, daily_logs, database, login, policies, proposals
from dreams.services.auditlog import Actor
from dreams.services.catching import card_states
from dreams.services.questions import question_states
from dreams.services.questions.asking import lock_questions
from dreams.services.review.deciding import (
    ReviewRefused,
    claimed,
    decide,
    lock_open_proposal,
    refuse_open_findings,
    refuse_saved_findings,
)

NEEDS_ANOTHER = "a second person must approve it"
SEEN_BEFORE = "This changed since you looked at it, so nothing was approved. Look at it again."
SAME_PERSON = "You approved this yourself. Someone else must be the second person."
SAME_BY_COMMAND = (
    "Commands act for the owner, who has already approved this. Someone else must be the second person."
)


def submit(proposal: Proposal, reviewer: Actor) -> Proposal:
    """Close the review: approved changes may be written, rejected ones are not proposed again, the rest may be.

    The sessions of its dream count as used up. Raises ReviewRefused while a finding blocks something approved.
    """
    with claimed(proposal) as claim:
        # Outside the last transaction: findings stay on the page for confirmation also when this refuses.
        refuse_open_findings(proposal)
        left = _left_out_changed(proposal)
        _stage_rejected(proposal)
        _close(proposal, reviewer, claim, left)
    return proposal


def _close(proposal: Proposal, reviewer: Actor, claim: str, left: Mapping[int, Collection[str]]) -> None:
    """The last transaction of a submit: before it nothing of the submit counts."""
    with transaction.atomic():
        lock_questions(proposal.project)  # in the order of an answer, which then locks a proposal
        refuse_saved_findings(proposal)
        now = timezone.now()
        taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN).exists()
        state = Proposal.State.SUBMITTED if taken else Proposal.State.REJECTED
        mine = Proposal.objects.filter(pk=proposal.pk, state=Proposal.State.OPEN, submitting_by=claim)
        moved = mine.update(
            state=state,
            submitted_at=now,
            submitted_by=reviewer.name,
            closed_at=None if taken else now,
            submitting_by="",
        )
        if not moved:
            raise ReviewRefused("Someone else has closed this proposal. Look at it again.")
        proposal.refresh_from_db()
        _stop_leaving_out(proposal, left)
        _leave_out_rejected(proposal)
        question_states.proposal_ended(proposal)
        card_states.proposal_ended(proposal)
        use_up_sessions(proposal)
        policies.turned_down(proposal)
        auditlog.record(
            "review.submitted",
            actor=reviewer,
            about=proposal,
            state=state.value,
            open_findings=proposal.findings.filter(severity=Finding.Severity.WARN)
            .exclude(hunk__verdict=Hunk.Verdict.REJECTED)
            .count(),
        )


def _left_out_changed(proposal: Proposal) -> dict[int, set[str]]:
    """Rows of lines left out before, with those lines of each that are approved now."""
    lines = _approved(proposal)
    rows = LeftOut.objects.decided().filter(project=proposal.project_id).values_list("pk", "added")
    found = {
        pk: {line for line in added if comparing.normalised(line) in lines} for pk, added in rows.iterator()
    }
    return {pk: approved for pk, approved in found.items() if approved}


def _stop_leaving_out(proposal: Proposal, left: Mapping[int, Collection[str]]) -> None:
    """Approved changes no longer count as rejected, whatever was decided before."""
    taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN)
    same = taken.filter(file__path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(same), project=proposal.project_id).delete()
    # As they are now: another submit of the project may have changed them.
    rows = LeftOut.objects.select_for_update().order_by("pk").filter(pk__in=left).values_list("pk", "added")
    kept = {pk: [line for line in added if line not in left[pk]] for pk, added in rows}
    with connection.cursor() as cursor:  # `bulk_update` takes seconds for some thousands
        cursor.executemany(
            f"UPDATE {LeftOut._meta.db_table} SET added = %s WHERE id = %s",  # noqa: S608 - a table's own name
            [(connection.ops.adapt_json_value(added, None), pk) for pk, added in kept.items()],
        )


def _approved(proposal: Proposal) -> set[str]:
    """The normalised lines that the approved hunks propose."""
    files = list(proposal.files.filter(hunks__verdict__in=Hunk.TAKEN).distinct().prefetch_related("hunks"))
    texts = proposals.texts_of(files)
    return {
        comparing.normalised(line)
        for file in files
        for row, changed in proposals.text_hunks(file, texts)
        if row.is_taken
        for line in proposals.added_lines(changed)
    }


MOST_AT_ONCE = 250  # rows of one transaction: about 20 ms of SQLite's write lock


def _stage_rejected(proposal: Proposal) -> None:
    """Save what is rejected, in several transactions; it counts after the last one of the submit."""
    LeftOut.objects.filter(proposal=proposal, is_staged=True).delete()  # of an interrupted submit
    if proposal.origin in Proposal.REMEMBERED:
        rejected = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.REJECTED)
        for part in database.in_parts(_rows(proposal, rejected), MOST_AT_ONCE):
            for row in part:
                row.is_staged = True
            _save(part)


def _leave_out_rejected(proposal: Proposal) -> None:
    """Staged rows count from now on and replace older ones of the same hunks."""
    staged = LeftOut.objects.filter(proposal=proposal, is_staged=True)
    again = staged.filter(path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(again), project=proposal.project_id).delete()
    staged.update(is_staged=False)


def leave_out(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> None:
    """Never propose these hunks again from the same inputs; without a `reason` each keeps its own."""
    _save(_rows(proposal, hunks, reason))


def _rows(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> list[LeftOut]:
    wanted = {hunk.pk: hunk.file_id for hunk in hunks}
    files = FileChange.objects.filter(pk__in=set(wanted.values()))
    with_hunks = list(files.prefetch_related("hunks__evidence"))
    texts = proposals.texts_of(with_hunks)
    now = timezone.now()
    return [
        LeftOut(
            project=proposal.project,
            path=file.path,
            hunk_id=row.hunk_id,
            inputs_key=proposals.inputs_key(row),
            added=proposals.added_lines(lines),
            reason=row.decide_reason if reason is None else reason,
            proposal=proposal,
            at=now,
        )
        for file in with_hunks
        for row, lines in proposals.text_hunks(file, texts)
        if row.pk in wanted
    ]


def _save(rows: Sequence[LeftOut]) -> None:
    LeftOut.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["project", "path", "hunk_id", "proposal", "is_staged"],
        update_fields=["inputs_key", "added", "reason", "at"],
        batch_size=200,
    )


def use_up_sessions(proposal: Proposal) -> None:
    """Count the dream's sessions and logs as used up, except evidence for undecided changes, which a later dream reads again.

    An unfinished dream uses up nothing: it did not read them to the end.
    """
    if proposal.dream is None or proposal.partial:
        return
    undecided = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.PENDING)
    cited = Evidence.objects.filter(hunk__in=undecided, session__isnull=False)
    kept = Session.objects.filter(pk__in=cited.values("session"))
    reviewed = proposal.dream.reviewed.exclude(session__in=kept)
    read = Session.objects.filter(pk__in=reviewed.values("session"))
    to_byte = Subquery(reviewed.filter(session=OuterRef("pk")).values("to_byte"))
    read.filter(used_bytes__lt=to_byte).update(used_bytes=to_byte)
    read.update(given_back_at=None)
    logged = Evidence.objects.filter(hunk__in=undecided, role="log")
    daily_logs.use_up(proposal.dream, set(logged.values_list("place", flat=True)))
    if undecided.exists():
        kept.update(given_back_at=timezone.now())
        # Allow another dream with the same inputs: some of its changes are undecided.
        Project.objects.filter(pk=proposal.project_id).update(inputs_hash="")


@dataclass(frozen=True, slots=True)
class SecondWait:
    """Approved changes of a submitted proposal that nobody but who decided them has approved.

    By hunk: `decided_by` and `not_by`, who cannot be its second person. That is who decided it, and the owner if a command
    did, since commands act for them.
    """

    hunks: tuple[Hunk, ...]
    decided_by: Mapping[int, str]
    not_by: Mapping[int, frozenset[str]]

    @property
    def files(self) -> tuple[FileChange, ...]:
        return tuple({hunk.file_id: hunk.file for hunk in self.hunks}.values())

    @property
    def deciders(self) -> frozenset[str]:
        return frozenset(self.decided_by[hunk.pk] for hunk in self.hunks) - {""}

    @property
    def excluded(self) -> frozenset[str]:
        """Who cannot be the second person of any change."""
        return frozenset.intersection(*(self.not_by[hunk.pk] for hunk in self.hunks))

    def left_for(self, name: str) -> "SecondWait":
        """With the changes alone whose second person this account can be."""
        return replace(self, hunks=tuple(hunk for hunk in self.hunks if name not in self.not_by[hunk.pk]))

    @property
    def seen(self) -> str:
        """Digest of the states that a second person approves or rejects."""
        states = sorted(f"{file.pk} {file.state_sha}" for file in self.files)
        return text.sha256("\n".join(states).encode())

    @property
    def names(self) -> str:
        return " and ".join(sorted(self.deciders))


def lacking_second(proposal: Proposal, files: Iterable[FileChange]) -> list[FileChange]:
    """Those of `files`, all with approved changes, that wait for a second person. At most two queries."""
    shared = [file for file in files if policies.is_shared(file.path)]
    if not shared or not conf.current(proposal.project).team_second_person:
        return []
    waits = {hunk.file_id for hunk in _lacking({proposal.pk: proposal}, shared)}
    return [file for file in shared if file.pk in waits]


def _lacking(rows: Mapping[int, Proposal], files: Sequence[FileChange]) -> list[Hunk]:
    """The approved changes of `files` that no second person has approved in the current state, without those of an undo that
    restore what was there before. One query."""
    found: dict[int, list[Hunk]] = {file.pk: [] for file in files}
    taken = Hunk.objects.filter(file__in=found, verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    for hunk in taken.defer("claims", "transcript_verdicts").order_by("number"):
        found[hunk.file_id].append(hunk)
    lacking = []
    for file in files:
        of = rows[file.proposal_id]
        is_undo = of.origin == Proposal.Origin.ROLLBACK
        # The second is of a host with an older version
        is_worded = file.is_worded or file.path in of.undo_asked.get("worded", ())
        has_words = is_worded or any(hunk.verdict == Hunk.Verdict.EDITED for hunk in found[file.pk])
        for hunk in found[file.pk] if has_words or not is_undo else ():
            hunk.file = file
            if hunk.seconded_sha != file.state_sha:
                lacking.append(hunk)
    return lacking


def second_person_waits(proposals: Sequence[Proposal]) -> Mapping[int, SecondWait]:
    """Proposal → its changes that wait for a second person; only proposals with such changes. At most five queries."""
    rows = {row.pk: row for row in proposals if row.state == Proposal.State.SUBMITTED}
    taken = Hunk.objects.filter(file=OuterRef("pk"), verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    files = FileChange.objects.filter(Exists(taken), proposal__in=rows).order_by("path") if rows else ()
    shared = [file for file in files if policies.is_shared(file.path)]
    overrides = conf.Overrides.load() if shared else None
    ask = {
        pk
        for pk in {file.proposal_id for file in shared}
        if overrides and overrides.config(rows[pk].project_id).team_second_person
    }
    asked: dict[int, list[Hunk]] = {}
    for hunk in _lacking(rows, [file for file in shared if file.proposal_id in ask]) if ask else ():
        asked.setdefault(hunk.file.proposal_id, []).append(hunk)
    typed = Decision.objects.filter(proposal__in=asked, by_command=True).values_list("proposal", "actor")
    by_command = set(typed if asked else ())
    owner = frozenset({login.ensure_owner().get_username()} if by_command else ())
    found = {}
    for pk, hunks in asked.items():
        by = {hunk.pk: hunk.decided_by or rows[pk].submitted_by for hunk in hunks}
        not_by = {
            hunk: frozenset({name} - {""}) | (owner if (pk, name) in by_command else frozenset())
            for hunk, name in by.items()
        }
        found[pk] = SecondWait(tuple(hunks), by, not_by)
    return found


def approve_as_second(proposal: Proposal, seen: str, reviewer: Actor) -> list[Hunk]:
    """Approve as the second person, of what was shown (`SecondWait.seen`), the changes that others decided; returns these.

    Raises ReviewRefused.
    """
    with transaction.atomic():
        waits = _locked_wait(proposal, seen).left_for(reviewer.name)
        if not waits.hunks:
            raise ReviewRefused(SAME_PERSON)
        if reviewer.by_command:
            waits = waits.left_for(login.ensure_owner().get_username())
        if not waits.hunks:
            raise ReviewRefused(SAME_BY_COMMAND)
        for hunk in waits.hunks:
            hunk.seconded_by, hunk.seconded_sha = reviewer.name, hunk.file.state_sha
        Hunk.objects.bulk_update(waits.hunks, ["seconded_by", "seconded_sha"], batch_size=MOST_AT_ONCE)
        _log_second("review.seconded", proposal, waits, reviewer)
    return list(waits.hunks)


def reject_as_second(proposal: Proposal, seen: str, reviewer: Actor, reason: str = "") -> list[Hunk]:
    """Reject all of the files that were shown, and the rest of their operations; other decisions stay. The first person may do
    this too. Returns what was rejected; raises ReviewRefused.
    """
    with transaction.atomic():
        waits = _locked_wait(proposal, seen)
        hunks = list(Hunk.objects.filter(file__in=waits.files, verdict__in=Hunk.TAKEN))
        rejected = decide(proposal, hunks, Hunk.Verdict.REJECTED, reviewer, reason=reason, or_submitted=True)
        leave_out(proposal, rejected)
        _log_second("review.second_refused", proposal, waits, reviewer, reason=reason)
        _close_if_nothing_left(proposal)
        question_states.proposal_ended(proposal)
        card_states.proposal_ended(proposal)
    return rejected


def _locked_wait(proposal: Proposal, seen: str) -> SecondWait:
    lock_open_proposal(proposal, or_submitted=True)
    proposal.refresh_from_db()
    waits = second_person_waits([proposal]).get(proposal.pk)
    if waits is None:
        raise ReviewRefused("Nothing here is waiting for a second person.")
    if waits.seen != seen:
        raise ReviewRefused(SEEN_BEFORE)
    return waits


def _close_if_nothing_left(proposal: Proposal) -> None:
    """Close a proposal with nothing left to write: as applied if anything was written, else as rejected."""
    left = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    if not left.exists():
        was_written = proposal.applications.exists()
        state = Proposal.State.APPLIED if was_written else Proposal.State.REJECTED
        Proposal.objects.filter(pk=proposal.pk).update(state=state, closed_at=timezone.now())
        proposal.refresh_from_db()


def _log_second(
    action: str, proposal: Proposal, waits: SecondWait, reviewer: Actor, reason: str = ""
) -> None:
    auditlog.record(
        action,
        actor=reviewer,
        about=proposal,
        files=[[file.path, file.base_sha, file.new_sha] for file in waits.files],
        first=sorted(waits.deciders),
        reason=reason,
    )
