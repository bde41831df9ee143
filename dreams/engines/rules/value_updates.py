"""Is one statement another one with a new value, or the whole of it put anew? Sure or nothing. Pure.

A value is exchanged where nothing is told but what the statement says and one other value of the same sort, or where both give
one property of one thing. A statement is put anew where it opens alike, most words are common, and no plain word is in the
place of another. Whatever is only likely is a question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from dreams.engines.rules.notes.wording import label_of
from dreams.engines.rules.user_statements.stated_changes import Telling
from dreams.lib.prose import lexicon, products, properties
from dreams.lib.prose.pieces import ROLES, WEAK, Piece, keys_of, pieces
from dreams.lib.prose.similarity import normalised
from dreams.lib.prose.statements import canonical, statement
from dreams.lib.prose.words import stem

_DAY = re.compile(r"(?<![\d-])\d{4}-\d\d(?:-\d\d)?(?![\d-])")
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", re.IGNORECASE)
_CODED = re.compile(r"`[^`\n]+`")
_IS = re.compile(r":\s|\b(?:is|are|was|were)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;]|[.!?](?=\s|$)")
_DIGITS = re.compile(r"\d+(?:[.,_]\d+)*")
_PLACES = frozenset({"in", "on", "at", "to"})
_CALLED = frozenset({"is", "are", "called", "named"})
_ARTICLES = frozenset({"the", "our", "a", "an", "my", "its"})
_OF = frozenset({"of", "for", "behind", "in", "on", "by"})
_UNSAYING = WEAK | {"port", "version", "number", "day"}  # what a value says by itself
_ENVIRONMENTS = frozenset(lexicon.ENVIRONMENTS) | frozenset(map(stem, lexicon.ENVIRONMENTS))
_DESIGNATED = frozenset(
    map(
        stem,
        "number rule step phase sprint queue host shard worker part chapter section issue pr ticket task item stage line page "  # noqa: SIM905 - a word list
        "figure table room slot case test job batch replica partition cluster server instance machine zone team group option layer "
        "round day week month quarter".split(),
    )
)
_UNITS = frozenset(
    map(canonical, [*lexicon.UNITS.values(), "month", "year", "minute", "hour", "week", "request", "item"])
)
MOST_VALUE = 5  # words
MOST_BESIDES = 3  # words that only the old statement has
OPENING = 2  # words before a number that may be a name with it: "firewall rule 12"
LEAST_DIGITS = 3  # of a number that has no unit and another word before it
LEAST_SHARED = 3
MOST_LOST = 2  # values
NEARLY_ALL = 0.75  # of the old words: then the second word of the subject may be another
LEAST_WORDS, ALIKE = 8, 0.8  # of a statement that was typed again
OF_OLD, OF_NEW = 0.6, 0.4  # the shares of both that must be common where a person asked for it to be noted
OF_OLD_BARE, OF_NEW_BARE = 0.75, 0.5  # where they only said it


@dataclass(frozen=True, slots=True)
class Slot:
    """Where the value is in the old statement, and what is there now."""

    start: int
    end: int
    new: str

    def filled(self, old: str) -> str:
        return f"{old[: self.start]}{self.new}{old[self.end :]}"


Run = tuple[int, int]  # the first and the last place


def environments(words: Collection[str]) -> frozenset[str]:
    return _ENVIRONMENTS & frozenset(words)


def names_its_day(text: str) -> bool:
    """Whether a day is in it, which another value would make untrue."""
    return bool(_DAY.search(text))


def exchanged(old: str, new: str, was: str = "", beside: frozenset[str] = frozenset()) -> Slot | None:
    """The one value that `new` has another of; None if that is not sure.

    `was` is the value before, where it was named; `beside` are words of the headings and the file of the old statement.
    """
    if not agree(old, new, beside):
        return None
    put = properties.changed(old, new)
    if put and (not was or put[0].text(old).casefold().endswith(was.casefold())):
        slot = Slot(put[0].start, put[0].end, put[1].text(new))
        if not _is_subject(pieces(old), slot):
            return slot
    mine, theirs = pieces(old), pieces(new)
    come = _run(theirs, {piece.key for piece in mine} | beside | _unsaying(new))
    gone = _gone(mine, theirs, come, was) if come else None
    if come is None or gone is None or _is_kind(mine, gone, theirs, come, was):
        return None
    slot = _slot(mine, gone, theirs, come, new)
    named = was and any(piece.is_value for piece in mine[gone[0] : gone[1] + 1])
    says_more = not named and _goes_on(old, slot.end) and not _goes_on(new, theirs[come[1]].end)
    return None if says_more else slot


def _is_kind(mine: Sequence[Piece], gone: Run, theirs: Sequence[Piece], come: Run, was: str) -> bool:
    """ "Renamed branch to rel-10": a plain word of which a name or a number becomes is what a thing is, not its value."""
    shapes = [{piece.shape for piece in found[a : b + 1]} for found, (a, b) in ((mine, gone), (theirs, come))]
    alike = products.class_of(was) or _before(mine, gone[0]) == _before(theirs, come[0])
    return shapes[0] == {"word"} and bool(shapes[1] & {"code", "number"}) and not alike


def _goes_on(text: str, end: int) -> bool:
    """Whether what stands up to `end` is what is spoken of: "the flag of checkout is …", "flag of checkout: …"."""
    return bool(_IS.search(_CLAUSE_END.split(text[end:], maxsplit=1)[0]))


def _is_subject(found: Sequence[Piece], slot: Slot) -> bool:
    """Whether the value tells which thing the statement is about: "Node 2 of 5", "`mail-relay` merges into `develop`"."""
    inside = [piece for piece in found if slot.start <= piece.start < slot.end]
    opens = inside[0] is found[0] and inside[0].shape == "code" and not products.class_of(inside[0].text)
    return opens or any(piece.shape == "number" and _names_a_thing(found, piece.start) for piece in inside)


def changed_by(telling: Telling, text: str, beside: frozenset[str] = frozenset()) -> Slot | None:
    """What a telling changes in a statement; None if that is not sure."""
    return None if telling.bare else exchanged(text, telling.core, telling.old, beside)


def agree(old: str, new: str, beside: frozenset[str] = frozenset()) -> bool:
    """Environments, marks and denials: what tells statements apart, numbers and names aside."""
    one, other = (statement(_CODED.sub("x", text)) for text in (old, new))
    marks = [{word for _, word in each.marked} for each in (one, other)]
    around = environments(beside)
    return (
        {stem(word) for word in one.environments} | around
        == {stem(word) for word in other.environments} | around
        and one.signs == other.signs
        and marks[0] == marks[1]
        and len(one.negations) == len(other.negations)
    )


def _unsaying(text: str) -> frozenset[str]:
    """What the values of a text say by themselves: Avro is a format, Jenkins runs the builds."""
    classes = {products.class_of(piece.text) for piece in pieces(text) if piece.shape in {"name", "code"}}
    return _UNSAYING.union(*(keys_of(products.words_for(each)) for each in classes if each))


def _run(found: Sequence[Piece], known: Collection[str]) -> Run | None:
    """The one run of words that are not known; None for several, or a long one."""
    own = [at for at, piece in enumerate(found) if piece.key and piece.key not in known]
    joined = all(found[at].end + 1 == found[at + 1].start for at in own[:-1])
    return (own[0], own[-1]) if own and joined and own[-1] - own[0] == len(own) - 1 < MOST_VALUE else None


def _gone(mine: Sequence[Piece], theirs: Sequence[Piece], come: Run, was: str) -> Run | None:
    """The value that makes way for the one at `come`: the one named as past, else the only one of its sort."""
    gone = _place_of(mine, theirs, was) if was else _only_alike(mine, theirs, come)
    if gone is None or not _may_go(mine, gone, was):
        return None
    shapes = [
        [piece.shape for piece in found[run[0] : run[1] + 1]] for found, run in ((mine, gone), (theirs, come))
    ]
    if (shapes[0][0] == "number") != (shapes[1][0] == "number"):
        return None
    if len(shapes[1]) > 1 and shapes[0] != shapes[1] and {"code", "number"} & set(shapes[1]):
        return None  # a name, and then its value
    told = {piece.key for piece in theirs}
    besides = {at for at, piece in enumerate(mine) if piece.key and piece.key not in told | _UNSAYING | ROLES}
    besides -= set(range(gone[0], gone[1] + 1))
    shared = {piece.key for piece in mine if piece.key in told} - _UNSAYING - lexicon.GENERIC
    if was:
        return gone if not shared or not _is_part(mine, besides, told, {"of"}) else None
    return gone if shared and len(besides) <= MOST_BESIDES and not _is_part(mine, besides, told) else None


def _only_alike(mine: Sequence[Piece], theirs: Sequence[Piece], come: Run) -> Run | None:
    """The one value that is of the same sort and put alike, and was not told."""
    sort = _sort(theirs, come)
    alike = [run for run in _values(mine) if sort and _sort(mine, run) == sort]
    if len(alike) != 1 or mine[alike[0][0]].key in {piece.key for piece in theirs}:
        return None
    fits = _is_of_one_class(mine, alike[0], theirs, come) and _put_alike(mine, alike[0], theirs, come)
    return alike[0] if fits else None


def _place_of(mine: Sequence[Piece], theirs: Sequence[Piece], was: str) -> Run | None:
    """Where the old value is, once, without what the new one has too: "single" of "single quotes", 15 of "PostgreSQL 15"."""
    told = {piece.key for piece in theirs}
    wanted = [piece for piece in pieces(f"x {was}")[1:] if piece.key not in told] or pieces(f"x {was}")[1:]
    keys = [each.text.strip("`").casefold() for each in wanted]
    texts = [each.text.strip("`").casefold() for each in mine]
    found = [at for at in range(len(texts)) if texts[at : at + len(keys)] == keys]
    return (found[0], found[0] + len(keys) - 1) if keys and len(found) == 1 else None


def _values(found: Sequence[Piece]) -> list[Run]:
    """Numbers and weekdays each by itself, names and code side by side."""
    runs: list[Run] = []
    for at, piece in enumerate(found):
        named = piece.shape in {"code", "name"} or (at == 0 and _opens_a_name(found))
        if piece.shape == "number" or _WEEKDAY.fullmatch(piece.text):
            runs.append((at, at))
        elif named and runs and runs[-1][1] == at - 1 and _sort(found, runs[-1]) == "name":
            runs[-1] = (runs[-1][0], at)
        elif named:
            runs.append((at, at))
    return runs


def _opens_a_name(found: Sequence[Piece]) -> bool:
    """ "Anna Berg owns it": a capital at the beginning is part of the name that follows it, or of who is in charge."""
    capital = found[0].text[:1].isupper() and bool(found[0].key)
    follows = len(found) > 1 and found[1].shape == "name"
    return capital and (follows or bool(ROLES & {piece.key for piece in found}))


def _sort(found: Sequence[Piece], run: Run) -> str:
    """What may stand for what: "11:25", "40s" and "#12" are numbers of different sorts, "#alerts" and "/health" code of two."""
    first, last = found[run[0]], found[run[1]]
    if _WEEKDAY.fullmatch(first.text):
        return "weekday"
    if first.shape == "number":
        form = "0" if first.text.isalpha() else _DIGITS.sub("0", first.text).removeprefix("v")
        return f"number {form} {_unit(found, run[0])}" if run[0] == run[1] else ""
    if first.shape == "code" and not products.class_of(first.text):
        return f"code {first.text[:1] if first.text[:1] in '`$€£#@/~.' else ''}"
    named = first.shape in {"code", "name"} or (run[0] == 0 and _opens_a_name(found))
    return "name" if named and last.shape != "number" else ""


def _unit(found: Sequence[Piece], place: int) -> str:
    """The word or sign right behind a number: "30 days" is no other value of "30 requests"."""
    following = found[place + 1] if place + 1 < len(found) else None
    if following is None or following.start > found[place].end + 1:
        return ""
    return following.key if following.shape in {"word", "name"} else "%" * (following.text == "%")


def _is_of_one_class(mine: Sequence[Piece], gone: Run, theirs: Sequence[Piece], come: Run) -> bool:
    """ "The relay needs Redis" is still so when it needs React: of known names, one takes the place of its like."""
    was, now = (
        products.class_of(" ".join(piece.text for piece in found[run[0] : run[1] + 1]))
        for found, run in ((mine, gone), (theirs, come))
    )
    return was == now or not (was and now)


def _may_go(mine: Sequence[Piece], gone: Run, was: str) -> bool:
    """Whether it is not what the statement is about, nor tells one thing from another of its sort."""
    first, last = mine[gone[0]], mine[gone[1]]
    in_charge = bool(ROLES & {piece.key for piece in mine})
    if first.shape == "number":
        return not _names_a_thing(mine, first.start)
    if was[:1].isupper() and not first.text[:1].isupper():
        return False  # "a shared vault" is not Vault
    if gone[0] == 0:
        after = mine[gone[1] + 1] if gone[1] + 1 < len(mine) else None
        alone = after is None or not after.key or after.start > last.end + 1
        return in_charge or (bool(was) and alone)
    return _before(mine, gone[0]) != "of" and (
        bool(was) or not (mine[0].text.startswith("`") or _names_a_thing(mine, first.start))
    )


def _names_a_thing(found: Sequence[Piece], start: int) -> bool:
    """ "Queue 3 is drained", "customer Acme has": whether a number or a name tells which thing of its sort is meant."""
    place = next(at for at, piece in enumerate(found) if piece.end > start)
    if found[place].shape == "number" and _is_measure(found, place):
        return False
    if found[place].shape == "number" and place and found[place - 1].key in _DESIGNATED:
        return found[place - 1].end + 1 == found[place].start
    head = [piece for piece in found[: place + 1] if piece.text.casefold() not in _ARTICLES]
    behind = found[place + 1].text.casefold() if place + 1 < len(found) else ""
    return (
        1 < len(head) <= OPENING + 1
        and bool(behind)
        and (behind == "of" or not products.class_of(head[-2].text))
        and all(piece.key and piece.key not in WEAK for piece in head)
        and all(one.end + 1 == other.start for one, other in pairwise(head))
    )


def _is_measure(found: Sequence[Piece], place: int) -> bool:
    """ "5%", "20ms", "30 days"."""
    return not found[place].text[-1:].isdigit() or _unit(found, place) in _UNITS


def _put_alike(mine: Sequence[Piece], gone: Run, theirs: Sequence[Piece], come: Run) -> bool:
    """A number without a unit has the same word before it, or is as long as the other; a code is a place too, or a name too."""
    was, now = mine[gone[0]], theirs[come[0]]
    if was.shape == "code" and not products.class_of(was.text):
        return _is_place(mine, gone) in {_is_place(theirs, come), None} or _is_place(theirs, come) is None
    if was.shape != "number" or _unit(mine, gone[0]) or not was.text.replace(".", "").isdigit():
        return True
    words = [
        [piece.key for piece in found[: run[0]] if piece.key][-1:]
        for found, run in ((mine, gone), (theirs, come))
    ]
    return words[0] == words[1] != [] or len(was.text) == len(now.text) >= LEAST_DIGITS


def _is_place(found: Sequence[Piece], run: Run) -> bool | None:
    """Whether the word before says that it is where something is ("lives in"), or what it is ("is called"); None for others."""
    before = _before(found, run[0])
    return True if before in _PLACES else False if before in _CALLED else None


def _is_part(
    found: Sequence[Piece], places: Collection[int], told: Collection[str] = (), words: Collection[str] = _OF
) -> bool:
    """ "The timeout of the importer" and "the timeout", "the admin API" and "the API": whether a word that was not told says of
    which thing it is."""
    if any(_before(found, at) in words for at in places):
        return True
    following = (found[at + 1].key if at + 1 < len(found) else "" for at in places)
    return any(key and key in told for key in following)


def _before(found: Sequence[Piece], place: int) -> str:
    """The word before a place, articles aside."""
    before = [piece.text.casefold() for piece in found[max(0, place - 2) : place]]
    before = [word for word in before if word not in _ARTICLES]
    return before[-1] if before else ""


def _slot(mine: Sequence[Piece], gone: Run, theirs: Sequence[Piece], come: Run, new: str) -> Slot:
    end, now = mine[gone[1]].end, theirs[come[1]].end
    after, behind = gone[1] + 1, come[1] + 1
    if mine[gone[1]].shape == "number" and after < len(mine) and behind < len(theirs):
        unit, other = mine[after], theirs[behind]
        if unit.key == other.key != "" and unit.text.casefold() != other.text.casefold():
            end, now = unit.end, other.end  # "1 year" and "3 years"
    return Slot(mine[gone[0]].start, end, new[theirs[come[0]].start : now])


def restated(old: str, new: str, *, asked: bool) -> bool:
    """Whether `new` is `old` put anew. `asked`: somebody wanted it to be noted, or said that what is known is outdated."""
    if keys_of(old) == keys_of(new) or is_later(old, new):
        return is_later(old, new)
    before, now = normalised(old), normalised(new)
    if len(before.split()) >= LEAST_SHARED and now.startswith(f"{before} "):
        return True  # the old words, and more behind them
    one, other = statement(old), statement(new)
    retyped = asked and _is_retyped(old, new)
    if (
        keys_of(new) - _unsaying(new) <= keys_of(old)
        and len(one.negations) == len(other.negations)
        and not retyped
    ):
        return False  # nothing new is told
    if one.environments != other.environments or one.days != other.days:
        return False
    if (asked or old.startswith("**")) and label_of(old) == label_of(new) != "":
        return True
    denied = len(one.negations) > len(other.negations) and not (asked and old.startswith("`"))
    if denied and not (asked and keys_of(old) - lexicon.NEGATIONS - lexicon.STATUSES <= keys_of(new)):
        return False
    if _of_another(old, new):
        return False
    most = _shares_most(old, new, asked=asked) and not _loses_values(old, new)
    return most or retyped


def _is_retyped(old: str, new: str) -> bool:
    """The same beginning and nearly all words in the same order: more than a value is another."""
    mine, theirs = (text.casefold().rstrip(" .!").split() for text in (old, new))
    if min(len(mine), len(theirs)) < LEAST_WORDS or mine[:2] != theirs[:2]:
        return False
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    differing = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return matcher.ratio() >= ALIKE and len(differing) > 1  # one alone is one value


def is_later(old: str, new: str) -> bool:
    """Whether `new` says word for word the same as of a later day."""
    days = _DAY.findall(old), _DAY.findall(new)
    return len(days[0]) == len(days[1]) == 1 and days[0] < days[1] and _DAY.sub("", old) == _DAY.sub("", new)


def opening(text: str) -> str:
    """The first word that says something, which a statement and the same put anew have alike."""
    return next((piece.key for piece in _telling(text) if not piece.key[:1].isdigit()), "")


def _shares_most(old: str, new: str, *, asked: bool) -> bool:
    mine, theirs = (keys_of(text) - WEAK for text in (old, new))
    of_old, of_new = (OF_OLD, OF_NEW) if asked else (OF_OLD_BARE, OF_NEW_BARE)
    enough = len(mine & theirs) >= max(LEAST_SHARED, of_old * len(mine), of_new * len(theirs))
    one, other = _subject(old), _subject(new)
    nearly = asked and len(mine & theirs) >= NEARLY_ALL * len(mine) and one[:1] == other[:1]
    more = {at for at, piece in enumerate(pieces(new)) if piece.key and piece.key not in mine | WEAK}
    return enough and (one == other or (nearly and not _is_part(pieces(new), more)))


def _telling(text: str) -> list[Piece]:
    return [piece for piece in pieces(text) if piece.key and piece.key not in WEAK]


def _subject(text: str) -> list[str]:
    """The first two words that say something: "the API of the importer" is not "the API"."""
    return [piece.key for piece in _telling(text) if piece.shape != "number"][:2]


def _of_another(old: str, new: str) -> bool:
    """Whether a plain word is in the place of another, or several names are, or a name is where one says of which thing it is."""
    mine, theirs = _telling(old), _telling(new)
    keys = [piece.key for piece in mine], [piece.key for piece in theirs]
    names = values = 0
    for tag, i, k, j, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        gone = [piece for piece in mine[i:k] if piece.key not in keys[1]]
        come = [piece for piece in theirs[j:m] if piece.key not in keys[0]]
        if tag == "replace" and gone and come and _is_other(old, gone, new, come):
            return True
        if come and not gone and m < len(theirs) and _is_of(pieces(new), come[0]):
            return True
        if gone and not come and k < len(mine) and _is_of(pieces(old), gone[0]):
            return True
        both = [*gone, *come] if gone and come else []
        values += any(piece.is_value for piece in (*gone, *come))
        names += any(piece.shape == "name" for piece in gone) and any(piece.shape == "name" for piece in both)
    return names > 0 and values > 1


def _loses_values(old: str, new: str) -> bool:
    """Whether several values go, or one goes for which none comes."""
    mine, theirs = ({piece.key for piece in _telling(text) if piece.is_value} for text in (old, new))
    gone = mine - keys_of(new)
    return len(gone) > MOST_LOST or (bool(gone) and not theirs - keys_of(old))


def _is_other(old: str, gone: Sequence[Piece], new: str, come: Sequence[Piece]) -> bool:
    shapes = [[piece.is_value for piece in found] for found in (gone, come)]
    if not any(shapes[0] + shapes[1]) or (shapes[0] == shapes[1] and not all(shapes[0])):
        return True  # "logs for 30 days", "backups for 14 days"
    if any(
        _names_a_thing(pieces(text), each.start)
        for text, found in ((old, gone), (new, come))
        for each in found
    ):
        return True
    if any(not each.is_value and _is_of(pieces(old), each) for each in gone):
        return True  # "the export of orders", "the export"
    return all(_is_of(pieces(text), found[0]) for text, found in ((old, gone), (new, come)))


def _is_of(found: Sequence[Piece], piece: Piece) -> bool:
    """ "Backups of Atlas", "backups of Borealis"."""
    return piece.shape != "number" and _before(found, found.index(piece)) in {"of", "for"}
