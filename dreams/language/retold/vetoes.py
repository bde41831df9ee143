"""What keeps two texts apart although they tell of the same units: a fact that both give, and give differently. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dreams.language import amounts, bindings, contrasts, polarity, sequence
from dreams.language.grades import graded
from dreams.language.lexicon import LIMITS, ONLY
from dreams.language.orders import other_doer, roles_changed, turned_round
from dreams.language.retold.copies import added_to, denial_changed, edited
from dreams.language.retold.limits import conditioned, environments_apart, limited, opposed
from dreams.language.retold.names import codes_apart, names_apart, names_crossed, numbers_apart
from dreams.language.retold.pair import ALL, Pair
from dreams.language.retold.slots import another_thing
from dreams.language.tenses import past_and_present, settled, was_differs

LEAST_ODD, LEAST_ODD_LOOSE = 1.0, 2.0  # weight that the one affirms and the other denies


def conflict(pair: Pair) -> str:
    """The first fact that both give differently, or nothing.

    Where one tells much that the other leaves out, a detail of its own is none against it; who changes one thing in a note
    leaves the rest as it was.
    """
    short, long = pair.short, pair.long
    whole = pair.near and pair.found.covered >= ALL
    least = LEAST_ODD if pair.close or whole else LEAST_ODD_LOOSE
    always = (
        (lambda: short.asks != long.asks, "one asks, the other says"),
        (lambda: numbers_apart(pair), "numbers differ"),
        (lambda: amounts.differ(short.text, long.text), "times differ"),
        (lambda: contrasts.signs_differ(short, long), "one is done or right, the other not"),
        (lambda: amounts.apart(short.days, long.days), "days differ"),
        (lambda: names_apart(pair), "names differ"),
        (
            lambda: polarity.at_odds(short, long, pair.weights, least=least),
            "one denies what the other says",
        ),
        (lambda: environments_apart(pair), "environments differ"),
        (lambda: limited(pair, LIMITS - ONLY) or settled(short, long), "conditions or states differ"),
        (lambda: opposed(pair), "opposite words"),
        (lambda: turned_round(short, long) or sequence.turned(short, long), "the order is turned round"),
        (lambda: names_crossed(pair) or bindings.handed_round(short, long), "names change places"),
        (lambda: codes_apart(pair), "names differ"),
        (lambda: pair.near and graded(short, long), "one says all, the other some"),
        (lambda: other_doer(short, long) or roles_changed(short, long), "who does it changes"),
        (lambda: pair.near and another_thing(pair), "each says it of another thing"),
    )
    return contrasts.first(always) or (contrasts.first(_closer(pair)) if pair.close else "")


def _closer(pair: Pair) -> Iterator[tuple[Callable[[], bool], str]]:
    short, long = pair.short, pair.long
    alike = pair.brief or pair.copy
    yield lambda: limited(pair, LIMITS) or conditioned(pair), "conditions or states differ"
    yield lambda: bool(short.was & long.is_ or short.is_ & long.was), "one was, the other is"
    yield lambda: past_and_present(short, long), "one was, the other is"
    yield lambda: alike and was_differs(short, long), "one was, the other is"
    yield lambda: alike and contrasts.opposed(short, long), "opposite words"
    yield lambda: pair.brief and denial_changed(short, long), "one denies what the other says"
    yield lambda: pair.brief and added_to(pair), "what is added changes it"
    yield lambda: pair.copy and edited(pair), "a copy with one thing changed"
    yield lambda: alike and contrasts.exchanged(short, long), "one word stands for another"
