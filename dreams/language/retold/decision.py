"""Whether one text retells the other: a hook in an index and the description it sums up, a rule and its paraphrase. Pure."""

from __future__ import annotations

from dreams.language.parts import Statement
from dreams.language.retold.alignment import Alignment, align
from dreams.language.retold.pair import Pair
from dreams.language.retold.rewording import reworded
from dreams.language.retold.thesaurus import COMMON_NAMES
from dreams.language.retold.units import GROUP, PART, RELATING, Told, Unit, told
from dreams.language.retold.vetoes import conflict

# Of the weight of both the share that both tell, and how much that must be at least: the more is left over, the more must be told.
BARS = ((0.5, 1.5), (0.35, 2.5), (0.2, 3.8))
# So much of the shorter one will do as well: a title and the long text that it stands above.
MUCH, OF_MUCH = 0.6, 2.0
LEAST_PLAIN = 1.2  # of it in the same words: where only groups of words agree ("update the docs", "edit the file"), nothing is told
# Words, below which two texts that each tell something of their own have but a topic in common.
FEWEST, FEWEST_OF_SHORT = 2, 3
TELLING = 0.45  # of a word that tells something by itself: "new" and "put" weigh less
SHORT = 5  # units, of which three are a topic where more than one word stands for another


def retells(short: Statement, long: Statement) -> bool:
    """Whether the two tell of one thing, each perhaps with details of its own, and give no fact differently."""
    pair = paired(short, long)
    return pair is not None and not conflict(pair)


def each_its_own(one: str, other: str) -> bool:
    """Whether each text tells something for which the other one has no word: then neither can stand for both."""
    mine, theirs = told(one), told(other)
    return all(_own(align(mine, theirs), mine, theirs))


def _own(found: Alignment, one: Told, other: Told) -> tuple[int, int]:
    """How many words of each the other one has none for."""
    return _left(one, {mine for mine, _, _ in found.pairs}), _left(
        other, {there for _, there, _ in found.pairs}
    )


def _left(one: Told, matched: set[int]) -> int:
    return sum(place not in matched and _tells(unit) for place, unit in enumerate(one.units))


def _tells(unit: Unit) -> bool:
    return unit.weight >= TELLING and unit.word not in RELATING


def paired(short: Statement, long: Statement) -> Pair | None:
    """The two, the one with less to tell first, if they tell enough of the same; else nothing."""
    one, other = told(short.text), told(long.text)
    if one.weight > other.weight:
        one, other, short, long = other, one, long, short
    found = align(one, other)
    if not enough(found, one, other):
        return None
    words = {other.units[j].word: one.units[i].word for i, j, sure in found.pairs if sure > PART}
    words = {theirs: mine for theirs, mine in words.items() if theirs != mine}
    return Pair(short, reworded(long, words), one, other, found)


def enough(found: Alignment, one: Told, other: Told) -> bool:
    share = found.mass / ((one.weight + other.weight - found.mass) or 1)
    told_enough = any(share >= least and found.mass >= mass for least, mass in BARS)
    if found.plain < LEAST_PLAIN or not (told_enough or (found.covered >= MUCH and found.mass >= OF_MUCH)):
        return False
    own = _own(found, one, other)
    fewest = FEWEST_OF_SHORT if len(one.units) <= SHORT and max(own) > 1 else FEWEST
    return not all(own) or _words(found, one) >= fewest


def _words(found: Alignment, one: Told) -> int:
    """How many words both tell; a name, a number or a piece of code counts twice."""
    told_by = [(one.units[place], sure) for place, _, sure in found.pairs]
    return sum(sure >= GROUP and _tells(unit) for unit, sure in told_by) + sum(
        unit.anchor and unit.word not in COMMON_NAMES for unit, _ in told_by
    )
