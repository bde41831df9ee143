"""A transcript as pages of turns, read in place by byte offset, and what the database remembers of it."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreams import transcripts
from dreams.models import DreamRun, Prompt, Session, TranscriptFile
from dreams.transcripts.reader import opened
from dreams.web.paging import Listed, listed, page_of
from dreams.web.shown import shown

LINES_PER_PAGE = 60
LINES_BEFORE = 8
OUTLINE_PAGE = 80
MOST_FILES = 100
TOOL_CHARS = 6_000
RESULT_CHARS = 4_000
PROSE_CHARS = 40_000
BRIEF_CHARS = 110
PAUSE = dt.timedelta(minutes=5)
COUNT_BYTES = 1 << 30
_CHUNK = 1 << 18

# Bookkeeping of the agent: nobody said it, and there is a great deal of it.
SKIPPED = frozenset(
    {
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "permission-mode",
        "last-prompt",
        "custom-title",
        "ai-title",
        "summary",
        "agent-name",
        "mode",
    }
)
# What says most about a tool call, in the order of how much it says.
_TELLING = (
    "command",
    "file_path",
    "pattern",
    "path",
    "query",
    "url",
    "description",
    "prompt",
    "skill",
    "subject",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a turn. `brief` is the line of a folded one; `left` says how much is not shown."""

    kind: str
    text: str
    brief: str = ""
    is_error: bool = False
    is_markdown: bool = False
    left: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class TurnView:
    """One record of the transcript. `line` is its anchor; `continues` when the same speaker goes on."""

    line: int | None
    offset: int
    speaker: str
    tone: str
    icon: str
    at: dt.datetime | None
    pieces: list[Piece]
    sidechain: bool
    continues: bool
    is_marked: bool
    is_folded: bool
    model: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One page of the transcript; the offsets lead to its neighbours, None at an end."""

    turns: list[TurnView]
    size: int
    start: int
    before: int | None
    before_line: int | None
    after: int | None
    after_line: int | None
    percent: int
    problem: str = ""
    marked_missing: bool = False


@dataclass(frozen=True, slots=True)
class PromptRow:
    pk: str
    line: int
    at: dt.datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class FileRow:
    pk: int
    label: str
    is_main: bool
    size: int
    gone: bool


@dataclass(frozen=True, slots=True)
class ReviewedBy:
    public_id: str
    at: dt.datetime
    status: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where to read: a byte offset, and the 1-based line there when it is known."""

    offset: int = 0
    line: int | None = 1
    backward: bool = False
    mark: int | None = None


def reading(path: str, place: Place, known: Sequence[tuple[int, int]] = ()) -> Reading:
    """One page. `known` are (line, offset) pairs of this file, so that a jump need not count from its start.

    What cannot be read comes back as a sentence, not as an error.
    """
    try:
        return _reading(path, place, known)
    except FileNotFoundError:
        return _unread(
            "The transcript is no longer on disk: agents delete old ones. What you typed is kept below."
        )
    except OSError as error:
        return _unread(f"The transcript cannot be read: {error.strerror or error}.")


def _unread(problem: str) -> Reading:
    return Reading([], 0, 0, None, None, None, None, 0, problem)


def _reading(path: str, place: Place, known: Sequence[tuple[int, int]]) -> Reading:
    if place.mark is not None:
        place = _around(path, place.mark, known)
    found = transcripts.page(
        path, place.offset, LINES_PER_PAGE, backward=place.backward, line=place.line, skip_types=SKIPPED
    )
    if place.backward and found.turns:
        # Read on from the first of them, so that a page is as long as every other and ends on a known line.
        found = transcripts.page(
            path, found.turns[0].offset, LINES_PER_PAGE, line=found.turns[0].line, skip_types=SKIPPED
        )
    start = found.turns[0].offset if found.turns else place.offset
    end = found.after if found.after is not None else found.size
    views = _views(found.turns, place.mark)
    return Reading(
        turns=views,
        size=found.size,
        start=start,
        before=found.before,
        before_line=found.turns[0].line if found.turns else None,
        after=found.after,
        after_line=found.line_after,
        percent=round(100 * end / found.size) if found.size else 100,
        marked_missing=place.mark is not None and not any(view.is_marked for view in views),
    )


def _around(path: str, line: int, known: Sequence[tuple[int, int]]) -> Place:
    """A few lines before `line`, so that a jump lands with what led there above it."""
    at = offset_of_line(path, line, known)
    before = transcripts.page(path, at, LINES_BEFORE, backward=True, line=line)
    first = before.turns[0] if before.turns else None
    if first is None:
        return Place(at, line, mark=line)
    return Place(first.offset, first.line, mark=line)


def offset_of_line(path: str, line: int, known: Iterable[tuple[int, int]] = ()) -> int:
    """The first byte of a 1-based line, counted from the nearest known one; the end for a line beyond it.

    Reads a gigabyte at most. Raises OSError.
    """
    at_line, offset = max((pair for pair in known if pair[0] <= line), default=(1, 0))
    with opened(path) as fd:
        size = os.fstat(fd).st_size
        limit = offset + COUNT_BYTES
        offset = min(offset, size)
        while at_line < line and offset < min(size, limit):
            data = os.pread(fd, _CHUNK, offset)
            breaks = data.count(b"\n")
            if at_line + breaks < line:
                at_line, offset = at_line + breaks, offset + len(data)
                continue
            position = -1
            for _ in range(line - at_line):
                position = data.index(b"\n", position + 1)
            return offset + position + 1
    return offset


# --- Turns --------------------------------------------------------------------------------------------------------


def _views(turns: Sequence[transcripts.Turn], mark: int | None) -> list[TurnView]:
    views: list[TurnView] = []
    above: TurnView | None = None
    for turn in turns:
        view = _view(turn, mark, above)
        if not view.pieces:
            continue
        views.append(view)
        # What a tool answered stands within the agent's own words and does not end them.
        if view.speaker != "Tool":
            above = view
    return views


def _goes_on(above: TurnView | None, speaker: str, turn: transcripts.Turn) -> bool:
    """The same speaker, without a pause: no new head is needed."""
    if above is None or speaker == "You" or above.speaker != speaker or above.sidechain != turn.sidechain:
        return False
    return turn.at is None or above.at is None or turn.at - above.at < PAUSE


def _view(turn: transcripts.Turn, mark: int | None, above: TurnView | None) -> TurnView:
    speaker, tone, icon = _speaker(turn)
    pieces = [piece for part in turn.parts if (piece := _piece(part, speaker)) is not None]
    if turn.problem:
        pieces = [Piece("problem", f"This line cannot be read: {turn.problem}.")]
    return TurnView(
        line=turn.line,
        offset=turn.offset,
        speaker=speaker,
        tone=tone,
        icon=icon,
        at=turn.at,
        pieces=pieces,
        sidechain=turn.sidechain,
        continues=_goes_on(above, speaker, turn),
        is_marked=mark is not None and turn.line == mark,
        is_folded=speaker in ("Agent’s own note", "Summary", "System"),
        model=turn.model,
    )


def _speaker(turn: transcripts.Turn) -> tuple[str, str, str]:
    if turn.typed is not None:
        return "You", "accent", "user"
    if turn.compact_summary:
        return "Summary", "", "log"
    if turn.type == "assistant" or turn.role == "assistant":
        return "Agent", "info", "agent"
    if any(part.kind == "tool_result" for part in turn.parts):
        return "Tool", "", "gear"
    if turn.type == "user":
        return "Agent’s own note", "", "info"
    return "System", "", "info"


def _piece(part: transcripts.Part, speaker: str) -> Piece | None:
    if part.kind == "image":
        return Piece("image", "An image, which is not shown.")
    if not part.text.strip() and part.kind != "tool_result":
        return None
    text = shown(part.text)
    if part.kind == "tool_use":
        return _tool(part, text)
    if part.kind == "tool_result":
        return _folded("result", text, RESULT_CHARS, part, _first_line(text) or "nothing came back")
    if part.kind == "thinking":
        return _folded("thinking", text, PROSE_CHARS, part, _first_line(text))
    is_prose = part.kind == "text" and len(text) <= PROSE_CHARS
    kind = "text" if part.kind == "text" else "other"
    left = max(0, len(text) - PROSE_CHARS)
    return Piece(
        kind,
        text[:PROSE_CHARS],
        _first_line(text),
        is_markdown=is_prose and speaker != "You",
        left=left,
        is_cut=part.cut,
    )


def _tool(part: transcripts.Part, text: str) -> Piece:
    try:
        found = json.loads(part.text) if not part.cut else None
    except ValueError:
        found = None
    brief = part.name or "tool"
    if isinstance(found, dict):
        telling = next((str(found[key]) for key in _TELLING if found.get(key)), "")
        brief = f"{brief}  {shown(telling)}" if telling else brief
        text = shown(_as_lines(found))
    return _folded("tool", text, TOOL_CHARS, part, _first_line(brief))


def _as_lines(found: dict[str, object]) -> str:
    """`key: value` a line, as a person reads a call; JSON where a value is no text."""
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in list(found.items())[:60]
    )


def _folded(kind: str, text: str, cap: int, part: transcripts.Part, brief: str) -> Piece:
    return Piece(
        kind, text[:cap], brief, is_error=part.is_error, left=max(0, len(text) - cap), is_cut=part.cut
    )


def _first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "").strip()
    return line if len(line) <= BRIEF_CHARS else line[: BRIEF_CHARS - 1] + "…"


# --- Rows ---------------------------------------------------------------------------------------------------------


def outline(session: Session, number: str | None = None) -> Listed[PromptRow]:
    """What the person typed, in order, from the database: it outlives the transcript."""
    return listed(page_of(session.prompts.order_by("offset"), number, OUTLINE_PAGE), _prompt)


def _prompt(row: Prompt) -> PromptRow:
    return PromptRow(str(row.key), row.line_no, row.at, shown(row.text))


def known_lines(session: Session, line: int) -> list[tuple[int, int]]:
    """The nearest typed line before `line`, so that a jump into a long transcript is quick."""
    rows = session.prompts.filter(line_no__lte=line).order_by("-line_no")
    return list(rows.values_list("line_no", "offset")[:1])


def files(session: Session) -> list[FileRow]:
    rows = session.files.order_by("-kind", "path")[:MOST_FILES]
    found = [
        FileRow(
            pk=row.pk,
            label="Main transcript" if row.kind == TranscriptFile.Kind.MAIN else Path(row.path).name,
            is_main=row.kind == TranscriptFile.Kind.MAIN,
            size=row.size,
            gone=row.gone_at is not None,
        )
        for row in rows
    ]
    return sorted(found, key=lambda file: not file.is_main)


def reviewed_by(session: Session) -> list[ReviewedBy]:
    rows = DreamRun.objects.filter(reviewed__session=session).order_by("-created_at")[:10]
    return [
        ReviewedBy(row.public_id, row.ended_at or row.created_at, row.get_status_display()) for row in rows
    ]
