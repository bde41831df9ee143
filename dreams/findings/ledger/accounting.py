"""Finds where each removed line went. A line without an explanation is an unexplained loss, which blocks. PURE.

An engine's explanation is only a claim: its target must exist in the new text and share words with the line.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from dreams.engines.types import Fate
from dreams.findings import evidence
from dreams.findings.base import ChangedHunk, FateName, NewFinding, RemovedLine, Subject
from dreams.findings.ledger import derived, facts, keeping, tracing
from dreams.findings.ledger.derived import StatementOutcome
from dreams.findings.ledger.state import PlacedStatement
from dreams.findings.ledger.tracing import BY_HAND, BothStates, Trace, both_states
from dreams.findings.ledger.units import (
    BOOKKEEPING,
    FENCE,
    Unit,
    has_content,
    units_on,
    words_key,
)
from dreams.lib import progress

# Worst first: decides between equally long statements of a line (`_report_order`).
_WORST: tuple[FateName, ...] = ("unexplained", "stated", "superseded-by", "merged-into", "kept-in")


def account(subject: Subject) -> tuple[list[NewFinding], list[RemovedLine]]:
    """The findings, and a ledger row for every removed line that has content."""
    states = both_states(subject)
    findings, ledger = dict[str, NewFinding](), list[RemovedLine]()
    for hunk in progress.each("Following removed lines", subject.hunks):
        for line_no, text, answers in _Hunk(states, hunk).answers():
            if not _is_bookkeeping(answers):
                ledger.append(tracing.row_of(hunk, text, min(answers, key=_report_order)[0]))
            for answer, unit in answers:
                found = tracing.finding_of(hunk, line_no, text, answer, unit)
                if found:
                    findings.setdefault(found.key, found)
    return list(findings.values()), ledger


def _is_bookkeeping(answers: Sequence[tuple[StatementOutcome, Unit | None]]) -> bool:
    """Whether the line is a standard field ("type: feedback") that is not lost, so that a ledger row would only be noise."""
    return all(
        unit is not None
        and unit.kind == "field"
        and unit.name in BOOKKEEPING
        and answer.fate != "unexplained"
        for answer, unit in answers
    )


def _report_order(told: tuple[StatementOutcome, Unit | None]) -> tuple[bool, int, int]:
    """Sort key: of a line's statements report a lost one first, then the longest, not the title of a row."""
    answer, unit = told
    return answer.fate != "unexplained", -len(unit.text if unit else ""), _WORST.index(answer.fate)


class _Hunk:
    """One hunk with its removed lines, the statements on them, and what the engine claims about them."""

    def __init__(self, both_states: BothStates, hunk: ChangedHunk) -> None:
        self.subject, self.hunk, self.after = both_states.subject, hunk, both_states.after
        self.trace = Trace(both_states, hunk)
        self.claims: dict[str, list[Fate]] = defaultdict(list)
        for fate in hunk.fates:
            # "By hand" was written by this module for an earlier version of the text.
            if fate.note != BY_HAND:
                for about in {fate.text.strip(), words_key(fate.text)}:
                    self.claims[about].append(fate)

    def answers(self) -> Iterator[tuple[int, str, list[tuple[StatementOutcome, Unit | None]]]]:
        """(line in the new text, removed line, the outcome of each of its statements), in order."""
        by_line = self._by_line()
        known = self.trace.answers([unit for units in by_line.values() for unit in units])
        for offset, text in enumerate(self.hunk.removed):
            if not has_content(text):
                continue
            units = by_line.get(offset, [])
            line = self.hunk.base_start + offset
            if not units and (FENCE.fullmatch(text) or self.trace.context.is_frame(line, text)):
                continue  # what is inside is checked line by line
            answered: list[tuple[StatementOutcome, Unit | None]] = [(known[unit], unit) for unit in units]
            answered = answered or [(self._by_line_alone(text), None)]
            place = self.hunk.new_start + 1 + min(offset, max(0, len(self.hunk.added) - 1))
            own = [(self._of_line(text, answer, unit), unit) for answer, unit in answered]
            yield place, text, [(self._by_claim(text, answer, unit), unit) for answer, unit in own]

    def _by_line(self) -> dict[int, list[Unit]]:
        """The statements on each removed line, by the line's position in the hunk."""
        start, removed = self.hunk.base_start, self.hunk.removed
        units, shift = units_on(self.hunk.path, self.subject.before.get(self.hunk.path), start, removed)
        found: dict[int, list[Unit]] = defaultdict(list)
        for unit in units:
            first, last = (line + shift - 1 - start for line in (unit.first_line, unit.last_line))
            for offset in range(max(0, first), min(len(removed), last + 1)):
                found[offset].append(unit)
        return found

    def _of_line(self, text: str, answer: StatementOutcome, unit: Unit | None) -> StatementOutcome:
        """Judges one line of a wrapped statement by its own words: it may be kept while the rest is lost, and the reverse."""
        if unit is None or unit.first_line == unit.last_line:
            return answer
        if answer.fate != "unexplained" and not answer.reworded:
            return answer
        bare = self._by_line_alone(text)
        if bare.target in self.trace.fresh and not facts.turned(unit.text, bare.target.unit.text):
            return bare
        target = answer.target.unit.text if answer.target else ""
        if facts.coverage(text, target) >= keeping.MOST:
            return answer
        return StatementOutcome("unexplained", note=answer.note, lost=answer.lost)

    def _by_line_alone(self, text: str) -> StatementOutcome:
        found = self.after.line(text, self.hunk.path)
        return StatementOutcome("kept-in", found) if found else StatementOutcome("unexplained")

    def _by_claim(self, text: str, answer: StatementOutcome, unit: Unit | None) -> StatementOutcome:
        """The outcome found by comparing texts; if there is none, what the engine claims of the line or of this statement of
        it, or the person's decision."""
        if answer.fate not in {"unexplained", "stated"} and not answer.reworded:
            return answer
        said, about = (unit.text, unit.key) if unit else (text, text)
        for claim in (*self.claims.get(text.strip(), ()), *self.claims.get(about, ())):
            claimed = self._verified(text, claim, said)
            if claimed:
                return claimed
        if answer.fate == "unexplained" and self.hunk.by_hand:
            return StatementOutcome("stated", note=BY_HAND)
        return answer

    def _verified(self, text: str, claim: Fate, said: str) -> StatementOutcome | None:
        if claim.kind == "stated":
            is_own = claim.note.strip() and claim.note not in derived.NOTES
            return StatementOutcome("stated", note=claim.note) if is_own else None
        target = self.after.line(claim.target_text, claim.target_path) if claim.target_text else None
        if claim.kind == "superseded-by":
            return self._superseded(text, claim, said, target)
        if (
            target
            and facts.shared_words(text, claim.target_text)
            and keeping.reworded(said, target.unit.text)
        ):
            lost = tuple(facts.words_lost(said, target.unit.text))
            return StatementOutcome("merged-into", target, claim.note, reworded=lost)
        return None

    def _superseded(
        self, text: str, claim: Fate, said: str, target: PlacedStatement | None
    ) -> StatementOutcome | None:
        """Another statement may take its place, but deny it only with a proof; any line that this change writes about the same
        thing may with a proof."""
        if target and claim.text.strip() == text.strip() and facts.shared_words(text, claim.target_text):
            there = target.unit.text
            same = facts.plain_coverage(said, there) >= evidence.PROVEN
            if not (same and facts.negation_changes(said, there)):
                return StatementOutcome("superseded-by", target, claim.note)
        new = self.trace.states.added.on_line(claim.target_text, claim.target_path, said)
        summed = evidence.summed_up(self.subject, new.path, new.unit) if new else ()
        if new and evidence.proves(self.hunk, said, new.unit.text, summed):
            return StatementOutcome("superseded-by", new, tracing.PROVEN)
        return None
