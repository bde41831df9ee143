"""When a policy is offered, and what happens to an offer that is answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from dreams.engines import versions
from dreams.models import (
    AuditEntry,
    Decision,
    DreamRun,
    DreamUsage,
    Hunk,
    Operation,
    Policy,
    Project,
    Proposal,
)
from dreams.services import review
from dreams.services.policies import earned
from tests.world import directory as world
from tests.world.trusting import decided, offered

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path)


@pytest.mark.parametrize("less", [{"count": 19}, {"days": 2}, {"proposals": 2}])
@pytest.mark.not_on_postgresql
def test_with_less_nothing_is_offered(project: Project, less: dict[str, int]) -> None:
    decided(project, **less)
    assert not offered()


def test_one_batch_across_proposals_counts_once(project: Project) -> None:
    decided(project, batch="the same press")
    assert [record.decisions for record in earned.records()] == [1]


@pytest.mark.parametrize(
    "fields",
    [{"by_command": True}, {"actor": "policy"}, {"is_routine": False}, {"verdict": "pending"}],
    ids=["by command", "by a policy", "not routine", "taken back"],
)
def test_what_no_person_decided_in_the_browser_or_no_policy_would_apply_does_not_count(
    project: Project, fields: dict[str, object]
) -> None:
    decided(project, **fields)
    assert not offered()


@pytest.mark.more
@pytest.mark.parametrize("origin", [*sorted({*Proposal.Origin.values, "caught", "suggest"}), "unfinished"])
def test_only_what_a_finished_dream_proposed_counts(project: Project, origin: str) -> None:
    """Not undos and hand edits, nor what somebody else proposed, caught or suggested."""
    proposal = world.three_changes(project)
    is_unfinished = origin == "unfinished"
    Proposal.objects.update(origin="dream" if is_unfinished else origin, partial=is_unfinished)
    Operation.objects.update(is_routine=True, maker=versions.maker("rules", "", "learn"))
    proposal.findings.all().delete()
    proposal.refresh_from_db()
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    counted = set(Decision.objects.values_list("is_routine", flat=True))
    assert counted == {origin == "dream"}


def test_what_was_approved_and_not_submitted_does_not_count(project: Project) -> None:
    decided(project)
    Proposal.objects.update(state="superseded")
    assert not offered()


@pytest.mark.parametrize("verdict", ["rejected", "edited"])
def test_a_rejection_or_an_edit_starts_anew(project: Project, verdict: str) -> None:
    decided(project)
    decided(project, 1, verdict=verdict, is_routine=False)
    assert not offered()
    decided(project, 19)
    assert not offered()
    decided(project, 1)
    assert offered() == [("date", 20)]


def test_a_rejection_that_was_taken_back_is_none(project: Project) -> None:
    decided(project)
    [slip] = decided(project, 1, verdict="rejected")
    slip.pk, slip.verdict = None, "pending"
    slip.save()
    assert offered() == [("date", 20)]


@pytest.mark.not_on_postgresql
def test_kinds_and_makers_count_apart(project: Project) -> None:
    decided(project, 10)
    decided(project, 10, kind="index", maker=versions.maker("rules", "", "index"))
    decided(project, 10, maker=versions.maker("anthropic", "some-model", "date"))
    assert not offered() and [record.decisions for record in earned.records()] == [10, 10, 10]


def test_another_model_or_other_code_starts_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run = DreamRun.objects.create(project=project, engine="anthropic", model="one", trigger="page")
    draft = type("Draft", (), {"operations": {"a": type("Operation", (), {"kind": "date"})}})
    first = earned.makers(run, draft)["a"]
    DreamUsage.objects.create(dream=run, turn=1, at=timezone.now(), model="stood-in")
    assert first.startswith("anthropic one ") and earned.makers(run, draft)["a"].startswith(
        "anthropic stood-in "
    )
    decided(project)
    assert offered()
    monkeypatch.setattr("dreams.engines.versions.version", lambda engine, kind: "0badc0de")
    assert not offered()


@pytest.mark.parametrize("kind", sorted(set(Operation.Kind.values) - {"learn", "date", "index"}))
@pytest.mark.not_on_postgresql
def test_what_removes_something_is_never_offered(project: Project, kind: str) -> None:
    decided(project, kind=kind, maker=versions.maker("rules", "", "date"))
    assert not earned.records() and not offered()


@pytest.mark.also_on_postgresql
def test_an_offer_that_is_not_what_was_shown_is_refused(project: Project) -> None:
    decided(project)
    [shown] = earned.offers()
    decided(project, 1)
    with pytest.raises(earned.OfferGone):
        earned.accept(shown.kind, shown.maker, shown.last, actor="owner")
    decided(project, 1, verdict="rejected")
    with pytest.raises(earned.OfferGone):
        earned.accept(shown.kind, shown.maker, shown.last, actor="owner")
    assert not Policy.objects.exists()


@pytest.mark.also_on_postgresql
def test_a_declined_offer_comes_again_after_as_many_decisions(project: Project) -> None:
    decided(project)
    [offer] = earned.offers()
    earned.decline(offer.kind, offer.maker, actor="owner")
    assert not offered() and AuditEntry.objects.filter(action="policy.declined").exists()
    decided(project, 19)
    assert not offered()
    decided(project, 1)
    assert offered() == [("date", 20)]
