"""All dreams as a list, and one dream as it happens."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Prefetch

from dreams.language import ages
from dreams.models import DreamRun, FileChange, Memory, Project, Proposal, Turn
from dreams.text import plural
from dreams.web.paging import Listed, listed, page_of
from dreams.web.shown import shown

PAGE_SIZE = 30
MOST_TURNS = 400
MOST_NAMES = 12
MOST_TOOL_CHARS = 4_000
MOST_PROJECTS = 500
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
    cost: Decimal | None
    review: str
    waits: bool


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str


def dreams(status: str = "", project: int | None = None, number: str | None = None) -> Listed[DreamRow]:
    rows = DreamRun.objects.select_related("project").prefetch_related(_made()).order_by("-created_at", "-pk")
    if status:
        rows = rows.filter(status=status)
    if project is not None:
        rows = rows.filter(project=project)
    return listed(page_of(rows, number, PAGE_SIZE), _row)


def projects() -> list[Choice]:
    """Projects that ever dreamt, for the filter."""
    rows = Project.objects.filter(dreams__isnull=False).distinct().order_by("name")[:MOST_PROJECTS]
    return [Choice(str(row.pk), str(row)) for row in rows]


def _made() -> Prefetch[str]:
    made = Proposal.objects.annotate(files_n=Count("files")).order_by("by_policy", "-pk")
    return Prefetch("proposals", queryset=made, to_attr="made")


def _row(run: DreamRun) -> DreamRow:
    made: list[Proposal] = run.made  # type: ignore[attr-defined] # prefetched by _made
    return DreamRow(
        public_id=run.public_id,
        project=str(run.project),
        project_pk=run.project_id,
        status=run.status,
        label=run.get_status_display(),
        tone=TONES[run.status],
        text=told(run, made),
        engine=engine_words(run),
        trigger=run.get_trigger_display(),
        forced=run.forced,
        at=run.ended_at or run.started_at or run.created_at,
        took=_took(run),
        tokens=run.input_tokens + run.output_tokens,
        cost=run.cost_usd,
        review=made[0].public_id if made else "",
        waits=bool(made) and made[0].state == Proposal.State.OPEN,
    )


def engine_words(run: DreamRun) -> str:
    return "rules" if run.engine == "rules" else run.model or "a model"


def _took(run: DreamRun) -> str:
    if run.started_at is None or run.ended_at is None:
        return ""
    return ages.exact(dt.timedelta(seconds=max(1, round((run.ended_at - run.started_at).total_seconds()))))


def told(run: DreamRun, made: Sequence[Proposal]) -> str:
    """What became of it, in one sentence for a person."""
    if run.status == DreamRun.Status.FAILED:
        return run.error or "It failed without a reason."
    if run.status == DreamRun.Status.KILLED:
        return run.error or "Cancelled. Nothing was changed."
    if run.status != DreamRun.Status.COMPLETED:
        return run.get_phase_display() if run.phase else "Waits for a free worker"
    files = sum(proposal.files_n for proposal in made)  # type: ignore[attr-defined] # annotated by _made
    if not files:
        return run.summary or "Nothing to improve."
    word = "Improved" if all(p.state == Proposal.State.APPLIED for p in made) else "Proposes to improve"
    return f"{word} {plural(files, 'memory', 'memories')}."


# --- One dream ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """A phase on the way: `state` is done, now or ahead."""

    label: str
    sentence: str
    state: str
    turns: int


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    input: str
    output: str
    refused: str
    ms: str


@dataclass(frozen=True, slots=True)
class TurnView:
    number: int
    phase: str
    text: str
    tools: list[Tool]
    files: list[str]
    counts: list[tuple[str, int]]
    at: dt.datetime
    tokens: int


@dataclass(frozen=True, slots=True)
class Improved:
    """A file that the dream wants to change, or changed."""

    path: str
    kind: str
    letter: str
    memory: int | None


@dataclass(frozen=True, slots=True)
class LeftOutHunk:
    path: str
    hunk: str
    why: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    pk: int
    title: str
    at: dt.datetime
    from_byte: int
    to_byte: int


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a dream that is over."""

    headline: str
    text: str
    tone: str
    icon: str
    clock: str
    review: str
    review_state: str
    review_open: bool
    applied: str
    improved: list[Improved]
    more: int
    left_out: list[LeftOutHunk]


@dataclass(frozen=True, slots=True)
class DreamView:
    run: DreamRun
    status: str
    label: str
    tone: str
    is_over: bool
    cancelling: bool
    engine: str
    steps: list[Step]
    turns: list[TurnView]
    last_turn: int
    turn_count: int
    hidden_turns: int
    files: list[str]
    tokens: int
    cost: Decimal | None
    elapsed: str
    sessions: Listed[Reviewed]
    result: Result | None


_PHASES = {
    DreamRun.Phase.ORIENT: "Reads the index and the memories",
    DreamRun.Phase.GATHER: "Looks through new sessions",
    DreamRun.Phase.CONSOLIDATE: "Merges, corrects and dates",
    DreamRun.Phase.PRUNE: "Keeps the index within its limits",
}


def dream(run: DreamRun, now: dt.datetime, after: int = 0, number: str | None = None) -> DreamView:
    """The dream as it is now; only turns with a number above `after` are among its turns."""
    rows = list(run.turns.filter(number__gt=after).order_by("number")[:MOST_TURNS])
    totals = _totals(run)
    return DreamView(
        run=run,
        status=run.status,
        label=run.get_status_display(),
        tone=TONES[run.status],
        is_over=run.is_over,
        cancelling=run.cancel_requested_at is not None and not run.is_over,
        engine=engine_words(run),
        steps=_steps(run, totals.per_phase),
        turns=[_turn(row) for row in rows],
        last_turn=rows[-1].number if rows else after,
        turn_count=totals.turns,
        hidden_turns=max(0, totals.turns - MOST_TURNS) if not after else 0,
        files=totals.files,
        tokens=max(run.input_tokens + run.output_tokens, totals.tokens),
        cost=run.cost_usd,
        elapsed=_elapsed(run, now),
        sessions=_reviewed(run, number),
        result=_result(run) if run.is_over else None,
    )


@dataclass(frozen=True, slots=True)
class _Totals:
    turns: int
    tokens: int
    per_phase: Mapping[str, int]
    files: list[str]


def _totals(run: DreamRun) -> _Totals:
    """Sums over every turn, also those that are shown already."""
    per_phase: dict[str, int] = {}
    files: dict[str, None] = {}
    turns = tokens = 0
    rows = run.turns.order_by("number").values_list("phase", "files", "input_tokens", "output_tokens")
    for phase, touched, read, written in rows[: MOST_TURNS * 5]:
        turns, tokens = turns + 1, tokens + read + written
        per_phase[phase] = per_phase.get(phase, 0) + 1
        files |= dict.fromkeys(str(path) for path in touched)
    return _Totals(turns, tokens, per_phase, list(files)[:100])


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _steps(run: DreamRun, per_phase: Mapping[str, int]) -> list[Step]:
    names = list(_PHASES)
    at = names.index(DreamRun.Phase(run.phase)) if run.phase else -1
    if run.status == DreamRun.Status.COMPLETED:
        at = len(names)
    return [
        Step(name.label, sentence, _state(position, at, run), per_phase.get(name.value, 0))
        for position, (name, sentence) in enumerate(_PHASES.items())
    ]


def _state(position: int, at: int, run: DreamRun) -> str:
    if position < at:
        return "done"
    if position > at:
        return "ahead"
    return "stopped" if run.is_over else "now"


def _turn(row: Turn) -> TurnView:
    return TurnView(
        number=row.number,
        phase=row.get_phase_display(),
        text=shown(row.text),
        tools=[_tool(tool) for tool in row.tools[:50] if isinstance(tool, dict)],
        files=[str(path) for path in row.files[:50]],
        counts=[(str(name), _whole(count)) for name, count in list(row.counts.items())[:20]],
        at=row.at,
        tokens=row.input_tokens + row.output_tokens,
    )


def _tool(tool: Mapping[str, Any]) -> Tool:
    refused = tool.get("refused")
    said = tool.get("input", "")
    if isinstance(said, Mapping):
        said = "\n".join(f"{key}: {value}" for key, value in said.items())
    return Tool(
        name=str(tool.get("name", "tool")),
        input=shown(str(said))[:MOST_TOOL_CHARS],
        output=shown(str(tool.get("output") or ""))[:MOST_TOOL_CHARS],
        refused="" if not refused else "Refused" if refused is True else str(refused),
        ms=f"{tool['ms']} ms" if isinstance(tool.get("ms"), int | float) else "",
    )


def _elapsed(run: DreamRun, now: dt.datetime) -> str:
    if run.started_at is None:
        return "not started"
    seconds = ((run.ended_at or now) - run.started_at).total_seconds()
    return ages.exact(dt.timedelta(seconds=max(0, int(seconds))))


def _reviewed(run: DreamRun, number: str | None) -> Listed[Reviewed]:
    rows = run.reviewed.select_related("session").order_by("-session__touched_at")
    page = page_of(rows, number, PAGE_SIZE)
    return Listed(
        [
            Reviewed(
                row.session_id,
                str(row.session),
                row.session.last_at or row.session.touched_at,
                row.from_byte,
                row.to_byte,
            )
            for row in page.object_list
        ],
        page,
    )


# --- What came of it ----------------------------------------------------------------------------------------------


def _result(run: DreamRun) -> Result:
    made = list(run.proposals.order_by("by_policy", "-pk"))
    changed = _improved(run, made)
    headline, tone, icon = _headline(run, made, len(changed))
    person = next((proposal for proposal in made if not proposal.by_policy), None)
    policy = next((proposal for proposal in made if proposal.by_policy), None)
    shown_proposal = person or policy
    return Result(
        headline=headline,
        text=run.summary if run.status == DreamRun.Status.COMPLETED else run.error,
        tone=tone,
        icon=icon,
        clock=_clock(run),
        review=shown_proposal.public_id if shown_proposal else "",
        review_state=shown_proposal.get_state_display() if shown_proposal else "",
        review_open=bool(person and person.state == Proposal.State.OPEN),
        applied=policy.public_id if policy and policy.state == Proposal.State.APPLIED else "",
        improved=changed[:MOST_NAMES],
        more=max(0, len(changed) - MOST_NAMES),
        left_out=[
            LeftOutHunk(str(item.get("path", "")), str(item.get("hunk", "")), str(item.get("why", "")))
            for item in run.left_out[:50]
            if isinstance(item, dict)
        ],
    )


_LETTERS = {FileChange.Kind.ADD: "A", FileChange.Kind.MODIFY: "M", FileChange.Kind.DELETE: "D"}


def _improved(run: DreamRun, made: Sequence[Proposal]) -> list[Improved]:
    rows = FileChange.objects.filter(proposal__in=made).order_by("path")
    known = dict(Memory.objects.filter(project=run.project_id).values_list("path", "pk"))
    found: dict[str, Improved] = {}
    for row in rows:
        kind = FileChange.Kind(row.kind)
        found.setdefault(row.path, Improved(row.path, kind.label, _LETTERS[kind], known.get(row.path)))
    return list(found.values())


def _headline(run: DreamRun, made: Sequence[Proposal], files: int) -> tuple[str, str, str]:
    if run.status == DreamRun.Status.FAILED:
        return "The dream failed", "block", "block"
    if run.status == DreamRun.Status.KILLED:
        return "The dream was cancelled", "warn", "stop"
    if not files:
        return "Nothing to improve", "ok", "ok"
    memories = plural(files, "memory", "memories")
    if all(proposal.state == Proposal.State.APPLIED for proposal in made):
        return f"Improved {memories}", "ok", "ok"
    if all(proposal.state in (Proposal.State.REJECTED, Proposal.State.SUPERSEDED) for proposal in made):
        return f"Proposed to improve {memories}", "", "moon"
    return f"Improved {memories} in a copy", "accent", "moon"


def _clock(run: DreamRun) -> str:
    """What happened to the project's clock: only a completed dream moves it."""
    if run.status == DreamRun.Status.COMPLETED:
        return "The clock was set: the next dream waits its hours from here."
    if run.started_at is None:
        return "It never began, so the clock is as it was."
    again = run.project.not_before
    if run.status == DreamRun.Status.FAILED and again is not None:
        return "Nothing was changed, and the clock was put back. It is tried again by itself."
    return "Nothing was changed, and the clock was put back, as if it had never run."
