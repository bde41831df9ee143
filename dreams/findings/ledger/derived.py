"""Lines that say nothing of their own: what a file is called, what its index row and description sum up, headings. PURE."""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from dreams.findings.base import FateName, Subject
from dreams.findings.ledger import facts, keeping
from dreams.findings.ledger.facts import changed_places
from dreams.findings.ledger.state import DirectoryStatements, PlacedStatement
from dreams.findings.ledger.units import HEADER, Unit, keyed, keys_without_secrets, units_of
from dreams.findings.ledger.wordings import LONGEST, WHOLE, has, known, made
from dreams.lib import memdir
from dreams.lib.files.text import decode
from dreams.lib.prose import dates, lexicon
from dreams.lib.prose.statements import statement
from dreams.lib.prose.words import stem
from dreams.lib.secrets.spotting import spans

FILE_LEFT = "Its file is removed, line by line."
SUMMED_UP = "It summarizes its file, which is accounted for line by line."
NEW_VALUE = "The field has a new value."
HEADING = "A heading; the lines below it are accounted for one by one."
TITLE = "The title of a row."
COLUMNS = "Column names, which are now next to their values."
DATED = "A relative date was written out."
REFERRED = "Its address is in the memory that links to it."
IN_PARTS = "Now in more than one place."
REDACTED = "A secret was removed from it."
NEWER = "The same statement appears with a later date."
NOTES = frozenset(
    {NEWER, FILE_LEFT, SUMMED_UP, NEW_VALUE, HEADING, TITLE, COLUMNS, DATED, IN_PARTS, REDACTED, REFERRED}
)

_BOOKKEEPING = frozenset({
    "type", "node_type", "modified", "created", "updated", "date", "originsessionid", "origin_session_id",
    "metadata", "version",
})  # fmt: skip
_SLUG = re.compile(r"[\w.-]+")
_DAY = re.compile(r"\b\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q[1-4])\b")
_FULL_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_AS_OF = re.compile(
    r"\b(?:as of|as at|(?:last )?(?:updated|reviewed|checked|verified|modified)|status(?: as)?(?: of)?|state (?:as )?of)\b",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q[1-4])\b|\b\d{4}\b")
# "Last Monday" is read on some days of the week only.
_A_WEEK = tuple(dt.date(2024, 5, 13) + dt.timedelta(days=number) for number in range(7))
_CUTS = (
    re.compile(r"[;:]\s+|\s?[—–]\s?|\s-\s"),
    re.compile(r"[;:()]\s*|\s?[—–]\s?|\s-\s"),
    re.compile(r"[;:,()]\s+|\s?[—–]\s?|\s-\s|[()]"),
)
_CLAUSES = (re.compile(r"\s+and\s+"), re.compile(r";\s+"), re.compile(r"\s?[—–]\s?|\s-\s"))
FARTHEST = 2  # lines from one part to the next
LONGEST_TITLE = 6  # words of meaning
LEAST_PART = 3  # words of meaning on each side of an "and" that a sentence may be cut at
WHOLLY = 0.99  # all of it, but for rounding
SUMMED = 0.5  # the share of a summary's words that its file must have, besides all its names and numbers
SUMMED_GONE = 0.34  # of a file that left, whose own lines are each accounted for
_TOPICS = frozenset(stem(word) for word in lexicon.TOPICS)


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """What became of one statement; `replaced` says that another one sits in its place, so that no rewording is looked for."""

    fate: FateName
    target: PlacedStatement | None = None
    note: str = ""
    lost: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    replaced: bool = False
    refused: str = ""  # the likest statement, and what keeps it from keeping this one


class Context:
    """Looks for a reason in the file's own state before and after."""

    def __init__(self, subject: Subject, path: str, added: DirectoryStatements) -> None:
        self.before, self.after_files = subject.before, subject.after
        self.path, self.added = path, added

    @cached_property
    def _stood(self) -> frozenset[str]:
        """What the directory said before."""
        return frozenset(unit.key for path, data in self.before.items() for unit in units_of(path, data))

    def is_frame(self, line: int, text: str) -> bool:
        """Whether it is a key of the frontmatter that only holds other keys; `line` is 0-based."""
        head = memdir.parse(self.before.get(self.path, b"")).head
        return line < head.count("\n") and text.rstrip().endswith(":")

    def explained(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """What accounts for a statement that stands nowhere; None for nothing."""
        return self._by_kind(unit, fresh) or self._in_parts(unit)

    def _by_kind(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        if unit.kind == "field":
            return self._field(unit)
        if unit.kind == "row":
            return self._row(unit)
        if unit.kind == "heading":
            return self._heading(unit, fresh)
        if unit.kind == "reference":
            return self._referred(unit)
        if unit.kind == "title":
            return StatementOutcome("stated", note=TITLE)
        return self._header(unit) if unit.name == HEADER else None

    def _field(self, unit: Unit) -> StatementOutcome | None:
        gone, now = self.path not in self.after_files, self._now("field", unit.name.__eq__)
        if not (gone or now):
            return None
        # A slug, or no prose of its own.
        named = unit.name == "name" and (_SLUG.fullmatch(unit.text) or _only_names(unit))
        if unit.name in _BOOKKEEPING or named:
            return StatementOutcome("stated", now, FILE_LEFT if gone else NEW_VALUE)
        told = unit.name in {"name", "description"} and self._sums_up(unit.text, self.path)
        return StatementOutcome("stated", now, SUMMED_UP) if told else None

    def _row(self, unit: Unit) -> StatementOutcome | None:
        """A row of a file that left, or one that was written anew: its file says what it said."""
        target = next((p for p in self.before if memdir.same_target(p, unit.name)), "")
        stays = target in self.after_files
        now = self._now("row", lambda name: memdir.same_target(name, unit.name)) if stays else None
        if not target or (stays and now is None):
            return None
        return StatementOutcome("stated", now, SUMMED_UP) if self._sums_up(unit.text, target) else None

    def _now(self, kind: str, is_it: Callable[[str], bool]) -> PlacedStatement | None:
        """The first statement of a kind in the file as it is now whose name is meant."""
        units = units_of(self.path, self.after_files.get(self.path))
        return next(
            (PlacedStatement(self.path, each) for each in units if each.kind == kind and is_it(each.name)),
            None,
        )

    def _sums_up(self, text: str, path: str) -> bool:
        """Whether the file says all that the summary says, so that the file's own lines account for it."""
        units = units_of(path, self.before.get(path))
        told = [u.text for u in units if u.kind != "field" or (u.name == "description" and path != self.path)]
        body = " . ".join([*told, re.sub(r"[-_./]", " ", path)])
        one, there = made(text), known(body, WHOLE)
        telling = {w: weight for w, weight in one.weights.items() if w not in lexicon.GENERIC | _TOPICS}
        needed = one.numbers | one.codes | {name for _, name in one.names} | (one.raw & lexicon.LIMITS)
        if not all(has(there, fact) for fact in needed):
            return False
        share = sum(weight for word, weight in telling.items() if has(there, word))
        return share >= (SUMMED if path in self.after_files else SUMMED_GONE) * sum(telling.values())

    def _heading(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        if not _only_names(unit):
            return None
        renamed = next((s for s in fresh if s.unit.kind == "heading"), None)
        return (
            StatementOutcome("stated", renamed, HEADING)
            if renamed or not self._text_stays_below(unit)
            else None
        )

    def _referred(self, unit: Unit) -> StatementOutcome | None:
        """The address of links stands where they are now."""
        address = unit.text.partition("]:")[2].split()[0]
        found = next((s for s in self.added.all if address in s.unit.text), None)
        return StatementOutcome("kept-in", found, REFERRED) if found else None

    def _header(self, unit: Unit) -> StatementOutcome | None:
        """The names of columns that stand beside each cell now: the table was made a list."""
        now = " . ".join(other.text for other in units_of(self.path, self.after_files.get(self.path)))
        return (
            StatementOutcome("stated", note=COLUMNS) if facts.coverage_of(unit.text, now) >= WHOLLY else None
        )

    def _text_stays_below(self, unit: Unit) -> bool:
        """Whether anything of its section stands in the same file still, and lost what it was about."""
        now = {u.key for u in units_of(self.path, self.after_files.get(self.path))}
        return any(below.key in now for below in self._section(unit))

    def _section(self, unit: Unit) -> Iterator[Unit]:
        """What stands below a heading, up to the next one that is not deeper."""
        for other in units_of(self.path, self.before.get(self.path)):
            if other.first_line > unit.last_line:
                if other.kind == "heading" and other.level <= unit.level:
                    return
                yield other

    def dated(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """The new statement that is this one with its relative dates written out."""
        spans = _days_told(unit.text) if self.added.has_dates else ()
        for standing in (*fresh, *self.added.likest(unit.text)) if spans else ():
            new = standing.unit.text
            # One of two days may have been written out: the other is not known, or its line is decided by itself.
            gone = [span for span in spans if span.text not in new]
            rests = (
                dates.rewrite(unit.text, [replace(span, written="") for span in each])
                for each in (spans, gone)
                if each
            )
            if _ISO.search(new) and any(_same_but_for_dates(rest, new) for rest in rests):
                return StatementOutcome("kept-in", standing, DATED)
        return None

    def redacted(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """The new statement that is this one without its secrets."""
        keys = keys_without_secrets(unit)
        found = next((s for s in fresh if s.unit.key in keys), None) if keys else None
        if not found and self._key_lines.issuperset(range(unit.first_line, unit.last_line + 1)):
            here = (s for s in self.added.all if s.path == self.path)
            found = next((s for s in here if "[redacted: " in s.unit.text), None)
        return StatementOutcome("kept-in", found, REDACTED) if found else None

    @cached_property
    def _key_lines(self) -> frozenset[int]:
        """The lines (1-based) of the file as it was that are in a key block: a fence or an empty line makes several statements of one."""
        if b"[redacted: " not in self.after_files.get(self.path, b""):
            return frozenset()
        text = decode(self.before.get(self.path, b""))
        blocks = (span for span in spans(text) if "\n" in text[span.start : span.end])
        places = ((text.count("\n", 0, span.start), text.count("\n", 0, span.end)) for span in blocks)
        return frozenset(line + 1 for first, last in places for line in range(first, last + 1))

    def newer(self, unit: Unit, fresh: list[PlacedStatement]) -> StatementOutcome | None:
        """The new statement that says the same as of a later day: "As of 2026-03-16, the project has:"."""
        days = _FULL_DAY.findall(unit.text)
        if len(days) != 1 or not _AS_OF.search(unit.text):
            return None
        rest = _FULL_DAY.sub("", unit.text)
        for standing in fresh:
            then = _FULL_DAY.findall(standing.unit.text)
            if len(then) == 1 and then[0] > days[0] and _FULL_DAY.sub("", standing.unit.text) == rest:
                return StatementOutcome("superseded-by", standing, NEWER)
        return None

    def _in_parts(self, unit: Unit) -> StatementOutcome | None:
        """Whether the statement was cut in two or three, each part standing somewhere in one piece."""
        if unit.kind in {"code", "heading"} or self.added.lacks(unit.text):
            return None
        for cut in _CUTS:
            parts = [part for part in cut.split(unit.text) if keyed(part)]
            if len(parts) > 1 and (last := self._parts_stand(unit, parts, whole=False)):
                return StatementOutcome("kept-in", last, IN_PARTS)
        for cut in _CLAUSES:
            parts = cut.split(unit.text)
            long = len(parts) > 1 and all(len(statement(part).items) >= LEAST_PART for part in parts)
            if long and (last := self._parts_stand(unit, parts, whole=True)):
                return StatementOutcome("kept-in", last, IN_PARTS)
        return None

    def _parts_stand(self, unit: Unit, parts: list[str], *, whole: bool) -> PlacedStatement | None:
        """Where the last part stands, if all do. Parts that are `whole` clauses may stand anywhere, others side by side: what
        follows a label is said of it.

        All in one place only where that says the whole: "A or B" has both parts of "A and B".
        """
        places = list[PlacedStatement]()
        for part in parts:
            if not (place := self._part_stands(part)):
                return None
            places.append(place)
        stand = whole or _side_by_side(parts, places)
        if len({place.unit.text for place in places}) == 1:
            said = places[0].unit.text
            alike = facts.coverage(said, unit.text) >= keeping.MOST
            crossed = alike and changed_places(unit.text, said)
            stand = not (crossed or facts.lost(unit.text, said))
        return places[-1] if stand else None

    def _part_stands(self, part: str) -> PlacedStatement | None:
        found = self.added.line(part) or self.added.holder(part)
        if found is None:
            return None
        short = len(statement(part).items) < LEAST_PART
        if short and found.unit.key in self._stood:
            return None  # a word or two stand by chance in a line that was there before
        whole = found.unit.text
        stands = keyed(part) in found.unit.key or keeping.in_one_piece(part, whole)
        return found if stands and not facts.taken_back(part, whole) else None


def _side_by_side(parts: Sequence[str], places: Sequence[PlacedStatement]) -> bool:
    """Whether each part is a statement by itself, below or behind the one before it."""
    own = all(keyed(part) == place.unit.key for part, place in zip(parts, places, strict=True))
    return own and all(
        one.path == other.path and 0 <= other.unit.first_line - one.unit.last_line <= FARTHEST
        for one, other in pairwise(places)
    )


def _only_names(unit: Unit) -> bool:
    """Whether a title or heading says what something is about and no fact of it."""
    one = statement(unit.text[:LONGEST])
    return not (one.numbers or one.codes or one.negations or len(one.items) > LONGEST_TITLE)


def _days_told(text: str) -> Sequence[dates.DateSpan]:
    """The phrases that are surely a date on the day of the week on which most of them are."""
    return max((dates.told(text, day) for day in _A_WEEK), key=len)


def _same_but_for_dates(rest: str, dated: str) -> bool:
    """Whether a text without its dates is `dated` without its dates, or stands in it in one piece."""
    for pattern in (_DAY, _ISO):  # a bare year may be a date, and may be a port
        bare = pattern.sub(" ", dated)
        mine, theirs = ([item.word for item in statement(t[:LONGEST]).items] for t in (rest, bare))
        same = mine == theirs or keeping.absorbed(rest, bare, merged=True)
        if mine and same and not facts.turned(rest, bare):
            return True
    return False
