"""A typed sentence taken apart: the plain clauses that tell how things are, without greetings, reasons, days and requests. Pure.

"The toggle is gone because we moved the flags from A to B last month, can you fix the client?" tells one thing, in its middle.
Whatever makes a sentence a supposition, a plan, or somebody else's word makes all of its clauses that.
"""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.phrases import is_own_word
from dreams.engines.rules.user_statements.speech import SOFT, asks
from dreams.lib.prose.pieces import pieces

_OPENING = re.compile(
    r"(?:(?:hello|hi there|hi|hey|dear \w+|morning|good (?:morning|afternoon|evening)|thanks(?: a lot)?|thank you|sure|yeah|yep|nope|hm+|uh+|um+|oh|ah|well|so|and|"
    r"also|anyway|look|listen|turns out|as it turns out|"
    r"(?:just )?to let you know|(?:just )?(?:letting you know|so (?:that )?you know|for (?:your|the) (?:information|record|context|notes))|for (?:context|info)|fwiw|psa|"
    r"(?:please )?(?:remember|memori[sz]e|note)(?: this)?(?=\s*:|\s+that\b)(?: that)?|(?:please )?(?:be aware|keep in mind|bear in mind|note|take note|mind) that|(?:please )?note(?: down)?(?: for (?:the )?(?:future|later|next time))?|be aware|"
    r"(?:side|quick|one) (?:note|change|thing|info)|(?:good|big|small) (?:news|change)(?: this \w+)?|news|info|context|"
    r"(?:the |a )?(?:one |small |only )?(?:change|difference|news) is(?: that)?|you should know(?: that)?|i forgot to (?:mention|say|tell you)(?: that)?|"
    r"forgot to (?:mention|say)(?: that)?|did i mention(?: that)?)\b[\s,:;.!—–-]*)+",
    re.IGNORECASE,
)
# What was known is wrong, and what follows is right.
_OUTDATED = re.compile(
    r"(?:(?:that|this|that note|this note|your (?:notes?|memory|info|information)|the (?:notes?|memory|docs?))(?: (?:on|about|for|of) (?:the )?[\w-]+(?: [\w-]+)?)?(?:['’]s| is| are| was) (?:now )?"
    r"(?:wrong|outdated|stale|old|obsolete|out of date|out-of-date|incorrect|not (?:right|correct|true|up to date)(?: any ?more)?|"
    r"no longer (?:right|correct|true|the case|accurate|valid))|that (?:has )?changed|not any ?more|(?:small |one )?correction|update (?:(?:your|the|my|our|project) )*(?:memory|notes?)|"
    r"update|now(?=\s*:)|actually(?!\s+(?:we|i|can|could|let|no)\b)|(?:since|as of|from|starting|effective) (?:(?:today|now|yesterday)(?: on(?:wards?)?)?|\d{4}-\d\d-\d\d(?=\s*:))(?=\s*[:,])|[\w`'’ -]{3,40} (?:works? differently|(?:has |have )?changed|is different)(?: now)?(?=\s*[:.—–]))\b[\s,:;.!—–-]+",
    re.IGNORECASE,
)
_WHEN = (
    r"(?:(?:as of|since|from|starting|effective) (?:today|now|yesterday|(?:this|last|the (?:last|latest|newest|new)) \w+)(?: on(?:wards?)?)?|"
    r"(?:as of|since) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|\d{4}-\d\d(?:-\d\d)?|v?\d[\w.]*)|"
    r"(?:earlier )?(?:this|last) (?:week|month|year|sprint|quarter|release|morning|spring|"
    r"summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|night)|yesterday|today|recently|lately|(?:just )?the other day|a (?:while|few \w+|couple of \w+|day|week|month|year) ago|"
    r"(?:\d+|two|three|four|five|six) \w+ ago|in (?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4])|"
    r"on (?:mon|tues|wednes|thurs|fri|satur|sun)day|over the (?:weekend|holidays|summer)|nowadays|these days|by now|for good|across the board|everywhere|"
    r"for real|btw|by the way|fyi|just fyi|ftr|lol|ok(?:ay)?|(?:with|in|by) (?:the|our|my|this|that|a) (?:last|latest|newest|previous|recent) \w+|"
    r"(?:with|in|via|by) (?:pr|mr|commit|ticket|issue|release)? ?#?\d+)"
)
_SINCE = re.compile(
    r"\b(?:as of|since|from|starting|effective|nowadays|these days|by now|with)\b", re.IGNORECASE
)
_WHEN_LAST = re.compile(rf"[\s,;—–-]+{_WHEN}\s*[.!]*$", re.IGNORECASE)
_WHEN_FIRST = re.compile(rf"^{_WHEN}\b[\s,:]+", re.IGNORECASE)
_REASON = re.compile(
    r"[\s,;]+(?:because|cause|bc|b/c|due to|so that|in order to|as part of|after (?:the|we|our|that)|since (?:the|we|our|it|that)|thanks to|to (?:save|reduce|avoid|get|make|keep|cut)|"
    r"for (?:better|more|cost|performance|compliance|legal|security)|given)\b.*$",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*;\s+|\s+[—–]+\s+|\s+-+\s+|(?<=\bnow),\s+(?!(?:not|no longer|instead|it was|rather|and not|was|before|formerly|previously)\b)|,?\s+\b(?:because|cause|since(?= (?:we|i|the|our|they)\b)|as(?= (?:we|i)\b)|which is why|that['’]s why|therefore|hence|so)\s+|"
    r",?\s+and\s+(?=(?:we|i|it|now|then|please|can|could)\b)|,\s+(?=(?:can|could|would|will|please|pls|let['’]?s|don['’]?t|do not|never|use|make|fix|update|we|i|now|nothing|everything|"
    r"(?!which|who|whose|that|where|when|while|even|even though|although|though|not|no longer)[^,;]{10,80}\bnow|all|the|our|my|it|that|hence|right|no(?! longer| more)|yes|correct|ok|is|isn['’]t|why|but|however|then)\b)"
)  # fmt: skip
# A wish at the end of a sentence ("can you fix it?") leaves what was told before it as it was told; "right?" does not.
_REQUEST = re.compile(
    r"(?:so |and |then |now )*(?:(?:can|could|would|will) (?:you|we|u)\b|please\b|pls\b|let['’]?s\b|don['’]?t\b|do not\b|never\b|use\b|make\b|fix\b|update\b|"
    r"how (?:do|can|would)\b|where (?:do|is|are)\b|what (?:do|is|are)\b|which\b)",
    re.IGNORECASE,
)
_USE_FROM_NOW_ON = re.compile(r"use\b.*\bfrom now on\b", re.IGNORECASE)
# What somebody says, thinks or asks of a statement makes it another one: "it's a myth that …", "prove that …". Only "the job that
# runs at night" names a thing.
_THAT = re.compile(r"\bthat\b(?!['’])(?! (?:from|to|with|over|one|now|as|in|on|is|was|has)\b)", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|been|do|does|did|we|i|they|you|got|get|gone|went|took|takes?|gave|left|came|made|ran|broke|\w{2,}ed|moves?|runs?|uses?|lives|listens?|goes|works?|needs?|keeps?|"
    r"owns?|stays?|starts?|stops?|says?|means?|makes?|gets?|has|please|can|could|would|will|fix|update)\b|\w['’](?:s|re|ve|m|d|ll|t)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"(?:we \w+ )?(?:the|our|my|all|every|a|an) (?:[\w-]+ ){{1,3}}that (?!we\b|i\b|they\b|you\b)(?:{_VERB.pattern})",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?P<dash>\s+[—–-]+\s+)|\s*[,;()]+\s*")
MOST_LOOSE = 3  # words; a longer part says something, unless it only tells where, for whom or as what
# What is added without a verb and understood all the same: what was before, when, an afterthought that changes nothing.
_UNDERSTOOD = re.compile(
    rf"(?:(?:and |but )?(?:not|no longer|no more|not any ?more|previously|formerly|before|before that|was|were|it was|instead(?: of)?|rather than|up from|down from|from|old|used to be)\b(?!.*\byet\b).*|{_WHEN}|"
    r"(?:as (?:agreed|discussed|announced|promised|planned|usual|you know|said)|finally|at last|for good|too|also|again|btw|fyi|by the way|thanks?|thank you|thx|cheers|ok(?:ay)?|yes|so|now|hello|hi|just so you know|all|instead|"
    r"at (?:long )?last|of course|in case you wonder|for your (?:information|notes)))[.!]*",
    re.IGNORECASE,
)
# Where it is so: "In staging, …".
_SCOPE = re.compile(
    r"(?:in|on|for|at|with|from(?! (?:now|today|next|\d))|under|during|within|inside|outside|per|regarding|concerning|as for|about|when|whenever|by|of|to|behind|via|among|between|only|except|besides|unlike|like|"
    r"without|after|before|while|where|according|depending|given|once|as)\b",
    re.IGNORECASE,
)


def opened(sentence: str) -> tuple[str, bool]:
    """The sentence without its opening words, and whether they say that what was known is outdated."""
    text, outdated, before = sentence.strip(), False, ""
    while text != before:
        before = text
        if match := _OUTDATED.match(text):
            text, outdated = text[match.end() :], True
        text = re.sub(rf"^{SOFT}", "", text, flags=re.IGNORECASE).strip()
        if match := _OPENING.match(text):
            text = text[match.end() :]
    return text, outdated


def told_clauses(text: str) -> list[str]:
    """The clauses of an opened sentence that may tell something as done."""
    if not is_own_word(text) or asks(re.split(r"[,;]", text)[0]) or is_embedded(text):
        return []
    clauses = _scoped([part.strip(" ,") for part in _CUT.split(text)])
    if any(
        re.match(
            r"(?:but|however|right|correct|no(?! longer| more)|yes|ok|is|isn['’]t|why)\b", part, re.IGNORECASE
        )
        for part in clauses
    ):
        return []
    if clauses and clauses[-1].endswith("?") and (len(clauses) < 2 or not _REQUEST.match(clauses[-1])):
        return []
    return [part for part in clauses if not _REQUEST.match(part) or _USE_FROM_NOW_ON.match(part)]


def is_embedded(text: str) -> bool:
    """Whether it is what somebody says, thinks or asks of a statement."""
    return bool(_THAT.search(text)) and not _RELATIVE.match(text)


def is_read_whole(text: str) -> bool:
    """Whether every part of it says something, or is understood without that. What is not may make it another statement: "now,
    pending approval", "draft for the newsletter - Ana owns billing"."""
    start = 0
    for cut in _PARTS.finditer(text):
        if not _is_read(text[start : cut.start()], is_title=bool(cut["dash"]) and not start):
            return False
        start = cut.end()
    return not start or _is_read(text[start:])


def _is_read(part: str, *, is_title: bool = False) -> bool:
    bare = part.strip(" .!`")
    if not bare or _VERB.search(bare) or _UNDERSTOOD.fullmatch(bare):
        return True
    if is_title:
        return False
    values = all(piece.is_value or not piece.key for piece in pieces(f"x {bare}")[1:])
    return values or (len(bare.split()) > MOST_LOOSE and not _SCOPE.match(bare))


def _scoped(parts: list[str]) -> list[str]:
    """ "In staging, the API is on 81 now": where it is so stays with what is so."""
    found: list[str] = []
    for part in filter(None, parts):
        if found and _SCOPE.match(found[-1]):
            found[-1] = f"{found[-1]}, {part}"
        else:
            found.append(part)
    return found


def trimmed(clause: str) -> tuple[str, bool]:
    """Without reasons and days at its ends, and whether one of those says that it holds from some day on."""
    text = _REASON.sub("", clause).strip(" ,")
    since, before = bool(re.match(r"[\s,;]+since\b", clause[len(text) :], re.IGNORECASE)), ""
    while text != before:
        before = text
        for pattern in (_WHEN_LAST, _WHEN_FIRST):
            if match := pattern.search(text):
                since = since or bool(_SINCE.search(match[0]))
                text = pattern.sub("", text).strip(" ,")
    return text, since
