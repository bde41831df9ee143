"""Sends the digest of waiting items by e-mail and webhook. Off by default.

This module decides whether to send one when its job is due, and saves the result; `digest` builds the content.

New items are always sent. The same items are sent again as a reminder after twice, four times … the time between two
digests, at most a week. A failed digest is tried again after 15 min, doubling up to a day.
"""

import datetime as dt
import hashlib
import hmac
import http.client
import json
import logging
import smtplib
import socket
import ssl
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import suppress
from email.message import Message
from typing import IO, Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Case, Q, Value, When
from django.utils import timezone

from dreams import conf
from dreams.lib.files import text
from dreams.models import Channel
from dreams.services import auditlog, secret_paths
from dreams.services.notify.digest import Digest, collect
from memoryweb import datadir

# --- Sending -------------------------------------------------------------------------------------------------------


class NotSent(Exception):
    """A digest was not sent; the message names the server and the remedy, never a password."""


def addresses(setting: str) -> list[str]:
    """The addresses in a comma-separated setting."""
    return [part.strip() for part in setting.split(",") if part.strip()]


class _Mail(EmailMessage):
    """A mail that is not sent any more once it was given up: it would be sent again."""

    is_given_up = False

    def message(self, *args: Any, **more: Any) -> Any:
        """Called once the server is ready to take it."""
        if self.is_given_up:
            raise TimeoutError
        return super().message(*args, **more)

    def give_up(self) -> None:
        self.is_given_up = True
        line = getattr(getattr(self.connection, "connection", None), "sock", None)
        if line is not None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)


def send_mail(digest: Digest, to: str) -> None:
    """Send one mail to all addresses in `to`. Raises NotSent with the remedy."""
    if not settings.EMAIL_HOST:
        raise NotSent("No mail server is set. Set MEMORYWEB_EMAIL_HOST and start again.")
    mask = secret_paths.known().mask
    message = _Mail(
        subject=mask(digest.subject),
        body=mask(digest.as_text()),
        to=addresses(to),
        # Prevents out-of-office replies.
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        _in_time(message.send, message.give_up)
    except smtplib.SMTPAuthenticationError as error:
        raise NotSent(
            f"{settings.EMAIL_HOST} refused the login. Check MEMORYWEB_EMAIL_USER and its password."
        ) from error
    except smtplib.SMTPRecipientsRefused as error:
        refused = ", ".join(str(address) for address in error.recipients)
        raise NotSent(f"{settings.EMAIL_HOST} does not accept mail for {refused}.") from error
    except smtplib.SMTPNotSupportedError as error:
        said = str(error).rstrip(".")
        raise NotSent(f"{settings.EMAIL_HOST}: {said}. Check MEMORYWEB_EMAIL_SECURITY.") from error
    except smtplib.SMTPException as error:
        raise NotSent(f"{settings.EMAIL_HOST} did not accept the mail ({type(error).__name__}).") from error
    except OSError as error:
        where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        remedy = "Check MEMORYWEB_EMAIL_HOST and MEMORYWEB_EMAIL_PORT."
        raise NotSent(f"{where} cannot be reached: {error.strerror or error}. {remedy}") from error
    except ValueError as error:  # the sender or the server; what is in `to` was checked when it was set
        remedy = "Check MEMORYWEB_EMAIL_HOST and MEMORYWEB_EMAIL_FROM."
        raise NotSent(f"The mail cannot be sent: {error}. {remedy}") from error


# For a mail server or webhook, as a worker waits for it: for a part of an answer, and for all of it.
TIMEOUT_SECONDS, ALL_SECONDS = 10.0, 30.0


def _in_time(talk: Callable[[], object], give_up: Callable[[], object] = lambda: None) -> None:
    """Raises TimeoutError for a server that answers a byte at a time, which would keep a worker for hours, after `give_up`."""
    failed: list[Exception] = []

    def run() -> None:
        try:
            talk()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="digest", daemon=True)
    thread.start()
    thread.join(ALL_SECONDS)
    if thread.is_alive():
        give_up()
        raise TimeoutError(f"it did not answer within {ALL_SECONDS:g} s")
    if failed:
        raise failed.pop()  # kept in the list, it would keep its own connection open


def post(digest: Digest, url: str) -> None:
    """POST `digest` to `url`, without following redirects. Raises NotSent with the remedy."""
    if trouble := conf.bad_receiver(url):
        raise NotSent(trouble)
    told = secret_paths.known().mask.deep(digest.as_json())
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    headers = _headers(body, int(digest.at.timestamp()))
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - http and https only, checked above
    place = urllib.parse.urlsplit(url).netloc.rpartition("@")[2]
    try:
        _in_time(lambda: urllib.request.build_opener(_Stay).open(request, timeout=TIMEOUT_SECONDS).close())
    except urllib.error.HTTPError as error:
        error.close()
        raise NotSent(f"{place} answered {error.code}. {_remedy(error.code)}") from error
    except urllib.error.URLError as error:
        raise NotSent(f"{place} cannot be reached: {_reason(error)}.") from error
    except TimeoutError as error:
        raise NotSent(f"{place} did not answer within {TIMEOUT_SECONDS:g} s.") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSent(f"{place} did not answer like a web server ({type(error).__name__}).") from error


def signature(body: bytes, seconds: int, secret: str) -> str:
    """The value of the signature header."""
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={signed}"


def _headers(body: bytes, seconds: int) -> dict[str, str]:
    secret = str(settings.WEBHOOK_SECRET) or datadir.webhook_secret(settings.DATA_DIR)
    return {
        "Content-Type": "application/json",
        "User-Agent": "memoryweb",
        "X-Memoryweb-Delivery": hashlib.sha256(body).hexdigest()[:32],
        "X-Memoryweb-Signature": signature(body, seconds, secret),
    }


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the digest to an address that nobody configured."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def _reason(error: urllib.error.URLError) -> str:
    reason = error.reason
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:g} s"
    if isinstance(reason, ssl.SSLError):
        return f"its certificate is not accepted ({reason.reason})"
    return getattr(reason, "strerror", None) or str(reason)


def _remedy(code: int) -> str:
    if code in (301, 302, 303, 307, 308):
        return "Redirects are not followed; enter the address it leads to."
    if code in (401, 403):
        return "Its owner must allow this address."
    return "Check the address, or the receiver’s log."


log = logging.getLogger(__name__)

WEEK = dt.timedelta(days=7)  # the longest time between two reminders; chosen
DAY = dt.timedelta(days=1)  # the longest time between two tries; chosen
RETRY = dt.timedelta(minutes=15)  # doubled with each failure, up to a day; chosen
#: A sending process may be killed; after this time another one may send.
LEASE = dt.timedelta(minutes=5)
#: The error of one that failed while it is tried again, which tells the lease from a pause after a failure.
SENDING = "It is being sent again."
_FREE_AGAIN = text.plural(LEASE // dt.timedelta(minutes=1), "minute")
UNDER_WAY = f"It is being sent already. If that was stopped, it can be sent again after {_FREE_AGAIN}."


def configured() -> dict[str, str]:
    """Channel → address or URL, for those that are configured."""
    config = conf.current()
    wanted = {
        Channel.Name.EMAIL.value: config.digest_email,
        Channel.Name.WEBHOOK.value: config.digest_webhook,
    }
    return {name: to for name, to in wanted.items() if to}


def send_scheduled(now: dt.datetime, period: dt.timedelta) -> dict[str, str]:
    """Send the scheduled digest: channel → "" or the problem; omits channels with nothing to send.

    `period` is the time between two digests. A failing channel does not stop the other.
    """
    return _each(configured(), now, period)


def retries_due(now: dt.datetime) -> list[str]:
    """Channels whose last digest failed and is due to be tried again."""
    if not (names := configured()):
        return []
    rows = Channel.objects.filter(_may_send(now), name__in=names, failures__gt=0, next_at__isnull=False)
    return list(rows.values_list("name", flat=True))


def failing() -> dict[str, str]:
    """Channel → why its last digest failed, for those to be tried again."""
    rows = Channel.objects.filter(name__in=configured(), failures__gt=0)
    return dict(rows.values_list("name", "error"))


def retry(now: dt.datetime | None = None) -> list[str]:
    """Try failed channels again; returns a line with the result of each."""
    at = now or timezone.now()
    return [f"{name}: {problem or 'sent'}" for name, problem in _each(retries_due(at), at, None).items()]


def send(now: dt.datetime | None = None, *, actor: str) -> dict[str, str]:
    """Send the digest now to every configured channel, even without news: channel → "" or the problem."""
    at = now or timezone.now()
    return {name: _send_by_hand(_row(name), to, at, actor) for name, to in configured().items()}


def _send_by_hand(row: Channel, to: str, now: dt.datetime, actor: str) -> str:
    # A person does not wait for the pause after a failure, only for another process that sends.
    free = _claim(row, _may_send(now) | Q(failures__gt=0) & ~Q(error=SENDING), now)
    return _deliver(row, collect(now), to, now, actor) if free else UNDER_WAY


def _claim(row: Channel, may_send: Q, now: dt.datetime) -> bool:
    error = Case(When(failures__gt=0, then=Value(SENDING)), default=Value(""))
    return bool(Channel.objects.filter(may_send, pk=row.pk).update(next_at=now + LEASE, error=error))


def _each(names: Iterable[str], now: dt.datetime, period: dt.timedelta | None) -> dict[str, str]:
    found = {name: _send_one(name, now, period) for name in names}
    return {name: problem for name, problem in found.items() if problem is not None}


def _send_one(name: str, now: dt.datetime, period: dt.timedelta | None) -> str | None:
    """ "" or the problem; None if there is nothing to send or another process sends. Without `period` it is a retry."""
    row = _row(name)
    if not _claim(row, _may_send(now), now):
        return None
    digest = collect(now, row.sent_at)
    if digest.is_empty or (period and _is_too_soon(row, digest, now, period)):
        Channel.objects.filter(pk=row.pk).update(next_at=None, failures=0, error="")
        return None
    return _deliver(row, digest, configured().get(name, ""), now, "")


def _may_send(now: dt.datetime) -> Q:
    """No pause, or it is over. No pause is longer than a day, so a later time is from a clock that ran ahead."""
    return Q(next_at__isnull=True) | Q(next_at__lte=now) | Q(next_at__gt=now + DAY)


def _is_too_soon(row: Channel, digest: Digest, now: dt.datetime, period: dt.timedelta) -> bool:
    """Whether there is no news and the next reminder is more than half a period away."""
    if row.sent_at is None or row.sent_at > now or set(digest.ids) - set(row.told):
        return False
    pause = min(period * 2 ** min(row.reminders + 1, 10), max(WEEK, period))
    opens: dt.datetime = row.sent_at + pause - period / 2
    return opens > now


def _deliver(row: Channel, digest: Digest, to: str, now: dt.datetime, actor: str) -> str:
    """Send and save the result; returns "" or the problem."""
    try:
        (send_mail if row.name == Channel.Name.EMAIL else post)(digest, to)
    except NotSent as error:
        return _failed(row, str(error), now)
    is_new = bool(set(digest.ids) - set(row.told))
    Channel.objects.filter(pk=row.pk).update(
        sent_at=now,
        told=digest.ids,
        reminders=0 if is_new else row.reminders + 1,
        next_at=None,
        failures=0,
        error="",
    )
    auditlog.record("digest.sent", actor=actor, object_id=row.name, told=digest.ids)
    return ""


def _failed(row: Channel, problem: str, now: dt.datetime) -> str:
    log.warning("digest by %s: %s", row.name, problem)
    pause = min(RETRY * 2 ** min(row.failures, 10), DAY)
    Channel.objects.filter(pk=row.pk).update(
        failures=row.failures + 1, error=text.storable(problem, 500), next_at=now + pause
    )
    return problem


def _row(name: str) -> Channel:
    return Channel.objects.get_or_create(name=name)[0]
