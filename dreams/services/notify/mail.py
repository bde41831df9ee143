"""A digest as a mail, through Django's mail settings (`MEMORYWEB_EMAIL_*`)."""

from __future__ import annotations

import smtplib

from django.conf import settings
from django.core.mail import EmailMessage

from dreams.services.notify.digest import Digest

# Why a digest did not go out.


class NotSent(Exception):
    """A digest did not go out; the message names the place and the remedy, never a password."""


def addresses(setting: str) -> list[str]:
    """The addresses of the setting, which separates them by commas."""
    return [part.strip() for part in setting.split(",") if part.strip()]


def send(digest: Digest, to: str) -> None:
    """One mail to all addresses in `to`. Raises NotSent with the remedy."""
    if not settings.EMAIL_HOST:
        raise NotSent("No mail server is set. Set MEMORYWEB_EMAIL_HOST and start again.")
    message = EmailMessage(
        subject=digest.subject,
        body=digest.as_text(),
        to=addresses(to),
        # Out-of-office answers to a robot help nobody.
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except smtplib.SMTPAuthenticationError as error:
        raise NotSent(
            f"{settings.EMAIL_HOST} refused the login. Look at MEMORYWEB_EMAIL_USER and its password."
        ) from error
    except smtplib.SMTPRecipientsRefused as error:
        refused = ", ".join(str(address) for address in error.recipients)
        raise NotSent(f"{settings.EMAIL_HOST} does not take mail for {refused}.") from error
    except smtplib.SMTPNotSupportedError as error:
        said = str(error).rstrip(".")
        raise NotSent(f"{settings.EMAIL_HOST}: {said}. Look at MEMORYWEB_EMAIL_SECURITY.") from error
    except smtplib.SMTPException as error:
        raise NotSent(f"{settings.EMAIL_HOST} did not take the mail ({type(error).__name__}).") from error
    except OSError as error:
        where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
        remedy = "Look at MEMORYWEB_EMAIL_HOST and MEMORYWEB_EMAIL_PORT."
        raise NotSent(f"{where} cannot be reached: {error.strerror or error}. {remedy}") from error
