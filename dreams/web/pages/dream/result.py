"""What came of a dream that is over: what it changed, what it left out, and what happened to the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from dreams.lib.files.text import plural
from dreams.models import DreamRun, FileChange, Finding, Memory, Proposal, Question
from dreams.services import dreaming
from dreams.services.proposals import summaries
from dreams.services.proposals.summaries import Summary

MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class Changed:
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
class Mended:
    """Something the checks told the engine before there was a proposal."""

    path: str
    said: str
    is_mended: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a dream that is over."""

    headline: str
    size: str
    error: str
    engine_says: str
    tone: str
    icon: str
    clock: str
    review: str
    review_state: str
    review_open: bool
    applied: str
    changed: list[Changed]
    more: int
    left_out: list[LeftOutHunk]
    unfinished: list[str]
    mended: list[Mended]
    engine_may_tell: bool
    blocks: int
    warnings: int
    questions: int

    @property
    def is_all_mended(self) -> bool:
        return all(one.is_mended for one in self.mended)

    @property
    def mended_sentence(self) -> str:
        """How much of what was told is mended."""
        done = sum(one.is_mended for one in self.mended)
        told = plural(len(self.mended), "problem")
        return f"The engine was asked to fix {told} before you saw this; {done or 'none'} fixed"


def result(run: DreamRun) -> Result:
    made = list(run.proposals.order_by("by_policy", "-pk"))
    changed = _changed(run, made)
    told = summaries.of_dream(run)
    headline, icon = _headline(run, told)
    person = next((proposal for proposal in made if not proposal.by_policy), None)
    policy = next((proposal for proposal in made if proposal.by_policy), None)
    shown_proposal = person or policy
    review_open = person is not None and person.state == Proposal.State.OPEN
    found = _found(person) if person and review_open else {}
    return Result(
        headline=headline,
        size=told.size if made else "",
        error=run.error,
        engine_says=run.summary,
        tone=told.tone,
        icon=icon,
        clock=_clock(run),
        review=shown_proposal.public_id if shown_proposal else "",
        review_state=shown_proposal.get_state_display() if shown_proposal else "",
        review_open=review_open,
        applied=policy.public_id if policy and policy.state == Proposal.State.APPLIED else "",
        changed=changed[:MOST_NAMES],
        more=max(0, len(changed) - MOST_NAMES),
        left_out=[
            LeftOutHunk(str(item.get("path", "")), str(item.get("hunk", "")), str(item.get("why", "")))
            for item in run.left_out[:50]
            if isinstance(item, dict)
        ],
        unfinished=[] if run.status == DreamRun.Status.COMPLETED else dreaming.unfinished_files(run),
        mended=[
            Mended(str(one.get("path", "")), str(one.get("said", "")), bool(one.get("mended")))
            for one in run.mended
        ],
        engine_may_tell=_engine_may_tell(run),
        blocks=found.get(Finding.Severity.BLOCK, 0) + found.get(Finding.Severity.REFUSE, 0),
        warnings=found.get(Finding.Severity.WARN, 0),
        questions=run.questions.filter(state=Question.State.OPEN, asked=True).count(),
    )


def _found(proposal: Proposal) -> Mapping[str, int]:
    """How many findings wait for a person, by how grave they are."""
    rows = proposal.findings.filter(confirmed_at__isnull=True).order_by().values_list("severity")
    return dict(rows.annotate(count=Count("pk")))


def _engine_may_tell(run: DreamRun) -> bool:
    """Whether a test of its engine may say more of why it failed."""
    return run.engine != "rules" and run.failure in (DreamRun.Failure.ENGINE, DreamRun.Failure.LIMIT)


_LETTERS = {FileChange.Kind.ADD: "A", FileChange.Kind.MODIFY: "M", FileChange.Kind.DELETE: "D"}


def _changed(run: DreamRun, made: Sequence[Proposal]) -> list[Changed]:
    rows = FileChange.objects.filter(proposal__in=made).order_by("path")
    known = dict(Memory.objects.filter(project=run.project_id).values_list("path", "pk"))
    found: dict[str, Changed] = {}
    for row in rows:
        kind = FileChange.Kind(row.kind)
        found.setdefault(row.path, Changed(row.path, kind.label, _LETTERS[kind], known.get(row.path)))
    return list(found.values())


def _headline(run: DreamRun, told: Summary) -> tuple[str, str]:
    if run.status == DreamRun.Status.FAILED:
        return "The dream failed", "block"
    if run.status == DreamRun.Status.KILLED:
        return "The dream was cancelled", "stop"
    return told.text, "ok" if told.tone == "ok" else "moon"


def _clock(run: DreamRun) -> str:
    """What happened to the project's clock: only a completed dream moves it."""
    if run.status == DreamRun.Status.COMPLETED:
        return "The wait for the next dream starts from here."
    if run.started_at is None:
        return "It never started, so it does not count."
    if run.status == DreamRun.Status.KILLED and run.error:
        return ""  # what ended it says this too
    again = run.project.not_before
    if run.status == DreamRun.Status.FAILED and again is not None:
        return "Nothing in your notes was changed. The dream is retried automatically."
    return "Nothing in your notes was changed, and the dream does not count."
