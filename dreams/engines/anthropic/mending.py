"""What the checks found, told to the model once it says that it is done. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.anthropic.evidence import clean, fenced
from dreams.engines.types import Problem

MOST_CHARS = 12_000
MESSAGE_CHARS = 400

ASK = (
    "Before a person sees your work it was checked, and what follows stands against it. Go through it from the top: what "
    "must be mended would stop that person.\n"
    "- Lost without a word: put the line back, or Write the file again, as it reads now, and say under `removed` where it "
    "went.\n"
    "- Not proven: Write the file again, as it reads now, and cite words that really stand there, or take the statement "
    "back.\n"
    "- Not as it was said: write it as the person said it, with its numbers, names and dates.\n"
    "- The index: rows for what is there, none for what is not, within its limits.\n"
    "The checks know words, not meaning. Where you are sure that one is wrong, leave your change as it is, and say why in "
    "the summary. Start nothing new. Take what belongs together in one turn; then end with a summary of the whole dream."
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
    # Findings quote what others wrote.
    return "\n\n".join([ASK, fenced("findings", "\n".join(lines))])


def _line(problem: Problem) -> str:
    place = f"{problem.path}, line {problem.line_no}" if problem.line_no else problem.path
    weight = "Must be mended" if problem.blocks else "Should be mended"
    said = clean(problem.message)[:MESSAGE_CHARS]
    return f"{weight} ({clean(place) or 'the whole'}): {said} {clean(problem.remedy)[:MESSAGE_CHARS]}".strip()
