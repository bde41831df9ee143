"""What is said of a statement that would stand nowhere any more, and the statement in it again. PURE."""

from __future__ import annotations

from collections.abc import Sequence

_BEGINS = "Unexplained loss: “"
_ENDS = "” stands nowhere any more."


def message(statement: str, facts: Sequence[str]) -> str:
    """`facts` are those that no other place has."""
    gone = ", ".join(f"“{fact}”" for fact in facts)
    return f"{_BEGINS}{statement}{_ENDS}" + (f" It is the only place that says {gone}." if gone else "")


def statement(message: str) -> str:
    """The statement that a message of this kind is about; "" for any other message."""
    said, found, _ = message.removeprefix(_BEGINS).partition(_ENDS)
    return said if found and message.startswith(_BEGINS) else ""
