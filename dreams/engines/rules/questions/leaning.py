"""Statements that name a value which has just changed, in this dream or by an answer to another question. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.changed import Exchange
from dreams.engines.rules.questions.rewriting import reword, surface, with_value
from dreams.engines.rules.questions.same import cited, place_of, subject_of
from dreams.engines.types import Edit, Option, Question
from dreams.lib.prose.comparing import TELLING
from dreams.lib.prose.statement_index import Statement, StatementIndex
from dreams.lib.prose.values import Value, read

WEIGHT = 0.55
SHORT_NUMBER = 2  # digits: "5" is named everywhere
MOST_LINES = 200  # of an edit that are compared


def leaning(asking: Asking, index: StatementIndex, exchanges: Sequence[Exchange]) -> Iterator[Question]:
    """One question for each statement that still has the old value."""
    for each in (*exchanges, *_exchanged(asking.edits)):
        if not _is_telling(index, each.old):
            continue
        for statement in index.leans_on(each.old):
            is_asked = statement in each.about or asking.is_touched(place_of(statement))
            if not is_asked and _is_about_it(statement, each):
                yield from _question(asking, statement, each)


def _is_telling(index: StatementIndex, value: str) -> bool:
    """Whether a value is rare enough that who names it means the same thing."""
    return index.is_rare(value) and not (value.isdigit() and len(value) <= SHORT_NUMBER)


def _is_about_it(statement: Statement, exchange: Exchange) -> bool:
    """Whether it names what the value was of: another value that was beside it, or two words."""
    mine, theirs = statement.reading, read(exchange.was)
    if (mine.anchors & theirs.anchors) - {exchange.old}:
        return True
    both = [word for word, weight in mine.terms.items() if weight >= TELLING and word in theirs.terms]
    return len(set(both) - {exchange.old}) > 1


def _exchanged(edits: Sequence[Edit]) -> Iterator[Exchange]:
    """The values that the changes of this dream put in the place of others."""
    for edit in edits:
        if edit.kind != "update" or edit.before is None or edit.after is None:
            continue
        before, after = edit.before.split("\n"), edit.after.split("\n")
        gone = [line for line in before if line not in set(after)][:MOST_LINES]
        come = [line for line in after if line not in set(before)][:MOST_LINES]
        for old, new in zip(gone, come, strict=False):
            pair = _one_for_another(old, new)
            if pair:
                yield Exchange(pair[0].key, surface(new, pair[1]), old, (), edit.citations)


def _one_for_another(old: str, new: str) -> tuple[Value, Value] | None:
    mine, theirs = read(old), read(new)
    gone = [value for value in mine.values if value.key not in theirs.anchors]
    come = [value for value in theirs.values if value.key not in mine.anchors]
    return (gone[0], come[0]) if len(gone) == len(come) == 1 else None


def _question(asking: Asking, statement: Statement, exchange: Exchange) -> Iterator[Question]:
    wording = with_value(statement, exchange.old, exchange.new)
    if wording is None or not asking.tree_before.writable(statement.path):
        return
    reason = f"{exchange.old} is {exchange.new} now."
    citations = (*exchange.citations, cited(statement))
    option = asking.draftsman.option(
        "update",
        f"Change it to {exchange.new}",
        lambda rec: reword(rec, [wording], reason, "The value that it names has changed.", citations),
    )
    if option is None:
        return
    why = f"{exchange.old} is {exchange.new} now; this still names {exchange.old}."
    keep = Option("keep", "Leave it as it is")
    subject = f"{subject_of([statement])} {exchange.new}"
    yield Question("leans", subject, why, (place_of(statement),), (option, keep), citations, WEIGHT)
