"""Notes that the agent kept on sessions, beside their transcripts → rows. Only a file whose numbers differ is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator

from dreams.lib.agents.base import FoundMemory
from dreams.lib.files import safefs, text
from dreams.models import Session, SessionNotes
from dreams.services import session_notes
from dreams.services.discovery.places import Place
from dreams.services.discovery.rows import Tally
from dreams.services.hosts import host

# An agent keeps its notes below 12,000 tokens: twenty times as much is no such file.
MAX_BYTES = 1 << 20
AGENT = SessionNotes.Origin.AGENT


def keep(places: Iterable[Place], tally: Tally) -> None:
    """Read what is new or changed. Notes whose file is gone stay, like the session itself."""
    found = {path: one for place in places if place.owns_sessions for path, one in _found(place, tally)}
    if not found:
        return
    ids, known = _sessions([path for path, _ in found]), _known()
    for (transcript, folder), entry in found.items():
        session = ids.get(transcript)
        if session is not None and known.get(session) != (entry.size, entry.mtime_ns):
            _read(session, folder, entry, tally)


def _found(place: Place, tally: Tally) -> Iterator[tuple[tuple[str, str], FoundMemory]]:
    """By (the session's transcript, the folder), which a project alone has."""
    for folder in place.folders:
        for entry in place.source.session_notes(folder):
            if isinstance(entry, FoundMemory):
                yield (f"{folder}/{entry.path.partition('/')[0]}.jsonl", folder), entry
            else:
                tally.pass_over(entry)


def _sessions(paths: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(paths), 500):
        rows = Session.objects.filter(path__in=paths[start : start + 500], project__host=host())
        found.update(rows.values_list("path", "pk"))
    return found


def _known() -> dict[int, tuple[int, int]]:
    rows = SessionNotes.objects.filter(origin=AGENT)
    return {
        session: (size, mtime) for session, size, mtime in rows.values_list("session_id", "size", "mtime_ns")
    }


def _read(session: int, folder: str, entry: FoundMemory, tally: Tally) -> None:
    try:
        with safefs.Root.open(folder) as root:
            data = root.read_bytes(entry.path, MAX_BYTES)
    except (OSError, safefs.SafeFsError) as error:
        tally.skip(f"{folder}/{entry.path}", safefs.reason(error))
        return
    at = dt.datetime.fromtimestamp(entry.mtime_ns // 1000 / 1e6, dt.UTC)
    session_notes.keep(session, AGENT, text.decode(data), at=at, size=entry.size, mtime_ns=entry.mtime_ns)
