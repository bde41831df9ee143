"""The same texts are checked once; whatever a check looks at makes it look again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from dreams import findings
from dreams.conf import Config
from dreams.engines.types import Edit, Job, Reporter
from dreams.findings import secrets
from dreams.findings.base import ChangedHunk, FindingsReport, Repeated, Subject
from dreams.models import DreamRun, Hunk, LeftOut, Project, Proposal, Session
from dreams.services import dreaming, proposals, review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.proposals import checks
from dreams.services.proposals.transcript_verdicts import TranscriptVerdicts
from tests.world import directory as world, engines

pytestmark = pytest.mark.django_db


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    """What was checked, in order."""
    seen: list[Subject] = []
    real = findings.examine

    def examine(subject: Subject) -> FindingsReport:
        seen.append(subject)
        return real(subject)

    monkeypatch.setattr("dreams.findings.examine", examine)
    return seen


def _look(proposal: Proposal) -> None:
    proposals.examine(proposal, syncing.contents(proposal.project), undecided=False)


def _approve(proposal: Proposal, path: str = "") -> list[Hunk]:
    hunks = review.select_hunks(proposal, paths=[path] if path else [])
    return review.decide(proposal, hunks, Hunk.Verdict.APPROVED, world.ME)


@pytest.mark.not_on_postgresql
def test_what_was_checked_when_it_was_proposed_is_written_without_another_look(
    tmp_path: Path, looks: list[Subject]
) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    _approve(proposal)
    assert len(looks) == 1
    assert len(applying.apply(proposal, world.ME).applied) == 3
    assert len(looks) == 1


def _dream(project: Project) -> Proposal:
    dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    return Proposal.objects.get(origin=Proposal.Origin.DREAM)


def _a_loss(job: Job, report: Reporter) -> list[Edit]:
    return engines.rewrite("project_deploy.md", world.DEPLOY, "Deployed by hand.\n")(job, report)


@pytest.mark.not_on_postgresql
def test_what_an_engine_had_checked_is_proposed_without_another_look(
    tmp_path: Path, looks: list[Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(job: Job, report: Reporter) -> list[Edit]:
        edits = _a_loss(job, report)
        assert "unexplained-loss" in {problem.code for problem in job.examine(edits)}
        return edits

    engines.use(monkeypatch, lose)
    proposal = _dream(world.make_project(tmp_path))
    assert proposal.findings.filter(code="unexplained-loss").exists()
    assert len(looks) == 1
    _look(proposal)  # nothing of it is approved
    proposals.examine(proposal, syncing.contents(proposal.project))
    assert [len(subject.hunks) for subject in looks] == [1, 0, 1]


@pytest.mark.not_on_postgresql
def test_what_an_engine_changes_after_its_check_is_looked_at_again(
    tmp_path: Path, looks: list[Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_more(job: Job, report: Reporter) -> list[Edit]:
        job.examine(engines.add("new.md", "Deploys are quick.\n")(job, report))
        return _a_loss(job, report)

    engines.use(monkeypatch, lose_more)
    proposal = _dream(world.make_project(tmp_path))
    assert proposal.findings.filter(code="unexplained-loss").exists()
    assert looks[0].after != looks[-1].after


def test_a_part_is_looked_at_once_for_the_submit_and_the_write(tmp_path: Path, looks: list[Subject]) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    said = set(proposal.findings.exclude(hunk=None).values_list("hunk", "key"))
    decided = _approve(proposal, "project_export.md")
    applying.apply(proposal, world.ME)
    assert [len(subject.hunks) for subject in looks] == [4, len(decided)]
    taken = {hunk.pk for hunk in decided}
    beside = {(hunk, key) for hunk, key in said if hunk not in taken}
    assert beside <= set(proposal.findings.values_list("hunk", "key"))


def _a_memory_elsewhere(project: Project, proposal: Proposal) -> None:
    world.put(world.folder(project) / "project_deploy.md", world.DEPLOY + "\nIt listens on 8080.\n")
    syncing.refresh(project)


def _a_verdict(project: Project, proposal: Proposal) -> None:
    [first, *_] = review.select_hunks(proposal, paths=["feedback_testing.md"])
    review.decide(proposal, [first], Hunk.Verdict.REJECTED, world.ME)


def _an_edit(project: Project, proposal: Proposal) -> None:
    [first, *_] = review.select_hunks(proposal, paths=["feedback_testing.md"])
    review.edit(proposal, first, "Use make clean before a run.\n", world.ME)


def _what_was_rejected_before(project: Project, proposal: Proposal) -> None:
    at = proposal.created_at
    LeftOut.objects.create(project=project, path="x.md", hunk_id="1", inputs_key="", added=["No."], at=at)


@pytest.mark.more
@pytest.mark.parametrize(
    "changed",
    [_a_memory_elsewhere, _a_verdict, _an_edit, _what_was_rejected_before],
    ids=lambda f: f.__name__,
)
def test_it_is_looked_at_again_when_this_changed(
    tmp_path: Path, looks: list[Subject], changed: Callable[[Project, Proposal], None]
) -> None:
    project = world.make_project(tmp_path)
    proposal = world.three_changes(project)
    _approve(proposal)
    _look(proposal)
    before = len(looks)
    changed(project, proposal)
    _look(proposal)
    assert len(looks) > before


@pytest.mark.not_on_postgresql
def test_other_checks_look_again(
    tmp_path: Path, looks: list[Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    monkeypatch.setattr(checks, "source_digest", lambda: "those of another version")
    _approve(proposal)
    _look(proposal)
    assert len(looks) == 2


def test_whatever_differs_is_looked_at_again() -> None:
    other: dict[str, object] = {
        "before": {"a.md": b"One.\n"},
        "after": {"a.md": b"One.\n"},
        "hunks": [ChangedHunk("a.md", "h", 0, (), 0, ("One.",))],
        "config": Config(index_max_lines=7),
        "instructions": {"CLAUDE.md": "One.\n"},
        "scope": "user",
        "repeated": [Repeated("a.md", 1, "Makefile, line 3", "one")],
        "asked": ["One?"],
        "rejected": {"one": dt.date(2026, 1, 1)},
        "hard_linked": frozenset({"a.md"}),
        "irregular": {"a.md": "a link"},
    }
    assert other.keys() == {each.name for each in fields(Subject)} - {*checks._LAZY_FIELDS, "memo"}
    none, sessions = TranscriptVerdicts(()), TranscriptVerdicts([Session(pk=1)])
    bare = Subject({}, {}, ())
    subjects = [bare, *(replace(bare, **{name: value}) for name, value in other.items())]  # type: ignore[arg-type]
    seen = [checks._subject_digest(bare, sessions), *(checks._subject_digest(one, none) for one in subjects)]
    assert len({*seen}) == len(seen)


@pytest.mark.not_on_postgresql
def test_a_process_that_has_just_started_names_a_secret_as_the_one_before_it(tmp_path: Path) -> None:
    """By its name a confirmation is found again."""
    token = "gh" + "p_" + "q8Rt2" * 7 + "x"
    after = f"{world.DEPLOY}The token is {token}.\n"
    made = world.propose(
        world.make_project(tmp_path), world.edit("project_deploy.md", world.DEPLOY, after, "x")
    )
    before = syncing.contents(made.project)
    [kept] = made.findings.filter(code__startswith="secret-").values_list("key", flat=True)
    secrets.use_key(b"a key of its own")
    assert kept in {found.key for found in proposals.report_with(made, before, {}).findings}
    secrets.use_key(b"a key of its own")
    Proposal.objects.update(checked_digest="")
    _look(made)
    _approve(made)
    _look(made)
    assert made.findings.filter(code__startswith="secret-").values_list("key", flat=True).get() == kept
