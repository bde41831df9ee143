"""The places in the sources where an anchor is named, and what is said below it. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from dreams.lib.prose.claims.anchors import Anchor, Claim, Shape, claim_of, shape
from dreams.lib.prose.claims.evidence import Evidence
from dreams.lib.prose.claims.field import COMMONEST, Field
from dreams.lib.prose.claims.terms import pieces, word_of

MOST_PLACES = 400
MOST_READ = 8_000  # units whose text is compared letter by letter
_SQUEEZE = re.compile(r"[\s\"'`*,;]+")
_LOOSE = re.compile(r"[\s\"'`*,;:=]+")
_COMPOSITE = re.compile(r"[\s{}\[\]=,<>]")
_SIGIL = re.compile(r"^[#.:@$&*~]+(?=\w)|:\d+(?:-\d+)?$")
_DISTINCT = re.compile(r"\w{3}\.\w|[a-z][A-Z]|\w_\w")  # a file's name, or one of several words
_WORD = re.compile(r"[a-z]+")
_INSIDE = re.compile(r"(?<![\w.])\d[\w.]*")  # a number in a piece of code
REASSEMBLED = 0.9  # presence of a piece of code that the sources put together otherwise
OTHER_NUMBER = 0.3  # presence of a piece of code that the sources have with another number
_ARGUMENTS = re.compile(r"\((?:[^()]|\([^()]*\))*\)$|/\d$")


@dataclass(frozen=True, slots=True)
class Standing:
    """How wholly an anchor stands in the sources (0 to 1), the units where it does, in order, and the form that was found."""

    presence: float
    places: Sequence[int]


def occurrences(evidence: Evidence, anchor: Anchor, end: int) -> Standing:
    if anchor.kind == "number":
        return Standing(*_numbers(evidence, anchor, end))
    for presence, form in _forms(anchor.text):
        found = _literal(evidence, form, end)
        if found:
            also = (*_by_itself(evidence, form, end), *_as_member(evidence, form, end))
            return Standing(presence, sorted({*found, *also}))
        valued = _valued(evidence, form, end) if _INSIDE.search(form) and " " in form else None
        if valued:
            return valued
    presence, places = _scattered(evidence, anchor, end)
    # The parts of one name, scattered, are not the name; the parts of a longer piece of code may well be it.
    return Standing(min(presence, 0.9 if _COMPOSITE.search(anchor.text.strip()) else 0.45), places)


def _forms(text: str) -> Iterator[tuple[float, str]]:
    """The text as it stands, then what is left of it when calls lose their arguments and paths their folders."""
    bare = text.strip().strip("\"'").removesuffix("()")
    yield 1.0, bare
    plain = _SIGIL.sub("", bare)
    if plain != bare and plain:
        yield 0.95, plain
    name = _ARGUMENTS.sub("", bare)
    if name != bare and name:
        yield 0.95, name
    if "/" in bare and " " not in bare:
        parts = [part for part in bare.split("/") if part]
        if len(parts) > 2:
            yield 0.9, "/".join(parts[-2:])
        if len(parts) > 1:
            yield 0.75, parts[-1]
    elif "." in name and " " not in name and "(" not in name:
        last = name.rpartition(".")[2]
        if len(last) > 3:
            yield 0.75, last


def _literal(evidence: Evidence, form: str, end: int) -> list[int]:
    """The units that have the form with its capitals, or else without regard to them and to quotes and blanks."""
    read = _rarest(evidence, form, end)
    if len(read) > MOST_READ:
        read = read[:: len(read) // MOST_READ + 1]
    head = r"(?<!\w)" if form[0].isalnum() or form[0] == "_" else ""
    tail = r"(?!\w)" if form[-1].isalnum() or form[-1] == "_" else ""
    exact = re.compile(head + re.escape(form) + tail)
    found = [place for place in read if exact.search(evidence.units[place].text)]
    if found:
        return _as_a_name(evidence, form, found) or found
    wanted = _SQUEEZE.sub("", form.lower())
    return [place for place in read if wanted in _SQUEEZE.sub("", evidence.units[place].text.lower())]


def _valued(evidence: Evidence, form: str, end: int) -> Standing | None:
    """The units that have the same code however it is put together ("retries = 1", "retries: 1"), or else with other numbers."""
    parts = [_LOOSE.sub("", part.lower()) for part in _INSIDE.split(form)]
    if not any(parts):
        return None
    alike = re.compile(r"\d[\w.]*".join(map(re.escape, parts)))
    wanted, same, other = _LOOSE.sub("", form.lower()), list[int](), list[int]()
    for place in _rarest(evidence, _INSIDE.sub(" ", form), end)[:MOST_READ]:
        found = [match[0] for match in alike.finditer(_LOOSE.sub("", evidence.units[place].text.lower()))]
        if found:
            (same if wanted in found else other).append(place)
    if same:
        return Standing(REASSEMBLED, same)
    return Standing(OTHER_NUMBER, other) if other else None


def _as_a_name(evidence: Evidence, form: str, found: list[int]) -> list[int]:
    """Of the units with a name that is also a word, those that have the name: "the `path` key" is, "the path is long" and "a/path/b" are not."""
    if not _WORD.fullmatch(form):
        return found
    marked = re.compile(rf"(?<=[`\"'.@$<]){form}(?![\w/])|(?<![\w/.-]){form}(?=[`\"'(.:=])(?![.:]\s|[.:]$)")
    bare = re.compile(rf"(?<![\w/.-]){form}(?![\w/-])")
    units = evidence.units
    return [p for p in found if (marked if units[p].prose else bare).search(units[p].text)]


def _by_itself(evidence: Evidence, form: str, end: int) -> list[int]:
    """The units that name the same thing by its end: "handler.ts" or "hooks/handler.ts" for "src/hooks/handler.ts"."""
    folders, mark, last = form.rpartition("/" if "/" in form else ".")
    if not mark or not _DISTINCT.search(last) or " " in form:
        return []
    before = ""
    for folder in folders.split("/") if "/" in form else ():
        before = f"(?:{before}{re.escape(folder)}/)?"
    alone = re.compile(rf"(?<![\w/.-]){before}{re.escape(last)}(?![\w/])")
    read = _rarest(evidence, last, end)
    return [place for place in read[:MOST_READ] if alone.search(evidence.units[place].text)]


def _as_member(evidence: Evidence, form: str, end: int) -> list[int]:
    """The units that begin `b` for "A.b" below a line that names A: a method of its class, a field of its type."""
    owner, _, last = form.rpartition(".")
    if not owner or not re.fullmatch(r"[\w.]+", form):
        return []
    begins = re.compile(rf"(?<![\w.]){last}\s*[(:=<?]")
    named = re.compile(rf"(?<!\w){owner.rpartition('.')[2]}(?!\w)")
    units = evidence.units
    read = (place for place in _rarest(evidence, last, end)[:MOST_READ] if begins.search(units[place].text))
    return [place for place in read if any(named.search(units[over].text) for over in evidence.above(place))]


def _rarest(evidence: Evidence, form: str, end: int) -> list[int]:
    """The units that have the form's rarest word, however it is written there."""
    best: list[int] | None = None
    for piece in pieces(form):
        low = piece.text.lower()
        ways = dict.fromkeys((piece.terms[0], f"i:{low}", f"w:{word_of(low)}"))
        found = {place for way in ways for place in islice(evidence.places(way, end), COMMONEST)}
        if not found:
            return []
        if best is None or len(found) < len(best):
            best = sorted(found)
    return best or []


def _numbers(evidence: Evidence, anchor: Anchor, end: int) -> tuple[float, list[int]]:
    """The units with the number, or with a version that begins with it: "React 19" is said by "react": "19.1.0"."""
    value = anchor.pieces[0].terms[0]
    found = [place for way in (value, *anchor.also) for place in islice(evidence.places(way, end), COMMONEST)]
    if anchor.also:
        found = sorted(set(found))
    versions = {place for term in evidence.versions_of(value) for place in evidence.places(term, end)}
    found = sorted(versions.union(found)) if versions else found
    return (1.0, found) if found else (0.0, [])


def _scattered(evidence: Evidence, anchor: Anchor, end: int) -> tuple[float, list[int]]:
    wanted = {piece.terms[0]: evidence.rarity(piece.terms[0]) for piece in anchor.pieces}
    total = sum(wanted.values())
    found: dict[int, float] = {}
    for term, weight in wanted.items():
        for place in islice(evidence.places(term, end), COMMONEST):
            found[place] = found.get(place, 0.0) + (weight / total if total else 1.0)
    if not found:
        return 0.0, []
    best = max(found.values())
    if best < 0.999:
        found = {
            p: _with_neighbours(evidence, found, p) for p, share in found.items() if share >= best - 0.35
        }
        best = max(found.values())
    chosen = sorted(place for place, share in found.items() if share >= best - 0.05)
    return best * 0.9, chosen


def _with_neighbours(evidence: Evidence, found: dict[int, float], place: int) -> float:
    """A call or a list may run over several lines."""
    first, last = evidence.bounds(place)
    around = (found.get(p, 0.0) for p in range(max(first, place - 2), min(last, place + 3)) if p != place)
    return min(1.0, found[place] + 0.9 * sum(around))


PLACES = 120  # of an anchor, that are looked below
LINES = 100  # below a place, of which one may have the rest
PARTS, CONTENT = 8, 400  # parts that a place is the heading of, and lines of one
BODY = 24  # below a place, that may have the rest together
TAKERS = 12  # places where the rest stands best
OVER = 2  # lines above such a place whose names count
_DEEPER = re.compile(r"/[^\s/]+/")


def content(field: Field, anchor: Anchor, places: Sequence[int]) -> float:
    """The most of the company that stands in one text which the anchor heads: a file that was read or written under this name."""
    share = 0.0
    for place in places[:PLACES]:
        for part in _headed(field, anchor, place):
            units = range(part.start, min(part.stop, part.start + CONTENT, field.end))
            share = max(share, field.share(field.masks.get(place, 0) | field.gathered(units)))
    return share


def below(field: Field, anchor: Anchor, places: Sequence[int]) -> tuple[float, float]:
    """The most of the company that one line below any place has, with that place; and that all its first lines have."""
    line = body = 0.0
    for place in places[:PLACES]:
        own = field.masks.get(place, 0)
        for under in _spans(field, anchor, place):
            line = max(
                [line, *(field.share(own | field.masks[unit]) for unit in under if unit in field.masks)]
            )
            inside = under.start == place + 1
            stop = min(under.stop, under.start + BODY) if inside else under.stop
            body = max(body, field.share(own | field.gathered(range(under.start, stop))))
    return line, body


def _spans(field: Field, anchor: Anchor, place: int) -> Iterator[range]:
    """The lines below a place, those of the parts that it is the heading of, and what is said in one call behind its name."""
    over = field.evidence.parents[place]
    opens = over >= 0 and over == place - 1 and field.evidence.units[over].text.endswith("(")
    under = field.evidence.under(over if opens else place, LINES, field.end)
    if under:
        yield under
    for part in _headed(field, anchor, place):
        yield range(part.start, min(part.stop, part.start + CONTENT, field.end))


def _headed(field: Field, anchor: Anchor, place: int) -> list[range]:
    """The parts that a place is the heading of; a file's text is said of the file and of its folder, and of no folder above that."""
    name = anchor.text.strip("`\"' ").rstrip("/").lower()
    behind = field.evidence.units[place].text.lower().rpartition(name)[2]
    above = " " not in name and _DEEPER.match(behind)
    return [] if above else field.evidence.below(place)[:PARTS]


def rivalled(field: Field, claim: Claim, anchor: Anchor, places: Collection[int]) -> tuple[float, float]:
    """How well the best place fits that has another thing of the anchor's shape in it or over it and not the anchor; and the best with the anchor."""
    own, said, other, mine = shape(anchor.text), claim.text.lower(), 0.0, 0.0
    for place in field.richest(TAKERS):
        fit = (field.density(place) + field.around(place)[0]) / 2
        if fit <= min(other, mine):
            continue
        over = [
            place,
            *list(field.evidence.above(place))[:OVER],
            *field.evidence.headings[field.evidence.units[place].part],
        ]
        if any(one in places for one in over):
            mine = max(mine, fit)
        elif any(
            kind == own and thing not in said
            for one in over[:6]
            for kind, thing in things(field.evidence.units[one].text)
        ):
            other = max(other, fit)
    return other, mine


@functools.lru_cache(maxsize=4_000)
def things(text: str) -> tuple[tuple[Shape, str], ...]:
    return tuple((shape(anchor.text), anchor.text.lower()) for anchor in claim_of(text).anchors)
