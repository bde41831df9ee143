"""Whether a new statement keeps an old one: says all of it, says it in other words, or says something else in its place. PURE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from dreams.findings.statements.facts import (
    LEAST_TOLD,
    changed_places,
    kinds,
    loses_words,
    lost,
    plain_coverage,
    taken_back,
    turned,
    words_lost,
)
from dreams.findings.statements.units import in_cells
from dreams.findings.statements.wordings import (
    LIGHT,
    LONGEST,
    SAYS_NOTHING,
    capitals,
    has,
    known,
    made,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement

_PIECES = re.compile(r"[;:.]\s+|\s?[—–]\s?|\s-\s|\s?(?<!\\)\|\s?")
MOST_PIECES = 12
MOST_NAMED = 4  # words of a refusal
MOST = 0.6  # the share of a statement's weight that a rewording keeps at least
PART = 0.3  # the share of the new statement that the old one makes up at least


def absorbed(old: str, new: str, *, merged: bool = False) -> bool:
    """Whether `new` surely says all that `old` says: every fact and every word of it, and none of them turned.

    `merged` is for a new text made from several: there the words in one piece will do.
    """
    if not made(old).items or loses_words(old, new) or lost(old, new) or changed_places(old, new):
        return in_cells(old, new)
    if taken_over(made(old), made(new)) or another_word(old, new) or taken_back(old, new):
        return False
    return (
        _told(old, new)
        or (merged and in_one_piece(old, new) and not _changed_by(made(old), made(new)))
        or in_cells(old, new)
    )


def refusal(old: str, new: str) -> str:
    """What keeps `new` from keeping `old`, in words for a person: the first of the rules that speaks."""
    if words := words_lost(old, new):
        return f"lacks {quoted(words[:MOST_NAMED])}"
    if facts := lost(old, new):
        return f"lacks {quoted(facts[:MOST_NAMED])}"
    checks = (
        (changed_places(old, new), "swaps two things"),
        (taken_over(made(old), made(new)) or another_word(old, new), "has another word instead"),
        (taken_back(old, new), "withdraws it"),
        (_changed_by(made(old), made(new)), "says it with another condition or tense"),
        (pushed_in(made(old), made(new)), "has another name in the middle"),
    )
    return next((why for speaks, why in checks if speaks), "says it as part of something else")


def quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def pieces(text: str) -> list[str]:
    """The text and, where it has several, its sentences and the parts between semicolons and dashes."""
    parts = [part for part in _PIECES.split(text[:LONGEST]) if part.strip()]
    return [text, *parts] if 1 < len(parts) <= MOST_PIECES else [text]


def _told(old: str, new: str) -> bool:
    """Whether `new` says the same and perhaps more: a good part of it is `old`, and nothing that was added changes that."""
    one, other = made(old), made(new)
    common = sum(weight for word, weight in other.telling.items() if word in one.weights)
    if len(one.telling) < LEAST_TOLD or common < PART * sum(other.telling.values()):
        return False
    return not _changed_by(one, other) and not pushed_in(one, other)


def _changed_by(one: Statement, other: Statement) -> bool:
    """Whether a condition, a state, a tense, a sign or the strength is another: what is added may take the rest back."""
    if one.asks != other.asks or one.marks(other) != other.marks(one) or other.signs - one.signs:
        return True
    strength = [(bool(s.raw & lexicon.STRONG), bool(s.raw & lexicon.WEAK)) for s in (one, other)]
    return bool(one.was & other.is_ or one.is_ & other.was) or set(strength) == {(True, False), (False, True)}


def pushed_in(one: Statement, other: Statement) -> bool:
    """Whether a new name or number came between words of `one` and took some: "Ana asks Bob, who owns search"."""
    mine, theirs = list(dict.fromkeys(item.word for item in one.items)), [item.word for item in other.items]
    new = ({item.word for item in other.items if item.anchor} | capitals(other.text)) - one.weights.keys()
    for place, (word, following) in enumerate(pairwise(mine)):
        if word not in theirs or following not in theirs[theirs.index(word) :]:
            continue
        start = theirs.index(word)
        between = theirs[start + 1 : theirs.index(following, start)]
        alike = new & set(between) & _kin(one, other, word, first=place == 0)
        if alike or (new & set(between) and one.weights.keys() & set(between)):
            return True
    return False


def _kin(one: Statement, other: Statement, word: str, *, first: bool) -> set[str]:
    """What in `other` is of the same kind as `word`: numbers for a number. A first word may be a name."""
    names = {name for _, name in other.names} | capitals(other.text)
    return {
        w for mine, theirs in zip(kinds(one), kinds(other), strict=True) if word in mine for w in theirs
    } | (names if first else set())


def taken_over(one: Statement, other: Statement) -> bool:
    """Whether a word stands where another one stood that is still there, but once less: "wants to commit", "wants to wait"."""
    mine, theirs = ([item.word for item in s.items] for s in (one, other))
    fewer = {word for word in Counter(mine) - Counter(theirs) if word in theirs}
    more = Counter(theirs) - Counter(mine)
    return any(
        tag == "replace"
        and i2 - i1 <= 2
        and fewer & set(mine[i1:i2]) - SAYS_NOTHING - LIGHT
        and more.keys() & set(theirs[j1:j2])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    )


def another_word(old: str, new: str) -> bool:
    """Whether a telling word stands in the place of an everyday one: "existing tests" are not "nightly tests"."""
    mine, theirs = ([item.word for item in made(text).items] for text in (old, new))
    return any(
        tag == "replace"
        and i2 - i1 == j2 - j1 == 1
        and theirs[j1] not in lexicon.GENERIC | LIGHT
        and not has(known(new), mine[i1])
        and not has(known(old), theirs[j1])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    )


def replaced(old: str, new: str) -> bool:
    """Whether `new` says something else of the same thing: a number, a name or a denial differs, the words hardly do."""
    if plain_coverage(old, new) < MOST or plain_coverage(new, old) < MOST:
        return False
    return bool(turned(old, new) or (lost(old, new) and lost(new, old)))


def in_one_piece(old: str, new: str) -> bool:
    """Whether all words of `old` stand in `new` side by side, or in order within one clause.

    Words in common are not enough: "Ana owns search, Bob owns billing" has every word of "Ana owns billing".
    """
    mine = [item.word for item in made(old).items]
    theirs = made(new).items
    words = [item.word for item in theirs]
    if any(words[at : at + len(mine)] == mine for at in range(len(words) - len(mine) + 1)):
        return True
    clauses: dict[int, list[str]] = {}
    for item in theirs:
        clauses.setdefault(item.clause, []).append(item.word)
    in_order = len(mine) > 2 and any(_in_order(mine, clause) for clause in clauses.values())
    if in_order and not pushed_in(made(old), made(new)):
        return True
    return _longer_list(mine, words, made(new).codes)


def _longer_list(mine: list[str], theirs: list[str], codes: frozenset[str]) -> bool:
    """The same words in order, with nothing put between them but more members of a list of code ("/a, /b and /c")."""
    ops = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    between = [op for op in ops if op[0] != "equal" and 0 < op[1] < len(mine)]
    ends = all(op[0] in {"equal", "insert"} for op in ops)
    return len(mine) > 2 and ends and all(set(theirs[op[3] : op[4]]) <= codes for op in between)


def _in_order(mine: list[str], clause: list[str]) -> bool:
    rest = iter(clause)
    return len(clause) <= 3 * len(mine) and all(word in rest for word in mine)
