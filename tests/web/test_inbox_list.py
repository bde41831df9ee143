"""The inbox narrowed, sorted and grouped by its address, and gone through one after the other."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import Finding, Hunk, Proposal, Question
from dreams.services.inbox.waiting import WaitingItem, WaitingKind
from tests.world import rows as make
from tests.world.cases import each

pytestmark = pytest.mark.django_db


@pytest.fixture
def five(db: None) -> dict[str, Proposal]:
    """Of different ages and needs: "blocked" has waited least, "old" most, "decided" needs a submit."""
    made = {}
    for age, name in enumerate(("blocked", "warned", "plain", "decided", "old")):
        made[name] = make.make_proposal(make.make_project(name))
        at = timezone.now() - dt.timedelta(days=age)
        Proposal.objects.filter(pk=made[name].pk).update(created_at=at)
    make.make_finding(made["blocked"], Finding.Severity.BLOCK)
    make.make_finding(made["warned"])
    Hunk.objects.filter(file__proposal=made["decided"]).update(verdict=Hunk.Verdict.APPROVED)
    return made


def _listed(browser: Client, query: str = "") -> list[str]:
    text = browser.get(f"/{query}").content.decode()
    return re.findall(r'<a class="row-title"[^>]*data-key="o">([^<]+)</a>', text)


def test_what_is_nearly_done_and_what_needs_care_come_first(
    browser: Client, five: dict[str, Proposal]
) -> None:
    assert _listed(browser) == ["decided", "blocked", "warned", "old", "plain"]


@each(
    ("query", "names"),
    [
        ("?sort=oldest", ["old", "decided", "plain", "warned", "blocked"]),
        ("?sort=newest", ["blocked", "warned", "plain", "decided", "old"]),
        ("?sort=project", ["blocked", "decided", "old", "plain", "warned"]),
        ("?finding=confirm", ["blocked"]),
        ("?finding=warnings", ["warned"]),
        ("?finding=none&sort=newest", ["plain", "decided", "old"]),
        ("?kind=submit", ["decided"]),
        ("?kind=conflict", []),
        ("?sort=sideways&kind=nothing&project=x", ["decided", "blocked", "warned", "old", "plain"]),
    ],
)
def test_it_is_narrowed_and_sorted(
    browser: Client, five: dict[str, Proposal], query: str, names: list[str]
) -> None:
    assert _listed(browser, query) == names


def test_it_is_narrowed_to_one_project(browser: Client, five: dict[str, Proposal]) -> None:
    assert _listed(browser, f"?project={five['old'].project_id}") == ["old"]
    text = browser.get(f"/?project={five['old'].project_id}").content.decode()
    assert "1 of 5 waiting" in text and "<title>(5) Inbox" in text


def test_grouped_every_project_has_its_heading(browser: Client, five: dict[str, Proposal]) -> None:
    make.make_proposal(five["old"].project)
    text = browser.get("/?group=project&sort=oldest").content.decode()
    headings = re.findall(r'<h3 class="inbox-group">(\w+) <span class="soft">(\d)</span>', text)
    assert headings == [("old", "2"), ("decided", "1"), ("plain", "1"), ("warned", "1"), ("blocked", "1")]


def test_all_can_be_selected_without_scripts(browser: Client, five: dict[str, Proposal]) -> None:
    text = browser.get("/?select=all&finding=confirm").content.decode()
    assert re.findall(r'name="proposal" value="([^"]+)"[^>]* checked>', text) == [five["blocked"].public_id]


def test_the_oldest_is_named_and_is_no_question(browser: Client, five: dict[str, Proposal]) -> None:
    asked = Question.objects.create(
        project=five["old"].project, kind="same", subject="1", why="Which?", asked=True
    )
    Question.objects.filter(pk=asked.pk).update(created_at=asked.created_at - dt.timedelta(days=90))
    text = browser.get("/").content.decode()
    assert f'The oldest is <a href="/review/{five["old"].public_id}/">old</a>' in text
    assert "<b>4 to review</b>, <b>1 to finish</b>" in text
    Proposal.objects.exclude(pk=five["old"].pk).update(state=Proposal.State.REJECTED)
    assert "The oldest is" not in browser.get("/").content.decode(), "of one proposal and questions"


def test_each_leads_on_to_the_next_and_the_last_back_to_the_first(
    browser: Client, five: dict[str, Proposal]
) -> None:
    seen, key = [], ""
    for _ in range(6):
        place = browser.get("/next/", {"after": key}).headers["Location"]
        key = place.split("/")[2]
        seen.append(next(name for name, made in five.items() if made.public_id == key))
    assert seen == ["decided", "blocked", "warned", "old", "plain", "decided"]


def test_with_nothing_else_waiting_the_next_is_the_inbox(browser: Client) -> None:
    made = make.make_proposal(make.make_project())
    text = browser.get("/next/", {"after": made.public_id}, follow=True).content.decode()
    assert "Nothing else is waiting for you." in text


def test_questions_are_one_item_and_not_counted_in_the_title(browser: Client) -> None:
    for number in range(3):
        Question.objects.create(
            project=make.make_project(f"p{number}"),
            kind="same",
            subject=str(number),
            why="Which?",
            asked=True,
        )
    text = browser.get("/?kind=questions").content.decode()
    assert "3 questions in 3 projects that only a person can answer." in text
    assert ">Questions</a>" in text and ">3 questions in 3 projects</b>" in text
    assert "<title>Inbox" in text
    assert "the filter does not apply here" in text, "the list is narrowed, the cards are not"
    assert "the filter does not apply here" not in browser.get("/").content.decode()


@pytest.mark.more
def test_forty_items_cost_no_more_queries_than_four(browser: Client) -> None:
    costs = []
    for more in (4, 36):
        for number in range(more):
            made = make.make_proposal(make.make_project(f"p{more}-{number}"))
            make.make_finding(made)
        browser.get("/")
        with CaptureQueriesContext(connection) as queries:
            browser.get("/?group=project")
        costs.append(len(queries))
    assert costs[0] == costs[1]


@each(
    ("kinds", "care"),
    [
        ((WaitingKind.FAILED, WaitingKind.CONFLICT), "block"),
        ((WaitingKind.CONFIRM, WaitingKind.SECOND, WaitingKind.WRITE, WaitingKind.JOB), "warn"),
        ((WaitingKind.REVIEW, WaitingKind.QUESTIONS), ""),
    ],
)
def test_what_failed_or_is_in_conflict_is_graver_than_what_waits(
    kinds: tuple[WaitingKind, ...], care: str
) -> None:
    for kind in kinds:
        assert WaitingItem("key", kind, "app", 1, timezone.now(), "", "", "").care == care
