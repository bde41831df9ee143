"""The session page: a transcript in pages of turns, read from the file by byte offset, with search; and notes on it, the
agent's own and hand-over notes, with links to the transcript."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.paginator import Page
from django.db.models import F, Q, QuerySet, Sum
from django.urls import reverse

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.engines.handover.model import ASKED
from dreams.lib.agents import transcripts
from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.agents.transcripts.reader import opened
from dreams.lib.agents.transcripts.search import MAX_HITS, Within, find_within
from dreams.models import (
    DreamRun,
    NotesRequest,
    OpenEnd,
    Project,
    Prompt,
    Session,
    SessionNotes,
    TranscriptFile,
)
from dreams.services import forecast, session_notes
from dreams.services.discovery import resume
from dreams.services.hosts import host
from dreams.services.search.query import Query
from dreams.web.hidden_secrets import shown
from dreams.web.pages import session_turns
from dreams.web.pages.session_turns import SKIPPED, blocks, views
from dreams.web.paging import PageOfRows, listed, page_of
from dreams.web.render import TemplateResolver

LINES_PER_PAGE = 60  # turns; chosen
LINES_BEFORE = 8  # a line that was jumped to; chosen
OUTLINE_PAGE = 80  # prompts; chosen
MOST_FILES = 100  # rows; chosen
MOST_MODELS = 8  # rows; chosen
TASK_CHARS = 120  # of a sub-agent's task; chosen
COUNT_BYTES = 1 << 30  # read to find a line; chosen
_CHUNK = 1 << 18  # read at once; chosen


@dataclass(frozen=True, slots=True)
class Position:
    """Where to read: a byte offset, and its 1-based line if known."""

    offset: int = 0
    line: int | None = 1
    backward: bool = False
    mark: int | None = None


def reading(
    path: str,
    place: Position,
    known: Sequence[tuple[int, int]] = (),
    terms: tuple[str, ...] = (),
    *,
    is_main: bool = True,
) -> dict[str, Any]:
    """One page. `known` are (line, offset) pairs of this file, so that a jump need not count lines from the start.

    If the file cannot be read, only a `problem` is returned.
    """
    try:
        return _reading(path, place, known, terms, is_main)
    except FileNotFoundError:
        gone = "The transcript is no longer on disk: agents delete old ones. What you typed stays here."
        return {"problem": gone}
    except OSError as error:
        return {"problem": f"The transcript cannot be read: {error.strerror or error}."}


def _reading(
    path: str, place: Position, known: Sequence[tuple[int, int]], terms: tuple[str, ...], is_main: bool
) -> dict[str, Any]:
    if place.mark is not None:
        place = _around(path, place.mark, known)
    found = transcripts.page(
        path, place.offset, LINES_PER_PAGE, backward=place.backward, line=place.line, skip_types=SKIPPED
    )
    if place.backward and found.turns:
        # Read again from the first of them, so that the page has the usual length and ends on a known line.
        found = transcripts.page(
            path, found.turns[0].offset, LINES_PER_PAGE, line=found.turns[0].line, skip_types=SKIPPED
        )
    start = found.turns[0].offset if found.turns else place.offset
    end = found.after if found.after is not None else found.size
    shown_turns = views(found.turns, place.mark, terms)
    return {
        "turns": shown_turns,
        "blocks": blocks(shown_turns, folds=is_main),
        "size": found.size,
        "start": start,
        "before": found.before,
        "before_line": found.turns[0].line if found.turns else None,
        "after": found.after,
        "after_line": found.line_after,
        "percent": round(100 * end / found.size) if found.size else 100,
        "marked_missing": place.mark is not None and not any(turn.is_marked for turn in shown_turns),
        "problem": "",
    }


def _around(path: str, line: int, known: Sequence[tuple[int, int]]) -> Position:
    """The position a few lines before `line`, so that a jump shows some context above it."""
    at, reached = place_of_line(path, line, known)
    before = transcripts.page(path, at, LINES_BEFORE, backward=True, line=reached)
    first = before.turns[0] if before.turns else None
    if first is None:
        return Position(at, reached, mark=line)
    return Position(first.offset, first.line, mark=line)


def place_of_line(path: str, line: int, known: Iterable[tuple[int, int]] = ()) -> tuple[int, int]:
    """The byte offset of a 1-based line, counted from the nearest known one, and the line at that offset.

    For a line beyond the end, the end and its line number, so that the last turns keep theirs. Reads at most a
    gigabyte. Raises OSError.
    """
    with opened(path) as fd:
        size = os.fstat(fd).st_size
        # Offsets beyond the size are from a longer, earlier transcript.
        before = (pair for pair in known if pair[0] <= line and pair[1] <= size)
        at_line, offset = max(before, default=(1, 0))
        limit = offset + COUNT_BYTES
        while at_line < line and offset < min(size, limit):
            data = os.pread(fd, _CHUNK, offset)
            if not data:  # cut off meanwhile
                break
            breaks = data.count(b"\n")
            if at_line + breaks < line:
                at_line, offset = at_line + breaks, offset + len(data)
                continue
            position = -1
            for _ in range(line - at_line):
                position = data.index(b"\n", position + 1)
            return offset + position + 1, line
    return offset, at_line


def quote_address(session: int, line: int | None, note: str = "") -> str:
    """The address of a quote: the session, at a line if one is known. If `note` says that only the prompt history has it,
    its place among the project's prompts."""
    if line and note == NO_ANSWER:
        return reverse("session-prompt", args=[session, line])
    return reverse("session", args=[session]) + (f"?line={line}#line-{line}" if line else "")


# --- Rows ---------------------------------------------------------------------------------------------------------


def is_history(session: Session) -> bool:
    """Whether the prompts are only in the agent's prompt history."""
    return session.prompts.filter(history__isnull=False).exists()


def reached(session: Session, place: Position) -> int:
    """How many prompts are at or before a position."""
    rows = session.prompts.all()
    if place.mark:
        return rows.filter(line_no__lte=place.mark).count()
    if place.backward:
        return rows.filter(offset__lt=place.offset).count()
    return rows.filter(offset__lte=place.offset).count() if place.offset else 0


def outline(session: Session, number: str | None = None, reached: int = 0) -> PageOfRows[dict[str, Any]]:
    """The person's prompts in order, from the database, which keeps them longer than the transcript.

    Without a page `number`, the page with the prompt that was `reached`.
    """
    number = number or str(-(-reached // OUTLINE_PAGE) or 1)
    return listed(page_of(session.prompts.order_by("offset"), number, OUTLINE_PAGE), _prompt)


def _prompt(row: Prompt) -> dict[str, Any]:
    return {
        "line": row.line_no,
        "at": row.at,
        "text": shown(row.text),
        "is_correction": transcripts.is_correction(row.text),
    }


def known_lines(session: Session, line: int) -> list[tuple[int, int]]:
    """The position of the last prompt up to `line`, to speed up jumps in a long transcript."""
    rows = session.prompts.filter(line_no__lte=line).order_by("-line_no")
    return list(rows.values_list("line_no", "offset")[:1])


def transcript_of_agent(session: Session) -> TranscriptFile | None:
    """The transcript of a sub-agent, which is shown in the session that started it; else None."""
    if session.project.kind != Project.Kind.AGENT:
        return None
    return TranscriptFile.objects.filter(path=session.path).order_by("pk").first()


def files(session: Session) -> list[dict[str, Any]]:
    rows = session.files.order_by("-kind", "path")[:MOST_FILES]
    return sorted(map(_file, rows), key=lambda file: not file["is_main"])


def _file(row: TranscriptFile) -> dict[str, Any]:
    is_main = row.kind == TranscriptFile.Kind.MAIN
    name = Path(row.path).stem.removeprefix("agent-")
    summary = None if is_main else resume.summary_of(bytes(row.state))
    return {
        "pk": row.pk,
        "label": "Main transcript" if is_main else f"Sub-agent {shown(name)}",
        "agent_id": "" if is_main else name,
        "task": shown(summary.first_text)[:TASK_CHARS] if summary else "",
        "is_main": is_main,
        "size": row.size,
        "gone": row.gone_at is not None,
    }


def usage(session: Session) -> QuerySet[Any]:
    """Tokens by model, most output first, including sub-agents: new input (with cache writes), input read from a cache,
    output."""
    rows = session.requests.order_by().values("model")
    found: QuerySet[Any] = rows.annotate(
        sent=Sum(F("input_tokens") + F("cache_write_5m_tokens") + F("cache_write_1h_tokens")),
        cached=Sum("cache_read_tokens"),
        answered=Sum("output_tokens"),
    ).order_by("-answered")
    return found[:MOST_MODELS]


def reviewed_by(session: Session) -> QuerySet[DreamRun]:
    """Dreams that reviewed the session, without those that ended with no result."""
    rows = DreamRun.objects.filter(reviewed__session=session).order_by("-created_at")
    came_of = Q(status__in=(DreamRun.Status.RUNNING, DreamRun.Status.COMPLETED)) | Q(proposals__isnull=False)
    return rows.filter(came_of).distinct()[:10]


def find_in_transcript(path: str, query: Query, start: int = 0, start_line: int = 1) -> Within | None:
    """The matches of `query` in the file; None without search terms or without a file."""
    if not query.terms:
        return None
    try:
        return find_within(
            path,
            query.terms,
            lambda turn: session_turns.holds(turn, query.terms),
            start=start,
            start_line=start_line,
        )
    except OSError:
        return None


def inside(found: Within, mark: int | None, *, from_start: bool = True) -> dict[str, Any]:
    """The matches relative to the line `mark`: `number` (1-based) is 0 if that is not a match.

    `reached` and `line` are where the search stopped before the end of the file; `percent` is its progress if time ran
    out, None if there were enough matches. `from_start` is False for a search that began further down.
    """
    hits = found.hits
    before = [hit for hit in hits if mark is not None and hit.line < mark]
    after = [hit for hit in hits if mark is None or hit.line > mark]
    at = len(before) + 1 if mark is not None and len(before) + len(after) < len(hits) else 0
    return {
        "total": len(hits),
        "number": at,
        "first": hits[0] if hits else None,
        "previous": before[-1] if before else None,
        "next": after[0] if after else None,
        "reached": None if found.complete else found.reached,
        "line": None if found.complete else found.line,
        "percent": None if found.complete or len(hits) >= MAX_HITS else 100 * found.reached // found.size,
        "from_start": from_start,
    }


# --- Notes

_LINE = re.compile(r"\(line (\d{1,9})\)")


@TemplateResolver
def line_here(name: str) -> str | None:
    """The link for "line 7" on the session's page."""
    number = name.removeprefix("line ")
    return f"?line={number}#line-{number}" if name.startswith("line ") and number.isdecimal() else None


def notes(session: Session, *, is_open: bool) -> list[dict[str, Any]]:
    """The newest hand-over first, unfolded if `is_open`; the agent's own notes last. Two queries."""
    rows = list(session.notes.order_by("origin"))
    kept = session_notes.texts([session.pk]).get(session.pk, [])
    found = sorted(
        zip(rows, kept, strict=False),
        key=lambda pair: (pair[0].is_handover, pair[0].written_at),
        reverse=True,
    )
    return [
        _notes(row, shown(text), is_open=is_open and number == 0) for number, (row, text) in enumerate(found)
    ]


def _notes(row: SessionNotes, text: str, *, is_open: bool) -> dict[str, Any]:
    if not row.is_handover:
        return {"row": row, "text": text, "resolve": None, "is_open": False}
    return {"row": row, "text": with_lines(text, r"([[line \1]])"), "resolve": line_here, "is_open": is_open}


def handover(session: Session, notes: list[dict[str, Any]]) -> dict[str, Any]:
    """The options for notes. `has_rules`: notes by rules exist; `is_older`: the transcript grew since.

    `model` is empty if none can be asked. Two queries, and one for the prices if a model can be asked.
    """
    mine = next((each["row"] for each in notes if each["row"].origin == SessionNotes.Origin.RULES), None)
    can_write = session.gone_at is None and not session.own and session.project.host == host()
    config = conf.current(session.project)
    model = config.model if can_write and keys.state().usable else ""
    asked = session.notes_requests.first()
    return {
        "can_write": can_write,
        "has_rules": mine is not None,
        "is_older": mine is not None and session.size > mine.size,
        "model": model,
        "cost": forecast.of_notes(session, model) if model else None,
        "asked": asked,
        "is_waiting": asked is not None and asked.status in NotesRequest.UNFINISHED,
        "sections": len(ASKED),
    }


def downloaded(text: str, address: str) -> str:
    """The notes as a file, with each named line linked to the session's page at `address`."""
    return with_lines(text, rf"([line \1]({address}?line=\1#line-\1))")


def with_lines(text: str, instead: str) -> str:
    """Replaces `(line 7)` with `instead`, except in fenced code."""
    pieces = text.split("```")
    pieces[::2] = [_LINE.sub(instead, piece) for piece in pieces[::2]]
    return "```".join(pieces)


OPEN_ENDS_PAGE = 200  # rows; chosen


def open_ends(project: Project, number: str | None) -> Page[OpenEnd]:
    return page_of(session_notes.open_ends(project).select_related("session"), number, OPEN_ENDS_PAGE)
