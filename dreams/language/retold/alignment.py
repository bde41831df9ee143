"""Which units of one text the other one tells as well, in its own words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from dreams.language.retold.units import EXACT, FAMILY, PART, Told, Unit


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs` hold (unit of the one, unit of the other, how sure); shares are of each one's weight, `mass` is what both tell,
    each unit once."""

    pairs: tuple[tuple[int, int, float], ...]
    covered: float
    covering: float
    mass: float
    plain: float  # what both name by the same word, or one of its family


def align(one: Told, other: Told) -> Alignment:
    """What both name by the same word is taken first; a word that only means much the same has to find another partner."""
    same = _partners(one, other, {}, FAMILY, EXACT)
    best = same | _partners(one, other, same, 0.0, FAMILY)
    pairs = [(place, there, how) for place, (there, how) in sorted(best.items())]
    return _weighed(pairs, one, other)


def _partners(
    one: Told, other: Told, known: Mapping[int, tuple[int, float]], least: float, most: float
) -> dict[int, tuple[int, float]]:
    """For each unit that has none yet the surest partner that is not taken, as sure as asked for; of two the first."""
    best: dict[int, tuple[int, float]] = {}
    taken = {there for there, _ in known.values()}
    for key in one.index.keys() & other.index.keys():
        asking = [(place, sure) for place, sure in one.index[key] if place not in known and sure >= least]
        free = [(there, sure) for there, sure in other.index[key] if there not in taken and sure >= least]
        for (place, sure), (there, also) in product(asking, free):
            how = min(sure, also)
            before = best.get(place, (0, -1.0))
            better = how <= most and (how, -there) > (before[1], -before[0])
            if better and (how > PART or _within(one.units[place], other.units[there])):
                best[place] = (there, how)
    return best


def _weighed(pairs: list[tuple[int, int, float]], one: Told, other: Told) -> Alignment:
    back: dict[int, float] = {}
    for _, j, sure in pairs:
        back[j] = max(back.get(j, 0.0), sure)
    theirs = sum(other.units[j].weight * sure for j, sure in back.items())
    mine = sum(one.units[i].weight * sure for i, _, sure in pairs)
    plain = sum(one.units[i].weight for i, _, sure in pairs if sure >= FAMILY)
    return Alignment(
        tuple(pairs),
        mine / (one.weight or 1),
        theirs / (other.weight or 1),
        min(mine, theirs),
        plain,
    )


def _within(one: Unit, other: Unit) -> bool:
    """ "users.ts" and "routes/users.ts" are one; "routes/orders.ts" is another, whatever they share."""
    if not (one.parts and other.parts) or ("/" in one.word + other.word and _end(one) == _end(other)):
        return True
    return set(one.parts) <= set(other.parts) or set(other.parts) <= set(one.parts)


def _end(one: Unit) -> str:
    return one.word.rpartition("/")[2].partition(".")[0]
