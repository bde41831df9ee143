"""Finds remarks that may be true beyond the task: how a person works, who they are, how things are done. PURE.

No fixed phrases are searched. A sentence counts by its subject (the person, their team, the agent's habits), by its tense
(general, not past or in progress) and by absolutes ("never", "every time"). Remarks about the current task never count. The
others are certain, or may be for this task only: then the person is asked."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dreams.engines.rules.notes.wording import sentences, whole
from dreams.engines.rules.user_statements.phrases import JOKING, OTHERS, SUPPOSED, TROUBLE, is_own_word
from dreams.engines.rules.user_statements.speech import (
    LIST_ITEM,
    asks,
    bare_sentence,
    is_embedded,
    typed_lines,
)
from dreams.lib.prose.pieces import pieces

Sureness = Literal["certain", "likely", "weak"]
MOST_WORDS = 40  # of a sentence; longer ones explain a task
MOST_CHARACTERS = 400  # of a sentence: forty words of ten letters
LEAST_WORDS = 3  # of a sentence; two words are usually an order for now; chosen
LONG_PROMPT = 80  # words; longer prompts describe a task, and their remarks are part of it
MOST_OF_A_HABIT = 12  # words
MOST_LIKELY = 2  # of one prompt; more are a specification


@dataclass(frozen=True, slots=True)
class Remark:
    """`text` is the statement in the person's words, `quote` its sentence. `fact`: it is about the project.

    `weak`: only worth a question if it was typed in several sessions.
    """

    text: str
    quote: str
    sureness: Sureness
    fact: bool = False


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ADVERBS = r"(?:(?:also|really|just|still|much|strongly|generally|usually|normally|typically|mostly|often|actually|honestly|personally) )*"
_HABITUAL = r"(?:always|never|usually|generally|normally|typically|mostly|only|rarely|often)"
_ABSOLUTE = _compiled(
    r"\b(?:always|never|ever(?! since| again)|every ?time|each time|any ?time|whenever|from now on|going forward|next time|by default|as a rule|"
    r"at all times|without asking|(?:as much as|wherever|whenever) possible)\b"
)
_AT_HAND_OBJECT = _compiled(r"\b(?:the|this|that|these|those|it|them|my|your)\b")
# Verbs of perceiving, needing or thinking, and auxiliaries: not habits.
_MOMENTARY = (
    r"(?:need|want|see|get|hit|think|guess|hope|know|mean|believe|wonder|feel|find|notice|understand|suppose|agree|assume|wish|"
    r"have|had|has|are|were|was|am|is|be|did|can|could|will|would|should|shall|must|may|might|just|also|really|currently|got|lost|now|still|both|"
    r"made|went|did|saw|found|ran|took|came|gave|told|said|broke|wrote|built|chose|began|left|kept|merged|\w+ed|\w+ing)\b"
)
_SCOPE = r"(?:(?:for|in|on|with|when|whenever|before|after) (?![^,.;]*\b(?:can|could|would|will) you\b)[^,.;]{2,50}?,? )?"
_DEFINITE = _compiled(
    r"\b(?:the|this|that|these|those|it|them|one|option|version|your)\b|^(?:an?|we|you|if|when|how|what)\b"
)
AT_HAND = _compiled(
    r"\b(?:this|these|those) (?!is\b|are\b)\w+|\b(?:this|that)(?=\s*(?:$|[.,;:!?]))|\b(?:in|on|for|to|of|at|with|use|fix|remove|change|keep|like) that \w+|\b(?:for|right|just|until) now\b|\bnow\b|\byet\b|\bstill\b|\btoday\b|\btomorrow\b|\btonight\b|\bthis time\b|"
    r"\bcurrent(?:ly)?\b|\bat the moment\b|\btemporar\w*|\bfor (?:a|the) (?:moment|test|demo)\b|\bagain\b|\babove\b|\bbelow\b|"
    r"\bthe (?:first|second|third|last|other|former|latter|previous|next|same|wrong|right)\b|\b(?:do|doing|did|of|to|with|like|about|for) (?:it|this|that|them)\b|"
    r"\b(?:option|step|task|phase|item|version) \w{1,3}\b|@\w"
)
_ASKS = re.compile(r"\?\W*$")
_HERE_ONLY = _compiled(r"\bhere\b")
_OF_THE_PROJECT = _compiled(
    r"\b(?:this|these|that) (?:project|repo|repository|codebase|team|company|app|service|tests)\b"
)
_STOP_IT = _compiled(
    r"[\s,.;:!—–-]+(?:please |so |and )*(?:(?:stop|quit)(?: (?:doing )?(?:it|that|this))?|(?:don['’]?t|do not) do (?:that|it|this)(?: any ?more)?)\b(?: please)?[\s.!]*$"
)
_PEOPLE = (
    r"(?:(?:the |our |an? )?(?:[\w-]+ ){0,2}(?:team|department|guys|company|agency|vendor|office|group|board)|(?:the |our )?(?:legal|compliance|finance|marketing|management|"
    r"customers?|clients?|qa|auditors?|regulators?|users))"
)
_ROLE = r"(?:owns?|maintains?|decides?|leads?|handles?|reviews?|approves?|runs?|manages?|requires?|wants?|needs?|uses?|consumes?)"

TAIL = re.compile(
    r"\s{1,9}(?:please|thanks|thank you|thx|cheers)\s*[.!]*$|"
    r"[,;]?\s{1,9}(?:(?:and|so|but|then)\s+)?(?:now|also|then)\s*,?\s+(?:please\s+)?(?:can|could|let'?s|go|fix|run|add|make|write|update|do|try|start)\b.*$|"
    r"[,;—–-]{1,9}\s{0,9}(?:ok(?:ay)?|please|thanks|thank you|got it|will you)\s*[?.!]*$",
    re.IGNORECASE | re.DOTALL,
)
# Openings that mark a correction, a repetition or a lasting rule.
_DENIES = _compiled(
    r"^(?:(?:(?:no|stop|wait)(?=\s?[,:;.!—–-])|nope|wrong|actually|that['’]?s (?:wrong|not (?:right|correct|what i (?:asked|meant))))[\s,:;.!—–-]+){1,3}"
)
_SAID_BEFORE = _compiled(r"^i (?:already |just |keep )?(?:told|asked|telling|asking) you(?: to| that|:) ")
_AHEAD = _compiled(
    r"^(?:from now on|going forward|starting now|next time|in (?:the )?future(?: sessions?)?|for all future \w+)[\s,:—–-]+(?:please )?"
)
_SOME_DAY = _compiled(r"in (?:the )?future\b")
_AHEAD_LAST = _compiled(r",? (?:from now on|going forward)$")
_FORBIDS_USE = _compiled(r"(?:please )?(?:don['’]?t|do not|never) use \S")
_USE = _compiled(r"(?:please )?(?:always )?use \S")
REASON = _compiled(r"(?:because|this is because|that['’]?s because|otherwise|the reason(?: is)?)\b")
_TITLED = re.compile(r"[^:,]{2,40}:\s")
_WISHED = _compiled(r"\b(?:should|must|will|would|could)\b")
_PLAN = _compiled(r"(?:we|i|it|they|the|this|there|our|my|he|she|you)\b")
_PREFERS = _compiled(
    rf"^{_SCOPE}i {_ADVERBS}(?:prefer|favou?r|hate|dislike|can['’]?t stand|loathe) (?P<object>.+)$"
)
_LIKES_MORE = _compiled(
    rf"^{_SCOPE}(?:i {_ADVERBS}(?:like|love)|(?:please )?prefer) (?P<object>.+ (?:more than|better than|over) .+)$"
)
_DISLIKES_WHEN = _compiled(rf"^i (?:don['’]?t|do not|hate|dislike) {_ADVERBS}(?:like )?(?:it )?when you .+$")
_WANTS = _compiled(
    rf"^{_SCOPE}(?:i['’]d|i would|i) {_ADVERBS}(?:rather|like|want|prefer|(?:don['’]?t|do not) {_ADVERBS}want|(?:basically )?(?:never|always) want)\b.+$"
)
_MY_HABIT = _compiled(rf"^{_SCOPE}i {_HABITUAL} (?!{_MOMENTARY})[a-z]+ .+$")
_I_WORK = _compiled(r"^i (?:use|speak|code|live|work)(?: (?P<where>in|from|at|with))? (?P<object>.+)$")
_I_AM = _compiled(
    rf"^(?:i['’]?m|i am|we['’]re|we are) {_ADVERBS}(?:(?P<role>an? (?!bit\b|little\b|lot\b|few\b|fan\b|huge\b|big\b|idea\b|hurry\b)(?:[\w/+#.-]+ ){{0,3}}?[\w/+#-]{{3,}}(?=$|[,.;!—–-]| (?:and|who|with|by|at|in|on|for|so|but|here|\w+ing)\b).*)|"
    r"(?:the (?:[\w-]+ ){0,2}?(?:only|sole|main|lead|maintainer|owner|author|designer)\b.+)|(?:very |quite |completely |not |most |more )*(?:new to|familiar with|unfamiliar with|comfortable (?:in|with)|fluent in|an expert|responsible for|in charge of|based in|colou?r[- ]?blind|on (?:windows|linux|mac\w*|wsl))\b.*)$"
)  # fmt: skip
_I_HAVE_DONE = _compiled(
    r"^(?:i['’]ve|i have) been \w+ing .+\b(?:for|since) (?:\w+ )?(?:\d+|\w+) (?:years?|decades?)\b.*$"
)
_WE_HABIT = _compiled(
    rf"^{_SCOPE}(?:as a team,? )?we (?:(?:all )?{_HABITUAL}|(?:don['’]?t|do not)(?: ever)?) (?!{_MOMENTARY})[a-z]+ .+$"
)
_WE_PRACTICE = _compiled(
    rf"^{_SCOPE}we (?:all )?(?!(?:(?:almost|\w+ly) )?{_MOMENTARY}|{_HABITUAL}|don['’]?t\b|do (?:not|it|that|this|so)\b|use the\b)[a-z]+ .+$"
)
_WE_MUST = _compiled(r"^we (?:should|must) (?:always|never|not ever) .+$")
_HERE = _compiled(
    r"^(?:(?:all|every|any|each) )?(?:our )?[\w`/ -]{3,60} in (?:this|our) (?:project|repo|repository|codebase|team|company) (?:is|are|must|use|uses|has|have|goes?|follows?)\b.+$"
)
_OUR = _compiled(
    r"^(?:all |every one of )?our [\w`/ -]{2,50}? (?:is|are|lives?|go(?:es)?|runs?|uses?|listens?|gets?) .+$"
)
_KEPT = _compiled(
    r"^(?!.*\b(?:should|must|will|would|could)\b)[\w`/' -]{3,60}? (?:lives?|(?:is|are) (?:kept|tracked|documented|stored|hosted|managed|described)) (?:in|at|on|under|with) .+$"
)
_YOUR_HABIT = _compiled(
    rf"^(?:again,? )?you (?:keep (?!{_MOMENTARY[:-2]}\b)?(?!getting|failing|having|seeing|hitting)\w+ing|(?:always|never) (?!{_MOMENTARY})[a-z]+|(?:always )?forget to \w+) .+$"
)
_STOP_DOING = _compiled(r"^(?:please )?(?:stop|quit) (?!being\b|asking\?)[a-z]{2,}ing \S+(?: \S+)*$")
_AGENT = r"(?:you|claude|cursor|copilot|codex|(?:the |cursor |any )?(?:ai|agents?|assistant))(?: ai)?"
_NEGATIVE = r"(?:don['’]?t|do not|never)"
_ORDER = _compiled(
    rf"^{_SCOPE}(?:please )?(?:(?:{_AGENT} )?(?:should|must|may|can) (?:please )?(?:always|never|not ever)\b|(?:always|never)\b(?! mind\b)|(?:don['’]?t|do not) ever\b(?! again)|"
    rf"(?:every ?time|each time|whenever|any ?time|when) you (?!did|were|have|had|\w+ed\b)[^,]+, (?!{_PLAN.pattern})|(?:{_NEGATIVE}|no) .+\bever\b(?! again)).*$"
)  # fmt: skip
# "Never show the banner" may be the task. "Always run the tests before committing" is a way to work.
_ORDER_OF_A_THING = _compiled(
    r"^(?:please )?(?:always|never|(?:don['’]?t|do not) ever) [a-z]+ (?:the|this|that|these|those|my|your)\b(?!.*\bbefore (?:you|\w+ing)\b)(?!.*\bwithout asking\b)"
)
_INSTEAD = _compiled(r"^(?:please )?use (?P<object>.+ (?:instead of|not|rather than) .+)$")
_NOT_BUT = _compiled(
    rf"^(?:please )?{_NEGATIVE} (?:ever )?\w+ (?P<object>.+[,;.—–-] ?(?:please )?(?:use|run|write|put|call|prefer|do|we use) .+|.+ instead)$"
)
_SET_RIGHT = _compiled(
    r"^(?:(?:the|our|my) [\w-]+(?: [\w-]+){0,4}? (?:is|are|uses|lives|runs|must|should|has)|it(?:['’]s| is)|we \w+)\b (?P<object>.+)$"
)
_FORBIDS = _compiled(rf"^(?:please )?(?:{_NEGATIVE}|avoid) (?!worry\b|forget\b|mind\b|think\b|know\b)\w+ .+$")
_GIVES_REASON = _compiled(
    r"\b(?:because|since)\b|[,;—–-] ?(?:because|since|we|our|they|my|i|that['’]?s|those|these)\b"
)
_OF_PEOPLE = _compiled(
    rf"^(?!(?:i|we|you|it|they|he|she|there|this|that)\b).+\b(?:is|are|belongs?|gets?) (?:\w+ )?(?:by|to|because of|for|with) {_PEOPLE}\b.*$"
)
_DECIDES = re.compile(
    rf"^(?:(?i:{_PEOPLE})|[A-Z][a-z]+) (?:(?:always|never|only) )?{_ROLE} (?:the|our|all|every|no)\b.*$"
)
_WHY = _compiled(r"^the reason (?:(?:that |why )?(?:we|i)\b.+|for .+) is .+$")


@dataclass(frozen=True, slots=True)
class _Signal:
    """`own`: about the person, true whatever the task. `fact`: about the project. `state`: about how something is; there a word of
    trouble makes it a report, and "should" a wish."""

    pattern: re.Pattern[str]
    sureness: Sureness | Callable[[re.Match[str]], Sureness | None]
    own: bool = False
    fact: bool = False
    state: bool = False


def _generic(found: re.Match[str]) -> Sureness | None:
    """Certain for general things ("tabs", "small commits"), nothing for a specific one ("the blue one")."""
    return None if _DEFINITE.search(found["object"]) else "certain"


def _of_my_work(found: re.Match[str]) -> Sureness | None:
    """A short sentence is about a habit; a long one reports an event."""
    if len(found[0].split()) > MOST_OF_A_HABIT:
        return None
    at_hand = _AT_HAND_OBJECT if found["where"] else _DEFINITE
    return None if at_hand.search(" ".join(found["object"].split()[:3])) else "certain"


def _absolute(found: re.Match[str]) -> Sureness | None:
    return "certain" if _ABSOLUTE.search(found[0]) else None


def _ordered(found: re.Match[str]) -> Sureness:
    return "likely" if _ORDER_OF_A_THING.match(found[0]) else "certain"


def _names_something(text: str) -> bool:
    return any(piece.is_value for piece in pieces(text)[1:])


def _practice(found: re.Match[str]) -> Sureness | None:
    """Counts if it names something, or prefers one thing to another; else it is usually about the task."""
    return "certain" if _names_something(found[0]) or _CONTRAST.search(found[0]) else None


def _named(found: re.Match[str]) -> Sureness | None:
    return "likely" if _names_something(found[0]) else None


def _reasoned(found: re.Match[str]) -> Sureness:
    return "likely" if _GIVES_REASON.search(found[0]) or _ABSOLUTE.search(found[0]) else "weak"


def _of_any(found: re.Match[str]) -> Sureness | None:
    """Certain for kinds of things ("ruff instead of flake8", but "use this here" is likely); nothing for "the other one instead"."""
    sureness: Sureness = "likely" if found.re is _INSTEAD and _HERE_ONLY.search(found[0]) else "certain"
    return None if _THE_ONE.match(found["object"]) else sureness


def _set_right(found: re.Match[str]) -> Sureness | None:
    said = found["object"]
    return "certain" if _names_something(f"x {said}") and _CONTRAST.search(said) else None


_THE_ONE = _compiled(r"(?:the|this|that|an?|my|your)\b")
_CONTRAST = _compiled(r"\b(?:not|never|instead of|rather than)\b")
_CORRECTING: Sequence[_Signal] = (_Signal(_INSTEAD, _of_any), _Signal(_SET_RIGHT, _set_right, fact=True))
_SIGNALS: Sequence[_Signal] = (
    _Signal(_DISLIKES_WHEN, "certain", own=True),
    _Signal(_PREFERS, _generic, own=True),
    _Signal(_LIKES_MORE, _generic, own=True),
    _Signal(_WANTS, _absolute),
    _Signal(_MY_HABIT, "certain", own=True, state=True),
    _Signal(_I_WORK, _of_my_work, own=True),
    _Signal(_I_AM, "certain", own=True, state=True),
    _Signal(_I_HAVE_DONE, "certain", own=True),
    _Signal(_WE_HABIT, "certain", fact=True),
    _Signal(_WE_MUST, "likely", fact=True),
    _Signal(_WE_PRACTICE, _practice, fact=True),
    _Signal(_HERE, "certain", fact=True, state=True),
    _Signal(_KEPT, _named, fact=True),
    _Signal(_OUR, _named, fact=True, state=True),
    _Signal(_STOP_DOING, "certain"),
    _Signal(_ORDER, _ordered),
    _Signal(_NOT_BUT, _of_any),
    _Signal(_FORBIDS, _reasoned),
    _Signal(_WHY, "likely", fact=True, state=True),
    _Signal(_OF_PEOPLE, "likely", fact=True, state=True),
    _Signal(_DECIDES, "likely", fact=True, state=True),
)


def remarks(prompt: str) -> list[Remark]:
    """The remarks of one prompt, in order."""
    lines = typed_lines(prompt)
    long = sum(len(line.split()) for line in lines) > LONG_PROMPT
    found = list(_of_lines(lines, long=long))
    likely = [each for each in found if each.sureness == "likely"]
    return found if len(likely) <= MOST_LIKELY else [each for each in found if each.sureness == "certain"]


def _of_lines(lines: Sequence[str], *, long: bool) -> Iterator[Remark]:
    task, own_line = long, True
    for line in lines:
        parts = [] if LIST_ITEM.match(line) else sentences(line)
        for remark, is_task in _of_line(parts, weaken=task):
            task = task or is_task
            if remark is not None:
                # In a text below "Translate this" the "me" may be somebody else.
                is_own = own_line or remark.quote != bare_sentence(remark.quote)
                yield remark if is_own or remark.sureness != "certain" else replace(remark, sureness="likely")
        own_line = own_line and not task


def _of_line(parts: list[str], *, weaken: bool) -> Iterator[tuple[Remark | None, bool]]:
    """Each remark of a line, or None, and whether it is a task instead, which the rest may belong to."""
    while parts:
        sentence, *parts = parts
        remark = _of_two(sentence, parts[0], weaken=weaken) if parts else None
        if remark is not None:
            parts = parts[1:]
        remark = remark or _of_sentence(sentence, weaken=weaken)
        is_task = remark is None and (len(bare_sentence(sentence).split()) >= LEAST_WORDS or asks(sentence))
        weaken = weaken or is_task
        yield remark, is_task


def _of_two(sentence: str, following: str, *, weaken: bool) -> Remark | None:
    """Two sentences as one statement: "You keep mocking it. Stop that.", "Don't use yarn. Use npm.", "Never do that. Because …"."""
    first, both = bare_sentence(sentence), f"{sentence} {following}"
    stops = _YOUR_HABIT.match(first) and _STOP_IT.fullmatch(f" {following}")
    turns = _FORBIDS_USE.match(first) and _USE.match(following)
    if not (stops or turns or REASON.match(following)):
        return None
    if not (stops or turns) and (alone := _of_sentence(sentence, weaken=weaken)):
        return replace(alone, text=f"{alone.text} {following}", quote=both)
    return _of_sentence(both, weaken=weaken)


def _of_sentence(sentence: str, *, weaken: bool) -> Remark | None:
    said = TAIL.sub("", bare_sentence(sentence)).strip()
    text = _SAID_BEFORE.sub("", _DENIES.sub("", said))
    bare = text.rstrip(" .!")
    if not _may_count(sentence, bare):
        return None
    if _YOUR_HABIT.match(_STOP_IT.sub("", bare)):
        return Remark(text, sentence, "certain" if _STOP_IT.search(bare) else "likely")
    ahead = _AHEAD.sub("", _AHEAD_LAST.sub("", bare))
    found = _read(ahead, (*_CORRECTING, *_SIGNALS) if text != said else _SIGNALS)
    if ahead != bare:
        wanted = _WANTS.match(ahead) and not _SOME_DAY.match(bare)
        found = (_AS_ORDERED, "certain") if wanted else _from_now_on(ahead, found)
        text = bare if bare[:9].lower() == "next time" and _PLAN.match(ahead) else ahead
    if found is None:
        return None
    signal, sureness = found
    return Remark(text, sentence, _WEAKER[sureness] if weaken and not signal.own else sureness, signal.fact)


def _from_now_on(text: str, found: "_Found | None") -> "_Found | None":
    """A rule from now on, unless it is a plan ("in the future we could …") or somebody else's words."""
    is_own_fact = is_own_word(text) and not is_embedded(text)
    if found is None and (_TITLED.match(text) or (_PLAN.match(text) and not is_own_fact)):
        return None
    return (found[0] if found else _AS_ORDERED), "certain"


_Found = tuple[_Signal, Sureness]
_AS_ORDERED = _Signal(_ORDER, "certain")
_WEAKER: dict[Sureness, Sureness] = {"certain": "likely", "likely": "weak", "weak": "weak"}


def _read(text: str, signals: Sequence[_Signal]) -> _Found | None:
    for signal in signals:
        found = signal.pattern.match(text)
        sure = signal.sureness
        sureness = (sure if isinstance(sure, str) else sure(found)) if found else None
        if sureness and not (signal.state and (TROUBLE.search(text) or _WISHED.search(text))):
            return signal, sureness
    return None


def _may_count(sentence: str, text: str) -> bool:
    """Whether it is the person's own plain sentence, not about a problem or the current task."""
    if len(text) > MOST_CHARACTERS or not LEAST_WORDS <= len(text.split()) <= MOST_WORDS:
        return False
    if text.endswith(":") or not whole(text):
        return False
    said = re.sub(r"\([^()]*\)", "", sentence)
    is_own = not any(table.search(said) for table in (SUPPOSED, OTHERS, JOKING))
    if _ASKS.search(TAIL.sub("", sentence)) or not is_own:
        return False
    reason = _GIVES_REASON.search(text)
    said = text[: reason.start()] if reason else text
    bare = _OF_THE_PROJECT.sub("", _ABSOLUTE.sub("", _STOP_IT.sub("", said)))
    if _HERE_ONLY.search(bare) and not _names_something(bare):
        return False
    return not AT_HAND.search(bare)
