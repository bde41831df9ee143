"""Telling a person outside the pages that something waits: a digest by e-mail and by webhook, off by default."""

from dreams.services.notify.digest import Digest, collect
from dreams.services.notify.sending import configured, failing, retries_due, retry, send, send_scheduled

__all__ = ["Digest", "collect", "configured", "failing", "retries_due", "retry", "send", "send_scheduled"]
