"""Evidence as the cards show it: what was said, by whom, when and where to read on; and what the sessions say of each
statement that a change adds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dreams.findings.base import Answer
from dreams.lib.files.text import plural
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, LedgerEntry
from dreams.services.proposals import hearing

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
    Evidence.Source.AGENT: "Your agent’s own words",
}
_ORDER: tuple[Answer, ...] = ("contradicted", "unsupported", "supported")
_SAID: dict[Answer, str] = {
    "supported": "Supported",
    "contradicted": "Contradicted",
    "unsupported": "Not found in the sessions",
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

    @property
    def is_yours(self) -> bool:
        return self.who == ROLES["user"] and self.is_found


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


@dataclass(frozen=True, slots=True)
class Statement:
    """One added statement and the answer; `who` said the quote, at `line_no` (1-based) of the session's transcript."""

    text: str
    answer: Answer
    said: str
    why: str
    who: str
    quote: str
    session_pk: int | None
    line_no: int | None

    @property
    def caveat(self) -> str:
        """What nobody of the session said: a program printed it, or a stranger wrote it."""
        return NOBODYS.get(self.who, "") if self.answer == "supported" else ""


def statements(heard: Iterable[list[dict[str, object]]], mask: Mask) -> tuple[Statement, ...]:
    """Of what is kept beside hunks; those that want a look first, their words masked."""
    found = dict.fromkeys(_statement(kept, mask) for row in heard for kept in row)
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.answer)))


def _statement(kept: dict[str, object], mask: Mask) -> Statement:
    said, heard = hearing.loaded(kept)
    place = heard.citation
    return Statement(
        mask(said),
        heard.answer,
        _SAID[heard.answer],
        heard.why,
        ROLES.get(place.role, "A session") if place else "",
        mask(place.quote) if place else "",
        place.session_pk if place else None,
        place.line_no if place else None,
    )


def summary(found: Iterable[Statement]) -> str:
    """ "2 statements supported, 1 statement not found in the sessions"; nothing for none."""
    answers = [one.answer for one in found]
    counted = [(answers.count(answer), _SAID[answer].lower()) for answer in reversed(_ORDER)]
    return ", ".join(f"{plural(count, 'statement')} {said}" for count, said in counted if count)


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence beside a change: quotes, statements with whether a quote shows what supports them, ledger rows."""

    quotes: tuple[Quote, ...] = ()
    heard: tuple[tuple[Statement, bool], ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.quotes) + len(self.heard) + len(self.ledger)

    def part(self, start: int, stop: int, *, heard_first: bool) -> Proof:
        """The places from `start` to `stop` of all of them in their order."""
        order = ("heard", "quotes", "ledger") if heard_first else ("quotes", "heard", "ledger")
        every = [(name, one) for name in order for one in getattr(self, name)][start:stop]
        return Proof(**{name: tuple(one for kind, one in every if kind == name) for name in order})


def beside(quotes: Sequence[Quote], statements: Sequence[Statement]) -> tuple[tuple[Statement, bool], ...]:
    """Each statement, and whether the quotes already show what supports it."""
    quoted = {(quote.session_pk, quote.line_no) for quote in quotes if quote.session_pk and quote.is_found}
    return tuple(
        (one, one.answer == "supported" and (one.session_pk, one.line_no) in quoted) for one in statements
    )
