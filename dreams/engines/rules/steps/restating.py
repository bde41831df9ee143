"""A statement that a person put anew, nearly word for word but for what changed: theirs stands in its place.
Pure but for the recorder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams import memdir
from dreams.engines.rules.notes.bodies import Unit, standing_lines
from dreams.engines.rules.notes.summaries import Summary, summaries, told_row, with_summary
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, is_index, is_team
from dreams.engines.rules.notes.wording import is_labelled, sentences
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.rules.user_statements.phrases import DOUBTFUL
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.stated_changes import Telling, asserted
from dreams.engines.rules.values.anew import put_anew, subject
from dreams.engines.rules.values.asof import is_later
from dreams.engines.rules.values.matching import matched
from dreams.engines.rules.values.retyping import below_label, label_of
from dreams.engines.types import Citation, Fate
from dreams.language import lexicon
from dreams.language.pieces import keys_of
from dreams.language.similarity import normalised
from dreams.language.statements import statement
from dreams.text import quoted

_MARK = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?")
MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class _Said:
    """A whole statement, and how it was told."""

    text: str
    citations: tuple[Citation, ...]
    how: Telling


def restate(rec: Recorder, heard: Sequence[Heard], lessons: Sequence[Lesson], told: set[str]) -> set[str]:
    """Put the new wording in the place of the old one; the statements that memory says now."""
    said = [each for each in _said(heard, lessons) if each.text.rstrip(".") not in told]
    done: set[str] = set()
    for place, each in enumerate(said):
        rec.report.checkpoint()
        if any(each.text in whole for whole in done):
            continue  # a sentence of what stands there now
        if any(_is_restated(_as_unit(each.text), later) for later in said[place + 1 : place + MOST_COMPARED]):
            continue
        if _restate(rec, each):
            done.add(each.text)
            rec.count("updated", 1)
    return done


def _restate(rec: Recorder, said: _Said) -> bool:
    """In the one statement that is surely meant; where no body has it, in what sums one up."""
    units = list(_lines(rec.tree))
    if any(keys_of(unit.text) == keys_of(said.text) for unit in units) and not said.how.cited:
        return False
    meant = [unit for unit in units if _is_restated(unit, said)]
    if meant:
        return len(meant) == 1 and _is_alone(meant[0], units) and _write(rec, meant[0], said)
    return _sum_up(rec, said)


def _is_alone(unit: Unit, units: Sequence[Unit]) -> bool:
    """Whether no other line stands behind the same label: which of them was meant is then not sure."""
    label = label_of(unit.text)
    return not label or sum(label_of(other.text) == label for other in units) == 1


def _sum_up(rec: Recorder, said: _Said) -> bool:
    """In a description, a row's hook, or both where they say the same of one file."""
    target, hook = told_row(said.text)
    text = hook or said.text
    meant = [each for each in summaries(rec.tree) if _is_summed_up(each, said, target, text)]
    if not meant or len({(each.target, normalised(each.text)) for each in meant}) != 1:
        return False
    changes = []
    for each in meant:
        after = with_summary(rec.tree, each, text)
        if after is None:
            return False
        fate = Fate(each.raw, "superseded-by", each.path, text, "You put it anew.")
        changes.append(Change(each.path, after, _reason(said), (fate,), said.citations))
    return rec.operation("update", changes, key=digest(target, meant[0].text, text))


def _is_summed_up(summary: Summary, said: _Said, target: str, text: str) -> bool:
    if said.how.cited:
        return normalised(summary.text) == normalised(said.how.cited)
    if target:
        return (
            summary.row is not None
            and summary.target == target
            and normalised(summary.text) != normalised(text)
        )
    return put_anew(summary.text, text, asked=said.how.asked, corrected=said.how.corrected)


def _lines(tree: Tree) -> Iterator[Unit]:
    """Lines that may be put anew where they stand, of memories and of an index, whose rows are another matter."""
    for path in (*tree.topics(), *(path for path in tree.indexes() if not is_team(path))):
        for unit in standing_lines(path, tree.document(path)):
            if not is_index(path) or not memdir.parse_index(unit.raw).rows:
                yield unit


def _as_unit(text: str) -> Unit:
    return Unit("", 1, 1, text, text, (), ())


def _said(heard: Sequence[Heard], lessons: Sequence[Lesson]) -> Iterator[_Said]:
    for lesson in lessons:
        yield _Said(lesson.text, tuple(lesson.citations), asserted(lesson.text, lesson.text))
    told = [(each, telling) for each in heard for telling in each.tellings]
    for place, (each, telling) in enumerate(told):
        # What was changed again later is left to that change: two steps would put it to and fro.
        later = told[place + 1 : place + MOST_COMPARED]
        if telling.bare and _is_whole(each, telling) and not any(matched(t, telling.core) for _, t in later):
            stop = "." if telling.quote.rstrip().endswith(f"{telling.core}.") else ""
            yield _Said(telling.core + stop, (each.citation(telling.quote),), telling)


def _is_whole(heard: Heard, telling: Telling) -> bool:
    """Not the beginning of a list of their own."""
    return not telling.core.endswith(":") or heard.prompt.text.rstrip().endswith(telling.quote)


def _is_restated(unit: Unit, said: _Said) -> bool:
    """What it is about is the same and comes first, most words are, and nothing turns it round."""
    if said.how.cited:
        return normalised(unit.text) == normalised(said.how.cited)
    if unit.first_line != unit.last_line or not _may_be_meant_there(unit, said.text):
        return False
    if said.how.unsure and not _doubts(said.text) <= _doubts(unit.text):
        return False
    if is_later(unit.text, said.text):
        return True
    if is_labelled(unit.text):
        return label_of(unit.text) == label_of(said.text) != ""
    return put_anew(unit.text, said.text, asked=said.how.asked, corrected=said.how.corrected)


def _doubts(text: str) -> set[str]:
    return {found[0].casefold() for table in DOUBTFUL for found in table.finditer(text)}


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
    change = Change(unit.path, after, _reason(said), (fate,), said.citations)
    return rec.operation("update", [change], key=digest(unit.path, raw, new))


def _reason(said: _Said) -> str:
    return f"You put it anew: {quoted(said.citations[-1].quote)}."


def _stands_for(old: str, new: str) -> str:
    """What of `new` the old line is superseded by: the sentence about what a sentence that goes was about, else all of it."""
    mine, theirs = sentences(old), sentences(new)
    gone = [text for text in mine if text not in theirs] if len(mine) > 1 else []
    return next((other for text in gone for other in theirs if subject(other) == subject(text)), new)
