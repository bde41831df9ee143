"""Combines the wishes of several sessions into lessons, each once with all its evidence. Pure."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from dreams.engines.rules.notes.bodies import statements
from dreams.engines.rules.notes.days import names_a_day, spans
from dreams.engines.rules.notes.known import KnownStatements
from dreams.engines.rules.notes.removing import with_text
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log
from dreams.engines.rules.user_statements.in_passing import Sureness
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.requests import Handling, Wish
from dreams.engines.rules.user_statements.speech import REVERTED, takes_back
from dreams.engines.rules.user_statements.statements import Stated, Typed, tells_change
from dreams.engines.types import Citation, Job, Repeated
from dreams.lib import memdir
from dreams.lib.files.text import encode
from dreams.lib.prose import comparing, dates, lexicon
from dreams.lib.prose.exchanges import exchange, is_last_number, is_told_past, says_only, words_of
from dreams.lib.prose.pieces import keys_of, pieces
from dreams.lib.prose.statement_index import SHORTEST
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.values import count_words, read

MOST_LESSONS = 200  # of one dream, so that a proposal stays readable; chosen
MOST_COMPARED = 200  # the newest, to bound time
# A remark in so many sessions was not meant for one task.
MANY_SESSIONS = 3
MOST_DENYING = 200  # characters of a prompt that takes something back
SEVERAL_SESSIONS = 2
LEAST_COMMON = 2  # words that two statements have in common that say the same
_WORD = re.compile(r"\w{3,}")
_MINE = re.compile(
    r"(?:i|i['’](?:m|ve|d|ll)|my|me|mine)\b(?!\s+(?:want|need|would like) you\b)|"
    r"(?:the )?user (?:always |never )?(?:prefers|likes|dislikes|hates)\b",
    re.IGNORECASE,
)
_ORDER_OF_SURENESS: tuple[Sureness, ...] = ("certain", "likely", "weak")
_SURENESS: dict[Handling, Sureness] = {"ask": "likely", "hint": "weak"}
_ORDER = re.compile(
    r"(?:please|always|never|do|don['’]?t|use|avoid|prefer|keep|run|write|ask|stop|make|check|add|put|call|name|answer|reply|"
    r"explain|commit|push|test|you|i (?:want|need|would like) you)\b",
    re.IGNORECASE,
)


@dataclass
class Lesson:
    """Something to learn: its words, its type, and its evidence. Remarks in passing may be uncertain."""

    text: str
    kind: str
    citations: list[Citation] = field(default_factory=list)
    in_passing: bool = False
    sureness: Sureness = "certain"

    @property
    def sessions(self) -> int:
        """The number of sessions, or of days of a log."""
        return len({cited.session_pk or cited.place for cited in self.citations})

    @property
    def is_logged(self) -> bool:
        """Whether only the agent's log says it."""
        return all(cited.role == "log" for cited in self.citations)

    def doubt(self) -> None:
        """Something speaks against it, so that it is at most likely."""
        self.sureness = max(self.sureness, "likely", key=_ORDER_OF_SURENESS.index)


@dataclass
class Gathered:
    lessons: list[Lesson] = field(default_factory=list)
    asked: list[Lesson] = field(default_factory=list)  # likely: the person decides
    prompts: int = 0
    known: int = 0
    secrets: int = 0
    undated: int = 0


def gather(job: Job, rec: Recorder, heard: Sequence[Heard]) -> Gathered:
    """The requests and remarks of these sessions that memory does not have yet."""
    found = Gathered(prompts=sum(not each.is_logged for each in heard))
    said: list[Lesson] = []
    for each in heard:
        rec.report.checkpoint()
        _bring_up_to_date(said, each)
        for wish in each.wishes:
            lesson = _lesson(job, each, wish, found)
            if lesson is not None:
                said.append(lesson)
    latest: dict[frozenset[str], Lesson] = {}  # of remarks in the same words but for values
    for lesson in reversed(said):
        words = frozenset(each.text.lower() for each in pieces(lesson.text) if not each.is_value)
        last = latest.setdefault(words, lesson)
        prompts = {(each.citations[0].session_pk, each.citations[0].line_no) for each in (last, lesson)}
        if lesson.in_passing and last.text != lesson.text and len(prompts) > 1:
            lesson.doubt()
    memory = KnownStatements()
    for text in (*job.known, *all_statements(rec.tree)) if said else ():
        rec.report.checkpoint()
        memory.add(text)
    for lesson in map(_weighed, _once(said)):
        if lesson.sureness == "weak":
            continue
        if memory.says(lesson.text):
            found.known += 1
        elif lesson.sureness == "likely":
            found.asked.append(lesson)
        elif len(found.lessons) < MOST_LESSONS:
            found.lessons.append(lesson)
    return found


def _weighed(lesson: Lesson) -> Lesson:
    """The lesson, more certain if it was typed in several sessions."""
    if lesson.sureness == "likely" and lesson.sessions >= MANY_SESSIONS:
        lesson.sureness = "certain"
    if lesson.sureness == "weak" and lesson.sessions >= SEVERAL_SESSIONS:
        lesson.sureness = "likely"
    return lesson


def drop(found: Gathered, told: Iterable[str]) -> None:
    """Remove the lessons that an update has already written into memory."""
    for lessons in (found.lessons, found.asked):
        lessons[:] = [each for each in lessons if not is_from(each, told)]


def doubt(found: Gathered, unsure: Set[str]) -> None:
    """Ask about the lessons that may replace something in memory, instead of adding them to it."""
    found.asked += [each for each in found.lessons if is_from(each, unsure)]
    found.lessons = [each for each in found.lessons if not is_from(each, unsure)]


def is_from(lesson: Lesson, said: Iterable[str]) -> bool:
    """Whether a lesson is one of these sentences, or a part of one."""
    words = {*map(comparing.normalised, (lesson.text, *(cited.quote for cited in lesson.citations)))}
    return any(comparing.normalised(text) in words for text in said)


def all_statements(tree: Tree) -> Iterable[str]:
    """All statements of memory, without logs."""
    for path in sorted(tree.texts):
        if not is_log(path):
            yield from (text for _, text in statements(tree.document(path), indexed=is_index(path)))


def repeated(job: Job, tree: Tree, heard: Sequence[Heard]) -> Iterator[Repeated]:
    """What people typed that memory, or an instruction file, says already."""
    told = {each: said for each in heard if not each.is_logged and (said := _typed_in(each))}
    if not told:
        return
    words = {word for said in told.values() for text in said for word in _beginnings(text)}
    files = [memdir.parse(encode(text)) for text in job.instructions.values()]
    instructed = (text for file in files for _, text in statements(file))
    memory = KnownStatements(
        text
        for text in (*all_statements(tree), *instructed)
        if not text.isascii() or len(words & _beginnings(text)) >= LEAST_COMMON
    )
    for each, said in told.items():
        known = {source: quote for text, quote in said.items() for source in memory.sources(text)}
        for source, quote in known.items():
            if count_words(source) >= SHORTEST:
                yield Repeated(each.citation(quote), source)


def _beginnings(text: str) -> set[str]:
    """Of words, to tell quickly which statements may say the same: taking one apart takes milliseconds."""
    return {word[:4] for word in _WORD.findall(text.lower())}


def _typed_in(heard: Heard) -> dict[str, str]:
    """The wishes and statements of a prompt, also doubted ones, each with its quote: memory says whether they are so."""
    wishes = (one for one in heard.wishes if one.handling not in {"secret", "forget"})
    said: Iterable[Wish | Typed | Stated] = (*wishes, *heard.typed, *heard.doubted, *heard.stated)
    return {one.text: one.quote for one in said}


def _lesson(job: Job, heard: Heard, wish: Wish, found: Gathered) -> Lesson | None:
    if wish.handling == "secret":
        found.secrets += 1
        return None
    if wish.handling == "forget":
        return None
    text = _dated(" ".join(wish.text.split()), heard.prompt.at, job.time_zone)
    if text is None:
        found.undated += 1
        return None
    return Lesson(
        text,
        kind_of(wish),
        [heard.citation(wish.quote)],
        in_passing=wish.in_passing,
        sureness=_SURENESS.get(wish.handling, "certain"),
    )


def _dated(text: str, at: dt.datetime | None, zone: dt.tzinfo) -> str | None:
    """The text with relative dates written out; None if it is unknown when it was said, or one remains."""
    if at is None:
        return None if names_a_day(text) else text
    local = at.astimezone(zone)
    written = dates.rewrite(text, spans(text, local))
    # Not to be counted from the day of learning.
    return None if spans(written, local.date() + dt.timedelta(days=400)) else written


def kind_of(wish: Wish) -> str:
    """The type: about the person, about how to work, or a fact of the project."""
    if _MINE.match(wish.text):
        return "user"
    return "project" if (wish.fact or wish.of_project) and not _ORDER.match(wish.text) else "feedback"


def _bring_up_to_date(said: list[Lesson], heard: Heard) -> None:
    """Applies later prompts to lessons as to memory: another value changes a lesson, a retraction removes it."""
    for typed in heard.typed:
        for lesson in said[-MOST_COMPARED:]:
            made = exchange(lesson.text, typed.text, "") if typed.changes else None
            if not (made and _may_change(heard, lesson)):
                continue
            old, new = made.old.text, made.new.text
            common = words_of(lesson.text) & words_of(typed.text)
            whole = with_text(PlacedText("", "body", 1, 1, lesson.text, lesson.text), old, new)
            is_meant = made.named or is_last_number(lesson.text, old, typed.text, new)
            is_it = common and is_meant and says_only(typed.text, old, new, lesson.text)
            if whole and (is_it or _is_put_anew(whole.text, typed.text, new)):
                lesson.text = whole.text
                lesson.citations.insert(0, heard.citation(typed.quote))
            elif common and is_told_past(old, typed.text) and not read(typed.text).denials:
                lesson.doubt()
    for lesson in said[-MOST_COMPARED:]:
        if _is_denied(lesson, heard):
            lesson.doubt()
    if REVERTED.search(heard.prompt.text):
        words = keys_of(heard.prompt.text)
        said[:] = [each for each in said if not (_may_change(heard, each) and _is_undone(each, words))]


def _is_put_anew(text: str, said: str, new: str) -> bool:
    """Whether a sentence says the same as one with the new value, which follows "is"."""
    before = said.partition(new)[0].lower().split()
    return comparing.normalised(text) == comparing.normalised(said) and not lexicon.IS.isdisjoint(before[-1:])


def _is_denied(lesson: Lesson, heard: Heard) -> bool:
    """Whether a later prompt of its session takes back something in its words, or names nothing but another value of its kind."""
    pks, prompt = {cited.session_pk for cited in lesson.citations}, heard.prompt.text[:MOST_DENYING]
    is_value = len(read(prompt).anchors) == 1 and exchange(lesson.text, prompt, "")
    is_of_it = bool(is_value or words_of(lesson.text) & words_of(prompt))
    return heard.citation("").session_pk in pks - {None} and is_of_it and takes_back(prompt, lesson.text)


def _may_change(heard: Heard, lesson: Lesson) -> bool:
    """Whether a statement may change a lesson: logs do not change what a person said, and nobody changes later logs."""
    if not lesson.is_logged:
        return not heard.is_logged
    at, logged = heard.prompt.at, [cited.at for cited in lesson.citations if cited.at]
    return not (at and logged and at < max(logged))


def _is_undone(lesson: Lesson, words: frozenset[str]) -> bool:
    """Whether the lesson reports a change, and `words` has most of its words."""
    about = keys_of(lesson.text)
    return tells_change(lesson.text) and 2 * len(about & words) >= len(about)


def _once(said: Sequence[Lesson]) -> list[Lesson]:
    """One lesson for the same wish in several sessions: in its fullest wording, a person's before a log's, with all evidence."""
    known = KnownStatements()
    kept: dict[str, Lesson] = {}
    for lesson in sorted(said, key=lambda each: (each.is_logged, -len(each.text))):
        twin = known.find(lesson.text)
        if twin is None:
            known.add(lesson.text)
            kept[comparing.normalised(lesson.text)] = lesson
        else:
            fuller = kept[comparing.normalised(twin)]
            fuller.citations += lesson.citations
            fuller.sureness = min(fuller.sureness, lesson.sureness, key=_ORDER_OF_SURENESS.index)
    # In the order in which they were said.
    first = {id(lesson): place for place, lesson in enumerate(said)}
    return sorted(kept.values(), key=lambda lesson: first[id(lesson)])
