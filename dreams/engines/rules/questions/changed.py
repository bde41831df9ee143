"""Statements of memory that something typed in a session gives another value. PURE."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.rewriting import Rewording, reword, with_text
from dreams.engines.rules.questions.same import cited, place_of, subject_of
from dreams.engines.rules.user_statements.clauses import opened
from dreams.engines.rules.user_statements.phrases import OTHERS, SUPPOSED, TROUBLE, UNSURE
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.speech import asks, typed_lines
from dreams.engines.types import Citation, Option, Place, Question
from dreams.lib.files.text import quoted
from dreams.lib.prose.comparing import TELLING, says_more
from dreams.lib.prose.exchanges import exchange, is_told_past, things
from dreams.lib.prose.statement_index import Statement, StatementIndex
from dreams.lib.prose.values import Value, read

MOST_PROMPT = 2_000  # characters of a prompt that are read: who pastes more tells no change
MOST_WORDS = 40  # of a typed sentence
MOST_SHORT = 16  # words of a statement that a typed one may replace as a whole
MOST_PLACES = 5  # statements that one newer one replaces
WEIGHT = 0.85
_SINCE = re.compile(
    r"\b(?:now|no longer|not \S+ any ?more|any ?more|these days|from today|from now on|going forward|as of|since|instead|"
    r"moved|migrated|switched|changed|upgraded|bumped|raised|lowered|renamed|replaced|relicensed|rewrote|swapped|took over)\b|->|=>|→",
    re.IGNORECASE,
)
_WITH_HIM = re.compile(r"\b(?:please|you (?:have|need) to|i had to|once)\b", re.IGNORECASE)
_NOW = re.compile(
    r",?\s*\b(?:(?:from )?now(?: on)?|these days|from today(?: on)?|as of (?:now|today|this \w+)|(?:and )?not \S+(?: any ?more)?|instead of \S+)\b|\s*\([^()]*\)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that a person typed. `changes`: it has a word by which something is so only since a while."""

    text: str
    quote: str
    heard: Heard
    changes: bool

    @property
    def place(self) -> Place:
        found = self.heard.citations(self.quote)[-1]
        return Place(
            found.place, found.line_no, self.quote, found.session_pk, found.offset, found.role, found.at
        )


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
    asked: set[Statement] = set()
    for said in _said(asking.heard):
        past = [
            value.key for value in read(said.text).values if is_told_past(_written(said, value), said.text)
        ]
        for thing, known in things(index, said.text):
            about = [each for each in known if each not in asked]
            if any(key == thing or key.startswith(f"{thing}.") for key in past):
                continue
            if any(asking.is_touched(place_of(each)) for each in about) or _is_known(said, about):
                break  # then the others lean on it
            meant = _exchanged(said, thing, about) or _whole(index, said, about, thing)
            question = _question(asking, index, said, thing, meant) if meant else None
            if question:
                yield question
                asked.update(about)
                break


def _written(said: Said, value: Value) -> str:
    return said.text[value.start : value.end]


def _said(heard: Sequence[Heard]) -> Iterator[Said]:
    """Each plain sentence that was typed, the latest first, and what was agreed to."""
    for each in reversed(heard):
        for sentence in each.agreed.sentences if each.agreed else ():
            yield Said(sentence, sentence, each, changes=True)
        if any(wish.verdict == "forget" for wish in each.wishes) or len(each.prompt.text) > MOST_PROMPT:
            continue
        for line in typed_lines(each.prompt.text):
            for sentence in sentences(line):
                text = opened(sentence)[0].rstrip(" .!")
                if _tells(sentence, text):
                    yield Said(text, sentence, each, _SINCE.search(sentence) is not None)


def _tells(sentence: str, text: str) -> bool:
    """A plain statement: no question, no supposition, nobody else's word."""
    if len(sentence.split()) > MOST_WORDS or asks(sentence):
        return False
    bare = _WITH_HIM.sub("", text)
    return not any(table.search(bare) for table in (SUPPOSED, OTHERS, UNSURE, TROUBLE))


def _is_framed(said: Said, thing: str, statement: Statement) -> bool:
    """Whether words before a colon, which the statement has nothing of, say of the rest what it is: "an idea for later: …"."""
    head, colon, _ = said.text.partition(": ")
    mine = statement.reading.terms
    return bool(colon) and thing not in _names_in(head) and not any(word in mine for word in read(head).terms)


def _names_in(text: str) -> str:
    return text.lower().replace("_", "-")


def _is_known(said: Said, about: Sequence[Statement]) -> bool:
    """Whether memory says it."""
    new = read(said.text).anchors
    return len(new) > 1 and any(new <= each.reading.anchors for each in about)


@dataclass(frozen=True, slots=True)
class _Meant:
    """The statements that are changed, the older value or wording of them, and the new one."""

    statements: tuple[Statement, ...]
    old: str
    new: str


def _question(
    asking: Asking, index: StatementIndex, said: Said, thing: str, meant: _Meant
) -> tuple[Question, Changed] | None:
    old, new, statements = meant.old, meant.new, meant.statements
    is_value = old != statements[0].text
    wordings = everywhere(index, statements, old, new) if is_value else _all_of(index, statements, new)
    replacing = _replacing(asking, wordings, said)
    if replacing is None:
        return None
    places = (*(place_of(each) for each in statements), said.place)
    why = f"You wrote that this is {new.strip('`')} now; memory has {old.strip('`')}."
    if not is_value:
        why = f"You wrote {quoted(said.quote)}; memory has {quoted(old)}."
    history = _history(asking, statements, new, said) if is_value else ()
    options = (replacing, Option("keep", "Keep it as it is"), *history)
    citations = (*said.heard.citations(said.quote), *map(cited, statements))
    subject = f"{subject_of(statements)} {new.strip('`').lower()}"
    about = tuple(each.statement for each in wordings)
    return (
        Question("changed", subject, why, places, options, citations, WEIGHT),
        Changed(thing, old, new, statements[0].text, about, citations),
    )


def _exchanged(said: Said, thing: str, about: Sequence[Statement]) -> _Meant | None:
    """The statement with the value that the sentence surely gives another of, or gives in the same words; with it those that
    tell the same."""
    fit = []
    for each in about:
        made = exchange(each.text, said.text, thing, [other.text for other in about])
        words = _shared(each, said, thing)
        if made and (made.sure or words) and (made.named or not _is_framed(said, thing, each)):
            fit.append(((made.sure, words), each, made))
    if not fit:
        return None
    _, best, told = max(fit, key=lambda each: each[0])
    keys = told.old.key, told.new.key
    same = [
        each
        for _, each, made in fit
        if (made.old.key, made.new.key) == keys and (each == best or not says_more(each.text, best.text))
    ]
    return _Meant(tuple(same[:MOST_PLACES]), told.old.text, told.new.text)


def _shared(statement: Statement, said: Said, thing: str) -> int:
    """How many words, beside the thing, both have."""
    mine, theirs = statement.reading.terms, read(said.text).terms
    parts = set(re.split(r"[-_.\s]", thing)) | {thing}
    both = [word for word, weight in mine.items() if weight >= TELLING / 2 and word in theirs]
    return len({word for word in both if word not in parts and word not in thing})


def _whole(index: StatementIndex, said: Said, about: Sequence[Statement], thing: str) -> _Meant | None:
    """The short statements of one fact that a sentence which tells a change takes the place of as a whole."""
    if not said.changes or len(said.text.split()) > MOST_SHORT:
        return None
    short = [
        each
        for each in about
        if not _is_framed(said, thing, each)
        and len(each.text.split()) <= MOST_SHORT
        and len(sentences(each.text)) == 1
    ]
    alike = [each for each in short if _shared(each, said, thing)] or short
    new = _NOW.sub("", said.text).strip(" ,")
    one_fact = all(index.pair(alike[0], each).found.relation == "same" for each in alike[1:])
    return _Meant(tuple(alike), alike[0].text, new) if alike and one_fact else None


def _all_of(index: StatementIndex, meant: Sequence[Statement], new: str) -> list[Rewording]:
    """The statements, and what sums their files up in the same words, put anew."""
    told = {each.text for each in meant}
    paths = {each.path for each in meant}
    sums = [each for each in index.statements if each.target in paths and each.text in told]
    return [Rewording(each, new) for each in (*meant, *sums)]


def everywhere(index: StatementIndex, meant: Sequence[Statement], old: str, new: str) -> list[Rewording]:
    """The statements, and the descriptions and rows that sum their files up, with the new value or wording."""
    paths = {each.path for each in meant}
    sums = [each for each in index.statements if each.source != "body" and each.target in paths]
    made = [with_text(each, old, new) for each in (*meant, *sums)]
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
