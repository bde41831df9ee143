"""A statement that a person put anew, nearly word for word but for what changed: theirs stands in its place.
Pure but for the recorder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams import memdir
from dreams.engines.base import Citation, Fate
from dreams.engines.rules.bodies import Unit, labelled_units
from dreams.engines.rules.hearing import Heard
from dreams.engines.rules.lessons import Lesson
from dreams.engines.rules.removing import free_units
from dreams.engines.rules.retyping import below_label, label_of, retyped
from dreams.engines.rules.tree import Change, Recorder, Tree, digest
from dreams.engines.rules.wording import is_labelled
from dreams.language import lexicon
from dreams.language.pieces import WEAK, keys_of, pieces
from dreams.language.statements import statement
from dreams.text import quoted

_MARK = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?")
# What somebody wants or plans is not yet so.
_WISHED = re.compile(
    r"\b(?:want(?:s|ed)?|wish(?:es)?|hopes?|should|would|could|might|plan(?:s|ned|ning)?|going to|let['’]?s|try|would like|['’]d (?:like|love))\b",
    re.IGNORECASE,
)
LEAST_SHARED = 3
MOST_COMPARED = 200
OF_OLD, OF_NEW = (
    0.6,
    0.4,
)  # the shares of both that must be common where a person asked for it to be remembered
OF_OLD_BARE, OF_NEW_BARE = 0.75, 0.5  # where they only said it


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    citations: tuple[Citation, ...]
    asked: bool


def restate(rec: Recorder, heard: Sequence[Heard], lessons: Sequence[Lesson], told: set[str]) -> set[str]:
    """Put the new wording in the place of the old one; the statements that memory says now."""
    said = [each for each in _said(heard, lessons) if each.text not in told]
    done: set[str] = set()
    if not said:
        return done
    for place, each in enumerate(said):
        rec.report.checkpoint()
        if any(_is_restated(_as_unit(each.text), later) for later in said[place + 1 : place + MOST_COMPARED]):
            continue
        units = [*free_units(rec.tree), *_labelled(rec.tree)]
        if any(keys_of(unit.text) == keys_of(each.text) for unit in units):
            continue
        meant = [unit for unit in units if _is_restated(unit, each)]
        if len(meant) == 1 and _write(rec, meant[0], each):
            done.add(each.text)
            rec.count("updated", 1)
    return done


def _labelled(tree: Tree) -> Iterator[Unit]:
    """Lines behind a label of their own, which nothing but their label finds."""
    for path in tree.topics():
        yield from labelled_units(path, tree.document(path))


def _as_unit(text: str) -> Unit:
    return Unit("", 1, 1, text, text, (), ())


def _said(heard: Sequence[Heard], lessons: Sequence[Lesson]) -> Iterator[_Said]:
    for lesson in lessons:
        yield _Said(lesson.text, tuple(lesson.citations), asked=True)
    for each in heard:
        for telling in each.tellings:
            if telling.bare:
                yield _Said(telling.core, (each.citation(telling.quote),), asked=False)


def _is_restated(unit: Unit, said: _Said) -> bool:
    """What it is about is the same and comes first, most words are, and nothing turns it round."""
    wished = _WISHED.search(said.text) and not _WISHED.search(unit.text)
    if wished or unit.first_line != unit.last_line or not _may_be_meant_there(unit, said.text):
        return False
    if is_labelled(unit.text):
        return said.asked and label_of(unit.text) == label_of(said.text) != ""
    if said.asked and retyped(unit.text, said.text):
        return statement(unit.text).environments == statement(said.text).environments
    old, new = keys_of(unit.text) - WEAK, keys_of(said.text) - WEAK
    shared = old & new
    of_old, of_new = (OF_OLD, OF_NEW) if said.asked else (OF_OLD_BARE, OF_NEW_BARE)
    if len(shared) < LEAST_SHARED or len(shared) < of_old * len(old) or len(shared) < of_new * len(new):
        return False
    one, other = statement(unit.text), statement(said.text)
    if one.environments != other.environments or one.days != other.days:
        return False
    if _subject(unit.text) != _subject(said.text):
        return False
    if len(one.negations) > len(other.negations) and not (
        said.asked and _begins_with_code(unit.text, said.text)
    ):
        return False
    return old != new and _values_stay(unit.text, said.text)


def _subject(text: str) -> list[str]:
    """The first two words that say something: "the API of the importer" is not "the API"."""
    return [piece.key for piece in pieces(text) if piece.key and piece.key not in WEAK][:2]


def _may_be_meant_there(unit: Unit, said: str) -> bool:
    """Whether what stands above a line says nothing of it that the new wording would have to say too: "In staging:"."""
    told = keys_of(said)
    for above in unit.frame:
        words = {key for key in keys_of(above) if not key[0].isdigit()} - lexicon.GENERIC
        if not words <= told or statement(above).negations:
            return False
    around = statement(". ".join((*unit.headings, *unit.frame)))
    return around.environments <= statement(said).environments


def _begins_with_code(one: str, other: str) -> bool:
    """ "`ai-attempt` is not on main" and "`ai-attempt` is merged": what has a name of its own is not denied by chance."""
    heads = [next((piece for piece in pieces(text) if piece.key), None) for text in (one, other)]
    return all(head is not None and head.shape == "code" for head in heads)


def _values_stay(old: str, new: str) -> bool:
    """All numbers, names and code stay, or the ones that go have others in their place."""
    mine = [piece for piece in pieces(old) if piece.is_value]
    known = {piece.key for piece in pieces(new)}
    gone = [piece for piece in mine if piece.key not in known]
    come = [p for p in pieces(new) if p.is_value and p.key not in keys_of(old)]
    return not gone or (len(gone) <= 2 and bool(come) and 2 * len(gone) <= len(mine))


def _write(rec: Recorder, unit: Unit, said: _Said) -> bool:
    text = rec.tree.texts[unit.path]
    raw = unit.raw.rstrip("\r\n")
    head = raw[: len(raw) - len(_MARK.sub("", raw))]
    text_now = below_label(unit.text, said.text) if is_labelled(unit.text) else said.text
    new = f"{head}{text_now}"
    if "\n" in raw or not _MARK.sub("", raw) or said.text.startswith(("#", ">", "-", "|")):
        return False
    after = memdir.replace_lines(text, unit.first_line, unit.first_line + 1, [new])
    if not text.endswith("\n") and after.endswith("\n"):
        after = after.removesuffix("\n").removesuffix("\r")
    fate = Fate(raw, "superseded-by", unit.path, text_now, "You put it anew.")
    reason = f"You put it anew: {quoted(said.citations[-1].quote)}."
    change = Change(unit.path, after, reason, (fate,), said.citations)
    return rec.operation("update", [change], key=digest(unit.path, raw, new))
