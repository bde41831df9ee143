"""A statement that a person put anew, nearly word for word but for what changed: theirs stands in its place.
Pure but for the recorder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams import memdir
from dreams.engines.base import Citation, Fate
from dreams.engines.rules.heard.hearing import Heard
from dreams.engines.rules.heard.lessons import Lesson
from dreams.engines.rules.heard.tellings import Telling
from dreams.engines.rules.notes.bodies import Unit, introductions, labelled_units
from dreams.engines.rules.notes.removing import free_units
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest
from dreams.engines.rules.notes.wording import is_labelled, sentences
from dreams.engines.rules.values.anew import put_anew, subject
from dreams.engines.rules.values.asof import is_later
from dreams.engines.rules.values.retyping import below_label, label_of
from dreams.language import lexicon
from dreams.language.pieces import keys_of
from dreams.language.statements import statement
from dreams.text import quoted

_MARK = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?")
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    citations: tuple[Citation, ...]
    asked: bool


def restate(rec: Recorder, heard: Sequence[Heard], lessons: Sequence[Lesson], told: set[str]) -> set[str]:
    """Put the new wording in the place of the old one; the statements that memory says now."""
    said = [each for each in _said(heard, lessons) if each.text.rstrip(".") not in told]
    done: set[str] = set()
    if not said:
        return done
    for place, each in enumerate(said):
        rec.report.checkpoint()
        if any(_is_restated(_as_unit(each.text), later) for later in said[place + 1 : place + MOST_COMPARED]):
            continue
        units = [*free_units(rec.tree), *_others(rec.tree)]
        if any(keys_of(unit.text) == keys_of(each.text) for unit in units):
            continue
        meant = [unit for unit in units if _is_restated(unit, each)]
        if len(meant) == 1 and _write(rec, meant[0], each):
            done.add(each.text)
            rec.count("updated", 1)
    return done


def _others(tree: Tree) -> Iterator[Unit]:
    """Lines behind a label of their own, which nothing but their label finds; and lines that introduce a list."""
    for path in tree.topics():
        document = tree.document(path)
        yield from labelled_units(path, document)
        yield from introductions(path, document)


def _as_unit(text: str) -> Unit:
    return Unit("", 1, 1, text, text, (), ())


def _said(heard: Sequence[Heard], lessons: Sequence[Lesson]) -> Iterator[_Said]:
    for lesson in lessons:
        yield _Said(lesson.text, tuple(lesson.citations), asked=True)
    for each in heard:
        for telling in each.tellings:
            if telling.bare and _is_whole(each, telling):
                stop = "." if telling.quote.rstrip().endswith(f"{telling.core}.") else ""
                yield _Said(telling.core + stop, (each.citation(telling.quote),), asked=telling.asked)


def _is_whole(heard: Heard, telling: Telling) -> bool:
    """Not the beginning of a list of their own."""
    return not telling.core.endswith(":") or heard.prompt.text.rstrip().endswith(telling.quote)


def _is_restated(unit: Unit, said: _Said) -> bool:
    """What it is about is the same and comes first, most words are, and nothing turns it round."""
    if unit.first_line != unit.last_line or not _may_be_meant_there(unit, said.text):
        return False
    if is_later(unit.text, said.text):
        return True
    if is_labelled(unit.text):
        return said.asked and label_of(unit.text) == label_of(said.text) != ""
    return put_anew(unit.text, said.text, asked=said.asked)


def _may_be_meant_there(unit: Unit, said: str) -> bool:
    """Whether what stands above a line says nothing of it that the new wording would have to say too: "In staging:"."""
    told = keys_of(said)
    for above in unit.frame:
        words = {key for key in keys_of(above) if not key[0].isdigit()} - lexicon.GENERIC
        if not words <= told or statement(above).negations:
            return False
    around = statement(". ".join((*unit.headings, *unit.frame)))
    return around.environments <= statement(said).environments


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
    target = _stands_for(unit.text, text_now)
    fate = Fate(raw, "superseded-by", unit.path, target, "You put it anew.")
    reason = f"You put it anew: {quoted(said.citations[-1].quote)}."
    change = Change(unit.path, after, reason, (fate,), said.citations)
    return rec.operation("update", [change], key=digest(unit.path, raw, new))


def _stands_for(old: str, new: str) -> str:
    """What of `new` the old line is superseded by: the sentence about what a sentence that goes was about, else all of it."""
    mine, theirs = sentences(old), sentences(new)
    gone = [text for text in mine if text not in theirs] if len(mine) > 1 else []
    return next((other for text in gone for other in theirs if subject(other) == subject(text)), new)
