"""From what was typed to what is new: wishes gathered over sessions, each once, with all its evidence. Pure."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dreams.engines.rules.notes.bodies import statements
from dreams.engines.rules.notes.days import names_a_day, spans
from dreams.engines.rules.notes.known import Known
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.user_statements.in_passing import Sureness
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.remember_requests import Verdict, Wish
from dreams.engines.rules.user_statements.retractions import REVERTED
from dreams.engines.rules.user_statements.stated_changes import Telling, asserted, tellings
from dreams.engines.rules.value_updates import changed_by
from dreams.engines.types import Citation, Job
from dreams.lib import memdir
from dreams.lib.prose import dates, similarity
from dreams.lib.prose.pieces import keys_of, pieces

MOST_LESSONS = 200
MOST_COMPARED = 200
LEAST_MORE = 2  # words by which a wish must say more than memory
# What was said in passing in so many sessions was not meant for one task.
MANY_SESSIONS = 3
SEVERAL_SESSIONS = 2
_MINE = re.compile(
    r"(?:i|i['’](?:m|ve|d|ll)|my|me|mine)\b(?!\s+(?:want|need|would like) you\b)", re.IGNORECASE
)
_ORDER_OF_SURENESS: tuple[Sureness, ...] = ("certain", "likely", "weak")
_SURENESS: dict[Verdict, Sureness] = {"ask": "likely", "hint": "weak"}
_NOW = re.compile(r"\bnow\b|\bno longer\b", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:please|always|never|do|don['’]?t|use|avoid|prefer|keep|run|write|ask|stop|make|check|add|put|call|name|answer|reply|"
    r"explain|commit|push|test|you|i (?:want|need|would like) you)\b",
    re.IGNORECASE,
)


@dataclass
class Lesson:
    """Something to learn: its words, its type, and where it was said. What was said in passing may be less than certain."""

    text: str
    kind: str
    citations: list[Citation] = field(default_factory=list)
    twin: str = ""  # what memory says already, in fewer words
    changes: tuple[Telling, ...] = ()  # what it tells as changed, as it was said
    in_passing: bool = False
    sureness: Sureness = "certain"

    @property
    def sessions(self) -> int:
        return len({cited.session_pk for cited in self.citations})


@dataclass
class Gathered:
    lessons: list[Lesson] = field(default_factory=list)
    asked: list[Lesson] = field(default_factory=list)  # likely: the person decides
    prompts: int = 0
    known: int = 0
    secrets: int = 0
    undated: int = 0


def gather(job: Job, rec: Recorder, heard: Sequence[Heard]) -> Gathered:
    """Everything asked for in these sessions that memory does not say yet."""
    found = Gathered(prompts=len(heard))
    said: list[Lesson] = []
    for each in heard:
        rec.report.checkpoint()
        _bring_up_to_date(said, each)
        for wish in each.wishes:
            lesson = _lesson(job, each, wish, found)
            if lesson is not None:
                said.append(lesson)
    memory = Known()
    for text in (*job.known, *all_statements(rec.tree)) if said else ():
        rec.report.checkpoint()
        memory.add(text)
    for lesson in map(_weighed, _once(said)):
        if lesson.sureness == "weak":
            continue
        as_said, *now = _readings(lesson)
        known = any(map(memory.says, now))
        lesson.twin = "" if known else _said_in_fewer_words(memory, as_said)
        if known or (not lesson.twin and memory.says(as_said)):
            found.known += 1
        elif lesson.sureness == "likely":
            found.asked.append(lesson)
        elif len(found.lessons) < MOST_LESSONS:
            found.lessons.append(lesson)
    return found


def _weighed(lesson: Lesson) -> Lesson:
    """Surer of what was typed in several sessions."""
    if lesson.sureness == "likely" and lesson.sessions >= MANY_SESSIONS:
        lesson.sureness = "certain"
    if lesson.sureness == "weak" and lesson.sessions >= SEVERAL_SESSIONS:
        lesson.sureness = "likely"
    return lesson


def _said_in_fewer_words(memory: Known, text: str) -> str:
    """A statement that says the same, and lacks words that tell something."""
    twin = memory.find(text) or ""
    if not twin or memory.says(text, whole=True):
        return ""
    more = keys_of(text) - keys_of(twin)
    return twin if keys_of(twin) <= keys_of(text) and len(more) >= LEAST_MORE else ""


def drop(found: Gathered, told: Iterable[str]) -> None:
    """Leave out what an update has brought into memory already."""
    said = {similarity.normalised(text) for text in told}
    found.lessons = [each for each in found.lessons if not _is_told(each, said)]
    found.asked = [each for each in found.asked if not _is_told(each, said)]


def _is_told(lesson: Lesson, said: set[str]) -> bool:
    return not said.isdisjoint(map(similarity.normalised, _readings(lesson)))


def drop_twins(found: Gathered) -> None:
    """Leave out what memory says in fewer words all the same: it was only wanted to put those anew."""
    found.lessons = [lesson for lesson in found.lessons if not lesson.twin]


def _readings(lesson: Lesson) -> list[str]:
    """A fact as it was said, and what of it is so now: "it runs at 4, not at 3" is in memory once 4 is."""
    now = [telling.core for telling in lesson.changes] if lesson.kind == "project" else []
    return [lesson.text, *now]


def all_statements(tree: Tree) -> Iterable[str]:
    """What memory says anywhere, logs aside."""
    for path in sorted(tree.texts):
        if not is_log(path):
            yield from statements(tree.document(path))
        if is_index(path):
            for row in memdir.parse_index(tree.texts[path]).rows:
                yield row.hook


def _lesson(job: Job, heard: Heard, wish: Wish, found: Gathered) -> Lesson | None:
    if wish.verdict == "secret":
        found.secrets += 1
        return None
    if wish.verdict == "forget":
        return None
    text = _dated(" ".join(wish.text.split()), heard.prompt.at, job.time_zone)
    if text is None:
        found.undated += 1
        return None
    return Lesson(
        text,
        kind_of(wish),
        list(heard.citations(wish.quote)),
        changes=_changes(wish.text),
        in_passing=wish.in_passing,
        sureness=_SURENESS.get(wish.verdict, "certain"),
    )


def _changes(text: str) -> tuple[Telling, ...]:
    """What a statement of one sentence tells as changed."""
    found = tellings(text) if len(sentences(text)) == 1 else []
    told = tuple(telling for telling in found if not telling.bare)
    return told or ((asserted(text, text),) if _NOW.search(text) else ())


def _dated(text: str, at: dt.datetime | None, zone: dt.tzinfo) -> str | None:
    """Relative dates as seen when it was said; None where nobody knows when that was."""
    if at is None:
        return None if names_a_day(text) else text
    local = at.astimezone(zone)
    written = dates.rewrite(text, spans(text, local))
    # The day that it is learnt must not be taken for the day that it was said.
    return None if spans(written, local.date() + dt.timedelta(days=400)) else written


def kind_of(wish: Wish) -> str:
    """About the person, about how to work, or a fact of the project."""
    if _MINE.match(wish.text):
        return "user"
    return "project" if (wish.fact or wish.of_project) and not _ORDER.match(wish.text) else "feedback"


def _bring_up_to_date(said: list[Lesson], heard: Heard) -> None:
    """A later prompt that tells another value changes what is to be learnt, as it would change what is in memory."""
    for telling in heard.tellings:
        for lesson in said[-MOST_COMPARED:]:
            changed = changed_by(telling, lesson.text)
            if changed is not None:
                lesson.text = changed.filled(lesson.text)
                lesson.citations += heard.citations(telling.quote)
        said[:] = [lesson for lesson in said if not _undone(lesson, telling)]
    if REVERTED.search(heard.words):
        words = keys_of(heard.words)
        said[:] = [lesson for lesson in said if not any(_speaks_of(words, each) for each in lesson.changes)]


def _speaks_of(words: frozenset[str], change: Telling) -> bool:
    """Whether most of what a change was about is spoken of, values aside."""
    about = change.about - keys_of(change.new) - keys_of(change.old)
    about -= {piece.key for piece in pieces(change.core) if piece.shape == "number"}
    named = {piece.key for piece in pieces(change.core) if piece.is_value} & about
    return bool(named & words) or (bool(about) and 2 * len(about & words) >= len(about))


def _undone(lesson: Lesson, telling: Telling) -> bool:
    """ "We moved it from A to B", and later "it is A now": the move is no news any more."""
    return any(
        bool(each.about & telling.about)
        and each.core != telling.core
        and (
            bool(keys_of(each.new) & keys_of(telling.old))
            or (bool(keys_of(each.old)) and keys_of(each.old) <= keys_of(telling.new or telling.core))
        )
        for each in lesson.changes
    )


def _once(said: Sequence[Lesson]) -> list[Lesson]:
    """The same wish in several sessions is one lesson, in its fullest wording, with all its evidence."""
    known = Known()
    kept: dict[str, Lesson] = {}
    for lesson in sorted(said, key=lambda each: -len(each.text)):
        twin = known.find(lesson.text)
        if twin is None:
            known.add(lesson.text)
            kept[similarity.normalised(lesson.text)] = lesson
        else:
            fuller = kept[similarity.normalised(twin)]
            fuller.citations += lesson.citations
            fuller.sureness = min(fuller.sureness, lesson.sureness, key=_ORDER_OF_SURENESS.index)
    # In the order in which they were said.
    first = {id(lesson): place for place, lesson in enumerate(said)}
    return sorted(kept.values(), key=lambda lesson: first[id(lesson)])
