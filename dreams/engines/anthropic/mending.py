"""What the checks found, told to the model once it says that it is done. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.anthropic.data import clean
from dreams.engines.base import Problem

MOST_CHARS = 12_000
MESSAGE_CHARS = 400

_ASK = (
    "Before your work is shown to a person it was checked. The following stands against it. Mend what you can with Edit, "
    "Write and Delete: put back what was lost, name where a removed line went, cite a quote that really stands there, "
    "shorten the index. What is right as it is, leave. What cannot be mended, take back. Do not start anything new, and "
    "end with your summary."
)


def request(problems: Sequence[Problem]) -> str:
    """The message that hands `problems` back, in numbered lines; what does not fit is counted."""
    lines: list[str] = []
    size = 0
    for number, problem in enumerate(problems, start=1):
        line = f"{number}. {_line(problem)}"
        size += len(line)
        if size > MOST_CHARS:
            lines.append(f"And {len(problems) - number + 1} more of these kinds.")
            break
        lines.append(line)
    return "\n".join([_ASK, "", *lines])


def _line(problem: Problem) -> str:
    place = f"{problem.path}, line {problem.line_no}" if problem.line_no else problem.path
    weight = "Must be mended" if problem.blocks else "Should be mended"
    said = clean(problem.message)[:MESSAGE_CHARS]
    return f"{weight} ({clean(place) or 'the whole'}): {said} {clean(problem.remedy)[:MESSAGE_CHARS]}".strip()
