"""The settings page says where a digest goes and how it went, and sends one on demand."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from dreams.models import AuditEntry
from dreams.services import settings_changes
from tests.world import directory as world
from tests.world.processes.receivers import PostServer, serving

pytestmark = pytest.mark.django_db


def test_sending_without_an_address_says_what_is_missing(browser: Client) -> None:
    page = browser.post("/settings/digest/", follow=True).content.decode()
    assert "no address is set" in page


def test_a_digest_sent_by_hand_is_shown_with_its_receiver_but_not_the_receivers_secret(
    browser: Client, tmp_path: Path
) -> None:
    world.three_changes(world.make_project(tmp_path / "claude"))
    with serving(PostServer()) as hook:
        settings_changes.set_override("digest_webhook", hook.url, actor="owner")
        page = browser.post("/settings/digest/", follow=True).content.decode()
    assert "Webhook: sent." in page and len(hook.posts) == 1
    assert "Webhook to 127.0.0.1" in page and "Last sent" in page


def test_a_receiver_that_is_gone_is_named_with_the_reason(browser: Client) -> None:
    with serving(PostServer()) as hook:
        settings_changes.set_override("digest_webhook", hook.url, actor="owner")
    page = browser.post("/settings/digest/", follow=True).content.decode()
    assert "cannot be reached: Connection refused" in page


def test_the_audit_log_keeps_the_host_of_a_webhook_and_not_its_secret(browser: Client) -> None:
    address = "https://me:secretpart@hooks.example.org/services/" + "T0" + "secretpart"
    settings_changes.set_override("digest_webhook", address, actor="owner")
    settings_changes.reset_override("digest_webhook", actor="owner")
    told = [str(entry.data) for entry in AuditEntry.objects.filter(action="setting.changed")]
    assert len(told) == 2 and all("hooks.example.org" in one for one in told)
    assert not any("secretpart" in one for one in told)
