"""Whether a statement was turned: a denial gone or come, an opposite, two things that changed places. PURE."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise

from dreams.findings.statements import belonging
from dreams.findings.statements.bound import exchanged, rebound
from dreams.findings.statements.wordings import ADVISED, LONGEST, capitals, has, known, made
from dreams.language import lexicon, sequence
from dreams.language.orders import turned_round
from dreams.language.statements import Item, Statement, statement
from dreams.language.words import code_spans

_DEMANDED = lexicon.STRONG | {"need", "necessary"}  # as `wordings` has it
_LEFT_TO_CHOICE = frozenset({"optional", "optionally"})
NOT, NOT_ONLY = "not", "not only"
_NOT_ONLY = re.compile(r"\bnot (?:just|only|merely|simply)\b", re.IGNORECASE)  # says more, and denies nothing
DENIED_NOW = "a statement that is denied now"
_NEAR = 3  # words on each side of a name or number that say what it belongs to
_LISTING = frozenset({"or", "nor"})
_LISTED = 3  # clauses
_MEMBER = 2  # words of a list's first member
_ABOUT = 0.6  # share of a clause's words
_MOST = 12  # names or numbers of one kind that are looked at in pairs


def turned(old: str, new: str) -> list[str]:
    """What `new` denies of `old`, or no longer denies, in words for a person."""
    one, other = made(old), made(new)
    found = []
    if _unanswered(one, other, once=True):
        found.append(NOT)
    if any(_is_about(other.clauses.get(clause), one) for clause in _unanswered(other, one, once=False)):
        found.append(DENIED_NOW)
    if bool(_NOT_ONLY.search(old)) != bool(_NOT_ONLY.search(new)) and one.negations and other.negations:
        found.append(NOT_ONLY)
    gone, come = one.raw - other.raw, other.raw - one.raw
    pairs = sorted((a, b) for a in gone for b in come if (a, b) in lexicon.OPPOSITES or _softened(a, b))
    return [*found, *(f"{a} (now {b})" for a, b in pairs[:1])] or rebound(old, new)


def _softened(one: str, other: str) -> bool:
    """Whether what must be is only advised now, or left to choice."""
    return one in _DEMANDED and other in ADVISED | _LEFT_TO_CHOICE


def _touching(one: Statement, other: Statement) -> Iterator[tuple[int, frozenset[str]]]:
    """Denials of words that the other statement has: what is denied of something else is another matter."""
    touched = one.touched(other)
    for clause, words in one.negations:
        if clause in touched and (not words or any(has(known(other.text), word) for word in words)):
            yield clause, words


def _is_about(clause: set[str] | None, one: Statement) -> bool:
    """Whether a clause has to do with a statement: one word of three in common is chance."""
    return not clause or sum(has(known(one.text), word) for word in clause) >= _ABOUT * len(clause)


def _unanswered(one: Statement, other: Statement, *, once: bool) -> list[int]:
    """The clauses of denials that `other` has none for. `once`: each answers one, but for "neither A nor B", which is two."""
    spots = [(place, words) for place, words in other.negations]
    spots += [(place, words) for place, words in other.contrasts]  # "X instead of Y" sets Y aside
    shared, missing = not once or bool(other.counts.keys() & _LISTING), list[int]()
    for clause, words in _touching(one, other):
        answer = _best(words, spots, other) or _best(frozenset(one.clauses.get(clause, ())), spots, None)
        if answer is None:
            missing.append(clause)
        elif not shared:
            spots.remove(answer)
    return missing


def _best(
    words: frozenset[str], spots: Sequence[tuple[int, frozenset[str]]], other: Statement | None
) -> tuple[int, frozenset[str]] | None:
    """The denial of these very words, else one in whose reach they stand in `other`."""
    near = (spot for spot in spots if words & spot[1])
    if other is None:
        return next(near, None)
    reached = (spot for spot in spots if not words or not (there := _reach(spot, other)) or words & there)
    return next(near, None) or next(reached, None)


def _reach(spot: tuple[int, frozenset[str]], other: Statement) -> set[str]:
    return set(spot[1]).union(*(other.clauses.get(at, set()) for at in _scope(spot[0], other)))


def _scope(clause: int, one: Statement) -> range:
    """The clauses that a denial reaches: "do not guess, round, or fill in" denies all three."""
    listed = one.counts.keys() & _LISTING and len(one.clauses.get(clause, ())) <= _MEMBER
    return range(clause, clause + (_LISTED if listed else 1))


def changed_places(old: str, new: str) -> bool:
    """Whether two names (or numbers, or codes) stand where the other one stood: "Ana owns search, Bob owns billing"."""
    one, other = made(old), made(new)
    if one.written == other.written:  # a word that a line has twice stands in two places of its own
        return False
    if (
        exchanged(old, new)
        or sequence.turned(one, other)
        or (turned_round(one, other) and not _repeats(one, other))
    ):
        return True
    if len(spans := _spans(old) & _spans(new)) > 1:  # code of several words counts as one name
        old, new = (_as_names(text, sorted(spans)) for text in (old, new))
        one, other = made(old), made(new)
    names = {name for _, name in one.names | other.names} | (capitals(old) & capitals(new))
    mine, theirs = (
        _near(made(text.replace(": ", " ")), names) for text in (old, new)
    )  # a label is said of what follows
    # As written: what was evened out has moved.
    said, says = (statement(text.replace(": ", " ")) for text in (old, new))
    kinds_of = (one.numbers, one.codes, names)
    return any(belonging.exchanged(said, says, sorted(kind)) for kind in kinds_of) or any(
        _crossed(_but(mine, kind), _but(theirs, kind), a, b)
        for kind in kinds_of
        for a, b in combinations([word for word in mine if word in kind and word in theirs][:_MOST], 2)
        if not (_side_by_side(one, a, b) and _side_by_side(other, a, b))
    )


def _side_by_side(one: Statement, a: str, b: str) -> bool:
    """ "02:00" is two numbers and one value."""
    return any(left.word == a and right.word == b for left, right in pairwise(one.items))


def _repeats(one: Statement, other: Statement) -> bool:
    """Whether a word like "to" or "over" stands there twice: which of the two a side belongs to is not known then."""
    return any(
        max(one.counts[word], other.counts[word]) > 1 for word in one.sides.keys() & other.sides.keys()
    )


def _spans(text: str) -> set[str]:
    return {text[start:end] for start, end in code_spans(text[:LONGEST])}


def _as_names(text: str, spans: Sequence[str]) -> str:
    for number, span in enumerate(spans[:_MOST]):
        text = text.replace(f"`{span}`", f"Code{number:03d}Span")
    return text


def _but(near: dict[str, set[str]], kind: Collection[str]) -> dict[str, set[str]]:
    """Without the others of its kind: the next member of a list is nothing that belongs to it."""
    return {word: words.difference(kind) for word, words in near.items()}


def _crossed(mine: dict[str, set[str]], theirs: dict[str, set[str]], a: str, b: str) -> bool:
    of_a, of_b = mine[a] - mine[b] - {b}, mine[b] - mine[a] - {a}
    straight = len(of_a & theirs[a]) + len(of_b & theirs[b])
    across = len(of_a & theirs[b]), len(of_b & theirs[a])
    return all(across) and sum(across) > straight


def kinds(one: Statement) -> tuple[frozenset[str], ...]:
    """Its numbers, its codes and its names."""
    return one.numbers, one.codes, frozenset(name for _, name in one.names)


def _near(one: Statement, names: set[str]) -> dict[str, set[str]]:
    """For each name, number or code, in order, the words next to it; generic ones tell nothing."""
    found: dict[str, set[str]] = {}
    for place, item in enumerate(one.items):
        if item.anchor or item.word in names:
            found.setdefault(item.word, set()).update(_words(_around(one, place)))
    return found


def _around(one: Statement, place: int) -> list[Item]:
    """The next words of the same clause; of all where it stands alone in brackets: "Redis (#9)"."""
    near = [*one.items[max(0, place - _NEAR) : place], *one.items[place + 1 : place + 1 + _NEAR]]
    return [item for item in near if item.clause == one.items[place].clause] or near


def _words(items: Sequence[Item]) -> set[str]:
    return {item.word for item in items if item.word not in lexicon.GENERIC}
