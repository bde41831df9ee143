"""Handles the agent's hook, which reports that a session ended. Its ids must match a known session; its path is never read."""

import hmac
import json
import re
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db.models import F
from django.utils import timezone

from dreams.lib.files.text import storable
from dreams.models import Project, Session, TranscriptFolder
from dreams.services.hosts import host

MOST_BYTES = 16 * 1024  # in a hook's request: ids and paths; chosen
MOST_FOLDERS = 2_000  # searched for a session, newest projects first
_ONE_A_SECOND = "memoryweb:hook"
_LATELY, MOST_LATELY, LATELY_SECONDS = "memoryweb:ended:{}", 20, 600
_FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")


class Malformed(ValueError):
    """The request is not JSON, or names no session."""


def is_let_in(token: str) -> bool:
    """Whether `token` is the one in the data directory."""
    try:
        ours = (Path(settings.DATA_DIR) / "hook_token").read_text(encoding="ascii").strip()
    except OSError:
        return False
    return bool(ours) and hmac.compare_digest(ours.encode(), token.encode("utf-8", "replace"))


def is_too_soon() -> bool:
    """Whether this is the second request within a second: the tick finds the session anyway."""
    return not cache.add(_ONE_A_SECOND, 1, 1)


def take(body: bytes) -> Project | None:
    """Stores that the named session ended. Returns its project, or None if the session is unknown. Raises Malformed.

    A session that began after the last discovery is recognized by its file name in a known transcript folder.
    """
    named, path = _named(body)
    rows = Session.objects.filter(
        session_id=named, own=False, gone_at__isnull=True, project__host=host()
    ).select_related("project")
    rows = rows.filter(path=path) if path else rows
    found = rows.order_by("-touched_at").first()
    if found is None:
        return _began_lately(named, path)
    Session.objects.filter(pk=found.pk).update(hinted_at=timezone.now())
    return found.project


def _began_lately(named: str, path: str) -> Project | None:
    rows = TranscriptFolder.objects.filter(
        gone_at__isnull=True, project__host=host(), project__gone_at__isnull=True
    )
    newest = F("project__last_session_at").desc(nulls_last=True)
    folders = rows.select_related("project").order_by(newest, "pk")[:MOST_FOLDERS]
    for folder in folders if _FILE_NAME.fullmatch(named) else ():
        file = Path(folder.path, f"{named}.jsonl")
        if path in ("", str(file)) and file.is_file() and not file.is_symlink():
            key = _LATELY.format(folder.project_id)
            cache.set(key, [*cache.get(key, ())[-MOST_LATELY:], named], LATELY_SECONDS)
            return folder.project
    return None


def note_lately(project: Project) -> None:
    """Stores the end of sessions that the hook reported before their files were discovered."""
    if names := cache.get(_LATELY.format(project.pk)):
        project.sessions.filter(session_id__in=names, own=False).update(hinted_at=timezone.now())
        cache.delete(_LATELY.format(project.pk))


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
        or storable(named + path) != named + path
    ):
        raise Malformed
    return named, path
