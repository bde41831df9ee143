"""A digest as a signed JSON POST.

The header `X-Memoryweb-Signature: t=<seconds>,v1=<hex>` holds HMAC-SHA256 of `<seconds>.<body>` with the secret in
the data directory's file `webhook_secret` (or `MEMORYWEB_WEBHOOK_SECRET`): the time is signed too, so that a receiver
can turn an old post away. `X-Memoryweb-Delivery` is the same for the same content.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message
from typing import IO

from django.conf import settings

from dreams import conf
from dreams.services.notify.digest import Digest
from dreams.services.notify.mail import NotSent
from memoryweb import datadir

TIMEOUT_SECONDS = 10.0


def send(digest: Digest, url: str) -> None:
    """POST `digest` to `url`. Raises NotSent with the remedy. A redirect is not followed."""
    if trouble := conf.bad_receiver(url):
        raise NotSent(trouble)
    body = json.dumps(digest.as_json(), ensure_ascii=False, separators=(",", ":")).encode()
    headers = _headers(body, int(digest.at.timestamp()))
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - http and https only, checked above
    place = urllib.parse.urlsplit(url).netloc.rpartition("@")[2]
    try:
        with _opener().open(request, timeout=TIMEOUT_SECONDS):
            return
    except urllib.error.HTTPError as error:
        error.close()
        raise NotSent(f"{place} answered {error.code}. {_remedy(error.code)}") from error
    except urllib.error.URLError as error:
        raise NotSent(f"{place} cannot be reached: {_reason(error)}.") from error
    except TimeoutError as error:
        raise NotSent(f"{place} did not answer within {TIMEOUT_SECONDS:g} s.") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSent(f"{place} did not answer as a web server does ({type(error).__name__}).") from error


def signature(body: bytes, seconds: int, secret: str) -> str:
    """The value of the signature header."""
    signed = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={signed}"


def _headers(body: bytes, seconds: int) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "memoryweb",
        "X-Memoryweb-Delivery": hashlib.sha256(body).hexdigest()[:32],
        "X-Memoryweb-Signature": signature(body, seconds, _secret()),
    }


def _secret() -> str:
    return str(settings.WEBHOOK_SECRET) or datadir.webhook_secret(settings.DATA_DIR)


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the post to a place that nobody wrote into the settings."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Stay)


def _reason(error: urllib.error.URLError) -> str:
    reason = error.reason
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:g} s"
    if isinstance(reason, ssl.SSLError):
        return f"its certificate is not accepted ({reason.reason})"
    return getattr(reason, "strerror", None) or str(reason)


def _remedy(code: int) -> str:
    if code in (301, 302, 303, 307, 308):
        return "Redirects are not followed; give the address it leads to."
    if code in (401, 403):
        return "Its owner must let this address in."
    return "Look at the address, or at the receiver's log."
