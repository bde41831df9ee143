"""Finds what a person clearly asked for, corrected, decided or confirmed in a session, or where something is. Pure.

It finds more than a dream learns without asking, because each becomes a card for the person, and less than a dream asks about.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dreams.conf import Config
from dreams.engines.rules.notes.known import KnownStatements
from dreams.engines.rules.notes.tree import Files, Recorder, Tree
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.steps.learning import learn_each
from dreams.engines.rules.user_statements.in_passing import AT_HAND
from dreams.engines.rules.user_statements.lessons import Lesson, all_statements, gather, repeated
from dreams.engines.rules.user_statements.phrases import TROUBLE, is_own_word
from dreams.engines.rules.user_statements.prompts import Heard, read_prompts
from dreams.engines.rules.user_statements.requests import Wish, wishes
from dreams.engines.rules.user_statements.speech import asks, typed_lines
from dreams.engines.rules.user_statements.statements import names_change
from dreams.engines.types import Citation, Edit, Job, Repeated, Reporter, SessionBrief, Silent
from dreams.lib.agents import transcripts
from dreams.lib.prose.values import read

_PLACE = re.compile(r"https?://\S+|\b[\w-]+(?:\.[\w-]+)+/\S+")
_IS_AT = re.compile(r"\b(?:is|are|lives?|kept|tracked|documented|found)\b[^?]*$", re.IGNORECASE)
_ONE_OF_MANY = re.compile(r"/#?\d+\b")  # tickets and pull requests are current work, not places
_OURS = re.compile(r"(?:we|our|the)\b", re.IGNORECASE)
_FIX = re.compile(r"(?:the|our) (?:fix|solution|workaround)\b[^.?]{0,60}? (?:is|was)\b", re.IGNORECASE)
_DECIDED = re.compile(
    r"(?:we|the team)(?:['’]ve| have)? (?:decided|agreed) (?:to|that|on|against|not)\b", re.I
)

_YES = re.compile(
    r"(?:(?:yes|yeah|yep|right|correct|exactly|indeed|that['’]?s (?:right|correct|it))[\s,.!]*){1,3}",
    re.IGNORECASE,
)
_HELD_OUT = re.compile(
    r"(?:so|understood|(?:just )?to confirm)\b[\s,:—-]*(?P<told>[^?]+?)(?:,? (?:right|correct))?\s*\?",
    re.IGNORECASE,
)


def said(job: Job, report: Reporter) -> tuple[list[Lesson], list[Repeated]]:
    """Statements of the person in `job.sessions` that neither memory nor `job.known` has, oldest first; and those that memory has."""
    rec = Recorder(Tree(job.workspace, report), report)
    heard = read_prompts(job, report)
    agreed: dict[str, tuple[Citation, ...]] = {}
    for each in heard:
        each.wishes += _plainly(each)
        for wish, cited in _agreed(each):
            each.wishes.append(wish)
            agreed[wish.quote] = cited
    again = [*repeated(job, rec.tree, heard)]
    found = gather(job, rec, heard)
    lessons = [*found.lessons, *found.asked]
    for lesson in lessons:
        lesson.citations = [one for cited in lesson.citations for one in agreed.get(cited.quote, (cited,))]
        if _PLACE.search(lesson.text):
            lesson.kind = "reference"
    return sorted(lessons, key=lambda lesson: min(str(cited.at or "") for cited in lesson.citations)), again


def _plainly(heard: Heard) -> Iterator[Wish]:
    """Statements that are meant to last although nobody asked to remember them."""
    known = [wish.quote for wish in heard.wishes if wish.handling in {"learn", "ask"}]
    told = (*_told(heard), *_stated(heard.prompt.text))
    for text, quote in sorted(told, key=lambda pair: -len(pair[1])):
        if not any(quote in other for other in known) and any(
            wish.text for wish in wishes(f"Remember that {text}")
        ):
            known.append(quote)
            yield Wish(text, quote, fact=True, in_passing=True)


def _told(heard: Heard) -> Iterator[tuple[str, str]]:
    """Decisions and corrections. "Now" and "since" alone mostly report what just happened: of 30 such cards of public sessions
    none was worth keeping."""
    told = [(one.text, one.text, one.quote) for one in heard.stated if one.corrected and not one.unsure]
    told += [(one.text, one.quote, one.quote) for one in heard.typed if names_change(one.text)]
    for text, line, quote in told:
        if _OURS.match(text) and read(text).anchors and not AT_HAND.search(text):
            yield line, quote


def _stated(prompt: str) -> Iterator[tuple[str, str]]:
    """Statements about where something is, how something was fixed, and general decisions."""
    for sentence in (each for line in typed_lines(prompt) for each in sentences(line)):
        is_decided = _DECIDED.match(sentence) and not AT_HAND.search(sentence)
        if (_is_place(sentence) or _FIX.match(sentence) or is_decided) and not asks(sentence):
            yield sentence, sentence


def _is_place(sentence: str) -> bool:
    """Whether it says where something is: one address after the verb, and no problem with it."""
    at = None if TROUBLE.search(sentence) or _ONE_OF_MANY.search(sentence) else _PLACE.search(sentence)
    return bool(at and _IS_AT.search(sentence[: at.start()]))


def _agreed(heard: Heard) -> Iterator[tuple[Wish, tuple[Citation, ...]]]:
    """What the agent last asked and the person confirmed with a plain yes, if it names something ("ready to commit?" does not).
    The agent's words are cited first; missing transcripts are skipped."""
    if not isinstance(heard.source, SessionBrief) or not _YES.fullmatch(heard.prompt.text.strip()):
        return
    try:
        turn = transcripts.answered(heard.source.path, heard.prompt.offset, line=heard.prompt.line_no)
    except OSError:
        return
    said = (sentences(turn.parts[-1].text) or [""])[-1] if turn else ""
    held = _HELD_OUT.fullmatch(said)
    if turn and held and is_own_word(held["told"]) and read(held["told"]).anchors:
        of_the_agent = replace(
            heard.citation(said), role="assistant", line_no=turn.line, offset=turn.offset, at=turn.at
        )
        wish = Wish(held["told"], said, fact=True, in_passing=True)
        yield wish, (of_the_agent, heard.citation(heard.prompt.text))


def known(job: Job) -> KnownStatements:
    """What memory says, and `job.known`."""
    return KnownStatements((*job.known, *all_statements(Tree(job.workspace, Silent()))))


@dataclass(frozen=True, slots=True)
class PlacedStatements:
    """The edits that add statements to memory. `operations` has one name for each statement, in order: None if memory
    already says it, "" if it has no place."""

    edits: Sequence[Edit]
    operations: Sequence[str | None]


def place(files: Files, lessons: Sequence[Lesson], config: Config) -> PlacedStatements:
    """Add each statement where it belongs, as a separate operation. Nothing is changed or removed."""
    report = Silent()
    tree = Tree(files, report)
    memory = KnownStatements(all_statements(tree))
    fresh = [lesson for lesson in lessons if not memory.says(lesson.text)]
    rec = Recorder(tree, report)
    names = iter(learn_each(rec, fresh, config))
    return PlacedStatements(rec.edits, [next(names) if lesson in fresh else None for lesson in lessons])
