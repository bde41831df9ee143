"""Prepares a statement for comparison: weighted words, and what must match before words count. Pure."""

import functools
import re
from dataclasses import dataclass
from typing import NamedTuple

from dreams.lib.prose import lexicon, words
from dreams.lib.prose.words import LONGEST, Token, code_spans, stem, tokens

_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,300}\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|\n]{0,200}\|)?([^\]\n]{0,200})\]\]")
_MARKS = re.compile(r"^[^\S\n]*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|~~")
_BLANKS = re.compile(r"[^\S\n]+")
_QUOTES = dict.fromkeys(map(ord, "\"'“”‘’«»"))
_STOPS = re.compile(r"\s[—–-]+\s|[.,;:!?]+(?=\s|$)")


@functools.lru_cache(maxsize=20_000)
def plain(text: str) -> str:
    """Lower case, single spaces, without list marks, emphasis, link targets, quotes, and punctuation at the end of words."""
    text = unmarked(text).replace("`", "").lower()
    text = _STOPS.sub(" ", text.translate(_QUOTES))
    return " ".join(text.split())


def unmarked(text: str) -> str:
    """Without links, list marks and emphasis; blanks are single ones."""
    text = _BLANKS.sub(" ", text[:LONGEST])
    if "[" in text:
        text = _WIKILINK.sub(lambda name: name[1].replace("_", "-"), _LINK.sub(r"\1", text))
    text = _MARKS.sub("", text)
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text or "~" in text else text


_QUOTE_MARKS = "\"'”’“‘"
_SIGNS = {
    "[x]": "done", "✅": "done", "✔": "done", "☑": "done", "[ ]": "open", "☐": "open", "⬜": "open", "🚧": "open", "⏳": "open",
    "❌": "failed", "✗": "failed", "✘": "failed", "🔴": "failed", "⚠": "warned", "🟡": "warned", "🟢": "done",
}  # fmt: skip
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS), re.IGNORECASE)


def signs(text: str) -> frozenset[str]:
    if text.isascii() and "[" not in text:  # the common case, quickly
        return frozenset()
    code = code_spans(text)
    return frozenset(
        _SIGNS[match[0].lower()]
        for match in _SIGN.finditer(text)
        if not any(start <= match.start() < end for start, end in code)  # `[ ]` is a character class
    )


def asks(text: str) -> bool:
    """Whether it ends with a question that is not quoted."""
    bare = text.strip(" *_`)")
    quoted = bare[-1:] in _QUOTE_MARKS and bare[:1] not in _QUOTE_MARKS
    return not quoted and bare.rstrip(" *_)`" + _QUOTE_MARKS).endswith("?")


class StatementWord(NamedTuple):
    """A word of meaning: `word` is its stem or canonical form, `clause` the number of its clause."""

    word: str
    weight: float
    anchor: bool
    clause: int


@dataclass(frozen=True)
class Statement:
    """A text for comparison; all sets contain canonical forms."""

    text: str
    items: tuple[StatementWord, ...]
    weights: dict[str, float]
    numbers: frozenset[str]
    codes: frozenset[str]
    names: frozenset[tuple[int, str]]  # (clause, name)
    labelled: bool
    signs: frozenset[str]  # done, open, failed, warned: check boxes and similar signs
    raw: frozenset[str]
    flow: tuple[str, ...]  # every word in order, including filler
    written: tuple[str, ...]  # each as written, in lower case; "-shaped" for "dict-shaped"
    clause_of: tuple[int, ...]  # the clause of each
    denied: tuple[tuple[int, tuple[str, ...]], ...]  # (clause, the next words of meaning) for each negation
    contrasts: tuple[tuple[int, frozenset[str]], ...]  # the same for "instead of X", in any order
    marked: tuple[tuple[int, str], ...]  # (clause, word of condition or state)
    kind_of_note: bool  # its label only names the kind of note
    asks: bool
    was: frozenset[str]  # past passives: "was stored"
    is_: frozenset[str]  # present passives: "is stored"
    participles: frozenset[str]  # participles: "imported"

    @functools.cached_property
    def negations(self) -> tuple[tuple[int, frozenset[str]], ...]:
        """(clause, negated words) for each negation."""
        return tuple((clause, frozenset(words)) for clause, words in self.denied)

    @functools.cached_property
    def weight(self) -> float:
        return sum(self.weights.values())

    @property
    def environments(self) -> frozenset[str]:
        return frozenset(lexicon.ENVIRONMENTS[word] for word in self.raw if word in lexicon.ENVIRONMENTS)

    @property
    def days(self) -> frozenset[str]:
        return self.raw & lexicon.DAYS

    @functools.cached_property
    def telling(self) -> dict[str, float]:
        """The weights without very common words ("user", "use", "note"), if there are others."""
        body = {item.word for item in self.items if item.clause or not self.kind_of_note}
        told = {word: self.weights[word] for word in body if word not in lexicon.GENERIC}
        return told or self.weights

    def touched(self, other: "Statement") -> set[int]:
        """The clauses with a word of `other`."""
        return {item.clause for item in self.items if item.word in other.weights}

    def marks(self, other: "Statement") -> set[str]:
        """Conditions and states in clauses about the same as `other`, and in a label ("Planned: ...")."""
        touched = self.touched(other)
        return {
            word
            for clause, word in self.marked
            if clause in touched or (clause == 0 and self.labelled and word in lexicon.UNSETTLED)
        }

    @functools.cached_property
    def clauses(self) -> dict[int, set[str]]:
        """The words of each clause that has any."""
        found: dict[int, set[str]] = {}
        for item in self.items:
            found.setdefault(item.clause, set()).add(item.word)
        return found


_BOX = re.compile(r"^\s*\[[ xX]\]\s", re.MULTILINE)
_CLAUSE = re.compile(r"\s[—–-]+\s|[—–;:.,()\n](?=\s|$)|[(—–]|\bbut\b")
_BETWEEN = frozenset("not all also both now then only still already".split())  # noqa: SIM905 - a word list
_PASSIVE = (
    dict.fromkeys(lexicon.BE | lexicon.GET, "be")
    | dict.fromkeys(lexicon.IS, "is")
    | dict.fromkeys(lexicon.WAS, "was")
)
_TARGETS = frozenset(lexicon.SYNONYMS.values())
_UNIT = re.compile(r"^([#$€£]?[\d.]+)\s?([a-zA-Z%]*)$")
_LABEL = re.compile(r"[^.,;:()\n—–]{1,60}(?::\s|\s[—–-]\s)")
_PHRASE = re.compile(
    r"\b(?:" + "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in lexicon.PHRASES) + r")\b",
    re.IGNORECASE,
)
_PHRASE_SIGN = re.compile(_PHRASE.pattern)  # in lower case the search is seven times as fast
# "No, use uv": an answer, which does not negate what follows.
_ANSWER = re.compile(r"^\s*(?:(?:no|nope|nah)\s*[,.!;]+\s+)+(?=\S)", re.IGNORECASE)
_ACRONYMS = re.compile(r"^([A-Z]{2,})s$")  # "PCs"
_MARKING = lexicon.CONDITIONS | (lexicon.STATUSES - {"was", "were"})
_SUPPOSING = frozenset({"if", "whenever", "unless", "until", "once"})
_ARROW = re.compile(r"\s?(?:->|→|=>|⇒)\s?")


@functools.lru_cache(maxsize=20_000)
def statement(text: str) -> Statement:
    """Parse a text. Cached, as a text is compared with many others."""
    bare = words.evened(_ARROW.sub(" to ", _ANSWER.sub("", _BOX.sub("", unmarked(text)))))
    if _PHRASE_SIGN.search(bare.lower()):
        bare = _PHRASE.sub(lambda m: lexicon.PHRASES[" ".join(m[0].lower().split())], bare)
    bare = bare.replace("()", "")
    found = list(_CLAUSE.finditer(bare))
    cuts = [match.start() for match in found]
    builder = _Builder([match[0].strip() for match in found])
    inside = _inside(builder.cuts)
    clause, opening = 0, True
    for token in tokens(bare.replace("`", " ")):
        while clause < len(cuts) and cuts[clause] <= token.start:
            clause += 1
            opening = True
        builder.joined = bare[token.start - 1 : token.start] == "-"
        builder.add(token, inside.get(clause, clause), opening and clause not in inside)
        opening = False
    return builder.built(text)


@functools.lru_cache(maxsize=20_000)
def canonical(bare: str) -> str:
    """The canonical form of a lower-case word, equal for spellings, number, tense and synonyms."""
    base = words.IRREGULAR.get(bare, bare)
    stemmed = stem(base)
    found = lexicon.SYNONYMS.get(base, lexicon.SYNONYMS.get(stemmed))
    if found is None:
        verb = stemmed if stemmed in _TARGETS else words.verb_of(stemmed)
        verb = verb if verb == stemmed else stem(verb)
        found = lexicon.SYNONYMS.get(verb, verb)
    return found


def _inside(cuts: list[str]) -> dict[int, int]:
    """Clause after closing brackets → the clause before them, which it continues."""
    found: dict[int, int] = {}
    before: list[int] = []
    for clause, cut in enumerate(cuts, 1):
        if cut[:1] == "(":
            before.append(found.get(clause - 1, clause - 1))
        elif cut[:1] == ")" and before:
            found[clause] = before.pop()
    return found


class _Builder:
    """Collects the parts of a statement, token by token."""

    def __init__(self, cuts: list[str]) -> None:
        self.cuts = cuts  # what ends each clause but the last
        self.items: list[StatementWord] = []
        self.numbers: set[str] = set()
        self.codes: set[str] = set()
        self.names: set[tuple[int, str]] = set()
        self.raw: set[str] = set()
        self.flow: list[str] = []
        self.written: list[str] = []
        self.text = ""  # of the token that is being added
        self.clause_of: list[int] = []
        self.marked: list[tuple[int, str]] = []
        self.denials: list[tuple[int, int]] = []  # (clause, items before it)
        self.last: dict[int, str] = {}  # the last word of each clause
        self.contrasts: list[tuple[int, int]] = []
        self.joined = False  # after a hyphen: "jsx-no-spread" is not a negation
        self.supposing: set[int] = set()  # clauses with an "if"
        self.be = ""  # "was" or "is" just before, as of a passive
        self.done: dict[str, set[str]] = {"was": set(), "is": set(), "be": set()}
        self.participles: set[str] = set()

    def add(self, token: Token, clause: int, opening: bool) -> None:
        low = token.text.lower()
        self.text = f"-{low}" if self.joined else low
        self.last[clause] = low
        if token.kind in {"number", "version", "date"}:
            self._number(token.text, clause)
        elif token.kind in {"path", "url", "identifier"}:
            self._code(token, clause)
        else:
            self._word(token.text, clause, opening)

    def _put(self, word: str, weight: float, clause: int, *, anchor: bool = False) -> None:
        self.items.append(StatementWord(word, weight, anchor, clause))
        self._flow(word, clause)

    def _flow(self, word: str, clause: int) -> None:
        self.flow.append(word)
        self.written.append(self.text)
        self.clause_of.append(clause)

    def _number(self, text: str, clause: int) -> None:
        match = _UNIT.match(text.replace(",", "").replace("_", ""))
        value = (match[1] if match else text).lower().removeprefix("v")
        self.numbers.add(value)
        self._put(value, 2.0, clause, anchor=True)
        unit = match[2].lower() if match else ""
        if unit:
            word = lexicon.UNITS.get(unit, unit)
            self.raw.add(word)
            self._put(stem(word), 1.5, clause)

    def _code(self, token: Token, clause: int) -> None:
        text = token.text.rstrip("/.:,").removeprefix("./") or token.text
        word = text.lower().removesuffix("'s")
        known = lexicon.SYNONYMS.get(word, word)
        self.raw.add(word)
        self._put(known, 2.0, clause, anchor=True)
        # GitHub, PostgreSQL: a name as people write it
        if re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*|[A-Z]{2,}s?", text):
            self.names.add((clause, known))
        elif known == word:
            self.codes.add(known)

    def _word(self, text: str, clause: int, opening: bool) -> None:
        text = _ACRONYMS.sub(r"\1", text)
        low = text.lower().replace("’", "'")
        bare = words.american(low.removesuffix("'s"))
        if low in lexicon.NEGATIONS and not self.joined:
            here = (clause, len(self.items))
            if low in lexicon.PROHIBITIONS and self.denials[-1:] == [here]:  # "not forbidden"
                self.denials.pop()
            else:
                self.denials.append(here)
        if low == lexicon.CONTRAST:
            self.contrasts.append((clause, len(self.items)))
        self._tense(bare, clause)
        self.raw.update((bare, stem(bare)))
        if bare in lexicon.NUMBER_WORDS:
            self._number(lexicon.NUMBER_WORDS[bare], clause)
        elif self._means_nothing(text, bare, opening):
            self._flow(bare, clause)
        else:
            self._meaning(text, bare, clause, opening)

    def _means_nothing(self, text: str, bare: str, opening: bool) -> bool:
        if text == "A" and not opening and self.flow:  # "service A"
            return False
        if bare == "user":  # "The user prefers ..." is about nobody else
            return not self.flow or self.flow[-1] == "the" or opening
        return bare in lexicon.FILLER or bare in lexicon.NEGATIONS

    def _tense(self, bare: str, clause: int) -> None:
        """Adds states and conditions; "was" is one, except in a passive."""
        if bare in _SUPPOSING:  # "if it was clamped" is not in the past
            self.supposing.add(clause)
        done = bare.endswith("ed") or bare in words.PARTICIPLES
        if done:
            self.participles.add(canonical(bare))
        if bare in _PASSIVE:
            self.be = "be" if clause in self.supposing else _PASSIVE[bare]
        elif self.be and bare not in _BETWEEN and not bare.endswith("ly"):
            if done:
                self.done[self.be].add(canonical(bare))
            elif self.be == "was":
                self.marked.append((clause, "was"))
            self.be = ""
        if bare in lexicon.STATE_PASTS and (not self.flow or self.flow[-1] not in lexicon.PERFECT_OR_PASSIVE):
            self.marked.append((clause, "formerly"))
        if bare in _MARKING:
            self.marked.append((clause, bare))

    def _meaning(self, text: str, bare: str, clause: int, opening: bool) -> None:
        word = canonical(bare)
        shouted = len(text) > 1 and text.isupper()
        named = (text[0].isupper() and not opening) or shouted
        if named and bare not in lexicon.DAYS:
            self.names.add((clause, word))
        weight = 0.5 if word in lexicon.GENERIC else 1.5 if named else 1.0 + 0.05 * min(len(bare), 8)
        self._put(word, weight, clause, anchor=named)

    def built(self, text: str) -> Statement:
        weights: dict[str, float] = {}
        for item in self.items:
            weights[item.word] = max(item.weight, weights.get(item.word, 0.0))
        return Statement(
            text,
            tuple(self.items),
            weights,
            frozenset(self.numbers),
            frozenset(self.codes),
            frozenset(self.names),
            bool(_LABEL.match(unmarked(text))),
            signs(text),
            frozenset(self.raw),
            tuple(self.flow),
            tuple(self.written),
            tuple(self.clause_of),
            tuple(self._denial(clause, at) for clause, at in self.denials),
            tuple((at, frozenset(said)) for at, said in (self._denial(*each) for each in self.contrasts)),
            tuple(self.marked),
            self.last.get(0, "") in lexicon.NOTE_KINDS and self.cuts[:1] in (["—"], ["–"], ["-"], [":"]),
            asks(text),
            frozenset(self.done["was"]),
            frozenset(self.done["is"]),
            frozenset(self.participles),
        )

    def _denial(self, clause: int, at: int) -> tuple[int, tuple[str, ...]]:
        """The clause, and up to three words of it, that a negation applies to: the next clause if it introduces something ("Does
        not have: X") or is alone, the one before if it is alone at the end, else its own.
        """
        own = [item.word for item in self.items[at:] if item.clause == clause]
        introduces = len(own) < 2 and self.cuts[clause : clause + 1] == [":"]
        alone = all(item.clause != clause for item in self.items)
        # "Floats are not used: amounts are stored in cents" negates its own clause.
        if alone or (introduces and self.participles.isdisjoint(own)):
            following = next((place for place, i in enumerate(self.items) if i.clause > clause), None)
            if following is not None:
                at, clause = following, self.items[following].clause
            elif alone and self.items:  # "It runs on host alpha, not."
                at, clause = max(0, len(self.items) - 3), self.items[-1].clause
        return clause, tuple(
            i.word for i in self.items[at : at + 3] if i.clause == clause and i.word not in lexicon.STATUSES
        )
