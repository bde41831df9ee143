"""What a statement says beyond its words: numbers, names, paths, negation, day, place; and which of it another lacks. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import groupby

from dreams.language import lexicon, similarity
from dreams.language.statements import Statement, statement
from dreams.language.words import code_spans, stem, tokens

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+", re.IGNORECASE)
_NO_CONFLICT = frozenset(
    {"too few words in common", "the same statement in other words", "the same words", "too short to be sure"}
)
MOST = 0.6  # the share of a statement's weight that a rewording keeps at least
MOST_SLIPS = 3  # in one statement
LEAST_SLIP = 5  # letters of the word that was meant, unless it is one of the small ones
LONGEST = 4000  # characters of one statement that are compared


def urls(text: str) -> set[str]:
    return {found.rstrip(".,;:") for found in _URL.findall(text[:LONGEST])}


def lost(old: str, new: str) -> list[str]:
    """The facts of `old` that `new` does not have, in words for a person; empty when all are there."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    found = [*sorted(one.numbers - other.numbers), *sorted(one.codes - other.codes - set(other.weights))]
    found += sorted({name for _, name in one.names if name not in other.weights})
    found += sorted((one.raw & lexicon.DAYS) - other.raw) + sorted(one.environments - other.environments)
    found += sorted(urls(old) - urls(new)) + sorted(one.signs - other.signs) + _code_lost(old, new)
    return [*found, *_turned(one, other)]


def _code_lost(old: str, new: str) -> list[str]:
    """Inline code that is not in `new` as it stands: `PORT=` is no word, and still what has to be typed."""
    flat = " ".join(new.lower().split())
    spans = (old[start:end].strip() for start, end in code_spans(old[:LONGEST]))
    return [span for span in spans if " ".join(span.lower().split()) not in flat]


def _turned(one: Statement, other: Statement) -> list[str]:
    """Negation, opposite words, a demand made an option."""
    found = []
    mine, theirs = one.negated(other), other.negated(one)
    if (mine and not theirs) or (_denials(one) > _denials(other) and _alike(one, other)):
        found.append("not")
    if (theirs and not mine) or (_denials(other) > _denials(one) and _alike(one, other)):
        found.append("a statement that is denied now")
    gone, come = one.raw - other.raw, other.raw - one.raw
    pairs = sorted((a, b) for a in gone for b in come if (a, b) in lexicon.OPPOSITES)
    return [*found, *(f"{a} (now {b})" for a, b in pairs[:1])]


def _denials(one: Statement) -> int:
    return len(one.negations)


def _alike(one: Statement, other: Statement) -> bool:
    """The same words but for one or two: then each denial counts, whatever clause it stands in."""
    return len(one.weights.keys() ^ other.weights.keys()) <= 2


def turned(old: str, new: str) -> list[str]:
    """What `new` denies of `old`, or no longer denies, in words for a person."""
    return _turned(statement(old[:LONGEST]), statement(new[:LONGEST]))


def words_lost(old: str, new: str) -> list[str]:
    """The words of `old` that carry meaning and that `new` does not have."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    return sorted(w for w in one.weights if w not in other.weights and w not in lexicon.GENERIC)


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Words that were compared (stems, canonical forms) as `text` has them, for a person; unknown ones stay."""
    wanted = list(words)
    written: dict[str, str] = {}
    for token in tokens(text[:LONGEST].replace("`", " ")) if wanted else ():
        if len(written) == len(set(wanted)):
            break
        for word in statement(token.text).weights.keys() & set(wanted):
            written.setdefault(word, token.text)
    return list(dict.fromkeys(written.get(word, word) for word in wanted))


def coverage(old: str, new: str) -> float:
    """The share of `old`'s weight that `new` has: 1 when no word is missing."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    if not one.weight:
        return 0.0
    return sum(weight for word, weight in one.weights.items() if word in other.weights) / one.weight


def plain_coverage(old: str, new: str) -> float:
    """As `coverage`, of the words that are no number and no name; 1 where there are none."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    weights = {item.word: item.weight for item in one.items if not item.anchor}
    whole = sum(weights.values())
    return sum(w for word, w in weights.items() if word in other.weights) / whole if whole else 1.0


def shared_words(old: str, new: str) -> set[str]:
    """The words of meaning that both have, the generic ones aside."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    return {word for word in one.weights if word in other.weights and word not in lexicon.GENERIC}


def absorbed(old: str, new: str, *, merged: bool = False) -> bool:
    """Whether `new` surely says all that `old` says: the same statement, and no word of it missing.

    `merged` is for a new text made from several: there the words in one piece will do.
    """
    if not statement(old[:LONGEST]).items or words_lost(old, new) or urls(old) - urls(new):
        return False
    if turned(old, new) or _code_lost(old, new):
        return False
    if similarity.same(old[:LONGEST], new[:LONGEST]).same:
        return True
    return merged and not lost(old, new) and in_one_piece(old, new)


def replaced(old: str, new: str) -> bool:
    """Whether `new` says something else of the same thing: a number, a name or a denial differs, the words hardly do."""
    if plain_coverage(old, new) < MOST or plain_coverage(new, old) < MOST:
        return False
    return bool(turned(old, new) or (lost(old, new) and lost(new, old)))


def in_one_piece(old: str, new: str) -> bool:
    """Whether all words of `old` stand in `new` side by side, or in order within one clause.

    Words in common are not enough: "Ana owns search, Bob owns billing" has every word of "Ana owns billing".
    """
    mine = [item.word for item in statement(old[:LONGEST]).items]
    theirs = statement(new[:LONGEST]).items
    words = [item.word for item in theirs]
    if any(words[at : at + len(mine)] == mine for at in range(len(words) - len(mine) + 1)):
        return True
    clauses: dict[int, list[str]] = {}
    for item in theirs:
        clauses.setdefault(item.clause, []).append(item.word)
    if len(mine) > 2 and any(_in_order(mine, clause) for clause in clauses.values()):
        return True
    return _longer_list(mine, words, statement(new[:LONGEST]).codes)


def _longer_list(mine: list[str], theirs: list[str], codes: frozenset[str]) -> bool:
    """The same words in order, with nothing put between them but more members of a list of code ("/a, /b and /c")."""
    ops = SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes()
    between = [op for op in ops if op[0] != "equal" and 0 < op[1] < len(mine)]
    ends = all(op[0] in {"equal", "insert"} for op in ops)
    return len(mine) > 2 and ends and all(set(theirs[op[3] : op[4]]) <= codes for op in between)


def _in_order(mine: list[str], clause: list[str]) -> bool:
    rest = iter(clause)
    return len(clause) <= 3 * len(mine) and all(word in rest for word in mine)


def reworded(old: str, new: str) -> bool:
    """Whether `new` can be `old` with a word or two left out: no fact missing, most words kept, no clause gone."""
    if mended(old, new):
        return True
    one = statement(old[:LONGEST])
    gone = set(words_lost(old, new))
    if len(gone) > max(1, len(one.weights) // 5) or coverage(old, new) < MOST:
        return False
    return not _clause_gone(one, gone) and not lost(old, new) and not _substituted(old, new)


def mended(old: str, new: str) -> bool:
    """Whether all that differs are slips of the pen set right: two letters that changed places, one too many or too few."""
    mine, theirs = ([token.text for token in tokens(text[:LONGEST])] for text in (old, new))
    if len(mine) != len(theirs) or mine == theirs:
        return False
    changed = [(one, other) for one, other in zip(mine, theirs, strict=True) if one != other]
    return len(changed) <= MOST_SLIPS and all(_slip(one, other) for one, other in changed)


def _slip(one: str, other: str) -> bool:
    """A plain word that is nowhere known, one stroke away from the other and with the same first letter."""
    if not (one.isalpha() and one.islower() and other.islower()) or one[0] != other[0]:
        return False
    if one in lexicon.KNOWN or stem(one) in lexicon.KNOWN or stem(one) == stem(other):
        return False
    if len(other) < LEAST_SLIP and other not in lexicon.FILLER:
        return False
    changes = [
        op for op in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    moved = len(one) == len(other) and sorted(one) == sorted(other) and sum(map(str.__ne__, one, other)) == 2
    return moved or (
        len(one) != len(other)
        and len(changes) == 1
        and abs(len(one) - len(other)) == 1
        and changes[0][0] != "replace"
    )


def _clause_gone(one: Statement, gone: set[str]) -> bool:
    """Whether a whole clause is missing, or three words in a row."""
    runs = groupby(item.word in gone for item in one.items)
    clauses: dict[int, set[str]] = {}
    for item in one.items:
        clauses.setdefault(item.clause, set()).add(item.word)
    return any(is_gone and len(list(run)) > 2 for is_gone, run in runs) or any(
        c <= gone for c in clauses.values()
    )


def _substituted(old: str, new: str) -> bool:
    """A word or two in the place of others, the rest alike: "Prefers dark mode" is no rewording of "Prefers vim mode"."""
    one, other = statement(old[:LONGEST]), statement(new[:LONGEST])
    mine, theirs = [item.word for item in one.items], [item.word for item in other.items]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        gone = [word for word in mine[i1:i2] if word not in other.weights]
        come = [word for word in theirs[j1:j2] if word not in one.weights]
        if tag == "replace" and gone and come and i2 - i1 <= 2 and j2 - j1 <= 2:
            return True
    why = similarity.same(old[:LONGEST], new[:LONGEST]).why
    return why not in _NO_CONFLICT


def coverage_of(old: str, new: str) -> float:
    """As `coverage`, with a whole file on the other side."""
    one, other = statement(old[:LONGEST]), statement(new)
    if not one.weight:
        return 0.0
    return sum(weight for word, weight in one.weights.items() if word in other.weights) / one.weight
