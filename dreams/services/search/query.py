"""What was typed into a search field → the literal terms to look for. PURE: nothing in it is syntax but quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dreams.services.search.folding import fold

MAX_CHARS = 200
MAX_TERMS = 12
MIN_CHARS = 2
_PARTS = re.compile(r'"([^"]*)"?|(\S+)')


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are folded, and all of them must occur; `text` is what was typed, for showing it again.

    `too_short` when something was typed, but nothing of two characters or more.
    """

    text: str
    terms: tuple[str, ...]

    @property
    def too_short(self) -> bool:
        return bool(self.text) and not self.terms


def parse(typed: str) -> Query:
    """Words that must all occur, in any order; `"two words"` in quotes must stand side by side.

    Any input is a query: characters that mean something to a database are letters here like all others.
    """
    text = " ".join(typed.replace("\0", "").split())[:MAX_CHARS]
    wanted = [_term(quoted, word) for quoted, word in _PARTS.findall(text)]
    terms = [term for term in dict.fromkeys(wanted) if len(term) >= MIN_CHARS]
    # A word inside a longer one is found with it.
    kept = [term for term in terms if not any(term != other and term in other for other in terms)]
    return Query(text, tuple(kept[:MAX_TERMS]))


def _term(quoted: str, word: str) -> str:
    return fold(quoted or word).strip()
