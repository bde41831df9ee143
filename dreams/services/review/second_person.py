"""A second person for what a team shares, where a project asks for one: what one person approved and submitted is written when
another has agreed to the very same state. An undo needs one person: what it brings back was agreed to before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.models import Decision, FileChange, Hunk, Proposal
from dreams.services import auditlog, login, policies
from dreams.services.review.deciding import Actor, ReviewRefused, decide, hold_open
from dreams.services.review.submitting import leave_out

WHY = "a second person must approve it"
CHANGED = "This changed since you looked at it, so nothing was approved. Look at it again."
BOTH = "You approved this yourself. Somebody else must be the second person."
BOTH_BY_COMMAND = "What is given by command is the owner’s, who approved this already. Somebody else must be the second person."


@dataclass(frozen=True, slots=True)
class Missing:
    """Files of a submitted proposal that nobody but those who decided on it has agreed to. `by` are their accounts."""

    files: tuple[FileChange, ...]
    by: frozenset[str]

    @property
    def seen(self) -> str:
        """Of the states that a person agrees to, or refuses."""
        states = sorted(f"{file.pk} {file.state_sha}" for file in self.files)
        return text.sha256("\n".join(states).encode())

    @property
    def names(self) -> str:
        """Of those who decided, for a sentence."""
        return " and ".join(sorted(self.by))


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
    by = _deciders([rows[pk] for pk in asked])
    return {pk: Missing(tuple(waits), by[pk]) for pk, waits in asked.items()}


def _deciders(proposals: Sequence[Proposal]) -> dict[int, frozenset[str]]:
    """The accounts that decided on each. By command decides whoever runs memoryweb: the owner."""
    found = {row.pk: {row.submitted_by} - {""} for row in proposals}
    if not found:
        return {}
    decided = Hunk.objects.filter(file__proposal__in=found, verdict__in=Hunk.TAKEN).exclude(decided_by="")
    for pk, name in decided.values_list("file__proposal", "decided_by").distinct().order_by():
        found[pk].add(name)
    for pk in Decision.objects.filter(proposal__in=found, by_command=True).values_list("proposal", flat=True):
        found[pk].add(login.ensure_owner().get_username())
    return {pk: frozenset(names) for pk, names in found.items()}


def agree(proposal: Proposal, seen: str, reviewer: Actor) -> None:
    """Approve as the second person what was shown (`Missing.seen`). Raises ReviewRefused."""
    with transaction.atomic():
        waits = _held(proposal, seen)
        if reviewer.name in waits.by:
            raise ReviewRefused(BOTH)
        if reviewer.by_command and login.ensure_owner().get_username() in waits.by:
            raise ReviewRefused(BOTH_BY_COMMAND)
        for file in waits.files:
            FileChange.objects.filter(pk=file.pk).update(
                seconded_by=reviewer.name, seconded_sha=file.state_sha
            )
        _log("review.seconded", proposal, waits, reviewer)


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
        _log("review.second_refused", proposal, waits, reviewer, reason=reason)
        _close(proposal)


def _held(proposal: Proposal, seen: str) -> Missing:
    hold_open(proposal, or_submitted=True)
    proposal.refresh_from_db()
    waits = missing([proposal]).get(proposal.pk)
    if waits is None:
        raise ReviewRefused("Nothing of this waits for a second person now.")
    if waits.seen != seen:
        raise ReviewRefused(CHANGED)
    return waits


def _close(proposal: Proposal) -> None:
    """Where nothing approved is left to write: applied, if anything of it was."""
    left = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN, applied_in__isnull=True)
    if not left.exists():
        was_written = proposal.applications.exists()
        state = Proposal.State.APPLIED if was_written else Proposal.State.REJECTED
        Proposal.objects.filter(pk=proposal.pk).update(state=state, closed_at=timezone.now())
        proposal.refresh_from_db()


def _log(action: str, proposal: Proposal, waits: Missing, reviewer: Actor, reason: str = "") -> None:
    auditlog.record(
        action,
        actor=reviewer.name,
        project=proposal.project,
        object_id=proposal.public_id,
        files=[[file.path, file.base_sha, file.new_sha] for file in waits.files],
        first=sorted(waits.by),
        reason=reason,
        by_command=reviewer.by_command,
    )
