"""Decides what a date phrase does in its sentence. Only the time of one past or future event counts as a date. Pure.

The same words say how things are each day ("the report covers yesterday"), what to do with whichever things there are
("orders placed yesterday are locked"), what might be ("if it broke yesterday") or what somebody may type. So a phrase is read
only where its clause tells of one thing: by its verb, and by whether somebody or something known does it. `_ROLES` says
for each kind of verb what that takes; what is not understood is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from dreams.lib.prose.dates import sentence
from dreams.lib.prose.dates import vocabulary as v
from dreams.lib.prose.dates.sentence import CONTACT, Clause, Phrase, clause_of, phrase_of

_FUTURE = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|let's|lets|let us|(?:need|needs|want|wants|plan|plans|planning|hope|hopes|"
    r"aim|intend|have|has|expect|expects) to|must|should|due(?! dates?\b)|deadline|upcoming|expires?|scheduled? (?:for|on|a)|"
    r"schedule|remind|todo|to-do|meet(?= (?:me|on|at|you|us|in|with))|next up|launching|releasing|"
    r"would like to|can (?:you|i|we)|could (?:you|i|we)|please|book(?:ing)?|appointment|reservation|tentatively|planned for|target(?:ed|ing|s)? for|"
    r"(?:i['’]m|i am|we['’]re|we are|(?:s?he|they)(?:['’]s|['’]re| is| are)) (?:flying|leaving|going|moving|meeting|presenting|starting|travell?ing|deploying|"
    r"releasing|shipping|launching|switching|migrating|visiting|speaking|away|out|off|back)|"
    r"(?:is|are|['’]s|now|currently|still) (?:expected|planned|slated|set|supposed|on track) (?:to|for))\b|[’']ll\b",
    re.IGNORECASE,
)
_PRESENT_QUESTION = re.compile(
    r"\W*(?:(?:so|and|what|when|where|who|how|which \w+)\W+(?:about\b)?)?\s*(?:is|are|am|do|does|can|could|would|should|may)\b[^?]*\?\W*$",
    re.IGNORECASE,
)
_FIRM_FUTURE = re.compile(r"\b(?:will|shall|won't|going to|gonna|let's)\b|[’']ll\b", re.IGNORECASE)
# Past by themselves, whatever stands before them.
_TOLD = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|saw|ran|broke|wrote|took|gave|began|became|chose|drove|fell|flew|forgot|grew|knew|"
    r"rose|spoke|swore|threw|woke|wore|ate|back in|has been|have been|['’](?:s|ve) been|"
    r"(?:s?he|it) (?:cut|put|set|hit|hurt|shut|read|quit|let|split|spread))\b",
    re.IGNORECASE,
)
# Past too, unless "is", "are" or "gets" makes a custom of them. Verbs whose present looks the same ("we cut", "put") tell nothing.
_DONE = re.compile(
    r"\b(?:met|left|said|told|got|made|built|found|sent|spent|lost|won|paid|bought|sold|felt|kept|held|brought|thought|taught|"
    r"caught|led|meant|slept|stood|stuck|understood|"
    r"(?!(?:need|speed|feed|seed|embed|indeed|exceed|proceed|succeed|shed|bed|red|allowed|needed|wanted|preferred|"
    r"scheduled|planned|expected|based|used|shared|required|proposed|supposed)\b)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_CUSTOM = re.compile(
    r"(?:\b(?:is|are|am|be|being|gets?|getting|isn't|aren't|stays?|remains?)|['’](?:re|s))\s+(?!been\b)"
    r"(?:(?:not|only|all|both|then|also|still|now|it|them|never|always|often|\w+ly)\s+){0,2}"
    r"(?:[a-z]{2,}ed|sent|made|held|kept|paid|built|sold|cut|put|set|read|shut|lost|found|hit|taken|given|written|done|run)\b",
    re.IGNORECASE,
)
_REMAINING = re.compile(r"\b(?:days?|hours?|weeks?|months?|time|is|are)\s+left\b", re.IGNORECASE)
# What was decided, wanted or agreed upon lies ahead of the deciding, or happens each time.
_PLANNED = re.compile(
    r"\b(?:(?:was|were|has been|have been|had|we['’]ve)\s+)?(?:(?:asked|requested|told \w+|said)\s+(?:that|to|for|if)|"
    r"(?:decided|agreed|chose|promised|insisted)\s+(?:that|to|for|if|on))\b|\bas (?:agreed|planned|discussed|decided|promised)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def is_past(sentence: str) -> bool:
    """Whether something is told as done: "was cut", "deployed it"; not "is cut", "gets deployed", "agreed to deploy"."""
    told = _REMAINING.sub(" ", _PLANNED.sub(" ", sentence))
    if _TOLD.search(told):
        return True
    return bool(_DONE.search(told)) and not _CUSTOM.search(told)


@lru_cache(maxsize=256)
def looks_ahead(sentence: str) -> bool:
    return bool(_FUTURE.search(sentence))


def asks_ahead(sentence: str) -> bool:
    """ "Does Friday at 4 work?": a question in the present is about what is to come."""
    return bool(_PRESENT_QUESTION.match(sentence)) and not is_past(sentence)


def surely_ahead(sentence: str) -> bool:
    """ "will", "going to": no mere plan or duty."""
    return bool(_FIRM_FUTURE.search(sentence))


def is_custom(sentence: str) -> bool:
    """ "is renewed", "gets sent": each time, as far as the words say."""
    return bool(_CUSTOM.search(sentence)) and not is_past(sentence)


_HABIT_WORDS = (
    r"never|always|every|each|any|anyone|anybody|whoever|whenever|usually|typically|generally|regularly|normally|mostly|often|"
    r"sometimes|occasionally|rarely|seldom|fortnightly|alternat(?:e|es|ing)|(?:once|twice|times) (?:an?|per)|per (?:day|week|month|year)|"
    r"as (?:a rule|usual)|per usual|by default|e\.g\.?|for example|for instance|such as|recurring|hypothetical(?:ly)?"
)
_TIMED = r"weekly|daily|monthly|nightly|hourly|yearly|annual|annually|quarterly|bi-?weekly"
_HABIT = re.compile(
    rf"\b(?:{_HABIT_WORDS}|{_TIMED}|used to|policy|policies|rule|rules|convention|cadence)(?![\w])",
    re.IGNORECASE,
)
# Where the phrase says which week or year it is, "the nightly build" and "the policy" make no habit of it.
_FIRM_HABIT = re.compile(rf"\b(?:{_HABIT_WORDS}|(?:{_TIMED})(?!\s+[a-z]))(?![\w])", re.IGNORECASE)
_STANDUP = re.compile(r"\bstandups?\b", re.IGNORECASE)  # on a weekday it is each week, this morning it is not
# Such a phrase has a place in every week or year, unless a word says which one.
_RETURNS = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\bjan|\bfeb|\bmar|\bapr|\bmay\b|\bjun|\bjul|\baug|\bsep|\boct|\bnov|\bdec|"
    r"\bq[1-4]\b|christmas|easter|thanksgiving|the weekend|^the \w+$",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:last|next|this|past|previous|coming|ago|from now)\b", re.IGNORECASE)
_OF_MANY = re.compile(
    r"\b(?:(?:every|each|any|some|most|other|alternate|second|third|fourth|fifth|first|2nd|3rd|4th)|"
    r"(?:not|never|only|always|except|also|even|sometimes|usually|often)(?:\s+(?:on|in|by|at|for|from))?)\s+[*_('\"“‘]*$",
    re.IGNORECASE,
)
_A_DAY = re.compile(r"(?:yesterday|tomorrow|today)", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|whether|in case)\b[^,.;:]*$", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:such as|for example|for instance|examples?:|e\.g\.)[^.;]*$", re.IGNORECASE)

# "For example, it broke yesterday" is told.
_AS_SUCH = re.compile(r"\W*for (?:example|instance),", re.IGNORECASE)


# "Shows the last 30 days", "within the past week": a window that moves on from day to day.
_WINDOW = re.compile(
    r"\b(?:within\s+(?:the\s+)?|(?:shows?|displays?|covers?|lists?|keeps?|returns?|filters?|includes?|aggregates?|averages?|fetch(?:es)?|"
    r"loads?|queries|reads?|scans?|analy[sz]es?|summari[sz]es?|retains?|stores?|exports?|plots?|compares?)\s+(?:\w+\s+){0,3})$",
    re.IGNORECASE,
)


def rolling(before: str) -> bool:
    """A window that moves on follows: "shows ..."."""
    return bool(_WINDOW.search(before))


def habitual(phrase: str, sentence: str, told: str) -> bool:
    """A rule or an example, unless it tells what was done, and when by more than a weekday; `told` comes before the phrase."""
    example = _EXAMPLE.search(told) and not (_AS_SUCH.match(told) and is_past(sentence))
    if example or (_OF_MANY.search(told[-40:]) and not _A_DAY.match(phrase)):
        return True
    if _RETURNS.search(phrase) and not _WHICH.search(phrase):
        return bool(_HABIT.search(sentence) or _STANDUP.search(sentence) or _CONDITION.search(told))
    return bool(_FIRM_HABIT.search(sentence)) and not is_past(sentence)


_QUESTION = re.compile(
    r"\?\W*$|^\W*(?:who|what|when|where|which|why|how)\s+(?:are|were|do|does|did|will|many|much|about)\b|"
    r"^\W*(?:is|are|do|does|did|can|could|will|would)\s+(?:(?:i|we|you|he|she|it|they|there|this|that|the|my|our|your)\b|(?-i:[A-Z][a-z]))",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:please|schedul(?:e|ing)|book(?:ing)?|appointment|reservation|remind me|arrange|meet(?= (?:me|on|at|you|us|in|with|next|this|tomorrow))|calendar)\b",
    re.IGNORECASE,
)
_OF_ONE_S_OWN = re.compile(r"\b(?:i|we|me|us|my)\b|\bi['’]m\b|\blet['’]?s\b", re.IGNORECASE)
_CLOCK_AFTER = re.compile(rf"\s*{v.CLOCK}", re.IGNORECASE)
_CLOCK_BEFORE = re.compile(rf"{v.CLOCK}\s*(?:on\s+)?$", re.IGNORECASE)
_FEW_WORDS = re.compile(r"(?:\W*\w+){0,2}\W*$")


def is_asked(phrase: str, sentence: str, before: str, after: str) -> bool:
    """`before` and `after` are what the sentence says around the phrase."""
    if _QUESTION.search(sentence) or _REQUEST.search(sentence) or surely_ahead(sentence):
        return True
    if _CLOCK_AFTER.match(after) or _CLOCK_BEFORE.search(before):
        return True
    if phrase.lower() == "today":  # these days, as far as anybody can tell
        return False
    opens = not before.strip(" *_#>-") and after[:1] not in {"'", "’"}
    by_itself = opens and bool(_FEW_WORDS.match(after) or phrase.lower().startswith("in "))
    return by_itself or bool(_OF_ONE_S_OWN.search(sentence))


_SPAN = re.compile(r"in\s", re.IGNORECASE)


def told(row: str, text: str, *, comment: bool = False) -> bool:
    """Whether the phrase `text`, the `@` in the letters `row`, dates one thing.

    `comment`: its line is a comment in code.
    """
    if not row.strip("@.,!?qQ-"):
        return True
    clause, phrase = clause_of(row), phrase_of(text)
    unwitnessed = comment and not sentence.witnessed(clause)
    if unwitnessed or sentence.in_doubt(row, clause) or _part_of_more(clause, phrase):
        return False
    if clause.opener == "W":
        return sentence.asked(row, clause)
    if not sentence.can_tell(clause, phrase):
        return False
    if phrase.text.lower() == "today" and not _this_very_day(clause):
        return False
    if _is_bounded(clause, phrase) and clause.fronted:
        return True  # "since yesterday the build is red"
    if clause.in_subject and not _subject_is_dated(clause, phrase):
        return False
    return _ROLES.get(clause.verb[:1], _fragment)(clause, phrase)


def _part_of_more(clause: Clause, phrase: Phrase) -> bool:
    """ "The story's last night", "than yesterday", "at 5 minutes ago", "compared to today", "fixed it in two days"."""
    left = clause.left
    if left.endswith(("D", "Z", "n")) or (phrase.lone and re.search("[^YPJV]Q$|^Q$", left)) or left == "Va":
        return True
    if "M" in left[1:] and not clause.verb.startswith("M"):  # "it would be nice to have it by @"
        return True
    return bool(_SPAN.match(phrase.text)) and bool(left) and clause.verb[:1] in set("XVvH")


def _this_very_day(clause: Clause) -> bool:
    """Today, and not these days: something happened, is to be done, or is said of a person."""
    verb, left, right = clause.verb[:1], clause.left, clause.right
    if right.startswith("'E"):  # "today's users"
        return verb in {"X", "F"}
    match verb:
        case "X" | "F" | "H" | "L":
            return True
        case "V":
            return clause.who in {"known", "none"}
        case "B":
            return left.endswith(("B", "q")) or clause.subject.endswith("P") or right.startswith("'")
        case "U":
            return clause.subject != "@" and bool(left)
    if left.endswith("q"):
        return bool(right)
    later = left.strip("R") == "" != left
    return left[:1] == "P" or (later and right[:1] == "P") or right[:2] == "PG" or not left + right


# How the phrase is tied to what stands before it.


def _is_bounded(clause: Clause, phrase: Phrase) -> bool:
    """Behind since, until, by; "from" bounds only what is to come."""
    left = clause.left.rstrip("R")
    return left.endswith("q") or (left.endswith("f") and phrase.ahead > 0)


def _is_tied(clause: Clause, phrase: Phrase) -> bool:
    """To a noun: "the orders of yesterday", "fetches yesterday's rates"."""
    left = clause.left.rstrip("R")
    owns = bool(left) and clause.right.startswith("'") and not _is_bounded(clause, phrase)
    return owns or left.endswith("a") or (left.endswith("f") and not _is_bounded(clause, phrase))


def _subject_is_dated(clause: Clause, phrase: Phrase) -> bool:
    if _is_bounded(clause, phrase) and clause.who != "known":  # "keys from before last year are weak"
        return False
    return clause.verb[0] == "X" or not (phrase.lone and _is_tied(clause, phrase))


# What each kind of verb takes.


def _participle(clause: Clause, phrase: Phrase) -> bool:
    """ "the key rotated @ is lost", "a commit merged @ broke it"; not "orders placed @ are locked"."""
    if clause.verb == "vX":
        return True
    return clause.who == "known" and not clause.verb.startswith("vBV") and not re.match("K?V", clause.left)


def _past_or_participle(clause: Clause, phrase: Phrase) -> bool:
    """ "Tests added @" may be either; with an object, or one who did it, it is told."""
    known = clause.who in {"known", "none"}
    if phrase.ahead > 0 and not _is_bounded(clause, phrase):
        return known and _is_tied(clause, phrase) and clause.left != "KVa"  # "moved to next week"
    if re.search("[af][wE]+V$", clause.left):  # "the number of steps done @"
        return False
    return known or not re.search("Vq?$", clause.left) or clause.after.startswith("T")


def _perfect(clause: Clause, phrase: Phrase) -> bool:
    if _is_tied(clause, phrase):
        return False
    known = clause.who in {"known", "none"} and (phrase.ahead <= 0 or "V" not in clause.verb)
    return known or _is_bounded(clause, phrase) or clause.left.startswith("H")


def _future(clause: Clause, phrase: Phrase) -> bool:
    return not re.search("[wEKN]Y$", clause.subject)  # "a talk you will forget by @"


def _wish(clause: Clause, phrase: Phrase) -> bool:
    if clause.left.endswith("EU") and not clause.after.startswith(":"):  # "the tasks due @"
        return False
    there = clause.left.startswith("JB")  # "there is a lunch planned for @"
    known = clause.who in {"known", "none"} or clause.subject == "Y" or clause.subject.endswith("P")
    return (known or there) and phrase.ahead >= 0


def _duty(clause: Clause, phrase: Phrase) -> bool:
    """A duty of things is a rule, unless a day to come is named; that of a person may be a plan."""
    if phrase.ahead >= 0 and (clause.who == "none" or clause.subject[-1:] in set("PKY")):
        return True
    return phrase.ahead > 0 and clause.who == "known"


def _ability(clause: Clause, phrase: Phrase) -> bool:
    """ "can you send it @"; else only what could be."""
    had = clause.subject.endswith("P") and "H" in clause.verb and phrase.ahead <= 0
    return had or (clause.left.startswith("M") and not clause.before)


def _being(clause: Clause, phrase: Phrase) -> bool:
    known = clause.who in {"known", "none"}
    if "U" in clause.verb:
        return known or (phrase.ahead > 0 and not _SPAN.match(phrase.text))
    if "V" in clause.verb:  # "is archived @": each day, as far as the words say
        return (known and phrase.ahead > 0) or _is_bounded(clause, phrase)
    if clause.subject == "@" and clause.right.startswith("BA"):  # "tomorrow is another day"
        return False
    return (known and not _is_tied(clause, phrase)) or _is_bounded(clause, phrase)


def _timetable(clause: Clause, phrase: Phrase) -> bool:
    if "n" in clause.left and _is_bounded(clause, phrase):  # "the search returns no results since @"
        return True
    known = clause.who in {"known", "none"}
    return phrase.ahead >= int(not known) and clause.who != "any" and not _is_tied(clause, phrase)


def _does(clause: Clause, phrase: Phrase) -> bool:
    return clause.left.startswith("O") or (clause.who == "known" and _is_bounded(clause, phrase))


def _fragment(clause: Clause, phrase: Phrase) -> bool:
    """No verb that we know: a note in short ("demo for Kim tomorrow"), or something done in the present."""
    if clause.opener == "S":  # "before the board meeting on Thursday"
        return True
    left, right = clause.left.rpartition(",")[2].lstrip("RC,-"), clause.right
    if not clause.left and right == "'w" and not clause.after.strip("."):  # "last week's outage"
        return True
    if right[:1] in {"w", "E", "N", "&"} or (left and right[:1] == "G") or (not left and right[:1] == "'"):
        return False  # "the today button", "type tomorrow into it", "yesterday's data lives there"
    if not left:
        return not clause.left or bool(right)
    if _is_bounded(clause, phrase):
        return not re.search("[wKG]Eq$|Ewq$|JE", left)
    if _is_tied(clause, phrase):
        named = clause.after.startswith(":") and "E" not in left
        if (
            not phrase.lone
            and not clause.before
            and not clause.after.strip(".")
            and left.rstrip("af").isalpha()
        ):
            return len(left) <= 3 and left.endswith("a")  # "Sales for this quarter"
        noun = re.search("D[wK]+[af]$" if clause.opener == ":" and not phrase.lone else "D[wK]+f$", left)
        return named or (phrase.ahead < 0 and bool(noun))
    return _noted(left, clause, phrase)


def _noted(left: str, clause: Clause, phrase: Phrase) -> bool:
    if left[0] in "Nn":
        return True
    if left[0] == "P":
        return phrase.ahead >= 0
    if left[0] in "YAe" or (left in {"w", "K"} and not phrase.lone and not clause.after.startswith(":")):
        return False
    if re.search("[wKE]E[^E]|E[wKDAJ]", left):  # "the client pays the bill @"
        return left[0] in "DKN" and phrase.ahead > 0
    return phrase.ahead != 0


_ROLES: dict[str, Callable[[Clause, Phrase], bool]] = {
    # Not "a question that the user asked @": that is told of whichever it is.
    "X": lambda clause, _: clause.who != "any" or not CONTACT.search(clause.subject),
    "v": _participle,
    "V": _past_or_participle,
    "H": _perfect,
    "F": _future,
    "U": _wish,
    "u": _duty,
    "M": _ability,
    "B": _being,
    "L": _timetable,
    "O": _does,
}
