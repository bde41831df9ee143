"""The page of the schedule: its jobs with their next times, the last runs, and what can be done with a job."""

from __future__ import annotations

import datetime as dt

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ

from dreams.models import JobRun, ScheduledJob
from dreams.services import jobs, settings_changes
from dreams.services.jobs import runs
from tests.world.rows import World

pytestmark = pytest.mark.django_db
NEXT = 'class="next-times"'


@pytest.fixture(autouse=True)
def in_berlin(owner: object) -> None:
    cache.clear()
    settings_changes.set_override("time_zone", "Europe/Berlin", actor="owner")


def look(browser: Client, query: str = "") -> str:
    return browser.get(f"/schedules/{query}").content.decode()


def test_without_a_job_it_says_what_a_job_is_for(browser: Client) -> None:
    assert "No jobs yet" in look(browser)


def test_a_job_is_added_and_shows_its_next_five_times_in_the_persons_zone(browser: Client) -> None:
    data = {"kind": "checkup", "cron": "0 3 * * *"}
    page = browser.post("/schedules/", data, follow=True).content.decode()
    assert "Checkup: all projects: added." in page
    [first, *_] = jobs.upcoming(ScheduledJob.objects.get(), timezone.now(), jobs.Clock.load())
    assert page.count("<time datetime", page.index(NEXT)) == 5
    assert f" 03:{timezone.localtime(first, jobs.Clock.load().zone):%M}</time>" in page


def test_a_form_that_is_sent_twice_adds_one_job_and_says_so(browser: Client) -> None:
    data = {"kind": "checkup", "cron": "0 3 * * *"}
    browser.post("/schedules/", data)
    page = browser.post("/schedules/", data, follow=True).content.decode()
    job = ScheduledJob.objects.get()
    assert f"Checkup: all projects: already scheduled like this ({job.public_id})." in page
    assert "0 3 * * *" in look(browser), "the form is empty again, and the list has the job"


def test_the_form_shows_the_times_that_it_means_without_adding_anything(browser: Client) -> None:
    page = look(browser, "?kind=verify&cron=30+12+*+*+mon")
    assert "Next, each a little later:" in page, "which minute it will be is only known of a job that exists"
    assert page.count("Mon ") == 5 and page.count(" 12:30</time>") == 5
    assert not ScheduledJob.objects.exists()


def test_a_form_that_cannot_be_keeps_what_was_typed_and_says_why(browser: Client, world: World) -> None:
    data = {"kind": "dream", "cron": "0 3 * *", "project": world.project.pk, "once": "on"}
    response = browser.post("/schedules/", data)
    page = response.content.decode()
    assert response.status_code == 422
    assert "not five fields" in page and 'value="0 3 * *"' in page and "checked" in page
    assert "autofocus" in page and "autofocus" not in look(browser), "the form comes into view"
    assert f'<option value="{world.project.pk}" selected>' in page


def test_a_chain_stands_beneath_what_it_follows(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "checkup", "cron": "0 3 * * *"})
    first = ScheduledJob.objects.get()
    page = browser.post(
        "/schedules/", {"kind": "digest", "after": first.public_id}, follow=True
    ).content.decode()
    assert "after Checkup: all projects" in page and 'class="job-1"' in page


def test_a_run_now_is_handed_to_the_queue_and_not_a_second_time(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"})
    job = ScheduledJob.objects.get()
    browser.post(f"/schedules/{job.public_id}/run/")
    assert OrmQ.objects.count() == 1
    page = browser.post(f"/schedules/{job.public_id}/run/", follow=True).content.decode()
    assert "is already running" in page and JobRun.objects.count() == 1


def test_a_removed_job_takes_what_follows_along_and_says_so_before_and_after(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"})
    first = ScheduledJob.objects.get()
    assert "jobs that follow it" not in look(browser)
    browser.post("/schedules/", {"kind": "export", "after": first.public_id})
    assert look(browser).count("jobs that follow it are removed, too") == 1
    page = browser.post(f"/schedules/{first.public_id}/remove/", follow=True).content.decode()
    assert "Verify: all projects: removed, with 1 job that followed it." in page
    assert browser.post(f"/schedules/{first.public_id}/remove/").status_code == 404


def test_fifty_runs_a_page_are_shown_with_what_became_of_them(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"})
    job = ScheduledJob.objects.get()
    now = timezone.now()
    for number in range(52):
        run = runs.start_now(job, actor="", now=now - dt.timedelta(hours=number))
        runs.end(run, runs.RunResult(JobRun.Status.DONE, f"Run {number}."))
    page = look(browser)
    assert "Run 49." in page and "Run 50." not in page and "52, newest first" in page
    page = look(browser, "?page=2")
    assert "Run 49." not in page and "Run 51." in page


def test_a_run_of_many_projects_names_twenty_those_that_failed_first(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "checkup", "cron": "0 3 * * *"})
    run = runs.start_now(ScheduledJob.objects.get(), actor="")
    parts = [
        {"name": f"project-{n}", "state": "failed" if n > 797 else "done", "text": "."} for n in range(800)
    ]
    runs.end(run, runs.RunResult(JobRun.Status.DONE, "Done.", parts))
    page = look(browser)
    assert "800 projects</summary>" in page and "These are 20 of them" in page
    assert all(f"<b>project-{n}</b>" in page for n in (798, 799, 17)) and "<b>project-18</b>" not in page


def test_of_the_jobs_that_have_ended_the_newest_are_listed_and_the_others_counted(browser: Client) -> None:
    now = timezone.now()
    for number in range(25):
        ScheduledJob.objects.create(
            kind="verify",
            cron=f"{number} 3 1 1 *",
            once=True,
            made_at=now,
            ended_at=now - dt.timedelta(days=number),
        )
    page = look(browser)
    assert page.count(">ended</span>") == 20 and "and 5 more that ended before." in page
    assert "<code>19 3 1 1 *</code>" in page and "<code>20 3 1 1 *</code>" not in page


def test_a_digest_without_an_address_says_so(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "digest", "cron": "0 8 * * *"})
    assert "no address is set" in look(browser)


def test_who_gives_an_address_gets_a_daily_digest_and_only_one(browser: Client) -> None:
    for address in ("me@example.org", "you@example.org"):
        settings_changes.set_override("digest_email", address, actor="owner")
    assert [(job.kind, job.cron) for job in ScheduledJob.objects.all()] == [("digest", "0 8 * * *")]


def test_a_failing_job_in_the_inbox_leads_to_its_row(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"})
    job = ScheduledJob.objects.get()
    for _ in range(3):
        runs.end(runs.start_now(job, actor=""), runs.RunResult(JobRun.Status.FAILED, "A disk is full."))
    inbox = browser.get("/").content.decode()
    assert "Schedule failed" in inbox and "failed 3 times in a row. A disk is full." in inbox
    assert f'href="/schedules/#{job.public_id}"' in inbox
    assert f'id="{job.public_id}"' in look(browser)


def test_a_failing_job_can_be_snoozed_and_comes_back_when_it_waits_again(browser: Client) -> None:
    browser.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"})
    job = ScheduledJob.objects.get()
    for _ in range(3):
        runs.end(runs.start_now(job, actor=""), runs.RunResult(JobRun.Status.FAILED, "A disk is full."))
    later = (timezone.localdate() + dt.timedelta(days=3)).isoformat()  # in whatever zone the page is
    page = browser.post("/snooze/", {"proposal": job.public_id, "until": later}, follow=True).content.decode()
    assert "Snoozed (1)" in page
    assert browser.get(f"/several/?proposal={job.public_id}").status_code in (200, 302, 303)
    assert (
        "A disk is full"
        in browser.post("/snooze/bring-back/", {"item": job.public_id}, follow=True).content.decode()
    )


def test_only_the_owner_sees_and_changes_the_schedule(client: Client) -> None:
    assert client.get("/schedules/").status_code == 302
    assert client.post("/schedules/", {"kind": "verify", "cron": "0 3 * * *"}).status_code == 302
    assert not ScheduledJob.objects.exists()
