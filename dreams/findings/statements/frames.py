"""What is said in front of a statement and takes it back: "Obsolete: ...", "If approved, ...", "Bob thinks that ...". PURE, English.

All words of the statement stand there, and it is not said any more.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from dreams.findings.statements.wordings import LONGEST
from dreams.language import lexicon
from dreams.language.statements import Statement, statement
from dreams.language.words import stem

_LABEL = 3  # words of a clause in front that is said of what follows
_FRAME = 5  # words in front, in the same clause
_DOUBTING = "think believe claim assume guess suspect doubt suppose suggest propose consider hope fear wonder"
_DENYING = "wrong false untrue incorrect mistaken myth rumour rumor hoax stopped ceased old outdated historical draft idea"
# A denial is held against its own words (`turning`).
_TAKES_BACK = lexicon.UNSETTLED | lexicon.CONDITIONS | frozenset(_DENYING.split())
_DOUBTED = frozenset(stem(word) for word in _DOUBTING.split())


def taken_back(old: str, new: str) -> bool:
    """Whether `new` strikes `old` out, or says in front of its words that they hold no longer, not yet, or for somebody."""
    if "~~" in new and "~~" not in old:
        return True
    one, other = (statement(text[:LONGEST]) for text in (old, new))
    return any(word in _TAKES_BACK or stem(word) in _DOUBTED for word in _in_front(one, other))


def _in_front(one: Statement, other: Statement) -> set[str]:
    """The words of `other` before those of `one`, in their clause or in a label before it, that `one` does not have."""
    found = SequenceMatcher(None, one.flow, other.flow, autojunk=False).find_longest_match()
    start, clauses = found.b, other.clause_of
    if not found.size or not start:
        return set()
    own = [at for at in range(max(0, start - _FRAME), start) if clauses[at] == clauses[start]]
    label = [at for at in range(start) if clauses[at] == clauses[start - 1]]
    lead = own or (label if len(label) <= _LABEL else [])
    return {other.written[at] for at in lead} - set(one.written)
