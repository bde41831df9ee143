"""A digest goes out when something waits, and not again and again."""

from __future__ import annotations

import datetime as dt
import email
import hashlib
import hmac
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from email import policy
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from django_q.models import OrmQ

from dreams import conf, tasks
from dreams.management.base import Refused
from dreams.models import (
    AppliedBatch,
    AuditEntry,
    Channel,
    DreamRun,
    FileChange,
    Hunk,
    JobRun,
    Project,
    Proposal,
    ScheduledJob,
)
from dreams.services import jobs, notify, settings_changes
from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import WaitingKind
from dreams.services.jobs import runs
from dreams.services.notify import digest
from dreams.services.questions import answering
from dreams.services.scheduling import scheduler
from dreams.web.pages import inbox
from tests.world import directory as world, questions as asked, rows
from tests.world.processes.receivers import MailServer, PostServer, serving

pytestmark = pytest.mark.django_db
HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)


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


def daily(now: dt.datetime | None = None) -> dict[str, str]:
    """What a daily job sends: channel → "" or why not."""
    return notify.send_scheduled(now or timezone.now(), DAY)


def _set(key: str, value: object) -> None:
    settings_changes.set_override(key, value, actor="owner")


@pytest.mark.not_on_postgresql
def test_nothing_is_sent_until_somebody_gives_an_address(project: Project) -> None:
    world.three_changes(project)
    assert daily() == {}
    assert notify.retries_due(timezone.now()) == []
    assert not Channel.objects.exists()


def test_the_command_sends_it_where_an_address_is_and_says_what_is_missing_where_none_is(
    project: Project,
) -> None:
    world.three_changes(project)
    with pytest.raises(Refused, match="No address is set for a digest"):
        call_command("digest", send=True)
    with serving(PostServer()) as server:
        _set("digest_webhook", server.url)
        out = StringIO()
        call_command("digest", stdout=out)
        assert "Sent by" not in out.getvalue() and not server.posts
        call_command("digest", send=True, stdout=out)
        assert out.getvalue().endswith("Sent by webhook.\n") and len(server.posts) == 1


def test_what_is_no_dreams_proposal_says_where_it_is_from(project: Project) -> None:
    made = world.three_changes(project)
    Proposal.objects.filter(pk=made.pk).update(origin=Proposal.Origin.SUGGESTED)
    found = digest.collect(timezone.now())
    assert "  app, suggested by your agent: 3 decisions, 4 changes in 3 files" in found.as_text()
    assert found.as_json()["waiting"][0]["origin"] == "suggested"


@pytest.mark.not_on_postgresql
def test_a_mail_says_what_waits_and_where_and_never_what_is_in_it(
    project: Project, post_office: MailServer
) -> None:
    _set("public_url", "https://memory.example.org/")
    proposal = world.three_changes(project)
    assert daily() == {"email": ""}
    mail = email.message_from_bytes(post_office.mails[0], policy=policy.default)
    text = mail.get_content()
    assert mail["To"] == "me@example.org, you@example.org"
    assert mail["Subject"] == "memoryweb: 1 proposal to review"
    assert "app: 3 decisions, 4 changes in 3 files; 3 warnings, just now" in text
    assert f"https://memory.example.org/review/{proposal.public_id}/" in text
    assert "https://memory.example.org/next/" in text
    assert "make fresh" not in text and "make reset" not in text


@pytest.mark.not_on_postgresql
def test_a_webhook_gets_json_whose_signature_its_receiver_can_check(
    project: Project, hook: PostServer
) -> None:
    proposal = world.three_changes(project)
    daily()
    path, headers, body = hook.posts[0]
    seconds, signed = (part.partition("=")[2] for part in headers["X-Memoryweb-Signature"].split(","))
    secret = (Path(settings.DATA_DIR) / "webhook_secret").read_text()
    assert signed == hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    told = json.loads(body)
    assert path == "/hook?token=abc"
    assert [item["id"] for item in told["waiting"]] == [proposal.public_id]
    assert b"make fresh" not in body
    assert AuditEntry.objects.filter(action="digest.sent").count() == 1


@pytest.mark.not_on_postgresql
def test_the_same_things_are_told_again_only_after_twice_the_time(project: Project, hook: PostServer) -> None:
    world.three_changes(project)
    start = timezone.now()
    told = [day for day in range(7) if daily(start + day * DAY)]
    assert told == [0, 2, 6], "after one day, two and four more there was nothing new"


@pytest.mark.not_on_postgresql
def test_what_is_new_is_told_the_next_time(project: Project, hook: PostServer) -> None:
    start = timezone.now()
    DreamRun.objects.create(project=project, status=DreamRun.Status.FAILED, ended_at=start - HOUR)
    daily(start)
    world.three_changes(project)
    daily(start + DAY)
    assert [len(json.loads(body)["waiting"]) for _, _, body in hook.posts] == [0, 1]


@pytest.mark.not_on_postgresql
def test_what_a_policy_applied_is_told_once_though_nothing_waits(project: Project, hook: PostServer) -> None:
    proposal, start = world.three_changes(project), timezone.now()
    done = AppliedBatch.objects.create(proposal=proposal, journal_id="j", at=start - HOUR, actor="policy")
    Hunk.objects.filter(file__proposal=proposal).update(applied_in=done, verdict="approved")
    Proposal.objects.filter(pk=proposal.pk).update(state="applied", by_policy=True)
    found = digest.collect(start)
    assert found.subject == "memoryweb: 3 decisions applied by a policy"
    assert "Applied by a policy, without asking you:\n\n  app: 3 decisions, 1 h ago\n" in found.as_text()
    daily(start)
    daily(start + DAY)
    [item] = [item for _, _, body in hook.posts for item in json.loads(body)["applied"]]
    assert (item["id"], item["decisions"]) == (proposal.public_id, 3)
    taken = AppliedBatch.objects.create(proposal=proposal, journal_id="k", at=start, actor="owner")
    Hunk.objects.filter(pk__in=Hunk.objects.filter(applied_in=done)[:1]).update(undone_in=taken)
    assert digest.collect(start).subject == "memoryweb: 2 decisions applied by a policy"
    AppliedBatch.objects.update(undone_at=start)
    assert digest.collect(start).is_empty


@pytest.mark.not_on_postgresql
def test_only_a_digest_with_something_to_review_leads_to_a_review(project: Project) -> None:
    _set("public_url", "https://memory.example.org/")
    now = timezone.now()
    assert (
        digest.collect(now).as_text()
        == "No proposal is waiting for you, no policy applied anything, and no dream failed.\n"
    )
    DreamRun.objects.create(project=project, status=DreamRun.Status.FAILED, ended_at=now - HOUR)
    found = digest.collect(now)
    assert found.subject == "memoryweb: 1 dream failed"
    failed = found.as_text()
    assert "Dreams that failed:" in failed and "/next/" not in failed and "submit" not in failed
    world.three_changes(project)
    DreamRun.objects.create(project=project, status=DreamRun.Status.FAILED, ended_at=now - HOUR)
    found = digest.collect(now)
    assert found.subject == "memoryweb: 1 proposal to review, 2 dreams failed"
    assert "Go through what waits: https://memory.example.org/next/" in found.as_text()


@pytest.mark.not_on_postgresql
def test_answers_that_wait_to_be_written_are_told_and_open_questions_are_only_counted(tmp_path: Path) -> None:
    project, now = asked.make_project(tmp_path / "asked"), timezone.now()
    asked.ask(project, asked.expired())
    found = digest.collect(now)
    assert found.is_empty and found.subject == "memoryweb: nothing to review"
    assert found.as_text().endswith("\n1 question is open.\n") and found.as_json()["questions"] == 1
    answering.answer(project.questions.get(), "remove", world.ME)
    found = digest.collect(now)
    assert found.subject == "memoryweb: 1 proposal to finish"
    assert "question" not in found.as_text() and found.as_json()["questions"] == 0
    assert "No proposal is waiting" not in found.as_text() and "nothing is written yet" in found.as_text()


def test_nothing_waiting_sends_nothing(project: Project, hook: PostServer) -> None:
    assert daily() == {}
    assert hook.posts == []


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(("status", "says"), [(500, "answered 500"), (302, "Redirects are not followed")])
def test_a_receiver_that_fails_is_tried_again_later_and_later(
    project: Project, hook: PostServer, status: int, says: str
) -> None:
    world.three_changes(project)
    hook.status = status
    start = timezone.now()
    assert says in daily(start)["webhook"]
    assert notify.retry(start + dt.timedelta(minutes=14)) == []
    assert notify.retry(start + dt.timedelta(minutes=16))
    assert notify.retry(start + dt.timedelta(minutes=40)) == []
    channel = Channel.objects.get()
    assert channel.failures == 2 and says in channel.error
    assert [path for path, _, _ in hook.posts] == ["/hook?token=abc"] * 2
    hook.status = 200
    assert notify.retry(start + 3 * HOUR) == ["webhook: sent"]
    assert Channel.objects.get().error == ""
    assert notify.retry(start + 9 * HOUR) == []


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    ("setting", "value"),
    [("DEFAULT_FROM_EMAIL", "me@example.org, you@example.org"), ("EMAIL_HOST", "mail..example.org")],
)
def test_a_sender_or_server_that_can_be_none_is_named_and_does_not_stop_the_webhook(
    project: Project, hook: PostServer, post_office: MailServer, settings: object, setting: str, value: str
) -> None:
    setattr(settings, setting, value)
    world.three_changes(project)
    said = daily()
    assert said["email"].endswith("Check MEMORYWEB_EMAIL_HOST and MEMORYWEB_EMAIL_FROM.")
    assert said["webhook"] == ""
    assert Channel.objects.get(name="email").failures == 1


@pytest.mark.not_on_postgresql
def test_a_mail_server_that_refuses_does_not_stop_the_webhook(
    project: Project, hook: PostServer, post_office: MailServer
) -> None:
    world.three_changes(project)
    post_office.refuses = True
    said = daily()
    assert "does not accept mail for me@example.org" in said["email"]
    assert said["webhook"] == ""


@pytest.mark.not_on_postgresql
def test_the_name_of_a_file_makes_no_line_of_a_mail(project: Project) -> None:
    proposal = world.three_changes(project)
    Proposal.objects.filter(pk=proposal.pk).update(
        state=Proposal.State.SUBMITTED, submitted_at=timezone.now()
    )
    name = "a\n\nAll is well: https://x.example/\x1b[2J.md"
    file = FileChange.objects.filter(proposal=proposal).earliest("pk")
    FileChange.objects.filter(pk=file.pk).update(path=name, rebase_confirmed=False)
    Hunk.objects.filter(file=file).update(verdict=Hunk.Verdict.APPROVED)
    said = digest.collect(timezone.now()).as_text()
    assert "All is well" in said and "\x1b" not in said
    assert not [line for line in said.splitlines() if line.startswith("All is well")]


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("channel", ["webhook", "email"])
def test_a_receiver_that_answers_a_byte_at_a_time_keeps_nobody_waiting(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: object, channel: str
) -> None:
    world.three_changes(project)
    monkeypatch.setattr(notify, "ALL_SECONDS", 0.5)
    ended = threading.Event()

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            while not ended.wait(0.1):
                connection.sendall(b"2")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        threading.Thread(target=drip, args=[listening], daemon=True).start()
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port  # type: ignore[attr-defined] # pytest-django's own object
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined] # as above
        threading.Timer(10, ended.set).start()  # without an end of ours
        to = f"http://127.0.0.1:{port}/" if channel == "webhook" else "me@example.org"
        _set(f"digest_{channel}", to)
        said = notify.send(actor="me")[channel]
        assert "did not answer within" in said and not ended.is_set()
        ended.set()


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("late", [b"EHLO", b"RCPT"])
def test_a_mail_that_was_given_up_is_not_sent_when_its_server_wakes_up(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: object, late: bytes
) -> None:
    world.three_changes(project)
    monkeypatch.setattr(notify, "ALL_SECONDS", 0.5)
    heard = list[bytes]()
    given_up, ended = threading.Event(), threading.Event()

    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(b"220 ready\r\n")
            while said := connection.recv(4096):
                heard.append(said[:4].upper())
                if heard[-1] == late:
                    given_up.wait(10)
                connection.sendall(b"354 go on\r\n" if heard[-1] == b"DATA" else b"250 ok\r\n")
        ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, args=[listening], daemon=True).start()
        settings.EMAIL_HOST, settings.EMAIL_PORT = listening.getsockname()  # type: ignore[attr-defined] # pytest-django's own object
        settings.EMAIL_USE_TLS = False  # type: ignore[attr-defined] # as above
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined] # as above
        _set("digest_email", "me@example.org")
        assert "did not answer within" in notify.send(actor="me")["email"]
        given_up.set()
        assert ended.wait(10) and heard[-1] != b"QUIT"
        assert b"DATA" not in heard


def test_a_mail_server_without_encryption_is_told_with_the_setting_for_it(
    project: Project, post_office: MailServer, settings: object
) -> None:
    world.three_changes(project)
    settings.EMAIL_USE_TLS = True  # type: ignore[attr-defined] # pytest-django's own object
    said = daily()["email"]
    assert "STARTTLS" in said and said.endswith("by server. Check MEMORYWEB_EMAIL_SECURITY.")


def test_a_digest_that_still_waits_to_be_tried_again_has_failed_and_not_had_nothing_to_tell(
    project: Project, hook: PostServer
) -> None:
    world.three_changes(project)
    hook.status = 500
    job = ScheduledJob.objects.get()
    for failures in (1, 2, 3):
        jobs.run_here(runs.start_now(job, actor=""))
        job.refresh_from_db()
        assert job.failures == failures
    assert "answered 500" in JobRun.objects.first().text
    assert len(hook.posts) == 1


def test_two_workers_send_one_digest(project: Project, hook: PostServer) -> None:
    world.three_changes(project)
    now = timezone.now()
    claimed = Channel.objects.create(name="webhook", next_at=now + dt.timedelta(minutes=5))
    assert daily(now) == {}
    claimed.delete()
    assert daily(now) == {"webhook": ""}


def test_one_sent_by_hand_and_one_that_is_due_at_the_same_moment_are_one(
    project: Project, hook: PostServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.three_changes(project)
    now, post, beside = timezone.now(), notify.post, []

    def beside_the_job(found: digest.Digest, url: str) -> None:
        beside.append(daily(now))
        beside.append(notify.send(now, actor="owner"))
        post(found, url)

    monkeypatch.setattr(notify, "post", beside_the_job)
    assert notify.send(now, actor="owner") == {"webhook": ""}
    assert beside == [{}, {"webhook": notify.UNDER_WAY}]
    assert len(hook.posts) == 1


def test_a_first_one_that_is_cut_off_is_not_said_to_be_sent_again(
    project: Project, hook: PostServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    world.three_changes(project)
    now = timezone.now()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(notify, "post", die)
        daily(now)
    assert Channel.objects.get().error == ""
    assert notify.send(now, actor="owner") == {"webhook": notify.UNDER_WAY}
    assert notify.send(now + dt.timedelta(minutes=6), actor="owner") == {"webhook": ""}


def test_one_sent_by_hand_and_a_retry_at_the_same_moment_are_one(
    project: Project, hook: PostServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.three_changes(project)
    hook.status, now = 500, timezone.now()
    daily(now)
    hook.status, post, beside = 200, notify.post, []

    def beside_the_retry(found: digest.Digest, url: str) -> None:
        beside.append((notify.send(later, actor="owner"), notify.retry(later), notify.failing()))
        post(found, url)

    monkeypatch.setattr(notify, "post", beside_the_retry)
    later = now + dt.timedelta(minutes=20)
    assert notify.retry(later) == ["webhook: sent"]
    assert beside == [({"webhook": notify.UNDER_WAY}, [], {"webhook": notify.SENDING})]
    assert len(hook.posts) == 2
    assert notify.failing() == {}


def test_one_sent_by_hand_waits_for_no_pause_after_a_failure(project: Project, hook: PostServer) -> None:
    world.three_changes(project)
    hook.status, now = 500, timezone.now()
    daily(now)
    hook.status = 200
    assert notify.send(now, actor="owner") == {"webhook": ""}


def test_a_tick_hands_a_due_digest_to_the_queue_and_later_one_that_failed(
    project: Project, hook: PostServer
) -> None:
    world.three_changes(project)
    Project.objects.update(root="")  # else the tick finds that its config folder is not watched
    hook.status = 500
    now = timezone.now()
    ScheduledJob.objects.update(next_at=now, due_at=now)
    scheduler.tick(now)
    assert [task.func() for task in OrmQ.objects.all()] == ["dreams.tasks.run_job"]
    assert tasks.run_job(JobRun.objects.get().pk) == "Digest: Failed"
    assert "answered 500" in JobRun.objects.get().text
    OrmQ.objects.all().delete()
    ScheduledJob.objects.update(next_at=now + DAY)  # daily at eight, which may be within these minutes
    scheduler.tick(now + dt.timedelta(minutes=20))
    assert [task.func() for task in OrmQ.objects.all()] == ["dreams.tasks.retry_digests"]


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


def test_every_failed_dream_is_counted_though_twenty_are_listed(project: Project) -> None:
    now = timezone.now()
    for _ in range(23):
        rows.make_dream(project, DreamRun.Status.FAILED, ended_at=now - HOUR)
    found = digest.collect(now)
    assert found.subject == "memoryweb: 23 dreams failed"
    assert found.as_text().count("  app, 1 h ago") == 20 and "\nand 3 more\n" in found.as_text()
    assert len(found.as_json()["failed"]) == len(found.ids) == digest.MOST, "a message stays small"


def test_all_that_is_to_review_is_counted_also_beyond_what_the_inbox_lists(project: Project) -> None:
    one = rows.make_proposal(project)
    more = Proposal.objects.bulk_create(
        Proposal(project=project, public_id=f"p{number}", origin="edit") for number in range(waiting.MOST)
    )
    files = FileChange.objects.bulk_create(FileChange(proposal=made, path="a.md") for made in more)
    Hunk.objects.bulk_create(
        Hunk(file=file, hunk_id="h", number=0, base_start=0, base_count=0, new_start=0, new_count=1)
        for file in files
    )
    found = digest.collect(timezone.now())
    assert (found.to_review, found.to_finish) == (waiting.MOST + 1, 0)
    assert found.more == waiting.MOST + 1 - len(found.waiting)
    listed = inbox.listing(timezone.now(), inbox.InboxQuery())
    assert (listed.to_review, listed.to_finish) == (waiting.MOST + 1, 0), "as the title does"
    assert (listed.waits, listed.to_go_through) == (waiting.MOST + 1, waiting.MOST + 1)
    Hunk.objects.filter(file__proposal=one).update(verdict=Hunk.Verdict.APPROVED)
    found = digest.collect(timezone.now())
    assert (found.to_review, found.to_finish) == (waiting.MOST, 1)


@pytest.mark.parametrize(("kind", "told"), [(WaitingKind.REVIEW, True), (WaitingKind.CONFIRM, False)])
def test_warnings_are_told_as_in_the_inbox_only_of_what_is_to_review(kind: WaitingKind, told: bool) -> None:
    """Whoever decided has seen them."""
    now = timezone.now()
    item = digest.DigestItem("p1", "app", now, "", kind=kind.value, why="It waits.", warnings=3)
    assert ("3 warnings" in digest.Digest(now, "", (item,), ()).as_text()) is told
