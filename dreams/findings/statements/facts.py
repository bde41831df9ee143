"""What a statement says beyond its words: numbers, names, paths, negation, day, place; and which of it another lacks. PURE."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from dreams.findings.statements.turning import turned
from dreams.findings.statements.units import literal
from dreams.findings.statements.wordings import LIGHT, LONGEST, SAYS_NOTHING, WHOLE, has, known, made, plainer
from dreams.language import lexicon
from dreams.language.statements import Statement, statement
from dreams.language.words import Token, stem, tokens
from dreams.secrets.redact import redact

__all__ = [
    "LONGEST",
    "as_written",
    "coverage",
    "coverage_of",
    "loses_words",
    "lost",
    "plain_coverage",
    "shared_words",
    "turned",
    "urls",
    "words_lost",
]
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:about|nearly|almost) (?=\d)|~(?=\d)")
_PER = re.compile(r"\bper\s(?:each\s)?([a-z]{2,})\b")
_JOINS = frozenset({"and", "or"})
LEAST_TOLD = 3  # words of meaning that are left beside the light verbs, at least
_TIME_BEFORE, _TIME_AFTER = re.compile(r"(?:\b\d\d?:){1,2}$"), re.compile(r"(?::\d\d){1,2}\b")


def urls(text: str) -> set[str]:
    return {found.rstrip(".,;:") for found in _URL.findall(text[:LONGEST])}


def lost(old: str, new: str) -> list[str]:
    """The facts of `old` that `new` does not have, in words for a person; empty when all are there."""
    one, other = made(old), made(new)
    there = known(new)
    found = [*_fewer(old, new), *sorted(code for code in one.codes - other.codes if not has(there, code))]
    found += sorted({name for _, name in one.names if not has(there, name)})
    found += sorted((one.raw & lexicon.DAYS) - other.raw) + sorted(one.environments - other.environments)
    found += _per(old, new)
    found += sorted(urls(old) - urls(new)) + sorted(one.signs - other.signs) + _code_lost(old, new)
    found += ["about"] if _ABOUT.search(plainer(old)) and not _ABOUT.search(plainer(new)) else []
    return [*found, *_members_lost(one, there), *turned(old, new)]


def _members_lost(one: Statement, there: frozenset[str]) -> list[str]:
    """The everyday words that an "and" adds: "the problem and approaches" is more than "the problem"."""
    joined = (word for before, word in pairwise(one.flow) if before in _JOINS)
    return sorted(
        {word for word in joined if word in one.weights and word in SAYS_NOTHING and not has(there, word)}
    )


def _fewer(old: str, new: str) -> list[str]:
    """The numbers and codes that `new` has less often: one of two fives may be the only one to say how many."""
    mine, theirs = (Counter(item.word for item in made(text).items if item.anchor) for text in (old, new))
    one, there = made(old), known(new)
    known_fewer = (
        word for word in mine - theirs if word in one.numbers or (word in one.codes and has(there, word))
    )
    return sorted(word for word in known_fewer if word in one.numbers or mine[word] > max(1, theirs[word]))


def _per(old: str, new: str) -> list[str]:
    """What something is counted by and `new` does not name: "per key" is half of a limit, and "key" an everyday word."""
    words = {stem(token.text.lower()) for token in tokens(new[:LONGEST])}
    return [f"per {unit}" for unit in _PER.findall(old[:LONGEST].lower()) if stem(unit) not in words]


def _code_lost(old: str, new: str) -> list[str]:
    """Inline code that is not in `new` as it stands: `PORT=` is no word, and still what has to be typed."""
    flat = " ".join(new.lower().split())
    spans = (span.strip() for span in literal(old[:LONGEST]))
    return [span for span in spans if " ".join(span.lower().split()) not in flat]


def words_lost(old: str, new: str) -> list[str]:
    """The words of `old` that carry meaning and that `new` does not have."""
    one, there = made(old), known(new)
    gone = sorted(w for w in one.weights if w not in SAYS_NOTHING and not has(there, w))
    heavy = [word for word in gone if word not in LIGHT]
    return gone if heavy or len(one.telling) - len(gone) < LEAST_TOLD else []


def loses_words(old: str, new: str) -> bool:
    """Whether `words_lost` would name any; answered at the first word that tells: most statements have little in common."""
    one, there = made(old), known(new)
    light = 0
    for word in one.weights:
        if word not in SAYS_NOTHING and not has(there, word):
            if word not in LIGHT:
                return True
            light += 1
    return light > 0 and len(one.telling) - light < LEAST_TOLD


def as_written(words: Iterable[str], text: str) -> list[str]:
    """Words that were compared (stems, canonical forms) as `text` has them, for a person; unknown ones stay.

    Parts of a secret are told as little as the whole.
    """
    wanted = list(words)
    written: dict[str, str] = {}
    plain = text[:LONGEST].replace("`", " ")
    for token in tokens(plain) if wanted else ():
        if len(written) == len(set(wanted)):
            break
        for word in (statement(token.text).weights.keys() | made(token.text).weights.keys()) & set(wanted):
            written.setdefault(word, _whole_time(plain, token))
    told = dict.fromkeys(written.get(word, word) for word in wanted)
    bare = redact(text) if told else text
    return list(told) if bare == text else [word for word in told if word in bare]


def _whole_time(text: str, token: Token) -> str:
    """A token as it stands, with the rest of its time: nobody looks for the “03” of “03:00”."""
    if not token.text.isdigit():
        return token.text
    start = _TIME_BEFORE.search(text[max(0, token.start - 6) : token.start])
    end = _TIME_AFTER.match(text, token.end)
    return f"{start[0] if start else ''}{token.text}{end[0] if end else ''}"


def coverage(old: str, new: str) -> float:
    """The share of `old`'s weight that `new` has: 1 when no word is missing."""
    return _share(made(old), known(new))


def _share(one: Statement, there: frozenset[str]) -> float:
    return (
        sum(weight for word, weight in one.weights.items() if has(there, word)) / one.weight
        if one.weight
        else 0.0
    )


def plain_coverage(old: str, new: str) -> float:
    """As `coverage`, of the words that are no number and no name; 1 where there are none."""
    there = known(new)
    weights = {item.word: item.weight for item in made(old).items if not item.anchor}
    whole = sum(weights.values())
    return sum(w for word, w in weights.items() if has(there, word)) / whole if whole else 1.0


def shared_words(old: str, new: str) -> set[str]:
    """The words of meaning that both have, the generic ones aside."""
    one, other = made(old), made(new)
    return {word for word in one.weights if word in other.weights and word not in lexicon.GENERIC}


def coverage_of(old: str, body: str) -> float:
    """As `coverage`, with a whole file on the other side."""
    return _share(made(old), known(body, WHOLE))
