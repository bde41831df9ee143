"""What a person says has changed: "we moved the API from Oslo to Bergen", "it listens on 81 now". Pure.

Only what is told as done, in plain words of their own. What is asked, supposed, planned, doubted or quoted is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dreams.engines.rules.notes.wording import is_labelled, sentences, whole
from dreams.engines.rules.user_statements.changes import ChangeTold, changes_in
from dreams.engines.rules.user_statements.cited_statements import Replaced, replaced
from dreams.engines.rules.user_statements.clauses import is_read_whole, opened, told_clauses, trimmed
from dreams.engines.rules.user_statements.phrases import (
    DOUBTFUL,
    JOKING,
    OTHERS,
    SUPPOSED,
    TASK,
    TROUBLE,
    UNSURE,
)
from dreams.engines.rules.user_statements.retractions import MAX_PROMPT
from dreams.engines.rules.user_statements.secrets import looks_secret
from dreams.engines.rules.user_statements.speech import asks, typed_lines
from dreams.lib.prose.pieces import Piece, keys_of, pieces

MOST_WORDS = 40
MOST_PLAIN = 3  # words of a value without a name or a number
LEAST_WORDS = 4  # of a statement without a word of change
SHORT_PROMPT = 400

_ANY = re.compile(
    r"\bnow\b|no longer|instead|moved|migrated|switched|changed|upgraded|downgraded|bumped|raised|lowered|increased|reduced|"
    r"renamed|\bset\b|took over|since|was\b|\bnot\b|revert|rolled|back|again|wrong|typo|actually|scrap|mistake|outdated|replace",
    re.IGNORECASE,
)
# "Test data lives in …" tells; "test that …" is a task.
_NOUN = re.compile(
    r"(?:test|design|report|document|build|plan|list|process|order|release|review|support|port|deploy|commit|push|start|open|print|search|show|set|update|change|move|look|find|plan)s?"
    r" (?!(?:that|if|whether|how|the|a|an|this|it|my|our|your|all|to|on|with|in|up)\b)(?:[\w-]+ ){0,3}?(?:is|are|lives?|runs?|goes|go|has|have|needs?|belongs?|takes?|sits?|happens?|uses?|"
    r"comes?|starts?|ends?|listens?|keeps?|stores?|serves?|handles?|allows?|reads?|writes?|answers?)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\s*\b(?:from now on|now|going forward|these days|by now|as of (?:now|today)|since (?:today|yesterday|(?:this|last) (?:week|month|year)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)|from today(?: on)?|nowadays)\b,?",
    re.IGNORECASE,
)
# Such a word says by itself that it is so now.
_CURRENT = re.compile(r"(?:the |our |my )?(?:current|latest|newest|present|active)\s+\w", re.IGNORECASE)
# A thing and what it is, in few words: only a statement of the very same thing is held against it.
_GIVES = re.compile(r"(?:[\w'’-]+\s+){1,5}(?:is|are)\s+(?:[\w'’+-]+\s*){1,4}$", re.IGNORECASE)
# Said so that it is known.
_NOTED = re.compile(
    r"(?:(?:and|also|just|please|hi|hey|ok(?:ay)?|btw|by the way)\b[\s,]*)*(?:fyi|f\.y\.i\.|for (?:your|the) (?:information|notes?|records?|record)|(?:just )?so you know|heads[- ]?up|note\b|be aware|"
    r"(?:quick|small|one|short) (?:update|note))",
    re.IGNORECASE,
)
_FROM_NOW_ON = re.compile(r"\b(?:from now on|from today|going forward)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"[,;]?\s*\b(?:and )?(?:instead of|no longer|not any ?more|rather than|it was|previously|formerly|was|not|no(?: more)?)\s+"
    r"(?:(?:with|on|in|at|from|to|by|via)\s+)?(?P<o>[^,;]+?)(?:\s+any ?more)?\s*[.!]*$",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:(?:no|nope|wait|sorry|oops|actually|scrap that|strike that|correction|i was wrong|that was (?:wrong|a typo|a mistake)|my (?:mistake|bad)|"
    r"(?:we )?(?:moved|went|switched) back|(?:we )?(?:reverted|rolled back|undid) (?:that|this|it|the change|that change)|"
    r"that (?:was|got) (?:rolled back|reverted|undone)|change of plans?)\b[\s,.:;!—–-]*)+",
    re.IGNORECASE,
)
_THANKS = re.compile(r"[\s,;.!—–-]+(?:please|thanks|thank you|thx|cheers)\s*[.!]*$", re.IGNORECASE)

_SHORT = {"wo": "will", "ca": "can"}
_APOSTROPHE = re.compile(
    r"\b(is|are|does|do|did|was|were|has|have|had|could|should|would|wo|ca)nt\b", re.IGNORECASE
)
_WAS = re.compile(
    r"\s*\((?:(?:it )?was|previously|formerly|before|instead of|not|used to be|old(?: value)?):?\s+(?![^()]*\byet\b)([^()]+)\)\s*[.!]*$",
    re.IGNORECASE,
)
_ITS = re.compile(r"\bits(?= (?:now )?\S*\d)")


@dataclass(frozen=True, slots=True)
class Telling:
    """Something that is another way now. `core` is the statement as it holds now, `old` the value named as past, if one was.

    `bare`: said without a word of change; then only a statement that is nearly the same word for word is meant.
    `asked`: a whole statement that was to be remembered or noted as it is. `corrected`: it was said to be right where memory
    is wrong. `cited`: the statement that it takes the place of, in its own words. `unsure`: it has words of doubt, which count
    for nothing where memory has the same.
    """

    quote: str
    core: str
    new: str
    old: str = ""
    about: frozenset[str] = frozenset()
    bare: bool = False
    asked: bool = False
    corrected: bool = False
    cited: str = ""
    unsure: bool = False


def asserted(text: str, quote: str) -> Telling:
    """A whole statement that a person asked to be remembered: what it says holds now."""
    return Telling(quote, text.rstrip(" .!"), "", "", keys_of(text), asked=True)


def tellings(prompt: str) -> list[Telling]:
    """The changes told in one prompt, in order. Of a short one, each plain statement is listed too."""
    text = prompt[:MAX_PROMPT]
    short = len(text) <= SHORT_PROMPT
    if not short and not _ANY.search(text):
        return []
    lines = typed_lines(text)
    cited = [_in_place_of(each) for each in replaced(lines)]
    said = [] if cited else [sentence for line in lines for sentence in _statements(line)]
    return cited or [telling for sentence in said for telling in _of_sentence(sentence, short)]


def _in_place_of(each: Replaced) -> Telling:
    return replace(asserted(each.new, each.quote), bare=True, corrected=True, cited=each.old)


def _statements(line: str) -> list[str]:
    """A label holds for the whole line ("Correction: **What's next:** …"), and what was put in several sentences may be one
    line of memory: that first, then each by itself."""
    if is_labelled(opened(line)[0]):
        return [line]
    parts = sentences(line)
    return [line, *parts] if len(parts) > 1 else parts


def _of_sentence(sentence: str, short: bool) -> Iterator[Telling]:
    text, outdated = opened(_spelt_out(sentence))
    stripped = _LEAD_IN.sub("", text).strip()
    outdated = outdated or stripped != text
    text = _THANKS.sub("", stripped).rstrip(" .!")
    if not text or len(text.split()) > MOST_WORDS or not whole(text) or looks_secret(sentence):
        return
    if JOKING.search(sentence):
        return
    if len(sentences(text)) > 1:
        if short and (plain := _as_plain(text, sentence, outdated)):
            yield plain
        return
    clauses = told_clauses(text)
    found = _moved(trimmed(text)[0], sentence, joined=True) if clauses and not UNSURE.search(text) else []
    if not found and is_read_whole(text):
        found = [telling for clause in clauses for telling in _of_clause(clause, sentence, outdated)]
    yield from found
    if (
        short
        and (outdated or not found)
        and (plain := _as_plain(text, sentence, outdated, heard=bool(found)))
    ):
        yield plain


def _spelt_out(sentence: str) -> str:
    """ "isnt", "its 300" and "(was 60)" in full."""
    text = _APOSTROPHE.sub(lambda found: f"{_SHORT.get(found[1].lower(), found[1])} not", sentence)
    return _WAS.sub(r", no longer \1", _ITS.sub("it is", text))


def _as_plain(text: str, sentence: str, outdated: bool, *, heard: bool = False) -> Telling | None:
    """The whole statement, only as it was typed: it may come to stand in memory so. What corrects memory may say "now", and
    "not X" where that was not `heard` as a change."""
    bare = _NOW.sub("", text) if outdated else text
    bare = _BEFORE.sub("", bare) if outdated and not heard else bare
    if text not in sentence or not _is_plain(bare, sentence):
        return None
    unsure = any(table.search(text) for table in DOUBTFUL)
    noted = outdated or bool(_NOTED.match(sentence))
    return replace(asserted(text, sentence), bare=True, asked=noted, corrected=outdated, unsure=unsure)


def _is_plain(text: str, sentence: str) -> bool:
    """A statement without a word of change."""
    supposed = SUPPOSED.search(sentence) or OTHERS.search(sentence) or asks(sentence)
    changed = _NOW.search(text) or _BEFORE.search(text) or changes_in(text)
    task = TASK.match(text) and not _NOUN.match(text)
    return not (supposed or changed or task) and len(text.split()) >= LEAST_WORDS


def _of_clause(clause: str, quote: str, outdated: bool) -> list[Telling]:
    if UNSURE.search(clause) or TROUBLE.search(clause):
        return []
    text, since = trimmed(clause)
    return _moved(text, quote) or _stated(text, quote, told_as_change=outdated or since)


def _moved(text: str, quote: str, *, joined: bool = False) -> list[Telling]:
    """ "We moved S from O to N" and its like."""
    for change in changes_in(text if joined else _NOW.sub("", text).strip(" ,"), joined=joined):
        telling = _changed(change, quote)
        if telling:
            return [telling]
    return []


def _changed(change: ChangeTold, quote: str) -> Telling | None:
    change = _with_its_kind(change)
    new, old = _value(change.new), _value(change.old)
    if not new or (change.old and not old) or new.lower() == old.lower():
        return None
    about = keys_of(change.subject) | _besides(change.new, new) | _besides(change.old, old)
    last = pieces(f"x {change.subject}")[-1]
    joined = "to" if change.moved else "is"
    core = f"{change.subject} {'' if last.is_value and new == change.new else f'{joined} '}{change.new}"
    return Telling(quote, core.strip(), new, old, about)


def _with_its_kind(change: ChangeTold) -> ChangeTold:
    """ "Renamed the checkout flag to B": the plain word at the end says what sort of thing it is, not what it was called."""
    if not change.subject or not change.old or " " in change.old or pieces(f"x {change.old}")[-1].is_value:
        return change
    return replace(change, subject=f"{change.subject} {change.old}", old="") if change.renamed else change


def _stated(text: str, quote: str, *, told_as_change: bool) -> list[Telling]:
    """ "S is N now", "S is N, no longer O": a whole statement as it holds now."""
    core = _NOW.sub("", text).strip(" ,")
    before = _BEFORE.search(core)
    old = (_value(before["o"]) or _phrase(before["o"])) if before else ""
    if before and old:
        core = core[: before.start()].strip(" ,")
    elif (core == text and not told_as_change and not _CURRENT.match(core)) or (
        TASK.match(text) and not _NOUN.match(text) and not _FROM_NOW_ON.search(text)
    ):
        return []
    core, _ = trimmed(core)
    if not old and not any(piece.is_value for piece in pieces(core)) and not _GIVES.match(core):
        return []
    return [Telling(quote, re.sub(r"\s+again$", "", core), "", old, keys_of(core))]


def _value(phrase: str) -> str:
    """The number, name or code in a phrase, where there is one: "port 81" gives 81, "the new cluster" nothing."""
    found = pieces(re.split(r"[,;(—–]|\s-\s", phrase, maxsplit=1)[0])
    places = [place for place, piece in enumerate(found) if _tells(found, place, piece)]
    if not places and len(found) == 1 and found[0].key:  # "from yarn to pnpm"
        places = [0]
    if not places or places[-1] - places[0] != len(places) - 1:
        return ""
    return phrase[found[places[0]].start : found[places[-1]].end]


def _phrase(phrase: str) -> str:
    """A few plain words as they stand: "single quotes"."""
    found = pieces(phrase)
    return phrase.strip() if found and len(found) <= MOST_PLAIN and all(piece.key for piece in found) else ""


def _tells(found: tuple[Piece, ...], place: int, piece: Piece) -> bool:
    """A capital counts at the beginning too: a phrase out of a sentence begins anywhere."""
    return piece.is_value or (
        piece.text[:1].isupper() and piece.text.isalpha() and len(found) <= 4 and place == 0
    )


def _besides(phrase: str, value: str) -> frozenset[str]:
    return keys_of(phrase.replace(value, " ", 1)) if value else frozenset()
