"""Questions about days: a day that has passed, and an old state. PURE."""

import datetime as dt
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.bodies import REMARK
from dreams.engines.rules.notes.removing import fates
from dreams.engines.rules.notes.tree import (
    NewText,
    Recorder,
    Tree,
    digest,
    from_memory,
    is_daily,
    is_index,
    is_log,
    is_team,
    lines_gone,
)
from dreams.engines.rules.notes.wording import says_something, sentences
from dreams.engines.rules.questions.families import (
    NO_OPTION,
    Inputs,
    leads,
    place,
    removal,
    removal_of_sentence,
)
from dreams.engines.rules.steps.index import lines_leading
from dreams.engines.rules.user_statements.phrases import TASK
from dreams.engines.types import KEEP, Option, Place, Question
from dreams.lib import memdir
from dreams.lib.prose import comparing
from dreams.lib.prose.statement_pairs import PlacedText

# How useful an answer is, chosen: recent days mislead most, as they may seem still valid.
RECENT, LONG_PAST, A_YEAR = 0.6, 0.45, 365
LONGEST, MOST_SENTENCES = 400, 2  # longer statements say more than that
_NO_YEAR = re.compile(days.NO_YEAR, re.IGNORECASE)
_ANY_DAY = re.compile(r"\b(?:19|20)\d\d\b")
_CODE_WITH_MORE = re.compile(r"`[^`\n]*[^`\n\d :T.-][^`\n]*`")  # not a day but about code
# Words before a last day: "until", "ends on", "remove after", "deadline:", "back on".
_BEFORE_AN_END = re.compile(
    r"(?:(?<![\w-])(?:until|till?|lasts? to|runs? (?:to|out|through)|valid|good|by(?=(?: the)?(?: end of)?\W*$)|before|due|deadlines?|expir\w+|expiry|"
    r"ends?|over (?:on|by)|back on|closes|remove|drop|delete|revert|temporar\w+|temp|ttl|sunset|scheduled|postponed|next)"
    r"(?![\w-]))(?! of\b)[^.;\d]{0,24}$",
    re.IGNORECASE,
)
AHEAD = dt.timedelta(days=1)  # a past event is at most a day ahead, in any time zone
_BEGINS = re.compile(r"\b(?:from|since|starting|effective)\W{1,4}(?:on )?$", re.IGNORECASE)  # not an end
# Finished work stays finished.
_IS_DONE = re.compile(
    r"\b(?:done|completed?|shipped|merged|committed|fixed|resolved|implemented|operational|superseded|"
    r"conclu[íi]d[ao]s?|(?:complet|termin)ad[ao]s?|terminée?s?|abgeschlossen|erledigt)\b|(?<![未미])(?:完了|完成|완료)",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    rf"\b(?:was|were|had|did|used to|closed|decided|history)\b|{_IS_DONE.pattern}", re.IGNORECASE
)
_ONE_VERB = re.compile(r"\b(is|are|has|have)\b")
_PAST = {"is": "was", "are": "were", "has": "had", "have": "had"}
_MORE_VERBS = re.compile(
    r"\b(?:must|should|can|will|may|do|does|not|never|use|keep|hold|please)\b|n['’]t\b", re.IGNORECASE
)


def passed_days(context: Inputs) -> Iterator[Question]:
    """Asks to remove, keep or put in the past tense what was true until a day that has passed."""
    today = context.job.now.astimezone(context.job.time_zone).date()
    for unit in context.askable:
        context.report.checkpoint()
        # What only the memory dates may be older: its author may have forgotten to update that.
        line = context.line_date(unit.path, unit.first_line)
        day = last_day(unit.text, line.day if line and line.source != "memory" else None)
        if day is None or day >= today or any(map(_ANY_DAY.search, unit.headings)):
            continue
        note = f"It names {day.isoformat()} as its end, which has passed."
        cited = from_memory(unit.path, unit.first_line, unit.raw, note)
        options = (removal(context.draftsman, unit, note, cited), _past(context, unit, note), KEEP)
        yield Question(
            "expired",
            f"{comparing.normalised(unit.text)[:200]} {day.isoformat()}",
            f"Its day, {day.isoformat()}, has passed. {STILL_USEFUL}",
            (place(unit),),
            options,
            (cited,),
            weight=RECENT if (today - day).days < A_YEAR else LONG_PAST,
        )


def last_day(text: str, written: dt.date | None = None) -> dt.date | None:
    """The only day in a statement, if it is an end or was in the future when the statement was `written`.

    A day without a year is the next one after the line was written.
    """
    text = _CODE_WITH_MORE.sub("`…`", text)
    if len(text) > LONGEST or "?" in text:
        return None
    found, years = list(days.WRITTEN.finditer(text)), len(_ANY_DAY.findall(text))
    if not years and written:
        found = list(_NO_YEAR.finditer(text))
    elif years != 1:
        return None
    if len(found) != 1 or len(told := sentences(text)) > MOST_SENTENCES:
        return None
    sentence = next((one for one in told if found[0][0] in one), "")
    before = sentence.partition(found[0][0])[0]
    ends = _BEFORE_AN_END.search(before)
    if not years:
        return days.next_day(found[0], written) if ends and not _HAPPENED.search(sentence) else None
    first, day = (days.written(found[0], last=last) for last in (False, True))
    if first and written and first > written + AHEAD:  # a month that had begun lay not ahead
        return None if _BEGINS.search(before) else day
    return day if ends and not _HAPPENED.search(sentence) else None


def _past(context: Inputs, unit: PlacedText, note: str) -> Option:
    """The option to put the statement in the past tense; `NO_OPTION` if that takes more than one word."""
    verbs = list(_ONE_VERB.finditer(unit.raw))
    if len(verbs) != 1 or _MORE_VERBS.search(unit.raw):
        return NO_OPTION
    verb = verbs[0]
    new = f"{unit.raw[: verb.start()]}{_PAST[verb[1]]}{unit.raw[verb.end() :]}"
    return context.draftsman.option("past", "Put it in the past tense", _say, unit=unit, new=new, note=note)


def _say(rec: Recorder, unit: PlacedText, new: str, note: str) -> bool:
    text = rec.tree.texts[unit.path]
    if text.count(unit.raw) != 1:
        return False
    told = fates(unit, "kept-in", unit.path, new.strip())
    cited = (from_memory(unit.path, unit.first_line, unit.raw, note),)
    return rec.operation("update", [NewText(unit.path, text.replace(unit.raw, new), note, told, cited)])


# --- Old states -----------------------------------------------------------------------------------------------------

STILL_USEFUL = "Is it still useful?"  # asked; the ledger only says the state
OLD, OF_A_STATE = 180, 0.35  # days; how much an answer helps
MOST_LINES, MOST_OF_A_FILE = 40, 0.7  # of a section; longer ones have more than a state
_LABEL = re.compile(r"\*\*[^*\n]{2,80}\*\*:?(?: ?\([^)\n]{4,30}\))?")
# The day of a state: "as of 2026-02-16", "Status (2026-02-16):", "in progress since".
_AS_OF = re.compile(r"\b(?:as of|as at|status|in progress|pending|waiting)\b[^.;\d\n]{0,16}$", re.IGNORECASE)
_ORDERS = re.compile(rf",\s*(?:always|never|{TASK.pattern})", re.IGNORECASE)  # a rule, no state
_OF_AN_ASIDE = re.compile(r"\([^()]*\w\W+as (?:of|at)\b[^()]*$", re.IGNORECASE)  # "(none is sold as of May)"
# A heading that says `_AS_OF`, or that names a state: "Recent changes (…)", "Import — status (…)"; not any name with such a word.
_HEADS_A_STATE = re.compile(
    r"\b(?:as of|as at)\W{0,3}$|(?:^|[—–:]\s*|\s-\s)\W*(?:current|recent|latest|pending|remaining|next)"
    r"(?:\s+\w+){0,2}\W*$|\bstatus\W*$|(?:\b(?:estado|[ée]tat|stato|состояние|стан|статус)(?:\s+\w+)?|(?-i:\bStand)|状态|状態|进度|現状|现状|상태|현황)\W*$",
    re.IGNORECASE,
)
_ONLY_A_DAY = re.compile(r"\W*\d{4}-\d\d-\d\d(?:[ T]+\d\d:\d\d\b.*)?\W*")  # heads the log of a day
# What was planned when the memory was written.
_HEADS_WHAT_IS_NEXT = re.compile(
    r"\W*(?:next(?: steps?)?|what['’]s next|(?:open|current|active|pending) issues|"
    r"(?:open|current|active|pending|remaining) (?:tasks|items|work|todos?|prs?|steps)|"
    r"to-?\s?dos?|pending|planned|upcoming|in progress|roadmap|backlog|pr[óo]ximos pas+os|pend[êe]ncias|pendientes|prochaines [ée]tapes|reste à faire|"
    r"n[äa]chste schritte|下一步(?:计划)?|待办(?:事项)?|待处理|次のステップ|다음 단계|남은 작업|미완료|следующие шаги|наступні кроки)\W*(?:[(（][^)）]*[)）])?\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading with the lines up to the next heading of its level or above, 1-based and inclusive."""

    path: str
    heading: str
    line: int
    last_line: int


def old_states(context: Inputs) -> Iterator[Question]:
    asked: set[str] = set()
    for path, sections in _by_file(context.tree_before):
        context.report.checkpoint()
        heads = ((each, _heads_a_state(each.heading)) for each in sections)
        if dated := next(((each, told) for each, told in heads if _is_old(told, context)), None):
            asked.add(path)
            yield from _sections(context, [dated[0]], "This is a state as of", dated[1])
            continue
        next_ = [each for each in sections if _HEADS_WHAT_IS_NEXT.fullmatch(each.heading.lstrip("#").strip())]
        if len({each.heading for each in next_}) < len(next_):
            continue  # plans of several days
        said, last = _last_written(context, path) if next_ else ("", None)
        if _is_old(last, context):
            yield from _sections(context, next_, said, last)
    yield from _statements(context, asked)


def _is_old(told: days.Told | None, context: Inputs) -> TypeGuard[days.Told]:
    today = context.job.now.astimezone(context.job.time_zone).date()
    return told is not None and (today - told[0]).days >= OLD


def _state(said: str, told: days.Told, context: Inputs) -> str:
    months = (context.job.now.date() - told[0]).days // 30
    return f"{said} {told[1]}, {months} months ago."


# --- Sections ---------------------------------------------------------------------------------------------------------


def _by_file(tree: Tree) -> Iterator[tuple[str, list[_Section]]]:
    for path in sorted(tree.texts):
        if is_log(path) or is_team(path) or is_daily(path) or day_in_name(path) or not tree.writable(path):
            continue
        document = tree.document(path)
        items = memdir.sections(document.body, document.body_start_line)
        told = [item for item in items if item.kind != "blank"]
        last = len(memdir.split_lines(tree.texts[path]))
        rows = lines_leading(tree.texts[path]) if is_index(path) else set()
        # What leads a list or table ("**Status as of 2026-03-30:**") is its heading, of the lowest level.
        levels = [each.level or (0 if each.depth or each.kind in {"bullet", "table"} else 7) for each in told]
        # A paragraph below a rule at the end is about the whole memory, and so are remarks below the last heading.
        is_foot = [item.kind for item in told[-2:]] == ["rule", "paragraph"] and not told[-3:][0].level
        foot = told[-2].first_line - 1 if is_foot else last
        headed = max((each.first_line for each in told if each.level), default=0)
        remarks = [each.first_line for each in told if each.first_line > headed and REMARK.match(each.text)]
        found = []
        for at, item in enumerate(told):
            is_lead = item.text.strip().endswith((":", ":**")) and levels[at : at + 2] == [7, 0]
            if not (item.level or is_lead):
                continue
            ends = (told[n].first_line - 1 for n in range(at + 1, len(told)) if 0 < levels[n] <= levels[at])
            behind = bisect_right(remarks, item.first_line)
            end = min(next(ends, last), *(line - 1 for line in remarks[behind : behind + 1]), foot)
            held = range(item.first_line, end + 1)
            # What is long, most of its file, or below its title holds topics; rows of memories are no state.
            short = len(held) <= min(MOST_LINES, MOST_OF_A_FILE * last) and (at or item.level != 1)
            if short and rows.isdisjoint(held) and not any(map(_ONLY_A_DAY.fullmatch, item.under)):
                found.append(_Section(path, item.text.strip(), item.first_line, end))
        yield path, found


def _heads_a_state(heading: str) -> days.Told | None:
    found = list(days.WRITTEN.finditer(heading))
    before = heading.lstrip("#").strip().partition(found[0][0])[0] if len(found) == 1 else ""
    if not _HEADS_A_STATE.search(before) or _IS_DONE.search(before):
        return None
    return next(iter(days.told(heading)), None)


def _last_written(context: Inputs, path: str) -> tuple[str, days.Told | None]:
    """The newest known day of a file, and how it is told: of its lines, else the newest that it names."""
    numbers = range(1, len(context.job.line_dates.get(path, ())) + 1)
    if known := [line.day for number in numbers if (line := context.line_date(path, number))]:
        return "This was still open when the memory was last written, on", (max(known), f"{max(known)}")
    past = [each for each in days.told(context.tree_before.texts[path]) if each[0] <= context.job.now.date()]
    return "This is open, and the newest day that the memory names is", max(past, default=None)


def _sections(
    context: Inputs, sections: Sequence[_Section], said: str, told: days.Told
) -> Iterator[Question]:
    state = _state(said, told, context)
    label = "Remove the section" if len(sections) == 1 else "Remove these sections"
    option = context.draftsman.option("remove", label, _take_out, sections=sections, note=state)
    lines = memdir.split_lines(context.tree_before.texts[sections[0].path])
    texts = ("".join(lines[each.line - 1 : each.last_line]).strip() for each in sections)  # in full
    places = tuple(Place(each.path, each.line, text) for each, text in zip(sections, texts, strict=True))
    cited = tuple(from_memory(each.path, each.line, each.heading) for each in sections)
    subject = " ".join(comparing.normalised(each.heading) for each in sections)[:200]
    why = f"{state} {STILL_USEFUL}"
    yield Question("expired", f"{subject} {told[0]}", why, places, (option, KEEP), cited, weight=OF_A_STATE)


def _take_out(rec: Recorder, sections: Sequence[_Section], note: str) -> None:
    path = sections[0].path
    lines = memdir.split_lines(rec.tree.texts[path])
    gone = {number for each in sections for number in range(each.line - 1, each.last_line)}
    rest = "".join(line for number, line in enumerate(lines) if number not in gone)
    left = (each for each in memdir.sections(memdir.parse(rest.encode()).body) if says_something(each.text))
    if all(each.kind == "heading" or REMARK.match(each.text) for each in left):
        return  # the memory would be empty, or a reason for nothing
    told = lines_gone(rec.tree.texts[path], rest, note)
    cited = (from_memory(path, sections[0].line, sections[0].heading, note),)
    key = digest(path, *(each.heading for each in sections))
    rec.operation("prune", [NewText(path, rest, note, told, cited)], key=key)


# --- Statements -------------------------------------------------------------------------------------------------------


def _statements(context: Inputs, asked: set[str]) -> Iterator[Question]:
    """Asks about the first old state of each memory that no section was asked of."""
    for unit, told, as_of in (*_dated(context), *_labelled(context)):
        context.report.checkpoint()
        if unit.path in asked or any(map(_ANY_DAY.search, unit.headings)) or not _is_old(as_of, context):
            continue
        note = f"It describes the state as of {as_of[1]}."
        cited = from_memory(unit.path, unit.first_line, told, note)
        option = removal_of_sentence(context, unit, told, note, cited)
        if option.edits:
            asked.add(unit.path)
            why = f"{_state('This is a state as of', as_of, context)} {STILL_USEFUL}"
            subject, places = f"{comparing.normalised(told)[:200]} {as_of[0]}", (place(unit),)
            yield Question("expired", subject, why, places, (option, KEEP), (cited,), weight=OF_A_STATE)


def _dated(context: Inputs) -> Iterator[tuple[PlacedText, str, days.Told]]:
    """The first sentence of each statement that reports a state, with its day."""
    begun = leads(context.askable)
    for unit in (each for each in context.askable if days.WRITTEN.search(each.text)):
        found = next(((each, day) for each in sentences(unit.text) if (day := _state_day(each))), None)
        if found and (unit.path, unit.first_line) not in begun:
            yield unit, *found


def _labelled(context: Inputs) -> Iterator[tuple[PlacedText, str, days.Told]]:
    """A state dated by its label: "**Status as of 2026-03-30:** …"; not one with a reason, which is about the whole memory."""
    for unit in context.askable:
        label = _LABEL.match(unit.text)
        is_lead = label and label[0] == unit.text  # the label of a list or table, which would lose it
        day = _state_day(label[0].replace("*", "")) if label and not is_lead else None
        if day and not REMARK.search(unit.raw):
            yield unit, unit.text, day


def _state_day(sentence: str) -> days.Told | None:
    """The only day as of which a sentence is true."""
    found = {
        told
        for match in days.WRITTEN.finditer(sentence)
        if _AS_OF.search(before := sentence[: match.start()])
        and not (_IS_DONE.search(before) or _OF_AN_ASIDE.search(before))
        and not _ORDERS.match(sentence[match.end() :])
        for told in days.told(match[0])
    }
    return found.pop() if len(found) == 1 else None
