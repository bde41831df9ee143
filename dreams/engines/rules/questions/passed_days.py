"""Statements that held until a day that has passed. PURE.

What surely only held until then is taken out by a step (`steps/expiring.py`); here is what names its last day in any other
way, and what a reader may still want to know.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dreams import memdir
from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.removing import fates
from dreams.engines.rules.notes.tree import Change, Recorder, digest, from_memory, is_daily, is_log, is_team
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP, askable, place, removal
from dreams.engines.types import Fate, Option, Place, Question
from dreams.language import similarity

LONGEST, MOST_SENTENCES = 400, 2  # a longer statement says much else
_DAY = re.compile(days.WRITTEN, re.IGNORECASE)
_NO_YEAR = re.compile(days.NO_YEAR, re.IGNORECASE)
_ANY_DAY = re.compile(r"\b(?:19|20)\d\d\b")
# What makes the day behind it the last one: "until", "ends on", "remove after", "deadline:", "back on".
_BEFORE_AN_END = re.compile(
    r"(?:\b(?:until|till?|through|thru|up to|lasts? to|runs? (?:to|out)|valid|good|by|before|due|deadlines?|expir\w+|expiry|"
    r"ends?|over|back|closes?|remove|drop|delete|revert|review|temporar\w+|temp|ttl|sunset|scheduled|postponed|"
    r"paused|frozen|freeze|waived|hold|next)\b)(?! of\b)[^.;\d]{0,24}$",
    re.IGNORECASE,
)
# Or the day opens the statement: "2026-03-14 = deadline for …".
_BEHIND_AN_END = re.compile(
    r"^\W{0,4}(?:is (?:the )?|the )?(?:deadline|last day|end of|cut-?off|due)\b", re.IGNORECASE
)
OLD_STATE, STATE = 180, 0.35  # days; how much an answer helps
# A state that names its own day: "as of 2026-02-16", "Status (2026-02-16):", "in progress since".
_AS_OF = re.compile(r"\b(?:as of|as at|status|in progress|pending|waiting)\b[^.;\d\n]{0,16}$", re.IGNORECASE)
# What a heading calls a state, beside a day: a day alone heads an entry of a log.
_STATE = re.compile(
    r"\b(?:as of|as at|status|current\w*|recent\w*|latest|in progress|pending|resolved|remaining|open|next)\b",
    re.IGNORECASE,
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


def old_states(context: Asking) -> Iterator[Question]:
    """Whether a state of half a year ago is still of use: "Status (as of 2026-02-16)", "## Recent changes (2026-02-16)". One
    question for each memory."""
    asked: set[str] = set()
    for section in _old_sections(context):
        if section.path not in asked:
            asked.add(section.path)
            note = f"It is headed as of {section.day.isoformat()}."
            option = context.draftsman.option(
                "remove", "Remove the section", partial(_take_section_out, section=section, note=note)
            )
            yield from _old_state(context, section.path, section.line, section.heading, section.day, option)
    for unit in askable(context.tree_before):
        context.report.checkpoint()
        day = _state_day(unit.text)
        if (
            day
            and _is_old(context, day)
            and unit.path not in asked
            and not any(map(_ANY_DAY.search, unit.headings))
        ):
            asked.add(unit.path)
            note = f"It tells a state as of {day.isoformat()}."
            cited = from_memory(unit.path, unit.first_line, unit.raw, note)
            option = removal(context.draftsman, unit, note, cited)
            yield from _old_state(context, unit.path, unit.first_line, unit.raw, day, option)


def _is_old(context: Asking, day: dt.date) -> bool:
    return (context.job.now.astimezone(context.job.time_zone).date() - day).days >= OLD_STATE


def _old_state(
    context: Asking, path: str, line_no: int, text: str, day: dt.date, option: Option | None
) -> Iterator[Question]:
    if option is None:
        return
    months = (context.job.now.date() - day).days // 30
    yield Question(
        "expired",
        f"{similarity.normalised(text)[:200]} {day.isoformat()}",
        f"This is a state as of {day.isoformat()}, {months} months ago. Is it still of use?",
        (Place(path, line_no, text),),
        (option, KEEP),
        (from_memory(path, line_no, text),),
        weight=STATE,
    )


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with a day, and the lines below it up to the next heading of its level, 1-based and inclusive."""

    path: str
    heading: str
    line: int
    last_line: int
    day: dt.date


def _old_sections(context: Asking) -> Iterator[_Section]:
    """Sections whose heading says that they tell a state of an old day; a heading that is a day alone is a log's."""
    tree = context.tree_before
    for path in sorted(tree.texts):
        if is_log(path) or is_team(path) or is_daily(path) or not tree.writable(path):
            continue
        lines = tree.texts[path].split("\n")
        document = tree.document(path)
        items = memdir.sections(document.body, document.body_start_line)
        headings = [(item.first_line, item.text.strip()) for item in items if item.kind == "heading"]
        for place_, (line, text) in enumerate(headings):
            found = list(_DAY.finditer(text))
            if (
                len(found) != 1
                or not _STATE.search(text)
                or (day := days.written(found[0], last=True)) is None
            ):
                continue
            ends = (at for at, other in headings[place_ + 1 :] if _level(other) <= _level(text))
            if _is_old(context, day):
                yield _Section(path, text, line, next(ends, len(lines) + 1) - 1, day)


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#")) or 2


def _take_section_out(rec: Recorder, section: _Section, note: str) -> None:
    text = rec.tree.texts[section.path]
    lines = memdir.split_lines(text)
    gone = lines[section.line - 1 : section.last_line]
    rest = lines[: section.line - 1] + lines[section.last_line :]
    if not any(
        line.strip() and not line.startswith("#")
        for line in memdir.parse("".join(rest).encode()).body.split("\n")
    ):
        return  # nothing would be left of the memory
    told = tuple(Fate(line.rstrip("\r\n"), "stated", note=note) for line in gone if line.strip())
    cited = (from_memory(section.path, section.line, section.heading, note),)
    rec.operation(
        "prune",
        [Change(section.path, "".join(rest), note, told, cited)],
        key=digest(section.path, section.heading),
    )


def _state_day(text: str) -> dt.date | None:
    """The one day that a statement says it holds as of."""
    days_named = list(_DAY.finditer(text))
    if len(days_named) != 1 or len(_ANY_DAY.findall(text)) != 1:
        return None
    found = _AS_OF.search(text[: days_named[0].start()])
    return days.written(days_named[0], last=True) if found else None


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
