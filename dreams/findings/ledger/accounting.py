"""Where each removed line went: what cannot be told is an unexplained loss, and blocks. PURE.

What an engine says of a line is a claim: its target must stand in the new text and have to do with the line.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from dreams.engines.types import Fate
from dreams.findings.base import ChangedHunk, FateName, NewFinding, RemovedLine, Subject
from dreams.findings.ledger import derived, facts, keeping, tracing
from dreams.findings.ledger.derived import StatementOutcome
from dreams.findings.ledger.tracing import BY_HAND, Both, Trace, both
from dreams.findings.ledger.units import BOOKKEEPING, Unit, has_content, lines_of, spread, units_of_lines
from dreams.lib import progress

_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")  # of a list: no word of what the line says
# The worst fate of a line's statements is the line's.
_WORST: tuple[FateName, ...] = ("unexplained", "stated", "superseded-by", "merged-into", "kept-in")


def account(subject: Subject) -> tuple[list[NewFinding], list[RemovedLine]]:
    """Findings, and one row for every removed line that says something."""
    states = both(subject)
    findings, ledger = dict[str, NewFinding](), list[RemovedLine]()
    for hunk in progress.each("Following removed lines", subject.hunks):
        for line_no, text, answers in _Hunk(states, hunk).answers():
            if not _is_bookkeeping(answers):
                ledger.append(tracing.row_of(hunk, text, min(answers, key=_telling)[0]))
            for answer, unit in answers:
                found = tracing.finding_of(hunk, line_no, text, answer, unit)
                if found:
                    findings.setdefault(found.key, found)
    return list(findings.values()), ledger


def _is_bookkeeping(answers: Sequence[tuple[StatementOutcome, Unit | None]]) -> bool:
    """A field that all memories have ("type: feedback") and that is not lost: where it is kept tells nobody anything."""
    return all(
        unit is not None
        and unit.kind == "field"
        and unit.name in BOOKKEEPING
        and answer.fate != "unexplained"
        for answer, unit in answers
    )


def _telling(told: tuple[StatementOutcome, Unit | None]) -> tuple[bool, int, int]:
    """A line of several statements is told by what was lost of it, else by the longest: not by the title of a row."""
    answer, unit = told
    return answer.fate != "unexplained", -len(unit.text if unit else ""), _WORST.index(answer.fate)


class _Hunk:
    """One hunk: its removed lines, the statements that they have a part of, and what was claimed of them."""

    def __init__(self, both: Both, hunk: ChangedHunk) -> None:
        self.subject, self.hunk, self.after = both.subject, hunk, both.after
        self.trace = Trace(both, hunk)
        self.claims: dict[str, list[Fate]] = defaultdict(list)
        for fate in hunk.fates:
            # A row "by hand" was written by this module, for a text that is decided anew now.
            if fate.note != BY_HAND:
                self.claims[fate.text.strip()].append(fate)

    def answers(self) -> Iterator[tuple[int, str, list[tuple[StatementOutcome, Unit | None]]]]:
        """(line in the new text, removed line, what became of each of its statements) in order."""
        by_line = self._by_line()
        known = self.trace.answers([unit for units in by_line.values() for unit in units])
        for offset, text in enumerate(self.hunk.removed):
            if not has_content(text):
                continue
            units = by_line.get(offset, [])
            if not units and (
                _is_fence(text) or self.trace.context.is_frame(self.hunk.base_start + offset, text)
            ):
                continue
            answered: list[tuple[StatementOutcome, Unit | None]] = [(known[unit], unit) for unit in units]
            answered = answered or [(self._bare(text), None)]
            place = self.hunk.new_start + 1 + min(offset, max(0, len(self.hunk.added) - 1))
            own = [(self._of_line(text, answer, unit), unit) for answer, unit in answered]
            yield place, text, [(self._by_claim(text, answer), unit) for answer, unit in own]

    def _by_line(self) -> dict[int, list[Unit]]:
        """The statements that each removed line has a part of, by its place in the hunk."""
        start, removed = self.hunk.base_start, self.hunk.removed
        data = self.subject.before.get(self.hunk.path)
        units: Sequence[Unit]
        if lines_of(data)[start : start + len(removed)] == tuple(removed):
            units, shift = spread(self.hunk.path, data).within(start + 1, start + len(removed)), start
        else:  # the hunk was made from other bytes: its own lines are all there is to go by
            units, shift = units_of_lines(removed), 0
        found: dict[int, list[Unit]] = defaultdict(list)
        for unit in units:
            first, last = unit.first_line - 1 - shift, unit.last_line - 1 - shift
            for offset in range(max(0, first), min(len(removed), last + 1)):
                found[offset].append(unit)
        return found

    def _of_line(self, text: str, answer: StatementOutcome, unit: Unit | None) -> StatementOutcome:
        """A line of a wrapped statement is judged by its own words: it may stay here in another one, or go while the rest stays."""
        if unit is None or unit.first_line == unit.last_line:
            return answer
        if answer.fate != "unexplained" and not answer.reworded:
            return answer
        bare = self._bare(text)
        if bare.target in self.trace.fresh:
            return bare
        target = answer.target.unit.text if answer.target else ""
        return (
            answer
            if facts.coverage(text, target) >= keeping.MOST
            else StatementOutcome("unexplained", note=answer.note, lost=answer.lost)
        )

    def _bare(self, text: str) -> StatementOutcome:
        found = self.after.line(text, self.hunk.path)
        return StatementOutcome("kept-in", found) if found else StatementOutcome("unexplained")

    def _by_claim(self, text: str, answer: StatementOutcome) -> StatementOutcome:
        """What was found out, or what the engine or a person says where nothing was."""
        if answer.fate not in {"unexplained", "stated"} and not answer.reworded:
            return answer
        for claim in self.claims.get(text.strip(), ()):
            claimed = self._verified(text, claim)
            if claimed:
                return claimed
        if answer.fate == "unexplained" and self.hunk.by_hand:
            return StatementOutcome("stated", note=BY_HAND)
        return answer

    def _verified(self, text: str, claim: Fate) -> StatementOutcome | None:
        if claim.kind == "stated":
            return (
                StatementOutcome("stated", note=claim.note)
                if claim.note.strip() and claim.note not in derived.NOTES
                else None
            )
        target = self.after.line(claim.target_text, claim.target_path) if claim.target_text else None
        if target is None or not facts.shared_words(text, claim.target_text):
            return None
        if claim.kind == "superseded-by":
            return StatementOutcome("superseded-by", target, claim.note)
        said = _MARK.sub("", text)
        if keeping.reworded(said, target.unit.text):
            lost = tuple(facts.words_lost(said, target.unit.text))
            return StatementOutcome("merged-into", target, claim.note, reworded=lost)
        return None


def _is_fence(text: str) -> bool:
    """The line that opens or closes a block of code; what stands in the block is looked at line by line."""
    return text.lstrip(" >").startswith(("```", "~~~"))
