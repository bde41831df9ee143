"""What a date phrase does in its sentence. Only the time of one thing that happened, or is to come, is a date. Pure.

The same words say how things are each day ("the report covers yesterday"), what to do with whichever things there are
("orders placed yesterday are locked"), what might be ("if it broke yesterday") or what somebody may type. So a phrase is read
only where its clause tells of one thing: by its verb, and by whether somebody or something known does it. `_ROLES` says
for each kind of verb what that takes; what is not understood is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dreams.language.dates import openers
from dreams.language.dates.clauses import Clause, Phrase, clause_of, phrase_of

_SPAN = re.compile(r"in\s", re.IGNORECASE)


def told(row: str, text: str, *, side: int = 0, comment: bool = False) -> bool:
    """Whether the phrase `text`, the `@` in the letters `row`, dates one thing.

    `side` is -1 or 1 where the caller knows that the text looks back or ahead; `comment`: its line is a comment in code.
    """
    if not row.strip("@.,!?qQ-"):
        return True
    clause, phrase = clause_of(row), phrase_of(text, side)
    unwitnessed = comment and not openers.witnessed(clause)
    if unwitnessed or openers.in_doubt(row, clause) or _part_of_more(clause, phrase):
        return False
    if clause.opener == "W":
        return openers.asked(row, clause)
    if not openers.can_tell(clause, phrase):
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


def _past(clause: Clause, phrase: Phrase) -> bool:
    return not clause.of_any


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
    "X": _past,
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
