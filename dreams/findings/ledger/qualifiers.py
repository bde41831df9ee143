"""The small words that make a statement hold more or less: how binding, of how many, alone or not, and what bounds a number. PURE."""

import functools
import re
from collections import Counter
from difflib import SequenceMatcher

from dreams.findings.ledger.wordings import JOINS, capitals, plain_statement, plainer
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement, canonical

# Of each class both statements have a word, or neither: without one, more or less is said.
_CLASSES = {
    form: kind
    for kind, words in {
        "unsettled": " ".join(sorted(lexicon.UNSETTLED)),
        "advised": "should recommend suggest advise prefer preferably ideal ideally encourage try consider usual usually "
        "general generally normal normally typical typically mostly often",
        "allowed": "may might can could optional optionally sometimes occasionally rarely possible possibly feasible allow permit",
        "some": "some few many several most",
        "all": "all each every any always whole entire",
        "only": "only exclusively solely exactly just merely",
        "unless": "unless except until",
        "when": "when if whenever",
        "later": "will would going soon",
    }.items()
    for word in words.split()
    for form in (word, canonical(word))
}
ADDED = "it without "  # what only the new statement has, as a person is told of it
_ENGLISH = frozenset(
    word for word in lexicon.FILLER if len(word) > 2
)  # shorter ones are words of other languages, too
MOST_PUT_IN = 2  # words: "ne … pas"
_BOUNDS = {
    "about": r"about|around|roughly|approximately|approx\.?|circa|nearly|almost|[~≈]",
    "at most": r"at most(?: [a-z]+:?)?|≤|<=",
    "at least": r"at least(?: [a-z]+:?)?|≥|>=",
    "over": r"over|above|exceed\w*|>",
    "below": r"below|under|<",
}
_BOUNDED = [
    (kind, re.compile(rf"(?<!\w)(?:{words})\s?(?:an? |the )?[#$€£v]?(\d[\d.,:_]*\d|\d)"))
    for kind, words in _BOUNDS.items()
]


def requalified(old: str, new: str) -> list[str]:
    """What makes `new` hold more or less than `old`, in words for a person: "only", "must (now may)", "about 500"."""
    one, other = plain_statement(old), plain_statement(new)
    mine, theirs = _said(one, other), _said(other, one)
    gone = sorted(word for kind, word in mine.items() if kind not in theirs)
    come = sorted(word for kind, word in theirs.items() if kind not in mine and kind != "all")
    tense = sorted((one.was & other.is_) | (one.is_ & other.was))
    return [*gone, *map(_added, come), *tense, *_joined(one, other), *_unbound(old, new)]


def _added(word: str) -> str:
    return f"{ADDED}“{word}”"


def _said(one: Statement, other: Statement) -> dict[str, str]:
    """The classes that a statement has a word of, in clauses which have to do with the other one or say nothing else."""
    touched = one.touched(other) | {at for at, words in one.clauses.items() if words <= _CLASSES.keys()}
    flow = [*zip(one.flow, one.clause_of, strict=True), ("", -1)]
    return {
        _CLASSES[word]: word
        for at, (word, clause) in enumerate(flow)
        if clause in touched
        and word in _CLASSES
        and flow[at + 1][0] != "not"  # "cannot" is a denial
        and (word != "most" or flow[at - 1][0] != "at")
    }


def put_in(old: str, new: str) -> list[str]:
    """One or two words that only `new` has, beside others of a clause: in a language without a known small word any may deny it."""
    one, other = plain_statement(old), plain_statement(new)
    if not 0 < len(other.flow) - len(one.flow) <= MOST_PUT_IN or not _ENGLISH.isdisjoint(other.flow):
        return []
    found = SequenceMatcher(None, one.flow, other.flow, autojunk=False).get_opcodes()
    put = [at for tag, *_, start, end in found if tag == "insert" for at in range(start, end)]
    names, beside = capitals(new), {clause for at, clause in enumerate(other.clause_of) if at not in put}
    if put[:1] == [0] and one.flow[0] in capitals(old) - names:
        names -= {other.flow[0]}  # it has its capital as the first word
    plain = (other.flow[at].isalpha() and other.clause_of[at] in beside for at in put)
    is_only = all(tag in {"equal", "insert"} for tag, *_ in found) and names.isdisjoint(
        other.flow[at] for at in put
    )
    return [_added(other.written[at]) for at in put] if is_only and all(plain) else []


def _joined(one: Statement, other: Statement) -> list[str]:
    """An "and" in the place of an "or"; what is denied of both is denied of either."""
    if one.negations or other.negations:
        return []
    mine, theirs = (Counter(word for word in each.flow if word in JOINS) for each in (one, other))
    return [f"{a} (now {b})" for a in mine - theirs for b in theirs - mine]


def _unbound(old: str, new: str) -> list[str]:
    """The numbers of both that only one bounds, or the two differently."""
    mine, theirs = _bounds(old), _bounds(new)
    numbers = plain_statement(old).numbers & plain_statement(new).numbers
    gone, come = (
        sorted(f"{bound} {number}" for bound, number in one - other if number in numbers)
        for one, other in ((mine, theirs), (theirs, mine))
    )
    return [*gone, *map(_added, come)]


@functools.lru_cache(maxsize=20_000)
def _bounds(text: str) -> Counter[tuple[str, str]]:
    said = plainer(text).lower()
    return Counter(
        (kind, number.replace(",", "").replace("_", ""))
        for kind, bounded in _BOUNDED
        for number in bounded.findall(said)
    )
