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

from dreams.language import lexicon
from dreams.language.statements import Item, Statement, plain, statement

# How many words the shorter statement has, the share of its weight that the longer one must have, and the share that both must
# have in common: three words in common are a topic, ten are a statement.
BARS = ((4, 0.99, 0.7), (6, 0.8, 0.45), (1_000_000, 0.66, 0.42))
# Where the shorter one has words of its own, a merge would lose them: more must agree than for one that is contained.
LEAST_UNCONTAINED = 0.63
CONTAINED = 0.3  # in common, will do for five words or more that the other one has whole
RUN = 4  # so many words in a row make up for a lower share (0.66, and 0.4 or 0.3)
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
    return plain(text)


def same(a: str, b: str) -> Similarity:
    """Whether two statements (a line, a description; not whole files) surely say the same."""
    fuller: Literal["a", "b"] = "a" if len(a) >= len(b) else "b"
    if plain(a) == plain(b):
        return Similarity(bool(plain(a)), float(bool(plain(a))), "the same words", fuller, bool(plain(a)))
    one, other = statement(a), statement(b)
    short, long = sorted((one, other), key=lambda s: (s.weight, s.text))
    fuller = "a" if long is one else "b"
    covered, shared = _overlap(short, long)
    score = round(min(1.0, (covered + shared) / 2), 3)
    if not _enough(short, long, covered, shared) or (covered < 0.999 and score < LEAST_UNCONTAINED):
        return Similarity(False, score, "too few words in common", fuller)
    why = _conflict(short, long)
    if why:
        return Similarity(False, round(score / 2, 3), why, fuller)
    return Similarity(True, score, "the same statement in other words", fuller, covered >= 0.999)


def _enough(short: Statement, long: Statement, covered: float, shared: float) -> bool:
    if not short.items:
        return False
    words = sum(word not in lexicon.GENERIC for word in short.weights)
    if covered >= 0.99:
        extra = sum(word not in short.weights and word not in lexicon.GENERIC for word in long.weights)
        return shared >= (CONTAINED if words > BARS[0][0] else BARS[0][2]) or (words > 2 and extra <= 1)
    need_covered, need_shared = next(bar[1:] for bar in BARS if words <= bar[0])
    if covered >= need_covered and shared >= need_shared:
        return True
    return (
        words > BARS[0][0]
        and covered >= 0.66
        and shared >= (0.3 if words > BARS[1][0] else 0.4)
        and _run(short, long) >= RUN
    )


def _run(short: Statement, long: Statement) -> int:
    """The longest row of words that both have."""
    mine, theirs = _words(short), _words(long)
    return SequenceMatcher(None, mine, theirs, autojunk=False).find_longest_match().size


def _overlap(short: Statement, long: Statement) -> tuple[float, float]:
    common = sum(weight for word, weight in short.weights.items() if word in long.weights)
    union = short.weight + sum(weight for word, weight in long.weights.items() if word not in short.weights)
    return (common / short.weight if short.weight else 0.0), (common / union if union else 0.0)


def _conflict(short: Statement, long: Statement) -> str:
    """The first thing that makes them two statements, or nothing."""
    checks = (
        (short.numbers != long.numbers, "numbers differ"),
        (_signs_differ(short, long), "one is done or right, the other not"),
        (bool(short.codes ^ long.codes), "names or paths differ"),
        (_names_differ(short, long), "names differ"),
        (_code_differs(short, long), "commands or quoted code differ"),
        (_few(short, long), "too short to be sure"),
        (_negation_differs(short, long), "one denies what the other says"),
        (short.environments != long.environments, "environments differ"),
        (short.days != long.days, "days differ"),
        (short.marks(long) != long.marks(short), "conditions or states differ"),
        (_opposed(short, long), "opposite words"),
        (_strength_differs(short, long), "one demands, the other allows"),
        (_turned_round(short, long), "the order is turned round"),
        (_swapped(short, long), "names change places"),
        (_exchanged(short, long) or _substituted(short, long), "one word stands for another"),
    )
    return next((why for found, why in checks if found), "")


def _names_differ(short: Statement, long: Statement) -> bool:
    """One more name in the longer one is let pass only where it has the whole of a long statement besides."""
    more = long.named(short)
    whole = len(short.weights) > BARS[1][0] and all(word in long.weights for word in short.weights)
    return bool(short.named(long)) or len(more) > int(whole)


def _signs_differ(short: Statement, long: Statement) -> bool:
    """ "[x]" and "[ ]", "✅" and "❌" change what a line says; a sign of success alone may be missing."""
    differing = short.signs ^ long.signs
    return bool(differing - {"done"}) or (bool(differing) and bool(short.signs and long.signs))


def _code_differs(short: Statement, long: Statement) -> bool:
    """`make test` and `make check` are words like others, and yet not to be taken for each other."""
    return any(span not in plain(long.text) for span in short.spans) or any(
        span not in plain(short.text) for span in long.spans
    )


def _words(one: Statement) -> list[str]:
    return [item.word for item in one.items]


def _few(short: Statement, long: Statement) -> bool:
    """Two or three shared words make a topic, not a statement, unless nothing else is there."""
    common = [word for word in short.weights if word in long.weights]
    left = [word for word in long.weights if word not in short.weights and word not in lexicon.GENERIC]
    return len(common) < 3 and bool(left)


def _negation_differs(short: Statement, long: Statement) -> bool:
    """Counted only in clauses that have to do with the other statement: "never spell it out" may be an addition."""
    mine, theirs = short.negated(long), long.negated(short)
    if bool(mine) != bool(theirs) or (len(mine) != len(theirs) and _words(short) == _words(long)):
        return True
    return _denied_elsewhere(mine, theirs, long) or _denied_elsewhere(theirs, mine, short)


def _denied_elsewhere(mine: list[frozenset[str]], theirs: list[frozenset[str]], other: Statement) -> bool:
    """Something denied here is said there, and not denied: "use npm, not yarn" against "use yarn, not npm"."""
    denied = frozenset().union(*theirs)
    return any(words & set(other.weights) and words.isdisjoint(denied) for words in mine)


def _opposed(short: Statement, long: Statement) -> bool:
    mine, theirs = short.counts - long.counts, long.counts - short.counts
    if any((one, other) in lexicon.OPPOSITES for one in mine for other in theirs):
        return True
    same_words = _words(short) == _words(long)
    return same_words and any((one, other) in lexicon.JOINTS for one in mine for other in theirs)


def _strength_differs(short: Statement, long: Statement) -> bool:
    def strength(one: Statement) -> str:
        strong, weak = bool(one.raw & lexicon.STRONG), bool(one.raw & lexicon.WEAK)
        return "strong" if strong and not weak else "weak" if weak and not strong else ""

    return {strength(short), strength(long)} == {"strong", "weak"}


def _turned_round(short: Statement, long: Statement) -> bool:
    """ "prefer X over Y" against "prefer Y over X": what stands left and right of the same connector."""
    for connector, (left, right) in short.sides.items():
        if connector in long.sides:
            other_left, other_right = long.sides[connector]
            if (left - other_left) & other_right and (right - other_right) & other_left:
                return True
    return False


def _swapped(short: Statement, long: Statement) -> bool:
    """The same words with two of them exchanged, or steps in another order: "Linux at work, Windows at home"."""
    mine, theirs = _common_order(short, long)
    moved = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    if len(moved) == 2 and moved[1] - moved[0] > 1:
        return True
    if moved and (short.raw | long.raw) & lexicon.STEPS:
        return True
    anchors, words = _parted(short, mine, theirs)
    return anchors[0] != anchors[1] and words[0] == words[1] and len(words[0]) > 1


def _common_order(short: Statement, long: Statement) -> tuple[list[str], list[str]]:
    """The words that each statement has exactly once, in the order of the one and of the other."""
    mine, theirs = _words(short), _words(long)
    counts, others = Counter(mine), Counter(theirs)
    once = {word for word in counts if counts[word] == others[word] == 1}
    return [w for w in mine if w in once], [w for w in theirs if w in once]


def _parted(
    short: Statement, mine: list[str], theirs: list[str]
) -> tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]:
    """Both orders, parted into names and numbers on one side and plain words on the other."""
    anchors = {item.word for item in short.items if item.anchor}

    def part(named: bool) -> tuple[list[str], list[str]]:
        return [w for w in mine if (w in anchors) is named], [w for w in theirs if (w in anchors) is named]

    return part(True), part(False)


def _exchanged(short: Statement, long: Statement) -> bool:
    """Alike to the last word of filler, but for one place where something of meaning stands."""
    changes = [
        (short.flow[i1:i2], long.flow[j1:j2])
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, short.flow, long.flow, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    if len(changes) != 1 or not (changes[0][0] and changes[0][1]) or max(map(len, changes[0])) > 2:
        return False
    return any(
        word not in lexicon.FILLER and word not in lexicon.GENERIC for side in changes[0] for word in side
    )


def _substituted(short: Statement, long: Statement) -> bool:
    """A word or two in the place of another word or two, the rest alike: the mark of a look-alike."""
    mine, theirs = _words(short), _words(long)
    changes = [
        op for op in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    near = len(changes) == 1  # all else is the same, word for word
    for tag, i1, i2, j1, j2 in changes:
        if tag != "replace" or i2 - i1 > 2 or j2 - j1 > 2:
            continue
        if _begins_clause(short, i1) != _begins_clause(long, j1):
            continue
        if near or (_own(short.items[i1:i2], long) and _own(long.items[j1:j2], short)):
            return True
    return False


def _begins_clause(one: Statement, place: int) -> bool:
    """A look-alike keeps the sentence: a list's next member is not what "for the ..." adds."""
    return place == 0 or one.items[place].clause != one.items[place - 1].clause


def _own(items: Sequence[Item], other: Statement) -> list[str]:
    """The words that the other statement has nowhere, generic ones left out."""
    return [i.word for i in items if i.word not in other.weights and i.word not in lexicon.GENERIC]


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
        places[plain(text)].append(place)
    return {pair for each in places.values() for pair in pairwise(each)}
