"""Messages that a page reads again, to say less where it shows the rest: what they are made of, and its parts. PURE."""

from __future__ import annotations

from collections.abc import Sequence

_BEGINS = "Unexplained loss: “"
_ENDS = "” stands nowhere any more."
_SO = ", so “"


def loss(statement: str, facts: Sequence[str]) -> str:
    """A statement would stand nowhere; `facts` are those that no other place has."""
    gone = ", ".join(f"“{fact}”" for fact in facts)
    return f"{_BEGINS}{statement}{_ENDS}" + (f" It is the only place that says {gone}." if gone else "")


def lost(message: str) -> str:
    """The statement that a message of a loss is about; "" for any other message."""
    said, found, _ = message.removeprefix(_BEGINS).partition(_ENDS)
    return said if found and message.startswith(_BEGINS) else ""


def missing(words: Sequence[str], where: str, statement: str, verdict: str) -> str:
    """ "“16”, “localhost” stand in no source, so “Use localhost:16.” says more than its evidence." """
    listed = ", ".join(f"“{word}”" for word in words)
    return f"{listed} stand{'' if len(words) > 1 else 's'} in {where}{_SO}{statement}” {verdict}."


def without_statement(message: str) -> str:
    """A message of missing words for who has the statement before the eyes; any other as it is."""
    words, found, _ = message.partition(_SO)
    return f"{words}." if found and " stand" in words else message
