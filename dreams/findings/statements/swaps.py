"""What a small word says of the word behind it, and words that changed places: "with a header", "since March", "A reports to B". PURE.

Both words may stand in both texts and still be said of other things, so each is bound to the next word of meaning.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from dreams.findings.statements.wordings import made
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement
from dreams.lib.prose.words import stem

_NEAR = 4  # words between a small one and what it is said of
_JOINS = frozenset({"and", "or"})
_OPPOSED = """
with without|to from|into from|onto from|since until|since befor|until after|since till|inside after|in out|into out|by for|
behind front|next opposit|except includ|before after|inside outside|over below|above below|must may|must can|must might|
should may|and or|over under|for against|each some|all some|all none|all no|each no|
"""
_PAIRS = frozenset(
    pair
    for entry in _OPPOSED.replace("\n", "").strip("|").split("|")
    for one, other in [entry.split()]
    for pair in ((one, other), (other, one), (stem(one), stem(other)), (stem(other), stem(one)))
)
_Word = tuple[str, int]  # with its clause
_BINDING = frozenset(word for pair in _PAIRS for word in pair)


def rebound(old: str, new: str) -> list[str]:
    """The words of which `new` says the opposite of what `old` says, in words for a person: "header (with, now without)"."""
    mine, theirs = bound(old), bound(new)
    return [
        f"{word} ({one}, now {other})"
        for word in mine.keys() & theirs.keys()
        for one in sorted(mine[word] - theirs[word])
        for other in sorted(theirs[word] - mine[word])
        if (one, other) in _PAIRS
    ][:1]


@functools.lru_cache(maxsize=20_000)
def bound(text: str) -> dict[str, frozenset[str]]:
    """Each word of meaning with the small words that are said of it."""
    found: dict[str, set[str]] = {}
    for small, word in _bindings(made(text)):
        found.setdefault(word, set()).add(small)
    return {word: frozenset(small) for word, small in found.items()}


def _bindings(one: Statement) -> Iterator[tuple[str, str]]:
    denied = any(word in lexicon.NEGATIONS for word in one.flow)
    for place, small in enumerate(one.flow):
        joined = denied and small in _JOINS  # "no A or B" is "A and B are not"
        if small in _BINDING and not joined and (found := _said_of(one, place)):
            yield small, found


def _said_of(one: Statement, place: int) -> str:
    """The word of meaning that a small one at `place` belongs to; "" for none."""
    for at in range(place + 1, min(place + 1 + _NEAR, len(one.flow))):
        word = one.flow[at]
        if one.clause_of[at] != one.clause_of[place] or word in _BINDING - lexicon.ARTICLES:
            return ""
        if word in one.weights and word not in lexicon.GENERIC:
            return word
    return ""


def exchanged(old: str, new: str) -> bool:
    """Whether all words are alike but for two words or phrases in each other's place: "commas as marks, points as separators"."""
    one, other = made(old), made(new)
    mine, theirs = (_without_articles(each) for each in (one, other))
    if len(mine) != len(theirs) or mine == theirs:
        return False
    differing = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a[0] != b[0]]
    if len(differing) < 2:
        return False
    start, stop = differing[0], differing[-1] + 1
    told = [word for word, _ in theirs[start:stop]]
    lead = mine[start - 1][0] if start else ""
    if _renamed(mine, differing, told, start) or _swapped(mine[start:stop], told, one, lead):
        return True
    return _over_the_end(mine, start, stop, told)


def _without_articles(one: Statement) -> list[_Word]:
    return [
        (word, clause)
        for word, clause in zip(one.flow, one.clause_of, strict=True)
        if word not in lexicon.ARTICLES or word in one.weights
    ]


def _renamed(mine: Sequence[_Word], differing: Sequence[int], theirs: Sequence[str], start: int) -> bool:
    """Whether each of two words stands wherever the other one stood: "A reports to B, and B to C"."""
    pairs = {frozenset((mine[at][0], theirs[at - start])) for at in differing}
    if len(pairs) != 1 or len({mine[at][0] for at in differing}) != 2:
        return False
    first, last = differing[0], differing[-1]
    return len(differing) > 2 or (last - first > 1 and not _listed(mine[first : last + 1], 1, 1))


def _swapped(mine: Sequence[_Word], theirs: Sequence[str], one: Statement, lead: str) -> bool:
    """Whether the one is X M Y and the other Y M X, and no mere list; a phrase that takes its "in" along only moved.

    `lead` is the word before X: where M ends with it too, both belong to it ("to A by day and to B by night").
    """
    words = [word for word, _ in mine]
    for last in range(1, len(words) - 1):
        if words[-last:] != theirs[:last]:
            continue
        for first in range(1, len(words) - last):
            if words[:first] == theirs[-first:] and words[first:-last] == theirs[last:-first]:
                sides = [words[:first], words[-last:]]
                named = all(any(word in one.weights for word in side) for side in sides)
                moved = any(side[0] in lexicon.PHRASE_STARTS for side in sides)
                same_lead = words[-last - 1] == lead and len(words) - first - last > 1
                listed = _listed([*mine[: -last - 1], *mine[-last:]] if same_lead else mine, first, last)
                return named and not moved and not listed
    return False


def _over_the_end(mine: Sequence[_Word], start: int, stop: int, theirs: Sequence[str]) -> bool:
    """Whether the last words of a clause and the first of the next one changed places: "tag with A; B is local"."""
    if not start or stop == len(mine) or mine[stop][0] in _JOINS:
        return False
    words, clauses = ([each[part] for each in mine[start:stop]] for part in (0, 1))
    cut = next((at for at in range(1, len(words)) if clauses[at] != clauses[at - 1]), 0)
    rest = clauses[0] == mine[start - 1][1] and clauses[-1] == mine[stop][1] == clauses[cut]
    return bool(cut) and rest and [*words[cut:], *words[:cut]] == list(theirs)


def _listed(mine: Sequence[_Word], first: int, last: int) -> bool:
    """Whether the two are members of one list: nothing but commas, "and" and more members stand between them."""
    middle = mine[first:-last]
    if any(word in lexicon.FILLER | lexicon.NEGATIONS and word not in _JOINS for word, _ in middle):
        return False
    return _parted(mine[first - 1], middle[0]) and _parted(middle[-1], mine[-last])


def _parted(left: _Word, right: _Word) -> bool:
    return left[1] != right[1] or bool({left[0], right[0]} & _JOINS)
