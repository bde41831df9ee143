"""The audit log: found by filters, its chain checked on request, exported whole."""

from __future__ import annotations

import json

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.models import AuditEntry, Policy
from dreams.services import auditlog
from tests.world import rows as world


def _text(browser: Client, query: str = "") -> str:
    return browser.get(reverse("audit") + query).content.decode()


def _rows(text: str) -> int:
    return text.count('data-label="No."')


def test_entries_are_found_by_what_who_project_and_id(browser: Client) -> None:
    project = world.make_project("acme")
    auditlog.record("apply.done", actor="owner", project=project, object_id="pabc12345", files=2)
    auditlog.record("lock.healed", project=world.make_project("notes"), object_id="4711")
    found = _text(browser, "?action=apply.done")
    assert _rows(found) == 1 and '">Applied</span>' in found
    assert '<option value="apply.done" selected>Applied</option>' in found
    assert _rows(_text(browser, "?actor=system")) == 1
    assert _rows(_text(browser, f"?project={project.pk}")) == 1
    assert _rows(_text(browser, "?q=471")) == 1
    assert _rows(_text(browser, "?q=ACME")) == 1
    assert "No entry matches" in _text(browser, "?q=zzz")


def test_an_empty_log_says_what_will_stand_in_it(browser: Client) -> None:
    assert "Nothing yet" in _text(browser)


def test_a_whole_chain_is_said_and_only_when_asked(browser: Client) -> None:
    auditlog.record("login", actor="owner")
    assert "The chain is intact." in _text(browser, "?check=1")
    assert "The chain is intact." not in _text(browser)


def test_a_changed_entry_is_named(browser: Client) -> None:
    for _ in range(3):
        auditlog.record("login", actor="owner")
    AuditEntry.objects.filter(number=2).update(actor="someone else")
    text = _text(browser, "?check=1")
    assert "The chain is broken." in text
    assert "Audit entry 2 was changed after it was written." in text


def test_a_hopelessly_broken_chain_does_not_fill_the_page(browser: Client) -> None:
    for _ in range(60):
        auditlog.record("login", actor="owner")
    AuditEntry.objects.update(actor="someone else")
    text = _text(browser, "?check=1")
    assert text.count("was changed after it was written") == 50
    assert "and 10 more" in text


def test_the_export_holds_every_line_that_the_filter_lets_through(browser: Client) -> None:
    project = world.make_project("acme")
    auditlog.record("login", actor="owner")
    made = auditlog.record("apply.done", actor="owner", project=project, object_id="p1", sha256="ab" * 32)
    address = reverse("audit-export")
    response = browser.get(address)
    lines = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]  # type: ignore[attr-defined]
    assert [line["number"] for line in lines] == [1, 2]
    assert lines[1]["hash"] == made.hash
    assert lines[1]["data"] == {"sha256": "ab" * 32}
    assert lines[1]["prev_hash"] == lines[0]["hash"]
    assert "attachment" in response["Content-Disposition"]
    one = browser.get(address + "?action=login")
    assert len(b"".join(one.streaming_content).splitlines()) == 1  # type: ignore[attr-defined]


def test_the_export_follows_a_filter_that_replaces_only_a_part_of_the_page(browser: Client) -> None:
    auditlog.record("login", actor="owner")
    page = browser.get(reverse("audit") + "?action=login", headers={"HX-Request": "true"}).content.decode()
    replaced = page.partition('id="audit-actions" hx-swap-oob="true"')[2]
    assert "audit/export/?action=login" in replaced and "hx-swap-oob" not in _text(browser, "?action=login")


def test_values_are_shown_as_text(browser: Client) -> None:
    auditlog.record(
        "apply.failed", actor="<b>me</b>", object_id="<i>", why="<script>x</script>", list=["<u>"]
    )
    text = _text(browser)
    for markup in ("<b>me</b>", "<script>x", "<u>"):
        assert markup not in text


def test_a_long_log_is_cut_into_pages(browser: Client) -> None:
    for _ in range(55):
        auditlog.record("login", actor="owner")
    assert _rows(_text(browser)) == 50
    assert _rows(_text(browser, "?page=2")) == 5


def test_an_entry_leads_to_what_it_is_about_as_long_as_that_exists(browser: Client) -> None:
    project = world.make_project("acme")
    run = world.make_dream(project)
    proposal = world.make_proposal(project, run)
    auditlog.record("dream.ended", project=project, object_id=run.public_id)
    auditlog.record("proposal.made", project=project, object_id=proposal.public_id)
    addresses = [
        reverse("project", args=[project.pk]),
        reverse("dream", args=[run.public_id]),
        reverse("review", args=[proposal.public_id]),
    ]
    assert all(f'href="{address}"' in _text(browser) for address in addresses)
    project.delete()
    text = _text(browser)
    assert not any(f'href="{address}"' in text for address in addresses)
    assert "acme" in text


def test_what_a_policy_applied_leads_to_where_the_policies_of_its_project_are_set(browser: Client) -> None:
    own, other = world.make_project("acme"), world.make_project("other")
    Policy.objects.create(project=own, operation="add", action=Policy.Action.AUTO)
    auditlog.record("apply.done", actor="me", project=own)
    assert "#policies" not in _text(browser)
    auditlog.record("apply.done", actor="policy", project=other)
    assert f'href="{reverse("settings")}#policies"' in _text(browser)
    auditlog.record("apply.done", actor="policy", project=own)
    assert f'href="{reverse("project-settings", args=[own.pk])}#policies"' in _text(browser)


def test_the_queries_do_not_grow_with_entries(browser: Client) -> None:
    _text(browser)
    counts = []
    for more in (2, 30):
        for number in range(more):
            auditlog.record("login", project=world.make_project(f"p{more}-{number}"), object_id=f"d{number}")
        with CaptureQueriesContext(connection) as queries:
            _text(browser)
        counts.append(len(queries))
    assert counts[0] == counts[1]
