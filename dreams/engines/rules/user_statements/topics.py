"""What "it" is: the thing that the sentence before named as changed, in its own words. Pure."""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.phrases import is_own_word
from dreams.engines.rules.user_statements.speech import asks

_PRONOUN = re.compile(
    r"(?:so |and |now )*(?:it(?:['’]s| is)|they(?:['’]re| are)|the new (?:one|value) is)\s+", re.IGNORECASE
)
_CHANGED = r"(?:(?:has |have |was |were |got )?(?:just )?(?:changed|moved|switched|updated|bumped|raised|lowered)|is different|is outdated|is wrong|isn['’]t right|is not right)"
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:the |our )?(?P<s>[\w' -]{2,40}?) (?:has|have|got|gets) (?:a |its )?new (?P<p>\w+)",
        rf"(?!(?:we|i|they|it|you|he|she|that|this)\b)(?:the |our |about the |about our |re:? )?(?P<s>[\w' -]{{2,40}}?)(?:: (?:it|that|they))? {_CHANGED}\b.*",
        r"(?:we|i)(?:['’]ve| have)? (?:just |also |finally )*(?:changed|moved|switched|updated|bumped|raised|lowered|increased|reduced) (?:the |our )?(?P<s>[\w' -]{2,40}?)"
        r"(?: (?:yesterday|today|recently|again|last \w+|this \w+|too|as well))*",
    )
)
MOST_WORDS = 5  # of what is named


def topic(sentence: str) -> str:
    """The thing that a sentence names as changed, without saying to what; nothing for any other sentence."""
    text = sentence.strip().rstrip(" .!:")
    if asks(text) or not is_own_word(text) or any(map(str.isdigit, text)):
        return ""
    for pattern in _NAMED:
        if found := pattern.fullmatch(text):
            told = [value for value in (found["s"], found.groupdict().get("p")) if value]
            words = " ".join(told)
            return words if len(words.split()) <= MOST_WORDS else ""
    return ""


def spelt_out(sentence: str, before: str) -> str:
    """ "It is 9443 now" after "the gateway has a new port": "the gateway port is 9443 now"."""
    found = _PRONOUN.match(sentence)
    named = topic(before) if found else ""
    return f"the {named} is {sentence[found.end() :]}" if found and named else sentence
