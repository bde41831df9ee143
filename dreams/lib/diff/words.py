"""The words that changed between two texts, as character ranges that are easy to read."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from rapidfuzz.distance import LCSseq, Postfix, Prefix

from dreams.lib.diff.lines import LineChange, trimmed

# Word opcodes need quadratic memory: 10,000 tokens a side cost about 12 MB, 100,000 cost 2.5 GB.
MAX_TOKENS: Final = 10_000
# Unchanged text of up to this many characters ("the", "is", "of") never interrupts a mark; nor does a longer
# one that is shorter than both changes around it and no longer than a few words.
TINY_ISLAND: Final = 3
LARGEST_ISLAND: Final = 12

# Scripts written without spaces between words are compared character by character.
_CJK: Final = (
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003fffd"
)
_WORD: Final = rf"[^\W{_CJK}]+"
_TOKEN: Final = re.compile(
    rf"""
    \r\n | \s
    | https?://[^\s<>()\[\]"'`]+
    | [{_CJK}]
    | [\U0001f1e6-\U0001f1ff]{{2}}                 # a flag is two letters
    | [\ud800-\udfff]+                             # bytes that were not UTF-8, kept as they came
    | (?: (?: ~ | \.{{1,2}} )? / )? (?: \. | --? | [@\#$] )?   # ~/x ./x .env --flag @name
      {_WORD} (?: (?: [./\\:@'’+-]{{1,2}} | (?<=\d),(?=\d) ) {_WORD} )*
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_ZERO_WIDTH_JOINER: Final = "\u200d"


class CharacterSpan(NamedTuple):
    """Characters `[start, end)` of a text, counted in code points."""

    start: int
    end: int


def tokens(text: str) -> list[str]:
    """Words, identifiers, paths, numbers, dates, single marks and single spaces; joined they are `text`."""
    found = _TOKEN.findall(text)
    return found if text.isascii() else list(_whole_graphemes(found))


def word_spans(old: str, new: str) -> tuple[list[CharacterSpan], list[CharacterSpan]]:
    """The changed ranges of `old` and of `new`; the text outside of them is the same on both sides.

    Short unchanged text between changes is part of the mark. If more than `MAX_TOKENS` tokens differ, all
    text is marked.
    """
    if old == new:
        return [], []
    start, after = _common_text(old, new)
    a, b = tokens(old[start : len(old) - after]), tokens(new[start : len(new) - after])
    middle = trimmed(a, b, LineChange(0, len(a), 0, len(b)))
    gone, come = a[middle.a0 : middle.a1], b[middle.b0 : middle.b1]
    if max(len(gone), len(come)) > MAX_TOKENS:
        return [CharacterSpan(0, len(old))] if old else [], [CharacterSpan(0, len(new))] if new else []
    # One word became another, or words were only added or removed, as in most edits of a line: no part is equal.
    if not gone or not come or len(gone) == len(come) == 1:
        at = start + sum(map(len, a[: middle.a0]))
        return _span(at, gone), _span(at, come)
    runs = [run.shifted(middle.a0, middle.b0) for run in _runs(gone, come)]
    joined = _without_islands(runs, _Lengths(a), _Lengths(b), a)
    return (
        _spans([(run.a0, run.a1) for run in joined], a, start),
        _spans([(run.b0, run.b1) for run in joined], b, start),
    )


def _span(start: int, changed: Sequence[str]) -> list[CharacterSpan]:
    return [CharacterSpan(start, start + sum(map(len, changed)))] if changed else []


def _whole_graphemes(found: Sequence[str]) -> Iterator[str]:
    """The same tokens, joined so that combining characters stay with the character before them."""
    held = ""
    joins = after_mark = False
    for token in found:
        extends = _extends(token[0]) and not held.endswith("\n")
        if held and (extends or joins or (after_mark and _continues_word(held, token))):
            held += token
        else:
            if held:
                yield held
            held = token
        after_mark = extends
        joins = token.endswith(_ZERO_WIDTH_JOINER)
    if held:
        yield held


def _extends(char: str) -> bool:
    """Whether a reader sees this as part of the character before it."""
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char in "\u200c\u200d\uff9e\uff9f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _continues_word(held: str, token: str) -> bool:
    """Whether the token continues the word: the pattern ends a word after a decomposed é."""
    return held[0].isalnum() and all(re.match(_WORD, text[0]) for text in (held, token))


def _common_text(old: str, new: str) -> tuple[int, int]:
    """The number of equal characters at the start and at the end, which need not be cut into tokens.

    Both cuts are before a space, where a token always ends; a joiner before the space
    would bind it to the character before.
    """
    start = max(old.rfind(" ", 0, Prefix.similarity(old, new)), 0)
    common = min(Postfix.similarity(old, new), min(len(old), len(new)) - start)
    place = old.find(" ", len(old) - common) if common else -1
    after = len(old) - place if place >= 0 else 0
    joined = _ZERO_WIDTH_JOINER in (
        old[start - 1 : start],
        old[-after - 1 : -after],
        new[-after - 1 : -after],
    )
    return (0, 0) if joined else (start, after)


def _runs(a: Sequence[str], b: Sequence[str]) -> list[LineChange]:
    """The differences between matched words. Spaces do not count as words: matched alone they would scatter the marks."""
    runs: list[LineChange] = []
    i = j = 0
    for x, y in [*_matched_words(a, b), (len(a), len(b))]:
        run = trimmed(a, b, LineChange(i, x, j, y), str.isspace)
        if run.a0 < run.a1 or run.b0 < run.b1:
            runs.append(run)
        i, j = x + 1, y + 1
    return runs


def _matched_words(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    words_a = [i for i, token in enumerate(a) if not token.isspace()]
    words_b = [j for j, token in enumerate(b) if not token.isspace()]
    # Numbers instead of strings: the matcher compares hashes, and two words must not collide.
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(a[i], len(numbers)) for i in words_a]
    right = [numbers.setdefault(b[j], len(numbers)) for j in words_b]
    for code in LCSseq.opcodes(left, right):
        if code.tag == "equal":
            yield from zip(
                words_a[code.src_start : code.src_end], words_b[code.dest_start : code.dest_end], strict=True
            )


class _Lengths:
    """Characters in a range of tokens, in constant time."""

    def __init__(self, of: Sequence[str]) -> None:
        self._ends = [0, *accumulate(map(len, of))]

    def of(self, start: int, end: int) -> int:
        return self._ends[end] - self._ends[start]


def _without_islands(
    runs: Sequence[LineChange], in_a: _Lengths, in_b: _Lengths, a: Sequence[str]
) -> list[LineChange]:
    def size(run: LineChange) -> int:
        return max(in_a.of(run.a0, run.a1), in_b.of(run.b0, run.b1))

    def small_between(left: LineChange, right: LineChange) -> bool:
        island = "".join(a[left.a1 : right.a0]).strip()
        return len(island) <= max(TINY_ISLAND, min(size(left), size(right), LARGEST_ISLAND))

    # Compares the original changes, not the joined ones: a growing mark would include the complete paragraph.
    joined = list(runs[:1])
    for left, run in pairwise(runs):
        if small_between(left, run):
            joined[-1] = LineChange(joined[-1].a0, run.a1, joined[-1].b0, run.b1)
        else:
            joined.append(run)
    return joined


def _spans(ranges: Sequence[tuple[int, int]], side: Sequence[str], offset: int) -> list[CharacterSpan]:
    ends = list(accumulate(map(len, side), initial=offset))
    return [CharacterSpan(ends[start], ends[end]) for start, end in ranges if end > start]
