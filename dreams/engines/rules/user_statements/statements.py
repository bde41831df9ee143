"""Finds plain typed statements, which may report changes or reword memory. PURE.

Questions, suppositions, doubts and quotations do not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from dreams.engines.rules.notes.wording import is_labelled, sentences, whole
from dreams.engines.rules.user_statements.phrases import (
    DOUBTFUL,
    FOR_A_WHILE,
    JOKING,
    OTHERS,
    PLAYED,
    SUPPOSED,
    TASK,
    TROUBLE,
    UNSURE,
    is_own_word,
    looks_secret,
)
from dreams.engines.rules.user_statements.speech import ASKS_OF_IT, KEEP_IT, SOFT, asks, opened, typed_lines
from dreams.lib.prose.exchanges import exchange, words_of
from dreams.lib.prose.pieces import keys_of

MOST_PROMPT = 2_000  # characters of a prompt that are searched for changes; longer ones are pasted
SHORT_PROMPT = 400  # of a prompt whose plain statements may replace others
MOST_WORDS = 40  # of a sentence
LEAST_WORDS, LEAST_CITED = 4, 3  # of a new wording, and of a quoted statement
LEAST_ASKED = 2  # words of a question that is about something else

# --- Sentences that may tell a change -----------------------------------------------------------------------------

_CHANGED = re.compile(
    r"\b(?:moved|migrated|switched|changed|upgraded|bumped|raised|lowered|renamed|replaced|relicensed|rewrote|swapped|dropped|handed|took over|any ?more)\b|->|=>|→",
    re.IGNORECASE,
)
_NOT_THAT = re.compile(r", (?:and )?not\b(?! only\b)", re.IGNORECASE)
_CONTRAST = re.compile(rf"\binstead\b|{_NOT_THAT.pattern}", re.IGNORECASE)
_SINCE = re.compile(
    rf"\b(?:now|no longer|these days|from today|from now on|going forward|as of|since)\b|{_CHANGED.pattern}",
    re.IGNORECASE,
)
_WITH_IT = re.compile(r"\b(?:please|you (?:have|need) to|i had to|once)\b", re.IGNORECASE)
# A request to the agent after a statement.
_WANTED = re.compile(
    r"(?:[,;—–-]+\s+(?:(?:and|so) )?|\s+(?:and|so) )(?:(?:can|could|would|will) you|please|don['’]?t|do not)\b.*$",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"“”«»?]|\.\.\.|…")


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed sentence. `changes`: it has a word that marks a change. `contrasts`: it has "8081, not 8080" or the like, which may
    also report an event. `doubted`: it is uncertain or reported, so that it changes nothing without asking."""

    text: str
    quote: str
    changes: bool
    contrasts: bool
    doubted: bool = False

    @property
    def may_change(self) -> bool:
        return self.changes or self.contrasts


def typed_sentences(prompt: str) -> list[Typed]:
    """The plain and the `doubted` sentences, without opening words and requests at the end."""
    lines = typed_lines(prompt) if len(prompt) <= MOST_PROMPT else []
    said = [*(sentence for line in lines for sentence in sentences(line)), ""]
    return [typed for sentence, after in pairwise(said) if (typed := _typed(sentence, after))]


def _typed(sentence: str, after: str) -> Typed | None:
    told = "" if asks_about(sentence, after) else _told(sentence)
    text = told or _doubted(sentence)
    contrasts = _CONTRAST.search(sentence) is not None
    return Typed(text, sentence, tells_change(sentence), contrasts, doubted=not told) if text else None


def asks_about(sentence: str, after: str) -> bool:
    """Whether the next sentence asks whether it is so, and is no request and about nothing else: "… now. Is that right?"."""
    if not asks(after) or _WANTED.match(f", {after}"):
        return False
    words = words_of(after)
    return bool(len(words) < LEAST_ASKED or ASKS_OF_IT.match(after) or words & words_of(sentence))


def tells_change(text: str) -> bool:
    """Whether a word says that it is so now, or was changed. A contrast alone may report an event: "it was 5 instead of 3"."""
    return _SINCE.search(text) is not None


def names_change(text: str) -> bool:
    """Whether it reports a change ("we switched to Argo") or a wrong value ("8081, not 8080")."""
    return _CHANGED.search(text) is not None or _NOT_THAT.search(text) is not None


def _told(sentence: str) -> str:
    """The statement in a sentence; "" for questions, suppositions and quotations."""
    own = KEEP_IT.sub("", _WANTED.sub("", sentence))
    text = opened(own)[0].rstrip(" .!")
    if len(sentence.split()) > MOST_WORDS or asks(own) or not is_own_word(_WITH_IT.sub("", text)):
        return ""
    return "" if UNSURE.search(_WITH_IT.sub("", text)) or TROUBLE.search(text) else text


def _doubted(sentence: str) -> str:
    """An uncertain sentence that is no question, supposition, joke or quotation, so that one may ask whether it changes memory."""
    played = any(table.search(sentence) for table in (SUPPOSED, JOKING, PLAYED, FOR_A_WHILE, _QUOTES))
    if played or asks(sentence) or len(sentence.split()) > MOST_WORDS:
        return ""
    return opened(sentence)[0].rstrip(" .!")


# --- Whole statements ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stated:
    """A complete typed statement.

    `noted`: a person asked to note it, or it is `corrected`: it corrects memory. `cited`: the quoted statement that it replaces.
    `unsure`: it has words of doubt, which do not count if memory has the same.
    """

    text: str
    quote: str
    noted: bool = False
    corrected: bool = False
    cited: str = ""
    unsure: bool = False


# "Test data lives in …" is a statement; "test that …" is a task.
_NOUN = re.compile(
    r"(?:test|design|report|document|build|plan|list|process|order|release|review|support|port|deploy|commit|push|start|open|print|search|show|set|update|change|move|look|find|plan)s?"
    r" (?!(?:that|if|whether|how|the|a|an|this|it|my|our|your|all|to|on|with|in|up)\b)(?:[\w-]+ ){0,3}?(?:is|are|lives?|runs?|goes|go|has|have|needs?|belongs?|takes?|sits?|happens?|uses?|"
    r"comes?|starts?|ends?|listens?|keeps?|stores?|serves?|handles?|allows?|reads?|writes?|answers?)\b",
    re.IGNORECASE,
)
# Introduces information.
_NOTED = re.compile(
    r"(?:(?:and|also|just|please|hi|hey|ok(?:ay)?|btw|by the way)\b[\s,]*)*(?:fyi|f\.y\.i\.|for (?:your|the) (?:information|notes?|records?|record)|(?:just )?so you know|heads[- ]?up|note\b|remember\b|be aware|"
    r"(?:quick|small|one|short) (?:update|note))",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\s*\b(?:from now on|now|going forward|these days|by now|as of (?:now|today)|from today(?: on)?|nowadays)\b,?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"[,;]?\s*\b(?:and )?(?:instead of|no longer|not any ?more|rather than|it was|previously|formerly|was|not|no(?: more)?)\s+[^,;]+?\s*[.!]*$",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"^(?:(?:no(?=\s*[,.:;!—–-]|\s+(?:wait|sorry|actually)\b)|nope|wait|sorry|oops|actually|scrap that|strike that|correction|i was wrong|that was (?:wrong|a typo|a mistake)|my (?:mistake|bad))\b[\s,.:;!—–-]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(r"[\s,;.!—–-]+(?:please|thanks|thank you|thx|cheers)\s*[.!]*$", re.IGNORECASE)


def whole_statements(prompt: str) -> list[Stated]:
    """The replacements for statements that a prompt quotes; else the plain statements of a short prompt."""
    short = len(prompt) <= SHORT_PROMPT
    lines = typed_lines(prompt) if short or any(mark in prompt for mark in '"“«') else []
    cited = list(_replaced(lines))
    said = [sentence for line in lines for sentence in _statements(line)] if short and not cited else []
    return cited or [stated for sentence in said if (stated := _as_plain(sentence))]


def _statements(line: str) -> list[str]:
    """Only the complete line if it is labelled ("Correction: **What's next:** …"); else the line, as several sentences may be
    one line of memory, then each sentence."""
    if is_labelled(opened(line)[0]):
        return [line]
    parts = sentences(line)
    told = [each for each, after in pairwise([*parts, ""]) if not asks_about(each, after)]
    return [line, *told] if len(parts) > 1 else told


def _as_plain(sentence: str) -> Stated | None:
    """The complete statement as typed, as it may be written to memory."""
    text, outdated = opened(sentence)
    corrected = _CORRECTS.sub("", text).strip()
    outdated = outdated or corrected != text
    text = _THANKS.sub("", KEEP_IT.sub("", corrected)).rstrip(" .!")
    if not text or len(text.split()) > MOST_WORDS or not whole(text) or text not in sentence:
        return None
    if looks_secret(sentence) or JOKING.search(sentence) or not _is_plain(text, sentence, outdated=outdated):
        return None
    unsure = any(table.search(text) for table in DOUBTFUL)
    return Stated(text, sentence, outdated or bool(_NOTED.match(sentence)), outdated, unsure=unsure)


def _is_plain(text: str, sentence: str, *, outdated: bool) -> bool:
    """Whether it is a statement, no task, without a word of change; corrections may say "now" and "not X"."""
    bare = _BEFORE.sub("", _NOW.sub("", text)) if outdated else text
    supposed = SUPPOSED.search(sentence) or OTHERS.search(sentence) or asks(sentence)
    changed = _NOW.search(bare) or _BEFORE.search(bare) or _CHANGED.search(bare)
    task = TASK.match(bare) and not _NOUN.match(bare)
    return not (supposed or changed or task) and len(bare.split()) >= LEAST_WORDS


# --- Statements that are cited ------------------------------------------------------------------------------------

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
_BUT_NOW = (
    r"\s*[,.;:—–-]+\s*(?:(?:and|but|so)\s+)?(?:(?:(?:it|that|this)(?:['’]s| is)(?: now)?|now(?: it(?:['’]s| is))?|(?:it )?should (?:be|say|read)(?: now)?|"
    r"(?:the )?(?:right|correct|new|current)(?: \w+)? is(?: now)?)\s*[:,—–-]?\s+)?(?P<n>\S.*)$"
)
_WAYS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{SOFT}{_SAYS}{_CITED}{_OUTDATED}{_BUT_NOW}",
        rf"^{SOFT}(?:replace|change|update|correct|rewrite|exchange) (?:(?:in {_MEMORY}|{_MEMORY}|the (?:note|line|entry))\s*[:,]?\s*)?{_CITED}\s+(?:with|by|to|into|for)\s+"
        rf"(?P<n>[\"“«].+[\"”»])(?:\s+in {_MEMORY})?[.!]*$",
        rf"^{SOFT}(?:it|that|this)(?:['’]s| is) (?:no longer|not) {_CITED}(?: any ?more)?\s*[,.;:—–-]+\s*(?:but\s+)?(?:(?:it|that|this)(?:['’]s| is)\s+)?(?:now\s+)?(?P<n>\S.*)$",
    )
)
_QUOTED = re.compile(r"^[\"“«](?P<said>.+)[\"”»](?P<now> now)?[.!]*$")


def _replaced(lines: list[str]) -> Iterator[Stated]:
    """Replacements of statements that quotes identify for certain: "“X” is outdated, it is: Y", "replace “X” with “Y”"."""
    for line in lines:
        found = next((match for way in _WAYS if (match := way.match(line))), None)
        if found is None or asks(line) or len(found["o"].split()) < LEAST_CITED or looks_secret(line):
            continue
        quoted = _QUOTED.match(found["n"].strip())
        old, new = found["o"].strip(), (quoted["said"] if quoted else found["n"]).strip().rstrip(" .!")
        value = exchange(old, new, "") if len(new.split()) == 1 else None
        if value:  # only the new value: "it is now: 8081"
            new = f"{old[: value.old.start]}{new}{old[value.old.end :]}"
        if keys_of(old) & keys_of(new) and not TASK.match(new) and whole(new):
            yield Stated(new, line, noted=True, corrected=True, cited=old)
