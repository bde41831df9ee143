"""Lists what waits for a person in all projects, in a fixed number of queries. The inbox, the digest and the feed show
it.

Each item has its kind, project, time, reason, who must act, and the one thing to do. To add a kind, add a `WaitingKind`
and a function that finds its items; it needs no page."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import Count, IntegerField, Min, OuterRef, Q, QuerySet, Subquery, TextChoices
from django.db.models.functions import Coalesce
from django.urls import reverse

from dreams.lib.files.text import plural
from dreams.models import (
    AuditEntry,
    Finding,
    Hunk,
    JobRun,
    Proposal,
    Question,
    ScheduledJob,
    Snooze,
)
from dreams.models.prepared import prepared
from dreams.services import host_requests, hosts, review
from dreams.services.inbox.snoozing import QUESTIONS_KEY, put_off_by, snoozes, whose
from dreams.services.memories import moved
from dreams.services.proposals import rebase, summaries
from dreams.services.proposals.decisions import Counts, is_any_open
from dreams.services.proposals.summaries import Summary
from dreams.services.questions.question_states import NOW_ASKED

MOST = 200  # the title counts all
GONE = "Decided, not written yet; its project is gone or not watched."
ASKED = "It was asked to write this. It checks it again, then reports here."
State = Proposal.State


class WaitingKind(TextChoices):
    """Why something waits, the most urgent first: approved work that is not written."""

    FAILED = "failed", "Writing failed"
    CONFLICT = "conflict", "In conflict"
    CONFIRM = "confirm", "To confirm"
    SECOND = "second", "Second person"
    WRITE = "write", "Not written yet"
    SUBMIT = "submit", "To submit"
    REVIEW = "review", "To review"
    QUESTIONS = "questions", "Questions"
    MOVED = "moved", "Repository moved"
    JOB = "job", "Schedule failed"


_ORDER = {kind: place for place, kind in enumerate(WaitingKind)}

#: Kind, reason, the button's label and its URL.
_Told = tuple[WaitingKind, str, str, str]


@dataclass(frozen=True, slots=True)
class ProposalFacts:
    """The details of an item's proposal."""

    host: str
    public_id: str
    origin: str
    origin_label: str
    engine: str
    summary: str
    size: str
    files: int
    counts: Counts
    to_confirm: int
    warnings: int


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """One thing that waits. `key` never changes; `host` is the name of the other machine that was asked to continue, empty
    if a person must act, which is possible on any host; `of` is the key of the host that it belongs to, or empty;
    `not_for` are the accounts that did their part. What is decided of a project that is gone has a `snooze` that nobody
    made, until the project is back."""

    key: str
    kind: WaitingKind
    project: str
    project_pk: int | None
    since: dt.datetime
    why: str
    action: str
    url: str
    host: str = ""
    of: str = ""
    facts: ProposalFacts | None = None
    snooze: Snooze | None = None
    not_for: frozenset[str] = frozenset()

    @property
    def care(self) -> str:
        """The severity: "block", "warn" or ""."""
        if self.kind in (WaitingKind.FAILED, WaitingKind.CONFLICT) or (self.facts and self.facts.to_confirm):
            return "block"
        stuck = self.kind in (WaitingKind.CONFIRM, WaitingKind.SECOND, WaitingKind.WRITE, WaitingKind.JOB)
        return "warn" if stuck or (self.facts and self.facts.warnings) else ""


def waiting(now: dt.datetime, reader: str = "") -> list[WaitingItem]:
    """Everything that waits, sorted by kind, severity and age.

    Items that the account `reader` snoozed have their `snooze`; without `reader`, those of the owner.
    """
    found = [*_of_proposals(_rows()), *_questions(), *_moved(), *_failing_jobs()]
    return sorted(
        _with_snoozes(found, now, reader),
        key=lambda item: (_ORDER[item.kind], ("block", "warn", "").index(item.care), item.since),
    )


def to_finish(now: dt.datetime, reader: str = "") -> int:
    """How many decided proposals wait for `reader` to submit, confirm, solve or write them."""
    items = _with_snoozes(_of_proposals(_rows_to_finish()), now, reader)
    return sum(item.snooze is None and reader not in item.not_for for item in items)


def _with_snoozes(items: Iterable[WaitingItem], now: dt.datetime, reader: str) -> list[WaitingItem]:
    put_off = {(row.item, row.kind): row for row in snoozes(whose(reader), now)}
    return [
        replace(item, snooze=row) if (row := put_off.get((item.key, item.kind.value))) else item
        for item in items
    ]


def open_decisions(now: dt.datetime, reader: str = "") -> QuerySet[Proposal]:
    """The proposals with an open decision that `reader` has not snoozed; the page title counts these and `to_finish`. As
    its questions do, an open review of a project that is gone or not watched rests until the project is back."""
    put_off = put_off_by(whose(reader), now).filter(kind=WaitingKind.REVIEW.value).order_by().values("item")
    rows = Proposal.objects.filter(is_any_open(), state=State.OPEN, project__gone_at=None)
    return rows.exclude(public_id__in=put_off)


def all_decided() -> QuerySet[Proposal]:
    """The proposals that wait, but have no open decision."""
    return Proposal.objects.filter(Q(state=State.SUBMITTED) | Q(~is_any_open(), state=State.OPEN))


# --- Proposals ----------------------------------------------------------------------------------------------------


def _of_proposals(rows: Sequence[Any]) -> Iterator[WaitingItem]:
    pks = [row.pk for row in rows]
    told = summaries.of_proposals(rows)
    submitted = [row.public_id for row in rows if row.state == State.SUBMITTED]
    failures = _failures(submitted) if submitted else {}
    stuck, second = rebase.stuck_files(pks), review.second_person_waits(rows)
    names = hosts.names()
    asked, refused = set(host_requests.asked_to_write(pks)), dict(host_requests.times_refused(pks))
    for row in rows:
        # The name of the other host that has the files, as only it can write them; empty if it is this one.
        key: str = row.project.host
        facts = _facts(row, told[row.pk], "" if key == hosts.host() else names.get(key, key))
        item = _item(row, facts, stuck.get(row.pk, []), failures.get(row.public_id))
        if item.kind == WaitingKind.CONFIRM and refused.get(row.pk, 0) >= host_requests.TOO_OFTEN:
            item = replace(item, why=_too_fast(stuck[row.pk], refused[row.pk], facts.host))
        elif row.pk in second and not item.snooze and item.kind in (WaitingKind.WRITE, WaitingKind.FAILED):
            item = _for_another(item, second[row.pk])
        if row.pk in asked:
            item = replace(item, kind=WaitingKind.WRITE, why=ASKED, action="View", host=facts.host)
        yield item


def _for_another(item: WaitingItem, waits: review.SecondWait) -> WaitingItem:
    paths = waits.files[0].path if len(waits.files) == 1 else plural(len(waits.files), "file")
    why = f"{waits.names} approved changes to {paths}, which your team shares. Each change needs a second person."
    return replace(item, kind=WaitingKind.SECOND, why=why, action="View", not_for=waits.excluded)


def _too_fast(stuck: Sequence[rebase.StuckFile], times: int, host: str) -> str:
    where = f"on {host}" if host else "here"
    return f"{rebase.stuck_paths(stuck)} changed again each of the {times} times memoryweb tried to write it. Confirm it {where}, or once its sessions are quiet."


#: The columns that items need; loading all of them would take most of the time.
_TOLD_BY = (
    *("public_id", "state", "origin", "summary", "created_by", "created_at", "submitted_at", "submitted_by"),
    *("undo_asked", "project__name", "project__slug", "project__host", "project__gone_at"),
    "dream__engine",
)


@prepared
def _rows() -> QuerySet[Any]:
    # "submitted" sorts after "open" and the order is descending, so MOST cuts off open ones first.
    rests = Q(is_any_open(), state=State.OPEN, project__gone_at__isnull=False)
    return _annotated(Proposal.objects.filter(~rests, state__in=Proposal.UNFINISHED))


@prepared
def _rows_to_finish() -> QuerySet[Any]:
    return _annotated(all_decided())


def _annotated(rows: QuerySet[Proposal]) -> QuerySet[Any]:
    findings = Finding.objects.filter(proposal=OuterRef("pk"), confirmed_at__isnull=True)
    severe = findings.filter(severity__in=[Finding.Severity.REFUSE, Finding.Severity.BLOCK])
    rejected = Q(hunk__verdict=Hunk.Verdict.REJECTED)
    return (
        rows.select_related("project", "dream")
        .only(*_TOLD_BY)
        .annotate(
            to_confirm_n=counted(severe.exclude(rejected), "proposal"),
            warnings_n=counted(findings.filter(severity=Finding.Severity.WARN), "proposal"),
        )
        .order_by("-state", "created_at")[:MOST]
    )


def open_findings(proposal: Proposal) -> tuple[int, int]:
    """How many of its findings are to confirm, and how many are warnings, as its item says."""
    (row,) = _annotated(Proposal.objects.filter(pk=proposal.pk))
    return row.to_confirm_n, row.warnings_n


def counted(rows: QuerySet[Any], group: str) -> Coalesce:
    """The number of `rows` per outer row; a subquery, as several joins would multiply the counts."""
    counted = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _facts(row: Any, told: Summary, host: str) -> ProposalFacts:
    return ProposalFacts(
        host=host,
        public_id=row.public_id,
        origin=row.origin,
        origin_label=Proposal.Origin(row.origin).label,
        engine=row.dream.engine if row.dream else "",
        summary=summaries.reason(row) or told.text,
        size=told.size,
        files=told.files,
        counts=told.counts,
        to_confirm=row.to_confirm_n,
        warnings=row.warnings_n,
    )


def _failures(public_ids: Sequence[str]) -> Mapping[str, str]:
    """Public id → why the proposal's last write failed; omits those whose last write worked."""
    rows = AuditEntry.objects.filter(action__in=["apply.failed", "apply.done"], object_id__in=public_ids)
    last = {row.object_id: row for row in rows.order_by("number")}
    return {
        key: str(row.data.get("error") or "a file changed while it was being written")
        for key, row in last.items()
        if row.action == "apply.failed"
    }


def _item(
    row: Any, facts: ProposalFacts, stuck: Sequence[rebase.StuckFile], failure: str | None
) -> WaitingItem:
    is_open = row.state == State.OPEN
    told = _of_open(row, facts, stuck) if is_open else _of_submitted(row, facts, stuck, failure)
    if is_gone := row.project.gone_at is not None:
        kind = WaitingKind.SUBMIT if is_open else WaitingKind.WRITE
        told = kind, GONE, "View", _page_of("review", row.public_id)
    kind, why, action, url = told
    # `why` already has their progress, so show only a person's reason.
    if kind in (WaitingKind.SUBMIT, WaitingKind.WRITE):
        facts = replace(facts, summary=summaries.reason(row))
    return WaitingItem(
        key=row.public_id,
        kind=kind,
        project=str(row.project),
        project_pk=row.project_id,
        since=row.created_at if is_open else row.submitted_at or row.created_at,
        why=why,
        action=action,
        url=url,
        of=row.project.host,
        facts=facts,
        snooze=Snooze(item=row.public_id, kind=kind) if is_gone else None,
    )


@lru_cache(maxsize=4 * MOST)
def _page_of(name: str, *args: str | int) -> str:
    """The address of a page, which never changes: looking it up takes as long as everything else about an item."""
    return reverse(name, args=args)


def _of_open(row: Any, facts: ProposalFacts, stuck: Sequence[rebase.StuckFile]) -> _Told:
    here = _page_of("review", row.public_id)
    if row.origin == Proposal.Origin.CAUGHT and not stuck:
        return _of_cards(row, facts)
    if facts.counts.undecided:
        return WaitingKind.REVIEW, _undecided(facts, stuck), "Review", here
    if stuck:
        return _of_stuck(row, stuck, "it was decided")
    return WaitingKind.SUBMIT, "Everything is decided; nothing is written yet.", "Submit", here


def _of_cards(row: Any, facts: ProposalFacts) -> _Told:
    """Caught things have a separate page with a card for each."""
    here = _page_of("project-caught", row.project_id)
    if facts.counts.undecided:
        return (
            WaitingKind.REVIEW,
            f"{plural(facts.counts.undecided, 'thing')} to remember, found in sessions.",
            "Review",
            here,
        )
    return WaitingKind.SUBMIT, "The cards are decided; nothing is written yet.", "Submit", here


def _of_submitted(
    row: Any, facts: ProposalFacts, stuck: Sequence[rebase.StuckFile], failure: str | None
) -> _Told:
    here = _page_of("review", row.public_id)
    if stuck:
        return _of_stuck(row, stuck, "it was approved")
    if failure is not None:
        return WaitingKind.FAILED, f"Approved, but writing failed: {failure.rstrip('.')}.", "Try again", here
    if facts.to_confirm and not facts.host:
        return WaitingKind.WRITE, _unwritten(row, facts), "Confirm", f"{here}?show=findings"
    return WaitingKind.WRITE, _unwritten(row, facts), "Write now", here


def _of_stuck(row: Any, stuck: Sequence[rebase.StuckFile], since: str) -> _Told:
    conflicts = [file for file in stuck if file.in_conflict]
    if conflicts:
        why = f"{rebase.stuck_paths(conflicts)} {rebase.stuck_reason(conflicts)}."
        return WaitingKind.CONFLICT, why, "Solve", _page_of("conflict", row.public_id, conflicts[0].pk)
    why = f"{rebase.stuck_paths(stuck)} changed on disk after {since}; confirm the new result."
    first = stuck[0].pk
    here = _page_of("review", row.public_id)
    return WaitingKind.CONFIRM, why, "Confirm", f"{here}?file={first}#file-{first}"


def _undecided(facts: ProposalFacts, stuck: Sequence[rebase.StuckFile]) -> str:
    """ "9 decisions, 15 changes in 4 files"; once some are made, the number left."""
    counts = facts.counts
    left = (
        f"{counts.undecided} of {plural(counts.decisions, 'decision')} left" if counts.decided else facts.size
    )
    conflicts = [file for file in stuck if file.in_conflict]
    return (
        f"{left}. {rebase.stuck_paths(conflicts)} {rebase.stuck_reason(conflicts)}."
        if conflicts
        else f"{left}."
    )


def _unwritten(row: Any, facts: ProposalFacts) -> str:
    if facts.host:
        return f"Approved, not written yet. Its files are on {facts.host}, which will write them."
    if facts.to_confirm:
        return f"Approved, not written yet: {plural(facts.to_confirm, 'finding')} to confirm first."
    return "Approved, not written yet."


# --- Questions ----------------------------------------------------------------------------------------------------


def _questions() -> Iterator[WaitingItem]:
    """One item for all open questions of all projects, which share a page."""
    for count, projects, since in questions_counted():
        yield WaitingItem(
            key=QUESTIONS_KEY,
            kind=WaitingKind.QUESTIONS,
            project="Questions",
            project_pk=None,
            since=since,
            why=f"{plural(count, 'question')} in {plural(projects, 'project')} that only a person can answer.",
            action="Answer",
            url=reverse("questions"),
        )


@prepared
def questions_counted() -> QuerySet[Question, tuple[Any, ...]]:
    """One row, or none without questions: (questions, projects, when the first was asked)."""
    counted = (
        Question.objects.filter(NOW_ASKED)
        .order_by()
        .values("state")
        .annotate(count=Count("pk"), projects=Count("project", distinct=True), since=Min("created_at"))
    )
    return counted.values_list("count", "projects", "since")


# --- Repositories that moved --------------------------------------------------------------------------------------


def _moved() -> Iterator[WaitingItem]:
    """An item for each project whose memories are still at its repository's former path."""
    for row in moved.unanswered():
        former = row.moved_from.repo_dir if row.moved_from else ""
        yield WaitingItem(
            key=f"moved-{row.pk}",
            kind=WaitingKind.MOVED,
            project=str(row),
            project_pk=row.pk,
            since=row.first_seen_at,
            why=f"Its repository seems to have been at {former}, where no agent reads its memories now.",
            action="View",
            url=reverse("project", args=[row.pk]),
            of=row.host,
        )


# --- Jobs ---------------------------------------------------------------------------------------------------------


def _failing_jobs() -> Iterator[WaitingItem]:
    """An item for each scheduled job whose last runs failed, until one works or the job is removed."""
    for row in _failing():
        yield WaitingItem(
            key=row.public_id,
            kind=WaitingKind.JOB,
            project=str(row.project or "Schedule"),
            project_pk=row.project_id,
            since=row.failing_since or row.made_at,
            why=f"“{row}” failed {row.failures} times in a row. {row.said or ''}".strip(),
            action="View",
            url=f"{reverse('schedules')}#{row.public_id}",
            of=row.host,
        )


FAILED_TIMES = 3  # in a row, before the inbox lists the job; chosen


@prepared
def _failing() -> QuerySet[Any]:
    last = JobRun.objects.filter(job=OuterRef("pk"), status=JobRun.Status.FAILED).order_by("-made_at", "-pk")
    rows = ScheduledJob.objects.filter(failures__gte=FAILED_TIMES).select_related("project")
    return rows.annotate(said=Subquery(last.values("text")[:1])).order_by("failing_since")
