"""What a card of the review page tells: one file, and each of its changes."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dreams.findings.judging import MOST_NEW
from dreams.lib.prose.comparing import says_more
from dreams.models import Hunk, LedgerEntry
from dreams.text import plural
from dreams.web.selectors.diffs import Block
from dreams.web.selectors.review import heard as review_heard
from dreams.web.selectors.review.heard import Statement
from dreams.web.selectors.review.mends import Offer
from dreams.web.selectors.review.quotes import Quote
from dreams.web.selectors.review.rendered import Rendered
from dreams.web.selectors.review.said import Remark, Said

LONG_PATH = 48
# Places of evidence that a card shows at once, and that are folded behind them.
OPEN_PLACES = 3
FOLDED_PLACES = 50


@dataclass(frozen=True, slots=True)
class Part:
    """Another hunk of the same operation, or those of another file."""

    label: str
    href: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence of one change: quotes, statements with whether a quote shows what supports them, ledger rows."""

    quotes: tuple[Quote, ...] = ()
    heard: tuple[tuple[Statement, bool], ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.quotes) + len(self.heard) + len(self.ledger)

    def part(self, start: int, stop: int, *, heard_first: bool) -> Proof:
        """The places from `start` to `stop` of all of them in their order."""
        quotes = (start - len(self.heard), stop - len(self.heard)) if heard_first else (start, stop)
        heard = (start, stop) if heard_first else (start - len(self.quotes), stop - len(self.quotes))
        before = len(self.quotes) + len(self.heard)
        return Proof(
            self.quotes[max(0, quotes[0]) : max(0, quotes[1])],
            self.heard[max(0, heard[0]) : max(0, heard[1])],
            self.ledger[max(0, start - before) : max(0, stop - before)],
        )


@dataclass(frozen=True, slots=True)
class HunkCard:
    """One decision. `seen` names the states of all files that it touches; `refused` why it cannot be approved.

    `shown_by` is the part decided together with it that shows the same evidence; then none is repeated here.
    """

    pk: int
    hunk_id: str
    file_pk: int
    base_sha: str
    seen: str
    line: int
    what: str
    memory_pk: int | None
    kind: str
    reason: str
    verdict: str
    decide_reason: str
    parts: tuple[Part, ...]
    more_parts: int
    shown_by: Part | None
    blocks: tuple[Block, ...]
    cut: int
    quotes: tuple[Quote, ...]
    statements: tuple[Statement, ...]
    ledger: tuple[LedgerEntry, ...]
    said: Said
    refused: str
    refused_part: Part | None
    edit_text: str
    edit_hides: int
    edit_rows: int
    is_removal: bool
    can_edit: bool
    mends: tuple[Offer, ...]
    can_decide: bool
    can_approve: bool
    is_applied: bool
    is_undone: bool
    undo_href: str

    @property
    def is_approved(self) -> bool:
        return self.verdict == Hunk.Verdict.APPROVED

    @property
    def is_edited(self) -> bool:
        return self.verdict == Hunk.Verdict.EDITED

    @property
    def is_taken(self) -> bool:
        return self.is_approved or self.is_edited

    @property
    def is_rejected(self) -> bool:
        return self.verdict == Hunk.Verdict.REJECTED

    @property
    def heard(self) -> tuple[tuple[Statement, bool], ...]:
        """Each statement, and whether the quotes already show what supports it."""
        quoted = {
            (quote.session_pk, quote.line_no) for quote in self.quotes if quote.session_pk and quote.is_found
        }
        return tuple(
            (one, one.answer == "supported" and (one.session_pk, one.line_no) in quoted)
            for one in self.statements
        )

    @property
    def is_all_said(self) -> bool:
        """The quotes shown have every statement that comes, word for word or nearly so."""
        shown = [quote.quote for quote in self.quotes if quote.is_found]
        return bool(self.statements) and all(
            is_quoted and any(not says_more(one.text, quote, MOST_NEW) for quote in shown)
            for one, is_quoted in self.heard
        )

    @property
    def has_proof(self) -> bool:
        return len(self._whole_proof) > 0

    @property
    def _whole_proof(self) -> Proof:
        return Proof(self.quotes, () if self.is_all_said else self.heard, self.ledger)

    @property
    def open_proof(self) -> Proof:
        """What is read at once; what a session contradicts comes first."""
        return self._whole_proof.part(0, OPEN_PLACES, heard_first=self.contradicted > 0)

    @property
    def folded_proof(self) -> Proof:
        most = OPEN_PLACES + FOLDED_PLACES
        return self._whole_proof.part(OPEN_PLACES, most, heard_first=self.contradicted > 0)

    @property
    def rest_of_proof(self) -> int:
        """Places of evidence behind the open ones, folded or not on the page at all."""
        return max(0, len(self._whole_proof) - OPEN_PLACES)

    @property
    def proof(self) -> str:
        """What the folded evidence holds, in words; what is contradicted is called out beside them."""
        said = [plural(len(self.quotes), "quote")] if self.quotes else []
        if self.is_all_said:
            said[-1] += " that says all of this" if len(self.quotes) == 1 else " that say all of this"
        if self.ledger:
            said.append("where it went" if len(self.ledger) == 1 else f"where {len(self.ledger)} lines went")
        if self.statements and not self.is_all_said:
            said.append(review_heard.summary(one for one in self.statements if one.answer != "contradicted"))
        return ", ".join(filter(None, said))

    @property
    def contradicted(self) -> int:
        """Statements that a session says otherwise."""
        return sum(one.answer == "contradicted" for one in self.statements)

    @property
    def missing(self) -> int:
        """Quotes that do not stand where they are said to."""
        return sum(not quote.is_found for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class FileCard:
    """One file. `was` is its old name, where it only got another one. `secrets` stand in what changes or did; `is_bare`
    shows them."""

    pk: int
    path: str
    was: str
    letter: str
    kind: str
    memory_type: str
    memory_pk: int | None
    changed_at: dt.datetime | None
    base_sha: str
    hunks: tuple[HunkCard, ...]
    findings: tuple[Remark, ...]
    is_viewed: bool
    is_open: bool
    is_stale: bool
    is_rebased: bool
    has_conflict: bool
    is_text: bool
    standing: int
    undecided: int
    free: int
    changes: int
    href: str
    undo_href: str
    view: str
    rendered: Rendered | None
    secrets: int
    is_bare: bool

    @property
    def folder(self) -> str:
        """Of a path too long for a head that stays in sight: it stands above it. Else ""."""
        folder, slash, _ = self.path.rpartition("/")
        return folder + slash if len(self.path) > LONG_PATH else ""

    @property
    def name(self) -> str:
        """The path, or the rest of a long one."""
        return self.path.removeprefix(self.folder)

    @property
    def can_approve(self) -> bool:
        """The whole file with one verdict: not while a finding wants to be looked at."""
        return self.is_open and self.undecided > 0 and self.free == self.undecided
