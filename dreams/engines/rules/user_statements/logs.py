"""Finds what an agent's daily log reports as requested, decided or to be remembered. PURE.

A log is the agent's word, not the person's. Marked lines ("Remember: …", "Decision: …") and lasting wishes of the person are
certain; other decisions may be for one task, so the person is asked. A value that differs from memory is asked about too, and
nothing is removed or reworded because of a log."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.requests import MAX_STATEMENT, Wish, wishes
from dreams.engines.rules.user_statements.statements import Typed, typed_sentences
from dreams.engines.types import Job, LogBrief, PromptBrief, Reporter

_STAMP = re.compile(
    r"\s*(?:[-*+]\s+)?[*_`]{0,3}\[?(?:\d{4}-\d\d-\d\d[ T]?)?(?:\d{1,2}:\d\d(?::\d\d)?)?(?: ?(?:am|pm|utc|z))?\]?[*_`]{0,3}\s*[:–—|-]?\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*[-*+]\s+")
Mark = Literal["remember", "decided", "asked"]
_MARKS: tuple[tuple[Mark, str], ...] = (
    ("remember", r"(?:to )?remember(?: for later)?"),
    ("decided", r"decided|decisions?(?: made| taken)?|agreed|agreements?"),
    ("asked", r"(?:the )?(?:user|person)(?: (?:asked|requests?|requested|said|prefers|preferences?|corrections?|corrected(?: me)?))?|asked|corrections?|preferences?"),
)  # fmt: skip
_MARKED = re.compile(
    rf"(?:#+\s+)?[*_]{{0,3}}(?:{'|'.join(f'(?P<{mark}>{words})' for mark, words in _MARKS)})[*_]{{0,3}}(?P<colon>:?)[*_]{{0,3}}\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_THAT = re.compile(r"remember that (?P<rest>\S.*)$", re.IGNORECASE)
_ASKED = re.compile(
    r"(?:the )?(?:user|person) (?:has )?(?:asked|told|requested|instructed|reminded|said|wants|wanted|corrected)(?: (?:me|us))?(?: (?:to|that))?[\s:,]+(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    r"(?:the )?(?:user|person) (?:always |never )?(?:prefers|likes|dislikes|hates)\b", re.IGNORECASE
)
_DECIDED = re.compile(
    r"(?:(?P<person>(?:the )?(?:user|person)(?: and (?:i|me))?)|(?:we|they|the team|i|[A-Z][\w.-]+))?\s*(?:have |has )?(?:decided|agreed) (?:to|that|on|against|not)\b",
    re.IGNORECASE,
)
_ANEW = re.compile(r"\b(?:now|no longer|any ?more|these days)\b", re.IGNORECASE)
_REPORTS = re.compile(r"\b(?:remember|deci|agree|ask|user|person|correct|preferen)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line without bullet and time; `mark` is its label or that of the heading above."""

    line_no: int
    quote: str
    text: str
    mark: Mark | None = None


def noted(job: Job, report: Reporter) -> list[Heard]:
    """The new lines that report something, by day."""
    found: list[Heard] = []
    for log in sorted(job.logs, key=lambda log: (log.day or dt.date.min, log.path)):
        report.checkpoint()
        at = dt.datetime.combine(log.day, dt.time(12), job.time_zone) if log.day else None
        for entry in _entries(log):
            reported = _reported(entry)
            changes = _changes(entry) if reported or _ASKED.match(entry.text) else []
            if reported or changes:
                prompt = PromptBrief(entry.quote, entry.line_no, 0, at)
                found.append(Heard(log, prompt, reported, changes))
    return found


def _changes(entry: _Entry) -> list[Typed]:
    """Its sentences about a change."""
    return [
        replace(each, quote=entry.quote)
        for each in typed_sentences(_bare(entry))
        if each.changes and not each.doubted
    ]


def _entries(log: LogBrief) -> Iterator[_Entry]:
    """The new lines. A heading, or a line with only a mark, applies to the bullets below it."""
    below: Mark | None = None
    for number, line in enumerate(log.text.split("\n"), start=1):
        quote, is_bullet = line.strip(), _BULLET.match(line) is not None
        text = _STAMP.sub("", line, count=1).strip()
        mark, rest = _mark_of(text) if _REPORTS.search(text) else (None, text)
        if mark and not rest:
            below = mark
            continue
        if quote and not is_bullet:
            below = None
        if number in log.new and text and len(quote) <= MAX_STATEMENT:
            yield _Entry(number, quote, rest, mark or (below if is_bullet else None))


def _mark_of(text: str) -> tuple[Mark | None, str]:
    found = _MARKED.match(text)
    if found is None or not (found["colon"] or (text.startswith("#") and not found["rest"])):
        return None, text
    return next(mark for mark, _ in _MARKS if found[mark]), found["rest"]


def _bare(entry: _Entry) -> str:
    """The reported words of the person, without the reporting verb."""
    found = _ASKED.match(entry.text)
    return found["rest"] if found else entry.text


def _reported(entry: _Entry) -> list[Wish]:
    """The statements to keep from a line, each with the line as its quote. Changes are asked about, as they may change memory."""
    return [
        replace(
            wish,
            quote=entry.quote,
            in_passing=True,
            handling="ask" if wish.handling == "learn" and _ANEW.search(wish.text) else wish.handling,
        )
        for wish in _wishes(entry)
    ]


def _wishes(entry: _Entry) -> Iterator[Wish]:
    that = _THAT.match(entry.text)
    if entry.mark in {"remember", "decided"} or that:
        yield from _kept(that["rest"] if that else entry.text)
    elif _PREFERS.match(entry.text):
        yield from _kept(entry.text)
    elif entry.mark == "asked" or _ASKED.match(entry.text):
        yield from (wish for wish in wishes(_bare(entry)) if wish.handling in {"learn", "ask", "secret"})
    elif decided := _DECIDED.match(entry.text):
        for wish in _kept(entry.text):
            yield wish if decided["person"] or wish.handling == "secret" else replace(wish, handling="ask")


def _kept(text: str) -> list[Wish]:
    """The statement as a wish, if one could ask to remember it; else empty."""
    return [
        wish for wish in wishes(f"Remember that {text}")[:1] if wish.handling in {"learn", "ask", "secret"}
    ]
