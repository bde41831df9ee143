"""Why a digest did not go out."""

from __future__ import annotations


class NotSent(Exception):
    """A digest did not go out; the message names the place and the remedy, never a password."""
