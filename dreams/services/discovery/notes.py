"""Imports the session notes that an agent stores next to the transcripts. Only changed files are read."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import F, FilteredRelation, Q

from dreams.lib.agents.base import FoundNotes
from dreams.lib.files import safefs, text
from dreams.models import Project, Session, SessionNotes
from dreams.services import session_notes
from dreams.services.discovery.rows import Tally
from dreams.services.hosts import host

# An agent keeps its notes below 12,000 tokens: a file twenty times as large is something else.
MAX_BYTES = 1 << 20
AGENT = SessionNotes.Origin.AGENT


def read_changed(found: Sequence[FoundNotes], tally: Tally) -> None:
    """Reads new or changed notes. Notes whose file is gone are kept, like the session. One query."""
    known = _known([entry.transcript for entry in found])
    for entry in found:
        kept = known.get(entry.transcript)
        if kept is not None and (kept.size, kept.mtime_ns) != (entry.size, entry.mtime_ns):
            _read(kept.session, entry, tally)


class _KnownSession(NamedTuple):
    """A session, and the size and time of its notes when last read; None if they never were."""

    session: int
    size: int | None
    mtime_ns: int | None


def _known(transcripts: Sequence[str]) -> dict[str, _KnownSession]:
    """Known sessions by transcript path."""
    rows = Session.objects.filter(path__in=transcripts, project__host=host(), project__kind=Project.Kind.AUTO)
    rows = rows.alias(kept=FilteredRelation("notes", condition=Q(notes__origin=AGENT)))
    named = rows.values_list("path", "pk", F("kept__size"), F("kept__mtime_ns"))
    return {path: _KnownSession(*rest) for path, *rest in named}


def _read(session: int, entry: FoundNotes, tally: Tally) -> None:
    try:
        with safefs.Root.open(entry.folder) as root:
            data = root.read_bytes(entry.path, MAX_BYTES)
    except (OSError, safefs.SafeFsError) as error:
        tally.skip(f"{entry.folder}/{entry.path}", safefs.reason(error))
        return
    at = dt.datetime.fromtimestamp(entry.mtime_ns // 1000 / 1e6, dt.UTC)
    session_notes.save(session, AGENT, text.decode(data), at=at, size=entry.size, mtime_ns=entry.mtime_ns)
