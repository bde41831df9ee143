"""Notes on sessions: kept as blobs without their secrets, found by search with the session's title."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from django.db import transaction

from dreams.lib.files import text as text_files
from dreams.lib.secrets import redact
from dreams.models import Session, SessionNotes
from dreams.services import blobs


def keep(
    session: int, origin: SessionNotes.Origin, text: str, *, at: dt.datetime, size: int, mtime_ns: int = 0
) -> SessionNotes:
    """Keep `text` as the session's notes of this origin, in place of earlier ones."""
    data = redact.redact(text_files.storable(text)).encode()
    with transaction.atomic():
        row, _ = SessionNotes.objects.update_or_create(
            session_id=session,
            origin=origin,
            defaults={"sha256": blobs.put(data), "size": size, "mtime_ns": mtime_ns, "written_at": at},
        )
        # Search takes the notes in together with the title.
        Session.objects.filter(pk=session).update(title_indexed_at=None)
    return row


def texts(sessions: Iterable[int]) -> dict[int, list[str]]:
    """The texts of sessions' notes, by session. Two queries; of many sessions one more for each 500."""
    rows = SessionNotes.objects.filter(session__in=list(sessions)).order_by("session", "origin")
    named = list(rows.values_list("session_id", "sha256"))
    kept = blobs.get_many(sha for _, sha in named)
    found: dict[int, list[str]] = {}
    for session, sha in named:
        found.setdefault(session, []).append(text_files.decode(kept.get(sha, b"")))
    return found
