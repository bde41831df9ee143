"""A project's page offers the memories of the path where its repository was before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.test import Client
from django.urls import reverse

from dreams.models import Project, Proposal
from tests.world.agent_folder import Root

Pair = tuple[Project, Project]
pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """The project before and after its repository was renamed."""
    root = Root(tmp_path)
    app = root.repository("app")
    root.session(app, "s1")
    root.memory(app, "port.md", "The API listens on port 8087.\n")
    root.discover()
    shop = app.with_name("shop")
    shutil.move(app, shop)
    root.session(shop, "s2")
    root.discover()
    return Project.objects.get(repo_dir=str(app)), Project.objects.get(repo_dir=str(shop))


def page(client: Client, project: Project) -> str:
    return client.get(reverse("project", args=[project.pk])).content.decode()


def test_one_press_leads_to_the_review_of_a_proposal(client: Client, owner: AbstractUser, pair: Pair) -> None:
    former, project = pair
    client.force_login(owner)
    assert "seems to have been at" in page(client, project)
    address = reverse("project-copy", args=[former.pk])
    assert address in page(client, project)
    answer = client.post(address, {"to": project.pk}, follow=True)
    made = Proposal.objects.get(project=project)
    assert answer.redirect_chain[-1][0] == reverse("review", args=[made.public_id])
    assert "port.md" in answer.content.decode()
    assert "seems to have been at" not in page(client, project)


def test_rows_that_are_no_proposals_offer_no_verdict_on_several(
    client: Client, owner: AbstractUser, tmp_path: Path, pair: Pair
) -> None:
    root = Root(tmp_path / "more")
    lib = root.repository("lib")
    root.session(lib, "s1")
    root.memory(lib, "port.md", "The API listens on port 8087.\n")
    root.discover()
    root.session(shutil.move(lib, lib.with_name("core")), "s2")
    root.discover()
    client.force_login(owner)
    inbox = client.get("/").content.decode()
    assert "2 to look at" in inbox and "Snooze …" in inbox and 'value="approve"' not in inbox
    client.post(reverse("project-copy", args=[pair[0].pk]), {"to": pair[1].pk})
    assert 'value="approve"' in client.get("/").content.decode()


def test_what_is_copied_is_called_so(client: Client, owner: AbstractUser, pair: Pair) -> None:
    former, project = pair
    client.force_login(owner)
    review = client.post(reverse("project-copy", args=[former.pk]), {"to": project.pk}, follow=True)
    assert "Proposes to copy 1 file." in review.content.decode()
    card = review.content.decode().partition("<article")[2]
    assert "Copied" in card
    assert "Edited" not in card


def test_the_former_page_lets_choose_where_it_is_now(client: Client, owner: AbstractUser, pair: Pair) -> None:
    former, project = pair
    client.force_login(owner)
    Project.objects.update(moved_from=None)
    assert f'<option value="{project.pk}">' in page(client, former)


@pytest.mark.more
@pytest.mark.parametrize("to", ["", "x", "0", "99999999999999999999"])
def test_an_unknown_project_is_no_error(client: Client, owner: AbstractUser, pair: Pair, to: str) -> None:
    client.force_login(owner)
    assert client.post(reverse("project-copy", args=[pair[0].pk]), {"to": to}).status_code == 404
    assert not Proposal.objects.exists()


def test_the_same_project_is_refused_in_words(client: Client, owner: AbstractUser, pair: Pair) -> None:
    client.force_login(owner)
    former = pair[0].pk
    answer = client.post(reverse("project-copy", args=[former]), {"to": former}, follow=True)
    assert "No proposal was made: Both are the same project." in answer.content.decode()
