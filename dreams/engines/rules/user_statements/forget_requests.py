"""Sentences that ask to forget something. Which statement is meant is decided by what memory says, not here. Pure."""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.phrases import OTHERS, SUPPOSED
from dreams.engines.rules.user_statements.speech import asks

_FORGET = re.compile(
    r"(?<!n['’]t )(?<!not )(?<!never )(?<!\bi )(?<!\bwe )(?<!always )(?<!often )"
    r"\b(?:forget|unlearn|unremember)(?! to\b|[\w-]| (?:my|our|the) (?:last|previous|earlier|first|other) )|"
    r"\b(?:no longer|stop|not|don['’]?t|needn['’]t|no need to) (?:remember|keep (?:\S+ ){1,6}in mind)(?:ing)?(?! to\b| when\b)",
    re.IGNORECASE,
)
_REMOVE = r"\b(?:delete|remove|drop|erase|purge|wipe|clear|strike|scrap|discard|cancel|throw|take|clean(?:ed|up)?)\b"
_MEMORY = r"\b(?:memory|memories|your (?:notes?|knowledge|records?)|you(?:['’]ve| have)? (?:once )?(?:know|knew|remember|noted|saved|stored|wrote|written|learned|learnt|recorded|keep))\b"
_A_NOTE = r"\b(?:notes?|entry|entries|line|fact|what i (?:said|told you))\b"
_FROM_MEMORY = re.compile(rf"{_REMOVE}.*{_MEMORY}|{_MEMORY}.*{_REMOVE}", re.IGNORECASE)
_A_NOTE_AWAY = re.compile(
    rf"{_REMOVE}.*{_A_NOTE}|{_A_NOTE}.*{_REMOVE}|\bno longer (?:needed|true|relevant)|\bobsolete\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"([\"“«]).*?[\"”»]")
_YOU = re.compile(r"^\W*(?:can|could|would|will) you\b", re.IGNORECASE)
_RAM = re.compile(
    r"\b(?:memory (?:leak|usage|use|limit|pressure|profil\w+|alloc\w+|consumption|footprint|bank|card|bar|section|page|view|button|panel|tab)|in[- ]memory)\b",
    re.IGNORECASE,
)


def asks_to_forget(sentence: str) -> bool:
    """Whether a sentence asks, in so many words, to forget something or to take it out of memory."""
    bare = _QUOTED.sub('""', sentence)
    return _is_own_request(bare, _FORGET.search(bare) or _FROM_MEMORY.search(_RAM.sub(" ", bare)))


def may_ask_to_forget(sentence: str) -> bool:
    """Whether it speaks of removing a note, a line or an entry, which may be one of memory or of a file."""
    bare = _QUOTED.sub('""', sentence)
    return _is_own_request(bare, _A_NOTE_AWAY.search(bare))


def _is_own_request(sentence: str, found: re.Match[str] | None) -> bool:
    if found is None or (asks(sentence) and not _YOU.match(sentence)):
        return False
    return not SUPPOSED.search(sentence) and not OTHERS.search(sentence[: found.start()])
