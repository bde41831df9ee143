"""Pasted text is not the person's word: where the agent's prompt history shows what was pasted, only the rest counts.

The history (`history.jsonl`) has each prompt as it was typed, with `[Pasted text #1 +20 lines]` in the place of a paste.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence

from dreams.lib.agents.claude_code.history import FILE
from dreams.lib.files import safefs
from dreams.models import Prompt, Session

MOST_BYTES = 4 * 1024 * 1024  # from its end
SHORTEST = 200  # characters: nothing shorter is shown as a paste
_PASTE = re.compile(r"\[(?:Pasted text|Image|\.\.\.Truncated text) ?#\d+[^\]]*\]")


def without_pasted(session: Session, prompts: Sequence[Prompt]) -> list[str]:
    """The texts of the prompts without what was pasted, as far as the history tells."""
    if not any(_may_hold_a_paste(prompt.text) for prompt in prompts):
        return [prompt.text for prompt in prompts]
    displays = list(_displays(session))
    return [
        _typed(prompt.text, displays) if _may_hold_a_paste(prompt.text) else prompt.text for prompt in prompts
    ]


def _may_hold_a_paste(text: str) -> bool:
    return len(text) > SHORTEST or "\n" in text


def _typed(text: str, displays: Sequence[str]) -> str:
    for display in displays:
        pieces = [piece.strip() for piece in _PASTE.split(display)]
        if _in_order(pieces, text):
            return "\n\n".join(filter(None, pieces))
    return text


def _in_order(pieces: Sequence[str], text: str) -> bool:
    """Whether the prompt is these pieces with something between, before or behind them."""
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return text.strip().startswith(pieces[0]) and text.strip().endswith(pieces[-1])


def _displays(session: Session) -> Iterator[str]:
    """The prompts of this session that hold a paste, as the history shows them."""
    for line in _lines(session.project.root):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if not isinstance(found, dict) or found.get("sessionId") != session.session_id:
            continue
        display = found.get("display")
        if isinstance(display, str) and _PASTE.search(display):
            yield display


def _lines(root: str) -> list[bytes]:
    try:
        with safefs.Root.open(root) as folder, folder.open_file(FILE) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - MOST_BYTES))
            return file.read(MOST_BYTES).split(b"\n")
    except (OSError, safefs.SafeFsError):
        return []
