"""Checks statements against the sessions that a dream read: bounded, each statement once, read on first use.

Answers are saved with their hunks, so that a second check (after a rebase, at submit) reads no transcript.
"""

import functools
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from django.db.models import Q

from dreams.engines.types import Citation
from dreams.findings.base import Answer, FindingsReport, NewFinding, SessionAnswer
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files import text
from dreams.lib.prose import claims
from dreams.lib.secrets import redact
from dreams.models import DreamRun, Hunk, Proposal, Session
from dreams.services import hosts

QUOTE_LIMIT = 4000  # characters of a quote that are kept
log = logging.getLogger(__name__)

MOST_SESSIONS = 40  # read for one check of a proposal; chosen
MOST_BYTES = 24 * 1024 * 1024  # of all sessions; about two seconds of reading
SECONDS = 10.0  # of reading and searching, for one check of a proposal
MOST_KEPT = 1_000  # answers from one set of sessions
MOST_UNITS = 400_000  # in memory at once, about 200 MB


@dataclass
class TranscriptVerdicts:
    """Sessions, newest first. `ask` serves as `findings.Subject.heard`."""

    sessions: Sequence[Session]
    known: dict[str, SessionAnswer] = field(default_factory=dict)
    seconds: float = SECONDS
    is_here: bool = True  # transcripts of another host are on its disk
    unread: int = 0  # sessions that could not be read, or not in time
    skipped: set[str] = field(default_factory=set)  # statements that were not looked up, for want of time
    reported: tuple[str, FindingsReport] | None = (
        None  # the last report made with them, by its subject's digest
    )
    _read: list[tuple[Session, claims.SessionText]] | None = None
    _spent: float = 0.0

    @classmethod
    def of_dream(cls, dream: DreamRun | None) -> "TranscriptVerdicts":
        """For the sessions that a dream read; for none when a person made the proposal.

        Transcripts of another host cannot be read here: only saved answers are known.
        """
        if dream is None:
            return cls(())
        on_disk, is_typed = Q(session__gone_at__isnull=True), Q(session__prompts__isnull=False)
        rows = dream.reviewed.filter(on_disk | is_typed, session__own=False).distinct()
        sessions = [row.session for row in rows.select_related("session").order_by("-session__touched_at")]
        return cls(sessions, is_here=dream.project.host == hosts.host())

    @classmethod
    def of_proposal(cls, proposal: Proposal) -> "TranscriptVerdicts":
        """As `of_dream`, with the answers that are saved with the hunks."""
        found = cls.of_dream(proposal.dream if proposal.origin == Proposal.Origin.DREAM else None)
        if found.sessions:
            kept = Hunk.objects.filter(file__proposal=proposal).values_list("transcript_verdicts", flat=True)
            found.known.update(loaded_answer(one) for row in kept for one in row)
        return found

    def ask(self, statement: str) -> SessionAnswer | None:
        """The answer of the newest session that has one; None when there is none, or no time left."""
        statement = statement.strip()
        if statement in self.known:
            return self.known[statement]
        if not self.sessions:
            return None
        if self._spent > self.seconds or not self.is_here:
            self.skipped.add(statement)
            return None
        begun = time.monotonic()
        found = self._earlier.get(statement) or self._newest_answer(statement)
        self._spent += time.monotonic() - begun
        if found is not None:
            self.known[statement] = found
            if not self.unread and len(self._earlier) < MOST_KEPT:
                self._earlier[statement] = found
        return found

    @functools.cached_property
    def _earlier(self) -> dict[str, SessionAnswer]:
        """This process's answers from the same transcripts, none of which changed or left the disk since."""
        try:
            return _answers_from(tuple(map(_state, self.sessions)))
        except OSError:
            return {}

    def against(self, statement: str) -> Citation | None:
        """Where a session contradicts the statement, if one does."""
        found = self.ask(statement)
        return found.citation if found and found.answer == "contradicted" else None

    def _newest_answer(self, statement: str) -> SessionAnswer | None:
        if self._read is None:
            self._read = list(self._read_sessions())
        for session, evidence in self._read:
            found = claims.check(evidence, statement)
            if found.answer != "unsupported":
                return SessionAnswer(found.answer, found.why, _citation(session, found))
        return SessionAnswer("unsupported", "no session that was read says it") if self._read else None

    def look_up(self, statements: Iterable[str]) -> None:
        """Look statements up before a transaction, so that it waits for no disk."""
        for statement in statements:
            self.ask(statement)

    def left_out(self) -> NewFinding | None:
        """One note about all that was not read or looked up; None if nothing."""
        beyond = len(self.sessions) - len(self._sessions_to_read()) + self.unread if self.is_here else 0
        if not beyond and not self.skipped:
            return None
        parts = [f"sessions not read: {beyond} of {len(self.sessions)}"] if beyond else []
        parts += [f"statements not looked up: {len(self.skipped)}"] if self.skipped else []
        limits = f"The newest are read first, {MOST_BYTES >> 20} MB and {self.seconds:.0f} s at most."
        return NewFinding(
            "evidence", "sessions-left-out", "info",
            f"{', '.join(parts).capitalize()}. {limits if self.is_here else 'The sessions are on another host.'}",
            "Statements found only in the rest count as unsupported; check them yourself where it matters.", about="sessions"
        )  # fmt: skip

    def _sessions_to_read(self) -> list[Session]:
        """The newest sessions that fit into MOST_BYTES."""
        room, chosen = MOST_BYTES, []
        for session in self.sessions[:MOST_SESSIONS]:
            size = _size(session)
            if size <= room:
                room -= size
                chosen.append(session)
        return chosen

    def _read_sessions(self) -> Iterator[tuple[Session, claims.SessionText]]:
        """Skips sessions beyond the limits and those that cannot be read."""
        units, begun = 0, time.monotonic()
        for session in self._sessions_to_read():
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


@functools.lru_cache(maxsize=8)
def _answers_from(_states: tuple[object, ...]) -> dict[str, SessionAnswer]:
    return {}


def _state(session: Session) -> tuple[object, ...]:
    """Raises FileNotFoundError for a transcript that is not on disk: what is kept of it can be hidden."""
    if session.gone_at is not None:
        raise FileNotFoundError(session.path)
    found = Path(session.path).stat(follow_symlinks=False)
    return session.pk, session.path, found.st_ino, found.st_size, found.st_mtime_ns


def _evidence(session: Session) -> claims.SessionText:
    """The transcript's text; of a deleted transcript, the prompts that are kept. Raises OSError."""
    if session.gone_at is None:
        return claims.read(session.path)
    typed = claims.SessionText()
    for prompt in session.prompts.order_by("offset"):
        typed.add(prompt.text, prompt.line_no, "user", prose=True)
    return typed


def _size(session: Session) -> int:
    """The size on disk; a transcript may have grown since it was imported."""
    try:
        return Path(session.path).stat(follow_symlinks=False).st_size
    except OSError:
        return session.size


def _citation(session: Session, found: claims.ClaimCheck) -> Citation | None:
    if not found.evidence:
        return None
    # An answer shows more than the question before it.
    statements = (one for one in found.evidence if not one.quote.rstrip().endswith("?"))
    best = next(statements, found.evidence[0])
    return Citation(
        "transcript",
        redact.redact(best.quote)[:QUOTE_LIMIT],
        session.path,
        session_pk=session.pk,
        line_no=best.line,
        role=best.role,
        note=NO_ANSWER if session.gone_at else "",
    )


def stored_answer(line_no: int, statement: str, answer: SessionAnswer) -> dict[str, object]:
    """An answer as JSON fields of its hunk. `loaded_answer` reads it."""
    place = answer.citation
    return {
        "line": line_no,
        "text": text.storable(statement, QUOTE_LIMIT),
        "answer": answer.answer,
        "why": text.storable(answer.why, 300),
        "session": place.session_pk if place else None,
        "place": text.storable(place.place, 1000) if place else "",
        "line_no": place.line_no if place else None,
        "role": place.role if place else "",
        "quote": text.storable(place.quote, QUOTE_LIMIT) if place else "",
        "note": place.note if place else "",
    }


def loaded_answer(row: dict[str, object]) -> tuple[str, SessionAnswer]:
    """(statement, answer) of a saved one; an unknown answer counts as unsupported."""
    answer: Answer = next((one for one in get_args(Answer) if one == row.get("answer")), "unsupported")
    place = _place(row) if row.get("quote") else None
    return str(row.get("text")), SessionAnswer(answer, str(row.get("why") or ""), place)


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
