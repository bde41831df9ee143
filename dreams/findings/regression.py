"""Are questions that the old memory answered still answered by what an agent would load? PURE.

The ledger says whether a statement still exists; this says whether an agent still finds it: loaded for the question, one
link away in a memory that the index names, or out of reach (behind the index's cut, or in a memory without a row). The
questions come from past sessions and from the notes that change.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from dreams.findings.base import ChangedHunk, NewFinding, Subject
from dreams.findings.ledger import facts, keeping
from dreams.findings.ledger.state import DirectoryStatements, PlacedStatement, statements_of
from dreams.findings.ledger.units import Unit, units_of
from dreams.findings.ledger.wordings import LONGEST
from dreams.findings.taxonomy import pointed_to
from dreams.lib import memdir
from dreams.lib.files.text import decode, encode, plural, shortened
from dreams.lib.prose import lexicon, recall
from dreams.lib.prose.statements import statement

MOST_ASKED = 40  # prompts used as questions; chosen
MOST_NOTED = 60  # questions from notes; chosen
MOST_PROMPTS = 300  # prompts of past sessions that are considered
LONGEST_PROMPT = 400  # longer ones are tasks or pasted text
SHARED = 2  # least words of meaning shared by a prompt and its answer
LIKE = 0.5  # least share of a prompt's weight in its answer


@dataclass(frozen=True, slots=True)
class RegressionQuestion:
    """`text` is the question, `answer` the old statement that answers it. `asked`: a person typed it."""

    text: str
    answer: PlacedStatement
    asked: bool


def questions(subject: Subject, old: DirectoryStatements) -> list[RegressionQuestion]:
    """Questions, those of past sessions first; each old statement answers at most one."""
    found = list(_from_sessions(subject, old))
    known = {question.answer.unit.key for question in found}
    noted = (one for one in _from_notes(subject) if one.answer.unit.key not in known)
    return found + [question for question, _ in zip(noted, range(MOST_NOTED), strict=False)]


def _from_sessions(subject: Subject, old: DirectoryStatements) -> Iterator[RegressionQuestion]:
    seen: set[str] = set()
    topic = functools.cache(lambda path: _topic(path, subject.before))
    wished = {c.quote for hunk in subject.hunks for c in hunk.citations if c.role == "user"} - {""}
    for prompt in subject.asked[:MOST_PROMPTS]:
        text = " ".join(prompt.split())
        # Prompts that asked for this change are left out.
        if len(text) > LONGEST_PROMPT or len(seen) >= MOST_ASKED or any(quote in text for quote in wished):
            continue
        answer = next((s for s in old.most_similar(text) if _answers(text, s, topic)), None)
        if answer and answer.unit.key not in seen:
            seen.add(answer.unit.key)
            yield RegressionQuestion(text, answer, asked=True)


def _answers(prompt: str, standing: PlacedStatement, topic: Callable[[str], str]) -> bool:
    """Whether a statement has most of the prompt's words, counting its memory's topic, and says something more."""
    unit = standing.unit
    if unit.kind in {"heading", "title", "field"} or not facts.shared_words(prompt, unit.text):
        return False
    placed = f"{topic(standing.path)}: {unit.text}"
    beyond = set(statement(unit.text[:LONGEST]).weights) - set(statement(prompt).weights)
    many = len(facts.shared_words(prompt, placed)) >= SHARED
    return many and facts.coverage(prompt, placed) >= LIKE and bool(beyond)


def _from_notes(subject: Subject) -> Iterator[RegressionQuestion]:
    """Questions from changed files and rows: a statement without the words that are its answer."""
    for path, wanted in _touched(subject).items():
        topic = _topic(path, subject.before)
        for unit in units_of(path, subject.before.get(path)):
            near = wanted is None or any(n in wanted for n in range(unit.first_line, unit.last_line + 1))
            if near and unit.kind in {"sentence", "row", "table"} and (text := _without_answer(unit)):
                yield RegressionQuestion(f"{topic}: {text}", PlacedStatement(path, unit), asked=False)


def _topic(path: str, before: Mapping[str, bytes]) -> str:
    """The topic of a memory, from itself or from the index: what somebody who asks would know."""
    front = memdir.parse(before[path]).frontmatter if path in before else None
    if front and (front.name or front.description):
        return " ".join(filter(None, [front.name, front.description])).replace("_", " ").replace("-", " ")
    index = memdir.parse_index(decode(before.get(memdir.INDEX_NAME, b"")))
    return " ".join(f"{row.title} {row.hook}" for row in index.rows_for(path))


def _touched(subject: Subject) -> dict[str, set[int] | None]:
    """Path → the lines (1-based) to ask about; None for all. Of an index only removed rows."""
    found: dict[str, set[int] | None] = {}
    for hunk in subject.hunks:
        if not memdir.is_index(hunk.path):
            found[hunk.path] = None
            continue
        lines = found.setdefault(hunk.path, set())
        if lines is not None:
            lines.update(range(hunk.base_start + 1, hunk.base_start + 1 + len(hunk.removed)))
    rowless = frozenset[str]().union(*map(_led_to, subject.hunks))
    return found | dict.fromkeys(sorted(rowless & subject.before.keys() - {memdir.INDEX_NAME}))


def _led_to(hunk: ChangedHunk) -> Set[str]:
    """The memories that a removed row of an index pointed to, which may no longer be found."""
    return pointed_to({hunk.path: encode("\n".join(hunk.removed))}).keys()


def _without_answer(unit: Unit) -> str:
    """The statement without numbers, code and names; "" if too little remains."""
    made = statement(unit.text[:LONGEST])
    anchors = {item.word for item in made.items if item.anchor}
    words = [item.word for item in made.items if not item.anchor and item.word not in lexicon.GENERIC]
    return " ".join(dict.fromkeys(words)) if anchors and len(set(words)) > 1 else ""


CHECK = "regression"
MOST_QUOTED = 10  # answers of one memory
Outcome = Literal["answered", "changed", "linked", "unreachable", "gone"]


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question that the old memory answered. `where` is the statement that answers it now, or that is out of reach.

    An answer is "linked" if its memory is not loaded for the question, but the loaded index names it.
    """

    question: RegressionQuestion
    outcome: Outcome
    where: PlacedStatement | None = None


def run(subject: Subject) -> list[CheckedQuestion]:
    """The questions that were answered before, each with its result now."""
    old, new = statements_of(subject, subject.before), statements_of(subject, subject.after)
    limits = recall.IndexLimits(subject.config.index_max_lines, subject.config.index_max_bytes)
    before, after = recall.shelf(subject.before, limits), recall.shelf(subject.after, limits)
    rows = memdir.parse_index(decode(after.index))
    return [
        _checked(question, statements_of(subject, recall.texts_for(after, question.text)), rows, (old, new))
        for question in questions(subject, old)
        if _standing(question, statements_of(subject, recall.texts_for(before, question.text)))
    ]


def check(subject: Subject) -> Iterator[NewFinding]:
    """A warning for each lost answer, and one line about all of them if any is lost.

    Answers one link away are reported once per memory.
    """
    checked = run(subject)
    # What no longer exists is in the ledger, unless a person asked about it.
    lost = [one for one in checked if one.outcome in {"unreachable", "gone" if one.question.asked else ""}]
    for one in lost:
        yield _lost(one, subject)
    if lost:
        told = f"{plural(len(checked), 'question')} that the notes answered before"
        said = f"An agent would no longer find an answer to {len(lost)} of {told}."
        yield NewFinding(CHECK, "questions", "info", said, about="questions")
    linked = sorted((one for one in checked if one.outcome == "linked"), key=_path)
    for path, answers in groupby(linked, key=_path):
        yield _linked(path, list(answers), subject)


def _checked(
    question: RegressionQuestion,
    loaded: DirectoryStatements,
    rows: memdir.Index,
    states: tuple[DirectoryStatements, DirectoryStatements],
) -> CheckedQuestion:
    """`loaded` is what an agent loads, `rows` of the index; `states` the directory before and after."""
    old, new = states
    stands = _standing(question, loaded)
    if stands:
        return CheckedQuestion(question, "answered", stands)
    said = question.answer.unit.text
    # A neighbouring entry of the list was no answer before.
    came = (s for s in new.most_similar(said) if not old.same_words(s.unit))
    other = next((s for s in came if keeping.replaced(said, s.unit.text)), None)
    if other:
        return CheckedQuestion(question, "changed", other)
    somewhere = _standing(question, new)
    if somewhere is None:
        return CheckedQuestion(question, "gone")
    return CheckedQuestion(question, "linked" if rows.rows_for(somewhere.path) else "unreachable", somewhere)


def _standing(question: RegressionQuestion, state: DirectoryStatements) -> PlacedStatement | None:
    unit = question.answer.unit
    return state.same_words(unit) or state.container(unit.text)


def _place(one: CheckedQuestion, subject: Subject) -> tuple[str, str]:
    """The file and hunk that removed the answer: its own, or the row that led to it; otherwise where it was."""
    path = one.question.answer.path
    own = (hunk for hunk in subject.hunks if hunk.path == path)
    rows = (hunk for hunk in subject.hunks if path in _led_to(hunk))
    found = next(own, None) or next(rows, None)
    return (found.path, found.hunk_id) if found else (path, "")


def _lost(one: CheckedQuestion, subject: Subject) -> NewFinding:
    answer = shortened(one.question.answer.unit.text, 160)
    path, hunk = _place(one, subject)
    asked = (
        f"You asked “{shortened(one.question.text, 120)}” in a past session. " if one.question.asked else ""
    )
    if one.outcome == "gone":
        said = f"{asked}The answer, “{answer}”, no longer appears anywhere."
        remedy = "Keep it if you may ask again; the reason for its removal is shown with the line."
    else:
        place = f"{one.where.path}, line {one.where.unit.first_line}" if one.where else "elsewhere"
        said = f"{asked}“{answer}” is still there ({place}), but an agent would no longer find it."
        remedy = "Give that memory an index row, or a description with the words people would ask with."
    return NewFinding(
        CHECK, "answer-lost", "warn", said, remedy, path, hunk, about=one.question.answer.unit.key
    )


def _path(one: CheckedQuestion) -> str:
    return one.where.path if one.where else ""


def _linked(memory: str, answers: Sequence[CheckedQuestion], subject: Subject) -> NewFinding:
    quoted = ", ".join(f"“{shortened(one.question.answer.unit.text, 80)}”" for one in answers[:MOST_QUOTED])
    more = f", and {len(answers) - MOST_QUOTED} more" if len(answers) > MOST_QUOTED else ""
    told = f"{plural(len(answers), 'answer')} would be found only where an agent opens {memory} from its row in the index"
    path, hunk = _place(answers[0], subject)
    return NewFinding(
        CHECK, "answer-linked", "info", f"{told}: {quoted}{more}.",
        "If you ask for it often, say so in the row or in the description.", path, hunk, about=memory,
    )  # fmt: skip
