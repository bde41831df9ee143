"""What the place of a statement says about it: headings and file names are half of a fact. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.tree import Tree, is_index
from dreams.lib.prose import lexicon, properties
from dreams.lib.prose.pieces import Piece, pairs_of, pieces, values_of
from dreams.lib.prose.statements import statement
from dreams.lib.prose.words import stem

# A service or a package; no file, no path, and no region (eu-west-1), which many things share.
_OWN_NAME = re.compile(r"[a-zA-Z][\w]*(?:[-_][a-zA-Z]\w*)+")
_WHERE = frozenset("in on at from via by through behind with using".split())  # noqa: SIM905 - a word list
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
_DASH = re.compile(r"\s[—–-]\s")
_GENERAL = frozenset(
    stem(word)
    for word in "note notes fact facts detail details general misc other setup info known memory rule rules copy "  # noqa: SIM905 - a word list
    "preference preferences convention conventions user feedback project reference md".split()
)
# A file of how things stand, or of when, is of all that is told in it.
_STATES = frozenset(
    stem(word)
    for word in "update updates updated status state states current latest new newer old older session sessions log logs progress history "  # noqa: SIM905 - a word list
    "context overview summary recent today changes journal archive draft final version v".split()
)
_NAME_WORD = re.compile(r"[^\W\d_]+|\d+")
_DAY = re.compile(r"\d{4}[-_]?\d\d(?:[-_]?\d\d)?")


def words_of(text: str) -> frozenset[str]:
    """The words of names and headings that say something in particular; `_` and `-` part words."""
    words = statement(" ".join(text.replace("_", " ").replace("-", " ").split())).weights
    return frozenset(word for word in words if word not in lexicon.GENERIC and word not in _GENERAL)


def says(place: Iterable[str], told: Iterable[str]) -> bool:
    """Whether a statement with the words `told` can leave a place: it is nothing in particular, or named in it too."""
    words = set(place)
    return not words or bool(words & set(told))


def agree(tree: Tree, one: Unit, two: Unit, *, loosely: bool = False) -> bool:
    """A line below "Staging" is not the same below "Production": what only one place says, the line itself must say.

    What names its thing by a name of its own says the same anywhere, but for environments and numbers. `loosely`: one of
    the places may say something in particular ("the database" in a file on the database, and in one on the status).
    """
    if one.path == two.path and one.headings == two.headings:
        return not defines(one.text)
    if not (stands_alone(one.text) and stands_alone(two.text)):
        return False
    if one.path == two.path and _identifiers(one) != _identifiers(two):
        return False
    mine, theirs = _about(tree, one), _about(tree, two)
    left, right = statement(mine), statement(theirs)
    alike = left.environments == right.environments and left.numbers == right.numbers
    if _names(one.text) & _names(two.text):
        return alike
    told = statement(one.text).weights.keys() & statement(two.text).weights.keys()
    if loosely and _named_apart(one.path, two.path, told) and not _speak_of_one(one.text, two.text):
        return False
    sides = [says(words_of(a) - words_of(b), told) for a, b in ((mine, theirs), (theirs, mine))]
    if one.path == two.path and (words_of(mine) ^ words_of(theirs)) - told:
        return False  # two sections of one file are two things, where they say more than the statement does
    loosely_so = loosely and (any(sides) or _speak_of_one(one.text, two.text))
    return alike and (all(sides) or loosely_so)


def _named_apart(one: str, two: str, told: Iterable[str]) -> bool:
    """Whether two files are named for two things ("eu_region", "us_region"), or one for a part of the other's ("deploy",
    "deploy_eu") that the statement does not name."""
    mine, theirs = _named(one), _named(two)
    own = [(left - right) - set(told) for left, right in ((mine, theirs), (theirs, mine))]
    return all(own) or (bool(mine & theirs) and any(own))


def _named(path: str) -> frozenset[str]:
    """The words of a file's name, a day aside, that say of what it is."""
    words = {stem(word) for word in _NAME_WORD.findall(_DAY.sub(" ", PurePosixPath(path).stem.lower()))}
    return frozenset(words - _GENERAL - lexicon.GENERIC - _STATES)


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
    """What a statement is about, where that has a name that is nobody else's: copper-indexer, Copper Indexer; not "the API"."""
    text = properties.unlabelled(text)
    found = pieces(text)
    told = frozenset[str]().union(*(stated.of for stated in properties.read(text)))
    return {
        " ".join(piece.key for piece in found[first : last + 1])
        for first, last in (_with_opening(found, run) for run in values_of(found))
        if _is_own(found, first, last)
        and (_is_subject(found, first) or {piece.key for piece in found[first : last + 1]} <= told)
    }


def _speak_of_one(one: str, two: str) -> bool:
    """Whether both give a property of what is called by the same two words side by side, whatever its value."""
    if ": " in one:  # "Stack: FastAPI and PostgreSQL 15" is of what its place is of
        return False
    both = pairs_of(pieces(one)) & pairs_of(pieces(two))
    changed = properties.changed(one, two)
    return changed is not None and any(set(pair) <= changed[0].of for pair in both)


def _with_opening(found: Sequence[Piece], run: tuple[int, int]) -> tuple[int, int]:
    """ "Copper Indexer: port 80" begins with a capital that is part of the name."""
    opens = run[0] == 1 and found[1].shape == "name" and found[0].key and found[0].text[:1].isupper()
    return (0, run[1]) if opens else run


def _is_own(found: Sequence[Piece], first: int, last: int) -> bool:
    """Two capitalised words, or one that is written as names of packages are."""
    words = found[first : last + 1]
    named = [piece.shape == "name" or place == 0 for place, piece in enumerate(words, start=first)]
    return (last > first and all(named)) or bool(_OWN_NAME.fullmatch(found[first].text.strip("`")))


def _is_subject(found: Sequence[Piece], first: int) -> bool:
    before = found[first - 1].text.lower() if first else ""
    opens = sum(bool(piece.key) for piece in found[:first]) <= 1 and before not in _WHERE
    return opens or before == "of"


def _identifiers(unit: Unit) -> frozenset[str]:
    """Headings of one word that is written as code: `workspace` and `workspaces` are two options."""
    return frozenset(title for title in unit.headings if " " not in title and title not in _GENERAL)


def _about(tree: Tree, unit: Unit) -> str:
    """Headings and the file's name."""
    texts = list(unit.headings)
    if not is_index(unit.path):
        front = tree.document(unit.path).frontmatter
        texts += [PurePosixPath(unit.path).stem, (front.name or "") if front else ""]
    return ". ".join(texts).replace("_", " ")
