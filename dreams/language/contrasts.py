"""What makes two statements two, however many words they share. Pure.

Each check takes the shorter and the longer statement; `conflict` gives the first that finds something, in a few words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import product

from dreams.language import amounts, bindings, lexicon, polarity, sequence
from dreams.language.edits import altered, edit
from dreams.language.grades import graded, strength_differs
from dreams.language.orders import other_doer, swapped, turned_round
from dreams.language.statements import Item, Statement, plain
from dreams.language.tenses import past_and_present
from dreams.language.words import code_spans

_SMALL = lexicon.FILLER | lexicon.NEGATIONS
LONG_FROM = 6  # words, from which one more name may be an addition
_ROW = 7  # so many words in a row, filler too, are a statement of their own
_ENLARGING = frozenset({"for", "in", "on", "of", "during", "and", "or"})
_PHRASE = 5  # words that may stand in the place of others where all else is alike
_WHOLE = 3  # words of meaning from which a statement that another one has whole may have asides added to it


def first(checks: Iterable[tuple[Callable[[], bool], str]]) -> str:
    """The reason of the first check that finds something, or nothing; the ones behind it are not made."""
    return next((why for found, why in checks if found()), "")


def conflict(short: Statement, long: Statement) -> str:
    """The first thing that makes them two statements, or nothing."""
    added = told_whole(short, long)
    inner = core(short, long) if added else None
    checks = (
        (lambda: short.asks != long.asks, "one asks, the other says"),
        (lambda: _facts_differ(short.numbers, long.numbers, inner), "numbers differ"),
        (lambda: signs_differ(short, long), "one is done or right, the other not"),
        (lambda: _facts_differ(short.codes, long.codes, inner), "names or paths differ"),
        (lambda: _names_differ(short, long, inner), "names differ"),
        (lambda: code_differs(short, long), "commands or quoted code differ"),
        (lambda: quoted_apart(short, long), "commands or quoted code differ"),
        (lambda: amounts.differ(short.text, long.text), "times differ"),
        (lambda: _few(short, long), "too short to be sure"),
        (lambda: negation_differs(short, long), "one denies what the other says"),
        (lambda: polarity.at_odds(short, long, _common(short, long)), "one denies what the other says"),
        (lambda: environments_differ(short, long), "environments differ"),
        (lambda: short.days != long.days, "days differ"),
        (lambda: marks_differ(short, long), "conditions or states differ"),
        (lambda: _limited(short, long), "what is added changes it"),
        (lambda: bool(short.was & long.is_ or short.is_ & long.was), "one was, the other is"),
        (lambda: past_and_present(short, long), "one was, the other is"),
        (lambda: opposed(short, long), "opposite words"),
        (lambda: bool(_opposites(short, long)), "opposite places"),
        (lambda: strength_differs(short, long), "one demands, the other allows"),
        (lambda: graded(short, long), "one says all, the other some"),
        (lambda: turned_round(short, long) or sequence.turned(short, long), "the order is turned round"),
        (lambda: sequence.told_by_one(short, long), "only one says what comes first"),
        (lambda: swapped(short, long), "names change places"),
        (lambda: bindings.handed_round(short, long), "names change places"),
        (lambda: other_doer(short, long), "who does it changes"),
        (lambda: altered(short, long), "a copy with one thing changed"),
        (lambda: exchanged(short, long) or substituted(short, long), "one word stands for another"),
    )
    return first(checks)


def told_whole(short: Statement, long: Statement) -> bool:
    """Whether the longer one says all of the shorter one outright, and adds the rest in asides: "X, because Y", "X (Y)"."""
    wanted = short.telling
    if len(wanted) < _WHOLE or not wanted.keys() <= long.weights.keys():
        return False
    return not [w for w in core(short, long) if w not in short.weights and w not in lexicon.GENERIC]


def core(short: Statement, long: Statement) -> set[str]:
    """The words of the longer one outside of asides, with those asides that say what the shorter one says."""
    asides: dict[int, set[str]] = {}
    said: set[str] = set()
    for clause, words in long.clauses.items():
        if clause in long.asides:
            asides.setdefault(long.asides[clause], set()).update(words)
        elif clause or not long.kind_of_note:
            said |= words
    for words in asides.values():
        if (short.telling.keys() & words) - said:
            said |= words
    return said


def narrowed(short: Statement, long: Statement) -> bool:
    """Whether what the longer one has more narrows the statement ("for guests") or adds a member to its list."""
    if _row(short.flow, long.flow) >= _ROW:
        return False
    before = ""
    place = 0
    for word in long.flow:
        if place < len(long.items) and long.items[place].word == word:
            own = word not in short.weights and word not in lexicon.GENERIC
            if own and (
                before in lexicon.NARROWING or before in {"and", "or"} or _begins_clause(long, place)
            ):
                return place > 0
            place += 1
        before = before if word in lexicon.ARTICLES else word
    return False


def enlarged(short: Statement, long: Statement) -> bool:
    """Whether all that differs is one phrase put in: "for guests", "in staging", "and Ana owns it"."""
    changes = edit(short, long).changes
    if len(changes) != 1 or changes[0].gone:
        return False
    phrase = changes[0].come
    told = [word for word in phrase if word in long.weights and word not in lexicon.GENERIC]
    return phrase[0] in _ENLARGING and any(long.flow.count(word) > short.flow.count(word) for word in told)


def _row(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """The longest row of words that both have."""
    return SequenceMatcher(None, mine, theirs, autojunk=False).find_longest_match().size


def _facts_differ(mine: frozenset[str], theirs: frozenset[str], inner: set[str] | None) -> bool:
    """A reason or an example behind a whole statement may bring facts of its own, if the statement has none of their kind."""
    return mine != theirs and not (inner is not None and not mine and theirs.isdisjoint(inner))


def _names_differ(short: Statement, long: Statement, inner: set[str] | None) -> bool:
    """One more name in the longer one is let pass only where it has the whole of a long statement besides."""
    more = long.named(short)
    if inner is not None:
        more &= inner
    whole = len(short.weights) > LONG_FROM and all(word in long.weights for word in short.weights)
    return bool(short.named(long)) or len(more) > int(whole)


def environments_differ(short: Statement, long: Statement) -> bool:
    """ "dev" and "development" are one; the latter alone may be any work on code."""
    differing = short.environments ^ long.environments
    both = {"dev", "development"}
    return bool(differing - {"dev"} if short.raw & both and long.raw & both else differing)


def marks_differ(short: Statement, long: Statement) -> bool:
    mine, theirs = short.marks(long), long.marks(short)
    differing = mine ^ theirs
    if "if" in differing:  # "if it fails" and "when it fails"
        other = long if "if" in mine else short
        if other.raw & lexicon.CONDITIONAL or short.telling.keys() == long.telling.keys():
            differing -= {"if"}
    return bool(differing)


def _limited(short: Statement, long: Statement) -> bool:
    """ "... (except in tests)", "... - not yet on Windows": an aside that takes something back."""
    known = lexicon.LIMITS | lexicon.UNSETTLED
    more = Counter(word for _, word in long.marked) - Counter(word for _, word in short.marked)
    if any(clause in long.asides and word in known and word in more for clause, word in long.marked):
        return True
    denied = {clause for clause, _ in long.negations if clause in long.asides}
    return bool(denied) and bool(long.raw & {"longer", "anymore", "yet"})


def signs_differ(short: Statement, long: Statement) -> bool:
    """ "[x]" and "[ ]", "✅" and "❌" change what a line says; a sign of success alone may be missing."""
    differing = short.signs ^ long.signs
    return bool(differing - {"done"}) or (bool(differing) and bool(short.signs and long.signs))


def code_differs(short: Statement, long: Statement) -> bool:
    """`make test` and `make check` are words like others, and yet not to be taken for each other."""
    return any(span not in plain(long.text) for span in short.spans) or any(
        span not in plain(short.text) for span in long.spans
    )


def quoted_apart(short: Statement, long: Statement) -> bool:
    """Each has inline code that the other has nowhere."""
    return bool(_quoted(short, long)) and bool(_quoted(long, short))


def _quoted(one: Statement, other: Statement) -> list[str]:
    there = plain(other.text)
    words = set(there.split())
    found = (plain(one.text[start:end]).partition("(")[0] for start, end in code_spans(one.text))
    return [span for span in found if span not in (words if span.isalpha() else there)]


def _common(short: Statement, long: Statement) -> dict[str, float]:
    return {word: weight for word, weight in short.weights.items() if word in long.weights}


def _words(one: Statement) -> list[str]:
    return [item.word for item in one.items]


def _few(short: Statement, long: Statement) -> bool:
    """Two or three shared words make a topic, not a statement, unless nothing else is there."""
    common = [word for word in short.weights if word in long.weights]
    left = [word for word in long.weights if word not in short.weights and word not in lexicon.GENERIC]
    return len(common) < 3 and bool(left)


def negation_differs(short: Statement, long: Statement) -> bool:
    """Counted only in clauses that have to do with the other statement: "never spell it out" may be an addition."""
    mine, theirs = short.negated(long), long.negated(short)
    every = mine + short.negated(long, contrasts=True), theirs + long.negated(short, contrasts=True)
    if bool(mine) != bool(theirs) and not _denied_both(*every):
        return True
    if len(every[0]) != len(every[1]) and _words(short) == _words(long):
        return True
    return denied_elsewhere(*every, long) or denied_elsewhere(every[1], every[0], short)


def _denied_both(mine: list[frozenset[str]], theirs: list[frozenset[str]]) -> bool:
    """ "X, not Y" and "X instead of Y"."""
    return any(one & other for one in mine for other in theirs)


def denied_elsewhere(mine: list[frozenset[str]], theirs: list[frozenset[str]], other: Statement) -> bool:
    """Something denied here is said there, and not denied: "use npm, not yarn" against "use yarn, not npm"."""
    denied = frozenset[str]().union(*theirs)
    return any(words & set(other.weights) and words.isdisjoint(denied) for words in mine)


def opposed(short: Statement, long: Statement) -> bool:
    """Words that contradict each other whatever they are said of; "before" and "after" may be said of two things."""
    if any(not lexicon.PLACING.issuperset(pair) for pair in _opposites(short, long)):
        return True
    return _words(short) == _words(long) and any(
        pair in lexicon.JOINTS for pair in product(short.counts - long.counts, long.counts - short.counts)
    )


def _opposites(short: Statement, long: Statement) -> list[tuple[str, str]]:
    mine, theirs = short.counts - long.counts, long.counts - short.counts
    if short.negations and long.negations:  # "never push ...", "do not push ..., always use a branch"
        mine, theirs = (Counter(w for w in words if w not in {"never", "always"}) for words in (mine, theirs))
    return [pair for pair in product(mine, theirs) if pair in lexicon.OPPOSITES]


def exchanged(short: Statement, long: Statement) -> bool:
    """Alike to the last word of filler, but for one place where something of meaning stands."""
    changes = edit(short, long).changes
    if len(changes) != 1 or not (changes[0].gone and changes[0].come):
        return False
    sides = changes[0].gone, changes[0].come
    if max(map(len, sides)) > 2:
        return False
    if max(map(len, sides)) == 1 and sides[0][0] in short.weights and sides[1][0] in long.weights:
        return True  # "per project" and "per user": common words, and yet two
    return any(word not in _SMALL and word not in lexicon.GENERIC for side in sides for word in side)


def substituted(short: Statement, long: Statement) -> bool:
    """A word or two in the place of another word or two, the rest alike: the mark of a look-alike."""
    mine, theirs = _words(short), _words(long)
    changes = [
        op for op in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    near = len(changes) == 1  # all else is the same, word for word
    for tag, i1, i2, j1, j2 in changes:
        if tag != "replace" or max(i2 - i1, j2 - j1) > (_PHRASE if near else 2):
            continue
        if max(i2 - i1, j2 - j1) > 2:
            if _own(short.items[i1:i2], long) and _own(long.items[j1:j2], short):
                return True
            continue
        if _begins_clause(short, i1) != _begins_clause(long, j1):
            continue
        if near and _generic(short.items[i1:i2]) and _generic(long.items[j1:j2]):
            continue
        if near or (_own(short.items[i1:i2], long) and _own(long.items[j1:j2], short)):
            return True
    return False


def _begins_clause(one: Statement, place: int) -> bool:
    """A look-alike keeps the sentence: a list's next member is not what "for the ..." adds."""
    return place == 0 or one.items[place].clause != one.items[place - 1].clause


def _generic(items: Sequence[Item]) -> bool:
    return all(item.word in lexicon.GENERIC for item in items)


def _own(items: Sequence[Item], other: Statement) -> list[str]:
    """The words that the other statement has nowhere, generic ones left out."""
    return [i.word for i in items if i.word not in other.weights and i.word not in lexicon.GENERIC]
