"""What waits for a person, across projects, in a few queries: the inbox shows it, and a digest tells it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dreams.models import FileChange, Finding, Hunk, Proposal
from dreams.proposals.renames import old_names
from dreams.text import plural


@dataclass(frozen=True, slots=True)
class Waiting:
    """One proposal to review."""

    public_id: str
    project: str
    project_pk: int
    origin: str
    origin_label: str
    engine: str
    summary: str
    created_at: dt.datetime
    files: int
    changes: int
    decided: int
    blocks: int
    warnings: int

    @property
    def state(self) -> str:
        return "block" if self.blocks else "warn" if self.warnings else "accent"

    @property
    def size(self) -> str:
        return f"{plural(self.changes, 'change')} in {plural(self.files, 'file')}"


def waiting(most: int) -> list[Waiting]:
    """At most `most` open proposals: what needs care first, then what has waited longest."""
    hunks = Hunk.objects.filter(file__proposal=OuterRef("pk"))
    findings = Finding.objects.filter(proposal=OuterRef("pk"), confirmed_at__isnull=True)
    severe = findings.filter(severity__in=[Finding.Severity.REFUSE, Finding.Severity.BLOCK])
    rows = (
        Proposal.objects.filter(state=Proposal.State.OPEN)
        .select_related("project", "dream")
        .annotate(
            files_n=_count(FileChange.objects.filter(proposal=OuterRef("pk")), "proposal"),
            hunks_n=_count(hunks, "file__proposal"),
            decided_n=_count(hunks.exclude(verdict=Hunk.Verdict.PENDING), "file__proposal"),
            blocks_n=_count(severe, "proposal"),
            warnings_n=_count(findings.filter(severity=Finding.Severity.WARN), "proposal"),
        )
    )
    shown = list(rows[:most])
    renamed = old_names([row.pk for row in shown])
    # As a person counts: a file under a new name is one, and so is its change.
    names = Counter(pk for pk, _ in renamed)
    decided = Counter(pk for pk, is_decided in renamed if is_decided)
    found = [
        Waiting(
            public_id=row.public_id,
            project=str(row.project),
            project_pk=row.project_id,
            origin=row.origin,
            origin_label=row.get_origin_display(),
            engine=row.dream.engine if row.dream else "",
            summary=row.summary,
            created_at=row.created_at,
            files=row.files_n - names[row.pk],
            changes=row.hunks_n - names[row.pk],
            decided=row.decided_n - decided[row.pk],
            blocks=row.blocks_n,
            warnings=row.warnings_n,
        )
        for row in shown
    ]
    return sorted(found, key=lambda w: (-min(w.blocks, 1), -min(w.warnings, 1), w.created_at))


def _count(rows: QuerySet[Any], group: str) -> Coalesce:
    """The number of `rows` per outer row: one subquery each, as joins would multiply them by one another."""
    counted = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
