"""Turns transcript records into turns of a conversation: speaker, text, and folded parts."""

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from dreams.lib.agents import transcripts
from dreams.services.search.query import fold
from dreams.web.hidden_secrets import shown

TOOL_CHARS = 6_000  # of a call; chosen
RESULT_CHARS = 4_000  # of its output; chosen
PROSE_CHARS = 40_000  # longer texts are shown without Markdown; chosen
BRIEF_CHARS = 110  # of a folded part; chosen
PAUSE = dt.timedelta(minutes=5)  # after a longer pause the speaker is named again; chosen
_TAG = re.compile(r"</?[\w-]+>")

_FOLDED = ("Agent’s own note", "Summary of the earlier conversation", "System")
# The agent's internal records, of which there are many.
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

# The most informative fields of a tool call, best first.
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
class TurnBlock:
    """One block of a turn. `brief` is the line of a folded one; `left` is how much is not shown.

    `is_found` if it contains all search terms.
    """

    kind: str
    text: str
    brief: str = ""
    is_error: bool = False
    is_markdown: bool = False
    left: int = 0
    is_cut: bool = False
    is_found: bool = False


@dataclass(frozen=True, slots=True)
class TurnView:
    """One record of the transcript. `line` is its anchor; `continues` if the speaker is the same as before.

    `agent_id` is the sub-agent that gave this answer; `is_divider` marks an event that is not a turn.
    """

    line: int | None
    offset: int
    speaker: str
    tone: str
    icon: str
    at: dt.datetime | None
    pieces: list[TurnBlock]
    sidechain: bool
    continues: bool
    is_marked: bool
    is_folded: bool
    model: str
    agent_id: str = ""
    is_divider: bool = False

    @property
    def look(self) -> str:
        """The CSS classes for the speaker."""
        who = {"You": "you", "Agent": "agent", "Task": "agent"}.get(self.speaker, "aside-turn")
        return f"{who} continues" if self.continues else who


def blocks(turns: Sequence[TurnView], *, folds: bool = True) -> list[dict[str, Any]]:
    """Puts consecutive turns of a sub-agent into separate blocks; without `folds`, all turns into one."""
    found: list[dict[str, Any]] = []
    for is_aside, run in groupby(turns, key=lambda turn: folds and turn.sidechain):
        some = list(run)
        is_found = any(piece.is_found for turn in some for piece in turn.pieces)
        is_open = len(some) == 1 or is_found or any(turn.is_marked for turn in some)
        found.append({"turns": some, "is_aside": is_aside, "is_open": is_open})
    return found


def views(turns: Sequence[transcripts.Turn], mark: int | None, terms: tuple[str, ...] = ()) -> list[TurnView]:
    """The turns for the page. Pieces that contain all search `terms` (case-folded) are marked."""
    found: list[TurnView] = []
    above: TurnView | None = None
    for run in _runs(turns, mark):
        view = _view(run[0], mark, above, terms)
        if not view.pieces:
            continue
        if len(run) > 1:
            view = replace(view, pieces=[_problem(run[0], len(run))])
        found.append(view)
        # A tool's answer comes between the agent's words without a new speaker.
        if view.speaker != "Tool":
            above = view
    return found


def _runs(turns: Sequence[transcripts.Turn], mark: int | None) -> Iterator[list[transcripts.Turn]]:
    """Each turn alone, but consecutive lines that are unreadable for the same reason together, except the line `mark`."""
    for why, run in groupby(turns, key=lambda turn: _why_unread(turn, mark)):
        if why:
            yield list(run)
        else:
            yield from ([turn] for turn in run)


def _why_unread(turn: transcripts.Turn, but: int | None = None) -> str:
    return "" if but is not None and turn.line == but else turn.problem.partition(":")[0]


def _problem(turn: transcripts.Turn, lines: int = 1) -> TurnBlock:
    what = "This line" if lines == 1 else f"{lines} lines in a row"
    return TurnBlock("problem", f"{what} cannot be read: {_why_unread(turn)}.")


def _goes_on(above: TurnView | None, speaker: str, turn: transcripts.Turn) -> bool:
    """Whether it is the same speaker without a pause, so that no new head is needed."""
    if above is None or speaker == "You" or above.speaker != speaker or above.sidechain != turn.sidechain:
        return False
    return turn.at is None or above.at is None or turn.at - above.at < PAUSE


def holds(turn: transcripts.Turn, terms: tuple[str, ...]) -> bool:
    """Whether the turn is shown and contains all of `terms` (case-folded)."""
    if turn.type in SKIPPED:
        return False
    return _has_all(shown(turn.text), terms)


def _pieces(turn: transcripts.Turn, speaker: str, terms: tuple[str, ...]) -> list[TurnBlock]:
    if turn.problem:
        return [_problem(turn)]
    found = [piece for part in turn.parts if (piece := _piece(part, speaker)) is not None]
    if not terms:
        return found
    return [replace(piece, is_found=_has_all(piece.text, terms)) for piece in found]


def _has_all(text: str, terms: tuple[str, ...]) -> bool:
    folded = fold(text)
    return all(term in folded for term in terms)


def _view(
    turn: transcripts.Turn, mark: int | None, above: TurnView | None, terms: tuple[str, ...]
) -> TurnView:
    speaker, tone, icon = _speaker(turn)
    pieces = _pieces(turn, speaker, terms)
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
        is_folded=speaker in _FOLDED,
        model=shown(turn.model),
        agent_id=turn.agent_id,
        is_divider=turn.subtype == "compact_boundary",
    )


def _speaker(turn: transcripts.Turn) -> tuple[str, str, str]:
    if turn.typed is not None:
        return "You", "accent", "user"
    if turn.compact_summary:
        return "Summary of the earlier conversation", "", "log"
    if turn.type == "assistant" or turn.role == "assistant":
        return "Agent", "info", "agent"
    if any(part.kind == "tool_result" for part in turn.parts):
        return "Tool", "", "gear"
    if turn.type == "user" and turn.sidechain and not turn.meta:
        return "Task", "", "agent"  # the agent's instructions to a sub-agent
    if turn.type == "user":
        return "Agent’s own note", "", "info"
    return "System", "", "info"


def _piece(part: transcripts.TurnPart, speaker: str) -> TurnBlock | None:
    if part.kind == "image":
        what = "A picture" if "pdf" not in part.name else "A document"
        return TurnBlock(
            "image", f"{what} ({shown(part.name)}), not shown." if part.name else f"{what}, not shown."
        )
    if not part.text.strip() and part.kind != "tool_result":
        return None
    text = shown(part.text)
    if part.kind == "tool_use":
        return _tool(part, text)
    if part.kind == "tool_result":
        return _folded("result", text, RESULT_CHARS, part, _first_line(text) or "no result")
    if part.kind == "thinking":
        return _folded("thinking", text, PROSE_CHARS, part, _first_line(text))
    is_prose = part.kind == "text" and len(text) <= PROSE_CHARS
    kind = "text" if part.kind == "text" else "other"
    left = max(0, len(text) - PROSE_CHARS)
    return TurnBlock(
        kind,
        text[:PROSE_CHARS],
        _first_line(text),
        is_markdown=is_prose and speaker != "You",
        left=left,
        is_cut=part.cut,
    )


def _tool(part: transcripts.TurnPart, text: str) -> TurnBlock:
    try:
        found = json.loads(part.text) if not part.cut else None
    except ValueError:
        found = None
    brief = shown(part.name or "tool")
    if isinstance(found, dict):
        telling = next((str(found[key]) for key in _TELLING if found.get(key)), "")
        brief = f"{brief}  {shown(telling)}" if telling else brief
        text = shown(as_lines(found))
    return _folded("tool", text, TOOL_CHARS, part, _first_line(brief))


def as_lines(found: Mapping[str, object]) -> str:
    """One line `key: value` for each item; values that are not text as JSON."""
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in list(found.items())[:60]
    )


def _folded(kind: str, text: str, cap: int, part: transcripts.TurnPart, brief: str) -> TurnBlock:
    return TurnBlock(
        kind, text[:cap], brief, is_error=part.is_error, left=max(0, len(text) - cap), is_cut=part.cut
    )


def _first_line(text: str) -> str:
    """The title of a folded piece: its first line, skipping a lone tag if other text follows."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line for line in lines if not _TAG.fullmatch(line)), lines[0] if lines else "")
    return line if len(line) <= BRIEF_CHARS else line[: BRIEF_CHARS - 1] + "…"
