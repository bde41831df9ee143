"""Slips of the pen: words that are no words, and that the new text spells right. PURE."""

from __future__ import annotations

from difflib import SequenceMatcher

from dreams.findings.statements.wordings import LONGEST
from dreams.language import lexicon
from dreams.language.words import stem, tokens

MOST_SLIPS = 3  # in one statement
LONG, ALIKE = 8, 0.84  # letters of a word, and the share of them that two spellings have in common
LEAST_SLIP = 5  # letters of the word that was meant, unless it is one of the small ones


def same_words(one: str, other: str) -> bool:
    return [token.text for token in tokens(one[:LONGEST])] == [
        token.text for token in tokens(other[:LONGEST])
    ]


def corrected(old: str, new: str) -> str:
    """`old` with its slips of the pen as `new` has those words: "maintainance", "evrey"."""
    old, new = old[:LONGEST], new[:LONGEST]
    mine, theirs = list(tokens(old)), list(tokens(new))
    codes = SequenceMatcher(
        None, [t.text for t in mine], [t.text for t in theirs], autojunk=False
    ).get_opcodes()
    pairs = [
        (one, other)
        for tag, i1, i2, j1, j2 in codes
        if tag == "replace" and i2 - i1 == j2 - j1
        for one, other in zip(mine[i1:i2], theirs[j1:j2], strict=True)
        if _slip(one.text, other.text)
    ]
    for one, other in reversed(pairs[:MOST_SLIPS]):
        old = old[: one.start] + other.text + old[one.end :]
    return old


def _slip(one: str, other: str) -> bool:
    """A plain word that is nowhere known, a stroke or two away from the other and with the same first letter."""
    if not (one.isalpha() and one.islower() and other.islower()) or one[0] != other[0]:
        return False
    if one in lexicon.KNOWN or stem(one) in lexicon.KNOWN or stem(one) == stem(other):
        return False
    if len(other) < LEAST_SLIP and other not in lexicon.FILLER:
        return False
    if min(len(one), len(other)) >= LONG and stem(other) not in lexicon.KNOWN:
        return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
    changes = [
        op for op in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    moved = len(one) == len(other) and sorted(one) == sorted(other) and sum(map(str.__ne__, one, other)) == 2
    return moved or (abs(len(one) - len(other)) == 1 == len(changes) and changes[0][0] != "replace")
