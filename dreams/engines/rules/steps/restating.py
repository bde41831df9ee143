"""A statement that a person put anew, nearly word for word but for what changed: theirs takes its place.
Pure but for the recorder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams.engines.rules.notes.bodies import standing_lines
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log
from dreams.engines.rules.notes.wording import below_label, label_of
from dreams.engines.rules.questions.rewriting import Rewording, reword
from dreams.engines.rules.steps.updating import is_free
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.rules.user_statements.phrases import DOUBTFUL
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.stated_changes import Telling, asserted
from dreams.engines.rules.value_updates import changed_by, opening, restated
from dreams.engines.types import Citation
from dreams.lib import memdir
from dreams.lib.files.text import quoted
from dreams.lib.prose import lexicon
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.similarity import normalised
from dreams.lib.prose.statement_index import Statement, statements_of
from dreams.lib.prose.statements import statement as read

MOST_COMPARED = 200
ANEW = "You reworded it."


@dataclass(frozen=True, slots=True)
class _Said:
    """A whole statement, and how it was told."""

    text: str
    citations: tuple[Citation, ...]
    how: Telling


@dataclass(frozen=True, slots=True)
class _Line:
    """A statement that may be put anew; `above` is what it cannot be read without."""

    statement: Statement
    above: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.statement.text


def restate(rec: Recorder, heard: Sequence[Heard], lessons: Sequence[Lesson], told: set[str]) -> set[str]:
    """Put the new wording in the place of the old one; the statements that memory says now."""
    said = [
        each for each in _said(heard, lessons) if told.isdisjoint((each.text.rstrip("."), each.how.quote))
    ]
    memory = _Lines(rec.tree) if said else None
    done: set[str] = set()
    for place, each in enumerate(said):
        rec.report.checkpoint()
        later = said[place + 1 : place + MOST_COMPARED]
        if memory is None or any(each.text in whole for whole in done):
            continue  # a sentence of what is there now
        if any(_is_restated(_Line(_as_statement(each.text)), other) for other in later):
            continue
        if _restate(rec, memory, each):
            done.add(each.text)
            rec.count("updated", 1)
            memory = _Lines(rec.tree)
    return done


def _said(heard: Sequence[Heard], lessons: Sequence[Lesson]) -> Iterator[_Said]:
    for lesson in lessons:
        yield _Said(lesson.text, tuple(lesson.citations), asserted(lesson.text, lesson.text))
    told = [(each, telling) for each in heard for telling in each.tellings]
    for place, (each, telling) in enumerate(told):
        # What was changed again later is left to that change: two steps would put it to and fro.
        later = told[place + 1 : place + MOST_COMPARED]
        if (
            telling.bare
            and _is_whole(each, telling)
            and not any(changed_by(t, telling.core) for _, t in later)
        ):
            stop = "." if telling.quote.rstrip().endswith(f"{telling.core}.") else ""
            yield _Said(telling.core + stop, (each.citation(telling.quote),), telling)


def _is_whole(heard: Heard, telling: Telling) -> bool:
    """Not the beginning of a list of their own."""
    return not telling.core.endswith(":") or heard.prompt.text.rstrip().endswith(telling.quote)


class _Lines:
    """The lines of memory that may be put anew, by how they open."""

    def __init__(self, tree: Tree) -> None:
        self._opening: dict[str, list[_Line]] = defaultdict(list)
        self._plain: dict[str, list[_Line]] = defaultdict(list)
        self.rows: dict[str, list[_Line]] = defaultdict(list)
        for line in _lines_of(tree):
            self._opening[opening(line.text)].append(line)
            self._plain[normalised(line.text)].append(line)
            if line.statement.source == "row":
                self.rows[line.statement.target].append(line)

    def near(self, text: str) -> list[_Line]:
        return self._opening[opening(text)]

    def like(self, text: str) -> list[_Line]:
        return self._plain[normalised(text)]


def _lines_of(tree: Tree) -> Iterator[_Line]:
    """Lines of memories and of an index, the descriptions, and the hooks of rows."""
    for path in sorted(path for path in tree.texts if not is_log(path) and is_free(tree, path)):
        for unit in standing_lines(path, tree.document(path)):
            if not is_index(path) or not memdir.parse_index(unit.raw).rows:
                lines = (unit.first_line, unit.last_line)
                yield _Line(Statement(path, "body", *lines, unit.text, unit.raw, unit.headings), unit.frame)
        yield from (_Line(each) for each in statements_of({path: tree.texts[path]}) if each.source != "body")


def _restate(rec: Recorder, memory: _Lines, said: _Said) -> bool:
    """In the one statement that is surely meant; where no body has it, in what sums one file up."""
    target, hook = _told_row(said.text)
    text = hook or said.text
    meant = (
        memory.rows[target]
        if target
        else [line for line in _candidates(memory, said) if _is_restated(line, said)]
    )
    bodies = [line for line in meant if line.statement.source == "body"]
    near = memory.near(text)
    if (
        any(keys_of(line.text) == keys_of(text) for line in near)
        and not said.how.cited
        and meant not in ([],)
    ):
        meant = [line for line in meant if keys_of(line.text) != keys_of(text)]
    if bodies and (len(bodies) > 1 or not _is_alone(bodies[0], near)):
        return False
    chosen = bodies or meant
    if not chosen or len({(line.statement.target, normalised(line.text)) for line in chosen}) != 1:
        return False
    wordings = [Rewording(line.statement, below_label(line.text, text)) for line in chosen]
    reason = f"You reworded it: {quoted(said.citations[-1].quote)}."
    return not text.startswith(("#", ">", "-", "|")) and reword(rec, wordings, reason, ANEW, said.citations)


def _told_row(text: str) -> tuple[str, str]:
    """The target and the hook where `text` is a row as an index has it; nothing otherwise."""
    rows = memdir.parse_index(f"- {text}\n").rows if text.startswith("[") else ()
    return (rows[0].target, rows[0].hook) if len(rows) == 1 and len(rows[0].targets) == 1 else ("", "")


def _candidates(memory: _Lines, said: _Said) -> list[_Line]:
    return memory.like(said.how.cited) if said.how.cited else memory.near(said.text)


def _is_alone(line: _Line, near: Sequence[_Line]) -> bool:
    """Whether no other line is behind the same label: which of them was meant is then not sure."""
    label = label_of(line.text)
    return not label or sum(label_of(other.text) == label for other in near) == 1


def _as_statement(text: str) -> Statement:
    return Statement("", "body", 1, 1, text, text)


def _is_restated(line: _Line, said: _Said) -> bool:
    if said.how.cited:
        return normalised(line.text) == normalised(said.how.cited)
    if said.how.unsure and not _doubts(said.text) <= _doubts(line.text):
        return False
    return _may_be_meant_there(line, said.text) and restated(line.text, said.text, asked=said.how.asked)


def _doubts(text: str) -> set[str]:
    return {found[0].casefold() for table in DOUBTFUL for found in table.finditer(text)}


def _may_be_meant_there(line: _Line, said: str) -> bool:
    """Whether what is above a line says nothing of it that the new wording would have to say too: "In staging:"."""
    told = keys_of(said)
    for above in line.above:
        words = {key for key in keys_of(above) if not key[0].isdigit()} - lexicon.GENERIC
        if not words <= told or read(above).negations:
            return False
    around = read(". ".join((*line.statement.headings, *line.above)))
    return around.environments <= read(said).environments
