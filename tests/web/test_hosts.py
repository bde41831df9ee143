"""Pages name the host of a row where the database has several, and lists and their counts can be narrowed to one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.utils import timezone

from dreams.findings.index_limits import MANY_WITHOUT_A_DREAM
from dreams.models import DreamRun, Host, Project, RequestUsage, ScheduledJob
from dreams.services import hosts
from tests.world import directory as world
from tests.world.rows import make_memory, make_project, make_session

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

DESK = "key-of-desk"


@pytest.fixture
def two(browser: Client, settings: SettingsWrapper, tmp_path: Path) -> Client:
    """A project here and one on the host "desk", each with a dream, an open proposal and a job."""
    settings.HOST_NAME = "laptop"
    hosts.register()
    Host.objects.create(key=DESK, name="desk")
    for name in ("near", "far"):
        made = world.three_changes(world.make_project(tmp_path / name))
        Project.objects.filter(pk=made.project_id).update(
            name=name, host=hosts.host() if name == "near" else DESK
        )
        DreamRun.objects.create(project=made.project, status=DreamRun.Status.COMPLETED)
        project = Project.objects.get(pk=made.project_id)
        ScheduledJob.objects.create(
            host=project.host, project=project, kind="dream", cron="0 8 * * *", made_at=timezone.now()
        )
    return browser


PAGES = {"/": "Inbox", "/projects/": "Projects", "/dreams/": "Dreams", "/schedules/": "Schedule"}


@pytest.mark.more
@pytest.mark.parametrize("address", PAGES)
def test_a_list_names_each_rows_host_and_shows_one_hosts_rows_alone(two: Client, address: str) -> None:
    both = two.get(address).content.decode()
    assert both.count('class="tag host">desk') >= 1 and both.count('class="tag host">laptop') >= 1
    one = two.get(f"{address}?host=desk").content.decode()
    assert 'class="tag host">desk' in one and 'class="tag host">laptop' not in one


def test_a_job_that_follows_one_of_another_host_is_listed_with_its_own_host(two: Client) -> None:
    near = ScheduledJob.objects.get(host=hosts.host())
    ScheduledJob.objects.create(host=DESK, kind="export", after=near, made_at=timezone.now())
    for address in ("/schedules/", "/schedules/?host=desk"):
        assert two.get(address).content.decode().count(">after Dream: near<") == 1, address


@pytest.mark.more
def test_two_projects_of_one_name_are_told_apart_wherever_one_is_chosen(two: Client) -> None:
    Project.objects.update(name="app")
    for project in Project.objects.all():
        session = make_session(project)
        RequestUsage.objects.create(
            key=project.pk, session=session, model="m", at=timezone.now(), output_tokens=7
        )
    usage = two.get("/usage/").content.decode()
    assert ">app (laptop)</a>" in usage and ">app (desk)</a>" in usage
    for address in ("/dreams/", "/schedules/", "/search/"):
        fields = two.get(address).content.decode()
        assert ">app (laptop)</option>" in fields and ">app (desk)</option>" in fields, address
    Project.objects.update(host=hosts.host(), repo_dir="")
    assert "memory)</option>" in two.get("/schedules/").content.decode(), (
        "on one host the folder tells them apart"
    )


def test_a_review_of_another_host_is_your_move_until_you_submit_it(two: Client) -> None:
    assert "desk’s move" not in two.get("/").content.decode()
    seen = {two.get("/next/", follow=False).headers["Location"]}
    seen.add(two.get(f"/next/?after={seen.copy().pop().split('/')[2]}").headers["Location"])
    assert len(seen) == 2


@pytest.mark.more
def test_a_count_is_of_the_host_that_is_shown(two: Client) -> None:
    assert "<b>2 projects</b>" in two.get("/projects/").content.decode()
    assert "<b>1 project</b>" in two.get("/projects/?host=desk").content.decode()


def test_a_first_dream_is_offered_in_the_inbox_of_the_host_that_can_start_it(two: Client) -> None:
    untidied = make_project("untidied")
    for number in range(MANY_WITHOUT_A_DREAM):
        make_memory(untidied, f"note_{number}.md")
    assert "Never tidied" in two.get("/?host=laptop").content.decode()
    assert "Never tidied" not in two.get("/?host=desk").content.decode()


def test_each_page_of_a_project_names_its_host(two: Client) -> None:
    far = Project.objects.get(name="far")
    memory, proposal, dream = far.memories.first(), far.proposals.first(), far.dreams.first()
    assert memory and proposal and dream
    for address in (
        f"/projects/{far.pk}/",
        f"/memories/{memory.pk}/",
        f"/review/{proposal.public_id}/",
        f"/dreams/{dream.public_id}/",
    ):
        assert 'class="tag host">desk' in two.get(address).content.decode(), address


def test_health_speaks_of_one_host(two: Client) -> None:
    assert "desk (not seen yet) is away" in two.get("/health/?host=desk").content.decode()
    here = " ".join(two.get("/health/").content.decode().split())
    assert "All hosts" not in here, "what it shows is of one host"
    assert re.findall(r'aria-current="true">(\w+)</a>', here) == ["laptop"]


def test_a_single_host_is_not_named_anywhere(browser: Client) -> None:
    hosts.register()
    make_project()
    for address in PAGES:
        page = browser.get(address).content.decode()
        assert "tag host" not in page and "All hosts" not in page
