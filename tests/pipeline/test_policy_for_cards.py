"""The policy for caught cards writes the cards that it approved, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dreams.models import Card, Finding, Project, Proposal
from dreams.services import proposals, rollback, settings_changes
from dreams.services.catching import cards, lifecycle
from tests.pipeline.test_cards_decided import RELEASES, STAGING, caught, memory
from tests.world import directory as world, rows
from tests.world.talking import say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.not_on_postgresql]


def allow() -> None:
    settings_changes.set_policy("catch", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")


@pytest.mark.more
def test_a_card_that_a_person_approved_waits_for_their_submit(tmp_path: Path) -> None:
    project, (staging,) = caught(tmp_path, STAGING)
    cards.approve(staging, world.ME)
    allow()
    say(tmp_path, RELEASES, name="later")
    lifecycle.catch(project)
    assert "db-2" not in memory(project), "approved, and can still be taken back"
    assert Card.objects.get(pk=staging.pk).decided_by == world.ME.name
    cards.submit(project, world.ME)
    assert "db-2" in memory(project)


def test_what_a_person_undid_is_not_written_again_where_it_is_said_again(tmp_path: Path) -> None:
    allow()
    project, _ = caught(tmp_path, STAGING)
    assert "db-2" in memory(project)
    rollback.rollback(Proposal.objects.get(), world.ME)
    Card.objects.all().delete()  # as where a dream had written it
    say(tmp_path, STAGING, name="later")
    lifecycle.catch(project)
    assert Card.objects.get().state == "open" and "db-2" not in memory(project)


@pytest.mark.more
def test_the_command_says_of_each_card_whether_it_was_applied_without_a_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, _ = caught(tmp_path, STAGING)
    say(tmp_path, RELEASES, name="later")
    call_command("extract", str(project.pk))
    assert "applied" not in capsys.readouterr().out
    allow()
    say(tmp_path, "Remember that the importer runs on heron-7.", name="last")
    call_command("extract", str(project.pk))
    said = capsys.readouterr().out
    assert "the importer runs on heron-7. (applied by a policy; can be undone)" in said
    assert "heron-7" in memory(project)


@pytest.mark.parametrize("severity", ["warn", "block"])
def test_a_finding_on_the_cards_file_counts(
    severity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_changes.set_policy("catch", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "info", actor="owner")
    refresh = cards.refresh

    def found(project: Project, **more: Any) -> Any:
        made = refresh(project, **more)
        if made is not None:
            made.findings.all().delete()
            rows.make_finding(made, severity, file=made.files.first(), message="Odd.", check_name="test")
        return made

    monkeypatch.setattr(cards, "refresh", found)
    project, _ = caught(tmp_path, STAGING)
    assert Finding.objects.get().hunk is None
    assert Card.objects.get().state == "open" and "db-2" not in memory(project)


@pytest.mark.more
def test_what_a_check_finds_only_beside_the_other_approved_cards_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow()
    settings_changes.set_override("policy_findings", "info", actor="owner")
    refresh = cards.refresh

    def found(project: Project, **more: Any) -> Any:
        made = refresh(project, **more)
        if made is not None:
            made.findings.all().delete()
            if more.get("only_approved"):
                rows.make_finding(made, "warn", file=made.files.first(), message="Odd.", check_name="test")
        return made

    monkeypatch.setattr(cards, "refresh", found)
    project, _ = caught(tmp_path, STAGING)
    assert "db-2" not in memory(project)
    assert {card.state for card in Card.objects.all()} == {"open"}, "a person decides"


@pytest.mark.more
def test_cards_are_caught_where_the_folder_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dreams.services import project_lock
    from dreams.services.apply import applying

    allow()

    def busy(*_: Any, **__: Any) -> None:
        raise project_lock.ProjectBusy("Another process writes there.")

    monkeypatch.setattr(applying, "apply", busy)
    project, _ = caught(tmp_path, STAGING)
    assert Card.objects.count() == 1 and "db-2" not in memory(project)
    assert proposals.open_with_origin(project, "caught") is not None
