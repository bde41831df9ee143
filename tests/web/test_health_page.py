"""Health: each thing that could keep dreams from happening, worst first, with its remedy."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from dreams.models import AuditEntry
from dreams.services import doctor, settings_changes
from dreams.services.hosts import cluster_name, host
from dreams.web.context import scheduler_runs

pytestmark = pytest.mark.django_db


def _schedule(next_run: dt.datetime, cluster: str = "") -> None:
    Schedule.objects.create(
        func="dreams.tasks.tick",
        next_run=next_run,
        cluster=cluster or cluster_name(host()),
        schedule_type="I",
    )


def test_a_scheduler_in_time_runs_and_one_that_is_late_does_not() -> None:
    now = timezone.now()
    assert not scheduler_runs(now), "it never ran"
    _schedule(now - dt.timedelta(seconds=40))
    assert scheduler_runs(now)
    assert not scheduler_runs(now + dt.timedelta(minutes=3))


def test_another_hosts_scheduler_is_not_ours() -> None:
    _schedule(timezone.now(), "memoryweb@elsewhere")
    assert not scheduler_runs(timezone.now())


def test_the_worst_comes_first() -> None:
    settings_changes.set_override("engine", "anthropic", actor="owner")
    found = doctor.worst_first(doctor.examine(timezone.now()))
    states = [check.state for check in found]
    assert states == sorted(states, key=["bad", "warn", "ok", "info"].index)
    assert found[0].state == "bad"
    assert len(set(states)) > 2


def test_the_page_says_in_words_what_is_broken_and_what_to_do(browser: Client) -> None:
    settings_changes.set_override("engine", "anthropic", actor="owner")
    text = browser.get("/health/").content.decode()
    assert "Something is broken, or is stopping dreams from running." in text
    assert "Broken: " in text
    assert "choose the rules engine in Settings" in text


def test_the_page_checks_all_when_asked(browser: Client) -> None:
    settings_changes.set_override("min_hours", 3, actor="owner")
    AuditEntry.objects.update(actor="someone else")
    assert b"Someone changed the database" not in browser.get("/health/").content
    assert b"Someone changed the database" in browser.get("/health/?thorough=1").content


def test_every_page_shows_that_the_scheduler_stands_still(browser: Client) -> None:
    why = b"The red circle in the menu means that the scheduler is not running."
    assert b'title="The scheduler is not running"' in browser.get("/").content
    assert why in browser.get("/health/").content
    _schedule(timezone.now())
    assert b"scheduler is not running" not in browser.get("/").content
    assert why not in browser.get("/health/").content
