"""What the checks say of one change, as its card shows it: singly, or as a list to tick where many want the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from dreams.models import Finding
from dreams.web.selectors.review.heard import Statement

# From so many on, findings of one kind are one list: nobody presses the same button ten times with care.
LEAST_LISTED = 3
MOST_SHOWN = 4
LOSS = "unexplained-loss"


@dataclass(frozen=True, slots=True)
class Remark:
    """One finding. `message` is shorter than the finding's where the card already shows the rest of it."""

    finding: Finding
    message: str
    remedy: str
    line_no: int | None

    @property
    def severity(self) -> str:
        return self.finding.severity

    @property
    def key(self) -> str:
        return self.finding.key

    @property
    def confirmed_by(self) -> str:
        return self.finding.confirmed_by

    @property
    def confirmed_at(self) -> object:
        return self.finding.confirmed_at


@dataclass(frozen=True, slots=True)
class Item:
    """One box: ticked it lets this finding pass, and no other."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Findings of one kind that each want a person's word. `is_loss`: the items are statements that would be gone."""

    is_loss: bool
    remedy: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """All that the checks say of one change: what is shown at once, the lists, what is folded, what was confirmed."""

    shown: tuple[Remark, ...]
    asked: tuple[Asked, ...]
    rest: tuple[Remark, ...]
    confirmed: tuple[Remark, ...]


def said(findings: Sequence[Finding], heard: Sequence[Statement], *, is_open: bool) -> Said:
    """`findings` worst first."""
    waiting = [f for f in findings if f.severity == Finding.Severity.BLOCK and f.confirmed_at is None]
    asked = _asked(waiting) if is_open else {}
    listed = {finding.pk for rows in asked.values() for finding in rows}
    done = [f for f in findings if f.confirmed_at is not None]
    folded = done if len(done) >= LEAST_LISTED else []
    single = [f for f in findings if f.pk not in listed and f not in folded]
    remarks = tuple(_remark(finding, heard, is_open=is_open) for finding in single)
    return Said(
        shown=remarks[:MOST_SHOWN],
        asked=tuple(_list(rows) for rows in asked.values()),
        rest=remarks[MOST_SHOWN:],
        confirmed=tuple(_remark(finding, heard, is_open=False) for finding in folded),
    )


def _asked(waiting: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Kind → its findings, where they are many."""
    by_code = {
        code: list(rows)
        for code, rows in groupby(sorted(waiting, key=lambda f: (f.code, f.line_no or 0)), lambda f: f.code)
    }
    return {code: rows for code, rows in by_code.items() if len(rows) >= LEAST_LISTED}


def _list(rows: Sequence[Finding]) -> Asked:
    remedies = {row.remedy for row in rows}
    # The list says once what becomes of all the statements.
    is_loss = all(row.code == LOSS and row.told.get("statement") for row in rows)
    items = tuple(Item(row.key, row.told["statement"] if is_loss else row.message) for row in rows)
    return Asked(is_loss, remedies.pop() if len(remedies) == 1 else "", items)


def _remark(finding: Finding, heard: Sequence[Statement], *, is_open: bool) -> Remark:
    # A line of the old text is marked where it stood; a number here would be taken for one of the new text.
    line = finding.line_no if finding.check_name != "ledger" else None
    remedy = finding.remedy if is_open and finding.confirmed_at is None else ""
    if finding.code == "says-otherwise" and any(
        one.answer == "contradicted" and one.text[:200] == finding.told.get("statement") for one in heard
    ):
        # Both texts stand beside it, with the way into the session.
        return Remark(finding, "A session says otherwise.", remedy, line)
    return Remark(finding, (line and finding.told.get("remark")) or finding.message, remedy, line)
