"""No page asks the database more often because there is more in it: every page, with little and with much of everything."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import (
    AppliedBatch,
    AppliedFile,
    Card,
    DreamRun,
    DreamUsage,
    Evidence,
    FileChange,
    Hunk,
    JobRun,
    LedgerEntry,
    Memory,
    Operation,
    Override,
    Project,
    Prompt,
    Proposal,
    Question,
    RequestUsage,
    ScheduledJob,
    TranscriptFile,
    TranscriptFolder,
    Turn,
    Version,
)
from dreams.services import auditlog
from dreams.services.search import index
from dreams.web import urls
from tests.world import rows as make
from tests.world.rows import World

pytestmark = pytest.mark.django_db
FEW, MANY = 3, 12
Address = Callable[[World], str]


def _project(name: str, query: str = "") -> Address:
    return lambda world: reverse(name, args=[world.project.pk]) + query


def _memory(name: str, query: str = "") -> Address:
    return lambda world: reverse(name, args=[world.memory.pk]) + query


def _plain(name: str, query: str = "") -> Address:
    return lambda world: reverse(name) + query


def _review(name: str) -> Address:
    return lambda world: reverse(name, args=[world.proposal.public_id])


def _first_applied() -> Proposal:
    return AppliedBatch.objects.earliest("pk").proposal


PAGES: dict[str, Address] = {
    "inbox": _plain("inbox"),
    "pulse": _plain("pulse"),
    # Which to decide together is a person's choice, and bounded: what grows is what stands in them.
    "bulk": lambda world: reverse("bulk") + f"?proposal={world.proposal.public_id}",
    "by-kind": _plain("by-kind"),
    "snooze": lambda world: reverse("snooze") + f"?proposal={world.proposal.public_id}",
    "projects": _plain("projects"),
    "projects-several": _plain("projects-several"),
    "project": _project("project"),
    "project: memories": _project("project", "?show=memories"),
    "project: sessions": _project("project", "?show=sessions"),
    "project: timeline": _project("project", "?show=timeline"),
    "project-caught": _project("project-caught"),
    "hook": _plain("hook"),
    "project-checkup": _project("project-checkup"),
    "project-statements": _project("project-statements", "?value=database"),
    "project-recall": _project("project-recall", "?q=database+tests&then=1"),
    "project-instructions": _project("project-instructions"),
    "project-open-ends": _project("project-open-ends"),
    "project-logs": _project("project-logs"),
    "project-prompts": _project("project-prompts"),
    "project-secrets": _project("project-secrets"),
    "project-at": _project("project-at"),
    "project-between": _project("project-between", "?a=2000-01-01"),
    "project-restore": _project("project-restore", "?when=2000-01-01"),
    "project-settings": _project("project-settings"),
    "memory": _memory("memory"),
    "memory-blame": _memory("memory-blame"),
    "memory-related": _memory("memory-related"),
    "memory-compare": _memory("memory-compare"),
    "memory-edit": _memory("memory-edit"),
    "memory-forget": _memory("memory-forget"),
    "memory-move": _memory("memory-move"),
    "memory-skill": _memory("memory-skill"),
    "session": lambda world: reverse("session", args=[world.session.pk]),
    "search": _plain("search", "?q=database"),
    "search: one kind": _plain("search", "?q=database&kind=versions&since=year"),
    "dreams": _plain("dreams"),
    "schedules": _plain("schedules"),
    "dream": lambda world: reverse("dream", args=[world.dream.public_id]),
    "review": _review("review"),
    "questions": _plain("questions"),
    "project-questions": _project("project-questions"),
    "question": lambda world: reverse("question", args=[Question.objects.earliest("pk").public_id]),
    "undo": lambda world: reverse("undo", args=[_first_applied().public_id]),
    "account": _plain("account"),
    "usage": _plain("usage"),
    "audit": _plain("audit"),
    "audit: checked": _plain("audit", "?check=1"),
    "audit-export": _plain("audit-export"),
    "settings": _plain("settings"),
    "engines": _plain("engines"),
    "health": _plain("health"),
}


def _grow(world: World, first: int, last: int) -> None:
    """More of everything that a page could show: of the project, in its proposal, session, memory and dream, and beside."""
    for number in range(first, last):
        at = timezone.now() - dt.timedelta(hours=number)
        _grow_project(world.project, number, at)
        _grow_session(world, number, at)
        _grow_memory(world.memory, number, at)
        _grow_dream(world.dream, number, at)
        _grow_proposal(world.proposal, number)
        _grow_cards(world, number, at)
        _grow_schedule(world.project, number, at)
        _another_project(number)
        auditlog.record("setting.changed", actor=f"person {number}", object_id="paused", was=None, now=True)
    index.catch_up(10)


def _grow_project(project: Project, number: int, at: dt.datetime) -> None:
    memory = make.make_memory(
        project, f"note_{number}.md", f"{make.BEFORE}Number {number}, see [[Testing]].\n"
    )
    log = f"logs/2026/03/2026-03-{number + 1:02}.md"
    make.make_memory(project, log, f"- Remember: part {number}\n", kind="log")
    make.make_open_end(make.make_session(project, f"Session {number}", own=number % 3 == 0))
    TranscriptFolder.objects.create(project=project, path=f"/nowhere/{number}", slug=f"-nowhere-{number}")
    _ask(project, number)
    make.close_gate(project, f"Too soon for {number}.", at + dt.timedelta(days=2))
    dream = make.make_dream(project, [DreamRun.Status.COMPLETED, DreamRun.Status.FAILED][number % 2])
    past = make.make_proposal(project, dream, state=Proposal.State.APPLIED, submitted_by=f"person {number}")
    applied = AppliedBatch.objects.create(
        proposal=past, journal_id=f"j{number}", at=at, actor=f"person {number}"
    )
    AppliedFile.objects.create(
        application=applied,
        path=memory.path,
        before_sha=make.blob(make.BEFORE),
        after_sha=memory.sha256,
    )
    Hunk.objects.filter(file__proposal=past).update(applied_in=applied)
    first = AppliedBatch.objects.earliest("pk")
    file = _file(first.proposal, f"also_{number}.md")
    _hunk(file, number, applied_in=first)
    AppliedFile.objects.create(
        application=first, path=file.path, before_sha=file.base_sha, after_sha=file.new_sha
    )


def _ask(project: Project, number: int) -> None:
    """A question with a place in a memory and one in a session, and one that was put off."""
    said = {"path": f"note_{number}.md", "line": 3, "text": f"Number {number}."}
    typed = {"path": "s.jsonl", "line": 3, "text": "it is so", "session": project.sessions.earliest("pk").pk}
    for subject, state in ((f"open {number}", "open"), (f"later {number}", "later")):
        question = Question.objects.create(
            project=project,
            kind="changed",
            subject=subject,
            why=f"Number {number} changed.",
            places=[said, typed],
            asked=True,
            state=state,
            later_until=timezone.now() + dt.timedelta(days=7),
        )
        edit = {
            "path": f"note_{number}.md",
            "before": make.blob(make.BEFORE),
            "after": make.blob(f"{number}\n"),
        }
        question.options.create(
            number=1, option_id="replace", label="Replace it", edits=[{**edit, "operation": "answer"}]
        )


def _grow_session(world: World, number: int, at: dt.datetime) -> None:
    Prompt.objects.create(
        key=number, session=world.session, offset=number, line_no=number, at=at, text="which database?"
    )
    RequestUsage.objects.create(
        key=number, session=world.session, model=f"m-{number}", at=at, input_tokens=10, output_tokens=5
    )
    TranscriptFile.objects.create(
        session=world.session, path=f"/nowhere/agent-{number}.jsonl", kind=TranscriptFile.Kind.SUBAGENT
    )


def _grow_memory(memory: Memory, number: int, at: dt.datetime) -> None:
    sha = make.blob(f"{make.BEFORE}Said {number}.\n")
    Version.objects.create(memory=memory, sha256=sha, size=9, at=at, origin=Version.Origin.OUTSIDE)


def _grow_dream(dream: DreamRun, number: int, at: dt.datetime) -> None:
    Turn.objects.create(dream=dream, number=number, phase="gather", text="Looking.", at=at)
    DreamUsage.objects.create(
        dream=dream, turn=number, at=at, model=f"m-{number}", requests=1, input_tokens=9
    )


def _grow_proposal(proposal: Proposal, number: int) -> None:
    file = _file(proposal, f"added_{number}.md")
    hunk = _hunk(file, number)
    Evidence.objects.create(hunk=hunk, source=Evidence.Source.TRANSCRIPT, role="user", line_no=1, quote="so")
    LedgerEntry.objects.create(hunk=hunk, text="Use it.", fate=LedgerEntry.Fate.STATED)
    make.make_finding(proposal, file=file, hunk=hunk)


def _grow_cards(world: World, number: int, at: dt.datetime) -> None:
    """A card to review with a finding, an approved one, one that was rejected lately and one that waits."""
    proposal, _ = Proposal.objects.get_or_create(project=world.project, origin=Proposal.Origin.CAUGHT)
    states = (Card.State.OPEN, Card.State.APPROVED, Card.State.REJECTED, Card.State.WAITING)
    for state in states:
        operation = None
        if state in (Card.State.OPEN, Card.State.APPROVED):
            key = f"card-{state}-{number}"
            operation = Operation.objects.create(proposal=proposal, key=key, kind=Operation.Kind.LEARN)
            hunk = _hunk(_file(proposal, f"{key}.md"), number, operation=operation)
            make.make_finding(proposal, file=hunk.file, hunk=hunk)
        Card.objects.create(
            project=proposal.project,
            session=world.session,
            proposal=proposal if operation else None,
            operation=operation,
            state=state,
            key=f"{state} {number}",
            said=f"Remember number {number}.",
            text=f"Number {number}.",
            memory_type="project",
            citations=[{"line_no": number, "role": "user"}],
            said_at=at,
            decided_at=timezone.now() if state == Card.State.REJECTED else None,
        )


def _grow_schedule(project: Project, number: int, at: dt.datetime) -> None:
    """A job with a schedule that failed, one that follows it, and a run of each."""
    first = ScheduledJob.objects.create(
        kind="checkup", project=project, cron=f"{number} 3 * * *", next_at=at, made_at=at, failures=number
    )
    second = ScheduledJob.objects.create(kind="digest", after=first, made_at=at)
    for job in (first, second):
        parts = [
            {"name": f"project {number}", "text": "Failed."},
            {"name": "another", "text": "Nothing to do."},
        ]
        JobRun.objects.create(
            job=job, kind=job.kind, label=str(job), status=JobRun.Status.FAILED, made_at=at, parts=parts
        )


def _file(proposal: Proposal, path: str) -> FileChange:
    return FileChange.objects.create(
        proposal=proposal,
        path=path,
        kind=FileChange.Kind.MODIFY,
        memory_type="feedback",
        base_sha=make.blob(make.BEFORE),
        new_sha=make.blob(make.AFTER),
    )


def _hunk(file: FileChange, number: int, **more: object) -> Hunk:
    return Hunk.objects.create(
        file=file,
        hunk_id=f"h{number}",
        number=1,
        base_start=7,
        base_count=1,
        new_start=7,
        new_count=1,
        **more,
    )


def _another_project(number: int) -> None:
    project = make.make_project(f"another-{number}")
    make.make_memory(
        project, "MEMORY.md", f"- [Testing](feedback_testing.md) {number}\n", kind=Memory.Kind.INDEX
    )
    make.make_session(project)
    Override.objects.create(project=project, key="min_hours", value=number + 1)
    if number % 2:
        make.make_proposal(project, make.make_dream(project))
    else:
        make.make_dream(project, DreamRun.Status.RUNNING)


def _asked(browser: Client, world: World, names: Iterable[str]) -> dict[str, int]:
    """How often each page asks. Told is told: dreams are made unseen again, so that every round shows them."""
    found = {}
    for name in names:
        DreamRun.objects.update(notified_at=None)
        with CaptureQueriesContext(connection) as queries:
            response = browser.get(PAGES[name](world))
            if response.streaming:
                b"".join(response)
        assert response.status_code == 200, name
        found[name] = len(queries)
    return found


@pytest.mark.sweep
def test_no_page_does_more_queries_as_rows_grow(browser: Client, world: World) -> None:
    _grow(world, 1, FEW)
    _asked(browser, world, PAGES)
    few = _asked(browser, world, PAGES)
    _grow(world, FEW, MANY)
    many = _asked(browser, world, PAGES)
    # Some keep what a first look found: what counts is a second one.
    again = _asked(browser, world, [name for name in PAGES if many[name] > few[name]])
    assert {name: (few[name], asked) for name, asked in again.items() if asked > few[name]} == {}


# Pages before one is logged in, pages of what the world above does not have, and an address of single files.
_ELSEWHERE = {
    "next",
    "evidence",
    "feed",
    "login",
    "conflict",
    "login-token",
    "session-notes",
    "session-notes-now",
    "session-prompt",
    "review-under-way",
}


def test_every_address_that_shows_a_page_is_asked(browser: Client, world: World) -> None:
    values = {"pk": world.project.pk, "public_id": world.proposal.public_id, "key": "paused", "file_pk": 1}
    asked = {name.partition(":")[0] for name in PAGES}
    missed = []
    for pattern in urls.urlpatterns:
        name = pattern.name
        if name in asked | _ELSEWHERE:
            continue
        wanted = pattern.pattern.converters
        if browser.get(reverse(name, kwargs={key: values[key] for key in wanted})).status_code != 405:
            missed.append(name)
    assert missed == []
