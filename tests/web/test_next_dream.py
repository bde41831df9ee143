"""When a project dreams next: every page names all that its closed gates wait for, and counts the same new sessions."""

from __future__ import annotations

import datetime as dt
import errno
import html
import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.models import DreamRun, Project, Proposal, Session
from dreams.services.scheduling import scheduler
from dreams.services.scheduling.gate_inputs import Everywhere
from tests.world import rows as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Dreamt nine hours ago, one session since: both the time gate and the sessions gate are closed."""
    last = timezone.now() - dt.timedelta(hours=9, seconds=30)
    found = make.make_project("acme", last_consolidated_at=last, gate_fingerprint="time: recent")
    make.make_session(found, touched_at=timezone.now() - dt.timedelta(hours=1))
    reason = "24 h must pass since the last dream, which was 9 h ago; opens in 15 h."
    make.close_gate(found, reason, last + dt.timedelta(hours=24))
    return found


def text(browser: Client, address: str) -> str:
    plain = re.sub(r"<[^>]+>", "", browser.get(address).content.decode())
    return " ".join(html.unescape(plain).split())


def addresses(project: Project) -> list[str]:
    return [reverse("inbox"), reverse("projects"), reverse("project", args=[project.pk])]


def test_all_closed_gates_are_told_together_on_every_page(browser: Client, project: Project) -> None:
    for address in addresses(project):
        assert "Needs 4 more sessions, and at least 15 h must pass" in text(browser, address), address


def test_the_command_tells_the_same(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("gates", str(project.pk))
    assert "Needs 4 more sessions, and at least 15 h must pass." in capsys.readouterr().out


def test_a_gate_that_could_not_be_checked_is_told_by_pages_and_command_alike(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(folder: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{folder}/.consolidate-lock")

    monkeypatch.setattr("dreams.lib.locks.plain_mtime_ns", refuses)
    scheduler.judge(project, Everywhere.load(), scheduler.TickReport(timezone.now()), scan=False)
    call_command("gates", str(project.pk))
    words = "Could not check: Permission denied"
    assert f"closed. {words}" in capsys.readouterr().out
    for address in addresses(project)[1:]:
        found = text(browser, address)
        assert words in found and "Needs 4 more" not in found, address


@pytest.mark.parametrize(
    ("status", "words"),
    [("pending", "Waiting to start"), ("running", "Dreaming")],
    ids=["pending", "running"],
)
def test_while_it_dreams_the_command_names_the_dream_and_no_gates(
    project: Project, capsys: pytest.CaptureFixture[str], status: str, words: str
) -> None:
    """Its gates are judged by a lock that the dream itself holds."""
    dream = make.make_dream(project, status=status)
    call_command("gates", str(project.pk))
    assert capsys.readouterr().out == f"{project.slug}: {words}: dream {dream.public_id}.\n"


def test_no_moment_is_promised_while_sessions_are_missing(browser: Client, project: Project) -> None:
    for address in addresses(project):
        found = text(browser, address)
        assert "Opens in 15 h" not in found and "All open in 15 h" not in found, address
        assert "may dream in" not in found


def test_with_sessions_enough_the_moment_is_told(browser: Client, project: Project) -> None:
    for _ in range(4):
        make.make_session(project, touched_at=timezone.now() - dt.timedelta(hours=1))
    for address in addresses(project):
        assert "in 15 h" in text(browser, address) and "more session" not in text(browser, address), address


def test_what_waits_for_a_person_comes_before_what_waits_for_the_clock(
    browser: Client, project: Project
) -> None:
    make.make_proposal(project, origin=Proposal.Origin.DREAM)
    assert "more session" not in text(browser, reverse("inbox"))


def test_the_inbox_counts_no_sessions_of_projects_that_wait_for_a_person(
    browser: Client, project: Project
) -> None:
    def counted() -> bool:
        asked = list[str]()
        with connection.execute_wrapper(lambda ask, sql, *rest: (asked.append(sql), ask(sql, *rest))[1]):
            browser.get(reverse("inbox"))
        return any("COUNT(DISTINCT" in sql and "given_back_at" in sql for sql in asked)

    assert counted()
    make.make_proposal(project, origin=Proposal.Origin.DREAM)
    assert not counted()


def test_sessions_given_back_are_new_on_every_page(browser: Client, project: Project) -> None:
    for _ in range(2):
        old = timezone.now() - dt.timedelta(days=2)
        make.make_session(project, touched_at=old, given_back_at=timezone.now())
    assert "3 new sessions" in text(browser, reverse("project", args=[project.pk]))
    assert "3 of 5 sessions" in text(browser, reverse("project", args=[project.pk]))
    assert "New sessions3" in text(browser, reverse("projects")).replace("New sessions 3", "New sessions3")


def test_forks_of_one_session_are_one_new_session(browser: Client, project: Project) -> None:
    Session.objects.update(root_key=7)
    make.make_session(project, touched_at=timezone.now() - dt.timedelta(hours=1), root_key=7)
    for address in addresses(project):
        assert "4 more sessions" in text(browser, address), address
    assert "1 new session," in text(browser, reverse("project", args=[project.pk]))


def test_a_session_that_runs_is_not_counted_yet(browser: Client, project: Project) -> None:
    make.make_session(project, touched_at=timezone.now())
    for address in addresses(project):
        assert "4 more sessions" in text(browser, address), address


def test_a_session_that_counts_twice_is_named_where_the_missing_ones_are_counted(
    browser: Client, project: Project
) -> None:
    """Two new sessions and "1 more" of five would look like a fault."""
    make.make_session(project, touched_at=timezone.now() - dt.timedelta(hours=1), corrections=1)
    for address in addresses(project):
        assert (
            "Needs 2 more sessions, and at least 15 h must pass; one with a correction counts twice."
            in text(browser, address)
        ), address


def test_those_whose_turn_it_is_come_before_those_that_wait(browser: Client, project: Project) -> None:
    """In the scheduler's order, and without the one that dreams already."""
    for name, hours in (("rarely", 5), ("often", 2), ("at work", 1)):
        used = timezone.now() - dt.timedelta(hours=hours)
        is_open = make.make_project(name, last_session_at=used)
        for _ in range(5):
            make.make_session(is_open, touched_at=used)
    make.make_dream(is_open, status=DreamRun.Status.RUNNING)
    page = text(browser, reverse("inbox")).partition("Next dreams")[2].partition("Nothing is written")[0]
    assert re.findall(r"rarely|often|at work|acme", page) == ["often", "rarely", "acme"]
    assert page.count("Dreams in turn; the most recently used project goes first.") == 2
