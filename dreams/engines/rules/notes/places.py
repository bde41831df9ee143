"""What the place of a statement says about it: headings and file names are half of a fact. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.tree import Tree, is_index
from dreams.lib.prose import lexicon
from dreams.lib.prose.pieces import pieces
from dreams.lib.prose.statements import statement
from dreams.lib.prose.values import read
from dreams.lib.prose.words import stem

# A service or a package; no file, no path, and no region (eu-west-1), which many things share.
_OWN_NAME = re.compile(r"[a-zA-Z][\w]*(?:[-_][a-zA-Z]\w*)+")
# What such a statement is about stands above it: "This value is not exported", "Type: Boolean".
_POINTS_BACK = re.compile(
    r"^(?:(?:note|remember|important|warning|hint|tip)\s*[:,—–-]\s*)?(?:\(?(?:this|these|those|that|it|its|they|their|such|here|there|same|both|"
    r"neither|only (?:relevant|used|valid|appl\w+|needed|supported|works|when|if|in|for)|see|also|otherwise|default|type|required|optional|deprecated|none|not|same as|returns?|throws|raises|param(?:eter)?s?|arguments?|values?|example|usage|since|added|changed|stability)\b|the (?:same|above|following|former|latter)\b)",
    re.IGNORECASE,
)
# Of what, only the place says: "Runs on Node 20".
_NO_SUBJECT = re.compile(
    r"(?:runs|uses|listens|lives|has|have|is|are|needs|requires|supports|keeps|stores|serves|goes|sits|built|written|hosted|deployed|powered|maintained|owned)\b",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"[*_]*`(?P<code>[^`]+)`[*_]*\s*(?:[:({<–—-]|$)")
_MANY_WORDS = re.compile(r"[^\W\d_]+(?:[- ][^\W\d_]+)+")
_DASH = re.compile(r"\s[—–-]\s")
_GENERAL = frozenset(
    stem(word)
    for word in "note notes fact facts detail details general misc other setup info known memory rule rules copy "  # noqa: SIM905 - a word list
    "preference preferences convention conventions user feedback project reference md".split()
)


def words_of(text: str) -> frozenset[str]:
    """The words of names and headings that say something in particular; `_` and `-` part words."""
    words = statement(" ".join(text.replace("_", " ").replace("-", " ").split())).weights
    return frozenset(word for word in words if word not in lexicon.GENERIC and word not in _GENERAL)


def says(place: Iterable[str], told: Iterable[str]) -> bool:
    """Whether a statement with the words `told` can leave a place: it is nothing in particular, or named in it too."""
    words = set(place)
    return not words or bool(words & set(told))


def agree(tree: Tree, one: Unit, two: Unit) -> bool:
    """A line below "Staging" is not the same below "Production": what only one place says, the line itself must say. What names
    its thing by a name of its own says the same anywhere."""
    if one.path == two.path and one.headings == two.headings:
        return not defines(one.text)
    if not (stands_alone(one.text) and stands_alone(two.text)):
        return False
    mine, theirs = _about(tree, one), _about(tree, two)
    left, right = statement(mine), statement(theirs)
    if left.environments != right.environments or left.numbers != right.numbers:
        return False
    if _names(one.text) & _names(two.text):
        return True
    told = statement(one.text).weights.keys() & statement(two.text).weights.keys()
    apart = [words_of(a) - words_of(b) for a, b in ((mine, theirs), (theirs, mine))]
    if (
        one.path == two.path
    ):  # two sections of one file are two things, where they say more than the statement does
        return not (apart[0] | apart[1]) - told
    return all(says(words, told) for words in apart)


def stands_alone(text: str) -> bool:
    """Whether it says what it is about, and something of it: a name in a list is nothing without the list's title."""
    found = pieces(text)
    if _POINTS_BACK.match(text) or _NO_SUBJECT.match(text) or _is_entry(text):
        return False
    says = any(piece.shape == "word" for piece in found) and not _DASH.search(text)
    return says or ":" in text or any(piece.shape == "filler" for piece in found)


def _is_entry(text: str) -> bool:
    """An entry of a list, which its title makes a fact: it begins with a link, or with code and what that is."""
    return text.lstrip("*\\ ").startswith("[") or defines(text)


def defines(text: str) -> bool:
    """ "`request`: the one that failed": of what, only the list that it stands in says."""
    code = _ENTRY.match(text)
    return bool(code and not _OWN_NAME.fullmatch(code["code"]))


def _names(text: str) -> set[str]:
    """Names that are nobody else's: `copper-indexer`, copper_indexer, Copper Indexer; not "the API", a region, nor a compound
    word ("re-audit", "read-only"), which is written as a service is."""
    return {
        value.key
        for value in read(text).values
        if _MANY_WORDS.fullmatch(value.key)
        and (value.kind == "name" or (value.kind == "identifier" and _is_code(text[value.start : value.end])))
    }


def _is_code(written: str) -> bool:
    return "`" in written or "_" in written


def _about(tree: Tree, unit: Unit) -> str:
    """Headings and the file's name."""
    texts = list(unit.headings)
    if not is_index(unit.path):
        front = tree.document(unit.path).frontmatter
        texts += [PurePosixPath(unit.path).stem, (front.name or "") if front else ""]
    return ". ".join(texts).replace("_", " ")
