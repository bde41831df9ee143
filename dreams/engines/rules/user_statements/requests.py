"""Finds what a person wants remembered or forgotten: plain requests, and remarks in passing. PURE.

A request begins as one: quotations, questions, examples or somebody else's words with "remember that" do not count, and
neither does the current task."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from dreams.engines.rules.notes.wording import is_labelled, says_something, sentences, whole
from dreams.engines.rules.user_statements.in_passing import AT_HAND, REASON, TAIL, Sureness, remarks
from dreams.engines.rules.user_statements.phrases import OTHERS, SUPPOSED, looks_secret
from dreams.engines.rules.user_statements.speech import (
    ASK,
    KEEP_IT,
    LIST_ITEM,
    LIST_LEAD,
    MAX_PROMPT,
    SOFT,
    asks,
    bare_sentence,
    standing_from,
    typed_lines,
)
from dreams.engines.rules.user_statements.statements import asks_about
from dreams.lib.prose.statements import statement

# At the beginning of a clause, or after words of asking: "in case you forget" asks nothing.
_FORGET = re.compile(
    r"(?:^|[.,;:!?—–]\s*| - |\b(?:and|so|but|then|also|please|pls|kindly|just|now|(?:you|we) (?:can|may|should)(?: \w+ly)?|i (?:want|need|would like) you to|i['’]d like you to)\s+)"
    r"(?:forget|unlearn|unremember)(?! to\b|[\w-]| (?:my|our|the) (?:last|previous|earlier|first|other) )|"
    r"(?<!\bi )(?<!\bwe )\b(?:no longer|stop|not|don['’]?t|needn['’]t|no need to) (?:remember|keep (?:\S+ ){1,6}in mind)(?:ing)?(?! to\b| when\b)",
    re.IGNORECASE,
)
AWAY = r"(?:remove|delete|drop|erase|purge|wipe|clear|strike|scratch|scrap|discard|ditch|take out|get rid of)"
# "Do not delete …" is the opposite.
_REMOVE = rf"(?<!n['’]t )(?<!\bnot )(?<!\bnever )(?<!\bwithout )\b(?:{AWAY}|cancel|throw|take|clean(?:ed|up)?)\b(?! nothing\b)"
# "From memory" may mean a program's memory, so it is only asked about.
_MEMORY = r"\b(?:(?<!from )(?<!in )(?<!of )memory|memory(?=:)|memories|your (?:notes?|knowledge|records?)|you(?:['’]ve| have)? (?:once )?(?:know|knew|remember|noted|saved|stored|wrote|written|learned|learnt|recorded|keep))\b"
_A_NOTE = r"\b(?:notes?|entry|entries|line(?! \d)|fact|(?:from|out of) memory|what i (?:said|told you))\b"
_FROM_MEMORY = re.compile(rf"{_REMOVE}.*{_MEMORY}|{_MEMORY}.*{_REMOVE}", re.IGNORECASE)
_A_NOTE_AWAY = re.compile(
    rf"{_REMOVE}.*{_A_NOTE}|{_A_NOTE}.*{_REMOVE}|\bno longer (?:needed|true|relevant)|\bobsolete\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"([\"“«]).*?[\"”»]")
# "What you know about … is wrong, delete it" is not a question either.
_YOU = re.compile(r"^\W*(?:(?:can|could|would|will) you\b|what (?:i|you)\b.*,\s)", re.IGNORECASE)
_RAM = re.compile(
    r"\b(?:memory (?:leak|usage|use|limit|pressure|profil\w+|alloc\w+|consumption|footprint|bank|card|bar|section|page|view|button|panel|tab)|in[- ]memory)\b",
    re.IGNORECASE,
)


def asks_to_forget(sentence: str) -> bool:
    """Whether a sentence explicitly asks to forget something or remove it from memory."""
    bare = _QUOTED.sub('""', sentence)
    return _is_own_request(bare, _FORGET.search(bare) or _FROM_MEMORY.search(_RAM.sub(" ", bare)))


def may_ask_to_forget(sentence: str) -> bool:
    """Whether it is about removing a note, line or entry, of memory or of a file; or retracts something: "Forget the port; it was
    never true"."""
    bare = _QUOTED.sub('""', sentence)
    takes_back = asks_to_forget(sentence) and standing_from(sentence) > 0
    return takes_back or _is_own_request(bare, _A_NOTE_AWAY.search(bare))


_NAMES_MEMORY = re.compile(
    r"\b(?:memor(?:y|ies)|notes?|remember(?:ed|ing)?|forgotten|keep(?:ing)?|kept)\b", re.IGNORECASE
)
_KEEPS = re.compile(
    r"\b(?:keep|save|store|add|write|put|record|remember|update|make|create|note that)\b", re.IGNORECASE
)
_DENIED = re.compile(
    r"(?:n['’]t|\bnot|\bnever|\bnothing|\bstop|\bno (?:longer|need))\b[^.;,]*$", re.IGNORECASE
)
_KEPT = re.compile(
    rf"(?:n['’]t|\bnot|\bnever|\bwithout) (?:ever |just )?(?:{AWAY}|forget|deleting|removing)\b",
    re.IGNORECASE,
)
_TAKES_AWAY = re.compile(rf"{_REMOVE}(?! that, )|\bno longer\b", re.IGNORECASE)


def names_memory(sentence: str) -> bool:
    """Whether it mentions memory without asking to add something, so that what it quotes may be meant for removal."""
    bare = _QUOTED.sub('""', sentence)
    kept = any(not _DENIED.search(bare[: each.start()]) for each in _KEEPS.finditer(bare))
    wanted = kept or _KEPT.search(bare)
    return not wanted and _is_own_request(bare, _NAMES_MEMORY.search(_RAM.sub(" ", bare)))


def takes_away(sentence: str) -> bool:
    """Whether it removes something or ends its validity, in memory or in the code that a memory describes."""
    bare = _QUOTED.sub('""', sentence)
    return _is_own_request(bare, _TAKES_AWAY.search(bare))


def _is_own_request(sentence: str, found: re.Match[str] | None) -> bool:
    if found is None or (asks(sentence) and not _YOU.match(sentence)):
        return False
    return not SUPPOSED.search(sentence) and not OTHERS.search(sentence[: found.start()])


# --- Remember requests ----------------------------------------------------------------------------------------------

MAX_STATEMENT = 600  # characters; longer ones are texts, not statements
LEAST_WORDS = 2  # meaningful words at least
Handling = Literal["learn", "ask", "hint", "secret", "forget"]
_HANDLING: dict[Sureness, Handling] = {"certain": "learn", "likely": "ask", "weak": "hint"}


@dataclass(frozen=True, slots=True)
class Wish:
    """`text` is what to keep, `quote` the words around it as typed; `fact`: it follows "remember that".

    `in_passing`: not an explicit request. `ask`: it may be for this task only, so the person decides; `hint`: only worth asking
    if it was typed in several sessions. `of_project`: a fact of the project, not a rule.
    """

    text: str
    quote: str
    fact: bool
    handling: Handling = "learn"
    in_passing: bool = False
    of_project: bool = False


_ANY = re.compile(
    r"remember|merk|recuerd|apunta|souviens|retiens|memor|note|in mind|from now on|going forward|future|starting now|next time|always|never|instead|stop|forget|unlearn|don'?t|"
    r"\bnot\b|actually|wrong|longer|\byou(?:['’]ve| have)? (?:know|noted|saved|stored|learn|wr[io]t|record)|your (?:notes?|knowledge|records?)\b",
    re.IGNORECASE,
)
_AHEAD = r"(?:for (?:the future|future (?:reference|sessions?|work|tasks?|runs?|use)|next time|later)|going forward|in (?:the )?future|from now on)"
_LEAD = re.compile(
    rf"^{SOFT}{ASK}(?:"
    rf"(?:always )?remember(?:\s+(?:this|the following))?(?:\s*,?\s*{_AHEAD})?(?:\s*[:—–-]+\s*(?:that\s+)?|\s*,?\s+that\s+)"
    rf"|(?:make a |take (?:a )?|please )?note(?: down)?(?: to self)?\s*,?\s*{_AHEAD}\s*[:,—–-]+\s*(?:that\s+)?"
    r"|(?:make a|take) note(?:\s*:\s*|\s+that\s+)"
    rf"|(?:please\s+)?keep in mind\s*,?\s*{_AHEAD}\s*[:,—–-]*\s*(?:that\s+)?"
    rf"|{_AHEAD}\s*,?\s*(?:please\s+)?(?:remember|note|keep in mind)\s*(?:[:—–-]+\s*|that\s+)"
    r"|update (?:(?:your|the|my|our|project) )*(?:memory|notes?)\s*(?:[:—–-]+\s*(?:that\s+)?|\s+that\s+)"
    r"|(?:save|add|store|put|write|commit)(?:\s+(?:this|the following|it|a note))?\s+(?:to|in|into)\s+(?:your\s+|the\s+|project\s+)?memory"
    r"\s*(?:[:—–-]+\s*(?:that\s+)?|\s+that\s+)"
    r"|(?:don['’]?t|do not) forget(?:\s*[:—–-]+\s*(?:that\s+)?|\s+that\s+)"
    r"|(?:merke? dir|(?:bitte )?merken|recuerda|apunta|souviens-toi|retiens|note bien)(?:\s*[:,—–-]+\s*|\s+(?:que|dass)\s+)"
    r"|memori[sz]e\s*(?:[:—–-]+\s*|this\s*[:—–-]+\s*|that\s+)"
    rf"|for (?:the )?future(?: reference)?\s*[:,—–-]+\s*"
    r"|for your (?:notes|memory)\s*[:,—–-]+\s*(?:that\s+)?"
    r")(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_BARE = re.compile(
    rf"^{SOFT}{ASK}remember,?\s+(?P<rest>(?:never|always|don'?t|do not|we|our|my|i|i'm|this (?:project|repo|repository|codebase|team|app|service)|the\s+[\w-]+"
    r"(?:\s+[\w-]+){0,3}?\s+(?:is|are|must|should|uses|lives|runs|has))\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_REMEMBER_TO = re.compile(
    rf"^{SOFT}{ASK}(?:always\s+)?(?:remember|don'?t forget)(?P<always>\s+always)?\s+to\s+(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_BACK = re.compile(
    rf"^{SOFT}{ASK}(?:remember|memori[sz]e|save)\s+(?:that|this|it)(?:\s+(?:to|in)\s+(?:your\s+)?memory|\s*,?\s*{_AHEAD})?\s*[.!]*$",
    re.IGNORECASE,
)
_IN_MEMORY = r"(?:(?:from|in|out of) (?:(?:your|the|my|project|our) )?(?:memory|memories)\b|(?:from|in|out of) your (?:notes?|knowledge|records?)\b)"
# "The beta cluster is gone. Forget about it.": the cluster is meant.
_GONE = re.compile(
    r"^(?:(?:we|they|i) (?:don['’]t|do not|no longer|stopped|never) (?:have|use|need|run|using|running|having) (?:any )?(?P<s>[^,;]+?)(?: any ?more| any longer| at all)?|"
    r"(?:we|they|i)(?:['’]ve| have)? (?:got rid of|dropped|retired|removed|shut down|cancelled|killed|decommissioned) (?P<s2>[^,;]+?)|"
    r"(?P<s3>[^,;]+?) (?:is|are|was|were|has been|have been|got) (?:now |long |all )?(?:gone|dead|retired|obsolete|over|no more|history|deprecated|outdated|cancelled|removed|deleted|shut down|"
    r"decommissioned|discontinued|dropped|closed|finished)|(?P<s4>[^,;]+?) (?:doesn['’]t|does not|don['’]t|do not|no longer) exists?(?: any ?more)?)\s*$",
    re.IGNORECASE,
)
_IT = re.compile(
    rf"^(?:and |so |then )*{SOFT}{ASK}(?:(?:you can|you may|feel free to|just) )*(?:forget(?: about)?|(?:don'?t|do not|no need to) remember|{AWAY})\s+(?:it|that|this|them|those|him|her)"
    rf"(?P<where>\s+{_IN_MEMORY})?(?:\s+(?:please|then|now|too|as well|any ?more))*\s*[.!]*$",
    re.IGNORECASE,
)

_PASSING = re.compile(
    r"\bfor now\b|\bjust this once\b|\bthis time\b|\bthis (?:file|test|bug|branch|pr|commit|task|change|function|line|error|step|"
    r"session|conversation|chat)\b|\b(?:is|are) (?:still |now |currently )?(?:failing|broken|running|red|down)\b|\b(?:right|just) now\b|^(?:this|that|it|these|those)\s*[.!]*$|"
    r"^(?:you|we) (?:still )?(?:need|have) to\b|^(?:i|we|you) (?:asked|told|said)\b|^(?:time|day|one|bug|thing)\b|\bto-?do\b|^fix\b|^(?:when|where|how|what|why|who)\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:always|never|every|each|whenever|any ?time|by default)\b|\b(?:before|after|when|while) (?:you |we |i )?\w+",
    re.IGNORECASE,
)
_FORGOTTEN = re.compile(r"\bforget\b", re.IGNORECASE)
_FOR_NOW = re.compile(r"\bfor now\b", re.IGNORECASE)


def wishes(prompt: str) -> list[Wish]:
    """The wishes of one prompt: requests in order, then remarks in passing."""
    text = prompt[:MAX_PROMPT]
    asked = list(_requests(typed_lines(text))) if _ANY.search(text) else []
    quoted = "\n".join(wish.quote for wish in asked)
    said = [wish for wish in _in_passing(text) if wish.quote not in quoted]
    parts = [sentence for line in typed_lines(text) for sentence in sentences(line)]
    doubted = tuple(each for each, after in pairwise(parts) if asks_about(each, after))
    return [
        replace(wish, handling="ask") if wish.handling == "learn" and wish.quote.endswith(doubted) else wish
        for wish in (*asked, *said)
    ]


def _in_passing(prompt: str) -> Iterator[Wish]:
    for each in remarks(prompt):
        if looks_secret(each.quote):
            yield Wish("", "", fact=False, handling="secret")
        elif len(_content(each.text)) >= LEAST_WORDS:
            yield Wish(each.text, each.quote, False, _HANDLING[each.sureness], True, each.fact)


def _requests(lines: list[str]) -> Iterator[Wish]:
    listing, before = "", ""
    for line in lines:
        item = LIST_ITEM.match(line)
        if item and listing:
            yield from _checked(item["rest"], f"{listing} {line}", fact=True)
            continue
        if not line:
            continue
        listing = line if LIST_LEAD.match(line) else ""
        text = item["rest"] if item else line
        yield from _of_line(text, before)
        before = f"{before} {text}".strip()


def _of_line(line: str, before: str) -> Iterator[Wish]:
    """The wishes of a line; `before` is the prompt up to it."""
    whole_line = _LEAD.match(line)
    if whole_line and is_labelled(whole_line["rest"]) and not asks(line):
        yield from _checked(whole_line["rest"], line, fact=True)  # a label applies to the complete line
        return
    parts = sentences(line)
    for place, sentence in enumerate(parts):
        following = parts[place + 1] if place + 1 < len(parts) else ""
        before_it, gone = _gone(parts[place - 1] if place else "", sentence)
        if gone:
            yield Wish(gone, f"{before_it} {sentence}".strip(), fact=False, handling="forget")
        elif asks_to_forget(sentence) and not _FOR_NOW.search(sentence):
            yield Wish("", sentence, fact=False, handling="forget")
        elif _BACK.match(sentence) and place:
            yield from _checked(parts[place - 1], f"{parts[place - 1]} {sentence}", fact=True)
        else:
            yield from _of_sentence(sentence, following if REASON.match(following) else "", before)
        before = f"{before} {sentence}".strip()


def _gone(before: str, sentence: str) -> tuple[str, str]:
    """What "forget it" refers to, if the previous sentence, or the same one up to its last comma, says that it is gone."""
    first, comma, rest = sentence.rpartition(", ")
    for known, asked, quoted in ((before, sentence, before), (first, rest if comma else "", "")):
        told = _GONE.match(bare_sentence(known.rstrip(" .!"))) if _IT.match(asked) else None
        if told and not asks(known):
            return quoted, next(value for value in told.groups() if value)
    return "", ""


def _of_sentence(sentence: str, reason: str, before: str) -> Iterator[Wish]:
    quote = f"{sentence} {reason}".strip()
    told = KEEP_IT.sub("", sentence)
    if told not in ("", sentence) and not asks(told):
        yield from _checked(told, sentence, fact=True)
        return
    if asks(TAIL.sub("", sentence)) or SUPPOSED.search(sentence) or SUPPOSED.search(before[-80:]):
        return
    if match := _LEAD.match(sentence) or _BARE.match(sentence):
        found = _checked(match["rest"], quote, fact=True, more=reason)
        # After a task it is a detail of the task, not to be overlooked.
        in_task = before and _FORGOTTEN.search(sentence[: match.start("rest")])
        yield from (replace(wish, handling="ask") if in_task and wish.text else wish for wish in found)
        return
    to = _REMEMBER_TO.match(sentence)
    if to and _HABIT.search(sentence) and not AT_HAND.search(to["rest"]):
        text = f"{to['always'].strip()} {to['rest']}" if to["always"] else to["rest"]
        yield from _checked(text, quote, fact=False, more=reason)


def _checked(text: str, quote: str, *, fact: bool, more: str = "") -> Iterator[Wish]:
    """The wish, unless it is no complete statement, is about the current task, or has a secret."""
    text = TAIL.sub("", text).strip().rstrip("?").strip()
    if not whole(text) or SUPPOSED.search(text) or OTHERS.search(text) or asks(text):
        return
    if _PASSING.search(text) or len(text) > MAX_STATEMENT:
        return
    if len(_content(text)) < LEAST_WORDS or not says_something(text) or text.endswith(":"):
        return
    if looks_secret(quote):
        yield Wish("", "", fact=fact, handling="secret")
        return
    full = f"{text} {more}" if more and text[-1:] in ".!" and len(text) + len(more) < MAX_STATEMENT else text
    yield Wish(full, quote, fact=fact)


def _content(text: str) -> list[str]:
    return list(statement(text).weights)
