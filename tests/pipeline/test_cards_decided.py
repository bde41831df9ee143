"""A card is decided by one press, written with the others, and known to the next dream; and the reverse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dreams.models import AuditEntry, Card, Decision, DreamRun, Hunk, Policy, Project, Proposal
from dreams.services import discovery, dreaming, proposals, review, rollback, settings_changes
from dreams.services.apply import applying
from dreams.services.catching import cards, lifecycle
from dreams.services.inbox import waiting
from dreams.services.review import ReviewRefused, deciding
from dreams.services.scheduling import scheduler
from tests.world import directory as world
from tests.world.talking import first_start, say

pytestmark = pytest.mark.django_db(transaction=True)

STAGING = "Remember that the staging database is db-2.internal."
RELEASES = "Remember that releases are cut on Tuesdays."


def caught(root: Path, *texts: str, files: dict[str, str] | None = None) -> tuple[Project, list[Card]]:
    project = first_start(root, files)
    say(root, *texts)
    lifecycle.catch(project)
    return project, list(Card.objects.filter(state="open"))


def memory(project: Project) -> str:
    return "\n".join(path.read_text() for path in sorted(world.folder(project).glob("*.md")))


@pytest.mark.not_on_postgresql
def test_approved_cards_are_written_and_the_others_stay_for_later(tmp_path: Path) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES)
    cards.approve(staging, world.ME)
    assert "db-2" not in memory(project), "nothing is written before the submit"
    report = cards.submit(project, world.ME)
    assert report.complete and "db-2.internal" in memory(project) and "Tuesdays" not in memory(project)
    releases.refresh_from_db()
    assert releases.state == "open" and releases.proposal != staging.proposal
    assert Card.objects.get(pk=staging.pk).state == "approved"


@pytest.mark.parametrize("files", [None, {}], ids=["beside memories", "into an empty directory"])
@pytest.mark.not_on_postgresql
def test_each_card_is_decided_apart(tmp_path: Path, files: dict[str, str] | None) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES, files=files)
    cards.reject(staging, world.ME)
    cards.approve(Card.objects.get(pk=releases.pk), world.ME)
    cards.submit(project, world.ME)
    assert "Tuesdays" in memory(project) and "db-2" not in memory(project)


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_card_in_an_empty_directory_is_listed_in_an_index_of_its_own(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING, files={})
    cards.approve(card, world.ME)
    cards.submit(project, world.ME)
    assert (world.folder(project) / "MEMORY.md").exists()


@pytest.mark.not_on_postgresql
def test_while_the_folder_is_away_no_card_is_written_and_no_memory_counts_as_removed(tmp_path: Path) -> None:
    """As on a disk that is not connected, or after a home folder was moved: nothing is written where the folder was."""
    project, [staging, releases] = caught(tmp_path, STAGING, RELEASES)
    cards.approve(staging, world.ME)
    folder, kept = world.folder(project).parent, memory(project)
    away = folder.rename(tmp_path / "away")
    for act in (lambda: cards.reject(releases, world.ME), lambda: cards.submit(project, world.ME)):
        with pytest.raises(ReviewRefused, match="is not on disk now"):
            act()
    lifecycle.catch(project, asked=True)
    assert not folder.exists()
    assert not project.memories.filter(gone_at__isnull=False).exists()
    away.rename(folder)
    assert memory(project) == kept
    cards.submit(project, world.ME)
    assert "db-2" in memory(project) and "Tuesdays" not in memory(project)


@pytest.mark.not_on_postgresql
def test_no_card_is_written_to_the_former_place_of_a_project_that_is_gone_and_had_no_memory(
    tmp_path: Path,
) -> None:
    project, [staging, _] = caught(tmp_path, STAGING, RELEASES, files={})
    cards.approve(staging, world.ME)
    folder = world.folder(project).parent
    away = folder.rename(tmp_path / "away")
    discovery.discover([tmp_path])
    project.refresh_from_db()
    with pytest.raises(ReviewRefused, match="is not on disk now"):
        cards.submit(project, world.ME)
    assert not folder.exists()
    away.rename(folder)
    discovery.discover([tmp_path])
    assert cards.submit(project, world.ME).complete


def test_a_rejected_card_is_not_caught_again(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING)
    cards.reject(card, world.ME)
    assert proposals.open_with_origin(project, Proposal.Origin.CAUGHT) is None
    say(tmp_path, STAGING, name="again")
    lifecycle.catch(project)
    assert Card.objects.count() == 1


@pytest.mark.more
def test_a_decision_can_be_taken_back_before_the_submit(tmp_path: Path) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES)
    cards.reject(staging, world.ME)
    cards.approve(Card.objects.get(pk=releases.pk), world.ME)
    for pk in (staging.pk, releases.pk):
        cards.take_back(Card.objects.get(pk=pk), world.ME)
    assert {card.state for card in Card.objects.all()} == {"open"}
    with pytest.raises(ReviewRefused, match="No card is approved"):
        cards.submit(project, world.ME)
    assert Hunk.objects.exclude(verdict="pending").count() == 0


@pytest.mark.more
def test_a_card_can_be_remembered_in_other_words(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING)
    cards.edit(card, "Staging runs on db-2.internal.", world.ME)
    cards.submit(project, world.ME)
    assert "- Staging runs on db-2.internal." in memory(project)


@pytest.mark.more
def test_a_sixth_card_is_listed_as_soon_as_there_is_room(tmp_path: Path) -> None:
    names = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
    _project, listed = caught(
        tmp_path,
        *(f"Remember that the {name} service listens on port {8000 + at}." for at, name in enumerate(names)),
    )
    assert len(listed) == 5
    cards.reject(listed[0], world.ME)
    assert (
        Card.objects.filter(state="open").count() == 5 and not Card.objects.filter(state="waiting").exists()
    )


def test_it_closes_no_review_gate_and_moves_no_clock(tmp_path: Path) -> None:
    project, _ = caught(tmp_path, STAGING)
    from django.utils import timezone

    gates = {gate.name: gate for gate in scheduler.evaluate_all(project, timezone.now())}
    assert gates["review"].passed and not (world.folder(project) / ".consolidate-lock").exists()


@pytest.mark.more
def test_the_next_dream_proposes_nothing_of_an_open_approved_or_rejected_card(tmp_path: Path) -> None:
    project, (staging, releases, _) = caught(
        tmp_path, STAGING, RELEASES, "Remember that backups run at 04:00."
    )
    cards.approve(staging, world.ME)
    cards.reject(releases, world.ME)
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    proposed = "\n".join(
        lines.added
        for proposal in run.proposals.all()
        for file in proposal.files.all()
        for _, lines in proposals.text_hunks(file)
    )
    assert "queue 0" in proposed, "what no card says is proposed"
    assert not any(word in proposed for word in ("db-2", "Tuesdays", "04:00"))


@pytest.mark.more
def test_what_a_dream_proposes_or_a_person_rejected_of_it_is_not_caught(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, STAGING)
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    proposal = run and Proposal.of(run)
    assert proposal is not None
    lifecycle.catch(project)
    assert not Card.objects.exists(), "the dream proposes it"
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    review.submit(proposal, world.ME)
    say(tmp_path, STAGING, name="again")
    lifecycle.catch(project)
    assert not Card.objects.exists(), "the person rejected it"


@pytest.mark.more
def test_verdicts_of_the_review_page_and_of_commands_decide_cards_too(tmp_path: Path) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES)
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    assert proposal is not None
    review.decide(proposal, list(staging.operation.hunks.all()), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    assert "db-2.internal" in memory(project) and "Tuesdays" not in memory(project)
    states = dict(Card.objects.values_list("pk", "state"))
    assert states == {staging.pk: "approved", releases.pk: "waiting"}
    cards.refresh(project)
    assert Card.objects.get(pk=releases.pk).state == "open"


def test_a_card_rejected_on_the_review_page_is_not_shown_again(tmp_path: Path) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES)
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    assert proposal is not None
    for card, verdict in ((staging, Hunk.Verdict.APPROVED), (releases, Hunk.Verdict.REJECTED)):
        review.decide(proposal, list(card.operation.hunks.all()), verdict, world.ME)
    applying.apply(proposal, world.ME)
    rows = Card.objects.order_by("pk").values_list("state", "decided_by")
    assert list(rows) == [("approved", world.ME.name), ("rejected", world.ME.name)]
    cards.refresh(project)
    assert Card.objects.get(pk=releases.pk).state == "rejected"


@pytest.mark.more
def test_a_change_outside_while_cards_are_open_is_kept(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING)
    index = world.folder(project) / "MEMORY.md"
    index.write_text(index.read_text() + "- [Other](other.md) — from outside\n")
    cards.approve(card, world.ME)
    assert cards.submit(project, world.ME).complete
    assert "from outside" in memory(project) and "db-2.internal" in memory(project)


def test_what_the_agent_writes_meanwhile_is_no_card_any_more(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING)
    note = world.folder(project) / "project_deploy.md"
    note.write_text(note.read_text() + "The staging database is db-2.internal.\n")
    cards.refresh(project)
    card.refresh_from_db()
    assert card.state == "outdated" and proposals.open_with_origin(project, Proposal.Origin.CAUGHT) is None


@pytest.mark.not_on_postgresql
def test_a_written_card_can_be_undone(tmp_path: Path) -> None:
    project, (card,) = caught(tmp_path, STAGING)
    before = memory(project)
    cards.approve(card, world.ME)
    cards.submit(project, world.ME)
    card.refresh_from_db()
    rollback.rollback(card.proposal, world.ME)
    assert memory(project) == before


@pytest.mark.not_on_postgresql
def test_no_policy_set_before_applies_to_cards(tmp_path: Path) -> None:
    Policy.objects.create(operation="add", action="auto")
    Policy.objects.create(kind="learn", action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    project, (card,) = caught(tmp_path, STAGING)
    assert card.state == "open" and "db-2" not in memory(project)


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_a_policy_of_its_own_lets_cards_in(tmp_path: Path) -> None:
    settings_changes.set_policy("catch", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    project, _ = caught(tmp_path, STAGING)
    assert "db-2.internal" in memory(project)
    assert Card.objects.get().decided_by == "policy"
    assert not Decision.objects.filter(is_routine=True).exists(), "no trust is earned by it"


@pytest.mark.not_on_postgresql
def test_a_card_waits_in_the_inbox(tmp_path: Path) -> None:
    from django.utils import timezone

    project, _ = caught(tmp_path, STAGING, RELEASES)
    (item,) = [item for item in waiting.waiting(timezone.now()) if item.facts]
    assert (
        item.why == "2 things to remember, found in sessions."
        and item.url == f"/projects/{project.pk}/caught/"
    )


def test_the_tick_hands_a_quiet_session_to_the_queue_and_its_task_catches(
    tmp_path: Path, settings, monkeypatch
) -> None:
    from dreams import tasks

    settings.ROOTS = [tmp_path]
    project = first_start(tmp_path)
    handed: list[tuple[object, ...]] = []
    monkeypatch.setattr("django_q.tasks.async_task", lambda name, *args, **more: handed.append((name, *args)))
    lifecycle.catch(project)
    scheduler.tick()
    handed.clear()
    say(tmp_path, STAGING)
    scheduler.tick()
    assert ("dreams.tasks.catch", project.pk) in handed
    assert tasks.catch(project.pk) == "1 session read, 1 caught."
    handed.clear()
    scheduler.tick()
    assert ("dreams.tasks.catch", project.pk) not in handed, "nothing is new"


@pytest.mark.more
@pytest.mark.also_on_postgresql
@pytest.mark.parametrize("decide", [cards.reject, cards.take_back], ids=["reject", "take back"])
def test_a_card_stays_as_it_is_while_the_cards_are_being_written(tmp_path: Path, decide: Callable) -> None:
    project, (staging, _) = caught(tmp_path, STAGING, RELEASES)
    cards.approve(staging, world.ME)
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    before = set(Hunk.objects.values_list("pk", "verdict"))
    with deciding.claimed(proposal), pytest.raises(ReviewRefused, match="being submitted"):
        decide(Card.objects.get(pk=staging.pk), world.ME)
    assert Card.objects.get(pk=staging.pk).state == "approved"
    assert set(Hunk.objects.values_list("pk", "verdict")) == before, "what is being written was drafted anew"
    assert not AuditEntry.objects.filter(action__in=["card.rejected", "card.taken_back"]).exists()


def test_a_card_is_not_approved_beside_the_ones_that_are_being_written(tmp_path: Path) -> None:
    project, (staging, releases) = caught(tmp_path, STAGING, RELEASES)
    cards.approve(staging, world.ME)
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    with deciding.claimed(proposal), pytest.raises(ReviewRefused, match="being submitted"):
        cards.approve(Card.objects.get(pk=releases.pk), world.ME)
    assert Card.objects.get(pk=releases.pk).state == "open", "it would be approved, and never written"


@pytest.mark.more
def test_what_is_said_while_the_cards_are_being_written_waits_for_the_next_reading(tmp_path: Path) -> None:
    project, (staging,) = caught(tmp_path, STAGING)
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    before = set(Hunk.objects.values_list("pk"))
    say(tmp_path, RELEASES, name="later")
    with deciding.claimed(proposal):
        lifecycle.catch(project)
    assert set(Hunk.objects.values_list("pk")) == before, "what is being written was drafted anew"
    cards.reject(Card.objects.get(pk=staging.pk), world.ME)
    (later,) = Card.objects.filter(state="open")
    assert "Tuesdays" in later.text
