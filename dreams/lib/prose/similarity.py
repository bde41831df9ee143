"""Are two statements surely the same? The duplicate decision, made so that a merge never loses a fact. Pure.

Only the same words in the same order are sure: "PostgreSQL 15" and "PostgreSQL 16", "Ana asks Bob" and "Bob asks Ana" share
nearly all. Spelling, number, articles and known synonyms are evened out, and the fuller one may go on where the other
ends, with a reason or an example. What says the same in other words is likely, and a question
(`dreams.lib.prose.comparing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dreams.lib.prose import lexicon, words
from dreams.lib.prose.statements import Statement, plain, statement
from dreams.lib.prose.words import LONGEST, code_spans

LEAST_WORDS = 3  # of meaning, from which a statement may have a reason added to it and stay the same
MOST_WORDS = 1_000  # what is longer is no single statement, and only the very same is sure
PARTNERS = 12
_Word = tuple[str, bool]  # as compared, and whether it is a past


@dataclass(frozen=True, slots=True)
class Similarity:
    """The decision, a score from 0 to 1, and a few words of reason for a person.

    `fuller` is the one to keep where they are the same: it has every word of the other one.
    """

    same: bool
    score: float
    why: str
    fuller: Literal["a", "b"] = "a"


def normalised(text: str) -> str:
    """Equal for texts that differ in case, space, list marks, emphasis, quotes and final punctuation alone."""
    return plain(text) + text[LONGEST:]  # only so much is evened out, and what stands behind it counts too


def same(a: str, b: str) -> Similarity:
    """Whether two statements (a line, a description; not whole files) surely say the same."""
    fuller: Literal["a", "b"] = "a" if len(a) >= len(b) else "b"
    if not (plain(a) and plain(b)):
        return Similarity(False, 0.0, "nothing to compare", fuller)
    if normalised(a) == normalised(b) and _asks(a) == _asks(b):
        return Similarity(True, 1.0, "the same words", fuller)
    if max(len(a), len(b)) > LONGEST:
        return Similarity(False, 0.0, "too long to be sure", fuller)
    short, long = sorted((statement(a), statement(b)), key=lambda s: (len(_said(s)), s.weight, s.text))
    score, why = _score(short, long), _compared(short, long)
    return Similarity(
        not why,
        score if not why else score / 2,
        why or "the same words but for their form",
        "a" if long.text == a else "b",
    )


def _compared(short: Statement, long: Statement) -> str:
    """What keeps them apart; empty for the same."""
    mine, theirs = _said(short), _said(long)
    if not short.items or len(theirs) > MOST_WORDS:
        return "nothing to be sure about"
    if theirs[: len(mine)] != mine:
        return "other words, or in another order"
    if short.asks != long.asks or short.signs != long.signs:
        return "one asks or is done, the other is not"
    if not (_has_code(short, long) and (len(theirs) > len(mine) or _has_code(long, short))):
        return "commands or quoted code differ"
    return (
        ""
        if len(theirs) == len(mine) or _only_adds(short, long, len(mine))
        else "what is added may change it"
    )


def _said(one: Statement) -> list[_Word]:
    """Every word but articles and a label that says what kind of note it is; pasts are kept apart."""
    return [
        (one.flow[at], one.written[at].endswith("ed") or one.written[at] in words.IRREGULAR)
        for at in _told(one)
    ]


def _told(one: Statement) -> list[int]:
    """The places of the words that say something."""
    return [
        at
        for at, (word, clause) in enumerate(zip(one.flow, one.clause_of, strict=True))
        if word not in lexicon.ARTICLES and not (one.kind_of_note and clause == 0)
    ]


def _only_adds(short: Statement, long: Statement, said: int) -> bool:
    """Whether what the longer one says more is a reason or an aside, with no condition, state or denial in it."""
    told = _told(long)
    before, more = {long.clause_of[at] for at in told[:said]}, {long.clause_of[at] for at in told[said:]}
    return (
        len(short.telling) >= LEAST_WORDS
        and all(clause in long.asides and long.asides[clause] not in before for clause in more)
        and {word for _, word in long.marked} <= {word for _, word in short.marked}
        and lexicon.NEGATIONS.isdisjoint(long.flow[at] for at in told[said:])
        and long.days == short.days
        and long.environments == short.environments
    )


def _has_code(one: Statement, other: Statement) -> bool:
    """Whether all inline code of the one stands in the other, letter for letter but for case."""
    flat = " ".join(other.text.lower().split())
    return all(" ".join(one.text[start:end].lower().split()) in flat for start, end in code_spans(one.text))


def _asks(text: str) -> bool:
    return "?" in text and statement(text).asks


def _score(one: Statement, other: Statement) -> float:
    """The share of both that they have in common."""
    mine, theirs = one.telling, other.telling
    common = sum(weight for word, weight in mine.items() if word in theirs)
    union = sum({**mine, **theirs}.values())
    return round(common / union, 3) if union else 0.0


def candidates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places in `texts` that are worth asking `same` about: the one begins with every word of the other."""
    said = [_said(statement(text)) for text in texts]
    order = sorted(
        (at for at, words in enumerate(said) if words), key=said.__getitem__
    )  # what goes on comes next
    found: set[tuple[int, int]] = set()
    for place, at in enumerate(order):
        for other in order[place + 1 : place + 1 + PARTNERS]:
            if said[other][: len(said[at])] != said[at]:
                break
            found.add((min(at, other), max(at, other)))
    return sorted(found)
