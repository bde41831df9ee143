"""Splits prose and code into words with positions, and normalizes spellings of the same word. Pure, English.

Only differences without meaning are removed; "is" and "was", "can" and "must" stay different.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

Kind = Literal["code", "url", "date", "version", "number", "path", "identifier", "word"]
LONGEST = 20_000  # code points read of one text

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
# Month names, full and short, with their numbers.
MONTH_NUMBERS = {form: at for at, name in enumerate(MONTHS, 1) for form in (name, name[:3])} | {"sept": 9}
MONTH_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))  # a piece of a pattern
#: The numbers up to twenty and the tens, as words.
CARDINALS = {
    name: number
    for number, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "  # noqa: SIM905 - a word list
        "nineteen twenty".split(),
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)} | {"plain": "word"}
_CODE_SPAN = re.compile(r"(`{1,2})(?P<code>[^`\n]{1,400})\1")


class Token(NamedTuple):
    """`text` is at `start` to `end` (code points); `code` is True inside a code span."""

    text: str
    start: int
    end: int
    kind: Kind
    code: bool = False


@functools.cache
def _token() -> re.Pattern[str]:
    """Of one token; made when it is needed, as looking through all marks takes 10 ms."""
    # Combining marks, as in Hindi or a decomposed "é", are part of the word.
    marks = "".join(mark for mark in map(chr, range(0x300, 0x10000)) if unicodedata.category(mark)[0] == "M")
    letters = rf"[^\W\d_]+(?:[{marks}]+[^\W\d_]*)*"
    # In this order; the first match wins. Names are bounded, as they would otherwise be read again from each @.
    return re.compile(
        r"(?P<plain>(?<!\S)[A-Z]?[a-z]+(?=[,;!?]?(?:\s|\Z)))"  # the most common case
        r"|(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`)\]]+)"
        r"|(?P<date>(?<![\w.-])\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?(?![\w-]))"
        r"|(?P<path>(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@{}*$:+-]+/?)*[\w}*]/?"
        r"|(?<![\w./-])\.[a-z][\w-]*(?:/[\w.@{}*:+-]*)*"
        r"|(?<![\w./-])[\w@-][\w@.-]{1,255}(?:/[\w.@{}*:+-]+)*\.(?:[a-z]{1,5}|[jt]sx?|mp[34]|toml|ya?ml|json[lc]?|sqlite3?)(?![\w/])"
        r"|(?<![\w./-])[\w@.-]{1,255}(?:/[\w.@{}*:+-]+){2,}/?)"
        r"|(?P<version>(?<![\w.])v?\d+(?:\.\d+){1,4}(?:[-+.]?(?:alpha|beta|rc|dev|post|x)[.\d]*)?(?![\w]|\s?%)|(?<![\w.])v\d+(?!\w|\.\w))"
        r"|(?P<number>[#$€£]?(?<![\w])\d(?:\d|_\d|,\d{3})*(?:\.\d+)?(?:\s?%|[kKMGTmµn]?[a-zA-Z]{0,5})(?![\w]))"
        r"|(?P<identifier>(?<![\w-])--?[a-zA-Z](?:[\w-]*\w)?"
        r"|[^\W\d_]*[a-z0-9][A-Z]\w*|\w*[^\W_]_\w+|_+\w+|(?<!\w)[^\W\d_]+\d\w*|(?<!\w)\d+[^\W\d_]\w*)"
        rf"|(?P<word>{letters}(?:['’]{letters})?)",
    )


def code_spans(text: str) -> list[tuple[int, int]]:
    """The ranges inside inline code."""
    return [match.span("code") for match in _CODE_SPAN.finditer(text[:LONGEST])]


def tokens(text: str) -> Iterator[Token]:
    """The words, numbers, versions, dates, paths, identifiers and links of a text, in order."""
    text = text[:LONGEST]
    spans = code_spans(text)
    at = 0
    for match in _token().finditer(text):
        start, end = match.span()
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        inside = at < len(spans) and spans[at][0] <= start
        yield Token(match[0], start, end, _KINDS[match.lastgroup or "word"], inside)


_ENDINGS = (
    ("ational", "ate"), ("ization", "iz"), ("izing", "iz"), ("ized", "iz"), ("ize", "iz"), ("ising", "iz"),
    ("ised", "iz"), ("ise", "iz"), ("ities", "ity"), ("ies", "y"), ("ied", "y"), ("ie", "y"), ("sses", "ss"),
    ("ings", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
    ("ments", "ment"), ("ly", ""), ("es", ""), ("s", ""), ("e", ""),
)  # fmt: skip
_UNSTEMMED = {
    "this", "is", "was", "has", "does", "yes", "always", "less", "class", "process", "access", "css", "https",
    "aws",
}  # fmt: skip


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A light English stem for comparison, equal for "running", "runs" and "run", and for "store" and "stored"."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if word in {"using", "used"}:
        return "use"
    if len(word) < 4 or word in _UNSTEMMED or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 3
            and not (ending == "s" and word[-2] in "su")
        ):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return "note" if word == "not" else word  # "Note: ..." denies nothing


_IRREGULAR = """
built=build broke=break broken=break brought=bring bought=buy caught=catch chose=choose chosen=choose came=come dealt=deal
drew=draw drawn=draw drove=drive driven=drive fell=fall fallen=fall felt=feel fed=feed found=find forgot=forget
forgotten=forget froze=freeze frozen=freeze gave=give given=give went=go gone=go grew=grow grown=grow held=hold hid=hide
hidden=hide kept=keep knew=know known=know led=lead left=leave lost=lose made=make meant=mean met=meet paid=pay ran=run
rebuilt=rebuild reran=rerun rewrote=rewrite rewritten=rewrite said=say saw=see seen=see sent=send shown=show shut=shut
slept=sleep sold=sell spent=spend spoke=speak spoken=speak stood=stand stuck=stick taught=teach threw=throw thrown=throw
took=take taken=take thought=think told=tell understood=understand woke=wake wrote=write written=write began=begin
begun=begin overwrote=overwrite overwritten=overwrite overrode=override overridden=override sought=seek swept=sweep
"""
IRREGULAR = dict(entry.split("=") for entry in _IRREGULAR.split())
PARTICIPLES = frozenset(IRREGULAR).union("set put run read cut split reset done hit shut".split())  # noqa: SIM905 - a word list

# Complete words, or the differing part of a word.
_BRITISH = (
    ("our", re.compile(r"\b(behavi|col|fav|hon|lab|neighb|flav|hum|rum|endeav|harb)our"), r"\1or"),
    ("ys", re.compile(r"\b(anal|catal|paral)ys"), r"\1yz"),
    ("re", re.compile(r"\b(cent|met|fib|theat|calib)re(s|d)?\b"), r"\1er\2"),
    ("ogue", re.compile(r"\b(catal|dial|anal)ogue"), r"\1og"),
    ("ence", re.compile(r"\b(lic|def|off|pret)ence"), r"\1ense"),
    ("is", re.compile(r"\b(\w{4,})is(ers?|ations?)\b"), r"\1iz\2"),
    ("ll", re.compile(r"\b(cancel|model|label|travel|signal|level|channel|tunnel|total|fuel|marshal|initial)l(?=ed|ing|er)"), r"\1"),
    ("grey", re.compile(r"\bgrey"), "gray"),
    ("artefact", re.compile(r"\bartefact"), "artifact"),
    ("judgement", re.compile(r"\bjudgement"), "judgment"),
    ("programme", re.compile(r"\bprogramme(s?)\b"), r"program\1"),
    ("whilst", re.compile(r"\bwhilst\b"), "while"),
    ("towards", re.compile(r"\btowards\b"), "toward"),
    ("learnt", re.compile(r"\blearnt\b"), "learned"),
)  # fmt: skip
_NOT = re.compile(r"\b(can|\w+n)['’]t\b|\bcannot\b", re.IGNORECASE)
_WHOLE = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
_SHORT = re.compile(
    r"\b(i|you|we|they|he|she|it|that|there|who)['’](re|ve|ll|m)\b|\b(it|that|there|he|she|what|who)['’](s)\b",
    re.IGNORECASE,
)
_LONG = {"re": "are", "ve": "have", "ll": "will", "m": "am", "s": "is"}
_UNIT_APART = re.compile(
    r"(?<=\d)\s+(?=(?:ms|kb|mb|gb|tb|kib|mib|gib|px|rem|em|hz|khz|mhz|ghz|%)(?!\w))", re.IGNORECASE
)
# "once the build is done" is "after"; "once" alone is a number.
_ONCE = re.compile(
    r"\b(only\s+)?once(?!\s+an?\s+(?:hour|day|week|month|quarter|year)\b)(?=\s+(?:the|a|an|it|they|you|we|both|all|this|that|every|each|everything)\b)",
    re.IGNORECASE,
)
_FORMERLY = re.compile(r"(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!been )\bused to\b", re.IGNORECASE)
# Nouns made from verbs: "deletion" means "delete".
_NOUN = re.compile(r"(?<=\w\w\w)(at|et)ion$")
_DEEDS = frozenset(
    "deployment requirement improvement management measurement adjustment replacement assignment enforcement "  # noqa: SIM905 - a word list
    "agreement refinement retirement".split()
)
_NO_DEED = frozenset({"station", "ration", "nation", "location", "application", "authentication", "relation"})


_MONTH_SIGN = re.compile("|".join(name[:3] for name in MONTHS))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WRITTEN_DAY = re.compile(
    rf"\b(?:the\s+)?{_DAY}\s+(?:of\s+)?(?P<month>{MONTH_NAME})\b\.?(?:,?\s+{_YEAR}\b)?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{MONTH_NAME})\.?\s+(?:the\s+)?{_DAY}\b(?!\s*[:%])(?:,?\s+{_YEAR}\b)?", re.IGNORECASE
)
_DURATION = re.compile(
    rf"(?<![\w.])(\d{{1,9}}(?:\.\d{{1,6}})?|(?:{'|'.join(CARDINALS)})(?=\s))\s?(ms|milliseconds?|seconds?|secs?|s|minutes?|mins?)\b"
)
_SECONDS = {"m": 60.0, "s": 1.0}


def evened(text: str) -> str:
    """Expands short forms, writes days in one way, joins units to numbers, and separates the meanings of conjunctions."""
    low = text.lower()  # short forms are only searched if a text has their sign
    is_short = "'" in low or "’" in low
    text = _DURATION.sub(_seconds, text)
    if _MONTH_SIGN.search(low):
        text = _MONTH_FIRST.sub(_day, _WRITTEN_DAY.sub(_day, text))
    if is_short or "cannot" in low:
        text = _NOT.sub(_not, text)
    if is_short:
        text = _SHORT.sub(lambda m: f"{m[1] or m[3]} {_LONG[(m[2] or m[4]).lower()]}", text)
    text = _UNIT_APART.sub("", text)
    if "once" in low:
        text = _ONCE.sub(lambda m: f"{m[1] or ''}after", text)
    return _FORMERLY.sub("formerly", text) if "used to" in low else text


def _day(match: re.Match[str]) -> str:
    """A written day in one form: "9 April 2026" and "April 9th, 2026" as 2026-04-09; without a year as 9 April."""
    month, day = match["month"].lower(), int(match["day"])
    if month == "may" and match["month"] == "may":  # "may 5 retries"
        return match[0]
    if match["year"]:
        return f"{match['year']}-{MONTH_NUMBERS[month]:02}-{day:02}"
    return f"{day} {MONTHS[MONTH_NUMBERS[month] - 1]}"


def _seconds(match: re.Match[str]) -> str:
    """A duration in seconds: 500 ms is 0.5 s."""
    unit = match[2]
    factor = 0.001 if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]
    return f"{float(CARDINALS.get(match[1], match[1])) * factor:.10g} seconds"


def _not(match: re.Match[str]) -> str:
    word = match[0].lower().replace("’", "'")
    return _WHOLE.get(word, f"{word[:-3]} not")


@functools.lru_cache(maxsize=50_000)
def american(word: str) -> str:
    """The American spelling of a lower-case word. Cached; a pattern is only tried on a word with its letters."""
    for letters, pattern, instead in _BRITISH:
        if letters in word:
            word = pattern.sub(instead, word)
    return word


def verb_of(noun: str) -> str:
    """The verb that a noun is made from, by its ending; else the word itself."""
    if noun in _DEEDS:
        return noun.removesuffix("ment")
    return noun if noun in _NO_DEED or len(noun) < 8 else _NOUN.sub(r"\1", noun)
