"""One value for another where the words around do not say it alone: another weekday, another tool of the same class, the version of
what both name, and the same statement in other words once the value is exchanged. Pure.

As in `slots`: sure or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dreams.engines.rules.notes.wording import whole
from dreams.engines.rules.values import slots
from dreams.engines.rules.values.retyping import labelled
from dreams.engines.rules.values.slots import Slot
from dreams.engines.rules.values.spans import WEEKDAY
from dreams.language import lexicon, products, properties
from dreams.language.pieces import WEAK, Piece, keys_of, pieces
from dreams.language.statements import statement

_IS = re.compile(
    r"^(?:(?:the|our|my) )?(?P<label>[\w'’/-]+(?: [\w'’/-]+){0,4}?) (?:is|are) (?P<value>(?!(?:not|no|in|on|at|being|getting|to|only|still|very|too|so|as)\b)\S+(?:\s+\S+){0,3})$",
    re.IGNORECASE,
)
# How something fares at the moment is no value of it.
_PASSING = re.compile(
    r"\b(?:up|down|red|green|slow|fast|faster|slower|broken|failing|failed|fine|ok|okay|ready|done|gone|dead|alive|open|closed|wrong|right|good|bad|better|worse|stuck|busy|idle|late|early|clean|dirty|"
    r"full|empty|merged|running|working|passing|flaky|weird|missing|here|there|back|off|on|live|stable|unstable|unclear|clear|unknown|different|same|new|old|finished|complete|completed|blocked|"
    r"it|that|this|mine|yours|ours|\w+ing|\w+ed)\b",
    re.IGNORECASE,
)
# Data may move from one to the other.
_KEEPING = frozenset({"database", "cache", "search", "warehouse", "broker", "jobs"})
_UNTELLING = WEAK - keys_of("host store limit")
_VERSION = frozenset({"version", "releas"})
LONGEST_NAME = 3  # words
MOST_BELOW = 4  # words of a value behind a label


@dataclass(frozen=True, slots=True)
class _Product:
    """A known name with the number behind it ("MySQL 8"): its places, its class, and the name alone."""

    first: int
    last: int
    kind: str
    name: str
    number: str


def slot(old: str, new: str) -> Slot | None:
    """The one value that `new` has another of, where both surely speak of the same; None if that is not sure."""
    below = _below_label(old, new)
    if below and _products(pieces(f"x {below.new}")):
        return below  # of whatever class: the label says what it is
    found = (
        _shared(old, new, slots.slot(old, new))
        or _weekday(old, new)
        or _of_class(old, new)
        or _shared(old, new, _by_exchange(old, new))
        or below
    )
    if found is None or _other_sort(old, new, found) or (whole(old) and not whole(found.filled(old))):
        return None
    return _with_unit(old, new, found)


def _shared(old: str, new: str, found: Slot | None) -> Slot | None:
    """ "We're on Fly.io" says of nothing in particular what it is: something beside the value must be told by both."""
    if found is None:
        return None
    beside = keys_of(f"{old[: found.start]} {old[found.end :]}") & keys_of(new) - keys_of(found.new)
    return found if beside - _UNTELLING else None


def _with_unit(old: str, new: str, found: Slot) -> Slot:
    """ "3 years" for "1 year": the unit goes with its number."""
    mine, theirs = pieces(old), pieces(new)
    at = next((place for place, piece in enumerate(mine) if piece.end == found.end), len(mine))
    now = [place for place, piece in enumerate(theirs) if piece.text == found.new and piece.shape == "number"]
    if len(now) != 1 or at + 1 >= len(mine) or now[0] + 1 >= len(theirs) or mine[at].shape != "number":
        return found
    was, unit = mine[at + 1], theirs[now[0] + 1]
    if was.key != unit.key or was.text.lower() == unit.text.lower() or was.shape != "word":
        return found
    return Slot(found.start, was.end, new[theirs[now[0]].start : unit.end])


def _other_sort(old: str, new: str, found: Slot) -> bool:
    """ "The relay needs Node 20" is still so when "the relay uses PostgreSQL now": of known names, one stands for its like."""
    was, now = (_products(pieces(f"x {text}")) for text in (old[found.start : found.end], found.new))
    if bool(was) != bool(now):  # "hosting is on Render", and "hosting is in eu-west-1"
        other = pieces(f"x {found.new if was else old[found.start : found.end]}")[1:]
        return bool(other) and other[0].shape != "name" and properties.changed(old, new) is None
    if not was or was[0].kind == now[0].kind:
        return False
    kept = {was[0].kind, now[0].kind} <= _KEEPING and bool(
        (_words(was[0].kind) | _words(now[0].kind)) & keys_of(old)
    )
    return not kept and properties.changed(old, new) is None


def _below_label(old: str, new: str) -> Slot | None:
    """ "Theme: dark" and "the theme is light": the label and no word more, and something that lasts."""
    known = old.rstrip(" .!")
    mine, theirs = labelled(known), _IS.match(new.rstrip(" .!"))
    if mine is None or mine.is_dashed or len(mine.rest.split()) > MOST_BELOW or theirs is None:
        return None
    label, value = keys_of(mine.name), theirs["value"]
    if not label or label != keys_of(theirs["label"]) or keys_of(mine.rest) == keys_of(value):
        return None
    if _PASSING.search(value) or not slots.agree(old, new):
        return None
    return Slot(len(known) - len(mine.rest), len(known), value)


def _weekday(old: str, new: str) -> Slot | None:
    """The same on another day of the week."""
    mine, theirs = (list(WEEKDAY.finditer(text)) for text in (old, new))
    if len(mine) != 1 or len(theirs) != 1 or _day(mine[0]) == _day(theirs[0]):
        return None
    found = Slot(mine[0].start(), mine[0].end(), theirs[0][0])
    return found if _same_then(old, new, found, theirs[0].span()) else None


def _day(match: re.Match[str]) -> str:
    return match[0].lower().removesuffix("s")


def _of_class(old: str, new: str) -> Slot | None:
    """Another tool in the place of one that does the same, or another version of the same one."""
    if not slots.agree(old, new):
        return None
    mine, theirs = pieces(old), pieces(new)
    named = _products(theirs)
    if len(named) != 1:
        return None
    now = named[0]
    before = [each for each in _products(mine) if each.kind == now.kind]
    if len(before) != 1:
        return None
    was = before[0]
    rest = (
        {p.key for at, p in enumerate(theirs) if p.key and not now.first <= at <= now.last}
        - WEAK
        - _words(now.kind)
    )
    others = {p.key for at, p in enumerate(mine) if p.key and not was.first <= at <= was.last}
    if not rest <= others or not (
        rest or others - WEAK - lexicon.GENERIC - _VERSION <= _words(now.kind) | _numbers(mine)
    ):
        return None
    if was.name == now.name:
        return _number(mine, was, now)
    return Slot(
        mine[was.first].start, mine[was.last].end, new[theirs[now.first].start : theirs[now.last].end]
    )


def _number(mine: Sequence[Piece], was: _Product, now: _Product) -> Slot | None:
    """ "Python version: 3.10" and "Python 3.12": the version of the same, where it is the only number."""
    found = [piece for piece in mine if piece.shape == "number"]
    if not now.number or len(found) != 1 or found[0].key == now.number.lower():
        return None
    between = [p for p in mine if mine[was.last].end <= p.start < found[0].start and p.key]
    if any(piece.key not in _VERSION for piece in between) and not was.number:
        return None
    return Slot(found[0].start, found[0].end, now.number)


def _numbers(found: Sequence[Piece]) -> set[str]:
    return {piece.key for piece in found if piece.shape == "number"}


@lru_cache(maxsize=200)
def _words(kind: str) -> frozenset[str]:
    return frozenset(keys_of(products.words_for(kind).lower()))


def _products(found: Sequence[Piece]) -> list[_Product]:
    """Names that are known, the longest first at each place."""
    known: list[_Product] = []
    place = 0
    while place < len(found):
        last, kind = _product_at(found, place)
        if kind:
            name = " ".join(piece.text.strip("`").lower() for piece in found[place : last + 1])
            follows = (
                last + 1 < len(found)
                and found[last + 1].shape == "number"
                and found[last + 1].start <= found[last].end + 1
                and not slots.is_designator(found, (last + 1, last + 1))
            )
            number = found[last + 1].text if follows else ""
            known.append(_Product(place, last + follows, kind, name, number))
            place = last + follows
        place += 1
    return known


def _product_at(found: Sequence[Piece], place: int) -> tuple[int, str]:
    for size in range(LONGEST_NAME, 0, -1):
        run = found[place : place + size]
        kind = products.class_of(" ".join(piece.text for piece in run)) if len(run) == size else ""
        if kind:
            return place + size - 1, kind
    return place, ""


def _by_exchange(old: str, new: str) -> Slot | None:
    """The same statement in other words, were it not for the value."""
    found = slots.differing(old, new)
    if found is None:
        return None
    made, span = found
    # Whatever weighs in the value weighs in both then: the rest must not say a word more.
    rest = keys_of(f"{new[: span[0]]} {new[span[1] :]}") - WEAK
    before = keys_of(f"{old[: made.start]} {old[made.end :]}")
    return made if rest <= before and _same_then(old, new, made, span) else None


def _same_then(old: str, new: str, made: Slot, span: tuple[int, int]) -> bool:
    """Whether both say the same once `new` has the old value at `span`."""
    evened = f"{new[: span[0]]}{old[made.start : made.end]}{new[span[1] :]}"
    one, other = statement(old), statement(evened)
    held = [{word for _, word in each.marked} for each in (one, other)]
    return one.telling.keys() == other.telling.keys() and held[0] == held[1] and one.asks == other.asks
