"""Decides on all open changes of one kind across projects.

A verdict is only on what was shown: it comes with a digest, and is refused when something changed.
"""

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet

from dreams.models import Finding, Hunk, Memory, Operation, Proposal
from dreams.models.prepared import prepared
from dreams.services import review
from dreams.services.inbox import waiting
from dreams.services.proposals import decisions, rebase
from dreams.services.review import Actor, ReviewRefused


class ShownHasChanged(Exception):
    """The decisions changed since they were shown."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """ "38 relative dates to fix in 12 projects"."""

    kind: str
    decisions: int
    projects: int

    @property
    def words(self) -> str:
        return decisions.count_label(self.kind, self.decisions)


@dataclass(frozen=True, slots=True)
class TriageResult:
    """What one verdict decided. `refused` has a sentence for each proposal that refused it."""

    decisions: int
    projects: int
    refused: tuple[str, ...]


def undecided(now: dt.datetime, reader: str) -> QuerySet[Operation]:
    """Undecided operations of dream proposals that wait for `reader`, without snoozed ones and answers to questions."""
    pending = Hunk.objects.filter(operation=OuterRef("pk"), verdict=Hunk.Verdict.PENDING)
    return Operation.objects.filter(
        Exists(pending),
        proposal__in=waiting.open_decisions(now, reader).order_by().values("pk"),
        proposal__origin=Proposal.Origin.DREAM,
    )


def counts(now: dt.datetime, reader: str) -> list[KindCount]:
    """The kinds with undecided operations, in their usual order. One query."""
    found = {kind: KindCount(kind, number, places) for kind, number, places in _counted_kinds(now, reader)}
    return [found[kind] for kind in decisions.KINDS_IN_ORDER if kind in found]


@prepared
def _counted_kinds(now: dt.datetime, reader: str) -> QuerySet[Operation, tuple[Any, ...]]:
    rows = undecided(now, reader).order_by().values("kind")
    counted = rows.annotate(
        number=Count("pk", distinct=True), places=Count(F("proposal__project"), distinct=True)
    )
    return counted.values_list("kind", "number", "places")


def of_kind(kind: str, now: dt.datetime, reader: str) -> QuerySet[Operation]:
    """Those of one kind, by project, in the order in which they were proposed."""
    rows = undecided(now, reader).filter(kind=kind).select_related("proposal__project", "proposal__dream")
    return rows.order_by("proposal__project__name", "proposal__project", "proposal", "pk")


def parts(operations: Collection[int]) -> dict[int, list[Hunk]]:
    """Operation → its changes, the index last."""
    rows = Hunk.objects.filter(operation__in=operations).select_related("file__proposal__project")
    found: dict[int, list[Hunk]] = {pk: [] for pk in operations}
    for hunk in rows.prefetch_related("evidence__session").order_by("file__path", "number"):
        found[hunk.operation_id or 0].append(hunk)
    return found


def findings_by_decision(hunks: Sequence[Hunk]) -> dict[int, list[Finding]]:
    """Operation → its unconfirmed findings above the severity "info"."""
    files = {hunk.file_id: set[int]() for hunk in hunks}
    by_hunk = {hunk.pk: hunk.operation_id or 0 for hunk in hunks}
    for hunk in hunks:
        files[hunk.file_id].add(hunk.operation_id or 0)
    rows = Finding.objects.filter(file__in=files, confirmed_at__isnull=True).exclude(
        severity=Finding.Severity.INFO
    )
    found: dict[int, list[Finding]] = {}
    for row in rows:
        own = {by_hunk[row.hunk_id]} if row.hunk_id in by_hunk else set()
        for operation in own if row.hunk_id else files[row.file_id or 0]:
            found.setdefault(operation, []).append(row)
    return found


def digest(parts: Collection[Sequence[Hunk]], against: Collection[int]) -> str:
    """Digest of these decisions as shown, and of which of them had findings."""
    bad = "".join(f" {pk}" for pk in sorted(against))
    return decisions.digest(hunk for hunks in parts for hunk in hunks) + bad.replace(" ", "-")


def decide_shown(wanted: Sequence[int], seen: str, verdict: Hunk.Verdict, reviewer: Actor) -> TriageResult:
    """Decide on these operations, all as they were shown, or on none of them. Raises ShownHasChanged.

    A proposal that refuses it, such as one submitted at this moment, stops no other.
    """
    found = parts(wanted)
    hunks = [hunk for each in found.values() for hunk in each]
    against = findings_by_decision(hunks)
    if not hunks or digest(found.values(), against) != seen:
        raise ShownHasChanged
    if verdict == Hunk.Verdict.APPROVED and against:
        raise ShownHasChanged
    batch = uuid.uuid4().hex if len(found) > 1 else ""
    by_proposal: dict[Proposal, list[Hunk]] = {}
    for hunk in hunks:
        by_proposal.setdefault(hunk.file.proposal, []).append(hunk)
    refused, taken = [], list[Hunk]()
    for proposal, own in by_proposal.items():
        try:
            with transaction.atomic():
                review.lock_open_proposal(proposal)
                if verdict == Hunk.Verdict.APPROVED and findings_by_decision(own):
                    raise ReviewRefused(review.CHANGED)  # a check found it since
                review.decide(proposal, own, verdict, reviewer, batch=batch, seen=own)
            taken += own
        except ReviewRefused as error:
            refused.append(f"{proposal.project}: {error}")
    projects = {hunk.file.proposal.project_id for hunk in taken}
    return TriageResult(decisions.count(taken), len(projects), tuple(refused))


def ready_to_submit() -> list[str]:
    """Open dream proposals with everything decided and something approved, none of whose files changed on disk since. Three
    queries."""
    hunks = Hunk.objects.filter(file__proposal=OuterRef("pk"))
    rows = Proposal.objects.filter(
        Exists(hunks.filter(verdict__in=Hunk.TAKEN)),
        ~Exists(hunks.filter(verdict=Hunk.Verdict.PENDING)),
        state=Proposal.State.OPEN,
        origin=Proposal.Origin.DREAM,
    )
    found = list(rows.order_by("created_at").select_related("project").prefetch_related("files"))
    paths = {file.path for row in found for file in row.files.all()}
    memories: dict[int, dict[str, Memory]] = {row.project_id: {} for row in found}
    for memory in Memory.objects.filter(project__in=memories, path__in=paths):
        memories[memory.project_id][memory.path] = memory
    return [
        row.public_id
        for row in found
        if not rebase.changed_since(row, row.files.all(), memories[row.project_id])
    ]
