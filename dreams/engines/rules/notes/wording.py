"""Shortens text without breaking sentences, clauses or words, and never adds a word. Pure."""

import itertools
import re

from dreams.lib.prose import lexicon

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Mr|Mrs|Ms|Dr|St|incl|resp|max|min)|\b[A-Z])\.[\"'”’)\]*_`]*$"
)
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]*_`]*(?=\s)|[。！？]")
_CLAUSE_END = re.compile(r"(?<=[.;:!?,])\s|\s(?=[—–-]\s)|\s(?=\()|(?<=[、。，；：！？])")
_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)[^*_\n]{1,60}:?(?:\*\*|__):?")
_NAMED_LABEL = re.compile(r"(?:\*\*|__)?(?P<name>[^*_:\n]{2,60}?)(?:\*\*|__)?:(?:\*\*|__)?\s+(?=\S)")
# Labels of remarks, which do not name a topic.
KINDS = lexicon.NOTE_KINDS | frozenset(
    "notes example hint source idea question bug issue problem solution learned learnt fixed task cause result".split()  # noqa: SIM905 - a word list
)
# In a title, row, description or first statement: the memory is out of date.
IS_OVER = re.compile(
    r"\b(?:SUPERSEDED(?! (?!by |in |as )[a-z])|OBSOLETE|DEPRECATED|HISTORICAL)\b|[(,] ?(?i:superseded|obsolete|historical)\)|"
    r"(?i:^\W*(?:(?:superseded|obsolete|deprecated|historical|archived|retired)(?: by\b|\W*$|\s*[—–:(-])|(?:replaced by|merged into|moved to)\b))"
)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"))
_SEMICOLON = re.compile(r"(?<=;)\s+")
_BEHIND_A_LABEL = re.compile(r": | [—–] ")
LONGEST_LABEL = 4  # words
LEAST_CLAUSE = 12  # characters: shorter pieces are not understandable alone
LEAST_WORDS = 4  # of a shortened summary: "Rainy-day idea." is too short
_LEADING_ON = (
    lexicon.FILLER
    | lexicon.NEGATIONS
    | {"because", "but", "than", "if", "unless", "until", "over", "only", "every", "each", "any", "some"}
)


def sentences(text: str) -> list[str]:
    """The sentences of one line, each stripped."""
    found, begin = [], 0
    for match in _SENTENCE_END.finditer(text):
        piece = text[begin : match.end()]
        if whole(piece) and not _ABBREVIATION.search(piece):
            found.append(piece.strip())
            begin = match.end()
    return [piece for piece in [*found, text[begin:].strip()] if piece]


def whole(text: str) -> bool:
    """Whether every bracket, quote, code span and emphasis is closed."""
    if text.count("`") % 2 or text.count('"') % 2 or text.count("**") % 2:
        return False
    return all(text.count(opened) == text.count(closed) for opened, closed in _PAIRS)


def clause(text: str, limit: int) -> str:
    """`text` if it fits, else its longest beginning that ends with a clause, else with a word and an ellipsis; "" if none."""
    if len(text) <= limit:
        return text
    for end in reversed([match.start() for match in _CLAUSE_END.finditer(text[: limit + 1])]):
        piece = text[:end].rstrip(" \t,;:—–-")
        if end >= LEAST_CLAUSE and whole(piece):
            return piece
    return _words(text, limit)


def summed_up(text: str, limit: int) -> str:
    """`text` if it fits, else its first sentences, else its first parts that end with a semicolon; "" if none fits.

    A sentence is not cut elsewhere, as that could change its meaning.
    """
    if len(text) <= limit:
        return text
    for pieces in (sentences(text), _SEMICOLON.split(text)):
        fitting = [piece for piece in itertools.accumulate(pieces, "{} {}".format) if len(piece) <= limit]
        said = fitting[-1].rstrip(" ;") if fitting else ""
        if len(said.split()) >= LEAST_WORDS and whole(said):
            return said
    return ""


def headline(text: str, limit: int) -> str:
    """The first clause, cut at a word if it is long, never after a word like "the" or "and"."""
    first = clause(text, limit)
    cut = first.endswith("…")
    words = first.rstrip("….").split()
    while cut and len(words) > 1 and words[-1].lower().strip("`*_") in _LEADING_ON:
        words.pop()
    return " ".join(words)


def _words(text: str, limit: int) -> str:
    end = text.rfind(" ", 0, limit)
    while end >= LEAST_CLAUSE:
        piece = text[:end].rstrip(" \t,;:—–-")
        if whole(piece):
            return f"{piece}…"
        end = text.rfind(" ", 0, end)
    return ""


def ends_open(text: str) -> bool:
    """Whether it breaks off: after a word like "the" or "and", or within brackets or quotes."""
    words = text.rstrip(".…").split()
    return (
        text.endswith("…")
        or not whole(text)
        or (bool(words) and words[-1].lower().strip("`*_,") in _LEADING_ON)
    )


def is_slug(name: str) -> bool:
    """Whether it is written like a file name, with joined words."""
    return " " not in name and ("_" in name or "-" in name)


def begins_with_a_label(text: str) -> bool:
    label, *rest = _BEHIND_A_LABEL.split(text.replace("*", ""), maxsplit=1)
    return bool(rest) and len(label.split()) <= LONGEST_LABEL


def is_labelled(text: str) -> bool:
    """Whether it is a labelled remark ("**Why:** …"), which belongs to its block."""
    return _LABEL.match(text) is not None


def says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def label_of(text: str) -> str:
    """The label before a statement ("**Next:** …"), normalized; "" for none and for labels of remarks."""
    found = _NAMED_LABEL.match(text)
    name = found["name"].strip().casefold() if found else ""
    return "" if name in KINDS else name


def below_label(old: str, new: str) -> str:
    """`new` with its label spelled as in `old`; unchanged if their labels differ."""
    heads = [_NAMED_LABEL.match(text) for text in (old, new)]
    same = label_of(old) == label_of(new) != ""
    return f"{old[: heads[0].end()]}{new[heads[1].end() :]}" if same and heads[0] and heads[1] else new
