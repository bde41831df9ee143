"""What a person asked to forget: the statements that are surely meant go, nothing beside them. Pure but for the recorder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dreams.engines.rules.heard.hearing import Heard
from dreams.engines.rules.heard.lessons import Lesson
from dreams.engines.rules.heard.speech import ASK, SOFT
from dreams.engines.rules.heard.wishes import Wish
from dreams.engines.rules.notes.bodies import Part, Unit
from dreams.engines.rules.notes.removing import fates, free_units, remove, remove_parts
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.language import lexicon, properties, similarity
from dreams.language.pieces import ROLES, WEAK, keys_of, pieces
from dreams.text import quoted

MOST_FORGOTTEN = 8  # statements of one request: more of them were not meant by so few words
NOTE = "You asked to forget it."
_HEAD = re.compile(
    rf"^{SOFT}{ASK}(?:(?:you can|you may|feel free to|just|kindly) )*(?:forget|(?:don'?t|do not|stop|no need to) remember(?:ing)?|remove|delete|drop|erase|purge|wipe|clear|strike|take out)\s+",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"^(?:(?:everything|all|anything|whatever|what|the (?:note|notes|fact|memory|memories|entry|entries|part|line|thing|bit|rule)s?|it|that|this)\s+)?"
    r"(?:(?:that |which )?(?:i|we|you)(?:['’]ve| have)? (?:said|told you|noted|know|knew|saved|stored|learned|learnt|remember|recorded|wrote|written|have))?\s*"
    r"(?:about|on|regarding|concerning)\s+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_THAT = re.compile(r"^(?:that|the fact that|how)\s+(?P<rest>\S.*)$", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:\s*,?\s*(?:from|in|out of) (?:your |the |project |my |our )?(?:memory|memories|notes?|knowledge|records?)\b.*|\s*,\s*(?:it|that|this|they|we|he|she)\b.*|\s+(?:please|any ?more|for good|now|again|too|as well)|"
    r"\s*[,;–—-]\s*(?:thanks|please|ok(?:ay)?)|[\s.!]+)$",
    re.IGNORECASE,
)


# "Forget about the tests, let's do the docs" is about the task at hand.
_ONLY_NOW = re.compile(
    r"\bfor (?:now|the moment|today|this \w+)\b|,\s*(?:and\s+|but\s+)?(?:let'?s|do|focus|just|instead|go|start|first|try|use|we'?ll|i'?ll)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"the", "a", "an", "our", "my", "its"})
_OF = frozenset({"of", "for", "to", "about", "on", "behind", "with", "from"})
MOST_BEFORE = 3  # words that may stand before "of the relay"
_MEMORY = frozenset({"memory", "memor", "note", "entry", "fact"})


@dataclass(frozen=True, slots=True)
class Request:
    """What to forget: a statement, or a thing that statements are about. `alone`: one plain word, which is little to go by."""

    text: str
    keys: frozenset[str]
    statement: bool
    alone: bool = False


def request_of(wish: Wish) -> Request | None:
    """The object of a request to forget; None where it names nothing in particular."""
    rest = wish.text or _HEAD.sub("", wish.quote.strip(), count=1)
    if rest == wish.quote.strip() or _ONLY_NOW.search(rest):
        return None
    rest = _trimmed(rest)
    about, that = _ABOUT.match(rest), _THAT.match(rest)
    text = _trimmed(about["rest"] if about else that["rest"] if that else rest)
    keys = frozenset(key for key in keys_of(text) if key not in lexicon.GENERIC and key not in _MEMORY)
    if not keys:
        return None
    named = any(piece.is_value for piece in pieces(f"x {text}"))
    return Request(text, keys, bool(that) and not about, alone=len(keys) < 2 and not named)


def _trimmed(text: str) -> str:
    while (shorter := _TAIL.sub("", text)) != text:
        text = shorter
    return text


def forget(rec: Recorder, heard: Sequence[Heard], lessons: list[Lesson]) -> None:
    """Take out what was asked to be forgotten, and learn none of it from the prompts before."""
    for each in heard:
        for wish in each.wishes:
            if wish.verdict == "forget":
                _forget(rec, each, wish, lessons)


def _forget(rec: Recorder, heard: Heard, wish: Wish, lessons: list[Lesson]) -> None:
    request = request_of(wish)
    if request is None:
        rec.note(f"You asked to forget something (“{wish.quote[:120]}”): do that on the memory's page.")
        return
    at = heard.prompt.at
    lessons[:] = [
        lesson
        for lesson in lessons
        if not _meant(request, lesson.text) or any(c.at and at and c.at > at for c in lesson.citations)
    ]
    found = [
        unit
        for unit in free_units(rec.tree)
        if all(_meant(request, sentence) for sentence in sentences(unit.text))
    ]
    done = 0
    if len(found) <= (1 if request.alone else MOST_FORGOTTEN):
        for unit in sorted(found, key=lambda u: (u.path, -u.first_line)):
            done += _remove(rec, unit, heard, wish)
        done += _forget_parts(rec, request, heard, wish)
    rec.count("forgotten", done)
    if done < len(found) or not (done or any(edit.reason == _reason(wish) for edit in rec.edits)):
        rec.note(
            f"You asked “{wish.quote[:120]}”; {'not all of it' if done else 'nothing'} could be taken out for sure."
        )


def _forget_parts(rec: Recorder, request: Request, heard: Heard, wish: Wish) -> int:
    """Sentences about it among others: of one plain word too little is known for that."""

    def meant(part: Part) -> str:
        alone = all(_meant(request, other) for other in part.others)
        return NOTE if _meant(request, part.text) and not alone else ""

    if request.alone:
        return 0
    return remove_parts(rec, meant, _reason(wish), lambda part: heard.citation(wish.quote), MOST_FORGOTTEN)


def _remove(rec: Recorder, unit: Unit, heard: Heard, wish: Wish) -> bool:
    told = fates(unit, "stated", note=NOTE)
    return remove(rec, unit, "prune", _reason(wish), told, (heard.citation(wish.quote),))


def _reason(wish: Wish) -> str:
    return f"You asked: {quoted(wish.quote)}."


def _meant(request: Request, text: str) -> bool:
    """The same statement; or one about the thing named, and about no other thing that has a name."""
    keys = keys_of(text)
    if request.statement:
        told = request.keys - WEAK
        return similarity.same(request.text, text).same or bool(
            told <= keys and len(keys - WEAK - told) < 2 and told
        )
    if not request.keys <= keys:
        return False
    if request.alone:
        return next((piece.key for piece in pieces(text) if piece.key), "") in request.keys
    others = {
        piece.key
        for piece in pieces(text)
        if piece.shape == "code" and not piece.text.startswith(("`", "#")) and piece.key not in request.keys
    }
    if any(request.keys <= stated.of for stated in properties.read(text)):
        return True
    return len(others) <= 1 and _comes_first(request, text) and not _is_object(request, text)


def _comes_first(request: Request, text: str) -> bool:
    """ "The relay …", "Backups of the relay …": not "settings persist in a file and the relay"."""
    found = pieces(text)
    first = next(place for place, piece in enumerate(found) if piece.key in request.keys)
    before = [piece for piece in found[:first] if piece.key and piece.key not in lexicon.GENERIC]
    words = [piece.text.lower() for piece in found[:first] if piece.text.lower() not in _ARTICLES]
    return (
        not before
        or (len(before) <= MOST_BEFORE and words[-1] in _OF)
        or any(piece.key in ROLES for piece in found)
    )


def _is_object(request: Request, text: str) -> bool:
    """Whether something else does something to it: "the relay calls the indexer" is about the relay."""
    found = pieces(text)
    told = [place for place, piece in enumerate(found) if piece.key]
    first = next(place for place in told if found[place].key in request.keys)
    before = found[:first]
    while before and before[-1].text.lower() in _ARTICLES:
        before = before[:-1]
    verb = before[-1] if before else None
    if verb is None or not verb.key or verb.key in ROLES or found[told[0]].text.startswith("`"):
        return False
    return verb.shape == "word" and verb.key not in request.keys and told[0] != len(before) - 1
