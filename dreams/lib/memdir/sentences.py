"""The sentences of a paragraph or bullet, however its lines are wrapped. PURE.

One unit of reading for all who judge prose: read line by line, half a sentence may say another thing.
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
    """Its words in one line. The lines that it stands on are 1-based."""

    text: str
    first_line: int
    last_line: int
    start: int
    # Of each line of the item: where it begins in the joined text, and the column of the line that it begins with.
    starts: tuple[int, ...]
    columns: tuple[int, ...]

    def place(self, at: int) -> tuple[int, int]:
        """The line, and its column, of a character of `text`."""
        at += self.start
        number = _line_at(self.starts, at)
        first = self.first_line - _line_at(self.starts, self.start)
        return first + number, self.columns[number] + at - self.starts[number]


def sentences(item: BodyItem) -> Iterator[Sentence]:
    """The sentences in order; a list's mark and a quotation's are no part of them."""
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
    """Where the sentences of a text in one line begin and end."""
    at = 0
    for match in _END.finditer(joined):
        said = joined[at : match.start()]
        if _ABBREVIATED.search(said[-8:]) or not any(map(str.isalpha, said)):  # "**2. Check the lists.**"
            continue
        yield at, match.start()
        at = match.end()
    if at < len(joined):
        yield at, len(joined)
