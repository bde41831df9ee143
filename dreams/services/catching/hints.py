"""What the agent's hook says: that a session ended. Its ids must match a session that is known; its path is never read."""

from __future__ import annotations

import hmac
import json
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from dreams.models import Session
from dreams.services.hosts import host

MOST_BYTES = 16 * 1024
_ONE_A_SECOND = "memoryweb:hook"


class Malformed(ValueError):
    """No hint: not JSON, or no session is named."""


def is_let_in(token: str) -> bool:
    """Whether it is the token in the data directory."""
    try:
        ours = (Path(settings.DATA_DIR) / "hook_token").read_text(encoding="ascii").strip()
    except OSError:
        return False
    return bool(ours) and hmac.compare_digest(ours.encode(), token.encode("utf-8", "replace"))


def is_too_soon() -> bool:
    """More than one in a second: the tick sees the session anyway."""
    return not cache.add(_ONE_A_SECOND, 1, 1)


def take(body: bytes) -> Session | None:
    """Note that the named session ended; None where no such session is known. Raises Malformed."""
    named, path = _named(body)
    rows = Session.objects.filter(
        session_id=named, own=False, gone_at__isnull=True, project__host=host()
    ).select_related("project")
    rows = rows.filter(path=path) if path else rows
    found = rows.order_by("-touched_at").first()
    if found is not None:
        Session.objects.filter(pk=found.pk).update(hinted_at=timezone.now())
    return found


def _named(body: bytes) -> tuple[str, str]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed from error
    named = found.get("session_id") if isinstance(found, dict) else None
    path = found.get("transcript_path", "") if isinstance(found, dict) else ""
    if (
        not isinstance(named, str)
        or not isinstance(path, str)
        or not 0 < len(named) <= 200
        or "\0" in named + path
    ):
        raise Malformed
    return named, path
