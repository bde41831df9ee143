"""What waits can be put off: it leaves the list and the count, is found under “Snoozed”, and always comes back."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from dreams.models import AuditEntry, DreamRun, FileChange, Hunk, Proposal, Snooze
from dreams.services import people
from dreams.services.inbox import waiting
from dreams.services.people import Role
from dreams.services.review import Actor
from tests.world import rows as make
from tests.world.rows import World

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def _snooze(browser: Client, *proposals: Proposal, **until: str) -> str:
    data = {"proposal": [p.public_id for p in proposals], **until}
    return browser.post("/snooze/", data, follow=True).content.decode()


def _put_off(proposal: Proposal, at: dt.datetime) -> bool:
    return any(item.key == proposal.public_id and item.snooze for item in waiting.waiting(at))


def _tomorrow() -> str:
    return (timezone.localdate() + DAY).isoformat()


def test_until_a_day_it_is_out_of_the_list_and_the_title_and_then_back(browser: Client, world: World) -> None:
    text = _snooze(browser, world.proposal, until=_tomorrow())
    assert "Snoozed (1)" in text and "<title>Inbox" in text
    assert "Everything that waits is snoozed" in text and "All reviewed" not in text
    assert _put_off(world.proposal, timezone.now())
    assert not _put_off(world.proposal, timezone.now() + 2 * DAY)
    with time_machine.travel(timezone.now() + 2 * DAY, tick=False):
        assert "<title>(1) Inbox" in browser.get("/").content.decode()
    assert "<title>Inbox" in browser.get("/").content.decode()
    assert AuditEntry.objects.filter(action="inbox.snoozed").exists()


@pytest.mark.more
def test_each_account_snoozes_for_itself(browser: Client, world: World) -> None:
    people.add("bea", Role.REVIEWER, Actor("owner"))
    bea = Client()
    bea.force_login(people.find("bea"))
    _snooze(bea, world.proposal, until=_tomorrow())
    assert "<title>Inbox" in bea.get("/").content.decode()
    assert "<title>(1) Inbox" in browser.get("/").content.decode()
    assert not _put_off(world.proposal, timezone.now()), "the digest and the feed are the owner's"
    _snooze(browser, world.proposal, until="dream")
    assert _put_off(world.proposal, timezone.now())
    browser.post("/snooze/bring-back/", {"item": world.proposal.public_id})
    assert "<title>(1) Inbox" in browser.get("/").content.decode()
    assert "Snoozed (1)" in bea.get("/").content.decode()


def test_until_the_next_dream_has_ended(browser: Client, world: World) -> None:
    _snooze(browser, world.proposal, until="dream")
    assert _put_off(world.proposal, timezone.now() + 365 * DAY)
    running = make.make_dream(world.other, DreamRun.Status.RUNNING)
    assert _put_off(world.proposal, timezone.now())
    DreamRun.objects.filter(pk=running.pk).update(status="completed", ended_at=timezone.now())
    assert not _put_off(world.proposal, timezone.now())


def test_what_waits_for_another_reason_comes_back_at_once(browser: Client, world: World) -> None:
    _snooze(browser, world.proposal, until=_tomorrow())
    Hunk.objects.update(verdict=Hunk.Verdict.APPROVED)
    Proposal.objects.update(state=Proposal.State.SUBMITTED)
    FileChange.objects.update(rebase_confirmed=False)
    assert not _put_off(world.proposal, timezone.now())


def test_it_can_be_brought_back_by_hand(browser: Client, world: World) -> None:
    _snooze(browser, world.proposal, until=_tomorrow())
    text = browser.post(
        "/snooze/bring-back/", {"item": world.proposal.public_id}, follow=True
    ).content.decode()
    assert "<title>(1) Inbox" in text and not Snooze.objects.exists()


@pytest.mark.parametrize("until", ["", "yesterday", "2020-01-01"])
def test_a_day_that_is_over_or_none_at_all_is_refused(browser: Client, world: World, until: str) -> None:
    response = browser.post("/snooze/", {"proposal": world.proposal.public_id, "until": until})
    assert response.status_code == 422 and b"Choose a day after today" in response.content
    assert f'value="{response.context["day"]}"' in response.content.decode(), "what was typed is kept"
    assert not Snooze.objects.exists()


def test_a_day_can_be_typed(browser: Client, world: World) -> None:
    _snooze(browser, world.proposal, day=_tomorrow())
    assert _put_off(world.proposal, timezone.now())


def test_several_are_put_off_together_and_what_no_longer_waits_is_left_alone(
    browser: Client, world: World
) -> None:
    more = make.make_proposal(world.other)
    gone = make.make_proposal(make.make_project("gone"), state=Proposal.State.REJECTED)
    text = browser.get("/snooze/", {"proposal": [p.public_id for p in (world.proposal, more, gone)]})
    assert b"Snooze 2 items" in text.content
    _snooze(browser, world.proposal, more, gone, until="dream")
    assert Snooze.objects.count() == 2


def test_nothing_selected_leads_back_to_the_inbox(browser: Client) -> None:
    assert b"Select something in the inbox first." in browser.get("/snooze/", follow=True).content
