"""All dreams as a list, and one dream as it happens."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Exists, OuterRef, Prefetch

from dreams.lib import ages
from dreams.models import DreamRun, Project, Proposal, WorkStep
from dreams.services.proposals import summaries
from dreams.services.proposals.summaries import Summary
from dreams.web.paging import Listed, page_of

PAGE_SIZE = 30
MOST_PROJECTS = 500
PHASES = {
    DreamRun.Phase.ORIENT: "Reads the index and the memories",
    DreamRun.Phase.GATHER: "Looks through new sessions",
    DreamRun.Phase.CONSOLIDATE: "Merges, corrects and dates",
    DreamRun.Phase.PRUNE: "Keeps the index within its limits",
}
TONES = {"pending": "", "running": "info", "completed": "ok", "failed": "block", "killed": "warn"}


@dataclass(frozen=True, slots=True)
class DreamRow:
    public_id: str
    project: str
    project_pk: int
    status: str
    label: str
    tone: str
    text: str
    engine: str
    trigger: str
    forced: bool
    at: dt.datetime
    took: str
    tokens: int
    cost: Decimal | None  # None: a price is missing
    review: str
    waits: bool
    left_work: bool


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str


def dreams(status: str = "", project: int | None = None, number: str | None = None) -> Listed[DreamRow]:
    kept = Exists(WorkStep.objects.filter(dream=OuterRef("pk")))
    made = Prefetch("proposals", queryset=Proposal.objects.order_by("by_policy", "-pk"), to_attr="made")
    rows = DreamRun.objects.select_related("project").prefetch_related(made).annotate(kept=kept)
    rows = rows.order_by("-created_at", "-pk")
    if status:
        rows = rows.filter(status=status)
    if project is not None:
        rows = rows.filter(project=project)
    page = page_of(rows, number, PAGE_SIZE)
    return Listed(_rows(list(page.object_list)), page)


def projects() -> list[Choice]:
    """Projects that ever dreamt, for the filter."""
    any_dream = Exists(DreamRun.objects.filter(project=OuterRef("pk")))
    rows = Project.objects.filter(any_dream).order_by("name")[:MOST_PROJECTS]
    return [Choice(str(row.pk), str(row)) for row in rows]


def _rows(runs: Sequence[DreamRun]) -> list[DreamRow]:
    told = summaries.of_dreams(runs)
    return [_row(run, told[run.pk]) for run in runs]


def _row(run: DreamRun, told: Summary) -> DreamRow:
    made: list[Proposal] = run.made  # type: ignore[attr-defined] # prefetched by dreams
    return DreamRow(
        public_id=run.public_id,
        project=str(run.project),
        project_pk=run.project_id,
        status=run.status,
        label=status_words(run),
        tone=TONES[run.status],
        text=_text(run, told),
        engine=engine_words(run),
        trigger=run.get_trigger_display(),
        forced=run.forced,
        at=run.ended_at or run.started_at or run.created_at,
        took=_took(run),
        tokens=run.tokens,
        cost=run.whole_cost,
        review=made[0].public_id if made else "",
        waits=bool(made) and made[0].state == Proposal.State.OPEN,
        left_work=run.is_over and bool(run.kept),  # type: ignore[attr-defined] # annotated by dreams
    )


def is_stopping(run: DreamRun) -> bool:
    return run.cancel_requested_at is not None and not run.is_over


def status_words(run: DreamRun) -> str:
    return "Stopping" if is_stopping(run) else run.get_status_display()


def engine_words(run: DreamRun) -> str:
    return "rules" if run.engine == "rules" else run.model or "a model"


def _took(run: DreamRun) -> str:
    if run.started_at is None or run.ended_at is None:
        return ""
    return ages.exact(dt.timedelta(seconds=max(1, round((run.ended_at - run.started_at).total_seconds()))))


def _text(run: DreamRun, told: Summary) -> str:
    """Its status is shown beside it: what failed says why, and what runs what it does."""
    if run.is_over:
        return told.detail or f"{told.text}."
    return PHASES[DreamRun.Phase(run.phase)] if run.phase else told.text
