"""Splits a paragraph or bullet into sentences, however its lines are wrapped. PURE.

All checks of prose use it: read line by line, half a sentence may mean something else.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.lib.memdir.sections import BodyItem
from dreams.lib.memdir.text import split_lines

_LEAD = re.compile(r"^\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+)*")
_QUOTE = re.compile(r"^\s*(?:>\s?)*\s*")
_INDENT = re.compile(r"^\s*")
_END = re.compile(
    r"(?<=[.!?。！？])(?:[\"')\]*_”’]{0,3})\s+(?=[\"'(\[*_`“]{0,3}[^\W\d_a-z])|(?<=[。！？])(?=\S)"
)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|fig|dr|mr|mrs|ms|st)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence joined into one line. Its line numbers are 1-based."""

    text: str
    first_line: int
    last_line: int
    start: int
    # For each line of the item: its start in the joined text, and the first column used from the line.
    starts: tuple[int, ...]
    columns: tuple[int, ...]

    def place(self, at: int) -> tuple[int, int]:
        """The line and column of a character of `text`."""
        at += self.start
        number = _line_at(self.starts, at)
        first = self.first_line - _line_at(self.starts, self.start)
        return first + number, self.columns[number] + at - self.starts[number]


def sentences(item: BodyItem) -> Iterator[Sentence]:
    """The sentences in order, without the markers of lists and quotations."""
    joined, starts, columns = "", list[int](), list[int]()
    later = _QUOTE if item.text.lstrip().startswith(">") else _INDENT
    for line in split_lines(item.text):
        lead = (later if starts else _LEAD).match(line)
        columns.append(lead.end() if lead else 0)
        joined += " " if joined else ""
        starts.append(len(joined))
        joined += line[columns[-1] :].rstrip()
    for start, end in sentence_spans(joined):
        first, last = (item.first_line + _line_at(starts, at) for at in (start, end - 1))
        yield Sentence(joined[start:end], first, last, start, tuple(starts), tuple(columns))


def _line_at(starts: list[int] | tuple[int, ...], position: int) -> int:
    return max(bisect_right(starts, position) - 1, 0)


def sentence_spans(joined: str) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence in a one-line text."""
    at = 0
    for match in _END.finditer(joined):
        said = joined[at : match.start()]
        if _ABBREVIATED.search(said[-8:]) or not any(map(str.isalpha, said)):  # "**2. Check the lists.**"
            continue
        yield at, match.start()
        at = match.end()
    if at < len(joined):
        yield at, len(joined)
