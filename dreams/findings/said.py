"""What sessions said about added statements: citations for a change that came without any. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dreams.engines.types import Citation
from dreams.findings.base import ChangedHunk, Subject
from dreams.findings.statements import facts
from dreams.findings.statements.standing import Standing, State
from dreams.findings.statements.units import units_of_lines
from dreams.language import claims

LIKE = 0.5  # the share of a statement's words that a quote must have
QUOTES = 3  # of one statement
CONTEXT = 2000  # characters of the turn around a quote


@dataclass(frozen=True, slots=True)
class Turn:
    """One text of a session; `role` is user, assistant or tool, `line` the 1-based line of the transcript."""

    place: str
    line: int | None
    role: str
    at: dt.datetime | None
    text: str


class Said:
    """Turns, found by their words. A person's own words come before what an agent or a tool wrote."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = list(turns)
        self._sentences = State({})
        self._sentences.all = [
            Standing(str(number), unit)
            for number, turn in enumerate(self._turns)
            for unit in units_of_lines(turn.text.split("\n"))
        ]
        self._heard = claims.Evidence()
        for number, turn in enumerate(self._turns, start=1):
            self._heard.add(turn.text, number, turn.role, prose=turn.role != "tool")

    def against(self, text: str) -> Citation | None:
        """The place that speaks against a statement, where one does."""
        found = claims.check(self._heard, text)
        if found.verdict != "contradicted" or not found.evidence:
            return None
        quote = found.evidence[0]
        return self._cited(self._turns[quote.line - 1], quote.quote)

    def citations(self, text: str) -> list[Citation]:
        """Quotes that have at least half of what `text` says, the best first."""
        likest = [s for s in self._sentences.likest(text) if facts.coverage(text, s.unit.text) >= LIKE]
        likest.sort(key=lambda s: (self._of(s).role != "user", -facts.coverage(text, s.unit.text)))
        return [self._citation(standing) for standing in likest[:QUOTES]]

    def _of(self, standing: Standing) -> Turn:
        return self._turns[int(standing.path)]

    def _citation(self, standing: Standing) -> Citation:
        return self._cited(self._of(standing), standing.unit.text[:CONTEXT])

    @staticmethod
    def _cited(turn: Turn, quote: str) -> Citation:
        return Citation(
            "transcript",
            quote,
            turn.place,
            line_no=turn.line,
            role=turn.role,
            at=turn.at,
            context=turn.text[:CONTEXT],
        )


def with_citations(subject: Subject, said: Said) -> Subject:
    """The subject with quotes beside each hunk that has none, and with what the sessions say against statements."""
    hunks = [_cited(hunk, said) for hunk in subject.hunks]
    return replace(subject, hunks=hunks, against=said.against)


def _cited(hunk: ChangedHunk, said: Said) -> ChangedHunk:
    if hunk.citations:
        return hunk
    found = [c for unit in units_of_lines(hunk.added) for c in said.citations(unit.text)]
    return replace(hunk, citations=tuple(dict.fromkeys(found)))
