"""Submits a review: what blocks it, and what it settles.

For what a team shares a project may ask for a second person: what one person approved and submitted is written when another
has agreed to the very same state. An undo needs one person: what it brings back was agreed to before.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Subquery
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.lib.prose import comparing
from dreams.models import Decision, Evidence, FileChange, Finding, Hunk, LeftOut, Project, Proposal, Session
from dreams.services import auditlog, daily_logs, database, login, policies, proposals
from dreams.services.auditlog import Actor
from dreams.services.catching import card_states as caught
from dreams.services.questions import question_states
from dreams.services.review.deciding import (
    REASON_LIMIT,
    ReviewRefused,
    claimed_to_submit,
    decide,
    hold_open,
    refuse_open_findings,
    refuse_what_is_open,
)

NEEDS_ANOTHER = "a second person must approve it"
SEEN_BEFORE = "This changed since you looked at it, so nothing was approved. Look at it again."
SAME_PERSON = "You approved this yourself. Someone else must be the second person."
SAME_BY_COMMAND = (
    "Commands act for the owner, who has already approved this. Someone else must be the second person."
)


def submit(proposal: Proposal, reviewer: Actor) -> Proposal:
    """Close the review: what is approved may be written, what is rejected stays out, the rest is left for later.

    The sessions of its dream are used up now. Raises ReviewRefused while a finding blocks something approved.
    """
    with claimed_to_submit(proposal) as claim:
        # What is found stays on the page for the person to confirm, also when it refuses.
        refuse_open_findings(proposal)
        left = _without_approved(proposal)
        _stage_rejected(proposal)
        _close(proposal, reviewer, claim, left)
    return proposal


def _close(proposal: Proposal, reviewer: Actor, claim: str, left: Collection[LeftOut]) -> None:
    """The last transaction of a submit: until it is through, nothing of the submit counts."""
    with transaction.atomic():
        refuse_what_is_open(proposal)
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
        _let_in_approved(proposal, left)
        _leave_out_rejected(proposal)
        question_states.settle(proposal)
        caught.settle(proposal)
        use_up_sessions(proposal)
        auditlog.record(
            "review.submitted",
            actor=reviewer,
            about=proposal,
            state=state.value,
            open_findings=proposal.findings.filter(severity=Finding.Severity.WARN)
            .exclude(hunk__verdict=Hunk.Verdict.REJECTED)
            .count(),
        )


def _without_approved(proposal: Proposal) -> list[LeftOut]:
    """What was left out before and is approved in part now, with the lines that are still left out."""
    lines = _approved(proposal)
    changed = []
    for row in LeftOut.objects.decided().filter(project=proposal.project_id).iterator():
        kept = [line for line in row.added if comparing.normalised(line) not in lines]
        if kept != row.added:
            row.added = kept
            changed.append(row)
    return changed


def _let_in_approved(proposal: Proposal, left: Collection[LeftOut]) -> None:
    """What is approved now counts as rejected no longer, whatever was decided before."""
    taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN)
    same = taken.filter(file__path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(same), project=proposal.project_id).delete()
    with connection.cursor() as cursor:  # as `bulk_update` says it, which takes seconds for some thousands
        cursor.executemany(
            f"UPDATE {LeftOut._meta.db_table} SET added = %s WHERE id = %s",  # noqa: S608 - a table's own name
            [(connection.ops.adapt_json_value(row.added, None), row.pk) for row in left],
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
    """Write what is rejected, in several transactions; it counts with the last one of the submit."""
    LeftOut.objects.filter(proposal=proposal, is_staged=True).delete()  # of a submit that was cut off
    if proposal.origin in (Proposal.Origin.DREAM, Proposal.Origin.SUGGESTED):
        rejected = Hunk.objects.filter(file__proposal=proposal, verdict=Hunk.Verdict.REJECTED)
        for part in database.in_parts(_rows(proposal, rejected), MOST_AT_ONCE):
            for row in part:
                row.is_staged = True
            _save(part)


def _leave_out_rejected(proposal: Proposal) -> None:
    """What was staged counts from now on, in the place of what was left out before."""
    staged = LeftOut.objects.filter(proposal=proposal, is_staged=True)
    again = staged.filter(path=OuterRef("path"), hunk_id=OuterRef("hunk_id"))
    LeftOut.objects.decided().filter(Exists(again), project=proposal.project_id).delete()
    staged.update(is_staged=False)


def leave_out(proposal: Proposal, hunks: Iterable[Hunk], reason: str | None = None) -> None:
    """Never propose these hunks again while they would be made from the same inputs; without a reason each keeps its own."""
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
            reason=(row.decide_reason if reason is None else reason)[:REASON_LIMIT],
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
    """What the sessions and logs taught is decided. Those that speak for a change left undecided are kept for a later dream.

    Those of an unfinished dream are all kept: it did not read them to the end.
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
        # The same inputs are worth another dream: not everything that came of them was decided on.
        Project.objects.filter(pk=proposal.project_id).update(inputs_hash="")


@dataclass(frozen=True, slots=True)
class Missing:
    """Files of a submitted proposal that nobody but `deciders` has agreed to.

    `by` are the accounts that cannot be the second: by command decides whoever runs memoryweb, the owner too.
    """

    files: tuple[FileChange, ...]
    deciders: frozenset[str]
    by: frozenset[str]

    @property
    def seen(self) -> str:
        """Of the states that a person agrees to, or refuses."""
        states = sorted(f"{file.pk} {file.state_sha}" for file in self.files)
        return text.sha256("\n".join(states).encode())

    @property
    def names(self) -> str:
        """Of those who decided, for a sentence."""
        return " and ".join(sorted(self.deciders))


def lacking(proposal: Proposal, files: Iterable[FileChange]) -> list[FileChange]:
    """Those of `files`, with something approved in them, that wait for a second person. A query where any may."""
    found = [file for file in files if _may_lack(proposal, file)]
    return found if found and conf.current(proposal.project).team_second_person else []


def _may_lack(proposal: Proposal, file: FileChange) -> bool:
    is_undo = proposal.origin == Proposal.Origin.ROLLBACK
    return not is_undo and policies.is_shared(file.path) and file.seconded_sha != file.state_sha


def missing(proposals: Sequence[Proposal]) -> Mapping[int, Missing]:
    """Proposal → what of it waits for a second person; none of those that do not. At most five queries."""
    rows = {row.pk: row for row in proposals if row.state == Proposal.State.SUBMITTED}
    taken = Hunk.objects.filter(file=OuterRef("pk"), verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    files = FileChange.objects.filter(Exists(taken), proposal__in=rows).order_by("path") if rows else ()
    found: dict[int, list[FileChange]] = {}
    for file in files:
        if _may_lack(rows[file.proposal_id], file):
            found.setdefault(file.proposal_id, []).append(file)
    overrides = conf.Overrides.load() if found else None
    asked = {
        pk: waits
        for pk, waits in found.items()
        if overrides and overrides.config(rows[pk].project_id).team_second_person
    }
    deciders = _deciders([rows[pk] for pk in asked])
    typed = Decision.objects.filter(proposal__in=asked, by_command=True) if asked else Decision.objects.none()
    by_command = set(typed.values_list("proposal", flat=True))
    owner = {login.ensure_owner().get_username()} if by_command else set()
    return {
        pk: Missing(tuple(waits), deciders[pk], deciders[pk] | owner if pk in by_command else deciders[pk])
        for pk, waits in asked.items()
    }


def _deciders(proposals: Sequence[Proposal]) -> dict[int, frozenset[str]]:
    """Who decided on each."""
    found = {row.pk: {row.submitted_by} - {""} for row in proposals}
    if not found:
        return {}
    decided = Hunk.objects.filter(file__proposal__in=found, verdict__in=Hunk.TAKEN).exclude(decided_by="")
    for pk, name in decided.values_list("file__proposal", "decided_by").distinct().order_by():
        found[pk].add(name)
    return {pk: frozenset(names) for pk, names in found.items()}


def agree(proposal: Proposal, seen: str, reviewer: Actor) -> None:
    """Approve as the second person what was shown (`Missing.seen`). Raises ReviewRefused."""
    with transaction.atomic():
        waits = _held(proposal, seen)
        if reviewer.name in waits.by:
            raise ReviewRefused(SAME_PERSON)
        if reviewer.by_command and login.ensure_owner().get_username() in waits.by:
            raise ReviewRefused(SAME_BY_COMMAND)
        for file in waits.files:
            FileChange.objects.filter(pk=file.pk).update(
                seconded_by=reviewer.name, seconded_sha=file.state_sha
            )
        _log_second("review.seconded", proposal, waits, reviewer)


def refuse(proposal: Proposal, seen: str, reviewer: Actor, reason: str = "") -> None:
    """Reject what was shown, with all that goes with it; the rest stays as it was decided. Those who approved it may, too.

    Raises ReviewRefused.
    """
    with transaction.atomic():
        waits = _held(proposal, seen)
        hunks = Hunk.objects.filter(file__in=waits.files, verdict__in=Hunk.TAKEN)
        rejected = decide(
            proposal, list(hunks), Hunk.Verdict.REJECTED, reviewer, reason=reason, or_submitted=True
        )
        leave_out(proposal, rejected)
        _log_second("review.second_refused", proposal, waits, reviewer, reason=reason)
        _close_if_nothing_left(proposal)
        question_states.settle(proposal)


def _held(proposal: Proposal, seen: str) -> Missing:
    hold_open(proposal, or_submitted=True)
    proposal.refresh_from_db()
    waits = missing([proposal]).get(proposal.pk)
    if waits is None:
        raise ReviewRefused("Nothing here is waiting for a second person.")
    if waits.seen != seen:
        raise ReviewRefused(SEEN_BEFORE)
    return waits


def _close_if_nothing_left(proposal: Proposal) -> None:
    """Where nothing approved is left to write: applied, if anything of it was."""
    left = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    if not left.exists():
        was_written = proposal.applications.exists()
        state = Proposal.State.APPLIED if was_written else Proposal.State.REJECTED
        Proposal.objects.filter(pk=proposal.pk).update(state=state, closed_at=timezone.now())
        proposal.refresh_from_db()


def _log_second(action: str, proposal: Proposal, waits: Missing, reviewer: Actor, reason: str = "") -> None:
    auditlog.record(
        action,
        actor=reviewer,
        about=proposal,
        files=[[file.path, file.base_sha, file.new_sha] for file in waits.files],
        first=sorted(waits.deciders),
        reason=reason,
    )
