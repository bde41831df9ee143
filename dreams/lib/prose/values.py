"""Finds the words and values of a sentence: numbers, code, names, paths, addresses and dates. Pure.

Cost is linear in the text, whatever the text is.
"""

import functools
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import re2

from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import canonical
from dreams.lib.prose.words import MONTHS

ValueKind = Literal["code", "address", "path", "date", "number", "identifier", "name"]

LONGEST = 2_000  # characters of a statement that are read
_FORMS = (
    r"(?P<code>`[^`\n]{1,400}`)"
    r"|(?P<address>[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<date>\b\d{4}-\d{2}-\d{2}\b)"
    r"|(?P<path>(?:~|\.{1,2})?/[\w@.{}*:-]*[\w*}](?:/[\w@.{}*:-]+)*/?|[\w@.-]+(?:/[\w@.{}*:-]+){2,}|[\w@-]+(?:/[\w@-]+)*\.[a-z]{1,5}\b)"
    r"|(?P<identifier>\b0[xX][0-9a-fA-F]+\b|\b\d+[a-zA-Z]+\d[0-9a-zA-Z]*\b)"
    r"|(?P<number>\+\d{1,3} \d{6,}|[#$€£]?\b[vV]?\d+(?:[.,:_]\d+)*(?:[eE]-\d+)?(?:\s?%|[a-zA-Zµ]{1,3}\b)?)"
    r"|(?P<word>#?[\pL\d_][\pL\pM\d_]*(?:[-_.:'’/][\pL\d_][\pL\pM\d_]*)*(?:\(\))?)"
)
_RE2 = re2.compile(_FORMS)
# The same for Python, which is faster to call, where its classes are those of RE2: texts of these letters and marks, and of
# characters that are neither. It reads a run of characters again from each place in it, so RE2 reads texts with long runs.
_LETTERS, _MARKS = "a-zA-ZªµºÀ-ÖØ-öø-ʯΑ-ΡΣ-ώЀ-ҁҊ-ԯḀ-ỿぁ-ゖァ-ヺー-ヿ㐀-䶵一-龥가-힣", "\u0300-\u036f\ufe0f"
_KNOWN = re.compile(
    rf"[\0-\n\f-\x7f\xa0-\xbf×÷\u2000-\u2070\u20a0-\u20bf\u2190-\u2bff\U0001f300-\U0001faff{_LETTERS}{_MARKS}]*"
)
_LONG_RUN = re.compile(r"[\w@.{}*:+/-]{100}", re.ASCII)
_PLAIN = r"(?<![^ \n])[A-Za-z]+(?:[-_][A-Za-z0-9]+)*(?=[,.;:!?)]*(?:[ \n]|\Z))"  # most words
_FAST = re.compile(
    _FORMS.replace(r"\pL", _LETTERS).replace(r"\pM", _MARKS).replace("(?P<code>", f"{_PLAIN}|(?P<code>"),
    re.ASCII,
)
_KINDS = {at: kind for kind, at in _FAST.groupindex.items()} | {None: "word"}
_ENDERS = tuple(".!?:;")
# The target of a link is not part of the text.
_TARGET = re.compile(r"(?<=\])\([^()\s]{1,300}\)|\[\[[^\]\n]{1,200}\]\]")
# Chinese and Japanese have no spaces: every two adjacent characters count as a word.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"  # Korean too: "8080입니다" has the number 8080
BEFORE, BEHIND = rf"(?<!{_LETTER})(?<!-)", rf"(?!{_LETTER}|-|\.\w)"  # a whole value
_PARTS = re.compile(
    rf"(?P<pair>{UNSPACED.pattern})(?={UNSPACED.pattern})|\d\d?:\d\d(?!\d)|(?:(?!{UNSPACED.pattern})[^/:])+"
)
_MEASURED = re.compile(r"\d[\d:]*(?:[a-zA-Z]{1,2})?")
_INNER = re.compile(r"[^\W\d_]+|\d+")
# Verbs that nearly every note has.
_WEAK = frozenset(
    map(canonical, "be use run have do go get set take make need want work keep see call".split())  # noqa: SIM905 - a word list
)
_MONTHS = frozenset(  # "mar" and "march", but not "MariaDB 11"
    name[:length] for name in MONTHS for length in (3, 4, len(name))
)
_PARTS_WEIGH = 0.5  # of a plain word: the words inside a path or an identifier
MOST_NAME = 4  # words of a name
_NAME, _VALUE = 1.6, 2.0  # weights of a name and a value; a plain word weighs 1; chosen


class Value(NamedTuple):  # thousands of them are made
    """A value at `start` to `end` of its text. `sort` is what it is a value of, if a word beside it says so: "port", "day"; `unit`
    is the one after it."""

    kind: ValueKind
    key: str
    start: int
    end: int
    sort: frozenset[str] = frozenset()
    unit: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether it is a number or date, not a name."""
        return self.kind in {"number", "date"}


class WordsAndValues(NamedTuple):
    """The parsed text: weights of words and values, and what may distinguish it from another text."""

    terms: dict[str, float]
    values: tuple[Value, ...]
    anchors: frozenset[str]  # the keys of the values
    weight: float
    environments: frozenset[str]
    denials: int
    pairs: frozenset[str]  # pairs of adjacent words; rare ones are names ("mail relay")

    @property
    def keys(self) -> frozenset[str]:
        """Its words, pairs and values, as search keys."""
        return self.anchors.union(self.terms, self.pairs)


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    opens: bool  # begins a sentence
    labelled: bool = False  # after a colon: a value, if little follows


@functools.lru_cache(maxsize=50_000)
def read(text: str) -> WordsAndValues:
    """The words and values of a statement. Only its first 2,000 characters are read."""
    told = text[:LONGEST].replace("\xa0", " ")
    if "]" in told:
        told = _TARGET.sub(lambda match: " " * len(match[0]), told)
    found = _tokens(encodable(told))
    terms: dict[str, float] = {}
    values: list[Value] = []
    environments: set[str] = set()
    telling: list[tuple[str, int, int]] = []
    denials = 0
    past = 0  # the last name
    for place, token in enumerate(found):
        if place < past:
            continue
        run = _name_at(found, place) if token.text[0].isupper() else 0
        if run:
            past = place + run
            name = found[place:past]
            key = " ".join(each.text.lower().removesuffix("'s").removesuffix("’s") for each in name)
            values.append(Value("name", key, token.start, name[-1].end))
            for each in name:
                _add(terms, canonical(_bare(each.text)), _NAME)
            environments |= _environments(each.text for each in name)
            telling.append((key, token.start, name[-1].end))
            continue
        plain = None if token.kind == "number" else _plain(token.kind, token.text, token.opens)
        if plain is not None:
            word, weight, places, denies = plain
            denials += denies
            if places:
                environments |= places
            if weight > terms.get(word, 0.0):
                terms[word] = weight
            if weight >= 1.0:
                telling.append((_bare(token.text), token.start, token.end))
        else:
            parts = _INNER.findall(token.text)
            values += _take(_value(token, found, place), parts, terms)
            environments |= _environments(parts)
    anchors = frozenset([value.key for value in values])
    pairs = frozenset([f"{a} {b}" for (a, _, end), (b, start, _) in pairwise(telling) if start == end + 1])
    return WordsAndValues(
        terms, tuple(values), anchors, sum(terms.values()), frozenset(environments), denials, pairs
    )


def _take(value: Value, parts: list[str], terms: dict[str, float]) -> tuple[Value, ...]:
    """A value and those inside it; adds their weights and the words among its `parts` to `terms`."""
    inside = tuple(_inside(value))
    for each in (*inside, value):
        _add(terms, each.key, _VALUE)
    for part in parts if value.kind != "number" else ():
        if len(part) > 1 and not part.isdigit() and not _is_light(word := canonical(part.lower())):
            _add(terms, word, _PARTS_WEIGH)
    return (value, *inside)


def missing(one: WordsAndValues, other: WordsAndValues) -> set[str]:
    """The values of one that the other has neither as a value nor in plain words."""
    return {key for key in one.anchors - other.keys if canonical(key) not in other.terms}


def shared_values(one: WordsAndValues, other: WordsAndValues) -> frozenset[str]:
    """The common values of two texts, including those in plain words, and the common pairs."""
    both = (one.anchors - missing(one, other)) | (other.anchors - missing(other, one))
    return both | (one.pairs & other.pairs)


def count_words(text: str) -> int:
    """The number of words in a text; without spaces two characters count as one."""
    return len(text.split()) + len(UNSPACED.findall(text)) // 2


def encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, as RE2 reads bytes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _add(terms: dict[str, float], word: str, weight: float) -> None:
    if weight > terms.get(word, 0.0):
        terms[word] = weight


def _bare(text: str) -> str:
    return text.lower().replace("’", "'").removesuffix("'s")


def _is_light(word: str) -> bool:
    return word in lexicon.FILLER or word in lexicon.GENERIC or word in _WEAK


@functools.lru_cache(maxsize=20_000)
def _plain(sort: str, text: str, opens: bool) -> tuple[str, float, set[str], bool] | None:
    """`_weighed` for a token that can never be a value, which most are; else None."""
    if sort == "code" and text.strip("`").isdigit():
        return None  # it may be the day of a month, as every number
    return None if _named(sort, text, opens)[0] else _weighed(text)


@functools.lru_cache(maxsize=20_000)
def _weighed(text: str) -> tuple[str, float, set[str], bool]:
    """The canonical form of a plain word, its weight, its environments, and whether it is a negation."""
    low = _bare(text)
    places, denies = _environments([low]), low in lexicon.NEGATIONS or low.endswith("n't")
    if denies or low in lexicon.FILLER:
        return low, 0.0, places, denies
    if low in lexicon.NUMBER_WORDS:
        return lexicon.NUMBER_WORDS[low], _NAME, places, False
    word = canonical(low)
    weight = 0.25 if _is_light(word) else 0.6 if word in lexicon.EVERYDAY else 1.0
    return word, weight, places, False


def _environments(words: Iterator[str] | list[str]) -> set[str]:
    return {named for word in words if (named := lexicon.ENVIRONMENTS.get(word.lower()))}


def _tokens(text: str) -> list[_Token]:
    """The tokens; only inline code and "%" after a number include a space."""
    found: list[_Token] = []
    before = 0
    is_fast = _KNOWN.fullmatch(text) and not _LONG_RUN.search(text)
    for match in (_FAST if is_fast else _RE2).finditer(text):
        start, end = match.span()
        if match.lastindex is None and text[before:start] == " ":  # most of them
            found.append(_Token("word", match[0], start, end, not before))
        else:
            found += _behind(text[before:start], match[0], _KINDS[match.lastindex], start)
        before = end
    return found


def _behind(between: str, held: str, kind: str, start: int) -> Iterator[_Token]:
    """A token, or its two parts, and whether it begins a sentence."""
    opens = len(between) == start or "\n" in between or between.rstrip(" *_\"'”’)")[-1:] in _ENDERS
    if kind == "word" and ("/" in held or ":" in held or (not held.isascii() and UNSPACED.search(held))):
        for part in _PARTS.finditer(held):  # "flags/args", "localhost:8080": two words
            at, told = start + part.start(), held[part.start() :][:2] if part["pair"] else part[0]
            is_number = told.isdigit() or (not held.isascii() and _MEASURED.fullmatch(told))
            sort = "number" if is_number else "word"
            yield _Token(sort, told, at, at + len(told), opens and at == start)
    else:
        held = held.rstrip(".,:;!?") if kind in {"path", "address"} else held
        yield _Token(kind, held, start, start + len(held), opens, between.rstrip(" *_")[-1:] == ":")


def _name_at(found: list[_Token], place: int) -> int:
    """The number of words from here that are one name: "Carla Castellanos", "PostgreSQL"; 0 if none."""
    run = 0
    while place + run < len(found) and run < MOST_NAME and _is_capital(found, place + run, run):
        run += 1
    if not run:
        return 0
    first, low = found[place], _bare(found[place].text)
    opens = first.opens and not (first.labelled and len(found) - place - run <= 1)
    if run == 1:
        is_unit = place and found[place - 1].kind == "number" and low in lexicon.UNITS
        plain = is_unit or low in lexicon.FILLER or low in lexicon.NEGATIONS or low in lexicon.DAYS
        is_product = len(first.text) > 1 and (first.text.isupper() or is_camel(first.text))
        return 0 if plain or (opens and not is_product) else 1
    # "Use Docker", "Debugging ShopWeb": a verb, and then a name.
    is_verb = low in lexicon.KNOWN or (is_camel(found[place + 1].text) and not is_camel(first.text))
    return 0 if opens and is_verb else run


def _is_capital(found: list[_Token], place: int, run: int) -> bool:
    token = found[place]
    if token.kind != "word" or not token.text[0].isupper() or _is_code(token.text):
        return False
    if _bare(token.text) in _MONTHS and place + 1 < len(found) and found[place + 1].kind == "number":
        return False  # "Checked May 4, 2026"
    joined = not run or token.start == found[place - 1].end + 1
    return joined and not (run and (token.opens or _bare(token.text) in lexicon.FILLER))


def is_camel(text: str) -> bool:
    """Whether a capital follows a lower-case letter: "useChat", "PostgreSQL"."""
    return text.isalnum() and any(one.islower() and other.isupper() for one, other in pairwise(text))


def _is_code(text: str) -> bool:
    return "_" in text or "-" in text or "." in text or ":" in text or text.endswith("()")


def _value(token: _Token, found: list[_Token], place: int) -> Value:
    """The value of a token that is not `_plain`."""
    if token.kind == "number" or (token.kind == "code" and token.text.strip("`").isdigit()):
        if _is_day_of_month(found, place):
            return Value("date", token.text.lower(), token.start, token.end)
        key, unit = _measured(token.text.strip("`"))
        before, behind = (
            _sort(found[at].text) if 0 <= at < len(found) and found[at].kind == "word" else frozenset[str]()
            for at in (place - 1, place + 1)
        )
        named = next(iter(unit or behind), "")
        return Value("number", key, token.start, token.end, before | behind | unit, named)
    kind, key = _named(token.kind, token.text, token.opens)
    assert kind is not None  # noqa: S101  # else it were a plain one
    return Value(kind, key, token.start, token.end)


@functools.lru_cache(maxsize=20_000)
def _named(sort: str, text: str, opens: bool) -> tuple[ValueKind | None, str]:
    low = text.lower()
    if sort == "code":
        inner = " ".join(low.strip("`").split())
        return ("code" if " " in inner else _kind_of_code(inner)), _as_identifier(inner)
    if sort == "date":
        return "date", low
    if sort == "address":
        return "address", low.rstrip("/")
    if sort == "path":
        return "path", low.rstrip("/").removeprefix("./")
    bare = _bare(text).removesuffix("()")
    joined = is_camel(text) and not (opens and text[0].isupper())
    coded = joined or _is_code(text) or low[0] == "#" or any(map(str.isdigit, low))
    return ("identifier" if coded and "'" not in bare else None), _as_identifier(bare)


def _kind_of_code(text: str) -> ValueKind:
    kinds = [token.kind for token in _tokens(text)]
    if kinds == ["path"]:
        return "path"
    return "address" if kinds == ["address"] else "identifier"


def _as_identifier(text: str) -> str:
    """A key that is equal for "ledger_worker" and "Ledger-Worker"."""
    return text.replace("_", "-") if " " not in text and "/" not in text else text


def _inside(value: Value) -> Iterator[Value]:
    """The values inside a command or address: the target without the program, the host alone."""
    if value.kind == "address" and "://" in value.key:
        host = value.key.partition("://")[2].partition("/")[0]
        if host != value.key:
            yield Value("identifier", host, value.start, value.end)
    if value.kind == "code" and " " in value.key:
        for token in _tokens(value.key):
            if token.kind in {"path", "address"} or (
                token.kind == "word" and _is_code(token.text) and len(token.text) > 3
            ):
                key = token.text.strip("`").rstrip("/").removeprefix("./")
                yield Value("identifier", key, value.start, value.end)


def _is_day_of_month(found: list[_Token], place: int) -> bool:
    """Whether a number is beside the name of a month, or a year after one: "Apr 20, 2026"."""
    if ":" in found[place].text:
        return False
    around = [found[at].text for at in (place - 1, place + 1, place - 2) if 0 <= at < len(found)]
    year = len(found[place].text) == 4 and found[place].text.startswith(("19", "20"))
    near = around if year else around[:2]
    return any(text[:3].lower() in _MONTHS and _bare(text) in _MONTHS for text in near)


def _measured(text: str) -> tuple[str, frozenset[str]]:
    """ "45s" is 45, and its sort is a second."""
    bare = text.lower().replace(" ", "").replace(",", "").replace("_", "").lstrip("v")
    digits = bare.rstrip("abcdefghijklmnopqrstuvwxyzµ%")
    unit = bare[len(digits) :]
    return digits, frozenset({canonical(lexicon.UNITS.get(unit, unit))}) if unit else frozenset()


@functools.lru_cache(maxsize=20_000)
def _sort(text: str) -> frozenset[str]:
    """The kind of a number, from the plain word right before or after it."""
    low = _bare(text)
    return frozenset() if low in lexicon.FILLER else frozenset({canonical(lexicon.UNITS.get(low, low))})
