"""Whether a statement is told in other words: each of its words has a partner in the new text, no fact is missing or turned. PURE.

No share of the words may go: the "weekly" or "partial" that somebody drops while telling the rest anew is a fact. What goes
without a partner must be a word that says little where it stands.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from dreams.findings.statements.facts import (
    LEAST_TOLD,
    changed_places,
    coverage,
    lost,
    taken_back,
    words_lost,
)
from dreams.findings.statements.keeping import MOST, PART, another_word, pushed_in, taken_over
from dreams.findings.statements.wordings import (
    KINDS_OF_THING,
    LIGHT,
    LONGEST,
    MODAL,
    OWNING,
    SAYS_NOTHING,
    SLIGHT,
    made,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement
from dreams.lib.prose.words import stem, tokens

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


_NEXT = 2  # words: "web-2" is two
_ROW = re.compile(r"(?:^|: )\s*\|")
_LABELLED = re.compile(r"(?:^|: )[^.:]{1,30}: \S+(?: \S+){0,3}\.?$")
_PLACING = frozenset({"in", "at", "of"})
_CONDITIONS = frozenset(stem(word) for word in lexicon.CONDITIONS | lexicon.UNSETTLED)
_TAKING_BACK = frozenset(stem(word) for word in lexicon.LIMITS | lexicon.UNSETTLED)
_KINDS = frozenset(stem(word) for word in lexicon.NOTE_KINDS) | lexicon.NOTE_KINDS | {"application"}


def reworded(old: str, new: str) -> bool:
    """Whether `new` says what `old` says, in words of its own."""
    if coverage(old, new) < MOST:  # most statements have little in common
        return False
    spelled = corrected(old, new) if words_lost(old, new) else old
    return (spelled != old and same_words(spelled, new)) or _retold(spelled, new)


def _retold(old: str, new: str) -> bool:
    one, other = made(old), made(new)
    if _too_short(one, old, new) or gone(old, new) or lost(old, new) or changed_places(old, new):
        return False
    if another_word(old, new) or taken_back(old, new):
        return False
    if _limited(one, other):
        return False
    return not pushed_in(one, other) and not taken_over(one, other)


def _too_short(one: Statement, old: str, new: str) -> bool:
    """A word or two stand anywhere by chance; two will do where they make up much of what stands there now."""
    few = len(one.telling) < LEAST_TOLD
    return few and (len(one.telling) < 2 or bool(words_lost(old, new)) or coverage(new, old) < PART)


def gone(old: str, new: str) -> list[str]:
    """The words of `old` for which `new` has none, those that say little left out."""
    missing = words_lost(old, new)
    if not missing:
        return []
    one = made(old)
    verbs = one.participles | OWNING if _is_listed(new) else ()  # a row has none
    return [word for word in missing if word not in verbs and not _says_little(one, made(new), word)]


def _is_listed(text: str) -> bool:
    """Whether it is the row of a table, or a list of nothing but labels and their values."""
    parts = text.split(". ")
    return bool(_ROW.search(text)) or (len(parts) > 1 and all(_LABELLED.search(part) for part in parts))


def _limited(one: Statement, other: Statement) -> bool:
    """Whether a condition or state left, or came that takes something back: "only", "unless", "deprecated"."""
    mine, theirs = ({stem(word) for word in marks} for marks in (one.marks(other), other.marks(one)))
    left, came = mine - theirs, theirs - mine
    if other.raw & lexicon.CONDITIONAL:
        left.discard("if")
    return bool(left & _CONDITIONS or came & _TAKING_BACK)


def _says_little(one: Statement, other: Statement, word: str) -> bool:
    if word in LIGHT | SLIGHT:
        return _merely_goes(one, other, word)
    if word in MODAL:
        return bool(other.raw & MODAL[word])
    if word == lexicon.CONTRAST:  # "use uv instead of pip", "use uv, not pip"
        return all(any(words & said for _, said in other.negations) for _, words in one.contrasts)
    return _labels(one, word) or _beside_name(one, word)


def _merely_goes(one: Statement, other: Statement, word: str) -> bool:
    """Whether no other word came for it; a verb that ends its clause says what is done: "may read and write"."""
    if word in {item.clause: item.word for item in one.items}.values():
        return False
    mine, theirs = ([item.word for item in each.items] for each in (one, other))
    return not any(
        tag == "replace"
        and word in mine[i1:i2]
        and any(w not in one.weights and w not in SAYS_NOTHING | LIGHT | SLIGHT for w in theirs[j1:j2])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    )


def _labels(one: Statement, word: str) -> bool:
    """Whether it only says what kind of note it is: "Warning: ..."."""
    label = [item.word for item in one.items if item.clause == 0]
    return one.kind_of_note and word in label and set(label) <= _KINDS


def _beside_name(one: Statement, word: str) -> bool:
    """Whether it says what kind of thing the name next to it is: "on host web-2", "the test in `test_sync.py`"."""
    if word not in KINDS_OF_THING:
        return False
    names = {item.word for item in one.items if item.anchor and not item.word.isalpha()}
    flow = [each for each in one.flow if each not in lexicon.ARTICLES | _PLACING]
    places = [at for at, each in enumerate(flow) if each == word]
    return all(names.intersection(flow[max(0, at - 1) : at + 1 + _NEXT]) for at in places)
