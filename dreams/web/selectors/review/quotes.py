"""Evidence as the cards show it: what was said, by whom, when, and where to read on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dreams.models import Evidence

ROLES = {
    "user": "You",
    "assistant": "The agent",
    "tool": "A tool",
    "web": "A page of the web",
    "system": "The system",
}
NOBODYS = {
    ROLES["tool"]: "Nobody’s word: a tool printed it.",
    ROLES["web"]: "Nobody said this: it is from a web page.",
}
PLACES = {
    Evidence.Source.MEMORY: "From the memory",
    Evidence.Source.FILE: "From the file’s date",
    Evidence.Source.HISTORY: "From the history",
    Evidence.Source.REPOSITORY: "From the repository",
}


@dataclass(frozen=True, slots=True)
class Quote:
    """One piece of evidence. `who` said it, or what it is taken from."""

    who: str
    quote: str
    at: dt.datetime | None
    session_pk: int | None
    session: str
    place: str
    line_no: int | None
    is_found: bool
    is_transcript: bool
    note: str

    @property
    def caveat(self) -> str:
        """What nobody of the session said: a program printed it, or a stranger wrote it."""
        return NOBODYS.get(self.who, "") if self.is_transcript and self.is_found else ""

    @property
    def is_long(self) -> bool:
        """It scrolls inside its frame, so a keyboard must be able to go there."""
        return len(self.quote) > 180 or self.quote.count("\n") > 6


def quote(row: Evidence) -> Quote:
    is_transcript = row.source == Evidence.Source.TRANSCRIPT
    return Quote(
        who=ROLES.get(row.role, row.role.capitalize() or "A session")
        if is_transcript
        else PLACES.get(Evidence.Source(row.source), row.get_source_display()),
        quote=row.quote,
        at=row.at,
        session_pk=row.session_id,
        session=str(row.session) if row.session else "",
        place=row.place,
        line_no=row.line_no,
        is_found=row.found,
        is_transcript=is_transcript,
        note=row.note,
    )
