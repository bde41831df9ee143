"""Finds what happened to each removed statement of a hunk, whoever removed it. PURE.

A statement is kept only if every word of it has a counterpart in a passage about the same thing. So three questions are
asked in order: does another statement take its place (`_changed`)? Is it still somewhere (`_kept`)? Is it reworded: by one
new statement, by one in another file, or by several next to each other?
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
from dreams.findings.ledger.facts import swapped
from dreams.findings.ledger.state import (
    PROSE_FIELDS,
    DirectoryStatements,
    Exchange,
    PlacedStatement,
    added,
    contains,
    is_reordered,
    locations_of,
    statements_of,
)
from dreams.findings.ledger.units import (
    HEADER,
    STEP,
    Unit,
    added_units,
    in_cells,
    lines_of,
    moved_columns,
    same_row,
    units_by_line,
    units_of,
)
from dreams.findings.ledger.wordings import plain_statement
from dreams.lib import memdir
from dreams.lib.files.text import shortened
from dreams.lib.prose import claims
from dreams.lib.prose.statements import Statement
from dreams.lib.secrets.redact import redact

CHECK = "ledger"
_FACT_NOW = re.compile(r"(.+) \(now (.+)\)")
BY_HAND = "Your own change."
CHANGED_HERE = "This line now says something else; the old statement is in another place."
ANOTHER_HEADING = "Now below another heading."
ANOTHER_ORDER = "Its numbered list is now in another order."
PROVEN = "A quote has what the new line says instead."
# The code of a warning, what it says of the statement, and its remedy.
_WARNINGS = {
    CHANGED_HERE: ("now-contradicts", "was changed here, but another place still says it", "Change both places, or neither."),
    ANOTHER_HEADING: ("another-heading", "is now below another heading", "Check that it still holds there."),
    derived.OTHER_HEADING: ("another-heading", "is the heading of lines that stay, and says something else now", "Check that these lines still hold."),
    PROVEN: ("superseded", "is replaced, and a quote has what is new", "Compare the new line with the quote."),
    ANOTHER_ORDER: ("another-order", "is in a numbered list that now has another order", "Check that its order still holds."),
}  # fmt: skip


def superseded(hunk: ChangedHunk, unit: Unit, instead: Sequence[PlacedStatement]) -> StatementOutcome | None:
    """Superseded because a person said what is in the statement's place now; None if nobody did."""
    said = evidence.typed(hunk)
    for other in instead:
        found = claims.check(said, other.unit.text)
        if found.answer != "supported" or not found.evidence:
            continue
        quote = found.evidence[0].quote
        # If the person said the old statement as well, nothing was replaced.
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
    at, unit = target.path, target.unit
    return RemovedLine(
        hunk.path, hunk.hunk_id, text, answer.fate, at, unit.first_line, unit.text, answer.note
    )


def finding_of(
    hunk: ChangedHunk, line_no: int, text: str, answer: StatementOutcome, unit: Unit | None
) -> NewFinding | None:
    about = answer.note if answer.note == ANOTHER_ORDER else f"{unit.key if unit else text}"
    place = {"path": hunk.path, "hunk_id": hunk.hunk_id, "line_no": line_no, "about": about}
    whole = unit.text if unit else text
    said = shortened(whole, MOST_SHOWN)
    if answer.fate == "unexplained":
        held = f"The nearest statement, {redact(answer.refused)}." if answer.refused else ""
        return NewFinding(
            CHECK, "unexplained-loss", "block", f"Unexplained loss: “{said}” {_loss_sentence(answer, whole)}",
            "Reject the change, edit it to keep the statement, or confirm its removal.", message_parts=MessageParts(said, detail=held), **place,  # type: ignore[arg-type]  # keywords of mixed types
        )  # fmt: skip
    if answer.reworded and answer.fate == "merged-into":
        words = ", ".join(f"“{word}”" for word in facts.as_written(answer.reworded[:8], whole))
        return NewFinding(
            CHECK, "reworded", "warn", f"“{said}” is reworded; these words are gone: {words}.",
            "Compare both lines, then edit the change if the meaning changed.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note in _WARNINGS and not hunk.by_hand:
        code, says, remedy = _WARNINGS[answer.note]
        return NewFinding(CHECK, code, "warn", f"“{said}” {says}.", remedy, **place)  # type: ignore[arg-type]  # as above
    if answer.fate in {"stated", "superseded-by"}:
        return _stated(hunk, said, answer, place)
    return None


def _loss_sentence(answer: StatementOutcome, text: str) -> str:
    """What is lost with a statement, or which other statement is in its place."""
    if answer.note:
        return f"is in another place, and “{shortened(answer.note, MOST_SHOWN)}” has taken its place."
    only = _quoted_facts([shortened(fact, 60) for fact in facts.as_written(answer.lost[:6], text)])
    return f"no longer appears anywhere.{f' It was the only place that said {only}.' if only else ''}"


def _stated(
    hunk: ChangedHunk, said: str, answer: StatementOutcome, place: dict[str, object]
) -> NewFinding | None:
    if answer.note == BY_HAND:
        return NewFinding(
            CHECK, "removed-by-hand", "info", f"“{said}” is removed by your own change; no other memory says it.", "", **place  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note in derived.NOTES or evidence.is_proven(hunk):
        return None
    if answer.fate == "stated":  # one finding for all lines that go for one reason
        place["about"] = answer.note
        said = " ".join(fate.text.strip() for fate in hunk.fates if fate.note == answer.note) or said
    return NewFinding(
        CHECK, "stated-without-evidence", "warn", f"“{shortened(said, MOST_SHOWN)}” is removed for a reason without evidence: {shortened(answer.note or 'another line replaces it.', MOST_SHOWN)}",
        "Check the reason, or reject the change.", **place,  # type: ignore[arg-type]  # as above
    )  # fmt: skip


def _quoted_facts(lost: Sequence[str]) -> str:
    """Facts in quotation marks. A changed word (“never”, now “always”) makes a separate “not” unnecessary."""
    turned = {fact: match for fact in lost if (match := _FACT_NOW.fullmatch(fact))}
    unsaid = {facts.DENIED_NOW, facts.NOT if turned else facts.DENIED_NOW}
    told = [fact for fact in lost if fact not in unsaid]
    return ", ".join(
        f"“{turned[fact][1]}” (now “{turned[fact][2]}”)" if fact in turned else keeping.quoted([fact])
        for fact in told
    )


MOST_SHOWN = 200  # characters of a text that is quoted
MOST_STATEMENTS = 4  # of one passage
FARTHEST = 2  # lines from one to the next
_PROSE = frozenset({"sentence", "row", "table"})


def passage_keeping(text: str, near: Unit, path: str, data: bytes | None) -> str:
    """The passage around `near` that says the same as `text` in other words; "" if there is none."""
    units = units_of(path, data)
    for heading, parts in _around(units, units.index(near) if near in units else -1):
        if not _may_keep(plain_statement(text), heading, parts):
            continue
        said = ". ".join(part.text.rstrip(" .;:") for part in parts)
        passage = f"{heading}: {said}" if heading else said
        if keeping.reworded(text, passage) and not any(swapped(text, part.text) for part in parts):
            return passage
    return ""


def _around(units: Sequence[Unit], at: int) -> Iterator[tuple[str, Sequence[Unit]]]:
    """Runs of statements that include `at`, with and without their heading, shortest first."""
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


def _may_keep(one: Statement, heading: str, parts: Sequence[Unit]) -> bool:
    """Whether the words are all there, each part adds some of them, and no part names anything else."""
    wanted = one.weights.keys()
    said = [plain_statement(part.text) for part in parts]
    if not all(part.numbers | part.codes | {name for _, name in part.names} <= wanted for part in said):
        return False
    if any(facts.coverage(part.text, one.text) < keeping.MOST for part in parts):
        return False
    words = [wanted & part.weights.keys() for part in said]
    there = plain_statement(heading).weights.keys() & wanted | frozenset[str]().union(*words)
    if sum(one.weights[word] for word in there) < keeping.MOST * one.weight:
        return False
    return all(own - frozenset[str]().union(*words[:at], *words[at + 1 :]) for at, own in enumerate(words))


CLOSEST = 3  # new statements whose surroundings are searched
MOST_PAIRED = 200  # statements compared on each side
MAX_DETAILS = 500  # losses whose facts are named; beyond that only the loss is reported
IN_OTHER_WORDS = "in other words"
_Place = tuple[str, int, str]  # path, line and key of a statement that keeps another one


@dataclass(slots=True)
class BothStates:
    """A directory before and after, for all its hunks: `taken` are statements of other files that already reword one."""

    subject: Subject
    before: DirectoryStatements
    after: DirectoryStatements
    added: DirectoryStatements
    exchange: Exchange
    taken: set[_Place] = field(default_factory=set)
    details: int = MAX_DETAILS


def both_states(subject: Subject) -> BothStates:
    # Agents load no logs: what stands only there is kept nowhere.
    kept = {path: data for path, data in subject.after.items() if not memdir.is_log(path)}
    before, after = statements_of(subject, subject.before), statements_of(subject, kept)
    return BothStates(subject, before, after, added(subject), Exchange(subject))


class Trace:
    """Looks for the statements of one hunk; `fresh` are those of its added lines that the file did not have before."""

    def __init__(self, both_states: BothStates, hunk: ChangedHunk) -> None:
        self.states, self.hunk, self.path = both_states, hunk, hunk.path
        self.context = derived.Context(both_states.subject, hunk.path, both_states.added, both_states.before)
        self.was, self.now = (
            files.get(hunk.path) for files in (both_states.subject.before, both_states.subject.after)
        )
        known, touched = units_by_line(hunk.path, self.was).keys, added_units(both_states.subject, hunk)
        units = [unit for unit, _ in touched if unit.key not in known]
        self.fresh = [PlacedStatement(hunk.path, unit) for unit in units]
        self.by_words = DirectoryStatements({hunk.path: b""}, lambda _: units)

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
            if not keeping.may_be_dropped(old.text, self.states.added.missing_words(old.text)):
                continue
            found[old] = self._reworded_elsewhere(old) or self._kept_by_several(old) or found[old]
        return found

    def _answer(self, unit: Unit) -> StatementOutcome:
        """The first outcome that applies; rewordings are found later, in pairs."""
        return (
            self.context.dated(unit, self.fresh)
            or self.context.redacted(unit)
            or self.context.newer(unit, self.fresh)
            or self._changed(unit)
            or self._kept(unit)
            or self._unexplained(unit)
        )

    def _changed(self, unit: Unit) -> StatementOutcome | None:
        """Another statement is in its place; None if not. Kept if a copy about the same thing remains; superseded if a person said the
        other one; else unexplained."""
        instead, replacing = self._replacements(unit), self._replacing(unit)
        copy = None if replacing else self._copy(unit)
        if copy:
            points = locations_of(self.path, self.was).points.get(unit, ()) if unit.name == STEP else ()
            turned = any(is_reordered(self.path, self.was, self.now, point.location) for point in points)
            note = CHANGED_HERE if instead else ANOTHER_ORDER if turned else ""
            return StatementOutcome("kept-in", copy, note)
        if not (instead or replacing):
            return None
        answer = superseded(self.hunk, unit, instead)
        if replacing and not answer:
            return StatementOutcome("unexplained", note=replacing.text, replaced=True)
        return answer or self._unexplained(unit)

    def _kept(self, unit: Unit) -> StatementOutcome | None:
        """Kept word for word, within another statement, or explained by what it summarizes."""
        exact = self.states.after.same_words(unit, self.path)
        if exact:
            is_refiled = self.path == exact.path and self.states.exchange.is_refiled(unit, exact)
            return StatementOutcome("kept-in", exact, ANOTHER_HEADING if is_refiled else "")
        container = self._container(unit)
        if container:
            return StatementOutcome("merged-into", container)
        return self.context.explanation(unit, self.fresh)

    def _copy(self, unit: Unit) -> PlacedStatement | None:
        """The same words about the same thing."""
        exact = self.states.after.same_words(unit, self.path)
        same = exact and self.states.exchange.is_copy(unit, self.path, exact.unit, exact.path)
        return exact if same else None

    def _replacing(self, unit: Unit) -> Unit | None:
        """The statement or table header that took the place of one that is still somewhere else."""
        if unit.name != HEADER:
            return self.states.exchange.replacing_unit(unit, self.path)
        return moved_columns(unit, units_of(self.path, self.was), units_of(self.path, self.now))

    def _replacements(self, unit: Unit) -> list[PlacedStatement]:
        """New statements that say something different about the same thing."""
        said = unit.text
        near = self.fresh if len(self.fresh) <= MOST_PAIRED else self.by_words.most_similar(said)
        found = (other for other in near if _may_replace(unit, other.unit))
        others = [other for other in found if keeping.replaced(said, other.unit.text)]
        return [other for other in others if not contains(said, other.unit.text, merged=False)]

    def _container(self, unit: Unit) -> PlacedStatement | None:
        if unit.kind in {"code", "heading", "title"} or (
            unit.kind == "field" and unit.name not in PROSE_FIELDS
        ):
            return None
        return (
            self._as_list(unit)
            or self.states.added.container(unit.text)
            or self.states.after.container(unit.text)
        )

    def _as_list(self, unit: Unit) -> PlacedStatement | None:
        """The line that has all cells of a table row, even if a cell of two sentences splits it into two statements."""
        for other in self.states.added.most_similar(unit.text) if unit.kind == "table" else ():
            lines = lines_of(self.states.subject.after.get(other.path))
            first, last = other.unit.first_line - 1, other.unit.last_line
            if same_row(unit, other.unit) or in_cells(unit.text, " ".join(lines[first:last])):
                return other
        return None

    def _unexplained(self, unit: Unit) -> StatementOutcome:
        """An unexplained loss, with what the most similar statement lacks; only for the first losses."""
        if not self.states.details:
            return StatementOutcome("unexplained")
        self.states.details -= 1
        most_similar = [
            (facts.coverage(unit.text, s.unit.text), s.unit.text)
            for s in self.states.after.most_similar(unit.text)
        ]
        alike, best = max(most_similar, key=itemgetter(0), default=(0.0, ""))
        why = f"“{best[:80]}”, {keeping.why_not_kept(unit.text, best)}" if alike >= keeping.PART else ""
        return StatementOutcome("unexplained", lost=tuple(facts.lost(unit.text, best)), refused=why)

    def _reworded_elsewhere(self, unit: Unit) -> StatementOutcome | None:
        """A new statement in another file that rewords this one and does not already keep a different one."""
        for other in self.states.added.most_similar(unit.text):
            place = (other.path, other.unit.first_line, other.unit.key)
            if (
                other.path == self.path
                or place in self.states.taken
                or "code" in (unit.kind, other.unit.kind)
            ):
                continue
            before = units_by_line(other.path, self.states.subject.before.get(other.path)).keys
            if other.unit.key not in before and keeping.reworded(unit.text, other.unit.text):
                self.states.taken.add(place)
                return _reworded(unit, other, other.unit.text)
        return None

    def _kept_by_several(self, unit: Unit) -> StatementOutcome | None:
        """Several new statements that together say this one."""
        for other in self.states.added.most_similar(unit.text)[:CLOSEST] if unit.kind != "code" else ():
            data = self.states.subject.after.get(other.path)
            said = passage_keeping(unit.text, other.unit, other.path, data)
            if said:
                return _reworded(unit, other, said)
        return None


def _reworded(unit: Unit, other: PlacedStatement, said: str) -> StatementOutcome:
    words = tuple(facts.words_lost(unit.text, said))
    return StatementOutcome("merged-into", other, IN_OTHER_WORDS, reworded=words)


def _may_replace(unit: Unit, other: Unit) -> bool:
    """Whether `other` could replace `unit`: an index row is about its own memory, a title states nothing, and a row with
    reordered columns says the same."""
    if other.kind == "title" or same_row(unit, other):
        return False
    return unit.kind != "row" or unit.name == other.name or unit.name in other.text


def _pairs(old: Sequence[Unit], new: Sequence[PlacedStatement]) -> Iterator[tuple[Unit, PlacedStatement]]:
    """Pairs each removed statement with at most one new one, most similar first, so that two never share one rewording."""
    scored = [
        (-facts.coverage(one.text, other.unit.text), a, b)
        for a, one in enumerate(old[:MOST_PAIRED])
        for b, other in enumerate(new[:MOST_PAIRED])
        if "code" not in (one.kind, other.unit.kind)
        and keeping.reworded(one.text, other.unit.text)
        and not (one.kind == "heading" and derived.is_turned(one, other.unit))
    ]
    used: tuple[set[int], set[int]] = (set(), set())
    for _, a, b in sorted(scored):
        if a not in used[0] and b not in used[1]:
            used[0].add(a)
            used[1].add(b)
            yield old[a], new[b]
