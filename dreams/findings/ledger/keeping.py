"""Whether a new statement keeps an old one: contains it, rewords it, or replaces it. PURE."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from dreams.findings.ledger.facts import (
    LEAST_TOLD,
    coverage,
    loses_words,
    lost,
    negation_changes,
    plain_coverage,
    swapped,
    withdrawn,
    words_lost,
)
from dreams.findings.ledger.qualifiers import ADDED, requalified
from dreams.findings.ledger.units import in_cells
from dreams.findings.ledger.wordings import (
    LONGEST,
    OWNING_VERBS,
    SAYS_NOTHING,
    capitals,
    has_word,
    plain_statement,
    word_forms,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement
from dreams.lib.prose.words import stem

_PIECES = re.compile(r"[;:.]\s+|\s?[—–]\s?|\s-\s|\s?(?<!\\)\|\s?")
MOST_PIECES = 12  # parts of a sentence that are searched one by one; chosen
MOST_NAMED = 4  # words named in a refusal
MOST = 0.6  # least share of a statement's weight that a rewording keeps
PART = 0.3  # least share of the new statement that comes from the old one


def says_all(old: str, new: str, *, merged: bool = False) -> bool:
    """Whether `new` certainly says everything in `old`: every fact and word, none reversed.

    `merged`: the new text was made from several, so the words in one piece are enough.
    """
    if not plain_statement(old).items or loses_words(old, new) or lost(old, new) or swapped(old, new):
        return in_cells(old, new)
    if another_word(old, new) or withdrawn(old, new):
        return False
    whole = merged and in_one_piece(old, new) and not _condition_differs(old, new)
    return whole or _says_as_much(old, new) or in_cells(old, new)


def why_not_kept(old: str, new: str) -> str:
    """Why `new` does not keep `old`, for a person: the first rule that applies."""
    if words := words_lost(old, new):
        return f"lacks {quoted(words[:MOST_NAMED])}"
    if facts := lost(old, new):
        lacking = [fact for fact in facts if not fact.startswith(ADDED)]
        return f"lacks {quoted(lacking[:MOST_NAMED])}" if lacking else "says more or less than it does"
    checks = (
        (swapped(old, new), "swaps two things"),
        (another_word(old, new), "has another word instead"),
        (withdrawn(old, new), "withdraws it"),
        (_condition_differs(old, new), "says it with another condition or tense"),
        (name_inserted(old, new), "has another name in the middle"),
    )
    return next((why for speaks, why in checks if speaks), "says it as part of something else")


def quoted(words: Sequence[str]) -> str:
    return ", ".join(word if word.startswith(ADDED) else f"“{word}”" for word in words)


@functools.lru_cache(maxsize=20_000)
def pieces(text: str) -> tuple[str, ...]:
    """The text and, where it has several, its sentences and the parts between semicolons and dashes."""
    parts = [part for part in _PIECES.split(text[:LONGEST]) if part.strip()]
    return (text, *parts) if 1 < len(parts) <= MOST_PIECES else (text,)


def _says_as_much(old: str, new: str) -> bool:
    """Whether a good part of `new` is `old`, and what was added does not change its meaning."""
    one, other = plain_statement(old), plain_statement(new)
    common = sum(weight for word, weight in other.telling.items() if word in one.weights)
    if len(one.telling) < LEAST_TOLD or common < PART * sum(other.telling.values()):
        return False
    return not _condition_differs(old, new) and not name_inserted(old, new)


def _condition_differs(old: str, new: str) -> bool:
    """Whether a condition, state or sign differs: an addition may reverse the rest."""
    one, other = plain_statement(old), plain_statement(new)
    return one.asks != other.asks or one.marks(other) != other.marks(one) or bool(other.signs - one.signs)


def name_inserted(old: str, new: str) -> bool:
    """Whether another name or number was inserted and takes some words of `old`: "Ana asks Bob, who owns search"."""
    one, other = plain_statement(old), plain_statement(new)
    mine, theirs = list(dict.fromkeys(item.word for item in one.items)), [item.word for item in other.items]
    names = {name for _, name in other.names} | capitals(other.text)
    come = ({item.word for item in other.items if item.anchor} | names) - one.weights.keys()
    for place, (word, following) in enumerate(pairwise(mine)):
        if word not in theirs or following not in theirs[theirs.index(word) :]:
            continue
        start = theirs.index(word)
        between = theirs[start + 1 : theirs.index(following, start)]
        is_subject = place == 0 and names & come & set(between)
        if is_subject or (come & set(between) and one.weights.keys() & set(between)):
            return True
    return False


def another_word(old: str, new: str) -> bool:
    """Whether a word replaces another that is still there, but less often ("wants to commit", "wants to wait"), or a specific one
    replaces a general one: "existing tests" are not "nightly tests"."""
    mine, theirs = ([item.word for item in plain_statement(text).items] for text in (old, new))
    fewer = {word for word in Counter(mine) - Counter(theirs) if word in theirs}
    more = Counter(theirs) - Counter(mine)
    for tag, start, end, at, to in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        gone, come = mine[start:end], theirs[at:to]
        is_rarer = len(gone) <= 2 and fewer & set(gone) - SAYS_NOTHING and more.keys() & set(come)
        is_other = len(gone) == len(come) == 1 and come[0] not in lexicon.GENERIC
        if tag == "replace" and (
            is_rarer
            or (is_other and not (has_word(word_forms(new), gone[0]) or has_word(word_forms(old), come[0])))
        ):
            return True
    return False


def replaced(old: str, new: str) -> bool:
    """Whether `new` says something different about the same thing: a number, name or negation differs, the words hardly do."""
    if plain_coverage(old, new) < MOST or plain_coverage(new, old) < MOST:
        return False
    if negation_changes(old, new) or requalified(old, new) or swapped(old, new):
        return True
    return bool(lost(old, new) and lost(new, old))


def in_one_piece(old: str, new: str) -> bool:
    """Whether all words of `old` are in `new` side by side: "Ana owns search, Bob owns billing" has every word of "Ana owns
    billing", and does not say it.
    """
    mine = [item.word for item in plain_statement(old).items]
    words = [item.word for item in plain_statement(new).items]
    return any(words[at : at + len(mine)] == mine for at in range(len(words) - len(mine) + 1))


_ROW = re.compile(r"(?:^|: )\s*\|")
_LABELLED = re.compile(r"(?:^|: )[^.:]{1,30}: \S+(?: \S+){0,3}\.?$")
_KINDS = frozenset(stem(word) for word in lexicon.NOTE_KINDS) | lexicon.NOTE_KINDS | {"application"}


def reworded(old: str, new: str) -> bool:
    """Whether `new` says the same as `old` in other words."""
    if coverage(old, new) < MOST or _too_short(old, new):  # cheap, and true of most pairs
        return False
    if words_missing(old, new) or lost(old, new) or swapped(old, new) or another_word(old, new):
        return False
    failed = "failed" in plain_statement(new).signs - plain_statement(old).signs  # ❌
    return not failed and not withdrawn(old, new) and not name_inserted(old, new)


def _too_short(old: str, new: str) -> bool:
    """Whether it has too few words, which match by chance; two are enough if `new` has both and they make up much of it."""
    few = len(plain_statement(old).telling)
    return few < LEAST_TOLD and (few < 2 or bool(words_lost(old, new)) or coverage(new, old) < PART)


def words_missing(old: str, new: str) -> list[str]:
    """The words of `old` that `new` has no counterpart for, apart from words that say little."""
    missing = words_lost(old, new)
    if not missing:
        return []
    one = plain_statement(old)
    verbs = one.participles | OWNING_VERBS if _is_listed(new) else ()  # a table row has no verbs
    return [
        word for word in missing if word not in verbs and not _says_little(one, plain_statement(new), word)
    ]


def may_be_dropped(text: str, words: Iterable[str]) -> bool:
    """Whether a rewording may leave out all of these words."""
    return plain_statement(text).participles | OWNING_VERBS | _KINDS | {lexicon.CONTRAST} >= set(words)


def _is_listed(text: str) -> bool:
    """Whether it is a table row, or a list of labels with values."""
    parts = text.split(". ")
    return bool(_ROW.search(text)) or (len(parts) > 1 and all(_LABELLED.search(part) for part in parts))


def _says_little(one: Statement, other: Statement, word: str) -> bool:
    if word == lexicon.CONTRAST:  # "use uv instead of pip", "use uv, not pip"
        return all(any(words & said for _, said in other.negations) for _, words in one.contrasts)
    # "Warning: ..." only says what kind of note it is.
    label = [item.word for item in one.items if item.clause == 0]
    return one.kind_of_note and word in label and set(label) <= _KINDS
