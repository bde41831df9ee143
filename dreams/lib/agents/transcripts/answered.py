"""What an agent had said when a person answered it: the text that stood directly above what was typed. Pure: no Django."""

from __future__ import annotations

from collections.abc import Iterable

from .reader import Source
from .turns import Turn, line_at, page

LINES_BACK = 40  # remarks of the program between the two; a conversation has few
_TALK = frozenset({"user", "assistant", "attachment"})
_BY_THE_PROGRAM = "<synthetic>"  # the model's name on errors that stand in the place of an answer


def answered(source: Source, offset: int, *, line: int | None = None) -> Turn | None:
    """The agent's turn that the typed line at `offset` answers, its text in the last part; None where it is not sure.

    Not sure is: anything else of the conversation in between, and what was typed while the agent was busy, which was
    meant for what could be read then. After a rewind the line above is of another branch; the parent tells. Raises OSError.
    """
    typed = line_at(source, offset, line=line)
    if typed is None or typed.offset != offset or typed.type != "user" or typed.typed is None:
        return None
    before = page(source, offset, LINES_BACK, backward=True, line=line)
    return _above(reversed(before.turns), typed.parent_uuid)


def _above(turns: Iterable[Turn], wanted: str) -> Turn | None:
    """The first turn of the conversation, going up by parents where lines name them."""
    for turn in turns:
        if turn.sidechain or (wanted and turn.uuid != wanted):
            continue
        if turn.type in _TALK:
            return turn if _is_spoken(turn) else None
        wanted = turn.parent_uuid if wanted else ""
    return None


def _is_spoken(turn: Turn) -> bool:
    """Whether the agent ended with words, not with the call of a tool."""
    ended = turn.parts[-1].kind == "text" if turn.parts else False
    return turn.type == "assistant" and ended and turn.model != _BY_THE_PROGRAM
