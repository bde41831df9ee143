"""Whether a new statement keeps an old one: says all of it, says it in other words, or says something else in its place. PURE."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from dreams.findings.ledger.facts import (
    LEAST_TOLD,
    changed_places,
    coverage,
    loses_words,
    lost,
    plain_coverage,
    taken_back,
    turned,
    words_lost,
)
from dreams.findings.ledger.qualifiers import ADDED, requalified
from dreams.findings.ledger.units import in_cells
from dreams.findings.ledger.wordings import (
    LONGEST,
    OWNING,
    SAYS_NOTHING,
    capitals,
    has,
    known,
    made,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement
from dreams.lib.prose.words import stem

_PIECES = re.compile(r"[;:.]\s+|\s?[—–]\s?|\s-\s|\s?(?<!\\)\|\s?")
MOST_PIECES = 12  # of a sentence that are looked for one by one; chosen
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
        lacking = [fact for fact in facts if not fact.startswith(ADDED)]
        return f"lacks {quoted(lacking[:MOST_NAMED])}" if lacking else "says more or less than it does"
    checks = (
        (changed_places(old, new), "swaps two things"),
        (taken_over(made(old), made(new)) or another_word(old, new), "has another word instead"),
        (taken_back(old, new), "withdraws it"),
        (_changed_by(made(old), made(new)), "says it with another condition or tense"),
        (pushed_in(made(old), made(new)), "has another name in the middle"),
    )
    return next((why for speaks, why in checks if speaks), "says it as part of something else")


def quoted(words: Sequence[str]) -> str:
    return ", ".join(word if word.startswith(ADDED) else f"“{word}”" for word in words)


@functools.lru_cache(maxsize=20_000)
def pieces(text: str) -> tuple[str, ...]:
    """The text and, where it has several, its sentences and the parts between semicolons and dashes."""
    parts = [part for part in _PIECES.split(text[:LONGEST]) if part.strip()]
    return (text, *parts) if 1 < len(parts) <= MOST_PIECES else (text,)


def _told(old: str, new: str) -> bool:
    """Whether `new` says the same and perhaps more: a good part of it is `old`, and nothing that was added changes that."""
    one, other = made(old), made(new)
    common = sum(weight for word, weight in other.telling.items() if word in one.weights)
    if len(one.telling) < LEAST_TOLD or common < PART * sum(other.telling.values()):
        return False
    return not _changed_by(one, other) and not pushed_in(one, other)


def _changed_by(one: Statement, other: Statement) -> bool:
    """Whether a condition, a state or a sign is another: what is added may take the rest back."""
    return one.asks != other.asks or one.marks(other) != other.marks(one) or bool(other.signs - one.signs)


def pushed_in(one: Statement, other: Statement) -> bool:
    """Whether a new name or number came between words of `one` and took some: "Ana asks Bob, who owns search"."""
    mine, theirs = list(dict.fromkeys(item.word for item in one.items)), [item.word for item in other.items]
    names = {name for _, name in other.names} | capitals(other.text)
    new = ({item.word for item in other.items if item.anchor} | names) - one.weights.keys()
    for place, (word, following) in enumerate(pairwise(mine)):
        if word not in theirs or following not in theirs[theirs.index(word) :]:
            continue
        start = theirs.index(word)
        between = theirs[start + 1 : theirs.index(following, start)]
        is_subject = place == 0 and names & new & set(between)
        if is_subject or (new & set(between) and one.weights.keys() & set(between)):
            return True
    return False


def taken_over(one: Statement, other: Statement) -> bool:
    """Whether a word stands where another one stood that is still there, but once less: "wants to commit", "wants to wait"."""
    mine, theirs = ([item.word for item in s.items] for s in (one, other))
    fewer = {word for word in Counter(mine) - Counter(theirs) if word in theirs}
    more = Counter(theirs) - Counter(mine)
    return any(
        tag == "replace"
        and i2 - i1 <= 2
        and fewer & set(mine[i1:i2]) - SAYS_NOTHING
        and more.keys() & set(theirs[j1:j2])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    )


def another_word(old: str, new: str) -> bool:
    """Whether a telling word stands in the place of an everyday one: "existing tests" are not "nightly tests"."""
    mine, theirs = ([item.word for item in made(text).items] for text in (old, new))
    return any(
        tag == "replace"
        and i2 - i1 == j2 - j1 == 1
        and theirs[j1] not in lexicon.GENERIC
        and not has(known(new), mine[i1])
        and not has(known(old), theirs[j1])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    )


def replaced(old: str, new: str) -> bool:
    """Whether `new` says something else of the same thing: a number, a name or a denial differs, the words hardly do."""
    if plain_coverage(old, new) < MOST or plain_coverage(new, old) < MOST:
        return False
    if turned(old, new) or requalified(old, new) or changed_places(old, new):
        return True
    return bool(lost(old, new) and lost(new, old))


def in_one_piece(old: str, new: str) -> bool:
    """Whether all words of `old` stand in `new` side by side.

    Words in common are not enough: "Ana owns search, Bob owns billing" has every word of "Ana owns billing".
    """
    mine = [item.word for item in made(old).items]
    words = [item.word for item in made(new).items]
    return any(words[at : at + len(mine)] == mine for at in range(len(words) - len(mine) + 1))


_ROW = re.compile(r"(?:^|: )\s*\|")
_LABELLED = re.compile(r"(?:^|: )[^.:]{1,30}: \S+(?: \S+){0,3}\.?$")
_KINDS = frozenset(stem(word) for word in lexicon.NOTE_KINDS) | lexicon.NOTE_KINDS | {"application"}


def reworded(old: str, new: str) -> bool:
    """Whether `new` says what `old` says, in words of its own."""
    if coverage(old, new) < MOST:  # most statements have little in common
        return False
    one, other = made(old), made(new)
    if _too_short(one, old, new) or gone(old, new) or lost(old, new) or changed_places(old, new):
        return False
    if another_word(old, new) or taken_back(old, new):
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


def may_be_dropped(text: str, words: Iterable[str]) -> bool:
    """Whether all these words of a text are of a sort that a rewording may have none for."""
    return made(text).participles | OWNING | _KINDS | {lexicon.CONTRAST} >= set(words)


def _is_listed(text: str) -> bool:
    """Whether it is the row of a table, or a list of nothing but labels and their values."""
    parts = text.split(". ")
    return bool(_ROW.search(text)) or (len(parts) > 1 and all(_LABELLED.search(part) for part in parts))


def _says_little(one: Statement, other: Statement, word: str) -> bool:
    if word == lexicon.CONTRAST:  # "use uv instead of pip", "use uv, not pip"
        return all(any(words & said for _, said in other.negations) for _, words in one.contrasts)
    # "Warning: ..." only says what kind of note it is.
    label = [item.word for item in one.items if item.clause == 0]
    return one.kind_of_note and word in label and set(label) <= _KINDS
