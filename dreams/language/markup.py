"""Text without what only decorates it: links, list marks, emphasis, quotes and the stops at the end of words. Pure."""

from __future__ import annotations

import functools
import re

from dreams.language.words import LONGEST

_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,300}\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|\n]{0,200}\|)?([^\]\n]{0,200})\]\]")
_MARKS = re.compile(r"^[^\S\n]*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)+", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|~~")
_BLANKS = re.compile(r"[^\S\n]+")
_QUOTES = dict.fromkeys(map(ord, "\"'“”‘’«»"))
_STOPS = re.compile(r"\s[—–-]+\s|[.,;:!?]+(?=\s|$)")


@functools.lru_cache(maxsize=20_000)
def plain(text: str) -> str:
    """Lower case, single spaces, without list marks, emphasis, link targets, quotes, and punctuation at the end of words."""
    text = unmarked(text).replace("`", "").lower()
    text = _STOPS.sub(" ", text.translate(_QUOTES))
    return " ".join(text.split())


def unmarked(text: str) -> str:
    """Without links, list marks and emphasis; blanks are single ones."""
    text = _BLANKS.sub(" ", text[:LONGEST])
    if "[" in text:
        text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _MARKS.sub("", text)
    return _EMPHASIS.sub("", text) if "*" in text or "_" in text or "~" in text else text
