"""Whether two statements of the same words say them the other way round: "Ana reviews Bob", steps, sides of "over". Pure."""

from __future__ import annotations

from collections import Counter

from dreams.language import lexicon
from dreams.language.statements import Statement

MOST_ANCHORS = 12  # names, numbers and codes of one statement that are looked at in pairs


def turned_round(short: Statement, long: Statement) -> bool:
    """ "prefer X over Y" against "prefer Y over X": what stands left and right of the same connector."""
    for connector, (left, right) in short.sides.items():
        if connector in long.sides:
            other_left, other_right = long.sides[connector]
            if (left - other_left) & other_right and (right - other_right) & other_left:
                return True
    return False


def swapped(short: Statement, long: Statement) -> bool:
    """The same words with two of them exchanged, or steps in another order: "Linux at work, Windows at home"."""
    if _crossed(short, long):
        return True
    mine, theirs = _common_order(short, long)
    moved = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    if _listed({mine[place] for place in moved}, short, long):
        return False
    if len(moved) == 2 and moved[1] - moved[0] > 1:
        return True
    if moved and (short.raw | long.raw) & lexicon.STEPS:
        return True
    anchors, words = _parted(short, mine, theirs)
    return anchors[0] != anchors[1] and words[0] == words[1] and len(words[0]) > 1


def _crossed(short: Statement, long: Statement) -> bool:
    """Two names that stand the other way round about the same word of one clause: "Ana asks Bob"; a passive does so rightly."""
    if ("by" in short.counts) != ("by" in long.counts):
        return False
    theirs = _between(long)
    return any(
        words & theirs.get((other, one), frozenset()) for (one, other), words in _between(short).items()
    )


def _between(one: Statement) -> dict[tuple[str, str], frozenset[str]]:
    """For each two names, numbers or codes of one clause, the plain words between them; the first of each pair counts."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    places = [place for place, item in enumerate(one.items) if item.anchor][:MOST_ANCHORS]
    for at, first in enumerate(places):
        for last in places[at + 1 :]:
            alike = one.items[first].word == one.items[last].word
            if not alike and one.items[first].clause == one.items[last].clause:
                words = frozenset(i.word for i in one.items[first + 1 : last] if not i.anchor)
                found.setdefault((one.items[first].word, one.items[last].word), words)
    return found


def _listed(moved: set[str], short: Statement, long: Statement) -> bool:
    """Whether the words that moved are members of one list ("a, b and c") on both sides."""
    return len(moved) > 1 and all(_in_a_row(moved, one) for one in (short, long))


def _in_a_row(words: set[str], one: Statement) -> bool:
    flow = [word for word in one.flow if word not in {"and", "or"}]
    places = [place for place, word in enumerate(flow) if word in words]
    listed = len(words) > 2 or bool({"and", "or"} & set(one.flow))
    return listed and places[-1] - places[0] == len(words) - 1


def _common_order(short: Statement, long: Statement) -> tuple[list[str], list[str]]:
    """The words that both have, each as often, in the order of the one and of the other."""
    mine, theirs = [i.word for i in short.items], [i.word for i in long.items]
    counts, others = Counter(mine), Counter(theirs)
    alike = {word for word in counts if counts[word] == others[word]}
    return [w for w in mine if w in alike], [w for w in theirs if w in alike]


def _parted(
    short: Statement, mine: list[str], theirs: list[str]
) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    """Both orders, parted into names and numbers on one side and plain words on the other."""
    anchors = {item.word for item in short.items if item.anchor}

    def part(named: bool) -> tuple[list[str], list[str]]:
        return [w for w in mine if (w in anchors) is named], [w for w in theirs if (w in anchors) is named]

    return part(True), part(False)
