"""Dreams that date lines, and a person who approves them: together they earn trust."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from django.utils import timezone

from dreams.engines import versions
from dreams.engines.types import Citation, Edit, Fate, Job, Reporter
from dreams.models import Decision, DreamRun, Hunk, Operation, Policy, Project, Proposal
from dreams.services import dreaming, review
from dreams.services.apply import applying
from dreams.services.policies import earned
from tests.world import directory as world, engines

NOTE = "project_log.md"
LINES = 60
HEAD = "---\nname: Log\ndescription: what was done when\ntype: project\n---\n\n"
DAY = "on 2026-10-01"


def line(number: int) -> str:
    return f"- Host {number} was moved to rack {number} yesterday.\n"


def text() -> str:
    return HEAD + "".join(line(number) for number in range(LINES))


def make_project(folder: Path) -> Project:
    index = world.INDEX + f"- [Log]({NOTE}) — what was done when\n"
    files = {"MEMORY.md": index, "feedback_testing.md": world.TESTING, "project_deploy.md": world.DEPLOY}
    return world.make_project(folder, {**files, NOTE: text()})


def dating(numbers: Iterable[int]) -> Callable[[Job, Reporter], list[Edit]]:
    """An engine that dates these lines, each as a separate change."""

    def act(job: Job, report: Reporter) -> list[Edit]:
        return [made for number in numbers for made in date(job, number)]

    return act


def date(job: Job, number: int) -> list[Edit]:
    before = job.workspace.read(NOTE) or ""
    old, new = line(number), line(number).replace("yesterday", DAY)
    after = before.replace(old, new)
    job.workspace.write(NOTE, after)
    cited = Citation("file", old.strip(), NOTE, line_no=number + 7, note="written on 2026-10-02")
    fate = Fate(old.rstrip("\n"), "kept-in", NOTE, new.rstrip("\n"))
    return [
        Edit(NOTE, before, after, f"date:{number}", "date", "“yesterday” is 2026-10-01.", (cited,), (fate,))
    ]


def dream(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Job, Reporter], list[Edit]],
    engine: str = "rules",
) -> DreamRun:
    engines.use(monkeypatch, act)
    asked = dreaming.request(project, DreamRun.Trigger.PAGE, engine=engine, forced=True)
    run = dreaming.run_dream(asked.pk)
    assert run is not None and run.status == "completed", run and run.error
    return run


def approve_each(proposal: Proposal, reviewer: review.Actor = world.ME) -> None:
    """Approves one change after the other, then applies."""
    for hunk in Hunk.objects.filter(file__proposal=proposal, verdict="pending"):
        review.decide(proposal, [hunk], Hunk.Verdict.APPROVED, reviewer)
    applying.apply(proposal, reviewer)


def earn(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    *,
    each: int = 5,
    proposals: int = 4,
    days: int = 3,
    approve: Callable[[Proposal], None] = approve_each,
) -> list[Proposal]:
    """Dreams that date `each` lines, approved one at a time; the decisions are spread over `days`."""
    made = []
    for number in range(proposals):
        run = dream(project, monkeypatch, dating(range(number * each, (number + 1) * each)))
        proposal = Proposal.of(run)
        assert proposal is not None
        approve(proposal)
        made.append(proposal)
    for number, proposal in enumerate(made):
        at = Decision.objects.filter(proposal=proposal).values_list("at", flat=True)[0]
        Decision.objects.filter(proposal=proposal).update(at=at - dt.timedelta(days=number % days))
    return made


def decided(
    project: Project,
    count: int = 20,
    *,
    days: int = 3,
    proposals: int = 3,
    maker: str = "",
    kind: str = "date",
    **fields: object,
) -> list[Decision]:
    """Rows for `count` approvals of routine changes, as made by a person one at a time."""
    run = DreamRun.objects.create(project=project, engine="rules", trigger="page", status="completed")
    made = [
        Proposal.objects.create(project=project, dream=run, origin="dream", state="applied")
        for _ in range(proposals)
    ]
    by = maker or versions.maker("rules", "", "date")
    defaults = {"verdict": "approved", "actor": "owner", "is_routine": True}
    return [
        Decision.objects.create(
            proposal=made[number % proposals],
            operation=Operation.objects.create(
                proposal=made[number % proposals],
                key=f"{number}",
                kind=kind,
                reason=f"Change {number}.",
                maker=by,
                is_routine=True,
            ),
            path="a.md",
            hunk_id=f"{number}",
            at=timezone.now() - dt.timedelta(days=number % days),
            **{**defaults, **fields},
        )
        for number in range(count)
    ]


def offered() -> list[tuple[str, int]]:
    return [(offer.kind, offer.decisions) for offer in earned.offers()]


def accepted() -> Policy:
    [offer] = earned.offers()
    return earned.accept(offer.kind, offer.maker, offer.last, actor="owner")
