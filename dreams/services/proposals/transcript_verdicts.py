"""Checks statements against the sessions that a dream read: bounded, each statement once, read when first asked.

An answer is kept beside its hunk, so that a text that is looked at again (a rebase, a submit) costs no reading.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.db.models import Q

from dreams.engines.types import Citation
from dreams.findings.base import NewFinding, SessionAnswer
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import text
from dreams.lib.prose import claims
from dreams.lib.secrets import redact
from dreams.models import DreamRun, Hunk, Proposal, Session
from dreams.services import hosts

QUOTE_LIMIT = 4000  # characters of a quote that are kept
log = logging.getLogger(__name__)

MOST_SESSIONS = 40  # that are read for one look at a change; chosen
MOST_BYTES = 24 * 1024 * 1024  # of all sessions; about two seconds of reading
SECONDS = 10.0  # of reading and asking, for one look at a change
MOST_UNITS = 400_000  # kept of all sessions, about 200 MB


@dataclass(slots=True)
class TranscriptVerdicts:
    """Sessions, the newest first. `ask` is what `findings.Subject.heard` wants."""

    sessions: Sequence[Session]
    known: dict[str, SessionAnswer] = field(default_factory=dict)
    seconds: float = SECONDS
    is_here: bool = True  # transcripts of another host are on its disk
    unread: int = 0  # sessions that could not be read, or not in time
    unasked: set[str] = field(default_factory=set)  # statements that were not looked up, for want of time
    _read: list[tuple[Session, claims.SessionText]] | None = None
    _spent: float = 0.0

    @classmethod
    def of_dream(cls, dream: DreamRun | None) -> "TranscriptVerdicts":
        """Of the sessions that a dream looked at; of none for what a person made.

        Those of another host are on its disk: here only what is kept beside the hunks is known of them.
        """
        if dream is None:
            return cls(())
        on_disk, in_history = Q(session__gone_at__isnull=True), Q(session__prompts__history__isnull=False)
        rows = dream.reviewed.filter(on_disk | in_history, session__own=False).distinct()
        sessions = [row.session for row in rows.select_related("session").order_by("-session__touched_at")]
        return cls(sessions, is_here=dream.project.host == hosts.host())

    @classmethod
    def of_proposal(cls, proposal: Proposal) -> "TranscriptVerdicts":
        """As `of_dream`, with the answers that are kept beside the hunks."""
        found = cls.of_dream(proposal.dream if proposal.origin == Proposal.Origin.DREAM else None)
        if found.sessions:
            kept = Hunk.objects.filter(file__proposal=proposal).values_list("transcript_verdicts", flat=True)
            found.known.update(loaded(one) for row in kept for one in row)
        return found

    def ask(self, said: str) -> SessionAnswer | None:
        """What the sessions say of it, the newest that says anything; None when there is none, or no time left."""
        bare = said.strip()
        if bare in self.known:
            return self.known[bare]
        if not self.sessions:
            return None
        if self._spent > self.seconds or not self.is_here:
            self.unasked.add(bare)
            return None
        begun = time.monotonic()
        found = self._asked(bare)
        self._spent += time.monotonic() - begun
        if found is not None:
            self.known[bare] = found
        return found

    def against(self, said: str) -> Citation | None:
        """The place that speaks against a statement, where one does."""
        found = self.ask(said)
        return found.citation if found and found.answer == "contradicted" else None

    def _asked(self, said: str) -> SessionAnswer | None:
        """The newest session that says anything of it decides."""
        if self._read is None:
            self._read = list(self._opened())
        for session, evidence in self._read:
            found = claims.check(evidence, said)
            if found.answer != "unsupported":
                return SessionAnswer(found.answer, found.why, _citation(session, found))
        return SessionAnswer("unsupported", "no session that was read says it") if self._read else None

    def look_up(self, statements: Iterable[str]) -> None:
        """Look up what will be asked, so that no transaction waits for a disk."""
        for said in statements:
            self.ask(said)

    def left_out(self) -> NewFinding | None:
        """What was not looked at, said once; None when all was."""
        beyond = len(self.sessions) - len(self._planned()) + self.unread if self.is_here else 0
        if not beyond and not self.unasked:
            return None
        told = [f"sessions not read: {beyond} of {len(self.sessions)}"] if beyond else []
        told += [f"statements not looked up: {len(self.unasked)}"] if self.unasked else []
        limits = f"The newest are read first, {MOST_BYTES >> 20} MB and {self.seconds:.0f} s at most."
        return NewFinding(
            "evidence", "sessions-left-out", "info",
            f"{', '.join(told).capitalize()}. {limits if self.is_here else 'The sessions are on another host.'}",
            "Statements found only in the rest count as unsupported; check them yourself where it matters.", about="sessions",
        )  # fmt: skip

    def _planned(self) -> list[Session]:
        """The sessions that there is room for, by size."""
        room, chosen = MOST_BYTES, []
        for session in self.sessions[:MOST_SESSIONS]:
            size = _size(session)
            if size <= room:
                room -= size
                chosen.append(session)
        return chosen

    def _opened(self) -> Iterator[tuple[Session, claims.SessionText]]:
        """The sessions that there is room and time for; one that cannot be read stops nothing."""
        units, begun = 0, time.monotonic()
        for session in self._planned():
            if units > MOST_UNITS or time.monotonic() - begun > self.seconds / 2:
                self.unread += 1
                continue
            try:
                evidence = _evidence(session)
            except (OSError, ValueError) as error:
                log.info("session %s not read: %s", session.session_id, type(error).__name__)
                self.unread += 1
                continue
            units += len(evidence.units)
            yield session, evidence


def _evidence(session: Session) -> claims.SessionText:
    """What was said; where the transcript is gone, what the prompt history has of it. Raises OSError."""
    if session.gone_at is None:
        return claims.read(session.path)
    typed = claims.SessionText()
    for prompt in session.prompts.filter(history__isnull=False).order_by("offset"):
        typed.add(prompt.text, prompt.line_no, "user", prose=True)
    return typed


def _size(session: Session) -> int:
    """What there is to read now; a transcript may have grown since it was imported."""
    try:
        return Path(session.path).stat(follow_symlinks=False).st_size
    except OSError:
        return session.size


def _citation(session: Session, found: claims.ClaimCheck) -> Citation | None:
    if not found.evidence:
        return None
    # An answer says more than the question it was given to.
    told = (one for one in found.evidence if not one.quote.rstrip().endswith("?"))
    best = next(told, found.evidence[0])
    return Citation(
        "transcript",
        redact.redact(best.quote)[:QUOTE_LIMIT],
        session.path,
        session_pk=session.pk,
        line_no=best.line,
        role=best.role,
        note=NO_ANSWER if session.gone_at else "",
    )


def stored(line_no: int, said: str, heard: SessionAnswer) -> dict[str, object]:
    """An answer as it is kept beside its hunk. `loaded` reads it."""
    place = heard.citation
    return {
        "line": line_no,
        "text": text.storable(said, QUOTE_LIMIT),
        "answer": heard.answer,
        "why": text.storable(heard.why, 300),
        "session": place.session_pk if place else None,
        "place": text.storable(place.place, 1000) if place else "",
        "line_no": place.line_no if place else None,
        "role": place.role if place else "",
        "quote": text.storable(place.quote, QUOTE_LIMIT) if place else "",
        "note": place.note if place else "",
    }


def loaded(row: dict[str, object]) -> tuple[str, SessionAnswer]:
    """(statement, answer) of a kept one; an answer of a form that is not known is none."""
    answer = row.get("answer")
    place = _place(row) if row.get("quote") else None
    why = str(row.get("why") or "")
    if answer == "supported":
        return str(row.get("text")), SessionAnswer("supported", why, place)
    if answer == "contradicted":
        return str(row.get("text")), SessionAnswer("contradicted", why, place)
    return str(row.get("text")), SessionAnswer("unsupported", why, place)


def _place(row: dict[str, object]) -> Citation:
    session, line = row.get("session"), row.get("line_no")
    return Citation(
        "transcript",
        str(row.get("quote")),
        str(row.get("place") or ""),
        session_pk=session if isinstance(session, int) else None,
        line_no=line if isinstance(line, int) else None,
        role=str(row.get("role") or ""),
        note=str(row.get("note") or ""),
    )
