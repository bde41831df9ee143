"""What became of each statement of a hunk, whoever removed it. PURE.

The one idea: every word of a fact needs a partner of its own, in a passage that speaks of the same thing. So the first
question is whether something else is said in its place (`_changed`), then whether it stands (`_kept`), and only what is
left may be told in other words: by one new statement each, by one of another file, or by several side by side.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter

from dreams.findings import evidence
from dreams.findings.base import ChangedHunk, MessageParts, NewFinding, RemovedLine, Subject
from dreams.findings.ledger import derived, facts, keeping
from dreams.findings.ledger.derived import StatementOutcome
from dreams.findings.ledger.facts import changed_places
from dreams.findings.ledger.state import (
    PROSE_FIELDS,
    DirectoryStatements,
    Exchange,
    PlacedStatement,
    added,
    holds,
)
from dreams.findings.ledger.units import (
    HEADER,
    Unit,
    in_cells,
    lines_of,
    moved_columns,
    same_row,
    spread,
    units_of,
)
from dreams.findings.ledger.wordings import made
from dreams.lib import memdir
from dreams.lib.files.text import shortened
from dreams.lib.prose import claims
from dreams.lib.prose.statements import Statement
from dreams.lib.secrets.redact import redact

CHECK = "ledger"
_TURNED = re.compile(r"(.+) \(now (.+)\)")
BY_HAND = "Your own change."
CHANGED_HERE = "This line now says something else; the old statement is in another place."
ANOTHER_HEADING = "Now below another heading."


def superseded(hunk: ChangedHunk, unit: Unit, instead: Sequence[PlacedStatement]) -> StatementOutcome | None:
    """A person said what stands in a statement's place now: that is newer than any note. None where nobody did."""
    said = evidence.typed(hunk)
    for other in instead:
        found = claims.check(said, other.unit.text)
        if found.answer != "supported" or not found.evidence:
            continue
        quote = found.evidence[0].quote
        # Who says the old one too has replaced nothing.
        if claims.check(said, unit.text).answer != "supported":
            at = next((c.at for c in hunk.citations if quote in f"{c.quote} {c.context}"), None)
            day = f" on {at:%Y-%m-%d}" if at else ""
            return StatementOutcome(
                "superseded-by", other, f"You said{day}: “{shortened(quote, MOST_SHOWN)}”"
            )
    return None


def row_of(hunk: ChangedHunk, text: str, answer: StatementOutcome) -> RemovedLine:
    target = answer.target
    if target is None:
        return RemovedLine(hunk.path, hunk.hunk_id, text, answer.fate, note=answer.note)
    line = target.unit.first_line
    return RemovedLine(
        hunk.path, hunk.hunk_id, text, answer.fate, target.path, line, target.unit.text, answer.note
    )


def finding_of(
    hunk: ChangedHunk, line_no: int, text: str, answer: StatementOutcome, unit: Unit | None
) -> NewFinding | None:
    about = f"{unit.key if unit else text}"
    place = {"path": hunk.path, "hunk_id": hunk.hunk_id, "line_no": line_no, "about": about}
    said = shortened(unit.text if unit else text, MOST_SHOWN)
    if answer.fate == "unexplained":
        held = f"The nearest statement, {redact(answer.refused)}." if answer.refused else ""
        return NewFinding(
            CHECK, "unexplained-loss", "block", f"Unexplained loss: “{said}” {_gone(answer, unit.text if unit else text)}",
            "Reject the change, edit it to keep the statement, or confirm its removal.", message_parts=MessageParts(said, detail=held), **place,  # type: ignore[arg-type]  # keywords of mixed types
        )  # fmt: skip
    if answer.reworded and answer.fate == "merged-into":
        words = ", ".join(
            f"“{word}”" for word in facts.as_written(answer.reworded[:8], unit.text if unit else text)
        )
        return NewFinding(
            CHECK, "reworded", "warn", f"“{said}” is reworded; these words are gone: {words}.",
            "Compare both lines, then edit the change if the meaning changed.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note == CHANGED_HERE and not hunk.by_hand:
        return NewFinding(
            CHECK, "now-contradicts", "warn", f"“{said}” was changed here, but another place still says it.",
            "Change both places, or neither.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note == ANOTHER_HEADING and not hunk.by_hand:
        return NewFinding(
            CHECK, "another-heading", "warn", f"“{said}” is now below another heading.",
            "Check that it still holds there.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.fate in {"stated", "superseded-by"}:
        return _stated(hunk, said, answer, place)
    return None


def _gone(answer: StatementOutcome, text: str) -> str:
    """How a statement is gone: with which facts, or because another one sits in its place."""
    if answer.note:
        return f"is in another place, and “{shortened(answer.note, MOST_SHOWN)}” has taken its place."
    lost = [shortened(fact, 60) for fact in facts.as_written(answer.lost[:6], text)]
    only = _listed(lost)
    return f"no longer appears anywhere.{f' It was the only place that said {only}.' if only else ''}"


def _stated(
    hunk: ChangedHunk, said: str, answer: StatementOutcome, place: dict[str, object]
) -> NewFinding | None:
    if answer.note == BY_HAND:
        return NewFinding(
            CHECK, "removed-by-hand", "info", f"“{said}” is removed by your own change; no other memory says it.", "", **place  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    leaves = "\n".join(hunk.removed)  # that a line was there is no evidence that it may go
    if answer.note in derived.NOTES or any(c.found and c.quote.strip() not in leaves for c in hunk.citations):
        return None
    return NewFinding(
        CHECK, "stated-without-evidence", "warn", f"“{said}” is removed for a reason without evidence: {shortened(answer.note or 'another line replaces it.', MOST_SHOWN)}",
        "Check the reason, or reject the change.", **place,  # type: ignore[arg-type]  # as above
    )  # fmt: skip


def _listed(lost: Sequence[str]) -> str:
    """Each in quotation marks, but what the place itself does not say; beside “never” (now “always”) no “not”."""
    turned = {fact: match for fact in lost if (match := _TURNED.fullmatch(fact))}
    unsaid = {facts.DENIED_NOW, facts.NOT if turned else facts.DENIED_NOW}
    told = [fact for fact in lost if fact not in unsaid]
    return ", ".join(
        f"“{turned[fact][1]}” (now “{turned[fact][2]}”)" if fact in turned else keeping.quoted([fact])
        for fact in told
    )


MOST_SHOWN = 200  # characters of a text that is quoted
MOST_STATEMENTS = 4  # statements
FARTHEST = 2  # lines from one to the next
_PROSE = frozenset({"sentence", "row", "table"})


def holding(text: str, near: Unit, path: str, data: bytes | None) -> str:
    """The passage around `near` that says what `text` says in other words; nothing if none does."""
    units = units_of(path, data)
    for heading, parts in _around(units, units.index(near) if near in units else -1):
        if not _may_hold(made(text), heading, parts):
            continue
        said = ". ".join(part.text.rstrip(" .;:") for part in parts)
        passage = f"{heading}: {said}" if heading else said
        if keeping.reworded(text, passage) and not any(changed_places(text, part.text) for part in parts):
            return passage
    return ""


def _around(units: Sequence[Unit], at: int) -> Iterator[tuple[str, Sequence[Unit]]]:
    """The runs of statements that `at` belongs to, alone and below their heading, the shortest first."""
    if at < 0 or units[at].kind not in _PROSE:
        return
    heading = next((unit.text for unit in reversed(units[:at]) if unit.kind == "heading"), "")
    for length in range(1, MOST_STATEMENTS + 1):
        for first in range(max(0, at - length + 1), min(at, len(units) - length) + 1):
            parts = units[first : first + length]
            if _side_by_side(parts):
                yield from ((each, parts) for each in dict.fromkeys(["", heading]) if each or length > 1)


def _side_by_side(parts: Sequence[Unit]) -> bool:
    near = all(later.first_line - one.last_line <= FARTHEST for one, later in pairwise(parts))
    return near and all(part.kind in _PROSE for part in parts)


def _may_hold(one: Statement, heading: str, parts: Sequence[Unit]) -> bool:
    """Whether the words are there, each part has some that no other one has, and none names what the statement does not name."""
    wanted = one.weights.keys()
    said = [made(part.text) for part in parts]
    if not all(part.numbers | part.codes | {name for _, name in part.names} <= wanted for part in said):
        return False
    if any(facts.coverage(part.text, one.text) < keeping.MOST for part in parts):
        return False
    words = [wanted & part.weights.keys() for part in said]
    there = made(heading).weights.keys() & wanted | frozenset[str]().union(*words)
    if sum(one.weights[word] for word in there) < keeping.MOST * one.weight:
        return False
    return all(own - frozenset[str]().union(*words[:at], *words[at + 1 :]) for at, own in enumerate(words))


CLOSEST = 3  # new statements around which a passage is looked for
MOST_PAIRED = 200  # statements on each side that are held against each other
MAX_DETAILS = 500  # losses whose facts are named: who deletes everything knows what is gone
IN_OTHER_WORDS = "in other words"
_Place = tuple[str, int, str]  # path, line and words of a statement that stands for another one


@dataclass(slots=True)
class Both:
    """A directory before and after, for all its hunks: `taken` are statements of other files that stand for one each."""

    subject: Subject
    after: DirectoryStatements
    added: DirectoryStatements
    exchange: Exchange
    taken: set[_Place] = field(default_factory=set)
    details: int = MAX_DETAILS


def both(subject: Subject) -> Both:
    # Agents load no logs: what stands only there is kept nowhere.
    kept = {path: data for path, data in subject.after.items() if not memdir.is_log(path)}
    return Both(subject, DirectoryStatements(kept), added(subject), Exchange(subject.before, subject.after))


class Trace:
    """Looks for the statements of one hunk; `fresh` are those of its added lines that the file did not make before."""

    def __init__(self, both: Both, hunk: ChangedHunk) -> None:
        self.both, self.hunk, self.path = both, hunk, hunk.path
        self.context = derived.Context(both.subject, hunk.path, both.added)
        self.was, self.now = (files.get(hunk.path) for files in (both.subject.before, both.subject.after))
        first, known = hunk.new_start + 1, spread(hunk.path, self.was).keys
        touched = spread(hunk.path, self.now).within(first, first + len(hunk.added) - 1)
        self.fresh = [PlacedStatement(hunk.path, unit) for unit in touched if unit.key not in known]

    def answers(self, units: Sequence[Unit]) -> dict[Unit, StatementOutcome]:
        """What became of each; a reworded one is paired with one new statement of the hunk."""
        found = {unit: self._answer(unit) for unit in dict.fromkeys(units)}
        left = [
            unit for unit, answer in found.items() if answer.fate == "unexplained" and not answer.replaced
        ]
        for old, new in _pairs(tuple(left), self.fresh):
            found[old] = _reworded(old, new, new.unit.text)
            left.remove(old)
        for old in left:
            if not keeping.may_be_dropped(old.text, self.both.added.lacks(old.text)):
                continue
            found[old] = self._told_elsewhere(old) or self._told_in_passage(old) or found[old]
        return found

    def _answer(self, unit: Unit) -> StatementOutcome:
        """What became of a statement: the first that holds; how it may be told in other words comes later, in pairs."""
        return (
            self.context.dated(unit, self.fresh)
            or self.context.redacted(unit, self.fresh)
            or self.context.newer(unit, self.fresh)
            or self._changed(unit)
            or self._kept(unit)
            or self._unexplained(unit)
        )

    def _changed(self, unit: Unit) -> StatementOutcome | None:
        """Something else is said in its place: that may be so since a person said it, wherever the old words stand still."""
        instead, taker = self._instead(unit), self._taker(unit)
        copy = None if taker else self._copy(unit)
        if copy:
            return StatementOutcome("kept-in", copy, CHANGED_HERE if instead else "")
        if not (instead or taker):
            return None
        gone = (
            StatementOutcome("unexplained", note=taker.text, replaced=True)
            if taker
            else self._unexplained(unit)
        )
        return superseded(self.hunk, unit, instead) or gone

    def _kept(self, unit: Unit) -> StatementOutcome | None:
        """Word for word, within another statement, or by what it sums up."""
        exact = self.both.after.same_words(unit, self.path) or self.both.exchange.relabelled(unit, self.path)
        if exact:
            is_refiled = self.path == exact.path and self.both.exchange.is_refiled(unit, exact)
            return StatementOutcome("kept-in", exact, ANOTHER_HEADING if is_refiled else "")
        holder = self._holder(unit)
        if holder:
            return StatementOutcome("merged-into", holder)
        return self.context.explained(unit, self.fresh)

    def _copy(self, unit: Unit) -> PlacedStatement | None:
        """The same words, said of the same thing."""
        exact = self.both.after.same_words(unit, self.path)
        same = exact and self.both.exchange.is_copy(unit, self.path, exact.unit, exact.path)
        return exact if same else None

    def _taker(self, unit: Unit) -> Unit | None:
        """The statement, or the header of a table, that took the place of another one which still stands somewhere."""
        if unit.name != HEADER:
            return self.both.exchange.taker(unit, self.path)
        return moved_columns(unit, units_of(self.path, self.was), units_of(self.path, self.now))

    def _instead(self, unit: Unit) -> list[PlacedStatement]:
        """The new statements that say something else of the same thing, in its place."""
        said = unit.text
        found = (other for other in self.fresh if _may_replace(unit, other.unit))
        others = [other for other in found if keeping.replaced(said, other.unit.text)]
        return [other for other in others if not holds(said, other.unit.text, merged=False)]

    def _holder(self, unit: Unit) -> PlacedStatement | None:
        if unit.kind in {"code", "heading", "title"} or (
            unit.kind == "field" and unit.name not in PROSE_FIELDS
        ):
            return None
        return self._as_list(unit) or self.both.added.holder(unit.text) or self.both.after.holder(unit.text)

    def _as_list(self, unit: Unit) -> PlacedStatement | None:
        """The line that has all cells of a row; a cell of two sentences makes the line two statements."""
        for other in self.both.added.likest(unit.text) if unit.kind == "table" else ():
            lines = lines_of(self.both.subject.after.get(other.path))
            first, last = other.unit.first_line - 1, other.unit.last_line
            if same_row(unit, other.unit) or in_cells(unit.text, " ".join(lines[first:last])):
                return other
        return None

    def _unexplained(self, unit: Unit) -> StatementOutcome:
        """With the facts that the likest statement does not have, and what keeps it from keeping this one; of the first losses only."""
        if not self.both.details:
            return StatementOutcome("unexplained")
        self.both.details -= 1
        likest = [
            (facts.coverage(unit.text, s.unit.text), s.unit.text) for s in self.both.after.likest(unit.text)
        ]
        alike, best = max(likest, key=itemgetter(0), default=(0.0, ""))
        why = f"“{best[:80]}”, {keeping.refusal(unit.text, best)}" if alike >= keeping.PART else ""
        return StatementOutcome("unexplained", lost=tuple(facts.lost(unit.text, best)), refused=why)

    def _told_elsewhere(self, unit: Unit) -> StatementOutcome | None:
        """A statement that came in another file and says this one in other words, if it stands for no other one yet."""
        for other in self.both.added.likest(unit.text):
            place = (other.path, other.unit.first_line, other.unit.key)
            if other.path == self.path or place in self.both.taken or "code" in (unit.kind, other.unit.kind):
                continue
            before = spread(other.path, self.both.subject.before.get(other.path)).keys
            if other.unit.key not in before and keeping.reworded(unit.text, other.unit.text):
                self.both.taken.add(place)
                return _reworded(unit, other, other.unit.text)
        return None

    def _told_in_passage(self, unit: Unit) -> StatementOutcome | None:
        """A statement that several new ones say together."""
        for other in self.both.added.likest(unit.text)[:CLOSEST] if unit.kind != "code" else ():
            data = self.both.subject.after.get(other.path)
            said = holding(unit.text, other.unit, other.path, data)
            if said:
                return _reworded(unit, other, said)
        return None


def _reworded(unit: Unit, other: PlacedStatement, said: str) -> StatementOutcome:
    words = tuple(facts.words_lost(unit.text, said))
    return StatementOutcome("merged-into", other, IN_OTHER_WORDS, reworded=words)


def _may_replace(unit: Unit, other: Unit) -> bool:
    """Whether it can say something else in the place of `unit`: a row of the index speaks of its own memory, a title says
    nothing, and a row whose columns moved says the same."""
    if other.kind == "title" or same_row(unit, other):
        return False
    return unit.kind != "row" or unit.name == other.name or unit.name in other.text


def _pairs(old: Sequence[Unit], new: Sequence[PlacedStatement]) -> Iterator[tuple[Unit, PlacedStatement]]:
    """Each statement that left with at most one that came, likest first: two that leave never share one rewording."""
    scored = [
        (-facts.coverage(one.text, other.unit.text), a, b)
        for a, one in enumerate(old[:MOST_PAIRED])
        for b, other in enumerate(new[:MOST_PAIRED])
        if one.kind != "code" and other.unit.kind != "code" and keeping.reworded(one.text, other.unit.text)
    ]
    used: tuple[set[int], set[int]] = (set(), set())
    for _, a, b in sorted(scored):
        if a not in used[0] and b not in used[1]:
            used[0].add(a)
            used[1].add(b)
            yield old[a], new[b]
