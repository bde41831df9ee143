"""What was said in place of a statement that is cited in quotes: "“X” is outdated, it is Y now", "replace “X” with “Y”". Pure.

The words in quotes say for certain which statement is meant, so nothing has to be guessed; whoever asks must find it as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.engines.rules.notes.wording import whole
from dreams.engines.rules.user_statements.secrets import looks_secret
from dreams.engines.rules.user_statements.speech import SOFT, asks

LEAST_WORDS = 3  # of what is cited
_CITED = r"[\"“«](?P<o>[^\n]+)[\"”»]"
_MEMORY = r"(?:(?:your|the|my|our|project) )*(?:memory|notes?)"
_SAYS = (
    rf"(?:(?:{_MEMORY} (?:still )?(?:says?|states?|has|have|reads?)|you (?:still )?(?:noted|wrote|saved|remember|have)|(?:in|from) {_MEMORY}(?: it says)?|"
    r"the (?:note|line|entry|statement)(?: that says| saying)?)\s*[:,]?\s*(?:that\s+)?)?"
)
_OUTDATED = (
    r"\s*[,;—–-]*\s*(?:(?:but|and|which)\s+)?(?:(?:that|this|it)(?:['’]s| is)?|is|are|was)?\s*(?:now\s+)?"
    r"(?:outdated|out of date|out-of-date|wrong|old|stale|obsolete|incorrect|(?:not|no longer) (?:true|right|correct|so|the case|valid|up to date)(?: any ?more)?)"
)
_NOW = (
    r"\s*[,.;:—–-]+\s*(?:(?:and|but|so)\s+)?(?:(?:(?:it|that|this)(?:['’]s| is)(?: now)?|now(?: it(?:['’]s| is))?|it should (?:be|say|read)(?: now)?|"
    r"(?:the )?(?:right|correct|new|current)(?: \w+)? is(?: now)?)\s*[:,—–-]?\s+)?(?P<n>\S.*)$"
)
_WAYS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{SOFT}{_SAYS}{_CITED}{_OUTDATED}{_NOW}",
        rf"^{SOFT}(?:replace|change|update|correct|rewrite|exchange) (?:(?:in {_MEMORY}|{_MEMORY}|the (?:note|line|entry))\s*[:,]?\s*)?{_CITED}\s+(?:with|by|to|into|for)\s+"
        rf"(?P<n>[\"“«].+[\"”»])(?:\s+in {_MEMORY})?[.!]*$",
        rf"^{SOFT}(?:it|that|this)(?:['’]s| is) (?:no longer|not) {_CITED}(?: any ?more)?\s*[,.;:—–-]+\s*(?:but\s+)?(?:(?:it|that|this)(?:['’]s| is)\s+)?(?:now\s+)?(?P<n>\S.*)$",
    )
)
_QUOTED = re.compile(r"^[\"“«](?P<said>.+)[\"”»](?P<now> now)?[.!]*$")


@dataclass(frozen=True, slots=True)
class Replaced:
    """`old` as it was cited, `new` as it was said to be."""

    old: str
    new: str
    quote: str


def replaced(lines: list[str]) -> Iterator[Replaced]:
    """What each typed line puts in the place of a cited statement."""
    for line in lines:
        found = next((match for way in _WAYS if (match := way.match(line))), None)
        if found is None or asks(line) or len(found["o"].split()) < LEAST_WORDS or looks_secret(line):
            continue
        new = _bare(found["n"])
        if new and whole(new):
            yield Replaced(found["o"].strip(), new, line)


def _bare(said: str) -> str:
    """Without the quotes around the whole of it."""
    found = _QUOTED.match(said.strip())
    return (found["said"] if found else said).strip()
