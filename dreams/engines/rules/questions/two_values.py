"""One thing with two values in memory: an older statement and a newer one, or two of which no order is known. PURE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.rewriting import reword, surface
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.changed import Changed, as_history
from dreams.engines.rules.questions.same import MOST_REWORDED, cited, merge, place_of, subject_of
from dreams.engines.rules.value_updates import everywhere
from dreams.engines.types import Option, Question
from dreams.lib.prose.comparing import says_more
from dreams.lib.prose.exchanges import (
    are_about_two,
    exchange,
    has_another_title,
    is_about,
    is_in_a_title,
    things,
)
from dreams.lib.prose.statement_index import Statement, StatementIndex
from dreams.lib.prose.values import capitalises_nouns, is_noun

NOTED, UNORDERED = 0.7, 0.6  # weights: newer in memory, no order known
MOST_WORDS, MOST_SENTENCES = 30, 2  # a longer statement says much else
_DAY = re.compile(days.WRITTEN, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TwoValues:
    """Two statements of one thing with their values as they are written; `thing` where both name it. `of_names`: the values
    are names, which may be two things."""

    one: Statement
    other: Statement
    value: str
    second: str
    score: float
    thing: str = ""
    of_names: bool = False

    def turned(self) -> TwoValues:
        return replace(self, one=self.other, other=self.one, value=self.second, second=self.value)

    @property
    def sure(self) -> float:
        return 0.5 + self.score / 2


def two_values(asking: Asking, index: StatementIndex) -> Iterator[tuple[Question, Changed | None]]:
    """Changed where one is newer, else a conflict."""
    asked: set[frozenset[Statement]] = set()
    nouns = {path for path, text in asking.tree_before.texts.items() if capitalises_nouns(text)}
    for pair in (*_of_things(index), *_compared(index)):
        statements = frozenset((pair.one, pair.other))
        if (
            statements in asked
            or _is_of_nouns(pair, nouns)
            or any(
                asking.is_touched(place_of(each))
                or not asking.tree_before.writable(each.path)
                or day_in_name(each.path)  # the record of a day: what was so then
                for each in statements
            )
        ):
            continue
        first, second = _day_of(asking, pair.one), _day_of(asking, pair.other)
        if first and second and first != second:
            asked.add(statements)
            yield from _changed(asking, index, pair if first < second else pair.turned(), max(first, second))
        elif not pair.thing and not pair.of_names:
            yield from ((question, None) for question in _conflict(asking, index, pair))


def _is_of_nouns(pair: TwoValues, paths: Collection[str]) -> bool:
    """Whether a value is a word of a file whose nouns have capitals: no name, and no value."""
    told = ((pair.one, pair.value), (pair.other, pair.second))
    return any(each.path in paths and is_noun(value) for each, value in told)


def _compared(index: StatementIndex) -> Iterator[TwoValues]:
    """Statements that are alike but for a value; two days are no values."""
    for pair in index.two_values():
        old, new = pair.found.old, pair.found.new
        if old and new and old.kind != "date":
            value, second = surface(pair.one.text, old), surface(pair.other.text, new)
            of_names = "name" in (old.kind, new.kind)
            if are_about_two(pair.one, pair.other):
                continue
            if is_in_a_title(old.key, pair.one) or is_in_a_title(new.key, pair.other):
                continue  # it is what the memory is about
            yield TwoValues(pair.one, pair.other, value, second, pair.found.score, of_names=of_names)


def _of_things(index: StatementIndex) -> Iterator[TwoValues]:
    """Short statements of two memories that are about one thing, and have one value of a sort each."""
    for one in filter(_is_short, index.statements):
        for thing, about in things(index, one.text):
            for other in filter(_is_short, about):
                if other.path > one.path and (found := _in_place(one, other, thing)):
                    yield found


def _is_short(statement: Statement) -> bool:
    text = statement.text
    return (
        statement.source == "body"
        and len(text.split()) <= MOST_WORDS
        and len(sentences(text)) <= MOST_SENTENCES
    )


def _in_place(one: Statement, other: Statement, thing: str) -> TwoValues | None:
    found = exchange(one.text, other.text, thing)
    if found is None or one.reading.environments != other.reading.environments or are_about_two(one, other):
        return None
    about = is_about(one, thing) or is_about(other, thing)
    about = about and not has_another_title(one, thing) and not has_another_title(other, thing)
    words = _beside(one, thing) & _beside(other, thing)
    if not about or not (found.sure or words):
        return None
    score = min(1.0, (1 + len(words)) / 4)
    return TwoValues(one, other, found.old.text, found.new.text, score, thing)


def _beside(statement: Statement, thing: str) -> set[str]:
    """The plain words of a statement, the thing aside."""
    reading = statement.reading
    return {word for word in reading.terms if word not in reading.anchors and word not in thing}


def _day_of(asking: Asking, statement: Statement) -> dt.date | None:
    """The day that a statement names as its own, else since when its line is there."""
    named = list(_DAY.finditer(statement.text))
    if len(named) == 1:
        return days.written(named[0], last=True)
    known = asking.job.line_dates.get(statement.path, ())
    line = known[statement.first_line - 1] if statement.first_line <= len(known) else None
    return line.day if line and line.believable and not line.ours else None


def _changed(
    asking: Asking, index: StatementIndex, pair: TwoValues, day: dt.date
) -> Iterator[tuple[Question, Changed | None]]:
    old, new = pair.one, pair.other
    option = _option(asking, index, "replace", "Replace the older one", pair)
    if option is None:
        return
    citations = (cited(old), cited(new))
    history = as_history(asking, [old], pair.second, day, citations)
    options = (option, Option("keep", "Keep both"), *history)
    why = f"The newer note says {_bare(pair.second)}, the older one {_bare(pair.value)}."
    places = (place_of(old), place_of(new))
    question = Question("changed", subject_of([old, new]), why, places, options, citations, NOTED * pair.sure)
    yield question, Changed(pair.thing, pair.value, pair.second, old.text, (old, new), citations)


def _bare(value: str) -> str:
    return value.strip("`")


def _conflict(asking: Asking, index: StatementIndex, pair: TwoValues) -> Iterator[Question]:
    one, other = pair.one, pair.other
    made = (
        _option(asking, index, "first", f"It is {_bare(pair.value)}", pair.turned()),
        _option(asking, index, "second", f"It is {_bare(pair.second)}", pair),
    )
    options = tuple(option for option in made if option)
    if len(options) < 2:
        return
    why = f"One note says {_bare(pair.value)}, another {_bare(pair.second)}."
    places, citations = (place_of(one), place_of(other)), (cited(one), cited(other))
    options = (*options, Option("keep", "Keep both"))
    yield Question(
        "conflict", subject_of([one, other]), why, places, options, citations, UNORDERED * pair.sure
    )


def _option(asking: Asking, index: StatementIndex, name: str, label: str, pair: TwoValues) -> Option | None:
    """The first statement with the second one's value, in what sums its file up too.

    Of an older and a newer one ("replace") the older goes into the newer if it says no more then. Where no order is known
    nothing is taken out.
    """
    wrong, right = pair.one, pair.other
    wordings = everywhere(index, [wrong], pair.value, pair.second)
    citations = (cited(right), cited(wrong))
    reason = f"{right.path} has {_bare(pair.second)}."

    def work(rec: Recorder) -> None:
        done = reword(rec, wordings, reason, "Another value is right.", citations)
        now = replace(wrong, text=wordings[0].text) if done else wrong
        if name == "replace" and done and not says_more(_undated(now.text), right.text, MOST_REWORDED):
            merge(rec, right, [now], asking.job.config.row_max)

    return asking.draftsman.option(name, label, work) if wordings else None


def _undated(text: str) -> str:
    return _DAY.sub(" ", text)
