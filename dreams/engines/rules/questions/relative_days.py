"""Questions about relative days: “yesterday” may be written as a day. PURE."""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes import bodies, days as days_of
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, digest, is_daily, is_index, is_team
from dreams.engines.rules.questions.families import Inputs
from dreams.engines.types import KEEP, Citation, Fate, LineDate, Place, Question
from dreams.lib import memdir
from dreams.lib.prose import comparing, dates

# A day above a line is the day it counts from.
_OWN_DAY = re.compile(
    r"\d{4}-\d\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d\.\d{1,2}\.\d{2}|\d/\d{1,2}/\d",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_SKIPPED = frozenset({"heading", "code", "table", "comment", "rule", "blank"})
_MONTH_DAY = re.compile(
    r"\b(?:q[1-4]\b|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d(?:st|nd|rd|th)\b|\d/\d", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:last|next|this|past|coming)\b", re.IGNORECASE)
_NO_DAY = re.compile(
    r"(?:with)?in\s|.*\b(?:from now|years ago)\b|오늘|이번|올해|heute|aujourd|hoy", re.IGNORECASE
)
# Before and behind a phrase that a date does not replace: a comparison, a choice, a possessive.
_LEADS_IN = ("<", ">", "≤", "≥", "=", "~", "≈", "±", " or", " vs", " vs.", "/")
_GOES_ON = ("'s", "’s", " or ", ", or ", "/", " /")
LEAST_YEAR, MOST_YEAR = 1990, 2200
MOST = 200  # lines of one dream, to bound time: those that were answered count as well
OF_A_LINE = 0.25  # how useful an answer is, chosen: it concerns one phrase


def relative_days(context: Inputs) -> Iterator[Question]:
    """Asks whether "yesterday" may be written as a day: even if the line's day is known, four in ten of such words mean no day."""
    for found in itertools.islice(_undated(context.tree_before, context.job.line_dates), MOST):
        option = context.draftsman.option("replace", "Write the day", _write_out, found=found)
        if not option.edits:
            continue
        unsure = "" if found.known.believable else ", which is uncertain"
        yield Question(
            "changed",
            f"{found.path} {comparing.normalised(found.line)[:200]}",
            f"{found.meant}, counted from {found.known.day.isoformat()} ({found.known.note}){unsure}.",
            (Place(found.path, found.line_no, found.line),),
            (option, KEEP),
            option.edits[0].citations,
            weight=OF_A_LINE,
        )


@dataclass(frozen=True, slots=True)
class _Undated:
    """A line with a relative date, and its text with the day written out."""

    path: str
    line_no: int  # 1-based
    line: str
    new: str
    known: LineDate
    meant: str  # “yesterday” is 2026-09-30


def _undated(tree: Tree, line_dates: Mapping[str, Sequence[LineDate | None]]) -> Iterator[_Undated]:
    """Every line whose relative dates can be worked out, if it was written on its day."""
    for path in sorted(tree.texts):
        known = line_dates.get(path)
        if not known or not tree.writable(path) or is_team(path) or is_daily(path):
            continue
        lines = memdir.split_lines(tree.texts[path])
        found: dict[int, list[dates.DateSpan]] = defaultdict(list)  # by line, as it may have two sentences
        for sentence, days in _sentences(tree.document(path)):
            numbers = range(sentence.first_line, min(sentence.last_line, len(known)) + 1)
            dated = {n: date for n in numbers if (date := known[n - 1]) and _counts(path, days, date)}
            for span in _written_out(sentence, dated):
                number, start = sentence.place(span.start)
                found[number].append(replace(span, start=start, end=start + span.end - span.start))
        for number, spans in found.items():
            line, date = lines[number - 1].rstrip("\r\n"), known[number - 1]
            meant = ", ".join(f"“{span.text}” is {span.meant}" for span in spans)
            if date and not line.lstrip().startswith(">"):
                yield _Undated(path, number, line, dates.rewrite(line, spans), date, meant)


def _write_out(rec: Recorder, found: _Undated) -> bool:
    lines = memdir.split_lines(rec.tree.texts[found.path])
    at, known = found.line_no - 1, found.known
    lines[at] = found.new + lines[at][len(found.line) :]
    reason = f"{found.meant}, counted from {known.day.isoformat()} ({known.note})."
    note = f"{known.note}: {known.day.isoformat()}"
    cited = Citation(known.source, found.line[:1000], found.path, line_no=found.line_no, note=note)
    fate = Fate(found.line, "kept-in", found.path, found.new)
    change = NewText(found.path, "".join(lines), reason, (fate,), (cited,))
    return rec.operation("date", [change], key=digest(found.path, str(found.line_no), found.line))


def _counts(path: str, days: frozenset[str], known: LineDate) -> bool:
    """Whether that day is when the line was written, and not known without it.

    The index changes in most sessions, so its date says little about one row; and a section that names an earlier day was
    probably written then. Of eight questions about files whose name has the day none was useful.
    """
    named, is_of_all = day_in_name(path), known.source in {"file", "memory"}
    if known.ours or known.day == named or not LEAST_YEAR <= known.day.year <= MOST_YEAR:
        return False
    is_earlier = any(day < known.day.isoformat() for day in days)
    return not (is_of_all and (named or is_index(path) or is_earlier))


def _written_out(sentence: memdir.Sentence, dated: Mapping[int, LineDate]) -> list[dates.DateSpan]:
    """The dates to write out, in order; none if the text would read badly or a second pass would find another date.

    Reads the complete sentence, as a part may mean another day ("the day before / yesterday")."""
    found = [
        span
        for day in {date.day for date in dated.values()}
        for span in days_of.spans(sentence.text, day)
        if (date := dated.get(sentence.place(span.start)[0])) and date.day == day
    ]
    found.sort(key=lambda span: span.start)
    if not found or not all(_is_plain(sentence, span) for span in found):
        return []
    return [] if days_of.names_a_day(dates.rewrite(sentence.text, found)) else found


def _is_plain(sentence: memdir.Sentence, span: dates.DateSpan) -> bool:
    """Whether a date can replace the phrase.

    Not so: "May 7" and "Q3" are dates already, "today or tomorrow" is a choice, "5 days ago" after "≤" is an age, "in 8 weeks" may be a duration, "40 years ago" is
    rounded, "오늘" and "heute" also mean every day, "yesterday's" would read badly, and quotations are not changed.
    """
    before, after = sentence.text[: span.start].rstrip(), sentence.text[span.end :]
    if sentence.place(span.start)[0] != sentence.place(span.end - 1)[0]:
        return False
    if _MONTH_DAY.search(span.text) and not _RELATIVE.search(span.text):
        return False
    if _NO_DAY.match(span.text) or after.startswith(_GOES_ON) or before.endswith(_LEADS_IN):
        return False
    return before.count('"') % 2 == 0 and before.count("“") == before.count("”")


def _sentences(document: memdir.Document) -> Iterator[tuple[memdir.Sentence, frozenset[str]]]:
    """Sentences without a day above or beside them, with the days that their section names."""
    items = memdir.sections(document.body, document.body_start_line)
    days: frozenset[str] = frozenset()
    ends = bodies.list_ends(items)
    for place, item in enumerate(items):
        if item.kind == "heading" or place == 0:
            section = itertools.takewhile(lambda each: each.kind != "heading", items[place + 1 :])
            days = frozenset(_ISO_DAY.findall("".join(each.text for each in (item, *section))))
        if item.kind in _SKIPPED or item.text.lstrip().startswith(">") or _ISO_DAY.search(item.text):
            continue
        above = (
            each.content or each.text
            for each in bodies.parents(items, place, ends[place])
            if each.kind == "bullet" or each.text.rstrip().endswith(":")
        )
        if not _OWN_DAY.search("\n".join([*item.under, *above])):
            yield from ((sentence, days) for sentence in memdir.sentences(item))
