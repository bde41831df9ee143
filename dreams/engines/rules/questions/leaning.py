"""Statements that name a value which has just changed, in this dream or by an answer to another question. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dreams.engines.rules.notes.rewriting import reword, surface, with_text
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.changed import Changed
from dreams.engines.rules.questions.same import cited, place_of, subject_of
from dreams.engines.types import Edit, Option, Question
from dreams.lib.prose.comparing import TELLING
from dreams.lib.prose.exchanges import things
from dreams.lib.prose.statement_index import Statement, StatementIndex
from dreams.lib.prose.values import Value, read

WEIGHT = 0.55
SHORT_NUMBER = 2  # digits: "5" is named everywhere
MOST_LINES = 200  # of an edit that are compared


def leaning(asking: Asking, index: StatementIndex, exchanges: Sequence[Changed]) -> Iterator[Question]:
    """One question for each statement that still has the old value."""
    for each in (*exchanges, *_exchanged(asking.edits)):
        for statement in _having(index, each):
            if statement not in each.about and not asking.is_touched(place_of(statement)):
                yield from _question(asking, statement, each)


def _having(index: StatementIndex, changed: Changed) -> Iterator[Statement]:
    """The statements of bodies that name the old value, and what it was of."""
    if changed.thing:
        for thing, about in things(index, changed.was):
            yield from (
                each for each in about if thing == changed.thing and with_text(each, changed.old, changed.new)
            )
        return
    key = next((value.key for value in read(changed.old).values), changed.old)
    if index.is_rare(key) and not (key.isdigit() and len(key) <= SHORT_NUMBER):
        yield from (each for each in index.leans_on(key) if _is_about_it(each, changed, key))


def _is_about_it(statement: Statement, changed: Changed, key: str) -> bool:
    """Whether it names what the value was of: another value that was beside it, or two words."""
    mine, theirs = statement.reading, read(changed.was)
    if (mine.anchors & theirs.anchors) - {key}:
        return True
    both = [word for word, weight in mine.terms.items() if weight >= TELLING and word in theirs.terms]
    return len(set(both) - {key}) > 1


def _exchanged(edits: Sequence[Edit]) -> Iterator[Changed]:
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
                yield Changed("", surface(old, pair[0]), surface(new, pair[1]), old, (), edit.citations)


def _one_for_another(old: str, new: str) -> tuple[Value, Value] | None:
    mine, theirs = read(old), read(new)
    gone = [value for value in mine.values if value.key not in theirs.anchors]
    come = [value for value in theirs.values if value.key not in mine.anchors]
    return (gone[0], come[0]) if len(gone) == len(come) == 1 else None


def _question(asking: Asking, statement: Statement, exchange: Changed) -> Iterator[Question]:
    wording = with_text(statement, exchange.old, exchange.new)
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
