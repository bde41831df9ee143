"""Removed lines that only name or summarize others: names, headings, index rows and descriptions. PURE."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dreams.findings.base import FateName, Subject
from dreams.findings.ledger import facts, keeping
from dreams.findings.ledger.facts import swapped
from dreams.findings.ledger.state import DirectoryStatements, PlacedStatement
from dreams.findings.ledger.units import BOOKKEEPING, HEADER, Unit, keys_without_secrets, units_of, words_key
from dreams.findings.ledger.wordings import LONGEST, WHOLE, has_word, plain_statement, word_forms
from dreams.lib import memdir
from dreams.lib.files.text import decode
from dreams.lib.prose import dates, lexicon
from dreams.lib.prose.statements import statement
from dreams.lib.prose.words import stem
from dreams.lib.secrets.redact import MARK
from dreams.lib.secrets.spotting import spans

FILE_REMOVED = "Its file is removed, line by line."
SUMMED_UP = "It summarizes its file, which is accounted for line by line."
NEW_VALUE = "The field has a new value."
HEADING = "A heading; the lines below it are accounted for one by one."
OTHER_HEADING = "A heading that says something else now, of lines that stay."
TITLE = "The title of a row."
COLUMNS = "Column names, which are now next to their values."
DATED = "A relative date was written out."
IN_PARTS = "Now in more than one place."
REDACTED = "A secret was removed from it."
NEWER = "The same statement appears with a later date."
NOTES = frozenset(
    {
        NEWER,
        FILE_REMOVED,
        SUMMED_UP,
        NEW_VALUE,
        HEADING,
        OTHER_HEADING,
        TITLE,
        COLUMNS,
        DATED,
        IN_PARTS,
        REDACTED,
    }
)

_BOOKKEEPING = BOOKKEEPING - {"pinned"} | {"date", "originsessionid", "origin_session_id", "version"}
_SLUG = re.compile(r"[\w.-]+")
_DAY = re.compile(r"\b\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q[1-4])\b")
_FULL_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_STATUS_OF = re.compile(
    r"\b(?:as of|as at|(?:last )?(?:updated|reviewed|checked|verified|modified)|status(?: as)?(?: of)?|state (?:as )?of)\W{1,4}\d{4}-",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q[1-4])\b|\b\d{4}\b")
# "Last Monday" is read on some days of the week only; the day on which most dates can be read counts.
_A_WEEK = tuple(dt.date(2024, 5, 13) + dt.timedelta(days=number) for number in range(7))
_CUTS = (
    re.compile(r"[;:]\s+|\s?[—–]\s?|\s-\s"),
    re.compile(r"[;:()]\s*|\s?[—–]\s?|\s-\s"),
    re.compile(r"[;:,()]\s+|\s?[—–]\s?|\s-\s|[()]"),
)
_CLAUSES = (re.compile(r"\s+and\s+"), re.compile(r";\s+"), re.compile(r"\s?[—–]\s?|\s-\s"))
LONGEST_TITLE = 6  # words of meaning
LEAST_PART = 3  # words of meaning on each side of an "and" that a sentence may be cut at
NEARLY_ALL = 0.99  # all words, apart from rounding
# The share of a summary's words that its file must have, besides all its names and numbers.
SHARE_OF_FILE = 0.5
SHARE_OF_REMOVED = 0.34  # of a file that left, whose own lines are each accounted for
_TOPICS = frozenset(stem(word) for word in lexicon.TOPICS)


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """What happened to one statement. If `replaced`, another one is in its place and no rewording is looked for."""

    fate: FateName
    target: PlacedStatement | None = None
    note: str = ""
    lost: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    replaced: bool = False
    refused: str = ""  # the most similar statement, and why it does not keep this one


class Context:
    """Explains a removed statement by the directory before and after."""

    def __init__(
        self, subject: Subject, path: str, added: DirectoryStatements, known: DirectoryStatements
    ) -> None:
        self.before, self.after_files = subject.before, subject.after
        self.path, self.added, self.known = path, added, known

    def is_frame(self, line: int, text: str) -> bool:
        """Whether the line is a frontmatter key that only groups other keys; `line` is 0-based."""
        head = memdir.parse(self.before.get(self.path, b"")).head
        return line < head.count("\n") and text.rstrip().endswith(":")

    def explanation(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """What accounts for a statement that no longer appears anywhere; None if nothing does."""
        return self._by_kind(unit, fresh) or self._in_parts(unit)

    def _by_kind(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        if unit.kind == "field":
            return self._field(unit)
        if unit.kind == "row":
            return self._row(unit)
        if unit.kind == "heading":
            return self._heading(unit, fresh)
        if unit.kind == "title":
            return StatementOutcome("stated", note=TITLE)
        return self._header(unit) if unit.name == HEADER else None

    def _field(self, unit: Unit) -> StatementOutcome | None:
        gone, now = self.path not in self.after_files, self._counterpart("field", unit.name.__eq__)
        if not (gone or now):
            return None
        # A slug, or no prose of its own.
        named = unit.name == "name" and (_SLUG.fullmatch(unit.text) or _only_names(unit))
        if unit.name in _BOOKKEEPING or named:
            return StatementOutcome("stated", now, FILE_REMOVED if gone else NEW_VALUE)
        told = unit.name in {"name", "description"} and self._sums_up(unit.text, self.path)
        return StatementOutcome("stated", now, SUMMED_UP) if told else None

    def _row(self, unit: Unit) -> StatementOutcome | None:
        """For a row whose file was removed, or that was reworded: the file says what the row said."""
        target = next((p for p in self.before if memdir.same_target(p, unit.name)), "")
        stays = target in self.after_files
        now = self._counterpart("row", lambda name: memdir.same_target(name, unit.name)) if stays else None
        if not target or (stays and now is None):
            return None
        return StatementOutcome("stated", now, SUMMED_UP) if self._sums_up(unit.text, target) else None

    def _counterpart(self, kind: str, is_it: Callable[[str], bool]) -> PlacedStatement | None:
        """The first statement of this kind in the new file whose name fits."""
        units = units_of(self.path, self.after_files.get(self.path))
        found = (each for each in units if each.kind == kind and is_it(each.name))
        return next((PlacedStatement(self.path, each) for each in found), None)

    def _sums_up(self, text: str, path: str) -> bool:
        """Whether the file says everything in the summary."""
        units = units_of(path, self.before.get(path))
        told = [u.text for u in units if u.kind != "field" or (u.name == "description" and path != self.path)]
        body = " . ".join([*told, re.sub(r"[-_./]", " ", path)])
        one, there = plain_statement(text), word_forms(body, WHOLE)
        telling = {w: weight for w, weight in one.weights.items() if w not in lexicon.GENERIC | _TOPICS}
        needed = one.numbers | one.codes | {name for _, name in one.names} | (one.raw & lexicon.LIMITS)
        if not all(has_word(there, fact) for fact in needed):
            return False
        share = sum(weight for word, weight in telling.items() if has_word(there, word))
        least = SHARE_OF_FILE if path in self.after_files else SHARE_OF_REMOVED
        return share >= least * sum(telling.values())

    def _heading(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        if not _only_names(unit):
            return None
        renamed = next((s for s in fresh if s.unit.kind == "heading" and not is_turned(unit, s.unit)), None)
        kept = self._keeps_section_text(unit)
        if kept and not renamed:
            return None
        told = (unit.text, renamed.unit.text) if kept and renamed else ("", "")
        is_other = facts.loses_words(*told) or facts.loses_words(*reversed(told))
        return StatementOutcome("stated", renamed, OTHER_HEADING if is_other else HEADING)

    def _header(self, unit: Unit) -> StatementOutcome | None:
        """For column names that are now next to each cell, because the table became a list."""
        now = " . ".join(other.text for other in units_of(self.path, self.after_files.get(self.path)))
        is_kept = facts.coverage(unit.text, now, WHOLE) >= NEARLY_ALL
        return StatementOutcome("stated", note=COLUMNS) if is_kept else None

    def _keeps_section_text(self, unit: Unit) -> bool:
        """Whether some text of the section is still in the file, now without its heading."""
        now = {u.key for u in units_of(self.path, self.after_files.get(self.path))}
        return any(below.key in now for below in self._section(unit))

    def _section(self, unit: Unit) -> Iterator[Unit]:
        """The statements below a heading, up to the next heading of its level or above."""
        for other in units_of(self.path, self.before.get(self.path)):
            if other.first_line > unit.last_line:
                if other.kind == "heading" and other.level <= unit.level:
                    return
                yield other

    def dated(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """Kept by a new statement that only has its relative dates written out."""
        days = _A_WEEK if self.added.has_dates else ()
        spans = max((dates.writable_spans(unit.text, day) for day in days), key=len, default=())
        for placed in (*fresh, *self.added.most_similar(unit.text)) if spans else ():
            new = placed.unit.text
            # Of two dates perhaps only one was written out: the other is unknown, or decided separately.
            gone = [span for span in spans if span.text not in new]
            rests = (
                dates.rewrite(unit.text, [replace(span, written="") for span in each])
                for each in (spans, gone)
                if each
            )
            if _ISO.search(new) and any(_same_but_for_dates(rest, new) for rest in rests):
                return StatementOutcome("kept-in", placed, DATED)
        return None

    def redacted(self, unit: Unit) -> StatementOutcome | None:
        """Kept by a new statement of the file that only lacks its secrets; a line of nothing else is a hunk of its own."""
        keys = keys_without_secrets(unit, self.before.get(self.path, b""))
        is_of_key = self._key_lines.issuperset(range(unit.first_line, unit.last_line + 1))
        if not (keys or is_of_key):
            return None
        here = [s for s in self.added.all if s.path == self.path and MARK in s.unit.text]
        found = next((s for s in here if s.unit.key in keys), here[0] if here and is_of_key else None)
        return StatementOutcome("kept-in", found, REDACTED) if found else None

    @cached_property
    def _key_lines(self) -> frozenset[int]:
        """The old file's lines (1-based) inside a private key block, which a fence or blank line may split into several statements."""
        if MARK.encode() not in self.after_files.get(self.path, b""):
            return frozenset()
        text = decode(self.before.get(self.path, b""))
        blocks = (span for span in spans(text) if "\n" in text[span.start : span.end])
        places = ((text.count("\n", 0, span.start), text.count("\n", 0, span.end)) for span in blocks)
        return frozenset(line + 1 for first, last in places for line in range(first, last + 1))

    def newer(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """Superseded by the same words with a later date: "As of 2026-03-16, the project has:"."""
        days = _FULL_DAY.findall(unit.text)
        if len(days) != 1 or not _STATUS_OF.search(unit.text):
            return None
        rest = _FULL_DAY.sub("", unit.text)
        for placed in fresh:
            then = _FULL_DAY.findall(placed.unit.text)
            if len(then) == 1 and then[0] > days[0] and _FULL_DAY.sub("", placed.unit.text) == rest:
                return StatementOutcome("superseded-by", placed, NEWER)
        return None

    def _in_parts(self, unit: Unit) -> StatementOutcome | None:
        """Kept if the statement was split, and each part still appears in one piece."""
        if unit.kind in {"code", "heading"} or self.added.missing_words(unit.text):
            return None
        for cut in _CUTS:
            parts = [part for part in cut.split(unit.text) if words_key(part)]
            if len(parts) > 1 and (last := self._last_kept_part(unit, parts, whole=False)):
                return StatementOutcome("kept-in", last, IN_PARTS)
        for cut in _CLAUSES:
            parts = cut.split(unit.text)
            long = len(parts) > 1 and all(len(statement(part).items) >= LEAST_PART for part in parts)
            if long and (last := self._last_kept_part(unit, parts, whole=True)):
                return StatementOutcome("kept-in", last, IN_PARTS)
        return None

    def _last_kept_part(self, unit: Unit, parts: list[str], *, whole: bool) -> PlacedStatement | None:
        """The place of the last part, if all are kept. Parts that are `whole` clauses may be anywhere; others must be in one statement,
        because what follows a label is about it.

        One statement may keep all parts only if it says the whole: "A or B" has both parts of "A and B".
        """
        places = list[PlacedStatement]()
        for part in parts:
            if not (place := self._kept_part(part)):
                return None
            places.append(place)
        if len({place.unit.text for place in places}) > 1:
            return places[-1] if whole else None
        said = places[0].unit.text
        crossed = facts.coverage(said, unit.text) >= keeping.MOST and swapped(unit.text, said)
        return None if crossed or facts.lost(unit.text, said) else places[-1]

    def _kept_part(self, part: str) -> PlacedStatement | None:
        found = self.added.line(part) or self.added.container(part)
        if found is None:
            return None
        short = len(statement(part).items) < LEAST_PART
        if short and any(self.known.with_keys([found.unit.key])):
            return None  # one or two words may be in an old line by chance
        whole = found.unit.text
        stands = words_key(part) in found.unit.key or keeping.in_one_piece(part, whole)
        return found if stands and not facts.withdrawn(part, whole) else None


def _only_names(unit: Unit) -> bool:
    """Whether a title or heading only names a topic and states no fact."""
    one = statement(unit.text[:LONGEST])
    return not (one.numbers or one.codes or one.negations or len(one.items) > LONGEST_TITLE)


def is_turned(unit: Unit, other: Unit) -> bool:
    """Whether another heading says otherwise of the same lines: "Production" and "Staging", "Do" and "Do not"."""
    one, new = (statement(each.text[:LONGEST]) for each in (unit, other))
    changes = one.environments != new.environments or new.negations
    return bool(changes) or facts.turned(unit.text, other.text)


def _same_but_for_dates(rest: str, dated: str) -> bool:
    """Whether both texts without their dates are the same, or the first is within the other in one piece."""
    for pattern in (_DAY, _ISO):  # a bare year may be a date, and may be a port
        bare = pattern.sub(" ", dated)
        mine, theirs = ([item.word for item in statement(t[:LONGEST]).items] for t in (rest, bare))
        same = mine == theirs or keeping.says_all(rest, bare, merged=True)
        if mine and same and not facts.negation_changes(rest, bare):
            return True
    return False
