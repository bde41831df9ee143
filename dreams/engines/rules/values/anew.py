"""Whether one statement is another one put anew: the same subject and most words, and only values, additions and cuts between
them. Pure.

A plain word in the place of another one ("the orders database", "the users database") makes it a statement of something else,
however much they share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from dreams.engines.rules.values.frames import words_before
from dreams.engines.rules.values.retyping import retyped
from dreams.language.pieces import WEAK, Piece, keys_of, pieces
from dreams.language.statements import statement

# What somebody wants or plans is not yet so.
_WISHED = re.compile(
    r"\b(?:want(?:s|ed)?|wish(?:es)?|hopes?|should|would|could|might|plan(?:s|ned|ning)?|going to|let['’]?s|try|would like|['’]d (?:like|love))\b",
    re.IGNORECASE,
)
_PART = re.compile(r"\b(?:of|for|behind)(?: (?:the|our|my))?$")
LEAST_SHARED = 3
OF_OLD, OF_NEW = 0.6, 0.4  # the shares of both that must be common where a person asked for it to be noted
OF_OLD_BARE, OF_NEW_BARE = 0.75, 0.5  # where they only said it


def put_anew(old: str, new: str, *, asked: bool) -> bool:
    """Whether `new` says of the same thing what holds now. `asked`: somebody wanted it to be noted."""
    if keys_of(old) == keys_of(new) or (_WISHED.search(new) and not _WISHED.search(old)):
        return False
    one, other = statement(old), statement(new)
    if one.environments != other.environments or one.days != other.days or _of_another(old, new):
        return False
    return (asked and retyped(old, new)) or (
        _shares_enough(old, new, asked) and _turns_nothing(old, new, asked)
    )


def _shares_enough(old: str, new: str, asked: bool) -> bool:
    mine, theirs = (keys_of(text) - WEAK for text in (old, new))
    shared = len(mine & theirs)
    of_old, of_new = (OF_OLD, OF_NEW) if asked else (OF_OLD_BARE, OF_NEW_BARE)
    enough = shared >= max(LEAST_SHARED, of_old * len(mine), of_new * len(theirs))
    return enough and subject(old) == subject(new)


def subject(text: str) -> list[str]:
    """The first two words that say something: "the API of the importer" is not "the API"."""
    return [piece.key for piece in _telling(text)][:2]


def _telling(text: str) -> list[Piece]:
    return [piece for piece in pieces(text) if piece.key and piece.key not in WEAK]


def _turns_nothing(old: str, new: str, asked: bool) -> bool:
    """All numbers, names and code stay, or others stand for those that go; and nothing that was denied is so now."""
    if len(statement(old).negations) > len(statement(new).negations) and not (
        asked and _begins_with_code(old, new)
    ):
        return False
    mine = [piece for piece in pieces(old) if piece.is_value]
    known, before = keys_of(new), keys_of(old)
    gone = [piece for piece in mine if piece.key not in known]
    come = [piece for piece in pieces(new) if piece.is_value and piece.key not in before]
    return not gone or (len(gone) <= 2 and bool(come) and 2 * len(gone) <= len(mine))


def _begins_with_code(one: str, other: str) -> bool:
    """ "`ai-attempt` is not on main" and "`ai-attempt` is merged": what has a name of its own is not denied by chance."""
    heads = [next((piece for piece in pieces(text) if piece.key), None) for text in (one, other)]
    return all(head is not None and head.shape == "code" for head in heads)


def _of_another(old: str, new: str) -> bool:
    """Whether something stands in the place of what it was said of: a plain word for another, or the name behind "of"."""
    mine, theirs = _telling(old), _telling(new)
    keys = [piece.key for piece in mine], [piece.key for piece in theirs]
    for tag, i, k, j, m in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        gone = [piece for piece in mine[i:k] if piece.key not in keys[1]]
        come = [piece for piece in theirs[j:m] if piece.key not in keys[0]]
        if tag == "replace" and gone and come and _is_other(old, gone, new, come):
            return True
    return False


def _is_other(old: str, gone: Sequence[Piece], new: str, come: Sequence[Piece]) -> bool:
    if not any(piece.is_value for piece in (*gone, *come)):
        return True
    return _is_part(old, gone[0]) and _is_part(new, come[0])


def _is_part(text: str, piece: Piece) -> bool:
    found = pieces(text)
    return piece.shape != "number" and bool(_PART.search(words_before(found, found.index(piece))))
