"""The words of a statement in plainer ones, so that what says the same is written the same: phrases, times, sizes. PURE, English.

Wider than what makes two notes duplicates (`lib.prose.lexicon`): a wrong equation there merges two facts, here it lets a
word pass in a line whose numbers, names and denials have all been looked at besides.
"""

import functools
import re
from collections.abc import Iterator, Sequence

from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import Statement, canonical, statement
from dreams.lib.prose.words import stem

_CELL = re.compile(r"\s+\|\s+(?=\S)")  # the cells of a row are clauses
# What bounds a number: the word behind it tells which side. Each begins with what a text has, in small letters, wherever the rule fits.
_NUMBER = r"\b(v?\d[\w.]*(?: [a-z]+)?)(?:,? or| and)"
_RULES = (
    ("up to", r"\bup to(?= \d)", "at most"),
    ("", rf"{_NUMBER} (?:later|newer|higher|above|up|greater|more)\b", r"at least \1"),
    ("", rf"{_NUMBER} (?:earlier|older|lower|below|under|less|fewer)\b", r"at most \1"),
    (" min", r"(?<=\d )min\b", "minutes"),
    (" than", r"\b(?:larger|bigger|greater|longer|higher) than(?= \d)", "over"),
    ("against", r"\b(decid(?:e|es|ed)|advis(?:e|es|ed)|recommend(?:s|ed)?) against\b", r"\1 not"),
)
_RULE_PATTERNS = [(sign, re.compile(rule, re.IGNORECASE), instead) for sign, rule, instead in _RULES]
_PHRASES = {
    "for example": "", "such as": "", "etc.": "", "etc": "", "in case": "when", "whenever": "when", "if": "when",
    "all of the": "all", "all of": "all", "each of": "each", "less than": "below", "fewer than": "below",
    "more than": "over", "by hand": "manually", "at once": "immediately", "for now": "currently", "after that": "after",
    "there is": "", "there are": "", "it is": "is", "so that": "so", "max": "at most", "maximum": "at most",
    "min": "at least", "minimum": "at least", "only then": "then", "nobody but": "only", "hate": "not like",
    "lives in": "in", "sits in": "in", "as well": "also", "is responsible for": "owns", "comes with": "has",
}  # fmt: skip
_PHRASE = re.compile(
    r"(?<![\w.-])(?:"
    + "|".join(re.escape(p).replace(r"\ ", r"\s+") for p in sorted(_PHRASES, key=len, reverse=True))
    + r")(?!\w)",
    re.IGNORECASE,
)
_PHRASE_SIGN = re.compile(_PHRASE.pattern)  # in small letters it is looked for faster


def plain_phrases(text: str) -> str:
    """`text`, which must have no code or links, with equivalent phrases replaced by one."""
    text = _CELL.sub("; ", text)
    low = text.lower()
    for sign, pattern, instead in _RULE_PATTERNS:
        if sign in low and (turned := pattern.sub(instead, text)) != text:
            text, low = turned, turned.lower()
    if not _PHRASE_SIGN.search(low):
        return text
    return _PHRASE.sub(lambda m: _PHRASES[" ".join(m[0].lower().split())], text)


LONGEST = 4000  # characters of one statement that are compared
WHOLE = 20_000  # characters of a file that a summary is compared with
_MOST_KEPT = 50_000  # words, a few megabytes; chosen
#: What "Ravi: the shop" implies.
OWNING_VERBS = frozenset(canonical(word) for word in "own use keep handle manage".split())  # noqa: SIM905 - a word list
#: Words that only link others; `small_words` checks what they link.
LINKING = frozenset(
    stem(word)
    for word in "through against directly instead although otherwise between round around anything up thus hence however therefore".split()  # noqa: SIM905 - a word list
)
# "existing tests" are not all tests.
_CHOOSING = frozenset(stem(word) for word in "new existing current other several specific".split())  # noqa: SIM905 - a word list
#: Words that no statement needs: common ones and links.
SAYS_NOTHING = (lexicon.GENERIC - _CHOOSING) | LINKING
_ENDINGS = (
    "ability", "ibility", "ations", "ation", "ively", "ities", "ility", "ement", "ance", "ence", "able", "ible", "ment",
    "ness", "ity", "ive", "ion", "ate", "ial", "ize", "ing", "al", "at", "ed", "er", "or", "ic", "iz", "ly", "es", "e", "s", "y",
)  # fmt: skip
_LEAST_ROOT = 5  # letters that stay before an ending; chosen
_PROTECTED = re.compile(
    r"`[^`\n]*`|\b[a-z][a-z0-9+.-]{1,20}://\S+|\]\([^)\n]*\)|\[\[[^\]\n]*\]\]|(?<![\w.])(?!\d[\d.,:]*(?![\w/\\@#=:-]))[\w-]*[/\\_.@#=:][\w/\\_.@#=:-]+"
)
_CAPITAL = re.compile(r"(?<![\w`/.-])[^\W\d_a-z]\w+(?![/(.]\w)")


@functools.lru_cache(maxsize=_MOST_KEPT)
def plainer(text: str, longest: int = LONGEST) -> str:
    """`text` with equivalent phrases replaced by one; code and links stay as they are."""
    text = text[:longest]
    parts, at = [], 0
    for match in _PROTECTED.finditer(text):
        parts += [plain_phrases(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, plain_phrases(text[at:])])


@functools.lru_cache(maxsize=_MOST_KEPT)
def plain_statement(text: str, longest: int = LONGEST) -> Statement:
    """The statement of a text, with equivalent phrases replaced."""
    return statement(plainer(text, longest))


@functools.lru_cache(maxsize=_MOST_KEPT)
def capitals(text: str) -> frozenset[str]:
    """The capitalized words: names, and first words of sentences."""
    found = {match[0] for match in _CAPITAL.finditer(text[:LONGEST])}
    return frozenset(word for each in found for word in statement(each.lower()).weights)


@functools.lru_cache(maxsize=_MOST_KEPT)
def root(word: str) -> str:
    """The common part of "atomic" and "atomicity", "origin" and "originate"; a short word is its own root."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_ROOT:
            return root(word[: -len(ending)])
    return word


@functools.lru_cache(maxsize=_MOST_KEPT)
def word_forms(text: str, longest: int = LONGEST) -> frozenset[str]:
    """Every form of each word in `text`: as compared, its root, the parts of a list, the ends of a path."""
    one = plain_statement(text, longest)
    found = set(one.weights)
    for code in one.codes:
        found |= {
            form
            for part in _members(code)
            for form in (part, stem(part), lexicon.SYNONYMS.get(stem(part), part))
        }
        found.update(_ends(code))
    return frozenset(found | {root(word) for word in found if word.isalpha()})


def _ends(code: str) -> list[str]:
    """ "routes/app.ts" and "app.ts" for "src/routes/app.ts": the full path includes the shorter names."""
    folders = code.split("/") if "." in code.rpartition("/")[2] else []
    return ["/".join(folders[at:]) for at in range(1, len(folders)) if folders[at - 1] or at > 1]


def _members(code: str) -> list[str]:
    """The words of a list like `settings/users/sessions`; the folders of a file path are not a list."""
    return [] if "." in code or code.startswith("/") or "/" not in code else code.split("/")


def has_word(words: frozenset[str], word: str) -> bool:
    """Whether a word is among these `word_forms`, in any form; a list if all its parts are."""
    if word in words or (word.isalpha() and root(word) in words):
        return True
    members = _members(word)
    return bool(members) and all(
        has_word(words, lexicon.SYNONYMS.get(stem(m), stem(m))) or m in words for m in members
    )


_NEAR = 4  # most words between a small word and the word it belongs to
JOINS = frozenset({"and", "or"})
_OPPOSED = """
with without|to from|into from|onto from|since until|since befor|until after|since till|inside after|in out|into out|by for|
behind front|next opposit|except includ|before after|inside outside|over below|above below|over under|for against|at after|at before
"""
_PAIRS = lexicon.pairs(_OPPOSED)
_Word = tuple[str, int]  # with its clause
_BINDING = frozenset(word for pair in _PAIRS for word in pair)


def opposite_words(old: str, new: str) -> list[str]:
    """The words with an opposite small word, for a person: "header (with, now without)"."""
    mine, theirs = small_words(old), small_words(new)
    return [
        f"{word} ({one}, now {other})"
        for word in mine.keys() & theirs.keys()
        for one in sorted(mine[word] - theirs[word])
        for other in sorted(theirs[word] - mine[word])
        if (one, other) in _PAIRS
    ][:1]


@functools.lru_cache(maxsize=20_000)
def small_words(text: str) -> dict[str, frozenset[str]]:
    """Each word of meaning with the small words (with, from, before) that belong to it."""
    found: dict[str, set[str]] = {}
    for small, word in _bindings(plain_statement(text)):
        found.setdefault(word, set()).add(small)
    return {word: frozenset(small) for word, small in found.items()}


def _bindings(one: Statement) -> Iterator[tuple[str, str]]:
    denied = any(word in lexicon.NEGATIONS for word in one.flow)
    for place, small in enumerate(one.flow):
        joined = denied and small in JOINS  # "no A or B" is "A and B are not"
        if small in _BINDING and not joined and (found := _said_of(one, place)):
            yield small, found


def _said_of(one: Statement, place: int) -> str:
    """The word that the small word at `place` belongs to; "" if none."""
    for at in range(place + 1, min(place + 1 + _NEAR, len(one.flow))):
        word = one.flow[at]
        if one.clause_of[at] != one.clause_of[place] or word in _BINDING - lexicon.ARTICLES:
            return ""
        if word in one.weights and word not in lexicon.GENERIC:
            return word
    return ""


def swapped_words(old: str, new: str) -> bool:
    """Whether only two words or phrases changed places: "commas as marks, points as separators"."""
    one, other = plain_statement(old), plain_statement(new)
    mine, theirs = (_without_articles(each) for each in (one, other))
    if len(mine) != len(theirs) or mine == theirs:
        return False
    differing = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a[0] != b[0]]
    if len(differing) < 2:
        return False
    start, stop = differing[0], differing[-1] + 1
    told = [word for word, _ in theirs[start:stop]]
    lead = mine[start - 1][0] if start else ""
    if _renamed(mine, differing, told, start) or _swapped(mine[start:stop], told, one, lead):
        return True
    return _over_the_end(mine, start, stop, told)


def _without_articles(one: Statement) -> list[_Word]:
    return [
        (word, clause)
        for word, clause in zip(one.flow, one.clause_of, strict=True)
        if word not in lexicon.ARTICLES or word in one.weights
    ]


def _renamed(mine: Sequence[_Word], differing: Sequence[int], theirs: Sequence[str], start: int) -> bool:
    """Whether two words were exchanged everywhere: "A reports to B, and B to C"."""
    pairs = {frozenset((mine[at][0], theirs[at - start])) for at in differing}
    if len(pairs) != 1 or len({mine[at][0] for at in differing}) != 2:
        return False
    first, last = differing[0], differing[-1]
    return len(differing) > 2 or (last - first > 1 and not _listed(mine[first : last + 1], 1, 1))


def _swapped(mine: Sequence[_Word], theirs: Sequence[str], one: Statement, lead: str) -> bool:
    """Whether "X M Y" became "Y M X" and is not just a list; a phrase that moves with its preposition is unchanged.

    `lead` is the word before X: if M ends with it too, both belong to it ("to A by day and to B by night").
    """
    words = [word for word, _ in mine]
    for last in range(1, len(words) - 1):
        if words[-last:] != theirs[:last]:
            continue
        for first in range(1, len(words) - last):
            if words[:first] == theirs[-first:] and words[first:-last] == theirs[last:-first]:
                sides = [words[:first], words[-last:]]
                named = all(any(word in one.weights for word in side) for side in sides)
                moved = any(side[0] in lexicon.PHRASE_STARTS for side in sides)
                same_lead = words[-last - 1] == lead and len(words) - first - last > 1
                listed = _listed([*mine[: -last - 1], *mine[-last:]] if same_lead else mine, first, last)
                return named and not moved and not listed
    return False


def _over_the_end(mine: Sequence[_Word], start: int, stop: int, theirs: Sequence[str]) -> bool:
    """Whether the last words of a clause and the first of the next changed places: "tag with A; B is local"."""
    if not start or stop == len(mine) or mine[stop][0] in JOINS:
        return False
    words, clauses = ([each[part] for each in mine[start:stop]] for part in (0, 1))
    cut = next((at for at in range(1, len(words)) if clauses[at] != clauses[at - 1]), 0)
    rest = clauses[0] == mine[start - 1][1] and clauses[-1] == mine[stop][1] == clauses[cut]
    return bool(cut) and rest and [*words[cut:], *words[:cut]] == list(theirs)


def _listed(mine: Sequence[_Word], first: int, last: int) -> bool:
    """Whether both are in one list: only commas, "and" and other entries are between them."""
    middle = mine[first:-last]
    if any(word in lexicon.FILLER | lexicon.NEGATIONS and word not in JOINS for word, _ in middle):
        return False
    return _parted(mine[first - 1], middle[0]) and _parted(middle[-1], mine[-last])


def _parted(left: _Word, right: _Word) -> bool:
    return left[1] != right[1] or bool({left[0], right[0]} & JOINS)
