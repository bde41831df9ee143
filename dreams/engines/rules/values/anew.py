"""Whether one statement is another one put anew: the same subject and most words, and only values, additions and cuts between
them; or the same opening, and something else behind it. Pure.

A plain word in the place of another one ("the orders database", "the users database") makes it a statement of something else,
however much they share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from dreams.engines.rules.user_statements.phrases import TROUBLE
from dreams.engines.rules.values.frames import is_of, is_part
from dreams.engines.rules.values.openings import Opening, begins_with_verb, opening
from dreams.engines.rules.values.retyping import retyped
from dreams.engines.rules.values.slots import is_designator, unit
from dreams.language import lexicon
from dreams.language.pieces import WEAK, Piece, keys_of, pieces
from dreams.language.similarity import normalised
from dreams.language.statements import statement

# What somebody wants or plans is not yet so.
_WISHED = re.compile(
    r"\b(?:want(?:s|ed)?|wish(?:es)?|hopes?|should|would|could|might|plan(?:s|ned|ning)?|going to|let['’]?s|try|would like|['’]d (?:like|love))\b",
    re.IGNORECASE,
)
# What is so besides leaves the rest as it was.
_ADDED = re.compile(r"\b(?:also|too|as well|in addition|additionally|besides|another)\b", re.IGNORECASE)
# What is said to come of a denial: "…, so jobs are lost", "…; long runs are broken".
_OUTCOME = re.compile(
    rf"(?:,\s+(?:and\s+)?so\b(?!\s+(?:that|far)\b)|;\s+(?=[^;]*{TROUBLE.pattern})).*$", re.IGNORECASE
)
_TITLE_END = re.compile(r"\s[—–-]\s|:\s")
_COUNT = re.compile(r"[~$€£v]?\d[\d.,:_]*(?:[+%]|[a-zA-Z]{1,3})?")
LEAST_SHARED = 3
MOST_NAME = 2  # words before a number that may be part of a name
OF_OLD, OF_NEW = 0.6, 0.4  # the shares of both that must be common where a person asked for it to be noted
OF_OLD_BARE, OF_NEW_BARE = 0.75, 0.5  # where they only said it
NEARLY_ALL = 0.75  # of the old words: then the second word of the subject may be another


def put_anew(old: str, new: str, *, asked: bool, corrected: bool = False) -> bool:
    """Whether `new` says of the same thing what holds now.

    `asked`: somebody wanted it to be noted. `corrected`: they said besides that what is known is outdated.
    """
    if keys_of(old) == keys_of(new) or any(t.search(new) and not t.search(old) for t in (_WISHED, _ADDED)):
        return False
    if _goes_on(old, new):
        return True
    one, other = statement(old), statement(new)
    if one.environments != other.environments or one.days != other.days:
        return False
    if _measured_anew(old, new) or (asked and _is_put_otherwise(old, new, corrected)):
        return True
    if _of_another(old, new):
        return False
    return (asked and retyped(old, new)) or (
        _shares_enough(old, new, asked) and _turns_nothing(old, new, asked)
    )


def _is_put_otherwise(old: str, new: str, corrected: bool) -> bool:
    return _is_turned(old, new) or _tells_of_title(old, new) or _opens_alike(old, new, corrected)


def _goes_on(old: str, new: str) -> bool:
    """The old words as they stood, and more behind them."""
    before, now = normalised(old), normalised(new)
    return len(before.split()) >= LEAST_SHARED and now.startswith(f"{before} ")


def _is_turned(old: str, new: str) -> bool:
    """ "X is not supported yet" and "X is supported since 1.2": all that was denied is said, and not only of a part. What came
    of the denial goes with it."""
    bare = _OUTCOME.sub("", old)
    said = keys_of(bare) - lexicon.NEGATIONS - lexicon.STATUSES
    if len(said) < LEAST_SHARED or not said <= keys_of(new) or subject(bare) != subject(new):
        return False
    turned = bool(statement(bare).negations) and not statement(new).negations
    return turned and not is_part(pieces(new), set(keys_of(new) - said))


def _tells_of_title(old: str, new: str) -> bool:
    """ "Open points on the API from the review" and "Open points on the API — one remains": of what was only named, how it is."""
    title, *told = _TITLE_END.split(new, maxsplit=1)
    named, _, rest = normalised(old).partition(f"{normalised(title)} ")
    only_named = not named and bool(rest) and not (begins_with_verb(rest) or _TITLE_END.search(old))
    return bool(told) and only_named and len(keys_of(title) - WEAK) >= LEAST_SHARED


def _measured_anew(old: str, new: str) -> bool:
    """Word for word the same with other numbers, and maybe more behind it; a number that tells which thing it is must be the
    same."""
    mine, theirs = pieces(old), pieces(new)
    if len(keys_of(old)) < LEAST_SHARED or len(theirs) < len(mine):
        return False
    alike = all(
        one.text.lower() == other.text.lower() or (_is_measure(mine, place) and _COUNT.fullmatch(other.text))
        for place, (one, other) in enumerate(zip(mine, theirs, strict=False))
    )
    return alike and not is_part(theirs, {piece.key for piece in theirs[len(mine) :] if piece.key})


def _is_measure(found: Sequence[Piece], place: int) -> bool:
    """Not "Mission 2", which is another mission than the third: a unit stands beside it, or more than a name before it."""
    if not _COUNT.fullmatch(found[place].text) or is_designator(found, (place, place)):
        return False
    return bool(unit(found, place)) or place > MOST_NAME


def _opens_alike(old: str, new: str, corrected: bool) -> bool:
    """The same label, and something shared behind it; of a correction, the same subject and verb."""
    mine, theirs = opening(old), opening(new)
    if mine is None or theirs is None or mine.of != theirs.of or mine.is_label != theirs.is_label:
        return False
    shared = bool((keys_of(mine.rest) & keys_of(theirs.rest)) - WEAK - lexicon.GENERIC)
    if mine.is_label:
        return shared
    return (
        corrected and _tells_the_same(mine, theirs, shared) and (mine.is_state or not _of_another(old, new))
    )


def _tells_the_same(mine: Opening, theirs: Opening, shared: bool) -> bool:
    """Something is told that was not, and no more values go than come: "on port 80, the other on 81" is more than "on 82"."""
    more = keys_of(theirs.rest) - keys_of(mine.rest) - WEAK
    gone, come = (_values(a.rest) - keys_of(b.rest) for a, b in ((mine, theirs), (theirs, mine)))
    return (
        bool(more)
        and len(gone) <= max(1, len(come))
        and (shared or (mine.says == theirs.says and mine.is_told_how))
    )


def _values(text: str) -> frozenset[str]:
    return frozenset(piece.key for piece in pieces(f"x {text}") if piece.is_value)


def _shares_enough(old: str, new: str, asked: bool) -> bool:
    mine, theirs = (keys_of(text) - WEAK for text in (old, new))
    shared = len(mine & theirs)
    of_old, of_new = (OF_OLD, OF_NEW) if asked else (OF_OLD_BARE, OF_NEW_BARE)
    enough = shared >= max(LEAST_SHARED, of_old * len(mine), of_new * len(theirs))
    more = theirs - mine
    nearly = asked and bool(more) and shared >= NEARLY_ALL * len(mine) and not is_part(pieces(new), set(more))
    return enough and (subject(old) == subject(new) or (nearly and _begin_alike(old, new)))


def _begin_alike(old: str, new: str) -> bool:
    """The same first word, and behind it no name for another one: "customer Acme", "customer Borealis"."""
    mine, theirs = _telling(old)[:2], _telling(new)[:2]
    return mine[0].key == theirs[0].key and not (mine[-1].is_value and theirs[-1].is_value)


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
    shapes = [[piece.is_value for piece in found] for found in (gone, come)]
    if shapes[0] == shapes[1] and not all(shapes[0]):
        return True  # "logs for 30 days", "backups for 14 days"
    if not any(piece.is_value for piece in (*gone, *come)):
        return True
    if any(_tells_which(text, piece) for text, found in ((old, gone), (new, come)) for piece in found):
        return True
    return _is_part(old, gone[0]) and _is_part(new, come[0])


def _tells_which(text: str, piece: Piece) -> bool:
    """ "Rule 12" and "rule 13" are two rules."""
    found = pieces(text)
    place = found.index(piece)
    return piece.shape == "number" and is_designator(found, (place, place))


def _is_part(text: str, piece: Piece) -> bool:
    found = pieces(text)
    return piece.shape != "number" and is_of(found, found.index(piece))
