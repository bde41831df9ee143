"""The list of dreams, and the result of one: its changes, checks and findings."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Value
from django.utils import timezone

from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.models import DreamRun, FileChange, Memory, Project, Proposal, WorkStep
from dreams.models.prepared import Fixed, prepared
from dreams.services.dreaming import unfinished
from dreams.services.inbox import waiting
from dreams.services.proposals import summaries
from dreams.services.proposals.decisions import is_any_open
from dreams.services.proposals.summaries import Summary
from dreams.services.questions.question_states import NOW_ASKED
from dreams.services.scheduling import gates, next_dream
from dreams.web.pages.projects import with_unique_names
from dreams.web.pages.review_filter import LETTER_WORDS, LETTERS
from dreams.web.paging import PageOfRows, RowQuery, page_of

PAGE_SIZE = 30  # rows; chosen
MOST_PROJECTS = 500  # to choose from; chosen
PHASES = {
    DreamRun.Phase.ORIENT: "Reads the index and the memories",
    DreamRun.Phase.GATHER: "Looks through new sessions",
    DreamRun.Phase.CONSOLIDATE: "Merges, corrects and dates",
    DreamRun.Phase.PRUNE: "Keeps the index within its limits",
}
TONES = {"pending": "", "running": "info", "completed": "ok", "failed": "block", "killed": "warn"}


# Pending, then running, then finished dreams, each by the time that its row shows.
NEWEST_FIRST = (F("ended_at").desc(nulls_first=True), F("started_at").desc(nulls_first=True), "-pk")


@dataclass(frozen=True, slots=True)
class DreamRow:
    public_id: str
    project: str
    host: str
    status: str
    label: str
    tone: str
    text: str
    engine: str
    forced: bool
    at: dt.datetime
    took: str
    tokens: int
    cost: Decimal | None  # None if a price is missing
    review: str
    waits: bool
    is_decided: bool
    left_work: bool


def dreams(
    status: str = "", project: int | None = None, number: str | None = None, host: str = ""
) -> PageOfRows[DreamRow]:
    found = RowQuery(sum(_counted(status, project, host)), partial(_listed, status, project, host))
    page = page_of(found, number, PAGE_SIZE)
    return PageOfRows(_rows(list(page.object_list)), page)


def _wanted(status: str, project: int | None, host: str) -> QuerySet[DreamRun]:
    rows = DreamRun.objects.filter(status=status) if status else DreamRun.objects.all()
    rows = rows if project is None else rows.filter(project=project)
    return rows.filter(project__host=host) if host else rows


@prepared
def _counted(status: str, project: int | None, host: str) -> QuerySet[DreamRun, int]:
    """The number of dreams, in one row."""
    rows = _wanted(status, project, host).order_by().values(all=Value(1))
    return rows.annotate(n=Count("*")).values_list("n", flat=True)


@prepared
def _listed(status: str, project: int | None, host: str, start: Fixed) -> QuerySet[DreamRun]:
    kept = Exists(WorkStep.objects.filter(dream=OuterRef("pk")))
    rows = _wanted(status, project, host).select_related("project").annotate(kept=kept)
    return rows.order_by(*NEWEST_FIRST)[start : start + PAGE_SIZE]


@prepared
def _made(dreams: list[int]) -> QuerySet[Proposal, tuple[int, str, str, bool]]:
    """The proposals of each dream; the one for a person is last."""
    rows = Proposal.objects.filter(dream__in=dreams).order_by("-by_policy", "pk")
    return rows.values_list("dream_id", "public_id", "state", is_any_open())


def projects(host: str = "") -> list[tuple[int, str]]:
    """Projects with dreams, for the filter; of one host or of all."""
    return with_unique_names((pk, name or slug) for pk, name, slug in _that_dreamt(host))


@prepared
def _that_dreamt(host: str) -> QuerySet[Project, tuple[int, str, str]]:
    any_dream = Exists(DreamRun.objects.filter(project=OuterRef("pk")))
    rows = Project.objects.filter(any_dream, **({"host": host} if host else {}))
    return rows.order_by("name").values_list("pk", "name", "slug")[:MOST_PROJECTS]


def _rows(runs: Sequence[DreamRun]) -> list[DreamRow]:
    told = summaries.of_dreams(runs)
    made = {dream: of_it for dream, *of_it in _made([run.pk for run in runs])}
    return [_row(run, told[run.pk], *made.get(run.pk, ("", "", False))) for run in runs]


def _row(run: DreamRun, told: Summary, review: str, state: str, is_open: bool) -> DreamRow:
    return DreamRow(
        public_id=run.public_id,
        project=str(run.project),
        host=run.project.host,
        status=run.status,
        label=status_words(run),
        tone=TONES[run.status],
        text=_text(run, told),
        engine=engine_words(run),
        forced=run.forced,
        at=run.ended_at or run.started_at or run.created_at,
        took=_took(run),
        tokens=run.tokens,
        cost=run.whole_cost,
        review=review,
        waits=state == Proposal.State.OPEN,
        is_decided=not is_open,
        left_work=run.is_over and bool(run.kept),  # type: ignore[attr-defined] # annotated by _listed
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
    return amounts.took((run.ended_at - run.started_at).total_seconds())


def _text(run: DreamRun, told: Summary) -> str:
    """The text next to the status: why it failed, or its current phase."""
    if run.is_over:
        return told.detail or f"{told.text}."
    return PHASES[DreamRun.Phase(run.phase)] if run.phase else told.text


MOST_NAMES = 12  # of changed memories; chosen


def result(run: DreamRun) -> dict[str, Any]:
    """The result of a finished dream. `mended`: problems that the engine was asked to fix before there was a proposal."""
    made = list(run.proposals.order_by("by_policy", "-pk"))
    changed = _changed(run, made)
    told = summaries.of_dream(run)
    headline, icon = _headline(run, told)
    clock, retry_at = _clock(run)
    person = next((proposal for proposal in made if not proposal.by_policy), None)
    policy = next((proposal for proposal in made if proposal.by_policy), None)
    review_open = person is not None and person.state == Proposal.State.OPEN
    to_confirm, warnings = waiting.open_findings(person) if person and review_open else (0, 0)
    mended = sum(bool(one["mended"]) for one in run.self_review)
    return {
        "headline": headline,
        "size": told.size if made else "",
        "tone": told.tone,
        "icon": icon,
        "clock": clock,
        "retry_at": retry_at,
        "review": person or policy,
        "review_open": review_open,
        "is_decided": person and not person.files.filter(hunks__verdict="pending").exists(),
        "applied": policy if policy and policy.state == Proposal.State.APPLIED else None,
        "is_all_applied": person is None,
        "changed": changed[:MOST_NAMES],
        "more": max(0, len(changed) - MOST_NAMES),
        "left_out": run.left_out,
        "unfinished": [] if run.status == DreamRun.Status.COMPLETED else unfinished.files(run),
        "mended": run.self_review,
        "is_all_mended": mended == len(run.self_review),
        "mended_sentence": f"The engine was asked to fix {plural(len(run.self_review), 'problem')} before you saw this; {mended or 'none'} fixed",
        # A test of the engine may explain the failure.
        "engine_may_tell": run.engine != "rules"
        and run.failure in (DreamRun.Failure.ENGINE, DreamRun.Failure.LIMIT),
        "blocks": to_confirm,
        "warnings": warnings,
        "questions": run.questions.filter(NOW_ASKED).count(),
    }


def _changed(run: DreamRun, made: Sequence[Proposal]) -> list[dict[str, Any]]:
    rows = FileChange.objects.filter(proposal__in=made).order_by("path")
    known = dict(Memory.objects.filter(project=run.project_id).values_list("path", "pk"))
    letters = dict[str, str]()
    for path, kind in rows.values_list("path", "kind"):
        letters.setdefault(path, LETTERS[kind])
    return [
        {"path": path, "kind": LETTER_WORDS[letter], "letter": letter, "memory": known.get(path)}
        for path, letter in letters.items()
    ]


def _headline(run: DreamRun, told: Summary) -> tuple[str, str]:
    if run.status == DreamRun.Status.FAILED:
        return "The dream failed", "block"
    if run.status == DreamRun.Status.KILLED:
        return "The dream was cancelled", "stop"
    return told.text, "ok" if told.tone == "ok" else "moon"


#: The agent's modes in which the scheduler starts no dreams.
_MODES: Mapping[str, str] = {
    gates.Mode.DAILY_LOG: "In the agent’s daily-log mode no dream starts automatically; “Distil logs” on the project’s page tries again.",
    gates.Mode.REMOTE: "In the agent’s remote mode no dream starts automatically.",
}


def _retry(project: Project) -> tuple[str, dt.datetime | None]:
    now = timezone.now()
    following = next_dream.of_projects([project], now)[project.pk]
    if following.why_off:
        return _MODES.get(project.mode) or f"It is not retried for now: {following.why_off}", None
    waits, at = following.retry(now)
    return waits or "The dream is retried automatically.", at


def _clock(run: DreamRun) -> tuple[str, dt.datetime | None]:
    """How the dream affects the wait before the next one, and when a failed one is retried. Only completed dreams count."""
    again = run.project.not_before
    if run.status == DreamRun.Status.FAILED and run.started_at is not None and again is not None:
        words, at = _retry(run.project)
        return f"Nothing in your notes was changed. {words}", at
    return _past(run), None


def _past(run: DreamRun) -> str:
    if run.status == DreamRun.Status.COMPLETED:
        return "The wait before the next dream is counted from this one."
    if run.started_at is None:
        return "It never started, so it does not count."
    if run.status == DreamRun.Status.KILLED and run.error:
        return ""  # its error already says this
    return "Nothing in your notes was changed, and the dream does not count."
