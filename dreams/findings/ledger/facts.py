"""What a statement says beyond its words: numbers, names, paths, denials, days; which of it another lacks, denies or takes back. PURE."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations, pairwise

from dreams.findings.ledger.qualifiers import requalified
from dreams.findings.ledger.units import literal
from dreams.findings.ledger.wordings import (
    LONGEST,
    SAYS_NOTHING,
    WHOLE,
    capitals,
    exchanged,
    has,
    known,
    made,
    rebound,
)
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement, StatementWord, statement
from dreams.lib.prose.words import Token, code_spans, stem, tokens
from dreams.lib.secrets.redact import redact

_LABEL = 3  # words of a clause in front that is said of what follows
_FRAME = 5  # words in front, in the same clause
_DOUBTING = "think believe claim assume guess suspect doubt suppose suggest propose consider hope fear wonder"
_DENYING = "wrong false untrue incorrect mistaken myth rumour rumor hoax stopped ceased old outdated historical draft idea"
# A denial is held against the words in front of it.
_TAKES_BACK = lexicon.UNSETTLED | lexicon.CONDITIONS | frozenset(_DENYING.split())
_DOUBTED = frozenset(stem(word) for word in _DOUBTING.split())


def taken_back(old: str, new: str) -> bool:
    """Whether `new` strikes `old` out, or says in front of its words that they hold no longer, not yet, or for somebody."""
    if "~~" in new and "~~" not in old:
        return True
    one, other = (statement(text[:LONGEST]) for text in (old, new))
    return any(word in _TAKES_BACK or stem(word) in _DOUBTED for word in _in_front(one, other))


def _in_front(one: Statement, other: Statement) -> set[str]:
    """The words of `other` before those of `one`, in their clause or in a label before it, that `one` does not have."""
    found = SequenceMatcher(None, one.flow, other.flow, autojunk=False).find_longest_match()
    start, clauses = found.b, other.clause_of
    if not found.size or not start:
        return set()
    own = [at for at in range(max(0, start - _FRAME), start) if clauses[at] == clauses[start]]
    label = [at for at in range(start) if clauses[at] == clauses[start - 1]]
    lead = own or (label if len(label) <= _LABEL else [])
    return {other.written[at] for at in lead} - set(one.written)


_THEN = lexicon.STEPS - {"first"}
NOT = "not"
DENIED_NOW = "a statement that is denied now"
_WIKILINK = re.compile(r"\[\[[^\]\n]*\]\]")
_NEAR = 3  # words on each side of a name or number that say what it belongs to
_LISTING = frozenset({"or", "nor"})
_LISTED = 3  # clauses
_MEMBER = 2  # words of a list's first member
_MOST = 12  # names or numbers of one kind that are looked at in pairs


def turned(old: str, new: str) -> list[str]:
    """What `new` denies of `old`, or no longer denies, in words for a person."""
    old, new = (_WIKILINK.sub("it", text) for text in (old, new))  # [[never-git-stash]] is a name
    one, other = made(old), made(new)
    found = []
    if _unanswered(one, other, once=True):
        found.append(NOT)
    if _unanswered(other, one, once=False):
        found.append(DENIED_NOW)
    gone, come = one.raw - other.raw, other.raw - one.raw
    pairs = sorted((a, b) for a in gone for b in come if (a, b) in lexicon.OPPOSITES)
    return [*found, *(f"{a} (now {b})" for a, b in pairs[:1])] or rebound(old, new)


def _touching(one: Statement, other: Statement) -> Iterator[tuple[int, frozenset[str]]]:
    """Denials of words that the other statement has: what is denied of something else is another matter."""
    touched = one.touched(other)
    for clause, words in one.negations:
        if clause in touched and (not words or any(has(known(other.text), word) for word in words)):
            yield clause, words


def _unanswered(one: Statement, other: Statement, *, once: bool) -> list[int]:
    """The clauses of denials that `other` has none for. `once`: each answers one, but for "neither A nor B", which is two."""
    spots = [(place, words) for place, words in other.negations]
    spots += [(place, words) for place, words in other.contrasts]  # "X instead of Y" sets Y aside
    shared, missing = not once or bool(other.raw & _LISTING), list[int]()
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
    listed = one.raw & _LISTING and len(one.clauses.get(clause, ())) <= _MEMBER
    return range(clause, clause + (_LISTED if listed else 1))


def changed_places(old: str, new: str) -> bool:
    """Whether two names (or numbers, or codes) stand where the other one stood: "Ana owns search, Bob owns billing"."""
    one, other = made(old), made(new)
    if one.written == other.written:  # a word that a line has twice stands in two places of its own
        return False
    if exchanged(old, new) or _steps_turned(one, other):
        return True
    if len(spans := _spans(old) & _spans(new)) > 1:  # code of several words counts as one name
        old, new = (_as_names(text, sorted(spans)) for text in (old, new))
        one, other = made(old), made(new)
    names = {name for _, name in one.names | other.names} | (capitals(old) & capitals(new))
    mine, theirs = (
        _near(made(text.replace(": ", " ")), names) for text in (old, new)
    )  # a label is said of what follows
    kinds_of = (one.numbers, one.codes, names)
    return any(
        _crossed(_but(mine, kind), _but(theirs, kind), a, b)
        for kind in kinds_of
        for a, b in combinations([word for word in mine if word in kind and word in theirs][:_MOST], 2)
    )


def _steps_turned(one: Statement, other: Statement) -> bool:
    """ "First lint, then test": what both say in steps is said in another order."""
    if not all(_THEN.intersection(each.flow) for each in (one, other)):
        return False
    mine, theirs = (
        [
            w
            for w in dict.fromkeys(item.word for item in each.items)
            if w in rest.weights and w not in lexicon.STEPS
        ]
        for each, rest in ((one, other), (other, one))
    )
    return mine != theirs


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


def _near(one: Statement, names: set[str]) -> dict[str, set[str]]:
    """For each name, number or code, in order, the words next to it; generic ones tell nothing."""
    found: dict[str, set[str]] = {}
    for place, item in enumerate(one.items):
        if item.anchor or item.word in names:
            found.setdefault(item.word, set()).update(_words(_around(one, place)))
    return found


def _around(one: Statement, place: int) -> list[StatementWord]:
    """The next words of the same clause; of all where it stands alone in brackets: "Redis (#9)"."""
    near = [*one.items[max(0, place - _NEAR) : place], *one.items[place + 1 : place + 1 + _NEAR]]
    return [item for item in near if item.clause == one.items[place].clause] or near


def _words(items: Sequence[StatementWord]) -> set[str]:
    return {item.word for item in items if item.word not in lexicon.GENERIC}


_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+", re.IGNORECASE)
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
    return [*found, *_members_lost(one, there), *turned(old, new), *requalified(old, new)]


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
    return sorted(word for word in one.weights if word not in SAYS_NOTHING and not has(there, word))


def loses_words(old: str, new: str) -> bool:
    """Whether `words_lost` would name any; answered at the first word: most statements have little in common."""
    one, there = made(old), known(new)
    return any(word not in SAYS_NOTHING and not has(there, word) for word in one.weights)


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
