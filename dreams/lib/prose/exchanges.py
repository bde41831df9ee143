"""Finds the value that a statement replaces: another statement's value for the same thing. Pure.

A thing is a name, or two rare adjacent words, in both statements. Their values differ but are of one kind (two ports,
two commands, two words after a colon), or one is called old.
"""

import re
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain

from dreams.lib.prose import lexicon
from dreams.lib.prose.comparing import TELLING, UNITS, adds, of_one_sort
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import PlacedText
from dreams.lib.prose.statements import canonical
from dreams.lib.prose.values import BEFORE, BEHIND, MOST_NAME, Value, read
from dreams.lib.prose.words import IRREGULAR

MOST_OF_A_THING = 8  # statements about a thing; with more it is unclear which one is meant
MOST_OWN = 2  # words of a statement besides thing and value
LEAST_WEIGHT = 0.6  # least weight of a meaningful word
MOST_SLOT = 4  # words of a value after a colon
_COMMON_SORTS = frozenset({"A", "day", "a", "slot", "word", "aA", "Aa"})  # just words or names
_THE = ("renamed the ", "renamed our ", "rename the ", "rename our ")
_SLOT = re.compile(r"(?::|\s=)\s+(?P<value>[^:=;,()]{2,40}?)\s*(?:\([^()]*\))?[.!]*$")
_NUMBER_INSIDE = re.compile(r"[:=](\d{2,5})(?=/|`|$)")
_WORD = re.compile(r"\w+")
_RUNS = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z]+|\d+")
# Words right before, or right after, a past value.
_WAS = re.compile(
    r"\b(?:from|instead of|no longer|no more|not|was|previously|formerly|(?:renamed?|replaced?|swapped)(?! (?:by|with|for|to)\b)|"
    r"dropped|removed|rather than|rid of|left)\s+(?:\w+ )?[`\"'*]*$",
    re.IGNORECASE,
)
_IS_PAST = re.compile(
    rf"(?:\s(?:{'|'.join(lexicon.UNITS)})\b)?[`\"'*]*\s*(?:->|=>|→|is (?:gone|dead|now called|no longer)|was\b|merged into)",
    re.IGNORECASE,
)
# "renamed the checkout-api flag to …": a property of the named thing.
_OF_IT = re.compile(r"[`\"'*]* (?!(?:into|to|by|with|for|as)\b)[a-z]+ (?:in)?to\b", re.IGNORECASE)
_WORDS_EXCHANGED = (
    re.compile(
        r"(?P<old>[\w.#/-]+)[`*]*\s+(?:to|->|=>|→|is now called|renamed to)\s+[`*]*(?P<new>[\w.#/-]*\w)"
    ),
    re.compile(
        r"(?P<new>[\w.#/-]*\w)[`*]*(?: now)?,? (?:instead of|rather than|not|no longer) [`*]*(?P<old>[\w.#/-]*\w)"
    ),
)

# Words about the change itself and its time.
_OF_A_CHANGE = frozenset(
    map(
        canonical,
        "move migrate switch change upgrade downgrade bump raise lower increase reduce rename replace swap drop exchange update "  # noqa: SIM905 - a word list
        "port version value name back longer anymore instead today yesterday since last this week month year recently finally just".split(),
    )
)
# Words right behind a new one that may belong to it.
_MORE = re.compile(
    rf"(?: (?!(?:{'|'.join(sorted(lexicon.FILLER | lexicon.NARROWING | lexicon.DAYS | _OF_A_CHANGE))})\b)[\w-]+){{1,2}}",
    re.IGNORECASE,
)
_FRAME = lexicon.BE | lexicon.ARTICLES | lexicon.NARROWING | {"has", "have", "we", "i", "now"}


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """A value as written; `sort` is its form if nothing else shows what it is a value of."""

    start: int
    end: int
    text: str
    key: str
    sort: str
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """`old` of one statement and `new` of another. `sure`: the old one is `named`, or both are of a rare kind."""

    old: ValueSpan
    new: ValueSpan
    sure: bool
    named: bool = False


def things(index: StatementIndex, text: str, *, told: bool = False) -> Iterator[tuple[str, list[PlacedText]]]:
    """Each thing in a text that memory has statements about, with these statements; if there are too many and it is `told`, those
    that have another value of the text."""
    reading = read(text)
    values = reading.anchors if told else frozenset[str]()
    numbers = {value.start for value in reading.values if value.kind == "number" and not value.sort & UNITS}
    for value in reading.values:
        # "Java 17" is a value, not a thing with one; "gave the importer 17 GB" names the thing.
        if (
            value.kind in {"identifier", "name", "path"}
            and "/" not in value.key
            and value.end + 1 not in numbers
        ):
            for key in dict.fromkeys((value.key, value.key.partition(".")[0])):
                found = _few(index.once((key,), partial(_naming, index, key)), values - {key})
                if len(key) > 2 and found:
                    yield key, found
    for key in _known_names(index, text):
        yield key, _few(index.once((key,), partial(_naming, index, key)), values)
    for pair in sorted(reading.pairs):
        if found := _few(index.once(("pair", pair), partial(index.with_words, [pair])), values):
            yield pair, found


def _known_names(index: StatementIndex, text: str) -> Iterator[str]:
    """Names of several words in memory, typed in lower case or with spaces: "hazel mailer", "mail relay"."""
    words = _WORD.findall(text.lower())
    named = read(text).keys
    for count in range(MOST_NAME, 1, -1):
        for at in range(len(words) - count + 1):
            part = words[at : at + count]
            for key in (" ".join(part), "-".join(part)):
                if key in index.values and key not in named:
                    yield key


def _few(found: list[PlacedText], values: Set[str]) -> list[PlacedText]:
    if len(found) > MOST_OF_A_THING:
        found = [each for each in found if values & each.reading.anchors] if values else []
    return found if len(found) <= MOST_OF_A_THING else []


def _naming(index: StatementIndex, key: str) -> list[PlacedText]:
    """The statements with a name, alone or followed by a dotted part."""
    parts = [part for part in re.split(r"[-_.\s]", key) if len(part) > 1]
    near = dict.fromkeys(index.with_words([key]))
    if len(parts) > 1:
        near |= dict.fromkeys(index.with_words([canonical(part.lower()) for part in parts]))
    return [each for each in near if key in _names(each.reading.anchors)]


@lru_cache(maxsize=20_000)
def _names(anchors: frozenset[str]) -> frozenset[str]:
    return anchors.union(anchor.partition(".")[0] for anchor in anchors)


@lru_cache(maxsize=20_000)
def spans(text: str, thing: str) -> tuple[ValueSpan, ...]:
    """The values of a text besides its thing; a name and the number after it are one ("Java 17")."""
    values = sorted((v for v in read(text).values if v.kind != "date"), key=lambda v: (v.start, -v.end))
    found: list[ValueSpan] = []
    for value in values:
        if _is_thing(value.key, thing) or (found and value.end <= found[-1].end):
            continue
        before = found[-1] if found else None
        if before and before.sort == "A" and value.kind == "number" and value.start == before.end + 1:
            found[-1] = _span(text, before.start, value.end, None)
        else:
            found.append(_span(text, value.start, value.end, value))
    slot = _SLOT.search(text)
    if (
        slot
        and not found
        and not _is_thing(slot["value"].lower(), thing)
        and len(slot["value"].split()) <= MOST_SLOT
    ):
        found.append(ValueSpan(*slot.span("value"), slot["value"], slot["value"].strip("`").lower(), "slot"))
    return tuple(found)


def _is_thing(key: str, thing: str) -> bool:
    return key == thing or key.startswith(f"{thing}.") or thing in key.split()


def _span(text: str, start: int, end: int, value: Value | None) -> ValueSpan:
    held = text[start:end]
    key = value.key if value else " ".join(held.lower().split())
    return ValueSpan(start, end, held, key, _sort(held, value), value)


def _sort(text: str, value: Value | None) -> str:
    """The kind of a value, equal for "#alerts" and "#ops-night", "Java 17" and "Go 1.22", "eu-west-1" and "us-east-2", two commands."""
    if value and (value.kind in {"number", "address", "code"} or (value.kind == "path" and "/" in text)):
        return value.kind
    bare = text.strip("`")
    if bare.lower().removesuffix("s") in lexicon.DAYS:  # "on Tuesdays" is not "in British English"
        return "day"
    if bare.isalpha() or (value and value.kind == "name" and bare.replace(" ", "").isalpha()):
        return "A"
    if bare.startswith(("#", "0x")):
        return bare[0]
    shape = _RUNS.sub(lambda m: "0" if m[0].isdigit() else "A" if m[0][0].isupper() else "a", bare)
    return re.sub(r"(0)(?:[.]0)+", r"\1", re.sub(r"([aA])\1+", r"\1", shape))


def exchange(text: str, said: str, thing: str, known: Sequence[str] = ()) -> Exchange | None:
    """The value in `said` that replaces a value of a statement; None if that is not clear.

    `known` are other statements about the thing, whose values are not new.
    """
    mine = (*spans(text, thing), *_numbers_inside(text))
    theirs = [_with_program(span, said, mine) for span in spans(said, thing)]
    held = (*mine, *_versions(mine))
    had = {span.key for span in held} | {span.key for each in known for span in spans(each, thing)}
    fresh = [span for span in theirs if span.key not in had]
    past = [span for span in held if _named(span, said)]
    if adds(said, text) and not any(is_told_past(each.text, said) for each in past):
        return None
    if fresh and past and (made := _of_named(past, fresh, said, mine)):
        return made
    if not fresh:
        return _of_words(text, said, thing)
    alike = [(old, new) for old in mine if old not in past for new in fresh if _alike(old, new)]
    pairs = [pair for pair in alike if pair[0].sort not in _COMMON_SORTS] or alike
    alone = len(mine) == len(fresh) == len(theirs) == 1
    if not pairs and alone and _beside(text, mine[0]) == _beside(said, theirs[0]):
        return Exchange(mine[0], fresh[0], True)
    return Exchange(*pairs[0], pairs[0][0].sort not in _COMMON_SORTS) if len(pairs) == 1 else None


def _versions(found: Sequence[ValueSpan]) -> Iterator[ValueSpan]:
    """The numbers of named values, which may be told without the name: "from 15 to 16" of "PostgreSQL 15"."""
    for number, span in ((span.text.rpartition(" ")[2], span) for span in found if span.sort == "A 0"):
        start = span.end - len(number)
        yield ValueSpan(start, span.end, number, number, "number", Value("number", number, start, span.end))


def _numbers_inside(text: str) -> Iterator[ValueSpan]:
    """The numbers at the end of other values: of `PORT=8080`, `localhost:8080` and "http://localhost:8080/"."""
    whole = dict.fromkeys((value.start, value.end) for value in read(text).values if value.kind != "number")
    for start, end in whole:
        if found := _NUMBER_INSIDE.search(text, start, end):
            number = Value("number", found[1], *found.span(1))
            yield ValueSpan(number.start, number.end, found[1], found[1], "number", number)


def _with_program(span: ValueSpan, said: str, known: Sequence[ValueSpan]) -> ValueSpan:
    """A value with the words before it that a known one begins with: a command typed without backticks, "contact Tom" for "Contact Ana"."""
    for each in known:
        *words, _ = each.text.strip("`").split(" ")
        for program in (" ".join(words), *words[:1]):  # also of "Contact Ana Ruiz"
            if program and said[: span.start].lower().endswith(f"{program} ".lower()):
                return replace(_span(said, span.start - len(program) - 1, span.end, None), sort=each.sort)
    return span


def _beside(text: str, value: ValueSpan) -> list[str]:
    return _WORD.findall(f"{text[: value.start]} {text[value.end :]}".lower())


def _named(span: ValueSpan, said: str) -> bool:
    name = span.text.strip("`").lower()
    text = said.lower()
    return name in text and re.search(rf"{BEFORE}(?<!\.){re.escape(name)}{BEHIND}", text) is not None


def _of_named(
    past: Sequence[ValueSpan], fresh: Sequence[ValueSpan], said: str, mine: Sequence[ValueSpan]
) -> Exchange | None:
    """The common value that is called past; without such a word the only one of the new value's kind."""
    old = [each for each in past if is_told_past(each.text, said)]
    now = fresh if old else [each for each in fresh if not is_told_past(each.text, said)]
    pairs = [(one, new) for one in old or past for new in now if _alike(one, new)]
    # "port 9000 instead of /run/api.sock": a number in the place of a name leaves the word before it wrong.
    numbers = {each.sort == "number" for each in (*old, *fresh)}
    # "The relay was moved to box-2" takes the place of box-1 and not of the relay.
    fits = any(_alike(each, new) for each in mine if each not in old for new in fresh)
    units = {each.value.unit for each in (*old, *fresh) if each.value} & UNITS  # "2 GB", "500 MB"
    alone = len(fresh) == len(numbers) == 1 and len(units) < 2 and not fits
    pairs = pairs or [(one, new) for one in old for new in fresh if alone]
    one = len({(old.key, new.key) for old, new in pairs}) == 1
    return Exchange(*pairs[0], sure=True, named=True) if one else None


def is_told_past(value: str, said: str) -> bool:
    """Whether the words beside a value call it past: "from trunk", "instead of 41873"."""
    bare = re.escape(value.strip("`"))
    found = re.search(rf"(?<!\d)(?<!\d[.,]){bare}(?![.,]?\d)", said, re.IGNORECASE)  # 238 is not 23
    if found is None:
        return False
    before, after = said[: found.start()], said[found.end() :]
    is_left = _WAS.search(before) and not (before.lower().endswith(_THE) and _OF_IT.match(after))
    return bool(is_left or _IS_PAST.match(after))


def told_past(text: str) -> set[str]:
    """The values that a text calls past, but not the thing that "was moved to" a value of another kind."""
    past = {v.key for v in read(text).values if is_told_past(text[v.start : v.end], text)}
    for one in (found := spans(text, "")):
        others = [each for each in found if each is not one]
        if others and text.startswith(" was ", one.end) and not any(_alike(one, each) for each in others):
            past.discard(one.key)
    return past


def _of_words(text: str, said: str, thing: str) -> Exchange | None:
    """An exchange of two plain words, the first one in the statement: "renamed mainline to trunk"."""
    for found in chain.from_iterable(pattern.finditer(said) for pattern in _WORDS_EXCHANGED):
        old, new = found["old"], found["new"]
        if old.lower() in {"every", "each"}:  # it begins a value: "daily instead of every Friday afternoon"
            old = said[found.start("old") :].rstrip(" .!")
        at = re.search(rf"(?<![\w.-]){re.escape(old)}(?![\w-])", text)
        # "Do not run" does not replace "run".
        is_value = new.lower() not in lexicon.FILLER and len(old) > 2
        if at and old.lower() not in thing and new.lower() not in text.lower() and is_value:
            gone = ValueSpan(*at.span(), old, old.lower(), "word")
            more = _MORE.match(said, found.end("new"))  # "from biome to ruff format"
            start, end = found.start("new"), more.end() if more else found.end("new")
            come = ValueSpan(start, end, said[start:end], said[start:end].lower(), "word")
            return Exchange(gone, come, sure=not more, named=True)
    return None


def _alike(old: ValueSpan, new: ValueSpan) -> bool:
    if old.value and new.value and old.sort == new.sort == "number":
        return of_one_sort(old.value, new.value)
    if old.sort == new.sort == "path":
        return old.text.rpartition("/")[2].count(".") == new.text.rpartition("/")[2].count(".")
    names = {"A", "A 0"}
    return old.sort == new.sort or {old.sort, new.sort} == names


def is_about(statement: PlacedText, thing: str) -> bool:
    """Whether a title, or the beginning of the statement, names the thing."""
    opens = _joined(statement.text.lstrip("*`([ ")).removeprefix("the-").startswith(_joined(thing))
    return opens or _joined(thing) in _titles(statement)


def is_in_a_title(key: str, statement: PlacedText) -> bool:
    return len(key) > 2 and _joined(key) in _titles(statement)


def _titles(statement: PlacedText) -> str:
    return _joined(" ".join((statement.path, *statement.headings)))


def _joined(text: str) -> str:
    return re.sub(r"[\s_.-]+", "-", text.lower().replace("`", ""))


def own_words(statement: PlacedText, thing: str, value: str, beside: Collection[str] = ()) -> int:
    """The number of meaningful words of a statement besides thing, value and `beside`."""
    named = {canonical(word) for word in _WORD.findall(f"{thing} {value}".lower().replace("_", " "))}.union(
        beside
    )
    terms = statement.reading.terms
    return sum(
        weight >= LEAST_WEIGHT and word not in named and word.isalpha() for word, weight in terms.items()
    )


def words_of(text: str) -> set[str]:
    """The meaningful words, without those about the change."""
    return {word for word, weight in read(text).terms.items() if weight >= TELLING / 2} - _OF_A_CHANGE


def says_only(said: str, old: str, new: str, place: str) -> bool:
    """Whether each word of a sentence besides its values is in memory, in a form of the present, or only says that somebody changed
    it. "It retried 5 times", "nobody moved it" and "now and then" say something else."""
    past, now = (re.escape(value.strip("`").lower()) for value in (old, new))
    rest = re.sub(rf"(?:\b(?:instead of|not|than) (?:\w+ )?`?)?{past}|{now}|no longer", " ", said.lower())
    told, known = (_WORD.findall(text) for text in (rest, place.lower()))
    stems = {*map(canonical, known)}
    for before, word in zip(["", *told], told, strict=False):
        is_form = before in lexicon.IS or not (word.endswith(("ed", "ing")) or word in IRREGULAR)
        is_known = word in known or (is_form and canonical(word) in stems) or (word == "it" and before)
        if not (is_known or word in _FRAME or canonical(word) in _OF_A_CHANGE):
            return False
    return True


def is_last_number(text: str, old: str, told: str, new: str) -> bool:
    """Whether `old` is the only number of a text, and nothing that `told` repeats follows but a unit: in "queue 3 is drained by
    hand" it is part of a name, as in "ticket 31 is done now"."""
    values = [read(f"x {value}").values for value in _apart(old, new)]
    if not all(values) or {value.kind for both in values for value in both} not in ({"number"}, {"address"}):
        return False
    before, _, behind = text.partition(old)
    unit, _, rest = behind.lstrip(" .,`").partition(" ")
    ends, said, known = ({*_WORD.findall(each.lower())} for each in (rest, told, f"{before} {unit}"))
    kinds = [value.kind for value in read(text).values]
    repeats = not known.issuperset(ends & said)
    return kinds.count(values[0][0].kind) == 1 and not repeats and told.count(old) == (old in new)


def _apart(old: str, new: str) -> tuple[str, str]:
    """Two values without their common first name: "PostgreSQL 15", "PostgreSQL 16"."""
    name, _, version = old.rpartition(" ")
    is_named = bool(name) and new.startswith(f"{name} ")
    return (version, new[len(name) + 1 :]) if is_named else (old, new)


def denied(index: StatementIndex, text: str) -> list[PlacedText]:
    """The statements that a text negates, or that negate it, in the same words."""
    words = words_of(text)
    found = index.with_words(words) if words else []
    return [
        each for each in found if words_of(each.text) == words and each.reading.denials != read(text).denials
    ]
