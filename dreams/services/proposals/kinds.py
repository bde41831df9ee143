"""What a kind of change is called where changes are counted: "38 dated lines"."""

from __future__ import annotations

from dreams.lib.files.text import plural
from dreams.models import Operation

Kind = Operation.Kind
_NOUNS: dict[str, tuple[str, str]] = {
    Kind.LEARN: ("thing learnt", "things learnt"),
    Kind.DATE: ("dated line", "dated lines"),
    Kind.INDEX: ("index row", "index rows"),
    Kind.UPDATE: ("updated statement", "updated statements"),
    Kind.MERGE: ("merge", "merges"),
    Kind.PRUNE: ("removal", "removals"),
    Kind.DEMOTE: ("shortened index row", "shortened index rows"),
    Kind.EDIT: ("correction", "corrections"),
    Kind.UNDO: ("undo", "undos"),
}
#: In the order in which pages list them: what adds, what changes, what removes.
ORDER = tuple(_NOUNS)


def counted(kind: str, number: int) -> str:
    """ "38 dated lines"."""
    return plural(number, *_NOUNS[kind])


def named(kind: str) -> str:
    """ "Dated lines"; what no kind is called, as it is."""
    return _NOUNS.get(kind, (kind, kind))[1].capitalize()
