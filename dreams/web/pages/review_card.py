"""What the review page tells of one file and of one decision: the cards as the templates read them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dreams.findings.evidence import MOST_NEW
from dreams.lib.files.text import plural
from dreams.lib.prose.comparing import says_more
from dreams.models import LedgerEntry
from dreams.services.proposals.decisions import State
from dreams.web.pages import review_evidence as evidence
from dreams.web.pages.diffs import Block
from dreams.web.pages.review_evidence import Proof, Quote, Statement
from dreams.web.pages.review_findings import Offer, Remark, Said
from dreams.web.pages.review_rendered import Rendered
from dreams.web.pages.review_shown import Batch

LONG_PATH = 48
# Places of evidence that a card shows at once, and that are folded behind them.
OPEN_PLACES = 3
FOLDED_PLACES = 50


@dataclass(frozen=True, slots=True)
class Part:
    """One change of a decision. `yours` compares a person's own text with what was proposed; `goes_with`: the filter is
    about another part of the decision."""

    pk: int
    file_pk: int
    base_sha: str
    path: str
    letter: str
    kind: str
    line: int | None
    what: str
    memory_pk: int | None
    blocks: tuple[Block, ...]
    cut: int
    said: Said
    edit_text: str
    edit_hides: int
    is_removal: bool
    is_edited: bool
    can_edit: bool
    yours: tuple[Block, ...]
    mends: tuple[Offer, ...]
    goes_with: bool

    @property
    def edit_rows(self) -> int:
        return min(18, max(2, self.edit_text.count("\n") + 1))


@dataclass(frozen=True, slots=True)
class Card:
    """One decision. `seen` names the states of all files that it touches; `refused` why it cannot be approved; `told` is
    what a person said that a new memory will keep."""

    pk: int
    file_pk: int
    base_sha: str
    seen: str
    kind: str
    reason: str
    state: State
    decide_reason: str
    parts: tuple[Part, ...]
    told: Quote | None
    quotes: tuple[Quote, ...]
    statements: tuple[Statement, ...]
    ledger: tuple[LedgerEntry, ...]
    refused: str
    can_decide: bool
    can_approve: bool
    is_applied: bool
    is_undone: bool
    undo_href: str

    @property
    def main(self) -> Part:
        return self.parts[0]

    @property
    def others(self) -> tuple[Part, ...]:
        return self.parts[1:]

    @property
    def is_new(self) -> bool:
        """A memory that did not exist, told as a sentence."""
        return self.main.letter == "A"

    @property
    def is_edited(self) -> bool:
        return self.state == "edited"

    @property
    def is_taken(self) -> bool:
        return self.state in ("approved", "edited")

    @property
    def is_rejected(self) -> bool:
        return self.state == "rejected"

    @property
    def heard(self) -> tuple[tuple[Statement, bool], ...]:
        return evidence.beside(self.quotes, self.statements)

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
        beside = tuple(quote for quote in self.quotes if quote != self.told)
        return Proof(beside, () if self.is_all_said else self.heard, self.ledger)

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
        quotes = len(self._whole_proof.quotes)
        said = [plural(quotes, "quote")] if quotes else []
        if self.is_all_said and quotes:
            said[-1] += " that says all of this" if quotes == 1 else " that say all of this"
        if self.ledger:
            said.append("where it went" if len(self.ledger) == 1 else f"where {len(self.ledger)} lines went")
        if self.statements and not self.is_all_said:
            said.append(evidence.summary(one for one in self.statements if one.answer != "contradicted"))
        return ", ".join(filter(None, said))

    @property
    def contradicted(self) -> int:
        """Statements that a session says otherwise."""
        return sum(one.answer == "contradicted" for one in self.statements)

    @property
    def missing(self) -> int:
        """Quotes that were not found where they are said to be."""
        return sum(not quote.is_found for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A change of a file that is shown with another one, as the index row of a new memory."""

    label: str
    href: str


@dataclass(frozen=True, slots=True)
class FileCard:
    """One file with the decisions that are shown with it. `was` is its old name, where it only got another one.
    `secrets` are in what changes or were; `is_bare` shows them. `decisions` counts also those on other pages."""

    pk: int
    path: str
    was: str
    letter: str
    kind: str
    memory_type: str
    memory_pk: int | None
    changed_at: dt.datetime | None
    base_sha: str
    cards: tuple[Card, ...]
    elsewhere: tuple[Elsewhere, ...]
    findings: tuple[Remark, ...]
    is_viewed: bool
    is_open: bool
    is_stale: bool
    is_rebased: bool
    has_conflict: bool
    is_text: bool
    standing: int
    decisions: int
    batch: Batch
    href: str
    undo_href: str
    view: str
    rendered: Rendered | None
    secrets: int
    is_bare: bool

    @property
    def folder(self) -> str:
        """Of a path too long for a head that stays in sight: shown above it. Else ""."""
        folder, slash, _ = self.path.rpartition("/")
        return folder + slash if len(self.path) > LONG_PATH else ""

    @property
    def name(self) -> str:
        """The path, or the rest of a long one."""
        return self.path.removeprefix(self.folder)

    @property
    def has_buttons(self) -> bool:
        """For all of it at once: where that is more than one card's own buttons do."""
        undecided = len(self.batch.undecided)
        return undecided > 1 or (undecided > 0 and bool(self.view))
