"""Questions about typed requests: to forget something that is not certain, and orders that may be for one task only. PURE."""

from collections.abc import Callable, Iterator, Sequence

from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.families import Inputs, place_of_quote
from dreams.engines.rules.questions.same import cited, place_of, subject_of
from dreams.engines.rules.steps import forgetting, learning
from dreams.engines.rules.user_statements.lessons import Lesson
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.user_statements.requests import Wish, may_ask_to_forget, names_memory, takes_away
from dreams.engines.rules.user_statements.speech import standing_from, typed_lines
from dreams.engines.types import KEEP, Option, Question
from dreams.lib.files.text import plural, quoted
from dreams.lib.prose.comparing import normalised
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.values import read

# Share of a statement's words in the sentence; and other words of the sentence ("scratch", "is wrong").
LEAST_CITED, MOST_ELSE = 0.7, 2
TO_FORGET = 0.9  # how useful an answer is, chosen: the person asked for it
MOST_PROMPT = 600  # characters


def forget(asking: Inputs, index: StatementIndex) -> Iterator[Question]:
    """One question for each statement that a request may mean, wherever it is said in the same words."""
    typed = [each for each in asking.heard if not each.is_logged]
    for heard, wish in (*forgetting.requests(typed), *_maybe_requests(typed, may_ask_to_forget)):
        text = forgetting.asked_text(wish)
        found = dict.fromkeys((*forgetting.about(index, text), *forgetting.told_anew(index, text)))
        yield from _questions(asking, heard, wish, list(found))
    for heard, wish in _maybe_requests(typed, lambda each: names_memory(each) or takes_away(each)):
        near = forgetting.candidates(index, forgetting.asked_text(wish))
        yield from _questions(asking, heard, wish, [each for each in near if _is_cited(each, wish.quote)])


def _questions(asking: Inputs, heard: Heard, wish: Wish, found: Sequence[PlacedText]) -> Iterator[Question]:
    same: dict[str, list[PlacedText]] = {}
    for each in found:
        if not asking.is_touched(place_of(each)) and asking.tree_before.writable(each.path):
            same.setdefault(normalised(each.text), []).append(each)
    if len(same) <= forgetting.MOST_CANDIDATES:
        for places in same.values():
            yield _to_forget(asking, heard, wish, places[: forgetting.MOST_FORGOTTEN])


def _maybe_requests(heard: Sequence[Heard], may_ask: Callable[[str], bool]) -> Iterator[tuple[Heard, Wish]]:
    """Sentences that may ask to forget something with a value and were not recognized as requests."""
    for each in heard:
        known = " ".join(wish.quote for wish in each.wishes if wish.handling != "hint")
        for line in typed_lines(each.prompt.text) if len(each.prompt.text) <= MOST_PROMPT else ():
            alone = sentences(line)
            last = " ".join(alone[-2:])  # "X. Forget that, it's not true any more"
            for sentence in (*alone, last) if standing_from(last) else alone:
                if may_ask(sentence) and sentence not in known:
                    yield each, Wish(sentence, sentence, fact=False, handling="forget")


def _is_cited(statement: PlacedText, sentence: str) -> bool:
    """Whether a sentence has nearly everything of a statement, or two of its values, and little else. In a sentence about memory
    one value is enough, if all its other words are in the statement too."""
    mine = {word for word, weight in statement.reading.terms.items() if weight >= forgetting.LEAST_WORD}
    said, theirs = read(sentence), forgetting.wanted(sentence)
    values = said.anchors - statement.reading.anchors
    is_meant = len(said.anchors) > 1 or len(mine & theirs) >= LEAST_CITED * len(mine)
    is_meant = is_meant or (bool(said.anchors) and theirs <= mine and names_memory(sentence))
    return is_meant and len(theirs - mine) <= MOST_ELSE and not values


def _to_forget(asking: Inputs, heard: Heard, wish: Wish, places: Sequence[PlacedText]) -> Question:
    def work(rec: Recorder) -> None:
        for each in sorted(places, key=lambda place: (place.path, -place.first_line)):
            forgetting.forget_statement(rec, each, heard, wish, asked=True)

    option = asking.draftsman.option("remove", "Remove it", work)
    request = heard.citation(wish.quote)
    return Question(
        "forget",
        f"{subject_of(places[:1])} | {' '.join(sorted(read(wish.quote).terms))[:200]}",
        f"You asked {quoted(wish.quote)}. Is this what you meant?",
        (*map(place_of, places), place_of_quote(request)),
        (option, KEEP),
        (request, cited(places[0])),
        TO_FORGET,
    )


# --- Typed ----------------------------------------------------------------------------------------------------------

MOST_QUESTIONS = 6  # of one dream: who types a lot in passing is not asked about all of it
TO_LEARN = 0.4  # low: an answer only adds a line
PER_SESSION = 0.1  # more for each further session in which it was typed
MOST_WEIGHT = 0.7  # chosen: below explicit requests


def typed_in_passing(context: Inputs) -> Iterator[Question]:
    """Questions of kind `learn`: most often typed first, then newest."""
    found = sorted(enumerate(context.gathered.asked), key=lambda row: (-row[1].sessions, -row[0]))
    for _, lesson in found[:MOST_QUESTIONS]:
        given = ([lesson], context.job.config)
        yield _to_learn(lesson, context.draftsman.option("learn", "Remember it", learning.learn, *given))


def _to_learn(lesson: Lesson, learn: Option) -> Question:
    what = "day" if lesson.is_logged else "session"
    often = f" in {plural(lesson.sessions, what)}" if lesson.sessions > 1 else ""
    wrote = "Your agent’s log says this" if lesson.is_logged else "You wrote this"
    return Question(
        kind="learn",
        subject=" ".join(sorted(keys_of(lesson.text))),
        why=f"{wrote}{often}. It may be a rule for later, or it was for that task only.",
        places=tuple(map(place_of_quote, lesson.citations[:1])),
        options=(learn, Option("keep", "Only for that task")),
        citations=tuple(lesson.citations),
        weight=min(TO_LEARN + PER_SESSION * (lesson.sessions - 1), MOST_WEIGHT),
    )
