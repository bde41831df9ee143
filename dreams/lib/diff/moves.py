"""Finds lines removed in one place and added in another, and renamed files."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import product
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import Indel, LCSseq

from dreams.lib.diff.hunks import Hunk
from dreams.lib.diff.words import tokens

# Shorter lines ("---", "type: user", "## Why") are in many files without having moved.
MIN_LENGTH: Final = 16
# A line less alike is another statement; its numbers must always be the same.
NEAR: Final = 0.9
# Limits of time, chosen: about 500 lines compared with 500, and so many characters of each.
MAX_COMPARISONS: Final = 250_000
COMPARED_LENGTH: Final = 1_000

_LEAD: Final = re.compile(r"^\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+|#{1,6}\s+)*")


@dataclass(frozen=True, slots=True)
class HunkLine:
    """One line of one hunk; `line` counts from 0 within the hunk's side."""

    path: str
    hunk: str
    line: int


@dataclass(frozen=True, slots=True)
class Move:
    """A line that moved from `source` to `target`. `likeness` is 1 for the same words."""

    source: HunkLine
    target: HunkLine
    likeness: float


@dataclass(frozen=True, slots=True)
class _Line:
    place: HunkLine
    text: str


def moved(files: Mapping[str, Sequence[Hunk]], *, comparisons: int = MAX_COMPARISONS) -> list[Move]:
    """Pairs of a removed line and the place where it was added; each line is in one pair at most.

    Bullets, heading marks and spacing do not count. The same words are matched first, then nearly the same, if no
    more than `comparisons` pairs of lines are to be compared (0: the same words only).
    """
    gone, come = _lines(files, removed=True), _lines(files, removed=False)
    exact = list(_exact(gone, come))
    sources, targets = {move.source for move in exact}, {move.target for move in exact}
    left = [line for line in gone if line.place not in sources]
    free = [line for line in come if line.place not in targets]
    near = _near(left, free) if len(left) * len(free) <= comparisons else []
    order = {line.place: number for number, line in enumerate(gone)}
    return sorted([*exact, *near], key=lambda move: order[move.source])


def moved_within(hunk: Hunk) -> list[tuple[int, int]]:
    """(removed line, added line), counted from 0, of lines that changed their order in a hunk.

    A line that keeps its order and is only indented differently has not moved. Sides too long to compare give
    nothing.
    """
    if len(hunk.base_lines) * len(hunk.new_lines) > MAX_COMPARISONS:
        return []
    old, new = (list(map(_statement, side)) for side in (hunk.base_lines, hunk.new_lines))
    stayed = {
        (b.src_start + n, b.dest_start + n)
        for b in LCSseq.opcodes(old, new)
        if b.tag == "equal"
        for n in range(b.src_end - b.src_start)
    }
    kept_old, kept_new = {i for i, _ in stayed}, {j for _, j in stayed}
    free: defaultdict[str, list[int]] = defaultdict(list)
    for number in reversed(range(len(new))):
        if number not in kept_new and len(new[number]) >= MIN_LENGTH:
            free[new[number]].append(number)
    return [
        (number, free[words].pop())
        for number, words in enumerate(old)
        if number not in kept_old and free.get(words)
    ]


def _statement(line: str) -> str:
    return " ".join(_LEAD.sub("", line).split())


def _lines(files: Mapping[str, Sequence[Hunk]], *, removed: bool) -> list[_Line]:
    """Lines long enough to recognise, without those that the hunk only kept or re-indented."""
    found: list[_Line] = []
    for path, hunks in files.items():
        for hunk in hunks:
            here, there = (hunk.base_lines, hunk.new_lines) if removed else (hunk.new_lines, hunk.base_lines)
            kept = set(map(_statement, there))
            found.extend(
                _Line(HunkLine(path, hunk.id, number), words)
                for number, words in enumerate(map(_statement, here))
                if len(words) >= MIN_LENGTH and words not in kept
            )
    return found


def _exact(gone: list[_Line], come: list[_Line]) -> Iterator[Move]:
    arrivals: defaultdict[str, list[HunkLine]] = defaultdict(list)
    for line in reversed(come):
        arrivals[line.text].append(line.place)
    for line in gone:
        if arrivals[line.text]:
            yield Move(line.place, arrivals[line.text].pop(), 1.0)


def _near(gone: list[_Line], come: list[_Line]) -> Iterator[Move]:
    """For each removed line, the most similar added line with the same numbers."""
    by_numbers: defaultdict[tuple[str, ...], dict[int, str]] = defaultdict(dict)
    for number, line in enumerate(come):
        by_numbers[_numbers(line.text)][number] = line.text[:COMPARED_LENGTH]
    for line in gone:
        free = by_numbers[_numbers(line.text)]
        candidates = {n: text for n, text in free.items() if come[n].place.hunk != line.place.hunk}
        best = process.extractOne(
            line.text[:COMPARED_LENGTH], candidates, scorer=Indel.normalized_similarity, score_cutoff=NEAR
        )
        if best:
            _, likeness, number = best
            del free[number]
            yield Move(line.place, come[number].place, likeness)


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", text))


# --- Renamed files ---------------------------------------------------------------------------------------------------

# Below this it is a new file, even if it reuses text; the same share as git's.
LEAST: Final = 0.5
# Comparing is quadratic in words and in files, so the number of pairs and of words is limited.
MAX_PAIRS: Final = 400
COMPARED_WORDS: Final = 1_500
_HEAD: Final = re.compile(r"---[ \t]*\r?\n.*?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def renamed(gone: Mapping[str, str], come: Mapping[str, str]) -> dict[str, str]:
    """New name → old name of renamed files, the most similar pairs first; each file is in one pair.

    Empty files are skipped. Beyond MAX_PAIRS pairs only identical texts count.
    """
    found: dict[str, str] = {}
    left = {path: text for path, text in gone.items() if text.strip()}
    for new, old in _same(left, come):
        found[new] = old
    taken = set(found.values())
    old_words = {path: _words(text) for path, text in left.items() if path not in taken}
    new_words = {path: _words(text) for path, text in come.items() if text.strip() and path not in found}
    if len(old_words) * len(new_words) > MAX_PAIRS:
        return found
    for _, old, new in _by_likeness(old_words, new_words):
        if new not in found and old not in taken:
            found[new] = old
            taken.add(old)
    return found


def _same(gone: Mapping[str, str], come: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    by_text: dict[str, list[str]] = {}
    for path, text in gone.items():
        by_text.setdefault(text, []).append(path)
    for path, text in come.items():
        if by_text.get(text):
            yield path, by_text[text].pop(0)


def _by_likeness(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> list[tuple[float, str, str]]:
    scored = (
        (Indel.normalized_similarity(old[a], new[b], score_cutoff=LEAST), a, b) for a, b in product(old, new)
    )
    return nlargest(MAX_PAIRS, (pair for pair in scored if pair[0] >= LEAST))


def _words(text: str) -> list[str]:
    """Of the body: two short memories can have most of their frontmatter in common."""
    head = _HEAD.match(text)
    text = text[head.end() :].strip() or text if head else text
    return [token for token in tokens(text[: COMPARED_WORDS * 12]) if not token.isspace()][:COMPARED_WORDS]
