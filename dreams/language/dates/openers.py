"""What begins a clause, and whether it can tell of one thing at all: questions, conditions, "that" and "when". Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from dreams.language.dates.clauses import Clause, Phrase

_TOLD = re.compile("X|F|[PKJ]V|^[-RC]*V")
# "Should we ...", "would it ...", "why not ...", "had we ...", "when a user signs up, ...": only thought of, or each time.
# "Lists what ...", "Resolves one ...": what something does.
_THOUGHT = re.compile(r"[-RC, ]*(?:u[PJDKA]|M(?![YP])|WR|WI|I|h[^,XV]*,|E[NADew])")


def in_doubt(row: str, clause: Clause) -> bool:
    """A thought, a condition, a comparison, or what is not sure."""
    within = clause.before + clause.left + clause.verb
    unsure = "d" in within and "Xd" not in within
    on_condition = clause.fronted and clause.right in {"", ","} and clause.after.startswith("I")
    return bool(_THOUGHT.match(row)) or clause.opener in {"I", "Z"} or unsure or on_condition


def witnessed(clause: Clause) -> bool:
    """ "the bug we hit last year": in code, only what somebody did is told."""
    return clause.subject.endswith("P") and clause.verb[:1] in {"X", "V"}


def _any_clause(clause: Clause, phrase: Phrase) -> bool:
    return True


def asked(row: str, clause: Clause) -> bool:
    """A question about what was or will be; "what" and "who" elsewhere stand for whatever there is."""
    if _TOLD.search(row[: row.index("W")]) or re.match("[BXOHF].*[?]", row):
        return True
    if clause.before.strip(" ,-CR"):
        return False
    if re.match("P.*[XV]", clause.left) and clause.right[:1] in {"B", "X"}:  # "what we agreed on @ is ..."
        return True
    if re.match("[BXOHFM]", clause.left):
        return "?" in row or not re.search("[XBHFMUuO]", clause.left[1:] + clause.right)
    return row.endswith("?") and bool(re.search("[XV]", clause.left))


def _relative(clause: Clause, phrase: Phrase) -> bool:
    """ "the bug that we fixed @" tells of one, "pages that changed @" of whichever; what was told of any is told."""
    before = clause.before
    if clause.verb.startswith("F") or re.search("[VXH]R*$", before):  # "he said that it ships @"
        return True
    if before.endswith((",", "(")) and clause.verb[:1] in {"X", "V"}:  # ", which broke @": an afterthought
        return True
    if re.search("[WIhZ]", before):
        return False
    if _TOLD.search(before) or re.match("[^.;,hSI]*X", clause.after) or re.search("JBA[wEKN]*$", before):
        return True
    if clause.left[:1] in {"D", "K"} and re.search(
        "[wK]E$", before
    ):  # "the graph shows that the disk filled up @"
        return True
    if clause.left.startswith("P") and not re.search("[AenE][wEKN]*$", before):
        return True
    return bool(re.search("(?:[DN]'?[wKGN]*|N[wEKGN]*|K)[,(]?$", before))


def _whenever(clause: Clause, phrase: Phrase) -> bool:
    return bool(re.search("[XF]", clause.before + clause.after)) and clause.verb[:1] in {"X", "V"}


def _reason(clause: Clause, phrase: Phrase) -> bool:
    if not clause.verb:  # "since the outage last night"
        return clause.left[:1] in set("DK")
    past = re.search("[XV]", clause.before + clause.after)
    since = clause.left.endswith("q") and clause.verb[:1] in {"B", "H"}
    return bool(past) or since or clause.who == "known" or phrase.ahead > 0


def _label(clause: Clause, phrase: Phrase) -> bool:
    """Not a setting or a quotation behind its label: "Default range: last month", "the error says: try again tomorrow"."""
    if re.search("[wK][EB]$", clause.before):
        return False
    alone = not clause.left and re.match("[.,]?$|,[wK]", clause.right + clause.after)
    return not alone or phrase.text.endswith("ago")


_OPENERS: dict[str, Callable[[Clause, Phrase], bool]] = {
    "T": _relative,
    "h": _whenever,
    "S": _reason,
    ":": _label,
}


def can_tell(clause: Clause, phrase: Phrase) -> bool:
    """Whether the clause, by what begins it, may tell of one thing that is or was."""
    return _OPENERS.get(clause.opener, _any_clause)(clause, phrase)
