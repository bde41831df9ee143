"""Statements of memory that something typed in a session gives another value or wording: replace, keep, or keep as history. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams.engines.rules.notes.rewriting import Rewording, reword
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.same import cited, place_of, subject_of
from dreams.engines.rules.value_updates import Update, updates
from dreams.engines.types import Citation, Option, Question
from dreams.lib.files.text import quoted
from dreams.lib.prose.statement_index import Statement, StatementIndex

WEIGHT = 0.85


@dataclass(frozen=True, slots=True)
class Changed:
    """A value of a thing that another one is in the place of now; `was` is a statement that had it, `about` are those that a
    question asks about already."""

    thing: str
    old: str
    new: str
    was: str
    about: tuple[Statement, ...]
    citations: tuple[Citation, ...]


def told_changes(asking: Asking, index: StatementIndex) -> Iterator[tuple[Question, Changed | None]]:
    """One question for a typed sentence and the statements that it changes."""
    for update in updates(index, asking.heard, lambda each: asking.is_touched(place_of(each))):
        if update.wordings and (found := _question(asking, update)):
            yield found


def _question(asking: Asking, update: Update) -> tuple[Question, Changed] | None:
    old, new, statements, quote = update.old, update.new, update.statements, update.typed.quote
    quotes = update.heard.citations(quote)

    def work(rec: Recorder) -> object:
        return reword(
            rec, update.wordings, update.heard.reason(quote), "You said that it has changed.", quotes
        )

    replacing = asking.draftsman.option("replace", "Replace it", work)
    if replacing is None:
        return None
    places = (*(place_of(each) for each in statements), update.place)
    why = f"You wrote that this is {new.strip('`')} now; memory has {old.strip('`')}."
    if not update.is_value:
        why = f"You wrote {quoted(quote)}; memory has {quoted(old)}."
    at = update.heard.prompt.at
    day = at.astimezone(asking.job.time_zone).date() if at else None
    history = as_history(asking, statements, new, day, quotes) if update.is_value else ()
    options = (replacing, Option("keep", "Keep it as it is"), *history)
    citations = (*quotes, *map(cited, statements))
    subject = f"{subject_of(statements)} {new.strip('`').lower()}"
    about = tuple(each.statement for each in update.wordings)
    return (
        Question("changed", subject, why, places, options, citations, WEIGHT),
        Changed(update.thing, old, new, statements[0].text, about, citations),
    )


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
