"""Team memory: nothing passes without a person, what is personal is told, and a correction needs its evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dreams.engines.types import Citation, Edit, Job, Reporter
from dreams.models import Card, Decision, Operation, Policy, Project, Proposal
from dreams.services import dreaming, policies, proposals, review, settings_changes
from dreams.services.apply import applying
from dreams.services.catching import cards
from dreams.services.policies import earned
from tests.world import directory as world, engines, trusting

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]

RELEASE = (
    "---\nname: Releases\ndescription: how we release\ntype: project\n---\n\nWe moved to tags yesterday.\n"
)
DATED = RELEASE.replace("yesterday", "on 2026-10-01")
TYPED = Citation("transcript", "we moved to tags on October 1", place="s.jsonl", role="user")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = {
        "MEMORY.md": world.INDEX,
        "feedback_testing.md": world.TESTING,
        "project_deploy.md": world.DEPLOY,
    }
    return world.make_project(tmp_path, {**files, "team/releases.md": RELEASE})


def date_it(job: Job, report: Reporter) -> list[Edit]:
    job.workspace.write("team/releases.md", DATED)
    return [Edit("team/releases.md", RELEASE, DATED, "date:1", "date", "Yesterday was 2026-10-01.", (TYPED,))]


def dreamt(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Job, Reporter], list[Edit]] = date_it,
) -> Proposal:
    engines.use(monkeypatch, act)
    dreaming.run_dream(dreaming.request(project, "page", forced=True).pk)
    return Proposal.objects.latest("pk")


def on_disk(project: Project) -> str:
    return (world.folder(project) / "team/releases.md").read_text()


@pytest.mark.more
@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "date"},
        {"operation": "change"},
        {"operation": "change", "memory_type": "project"},
        {"operation": "remove"},
        {"kind": "learn"},
        {"operation": "add"},
    ],
    ids=str,
)
@pytest.mark.parametrize("own", [True, False], ids=["of the project", "of all"])
def test_no_policy_that_a_person_set_changes_team_memory(
    project: Project, monkeypatch: pytest.MonkeyPatch, policy: dict[str, str], own: bool
) -> None:
    Policy.objects.create(project=project if own else None, action="auto", **policy)
    settings_changes.set_override("policy_findings", "warn", actor="owner")

    def act(job: Job, report: Reporter) -> list[Edit]:
        job.workspace.write("team/new.md", "---\nname: New\ntype: project\n---\n\nBuilds run on ARM.\n")
        new = job.workspace.read("team/new.md")
        return [
            *date_it(job, report),
            Edit("team/new.md", None, new, "learn:1", "learn", "You said so.", (TYPED,)),
        ]

    proposal = dreamt(project, monkeypatch, act)
    assert not proposal.by_policy and proposal.state == Proposal.State.OPEN
    assert proposal.files.count() == 2 and on_disk(project) == RELEASE


@pytest.mark.not_on_postgresql
def test_what_is_changed_together_with_team_memory_waits_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    Policy.objects.create(action="auto", operation="change")
    Policy.objects.create(action="auto", kind="date")
    own = world.TESTING.replace("by hand", "by hand, twice")

    def act(job: Job, report: Reporter) -> list[Edit]:
        job.workspace.write("feedback_testing.md", own)
        mine = Edit("feedback_testing.md", world.TESTING, own, "date:1", "date", "Both.", (TYPED,))
        return [*date_it(job, report), mine]

    proposal = dreamt(project, monkeypatch, act)
    assert not proposal.by_policy and on_disk(project) == RELEASE
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING


def test_no_trust_that_was_earned_changes_team_memory(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting.decided(project)
    trusting.accepted()
    proposal = dreamt(project, monkeypatch)
    assert not proposal.by_policy and on_disk(project) == RELEASE
    assert not Operation.objects.filter(proposal=proposal, policy__isnull=False).exists()


def test_approving_a_change_of_team_memory_earns_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = dreamt(project, monkeypatch)
    assert not proposal.operations.get().is_routine
    review.decide(proposal, review.select_hunks(proposal), "approved", world.ME)
    applying.apply(proposal, world.ME)
    assert on_disk(project) == DATED
    assert not Decision.objects.get(proposal=proposal).is_routine and earned.records() != []
    assert earned.records()[0].decisions == 0


def test_a_policy_that_let_it_in_is_refused_once_more_before_it_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two doors: what chooses the changes, and what looks again before the write."""
    proposal = dreamt(project, monkeypatch)
    assert "team" in policies.refused(proposal, {})


def test_the_policy_for_caught_cards_changes_no_team_memory(project: Project) -> None:
    Policy.objects.create(action="auto", operation="catch")
    proposal = world.propose(
        project, Edit("team/releases.md", RELEASE, DATED, "c", "learn", "Said.", (TYPED,))
    )
    proposal.origin = Proposal.Origin.CAUGHT
    proposal.save()
    Card.objects.create(
        project=project, proposal=proposal, operation=proposal.operations.get(), text="x", state="open"
    )
    cards.remember_by_policy(project)
    assert on_disk(project) == RELEASE and Card.objects.get().state == "open"


def test_what_is_personal_in_a_changed_team_memory_is_told_beside_the_change(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(job: Job, report: Reporter) -> list[Edit]:
        text = RELEASE + "My editor is vim.\nNotes are in /home/anna/notes.\nMy GitHub login is annak.\n"
        job.workspace.write("team/releases.md", text)
        return [Edit("team/releases.md", RELEASE, text, "u:1", "update", "Said.", (TYPED,))]

    proposal = dreamt(project, monkeypatch, act)
    found = {row.code: row.message for row in proposal.findings.filter(check_name="committed")}
    assert found.keys() == {"personal", "home-path", "account"}
    assert all("shared with your team" in said for said in found.values())


@pytest.mark.not_on_postgresql
def test_a_correction_of_team_memory_needs_evidence(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = engines.rewrite("team/releases.md", "tags", "branches")
    proposal = dreamt(project, monkeypatch, bare)
    assert proposal.findings.filter(code="team-without-evidence", severity="block").exists()
    proposals.supersede(proposal, "owner")
    assert not dreamt(project, monkeypatch).findings.filter(code="team-without-evidence").exists()
