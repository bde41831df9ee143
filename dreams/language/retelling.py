"""Whether one text retells the other with details of its own: a hook in an index and the description it sums up. Pure.

Neither may go for the other's sake, for each may know something more; but they are one memory, not two. Here a detail that only
one side has is none against it; what counts is what both give and give differently, and that they share telling words.
"""

from __future__ import annotations

from dreams.language import contrasts, lexicon
from dreams.language.edits import altered, edit
from dreams.language.orders import other_doer, swapped, turned_round
from dreams.language.statements import Statement

COVERED = 0.4  # of the shorter one's weight, that the longer one has
WELL_COVERED = 0.65  # where what is shared tells less
LEAST_WORDS = 4  # of meaning in the shorter one
WHOLE = 0.999  # covered: the longer one has all of it, and may narrow what it says
LEAST_WHOLE = 5  # words of meaning in the shorter one then
LEAST_SHARED = 3
TELLING = 3.3  # weight of the words in common that not every note of a project has
PLAIN = 4.0  # weight of all words in common, where much is covered


def retells(short: Statement, long: Statement, covered: float) -> bool:
    """`covered` is the share of the shorter one's weight that the longer one has."""
    if covered < COVERED or len(short.telling) < (LEAST_WORDS if covered < WHOLE else LEAST_WHOLE):
        return False
    common = {word: short.telling[word] for word in short.telling if word in long.weights}
    telling = sum(weight for word, weight in common.items() if word not in lexicon.EVERYDAY)
    if len(common) < LEAST_SHARED:
        return False
    if telling < TELLING and not (
        covered >= WELL_COVERED and len(common) > LEAST_SHARED and sum(common.values()) >= PLAIN
    ):
        return False
    return not contradiction(short, long)


def contradiction(short: Statement, long: Statement) -> str:
    """The first thing that both give and give differently, or that one takes back; a detail of one alone is none."""
    copy = edit(short, long).twin
    checks = (
        (lambda: short.asks != long.asks, "one asks, the other says"),
        (lambda: _differ(short.numbers, long.numbers, copy), "numbers differ"),
        (lambda: contrasts.signs_differ(short, long), "one is done or right, the other not"),
        (lambda: _codes_differ(short, long, copy), "names or paths differ"),
        (lambda: _differ(frozenset(short.named(long)), frozenset(long.named(short)), copy), "names differ"),
        (lambda: _denied(short, long, copy), "one denies what the other says"),
        (lambda: copy and contrasts.code_differs(short, long), "commands or quoted code differ"),
        (lambda: contrasts.environments_differ(short, long), "environments differ"),
        (lambda: _differ(short.days, long.days, copy), "days differ"),
        (lambda: contrasts.marks_differ(short, long), "conditions or states differ"),
        (lambda: bool(short.was & long.is_ or short.is_ & long.was), "one was, the other is"),
        (lambda: contrasts.opposed(short, long), "opposite words"),
        (lambda: contrasts.strength_differs(short, long), "one demands, the other allows"),
        (lambda: turned_round(short, long), "the order is turned round"),
        (lambda: swapped(short, long), "names change places"),
        (lambda: other_doer(short, long), "who does it changes"),
        (lambda: altered(short, long, detailed=True), "a copy with one thing changed"),
        (lambda: _exchanged(short, long), "one word stands for another"),
    )
    return contrasts.first(checks)


def _differ(mine: frozenset[str], theirs: frozenset[str], copy: bool) -> bool:
    return mine != theirs if copy else bool(mine - theirs) and bool(theirs - mine)


def _codes_differ(short: Statement, long: Statement, copy: bool) -> bool:
    """ "manifest.json" is told by "public/manifest.json", and "/api/users" by "routes/users.ts"."""
    if copy:
        return short.codes != long.codes
    mine, theirs = _ends(short.codes), _ends(long.codes)
    own = any(end not in theirs for end in mine)
    return own and any(end not in mine for end in theirs)


def _ends(codes: frozenset[str]) -> set[str]:
    return {code.rstrip("/").rpartition("/")[2].lstrip(".").partition(".")[0] or code for code in codes}


def _exchanged(short: Statement, long: Statement) -> bool:
    """A word for another among few; a path told by its end is none."""
    if len(short.telling) > contrasts.LONG_FROM or not contrasts.substituted(short, long):
        return False
    return not (short.codes and short.codes != long.codes and _ends(short.codes) <= _ends(long.codes))


def _denied(short: Statement, long: Statement, copy: bool) -> bool:
    """In texts of different words, only what is denied here and said there: "no progress" may be an aside."""
    if copy:
        return contrasts.negation_differs(short, long)
    return _denies(short, long) or _denies(long, short)


def _denies(one: Statement, other: Statement) -> bool:
    """Whether the first thing that a denial is about is said by the other one, and not denied there."""
    denied = frozenset[str]().union(*(words for _, words in other.negations + other.contrasts))
    over = frozenset[str]().union(*(right for word, (_, right) in other.sides.items() if word == "over"))
    twice = [clause for clause, _ in one.negations]
    for clause, words in one.denied:
        first = next((word for word in words if word not in lexicon.GENERIC), "")
        if first in other.weights and first not in denied | over and twice.count(clause) < 2:
            return True
    return False
