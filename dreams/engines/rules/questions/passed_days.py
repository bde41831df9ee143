"""Statements that held until a day that has passed. PURE.

What surely only held until then is taken out by a step (`steps/expiring.py`); here is what names its last day in any other
way, and what a reader may still want to know.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from functools import partial

from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.removing import fates
from dreams.engines.rules.notes.tree import Change, Recorder, from_memory
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP, askable, place, removal
from dreams.engines.types import Option, Question
from dreams.lib.prose import similarity

LONGEST, MOST_SENTENCES = 400, 2  # a longer statement says much else
_DAY = re.compile(days.WRITTEN, re.IGNORECASE)
_NO_YEAR = re.compile(days.NO_YEAR, re.IGNORECASE)
_ANY_DAY = re.compile(r"\b(?:19|20)\d\d\b")
# What makes the day behind it the last one: "until", "ends on", "remove after", "deadline:", "back on".
_BEFORE_AN_END = re.compile(
    r"(?:\b(?:until|till?|through|thru|up to|lasts? to|runs? (?:to|out)|valid|good|by|before|due|deadlines?|expir\w+|expiry|"
    r"ends?|over (?:on|by)|back on|closes?|remove|drop|delete|revert|review|temporar\w+|temp|ttl|sunset|scheduled|postponed|"
    r"paused|frozen|freeze|waived|hold|next)\b)(?! of\b)[^.;\d]{0,24}$",
    re.IGNORECASE,
)
# Or the day opens the statement: "2026-03-14 = deadline for …".
_BEHIND_AN_END = re.compile(
    r"^\W{0,4}(?:is (?:the )?|the )?(?:deadline|last day|end of|cut-?off|due)\b", re.IGNORECASE
)
_HAPPENED = re.compile(
    r"\b(?:was|were|had|did|used to|since|done|shipped|merged|closed|resolved|completed?|fixed|superseded|decided|history)\b",
    re.IGNORECASE,
)
_ONE_VERB = re.compile(r"\b(is|are|has|have)\b")
_PAST = {"is": "was", "are": "were", "has": "had", "have": "had"}
_MORE_VERBS = re.compile(
    r"\b(?:must|should|can|will|may|do|does|not|never|use|keep|hold|please)\b|n['’]t\b", re.IGNORECASE
)


def passed(context: Asking) -> Iterator[Question]:
    """Whether what held until a day that has passed is removed, put in the past, or kept."""
    today = context.job.now.astimezone(context.job.time_zone).date()
    for unit in askable(context.tree_before):
        context.report.checkpoint()
        day = last_day(unit.text, _written(context, unit))
        if day is None or day >= today or any(map(_ANY_DAY.search, unit.headings)):
            continue
        note = f"It names {day.isoformat()} as its end, which has passed."
        cited = from_memory(unit.path, unit.first_line, unit.raw, note)
        options = (removal(context.draftsman, unit, note, cited), _past(context, unit, note), KEEP)
        yield Question(
            "expired",
            f"{similarity.normalised(unit.text)[:200]} {day.isoformat()}",
            f"Its day, {day.isoformat()}, has passed. Is it still of use?",
            (place(unit),),
            tuple(option for option in options if option),
            (cited,),
            weight=_weight(day, today),
        )


def _written(context: Asking, unit: Unit) -> dt.date | None:
    known = context.job.line_dates.get(unit.path, ())
    line = known[unit.first_line - 1] if unit.first_line <= len(known) else None
    return line.day if line and not line.ours else None


def last_day(text: str, written: dt.date | None = None) -> dt.date | None:
    """The one day that a statement names, if it is named as the end of something.

    A day without a year is the next one after the line was `written`.
    """
    told = sentences(text)
    if len(text) > LONGEST or "?" in text or len(told) > MOST_SENTENCES:
        return None
    found, years = list(_DAY.finditer(text)), len(_ANY_DAY.findall(text))
    if not years and written:
        found = list(_NO_YEAR.finditer(text))
    elif years != 1:
        return None
    if len(found) != 1:
        return None
    sentence = next((one for one in told if found[0][0] in one), "")
    before, _, behind = sentence.partition(found[0][0])
    ends = _BEFORE_AN_END.search(before) or (not before.strip(" *_`[(") and _BEHIND_AN_END.match(behind))
    if not ends or _HAPPENED.search(sentence):
        return None
    return days.written(found[0], last=True) if years else days.next_day(found[0], written)


def _weight(day: dt.date, today: dt.date) -> float:
    """What passed lately misleads most: it may be taken for true."""
    return 0.6 if (today - day).days < 365 else 0.45


def _past(context: Asking, unit: Unit, note: str) -> Option | None:
    """The same in the past, where that is one word."""
    verbs = list(_ONE_VERB.finditer(unit.raw))
    if len(verbs) != 1 or _MORE_VERBS.search(unit.raw):
        return None
    verb = verbs[0]
    new = f"{unit.raw[: verb.start()]}{_PAST[verb[1]]}{unit.raw[verb.end() :]}"
    return context.draftsman.option(
        "past", "Say it in the past", partial(_say, unit=unit, new=new, note=note)
    )


def _say(rec: Recorder, unit: Unit, new: str, note: str) -> bool:
    text = rec.tree.texts[unit.path]
    if text.count(unit.raw) != 1:
        return False
    told = fates(unit, "kept-in", unit.path, new.strip())
    cited = (from_memory(unit.path, unit.first_line, unit.raw, note),)
    return rec.operation("update", [Change(unit.path, text.replace(unit.raw, new), note, told, cited)])
