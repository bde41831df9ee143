"""Are two statements surely the same? The duplicate decision, made so that a merge never loses a fact. Pure.

Words in common are not enough: "PostgreSQL 15" and "PostgreSQL 16" share nearly all. So whatever makes a statement this
one and no other (numbers, names, paths, negation, environment, direction, condition) must agree first; only then do words count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations, pairwise
from typing import Literal

from dreams.language import lexicon, properties
from dreams.language.contrasts import conflict, enlarged, marks_differ, narrowed, told_whole
from dreams.language.edits import edit, regraded
from dreams.language.orders import swapped
from dreams.language.statements import Statement, plain, statement
from dreams.language.words import LONGEST
from dreams.lib.prose.comparing import says_more

# How many words the shorter statement has, the share of its weight that the longer one must have, and the share that both must
# have in common: three words in common are a topic, ten are a statement.
BARS = ((4, 0.99, 0.7), (6, 0.8, 0.45), (1_000_000, 0.66, 0.42))
# Where the shorter one has words of its own, a merge would lose them: more must agree than for one that is contained.
LEAST_UNCONTAINED = 0.63
LONG = 10  # words, from which one more phrase is detail and no other statement
CONTAINED = 0.3  # in common, will do for five words or more that the other one has whole
TOPIC = 0.45  # in common, will do where the shorter one names a topic that the longer one has whole
RUN = 4  # so many words in a row make up for a lower share (0.66, and 0.4 or 0.3)
MOST_WORDS = 1_000  # what is longer is no single statement, and only the very same is sure
CONTAINING = 0.999  # of the shorter one's weight in the longer one: nothing is lost with it
MOST_NEW = 0.1  # of the shorter one's weight, that the longer one has no word for: more is a question
REPETITIVE_FROM = 30  # words of meaning
REPEATED = 3  # times that each of them stands there on the average
ALL_PAIRS_BELOW = 500  # rare words miss too many pairs among few texts
RARE_WORDS = 8
COMMON_FROM = 60  # a word that more texts have finds no candidates
PARTNERS = 12


@dataclass(frozen=True, slots=True)
class Similarity:
    """The decision, a score from 0 to 1, and a few words of reason for a person.

    `fuller` is the one to keep where they are the same; `lossless` is True if the other one has no word that it lacks
    (filler aside), so that nothing is lost by leaving the other one out.
    """

    same: bool
    score: float
    why: str
    fuller: Literal["a", "b"] = "a"
    lossless: bool = False


def normalised(text: str) -> str:
    """Equal for texts that differ in case, space, list marks, emphasis, quotes and final punctuation alone."""
    return plain(text) + text[LONGEST:]  # only so much is evened out, and what stands behind it counts too


def same(a: str, b: str) -> Similarity:
    """Whether two statements (a line, a description; not whole files) surely say the same."""
    fuller: Literal["a", "b"] = "a" if len(a) >= len(b) else "b"
    if not (plain(a) and plain(b)):
        return Similarity(False, 0.0, "nothing to compare", fuller)
    if normalised(a) == normalised(b) and _asks(a) == _asks(b):
        return Similarity(True, 1.0, "the same words", fuller, True)
    if _unclear(a) or _unclear(b):
        return Similarity(False, 0.0, "too long to be sure", fuller)
    short, long = sorted((statement(a), statement(b)), key=lambda s: (s.weight, s.text))
    return _compared(short, long, "a" if long.text == a else "b")


def _unclear(text: str) -> bool:
    """No single statement, or the same few words over and over, of which no order can be told."""
    if len(text) > LONGEST:
        return True
    one = statement(text)
    items = len(one.items)
    return len(one.flow) > MOST_WORDS or (items > REPETITIVE_FROM and items > REPEATED * len(one.weights))


def _compared(short: Statement, long: Statement, fuller: Literal["a", "b"]) -> Similarity:
    covered, shared = _overlap(short, long)
    score = round(min(1.0, (covered + shared) / 2), 3)
    lossless = covered >= CONTAINING
    if properties.same(short.text, long.text) and not _twisted(short, long):
        why = "the same property of the same thing"
        return Similarity(True, max(score, LEAST_UNCONTAINED), why, fuller, lossless)
    if not _enough(short, long, covered, shared) or (not lossless and score < LEAST_UNCONTAINED):
        return Similarity(False, score, "too few words in common", fuller)
    if why := conflict(short, long):
        return Similarity(False, round(score / 2, 3), why, fuller)
    if properties.differ(short.text, long.text):
        return Similarity(False, round(score / 2, 3), "the same property of two things", fuller)
    if not lossless and says_more(short.text, long.text, MOST_NEW):
        return Similarity(False, score, "each tells something that the other has no word for", fuller)
    return Similarity(True, score, "the same statement in other words", fuller, lossless)


def _twisted(short: Statement, long: Statement) -> bool:
    """The same sentence but for "only" or "to", or with two words exchanged; a property is read whatever their order."""
    turned = marks_differ(short, long) or regraded(short, long) or swapped(short, long)
    return edit(short, long).copy and turned


def _asks(text: str) -> bool:
    return "?" in text and statement(text).asks


def _enough(short: Statement, long: Statement, covered: float, shared: float) -> bool:
    if not short.items:
        return False
    words = sum(word not in lexicon.GENERIC for word in short.weights)
    if covered >= 0.99:
        return _enough_contained(short, long, words, shared)
    need_covered, need_shared = next(bar[1:] for bar in BARS if words <= bar[0])
    if covered >= need_covered and shared >= need_shared:
        return True
    return (
        words > BARS[0][0]
        and covered >= 0.66
        and shared >= (0.3 if words > BARS[1][0] else 0.4)
        and _run(short, long) >= RUN
    )


def _enough_contained(short: Statement, long: Statement, words: int, shared: float) -> bool:
    """The longer one has every word: enough if it adds asides only, or little; of short ones not what narrows them."""
    if words <= LONG and enlarged(short, long):
        return False
    if told_whole(short, long):
        return True
    if words > BARS[0][0]:
        return shared >= CONTAINED
    if short.topical and words > 1 and shared >= TOPIC:
        return True
    extra = [word for word in long.weights if word not in short.weights and word not in lexicon.GENERIC]
    if len(extra) > 1 and [w for w in long.weights if w in short.weights] != list(short.weights):
        return False
    return (shared >= BARS[0][2] or (words > 2 and len(extra) <= 1)) and not narrowed(short, long)


def _run(short: Statement, long: Statement) -> int:
    """The longest row of words that both have."""
    mine, theirs = ([item.word for item in one.items] for one in (short, long))
    return SequenceMatcher(None, mine, theirs, autojunk=False).find_longest_match().size


def _overlap(short: Statement, long: Statement) -> tuple[float, float]:
    """The share of the shorter one's weight that the longer one has, and the share of both that they have in common."""
    mine, theirs = short.telling, long.telling
    common = sum(weight for word, weight in mine.items() if word in long.weights)
    own = sum(mine.values())
    union = own + sum(weight for word, weight in theirs.items() if word not in short.weights)
    return (common / own if own else 0.0), (common / union if union else 0.0)


def candidates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places in `texts` that are worth asking `same` about, each once, in order.

    All pairs of up to 500 texts; above that those that share their rarest words, at most 12 partners each (10,000 texts in
    about a second, where all pairs would take an hour).
    """
    if len(texts) < ALL_PAIRS_BELOW:
        return list(combinations(range(len(texts)), 2))
    words = [frozenset(statement(text).weights) for text in texts]
    counts = Counter(word for each in words for word in each)
    having: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(words):
        rare = sorted((w for w in each if 1 < counts[w] < COMMON_FROM), key=lambda w: (counts[w], w))
        for word in rare[:RARE_WORDS]:
            having[word].append(place)
    return sorted(_partners(having.values()) | _equals(texts))


def _partners(groups: Iterable[list[int]]) -> set[tuple[int, int]]:
    shared: dict[int, Counter[int]] = defaultdict(Counter)
    for group in groups:
        for one, other in combinations(group, 2):
            shared[one][other] += 1
            shared[other][one] += 1
    return {
        (min(one, other), max(one, other))
        for one, counter in shared.items()
        for other, _ in counter.most_common(PARTNERS)
    }


def _equals(texts: Sequence[str]) -> set[tuple[int, int]]:
    """Neighbours among equal texts, however common their words are."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        places[normalised(text)].append(place)
    return {pair for each in places.values() for pair in pairwise(each)}
