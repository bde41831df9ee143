"""A digest goes out when something waits, and not again and again."""

from __future__ import annotations

import datetime as dt
import email
import hashlib
import hmac
import json
from collections.abc import Iterator
from email import policy
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from dreams import conf
from dreams.models import AuditEntry, Channel, DreamRun, Project
from dreams.services import notify, settings_changes
from dreams.services.scheduling import scheduler
from tests.world import directory as world
from tests.world.processes.receivers import MailServer, PostServer, serving

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = dt.timedelta(hours=1)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path / "claude")


@pytest.fixture
def hook() -> Iterator[PostServer]:
    with serving(PostServer()) as server:
        _set("digest_webhook", server.url)
        yield server


@pytest.fixture
def post_office(settings: object) -> Iterator[MailServer]:
    with serving(MailServer()) as server:
        settings.EMAIL_HOST = "127.0.0.1"  # type: ignore[attr-defined] # pytest-django's own object
        settings.EMAIL_PORT = server.server_address[1]  # type: ignore[attr-defined] # as above
        settings.EMAIL_USE_TLS = False  # type: ignore[attr-defined] # as above
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined] # as above
        _set("digest_email", "me@example.org, you@example.org")
        yield server


def _set(key: str, value: object) -> None:
    settings_changes.set_override(key, value, actor="owner")


def test_nothing_is_sent_until_somebody_gives_an_address(project: Project) -> None:
    world.three_changes(project)
    assert notify.send_due() == []
    assert notify.due(timezone.now()) == []
    assert not Channel.objects.exists()


def test_a_mail_says_what_waits_and_where_and_never_what_is_in_it(
    project: Project, post_office: MailServer
) -> None:
    _set("public_url", "https://memory.example.org/")
    proposal = world.three_changes(project)
    assert notify.send_due() == ["email: sent"]
    mail = email.message_from_bytes(post_office.mails[0], policy=policy.default)
    text = mail.get_content()
    assert mail["To"] == "me@example.org, you@example.org"
    assert mail["Subject"] == "memoryweb: 1 proposal to review"
    assert "app: 3 decisions, 4 changes in 3 files, 3 warnings, just now" in text
    assert f"https://memory.example.org/review/{proposal.public_id}/" in text
    assert "https://memory.example.org/next/" in text
    assert "make fresh" not in text and "make reset" not in text


def test_a_webhook_gets_json_whose_signature_its_receiver_can_check(
    project: Project, hook: PostServer
) -> None:
    proposal = world.three_changes(project)
    notify.send_due()
    path, headers, body = hook.posts[0]
    seconds, signed = (part.partition("=")[2] for part in headers["X-Memoryweb-Signature"].split(","))
    secret = (Path(settings.DATA_DIR) / "webhook_secret").read_text()
    assert signed == hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    told = json.loads(body)
    assert path == "/hook?token=abc"
    assert [item["id"] for item in told["waiting"]] == [proposal.public_id]
    assert b"make fresh" not in body
    assert AuditEntry.objects.filter(action="digest.sent").count() == 1


def test_the_same_things_are_told_again_only_after_twice_the_hours(
    project: Project, hook: PostServer
) -> None:
    world.three_changes(project)
    start = timezone.now()
    for hours in range(0, 24 * 7):
        notify.send_due(start + hours * HOUR)
    told = len(hook.posts)
    # At 0, 48 h and 144 h: after one day, two and four more there was nothing new.
    assert told == 3


def test_what_is_new_is_told_once_the_hours_have_passed(project: Project, hook: PostServer) -> None:
    start = timezone.now()
    DreamRun.objects.create(project=project, status=DreamRun.Status.FAILED, ended_at=start - HOUR)
    notify.send_due(start)
    world.three_changes(project)
    notify.send_due(start + 2 * HOUR)
    assert len(hook.posts) == 1
    notify.send_due(start + 25 * HOUR)
    assert [len(json.loads(body)["waiting"]) for _, _, body in hook.posts] == [0, 1]


def test_nothing_waiting_sends_nothing(project: Project, hook: PostServer) -> None:
    assert notify.send_due() == []
    assert hook.posts == []


@pytest.mark.parametrize(("status", "says"), [(500, "answered 500"), (302, "Redirects are not followed")])
def test_a_receiver_that_fails_is_tried_again_later_and_later(
    project: Project, hook: PostServer, status: int, says: str
) -> None:
    world.three_changes(project)
    hook.status = status
    start = timezone.now()
    assert says in notify.send_due(start)[0]
    assert notify.send_due(start + dt.timedelta(minutes=14)) == []
    assert notify.send_due(start + dt.timedelta(minutes=16))
    assert notify.send_due(start + dt.timedelta(minutes=40)) == []
    channel = Channel.objects.get()
    assert channel.failures == 2 and says in channel.error
    assert [path for path, _, _ in hook.posts] == ["/hook?token=abc"] * 2
    hook.status = 200
    assert notify.send_due(start + 3 * HOUR) == ["webhook: sent"]
    assert Channel.objects.get().error == ""


def test_a_mail_server_that_refuses_does_not_stop_the_webhook(
    project: Project, hook: PostServer, post_office: MailServer
) -> None:
    world.three_changes(project)
    post_office.refuses = True
    said = notify.send_due()
    assert any("does not take mail for me@example.org" in line for line in said)
    assert "webhook: sent" in said


def test_a_mail_server_without_encryption_is_told_with_the_setting_for_it(
    project: Project, post_office: MailServer, settings: object
) -> None:
    world.three_changes(project)
    settings.EMAIL_USE_TLS = True  # type: ignore[attr-defined] # pytest-django's own object
    [said] = notify.send_due()
    assert "STARTTLS" in said and said.endswith("Look at MEMORYWEB_EMAIL_SECURITY.")


def test_two_workers_send_one_digest(project: Project, hook: PostServer) -> None:
    world.three_changes(project)
    now = timezone.now()
    claimed = Channel.objects.create(name="webhook", next_at=now + dt.timedelta(minutes=5))
    assert notify.send_due(now) == []
    claimed.delete()
    assert notify.send_due(now) == ["webhook: sent"]


def test_a_tick_hands_a_due_digest_to_the_queue(project: Project, hook: PostServer) -> None:
    from django_q.models import OrmQ

    world.three_changes(project)
    scheduler.tick()
    assert [task.func() for task in OrmQ.objects.all()] == ["dreams.tasks.send_digests"]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("digest_email", "me@example.org, nobody", "“nobody” is not a mail address"),
        ("digest_webhook", "http://example.org/x", "must start with https://"),
        ("digest_webhook", "ftp://example.org/x", "is not an address that starts with https://"),
        ("digest_webhook", "https://example.org:port/", "is not an address"),
        ("public_url", "desk", "is not an address that starts with https://"),
    ],
)
def test_an_address_that_cannot_work_is_refused_when_it_is_set(key: str, value: str, says: str) -> None:
    with pytest.raises(conf.BadValue, match=says):
        _set(key, value)
