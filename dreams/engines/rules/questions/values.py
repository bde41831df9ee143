"""Questions about values: a session or another memory gives a thing another value, or a statement still names the old one. PURE."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.removing import Rewording, reword, surface, with_text
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.families import NO_OPTION, Inputs, leaves_entries, place_of_quote
from dreams.engines.rules.questions.same import MOST_REWORDED, cited, merge, place_of, subject_of
from dreams.engines.rules.steps.learning import learn
from dreams.engines.rules.user_statements.lessons import is_from
from dreams.engines.rules.value_updates import Update, everywhere, saying, updates
from dreams.engines.types import KEEP, Citation, Edit, Option, Question
from dreams.lib.files.text import quoted
from dreams.lib.prose.comparing import CLAUSE, TELLING, UNITS, says_more
from dreams.lib.prose.exchanges import (
    MOST_OWN,
    ValueSpan,
    denied,
    exchange,
    is_about,
    is_in_a_title,
    is_told_past,
    own_words,
    things,
    words_of,
)
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.values import Value, read

TOLD = 0.85  # how useful an answer is, chosen: a person said the new value


@dataclass(frozen=True, slots=True)
class Changed:
    """A value that was replaced; `was` is a statement that had it, `about` are those that a question already covers."""

    thing: str
    old: str
    new: str
    was: str
    about: tuple[PlacedText, ...]
    citations: tuple[Citation, ...]


def told_changes(asking: Inputs, index: StatementIndex) -> Iterator[tuple[Question, Changed | None]]:
    """One question for each typed sentence, with the statements that it changes."""
    asked: set[PlacedText] = set()
    for doubted in (False, True):
        for update in updates(index, asking.heard, lambda each: asking.is_touched(place_of(each)), doubted):
            is_new = update.wordings and asked.isdisjoint(update.statements)
            if is_new and (found := _told_question(asking, update)):
                asked.update(update.statements)
                yield found


def _told_question(asking: Inputs, update: Update) -> tuple[Question, Changed] | None:
    old, new, statements, quote = update.old, update.new, update.statements, update.typed.quote
    quotes = (update.heard.citation(quote),)
    said, wrote = ("Your agent’s log says",) * 2 if update.heard.is_logged else ("You said", "You wrote")

    given = (update.wordings, update.heard.reason(quote), f"{said} that it has changed.", quotes)
    kept = next((each for each in saying(update) if each not in statements), None)

    def replace_by_it(rec: Recorder) -> None:
        if reword(rec, *given) and kept:
            now = [each.statement._replace(text=each.text) for each in update.wordings]
            merge(rec, kept, [each for each in now if each.source == "body"], asking.job.config.row_max)

    lost = "" if update.is_value else _end_without(old, new)
    replaced = "it" if update.is_value else "the whole statement" + (lost and f", also {quoted(lost)}")
    label = "Remove the older one" if kept else f"Replace {replaced}"
    replacing = asking.draftsman.option("replace", label, replace_by_it)
    if not replacing.edits:
        return None
    places = (*(place_of(each) for each in statements), place_of_quote(*quotes))
    why = f"{wrote} that this is {new.strip('`')} now; memory has {old.strip('`')}."
    if not update.is_value:
        why = f"{wrote} {quoted(quote)}; memory has {quoted(old)}."
    at = update.heard.prompt.at
    until = f"until {at.astimezone(asking.job.time_zone).date()}" if at else "formerly"
    keep = Option("keep", "Keep both") if kept else KEEP
    history = as_history(asking, statements, old, new, until, quotes) if update.is_value else NO_OPTION
    wished = [each for each in asking.gathered.asked if is_from(each, (update.typed.text, quote))]
    both = asking.draftsman.option("both", "Remember both", learn, wished, asking.job.config)
    citations = (*quotes, *map(cited, statements))
    subject = f"{subject_of(statements)} {new.strip('`').lower()}"
    about = tuple(each.statement for each in update.wordings)
    return (
        Question("changed", subject, why, places, (replacing, keep, history, both), citations, TOLD),
        Changed(update.thing, old, new, statements[0].text, about, citations),
    )


def _end_without(old: str, new: str) -> str:
    """The last clauses of a statement of which a new one says nothing."""
    words = words_of(new)
    ends = (old[found.start() :] for found in CLAUSE.finditer(old))
    return next((each.strip(" ,;:.") for each in ends if words.isdisjoint(words_of(each))), "")


def told_otherwise(
    asking: Inputs, index: StatementIndex, changing: Collection[PlacedText]
) -> Iterator[Question]:
    """Requests to remember something that contradicts memory."""
    for lesson in asking.gathered.lessons:
        meant = [each for each in denied(index, lesson.text) if each not in changing]
        if not meant:
            continue
        reason, cited = f"You asked for this: {quoted(lesson.text)}.", tuple(lesson.citations)
        given = ([Rewording(each, lesson.text) for each in meant], reason, reason, cited)
        option = asking.draftsman.option("replace", "Replace it", reword, *given)
        why = f"You wrote {quoted(lesson.text)}; memory has {quoted(meant[0].text)}."
        places, options = tuple(map(place_of, meant)), (option, KEEP)
        subject = f"{subject_of(meant)} {lesson.text.lower()}"
        yield Question("changed", subject, why, places, options, cited, TOLD)


def as_history(
    asking: Inputs, meant: Sequence[PlacedText], old: str, new: str, until: str, told: tuple[Citation, ...]
) -> Option:
    """The old value as history: in its sentence, until when it was true, and what is true now."""
    wordings = []
    for each in meant:
        has_it = (said for said in sentences(each.text) if with_text(each._replace(text=said), old, new))
        said = next(has_it, each.text)
        note = f" ({until}; now {new}{_unit_of(said, old)})."
        wordings.append(Rewording(each, each.text.replace(said, said.rstrip(" .。") + note, 1)))
    given = (wordings, f"Changed to {new}.", "The old value is history.", told)
    return asking.draftsman.option("history", "Keep the old value as history", reword, *given)


_UNIT = re.compile(r" [^\W\d_]+")  # behind a number


def _unit_of(text: str, value: str) -> str:
    """The unit behind a number, with its space: " seconds"; "" if it has none or is in the number, as of "60fps"."""
    values = read(text).values if value[-1:].isdigit() else ()
    ends = (each.end for each in values if each.unit and surface(text, each) == value)
    return next((found[0] for end in ends if (found := _UNIT.match(text, end))), "")


# --- Two values -----------------------------------------------------------------------------------------------------

# Usefulness: one is newer, or the order is unknown. On public directories one in three was useful, fewer than of any other kind.
NOTED, UNORDERED = 0.2, 0.15  # twice as much for the most similar
MOST_WORDS = 30  # a longer statement says much else


@dataclass(frozen=True, slots=True)
class TwoValues:
    """Two statements about one thing, with their values as written; `thing` if both name it."""

    one: PlacedText
    other: PlacedText
    value: str
    second: str
    score: float
    thing: str = ""
    alike: bool = False  # both say more of the thing in some of the same words

    def turned(self) -> "TwoValues":
        return replace(self, one=self.other, other=self.one, value=self.second, second=self.value)


def two_values(
    asking: Inputs, index: StatementIndex, settled: Set[PlacedText]
) -> Iterator[tuple[Question, Changed | None]]:
    """Questions of kind `changed` if one is newer, else `conflict`, but none about statements that are `settled`."""
    asked: set[frozenset[PlacedText]] = set()
    later: defaultdict[PlacedText, list[tuple[TwoValues, dt.date]]] = defaultdict(list)
    for pair in (*_of_things(index), *_compared(index)):
        statements = frozenset((pair.one, pair.other))
        if (
            statements in asked
            or not settled.isdisjoint(statements)
            or _say_much_else(index, pair)
            or any(
                asking.is_touched(place_of(each))
                or not asking.tree_before.writable(each.path)
                or day_in_name(each.path)  # the record of a day
                for each in statements
            )
        ):
            continue
        first, second = _day_of(asking, pair.one), _day_of(asking, pair.other)
        if first and second and first != second:
            newer = pair if first < second else pair.turned()
            later[newer.one].append((newer, max(first, second)))
            asked.add(statements)
        elif not pair.thing and any(map(str.isdigit, pair.value)):
            yield from ((question, None) for question in _conflict(asking, index, pair))
    for told in later.values():
        last = max(day for _, day in told)
        newest = [(pair, day) for pair, day in told if day == last]
        if len({pair.second.strip("`") for pair, _ in newest}) == 1:  # else of two things
            yield from _changed(asking, index, *newest[0])


def _say_much_else(index: StatementIndex, pair: TwoValues) -> bool:
    """Whether more of the statements than their files allow have other words, which the value may belong to."""
    two = ((each, each.other.reading.terms) for each in (pair, pair.turned()))
    many = [own_words(each.one, each.thing, each.value, terms) > MOST_OWN for each, terms in two]
    return sum(many) > (1 + pair.alike) * index.is_of_a_short_file(pair.one, pair.other)


def _compared(index: StatementIndex) -> Iterator[TwoValues]:
    """Pairs of statements that differ only in a value; without days, and without a value that is the memory's topic."""
    for pair in index.two_values():
        old, new = pair.found.old, pair.found.new
        if old and new and old.kind != "date":
            value, second = surface(pair.one.text, old), surface(pair.other.text, new)
            if not (is_in_a_title(old.key, pair.one) or is_in_a_title(new.key, pair.other)):
                yield TwoValues(pair.one, pair.other, value, second, pair.found.score)


def _of_things(index: StatementIndex) -> Iterator[TwoValues]:
    """Pairs of short statements in two memories about one thing, with one value of a kind each."""
    for one in filter(_is_short, index.statements):
        for thing, about in things(index, one.text):
            for other in filter(_is_short, about):
                if other.path > one.path and (found := _in_place(one, other, thing)):
                    yield found


def _is_short(statement: PlacedText) -> bool:
    return statement.source == "body" and len(statement.text.split()) <= MOST_WORDS


def _in_place(one: PlacedText, other: PlacedText, thing: str) -> TwoValues | None:
    # Many things may have the same two words ("border radius"), so a title must name them.
    is_thing = is_in_a_title if thing in one.reading.pairs else lambda thing, each: is_about(each, thing)
    if not (is_thing(thing, one) or is_thing(thing, other)):
        return None
    found = exchange(one.text, other.text, thing)
    if found is None or found.old.sort == "word" or one.reading.environments != other.reading.environments:
        return None
    if found.named and not is_told_past(found.old.text, other.text):
        return None  # a name that both have
    if (thing in found.old.key and thing in found.new.key) or re.search(r"#\d", found.old.text):
        return None  # it is only where both are: "github" of two addresses; "#915" names an issue
    if all(
        _names_beside(each, value) - beside.reading.keys
        or (thing in each.reading.pairs and own_words(each, thing, value.text, beside.reading.terms))
        for each, value, beside in ((one, found.old, other), (other, found.new, one))
    ):
        return None  # "the threshold of ledger-worker is 11", "the threshold of relay is 61"
    words = _beside(one, thing) & _beside(other, thing)
    if not (found.sure and not found.named) and len(words) < 2:
        return None
    score = min(1.0, (1 + len(words)) / 4)
    alike = found.sure and len(words) > 1 and found.old.sort != "a-a"  # "user-facing" is a word
    return TwoValues(one, other, found.old.text, found.new.text, score, thing, alike=alike)


def _names_beside(statement: PlacedText, value: ValueSpan) -> set[str]:
    """The names of a statement besides a value and what is a part of it, such as the host of an address."""
    own = {each.key for each in statement.reading.values if value.start <= each.start < value.end}
    return {each.key for each in statement.reading.values if not each.is_measured} - own - {value.key}


def _beside(statement: PlacedText, thing: str) -> set[str]:
    """The plain words of a statement, without the thing's."""
    reading = statement.reading
    return {word for word in reading.terms if word not in reading.anchors and word not in thing}


def _day_of(asking: Inputs, statement: PlacedText) -> dt.date | None:
    """The day that a statement gives for itself, else when its line was added."""
    named = list(days.WRITTEN.finditer(statement.text))
    if len(named) == 1:
        return days.written(named[0], last=True)
    line = asking.line_date(statement.path, statement.first_line)
    return line.day if line else None


def _changed(
    asking: Inputs, index: StatementIndex, pair: TwoValues, day: dt.date | None
) -> Iterator[tuple[Question, Changed | None]]:
    old, new = pair.one, pair.other
    option = _option(asking, index, "replace", "Replace the older one", pair)
    if not option.edits:
        return
    places, citations = (place_of(old), place_of(new)), (cited(old), cited(new))
    until = f"until {day}" if day else "formerly"
    history = as_history(asking, [old], pair.value, pair.second, until, citations)
    options = (option, Option("keep", "Keep both"), history)
    why = f"The newer note says {pair.second.strip('`')}, the older one {pair.value.strip('`')}."
    question = Question(
        "changed", subject_of([old, new]), why, places, options, citations, NOTED * (1 + pair.score)
    )
    yield question, Changed(pair.thing, pair.value, pair.second, old.text, (old, new), citations)


def _conflict(asking: Inputs, index: StatementIndex, pair: TwoValues) -> Iterator[Question]:
    one, other = pair.one, pair.other
    said = pair.value.strip("`") + _unit_of(one.text, pair.value)
    instead = pair.second.strip("`") + _unit_of(other.text, pair.second)
    first = _option(asking, index, "first", f"It is {said}", pair.turned())
    second = _option(asking, index, "second", f"It is {instead}", pair)
    if first.edits and second.edits:
        why = f"One note says {said}, another {instead}."
        places, citations = (place_of(one), place_of(other)), (cited(one), cited(other))
        options = (first, second, Option("keep", "Keep both"))
        subject = subject_of([one, other])
        yield Question("conflict", subject, why, places, options, citations, UNORDERED * (1 + pair.score))


def _option(asking: Inputs, index: StatementIndex, name: str, label: str, pair: TwoValues) -> Option:
    """The option to write the second one's value into the first statement and its file's summaries.

    With "replace" the older one is merged into the newer if it then says nothing more. If no order is known nothing is
    removed.
    """
    wrong, right = pair.one, pair.other
    wordings = everywhere(index, [wrong], pair.value, pair.second)
    citations = (cited(right), cited(wrong))
    reason = f"{right.path} says {quoted(right.text)}."

    def work(rec: Recorder) -> None:
        done = reword(rec, wordings, reason, "The other value is correct.", citations)
        if name != "replace" or not done or leaves_entries(asking.askable, [wrong]):
            return
        now = wrong._replace(text=wordings[0].text)
        if not says_more(days.WRITTEN.sub(" ", now.text), right.text, MOST_REWORDED):
            merge(rec, right, [now], asking.job.config.row_max)

    return asking.draftsman.option(name, label, work)


# --- Leaning --------------------------------------------------------------------------------------------------------

LEANING = 0.55  # how useful an answer is, chosen: nobody mentioned this statement
SHORT_NUMBER = 2  # digits: "5" is everywhere
_WITH_A_UNIT = re.compile(r"(?P<old>[\d.]+)(?P<unit>[a-zA-Zµ]{1,3}|%) (?P<new>[\d.]+)(?P=unit)")  # "75s 20s"
MOST_LINES = 200  # of an edit that are compared


def leaning(asking: Inputs, index: StatementIndex, exchanges: Sequence[Changed]) -> Iterator[Question]:
    """One question for each statement that still has an old value."""
    for each in (*exchanges, *_exchanged(asking.edits)):
        for statement in having(index, each):
            # A statement with both values records the change.
            is_told = read(each.new).keys <= statement.reading.keys
            if statement not in each.about and not is_told and not asking.is_touched(place_of(statement)):
                yield from _leaning_question(asking, index, statement, each)


def having(index: StatementIndex, changed: Changed) -> Iterator[PlacedText]:
    """The statements that name the old value and its thing."""
    if changed.thing:
        groups = (about for thing, about in things(index, changed.was) if thing == changed.thing)
        yield from (each for about in groups for each in about if with_text(each, changed.old, changed.new))
        return
    key = next((value.key for value in read(changed.old).values), changed.old.lower())
    yield from (each for each in index.with_words([key]) if _is_about_it(index, each, changed, key))


def _is_about_it(index: StatementIndex, statement: PlacedText, changed: Changed, key: str) -> bool:
    """Whether it names the value's thing: another value that was beside it, or two of its words. If the value is a common one, it
    must be a rare value, and the unit the same: "75 seconds"."""
    mine, theirs = statement.reading, read(changed.was)
    units = {each.unit for each in theirs.values}  # also "UTC" of "02:00 UTC"
    beside = (mine.anchors & theirs.anchors) - {key} - units
    if not index.is_rare(key) or (key.isdigit() and len(key) <= SHORT_NUMBER):
        both = ({each.unit for each in told.values if each.key == key} for told in (mine, theirs))
        return any(map(index.is_rare, beside)) and bool(set.intersection(*both) & UNITS)
    words = {word for word, weight in mine.terms.items() if weight >= TELLING and word in theirs.terms}
    return bool(beside) or len(words - units - {key}) > 1


def _exchanged(edits: Sequence[Edit]) -> Iterator[Changed]:
    """The values that this dream's changes replace."""
    for edit in edits:
        if edit.kind != "update" or edit.before is None or edit.after is None:
            continue
        before, after = edit.before.split("\n"), edit.after.split("\n")
        gone = [line for line in before if line not in set(after)][:MOST_LINES]
        come = [line for line in after if line not in set(before)][:MOST_LINES]
        for old, new in zip(gone, come, strict=False):
            if pair := _one_for_another(old, new):
                yield Changed("", surface(old, pair[0]), surface(new, pair[1]), old, (), edit.citations)


def _one_for_another(old: str, new: str) -> tuple[Value, Value] | None:
    mine, theirs = read(old), read(new)
    gone = [value for value in mine.values if value.key not in theirs.anchors]
    come = [value for value in theirs.values if value.key not in mine.anchors]
    return (gone[0], come[0]) if len(gone) == len(come) == 1 else None


def _leaning_question(
    asking: Inputs, index: StatementIndex, statement: PlacedText, exchange: Changed
) -> Iterator[Question]:
    old, new = exchange.old, exchange.new
    if not with_text(statement, old, new) and (numbers := _WITH_A_UNIT.fullmatch(f"{old} {new}")):
        old, new = numbers["old"], numbers["new"]
    wordings = everywhere(index, [statement], old, new)
    if not wordings or not asking.tree_before.writable(statement.path):
        return
    reason = f"{exchange.old} is {exchange.new} now."
    citations = (*exchange.citations, cited(statement))
    given = (wordings, reason, "The value it mentions has changed.", citations)
    option = asking.draftsman.option("update", f"Change it to {exchange.new}", reword, *given)
    why = f"{exchange.old} is {exchange.new} now; this still names {exchange.old}."
    subject = f"{subject_of([statement])} {exchange.new}"
    yield Question("leans", subject, why, (place_of(statement),), (option, KEEP), citations, LEANING)
