"""Words of which a thing is one or the other: opposites, and groups like the environments, weekdays and units. Pure."""

from __future__ import annotations

from collections import defaultdict

from dreams.language import lexicon
from dreams.language.claims.terms import word_of

# "All" of one thing and "this" of another stand in one statement without any quarrel.
QUANTITIES = frozenset(["all", "any", "some", "none", "this", "each", "every", "more", "less", "few", "many"])
# Words with an opposite that are mostly something else: "on" and "off", "like" and "dislike".
_OTHERWISE = """
include exclude deprecated supported new old on off up down with without must may always never no yes get set while during
like keep source target current
"""
SELDOM = frozenset(_OTHERWISE.split()) | QUANTITIES
# Of these a thing is one: what is said of staging is not said of production.
_GROUPS = (
    tuple(dict.fromkeys(lexicon.ENVIRONMENTS.values())),
    ("linux", "macos", "darwin", "windows"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"),
    ("kb", "mb", "gb", "tb"), ("millisecond", "second", "minute", "hour", "day", "week"), ("red", "green", "blue", "yellow", "black", "white"),
    ("enabled", "disabled"), ("enables", "disables"), ("adds", "removes"), ("added", "removed"), ("passed", "failed"), ("passes", "fails"),
)  # fmt: skip


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for one, other in lexicon.OPPOSITES:
        if not {one, other} & SELDOM:
            found[word_of(one)].add(word_of(other))
            found[word_of(other)].add(word_of(one))
    for group in _GROUPS:
        words = {word_of(word) for word in group}
        for word in words:
            found[word] |= words
    found.pop(word_of("ignore"), None)  # of a case or a blank, and then nothing includes it
    return {word: frozenset(others - {word}) for word, others in found.items()}


OPPOSITES = _opposites()
