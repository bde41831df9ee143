"""One thing with two values: an older statement and a newer one, in memory or in a session, or two of which no order is known.
PURE.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.rewriting import Rewording, reword, surface, with_value
from dreams.engines.rules.questions.same import MOST_REWORDED, cited, merge, place_of, subject_of
from dreams.engines.rules.user_statements.clauses import opened
from dreams.engines.rules.user_statements.phrases import DOUBTFUL, OTHERS, SUPPOSED
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.speech import asks, typed_lines
from dreams.engines.types import Citation, Option, Place, Question
from dreams.lib.prose.comparing import OPENING, Compared, says_more
from dreams.lib.prose.statement_index import Pair, Statement, StatementIndex
from dreams.lib.prose.values import Reading, Value, read

MOST_PROMPT = 2_000  # characters of a prompt that are read: who pastes more tells no change
MOST_WORDS = 40  # of a typed sentence
MOST_PLACES = 5  # statements that one newer one replaces
SAID, NOTED, UNORDERED = 0.85, 0.7, 0.6  # weights: said in a session, newer in memory, no order known


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that a person typed, and what of it is so now. `old` is the value that it names as past."""

    text: str
    quote: str
    heard: Heard
    old: str = ""

    @property
    def place(self) -> Place:
        found = self.heard.citations(self.quote)[-1]
        return Place(
            found.place, found.line_no, self.quote, found.session_pk, found.offset, found.role, found.at
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """A value that another one is in the place of now; `was` is a statement that had it, `about` are those that a question
    asks about already."""

    old: str
    new: str
    was: str
    about: tuple[Statement, ...]
    citations: tuple[Citation, ...]


def told_changes(asking: Asking, index: StatementIndex) -> Iterator[tuple[Question, Exchange | None]]:
    """Statements of memory that something typed in a session gives another value."""
    for said in _said(asking.heard):
        found = _older(index, said)
        done = any(asking.is_touched(place_of(pair[0])) for pair in found)  # then the others lean on it
        if found and len(found) <= MOST_PLACES and not done:
            yield from _told(asking, index, said, found)


def _said(heard: Sequence[Heard]) -> Iterator[Said]:
    """What was told as a change, and each plain sentence with a value in it, the latest first."""
    for each in reversed(heard):
        told = set()
        for telling in each.tellings:
            told.add(telling.quote)
            if not telling.unsure and not _doubts(telling.quote):
                yield Said(telling.core, telling.quote, each, telling.old)
        if any(wish.verdict == "forget" for wish in each.wishes) or len(each.prompt.text) > MOST_PROMPT:
            continue
        for line in typed_lines(each.prompt.text):
            for sentence in sentences(line):
                if sentence not in told and _tells(sentence):
                    yield Said(opened(sentence)[0].rstrip(" .!"), sentence, each)


def _tells(sentence: str) -> bool:
    """A plain statement with a value: no question, no supposition, nobody else's word."""
    if len(sentence.split()) > MOST_WORDS or asks(sentence) or not read(sentence).anchors:
        return False
    return not _doubts(sentence)


def _doubts(sentence: str) -> bool:
    return any(table.search(sentence) for table in (SUPPOSED, OTHERS, *DOUBTFUL))


def _older(index: StatementIndex, said: Said) -> list[tuple[Statement, Value, Value]]:
    """Each statement of memory that is about what was said, with its value and the one that was said."""
    new = read(said.text)
    near = index.related(said.text)
    if len(new.anchors) > 1 and any(new.anchors <= each.reading.anchors for each, _ in near):
        return []  # memory says it
    found: dict[Statement, tuple[Value, Value]] = {}
    for each, compared in near:
        if compared.relation == "other value" and compared.old and compared.new and _shares_thing(each, new):
            past, now = _sides(each, compared.old, compared.new)
            if past.is_measured or past.start > OPENING or " " in past.key:
                found[each] = past, now
    fresh = [value for value in _whole(new.values) if not index.said_where(value.key)]
    told: dict[Statement, list[tuple[Value, Value]]] = {}
    for key in sorted(read(said.quote).anchors | read(said.old).anchors):
        for each in index.leans_on(key) if index.is_rare(key) else ():
            value = next((v for v in _whole(each.reading.values) if v.key == key), None)
            come = _of_its_sort(value, fresh) if value else None
            if value is not None and come is not None and each not in found and _speaks_of(each, said, key):
                told.setdefault(each, []).append((value, come))
    for each, pairs in told.items():
        if (one := _written_alike(pairs, said)) is not None:
            found[each] = one
    return [(each, *values) for each, values in found.items()]


def _written_alike(pairs: Sequence[tuple[Value, Value]], said: Said) -> tuple[Value, Value] | None:
    """Of several values that may have been exchanged the one that is written as the new one is, in backticks or not: of
    "relay: `trunk` → `main`" it is no name. None where that is not one."""
    coded = {v.key: said.quote[v.start : v.end].startswith("`") for v in read(said.quote).values}
    alike = [pair for pair in pairs if coded.get(pair[0].key) == coded.get(pair[1].key)]
    chosen = pairs if len(pairs) == 1 else alike
    return chosen[0] if len(chosen) == 1 else None


def _shares_thing(statement: Statement, said: Reading) -> bool:
    """Where things are named by identifiers, both name the same one."""
    things = [{v.key for v in each.values if v.kind == "identifier"} for each in (statement.reading, said)]
    return not all(things) or bool(things[0] & things[1])


def _whole(values: Sequence[Value]) -> list[Value]:
    """Without what is inside another value: the target in a command."""
    spans = {(value.start, value.end): value for value in reversed(values)}
    return [value for value in values if spans[value.start, value.end] is value]


def _sides(statement: Statement, one: Value, other: Value) -> tuple[Value, Value]:
    return (one, other) if one.key in statement.reading.anchors else (other, one)


def _of_its_sort(value: Value, values: Sequence[Value]) -> Value | None:
    alike = [each for each in values if each.kind == value.kind]
    return alike[0] if len(alike) == 1 else None


def _speaks_of(statement: Statement, said: Said, value: str) -> bool:
    """Whether they share something beside the value."""
    return bool((statement.reading.anchors & read(said.quote).anchors) - {value})


def _told(
    asking: Asking, index: StatementIndex, said: Said, found: Sequence[tuple[Statement, Value, Value]]
) -> Iterator[tuple[Question, Exchange | None]]:
    statement, value, now = found[0]
    new = surface(said.text, now)
    meant = [each for each, other, _ in found if other.key == value.key]
    wordings = _everywhere(index, meant, value.key, new)
    replace_it = _replacing(asking, wordings, said)
    if replace_it is None:
        return
    places = (*(place_of(each) for each in meant), said.place)
    why = f"You wrote that this is {new} now; memory has {surface(statement.text, value)}."
    options = (replace_it, Option("keep", "Keep it as it is"), *_history(asking, meant, new, said))
    citations = (*said.heard.citations(said.quote), *map(cited, meant))
    question = Question("changed", f"{subject_of(meant)} {now.key}", why, places, options, citations, SAID)
    about = tuple(each.statement for each in wordings)
    yield question, Exchange(value.key, new, statement.text, about, citations)


def _everywhere(index: StatementIndex, meant: Sequence[Statement], old: str, new: str) -> list[Rewording]:
    """The statements, and the descriptions and rows that sum their files up, with the new value."""
    paths = {each.path for each in meant}
    sums = [each for each in index.said_where(old) if each.source != "body" and each.target in paths]
    made = [with_value(each, old, new) for each in (*meant, *sums)]
    return [each for each in made if each]


def _replacing(asking: Asking, wordings: Sequence[Rewording], said: Said) -> Option | None:
    reason = said.heard.reason(said.quote)
    quoted = said.heard.citations(said.quote)

    def work(rec: Recorder) -> object:
        return reword(rec, wordings, reason, "You said that it has changed.", quoted)

    return asking.draftsman.option("replace", "Replace it", work) if wordings else None


def _history(asking: Asking, meant: Sequence[Statement], new: str, said: Said) -> Iterator[Option]:
    day = said.heard.prompt.at.astimezone(asking.job.time_zone).date() if said.heard.prompt.at else None
    yield from as_history(asking, meant, new, day, said.heard.citations(said.quote))


def as_history(
    asking: Asking, meant: Sequence[Statement], new: str, day: dt.date | None, quoted: tuple[Citation, ...]
) -> Iterator[Option]:
    """The old value as history: until when it was so, and what is so now."""
    until = f"until {day.isoformat()}" if day else "before"
    wordings = [Rewording(each, f"{each.text.rstrip(' .')} ({until}; now {new}).") for each in meant]
    option = asking.draftsman.option(
        "history",
        "Keep the old value as history",
        lambda rec: reword(rec, wordings, f"Changed to {new}.", "The old value is history.", quoted),
    )
    if option is not None:
        yield option


def two_values(asking: Asking, index: StatementIndex) -> Iterator[tuple[Question, Exchange | None]]:
    """One thing with two values in memory: changed where one is newer, else a conflict."""
    for pair in index.two_values():
        statements = pair.one, pair.other
        if any(
            asking.is_touched(place_of(each)) or not asking.tree_before.writable(each.path)
            for each in statements
        ):
            continue
        days = [_day_of(asking, each) for each in statements]
        if days[0] and days[1] and days[0] != days[1]:
            ordered = pair if days[0] < days[1] else Pair(pair.other, pair.one, _turned(pair))
            yield from _changed(asking, index, ordered, max(days[0], days[1]))
        else:
            yield from ((question, None) for question in _conflict(asking, index, pair))


def _turned(pair: Pair) -> Compared:
    return replace(pair.found, old=pair.found.new, new=pair.found.old)


def _day_of(asking: Asking, statement: Statement) -> dt.date | None:
    """The day that a statement names as its own, else since when its line is there."""
    named = [
        value.key for value in statement.reading.values if value.kind == "date" and value.key[:4].isdigit()
    ]
    if len(named) == 1:
        try:
            return dt.date.fromisoformat(named[0])
        except ValueError:
            return None
    known = asking.job.line_dates.get(statement.path, ())
    line = known[statement.first_line - 1] if statement.first_line <= len(known) else None
    return line.day if line and line.believable and not line.ours else None


def _changed(
    asking: Asking, index: StatementIndex, pair: Pair, day: dt.date
) -> Iterator[tuple[Question, Exchange | None]]:
    old, new = pair.one, pair.other
    value, now = pair.found.old, pair.found.new
    if value is None or now is None:
        return
    option = _option(asking, index, "replace", "Replace the older one", old, new, (value, now))
    if option is None:
        return
    citations = (cited(old), cited(new))
    history = as_history(asking, [old], surface(new.text, now), day, citations)
    options = (option, Option("keep", "Keep both"), *history)
    why = f"The newer note says {surface(new.text, now)}, the older one {surface(old.text, value)}."
    question = Question(
        "changed",
        subject_of([old, new]),
        why,
        (place_of(old), place_of(new)),
        options,
        citations,
        NOTED * _sure(pair),
    )
    yield question, Exchange(value.key, surface(new.text, now), old.text, (old, new), citations)


def _sure(pair: Pair) -> float:
    return 0.5 + pair.found.score / 2


def _conflict(asking: Asking, index: StatementIndex, pair: Pair) -> Iterator[Question]:
    one, other = pair.one, pair.other
    value, second = pair.found.old, pair.found.new
    if value is None or second is None or "name" in (value.kind, second.kind):
        return  # two names are two people or things more often than one thing with another name
    made = (
        _option(asking, index, "first", f"It is {surface(one.text, value)}", other, one, (second, value)),
        _option(asking, index, "second", f"It is {surface(other.text, second)}", one, other, (value, second)),
    )
    options = tuple(option for option in made if option)
    if len(options) < 2:
        return
    why = f"One note says {surface(one.text, value)}, another {surface(other.text, second)}."
    places, citations = (place_of(one), place_of(other)), (cited(one), cited(other))
    keep = Option("keep", "Keep both")
    yield Question(
        "conflict",
        subject_of([one, other]),
        why,
        places,
        (*options, keep),
        citations,
        UNORDERED * _sure(pair),
    )


def _option(
    asking: Asking,
    index: StatementIndex,
    name: str,
    label: str,
    wrong: Statement,
    right: Statement,
    values: tuple[Value, Value],
) -> Option | None:
    """The wrong statement with the right value, in what sums its file up too.

    Of an older and a newer one ("replace") the older goes into the newer if it says no more then. Where no order is known
    nothing is taken out.
    """
    old, new = values
    wordings = _everywhere(index, [wrong], old.key, surface(right.text, new))
    citations = (cited(right), cited(wrong))
    reason = f"{right.path} has {surface(right.text, new)}."

    def work(rec: Recorder) -> None:
        done = reword(rec, wordings, reason, "Another value is right.", citations)
        now = replace(wrong, text=wordings[0].text) if done else wrong
        if name == "replace" and done and not says_more(now.text, right.text, MOST_REWORDED):
            merge(rec, right, [now], asking.job.config.row_max)

    return asking.draftsman.option(name, label, work) if wordings else None
