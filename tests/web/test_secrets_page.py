"""The page of a project's secrets: never the secret, a proposal on one press, a purge on another."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Hunk, Project, Proposal, Purge
from dreams.services import review, secret_purge
from dreams.services.apply import applying
from dreams.services.memories import syncing
from tests.world import directory as world

pytestmark = pytest.mark.django_db
TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path / "claude", {"deploy.md": f"Deploys use {TOKEN}.\n"})


def _page(browser: Client, project: Project) -> str:
    return browser.get(f"/projects/{project.pk}/secrets/").content.decode()


def test_it_names_rule_and_line_and_never_the_secret(browser: Client, project: Project) -> None:
    text = _page(browser, project)
    assert ">GitHub token<" in text and "deploy.md" in text and "line 1" in text
    assert TOKEN not in text


def test_one_press_makes_a_proposal_and_leads_to_its_review(browser: Client, project: Project) -> None:
    response = browser.post(f"/projects/{project.pk}/secrets/redact/")
    made = Proposal.objects.get()
    assert response["Location"] == f"/review/{made.public_id}/"
    assert TOKEN in (world.folder(project) / "deploy.md").read_text()


def test_a_secret_that_stands_offers_no_purge_and_one_asked_for_is_refused(
    browser: Client, project: Project
) -> None:
    assert "cannot be undone" not in _page(browser, project)

    [leak] = secret_purge.find_secrets(project).found
    page = browser.post(f"/projects/{project.pk}/secrets/purge/", {"secret": leak.id}, follow=True)
    assert "Remove it there first" in page.content.decode()
    assert not Purge.objects.exists()


def test_a_refused_purge_keeps_what_was_ticked_and_typed(browser: Client, project: Project) -> None:
    secret_purge.propose(project, world.ME)
    (world.folder(project) / "deploy.md").write_text("Deploys use a token.\n")
    syncing.refresh(project)
    [leak] = secret_purge.find_secrets(project).found
    form = {"secret": leak.id, "reason": "It leaked."}
    page = browser.post(f"/projects/{project.pk}/secrets/purge/", form)
    text = page.content.decode()
    assert page.status_code == 409 and "still contains it. Decide on it and submit it first." in text
    assert 'value="It leaked."' in text and f'value="{leak.id}" checked' in text
    none = browser.post(f"/projects/{project.pk}/secrets/purge/", {"reason": "It leaked."}).content.decode()
    assert "Nothing was purged: tick what to purge." in none and 'value="It leaked."' in none
    assert f'value="{leak.id}" checked' not in none


def test_what_is_only_kept_is_purged_with_a_reason(browser: Client, project: Project) -> None:
    (world.folder(project) / "deploy.md").write_text("Deploys use a token.\n")

    syncing.refresh(project)
    [leak] = secret_purge.find_secrets(project).found
    assert "cannot be undone" in _page(browser, project)
    form = {"secret": leak.id, "reason": "It leaked."}
    page = browser.post(f"/projects/{project.pk}/secrets/purge/", form, follow=True).content.decode()
    assert "Removed from 1 stored text." in page and "No secrets found" in page


def test_without_secrets_there_is_nothing_to_press(browser: Client, tmp_path: Path) -> None:
    clean = world.make_project(tmp_path / "clean")
    text = _page(browser, clean)
    assert "No secrets found" in text and text.count('type="submit"') == 1  # log out
    page = browser.post(f"/projects/{clean.pk}/secrets/redact/", follow=True).content.decode()
    assert "No memory contains a secret now." in page


@pytest.mark.more
def test_once_it_is_purged_no_review_says_that_it_is_still_kept(browser: Client, project: Project) -> None:
    browser.post(f"/projects/{project.pk}/secrets/redact/")
    made = Proposal.objects.get()
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(made, world.ME).complete
    here, told = f"/review/{made.public_id}/", "still contain what was removed"
    undo, page = f'href="{here}undo/"', browser.get(here).content.decode()
    assert told in page and undo in page and "can be undone" in page
    lists = ("/", f"/projects/{project.pk}/?show=timeline")
    undo = undo.rstrip('"')
    assert all(undo in browser.get(each).content.decode() for each in lists)
    [leak] = secret_purge.find_secrets(project).found
    browser.post(f"/projects/{project.pk}/secrets/purge/", {"secret": leak.id})
    page = browser.get(here).content.decode()
    assert told not in page and undo not in page and "can be undone" not in page
    assert not any(undo in browser.get(each).content.decode() for each in lists)
