"""Policies by kind in the settings, and in the inbox what is offered and what was applied without asking."""

from __future__ import annotations

import datetime as dt
import importlib
import re
from html import unescape
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import AppliedBatch, AuditEntry, Hunk, Operation, Policy, Proposal
from dreams.services import rollback
from dreams.services.policies import earned
from dreams.services.review import Actor
from dreams.services.rollback import Selection
from tests.world import directory, rows as make, trusting
from tests.world.rows import World
from tests.world.trusting import accepted, decided

pytestmark = pytest.mark.django_db


def _offered(browser: Client) -> dict[str, str]:
    [offer] = browser.get("/").context["offers"]
    record = offer["record"]
    return {"kind": record.kind, "maker": record.maker, "last": str(record.last)}


def test_the_inbox_offers_what_was_earned_and_shows_what_it_would_have_applied(
    browser: Client, world: World
) -> None:
    decided(world.project)
    page = unescape(browser.get("/").content.decode())
    assert "Apply fixed relative dates without asking?" in page
    assert "20 from the rules engine were approved, on 3 days, in" in page
    assert page.count('<li><a href="/review/') >= 20 and "Change 7." in page


def test_what_an_offer_would_have_applied_is_told_apart_by_its_line(browser: Client, world: World) -> None:
    made = decided(world.project)
    hunk = Hunk.objects.filter(file__proposal=world.proposal).select_related("file")[0]
    Hunk.objects.filter(pk=hunk.pk).update(operation=made[-1].operation)
    page = browser.get("/").content.decode()
    assert f"{hunk.file.path}, line {hunk.new_start + 1}" in page
    assert f"/?hunk={hunk.pk}#hunk-{hunk.pk}" in page and "?hunk=#" not in page


def test_whoever_accepts_an_offer_reads_what_of_and_from_when(browser: Client, world: World) -> None:
    decided(world.project)
    page = browser.post(
        "/settings/policies/answer/", {**_offered(browser), "answer": "accept"}, follow=True
    ).content.decode()
    assert (
        "Fixed relative dates from the rules engine are applied without asking from the next dream on."
        in page
    )


@pytest.mark.parametrize("for_all", [True, False])
def test_a_project_with_a_policy_does_not_promise_that_nothing_is_written(
    browser: Client, world: World, for_all: bool
) -> None:
    promise, page = "Nothing is written until you approve it.", f"/projects/{world.project.pk}/"
    Policy.objects.create(operation="catch", action="auto")  # cards, which no dream makes
    assert promise in browser.get(page).content.decode()
    Policy.objects.create(operation="change", action="auto", project=None if for_all else world.project)
    told = browser.get(page).content.decode()
    assert promise not in told and "What your policies allow is applied without asking you" in told


def test_the_inbox_says_what_a_policy_applied_and_what_not(browser: Client, world: World) -> None:
    applied(world.proposal, Policy.objects.create(operation="change", action="auto"))
    make.make_dream(world.project)
    page = browser.get("/").content.decode()
    assert (
        page.count("applied by a policy") == 1
        and len(page.split('id="news"')[1].split("</section>")[0].split("<li>")) == 3
    )


def test_an_offer_is_accepted_and_ended_in_the_settings(browser: Client, world: World) -> None:
    decided(world.project)
    browser.post("/settings/policies/answer/", {**_offered(browser), "answer": "accept"})
    policy = Policy.objects.get()
    assert (policy.kind, policy.action, policy.changed_by) == ("date", "auto", "owner")
    assert not browser.get("/").context["offers"]
    assert "Fixed relative dates from the rules engine" in browser.get("/settings/").content.decode()
    browser.post(f"/settings/policies/{policy.pk}/end/")
    policy.refresh_from_db()
    assert policy.action == "review"
    assert list(AuditEntry.objects.order_by("number").values_list("action", flat=True)) == [
        "policy.earned",
        "policy.ended",
    ]


def test_the_settings_say_who_ended_an_earned_policy(browser: Client, world: World) -> None:
    """Also to another person than the one who ended it; and one that other code stopped was ended by nobody."""

    def told() -> str:
        page = unescape(browser.get("/settings/").content.decode()).partition('id="earned"')[2]
        return " ".join(re.sub("<[^>]+>", " ", page.partition("1 applied")[0]).split())

    decided(world.project)
    policy = accepted()
    Operation.objects.filter(pk=Operation.objects.values("pk")[:1]).update(policy=policy)
    Policy.objects.update(maker="rules 0badc0de")
    policy.refresh_from_db()
    assert "accepted by you just now . The engine has changed since then" in told()
    for who, shown in (("ann", "ann"), ("owner", "you")):
        Policy.objects.update(action="auto")
        earned.end(policy, actor=who)
        assert f"Ended by {shown} just now . It was no longer wanted." in told()


def test_an_offer_is_declined(browser: Client, world: World) -> None:
    decided(world.project)
    browser.post("/settings/policies/answer/", {**_offered(browser), "answer": "decline"})
    assert not browser.get("/").context["offers"] and not Policy.objects.filter(action="auto").exists()


def test_an_offer_that_changed_meanwhile_is_not_taken(browser: Client, world: World) -> None:
    decided(world.project)
    shown = _offered(browser)
    decided(world.project, 1)
    page = browser.post("/settings/policies/answer/", {**shown, "answer": "accept"}, follow=True)
    assert "Something has been decided or undone since this was shown" in page.content.decode()
    assert not Policy.objects.exists()


@pytest.mark.parametrize("path", ["answer/", "1/end/"])
def test_a_link_cannot_answer_an_offer(browser: Client, path: str) -> None:
    assert browser.get(f"/settings/policies/{path}").status_code == 405


def test_what_an_earned_policy_applied_is_listed_with_its_undo(browser: Client, world: World) -> None:
    decided(world.project)
    policy = accepted()
    applied(world.proposal, policy)
    page = browser.get("/")
    [item] = page.context["passed"]
    assert (item.places, item.is_undone) == (("feedback_testing.md, line 8",), False)
    here, text = f"/review/{world.proposal.public_id}/", unescape(page.content.decode())
    assert f'"{here}?hunk={item.hunk.pk}#hunk-{item.hunk.pk}"' in text, (
        "at the change, not at the head of its proposal"
    )
    assert f"{here}undo/?hunk={item.hunk.hunk_id}" in text
    assert "1 applied" in browser.get("/settings/").content.decode()


def test_an_undo_says_beforehand_which_policy_it_ends(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = trusting.make_project(tmp_path)
    decided(project)
    accepted()
    part = trusting.dream(project, monkeypatch, trusting.dating(range(2))).proposals.get(by_policy=True)
    one = Hunk.objects.filter(file__proposal=part)[0]
    ends = "This ends the policy that {} accepted: Fixed relative dates from the rules engine will wait"
    address = f"/review/{part.public_id}/undo/?hunk={one.hunk_id}"
    assert ends.format("you") in " ".join(browser.get(address).content.decode().split())
    Policy.objects.update(changed_by="mara")
    assert ends.format("mara") in " ".join(browser.get(address).content.decode().split())
    assert "accepted by mara" in " ".join(browser.get("/settings/").content.decode().split())
    rollback.rollback(part, directory.ME, Selection(hunk_ids=(one.hunk_id,)))
    assert ends not in browser.get(f"/review/{part.public_id}/undo/").content.decode(), "it has ended"


def test_who_accepted_a_policy_reads_in_the_inbox_that_somebody_elses_undo_ended_it(
    browser: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = trusting.make_project(tmp_path)
    decided(project)
    accepted()
    part = trusting.dream(project, monkeypatch, trusting.dating(range(2))).proposals.get(by_policy=True)
    one, other = Hunk.objects.filter(file__proposal=part)
    ended = "Fixed relative dates from the rules engine are no longer applied without asking"
    assert ended not in browser.get("/").content.decode()
    rollback.rollback(part, Actor("ann"), Selection(hunk_ids=(one.hunk_id,)))

    def told() -> str:
        page = browser.get("/").content.decode()
        return " ".join(re.sub("<[^>]+>", " ", page.partition('id="passed"')[2]).split())

    assert f"{ended} A change of {part.public_id} was undone. · ann · just now" in told()
    rollback.rollback(part, directory.ME, Selection(hunk_ids=(other.hunk_id,)))
    assert f"{part.public_id} was undone. · ann" in told(), "the second undo ended nothing"
    Policy.objects.update(ended_by_undo=False)
    assert ended not in told()
    importlib.import_module("dreams.migrations.0078_policies_ended_by_an_undo").mark_ended(apps, None)
    assert ended in told(), "a database of before this was a column"
    Policy.objects.update(changed_by="owner")
    assert ended not in told(), "whoever undid it was told then"


def test_a_policy_that_ended_and_is_offered_and_declined_later_still_says_who_ended_it(
    browser: Client, world: World
) -> None:
    decided(world.project)
    policy = accepted()
    Operation.objects.filter(pk=Operation.objects.values("pk")[:1]).update(policy=policy)
    earned.end(policy, actor="ann")
    earned.decline(policy.kind, policy.maker, actor="owner")
    page = unescape(browser.get("/settings/").content.decode()).partition('id="earned"')[2]
    told = " ".join(re.sub("<[^>]+>", " ", page.partition("1 applied")[0]).split())
    assert "Ended by ann just now . It was no longer wanted." in told


def test_however_much_was_decided_and_applied_the_inbox_asks_as_often(browser: Client, world: World) -> None:
    decided(world.project)
    policy = accepted()
    applied(world.proposal, policy)
    decided(world.project, kind="index", maker=earned.versions.maker("rules", "", "index"))
    few = _queries(browser)
    decided(world.project, 40, proposals=9, kind="learn", maker=earned.versions.maker("rules", "", "learn"))
    for name in ("one", "two", "three"):
        project = make.make_project(name)
        applied(make.make_proposal(project, make.make_dream(project)), policy)
    # A kind more that is offered, and more that was applied: only waiting items, which other tests count, may differ.
    Proposal.objects.filter(state="open").update(state="applied")
    assert _queries(browser) <= few


def test_a_policy_by_kind_is_set_and_audited(browser: Client) -> None:
    browser.post("/settings/", {"kind-date": "auto", "kind-merge": "review"})
    rows = Policy.objects.values_list("operation", "kind", "action")
    assert set(rows) == {("", "date", "auto"), ("", "merge", "review")}
    assert set(AuditEntry.objects.values_list("object_id", flat=True)) == {"date", "merge"}
    browser.post("/settings/", {"kind-date": ""})
    assert Policy.objects.count() == 1


def test_applying_merges_without_asking_is_warned_about(browser: Client) -> None:
    warning = "Memories can be removed without asking you"
    assert warning not in browser.get("/settings/").content.decode()
    browser.post("/settings/", {"kind-merge": "auto"})
    assert warning in browser.get("/settings/").content.decode()


def test_the_admin_shows_earned_policies_and_changes_none(browser: Client, world: World) -> None:
    decided(world.project)
    policy = accepted()
    assert b"rules " in browser.get("/admin/dreams/policy/").content
    page = browser.get(f"/admin/dreams/policy/{policy.pk}/change/")
    assert page.status_code == 200 and b'name="action"' not in page.content
    browser.post(f"/admin/dreams/policy/{policy.pk}/delete/", {"post": "yes"})
    policy.refresh_from_db()
    assert (policy.action, policy.note) == ("review", "It was no longer wanted.")
    assert b"rules " not in browser.get("/admin/dreams/policy/").content, "what ended allows nothing"


def test_a_dream_that_a_policy_applied_whole_is_not_said_to_be_applied_in_part(
    browser: Client, world: World
) -> None:
    applied(world.proposal, Policy.objects.create(operation="change", action="auto"))
    said = "A policy applied this automatically:"
    assert said in browser.get(f"/dreams/{world.dream.public_id}/").content.decode()
    make.make_proposal(world.project, world.dream)
    assert "applied part of this" in browser.get(f"/dreams/{world.dream.public_id}/").content.decode()


@pytest.mark.parametrize("own", [False, True])
def test_what_a_policy_applied_leads_to_where_that_policy_is_set(
    browser: Client, world: World, own: bool
) -> None:
    policy = Policy.objects.create(kind="date", action="auto", project=world.project if own else None)
    applied(world.proposal, policy)
    world.proposal.operations.update(policy=None)  # only an earned one is named there
    page = browser.get(f"/review/{world.proposal.public_id}/").content.decode()
    where = f"/projects/{world.project.pk}/settings/" if own else "/settings/"
    assert f'by <a href="{where}#policies">a policy</a>' in page
    assert f'<a href="{where}#policies">a policy</a>' in browser.get("/").content.decode()
    timeline = browser.get(f"/projects/{world.project.pk}/?show=timeline").content.decode()
    assert f'<a href="/projects/{world.project.pk}/settings/#policies">policy</a>' in timeline
    shown = browser.get(where).content.decode()
    assert '<option value="auto" selected>' in shown and 'more-settings" open>' in shown


def applied(proposal: Proposal, policy: Policy) -> None:
    """As if the policy had applied all of `proposal` just now."""
    proposal.operations.update(policy=policy, kind="date")
    now = timezone.now() - dt.timedelta(minutes=5)
    done = AppliedBatch.objects.create(
        proposal=proposal, journal_id=proposal.public_id, at=now, actor="policy"
    )
    Hunk.objects.filter(file__proposal=proposal).update(applied_in=done, verdict="approved")
    Proposal.objects.filter(pk=proposal.pk).update(state="applied", by_policy=True, submitted_by="policy")


def _queries(browser: Client) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get("/").status_code == 200
    return len(asked)


def test_a_policy_for_index_changes_is_called_that(browser: Client) -> None:
    text = browser.get("/settings/").content.decode()
    assert "Index changes" in text and "Made index changes" not in text
