"""Formats search results: the matching part of each text, with the matches marked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.models import InstructionText, Memory, Project, Prompt, Session, Version
from dreams.services.search.query import fold, normal, spans

LINE_CHARS = 180  # of an excerpt; chosen
# longest word that is not cut at the end of a line
LAST_WORD = 20
BEFORE_CHARS = 60
MOST_LINES = 2
AROUND_CHARS = 60
# Words with single spaces, which a browser can find on the page in any rendering.
_RUN = re.compile(r"\S+(?: \S+)*")


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """A part of an excerpt, as plain text that must be escaped."""

    text: str
    is_match: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of a text, shortened. `line` is 1-based.

    `words` are complete words around the first match, exactly as written.
    """

    line: int
    parts: tuple[ExcerptPart, ...]
    words: str = ""


def excerpts(text: str, terms: tuple[str, ...], most: int = MOST_LINES) -> list[Excerpt]:
    """The lines with most of `terms`, in order; none if no line has one."""
    lines = normal(text).split("\n")
    weighed = [(_weight(line, terms), -at) for at, line in enumerate(lines)]
    best = sorted(-at for weight, at in sorted(weighed, reverse=True)[:most] if weight)
    return [_excerpt(lines[at], at + 1, terms) for at in best]


def _weight(line: str, terms: tuple[str, ...]) -> int:
    folded = fold(line)
    return sum(term in folded for term in terms)


def _excerpt(line: str, number: int, terms: tuple[str, ...]) -> Excerpt:
    found = spans(line, terms)
    start = _start(line, found[0][0])
    shown = _clip(line, start)
    return Excerpt(number, tuple(marked(shown, terms)), _around(line, *found[0]))


def _around(line: str, start: int, end: int) -> str:
    run = next((run for run in _RUN.finditer(line) if run.end() >= end), None)
    if run is None or run.start() > start:
        return line[start:end].strip()
    left = line.rfind(" ", run.start(), max(run.start(), start - AROUND_CHARS)) + 1 or run.start()
    right = line.find(" ", min(run.end(), end + AROUND_CHARS), run.end())
    return line[max(left, run.start()) : right if right >= 0 else run.end()]


def _start(line: str, match: int) -> int:
    """Where an excerpt begins: at a word a little before the match."""
    if match < LINE_CHARS - BEFORE_CHARS:
        return 0
    at = line.find(" ", match - BEFORE_CHARS, match)
    return at + 1 if at >= 0 else match - BEFORE_CHARS // 2


def _clip(line: str, start: int) -> str:
    end = start + LINE_CHARS
    is_cut = len(line) > end
    if is_cut and (space := line.rfind(" ", end - LAST_WORD, end + 1)) > start:
        end = space
    return f"{'…' if start else ''}{line[start:end].strip()}{'…' if is_cut else ''}"


def marked(text: str, terms: tuple[str, ...]) -> Iterator[ExcerptPart]:
    text, at = normal(text), 0
    for start, end in spans(text, terms):
        if start > at:
            yield ExcerptPart(text[at:start])
        yield ExcerptPart(text[start:end], is_match=True)
        at = end
    if at < len(text):
        yield ExcerptPart(text[at:])


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory whose current text or path has the words."""

    memory: Memory
    title: tuple[ExcerptPart, ...]
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Earlier versions of one memory with the words: the `newest`, and how many. `still` as in `VersionHit`."""

    newest: int
    count: int
    still: bool


@dataclass(frozen=True, slots=True)
class VersionHit:
    """The newest earlier version of a memory with the words; `others` more have them too.

    `after` is the id of the version that replaced it. `still`: the current memory has the words too.
    """

    version: Version
    after: int | None
    others: int
    still: bool
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class PromptHit:
    """A prompt that has the words in what a person typed or pasted. `no_answer`: only the prompt history has it. `typed` is
    the text around a paste, without its secrets; empty if the typed text itself has the words."""

    prompt: Prompt
    no_answer: bool
    excerpts: list[Excerpt]
    typed: str = ""


@dataclass(frozen=True, slots=True)
class InstructionHit:
    """An instruction file with the words in text or path. `project` is one that loads it; `others` is how many more do."""

    file: InstructionText
    project: Project
    others: int
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session with the words in title, notes or open ends; `excerpts` are of the notes, else of the open ends (`is_task`), with
    the line of the transcript that last mentions each."""

    session: Session
    title: tuple[ExcerptPart, ...]
    excerpts: list[Excerpt]
    is_task: bool = False
