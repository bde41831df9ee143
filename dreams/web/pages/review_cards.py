"""The cards of the review page: one decision each, with its changes, evidence, findings, ledger and file. Made for the
decisions of one page.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.models import Evidence, FileChange, Finding, Hunk, LedgerEntry, Memory, Proposal
from dreams.services.proposals.decisions import line_of
from dreams.web.pages import diffs, review_evidence as proof, review_filter
from dreams.web.pages.diffs import Block
from dreams.web.pages.review_evidence import CardEvidence, Remark
from dreams.web.pages.review_filter import LETTERS, OPEN_LINES, Batch, Passing, Window, file_batch
from dreams.web.pages.review_proposal import (
    LoadedDecision,
    LoadedProposal,
    ReviewState,
    address,
    by_severity,
)
from dreams.web.pages.review_texts import (
    FileTexts,
    Rendered,
    TextSight,
    Ties,
    by_hunk,
    file_texts,
    rendered,
    shas,
    sight,
    texts_of,
)

LONG_PATH = 48  # letters that fit beside a card's buttons; chosen
# A change of many thousand lines would slow the page down; the rest is only counted.
MOST_LINES = 800
# A quote for two changes of one decision is shown once.
_SAME_QUOTE = ("source", "role", "quote", "at", "session_id", "place", "line_no", "found", "note")


@dataclass(frozen=True, slots=True)
class CardChange:
    """One change of a decision. `yours` is the diff from the proposed text to the person's; `goes_with`: the filter matches
    another part of the decision."""

    hunk: Hunk
    letter: str
    what: str
    memory: Memory | None
    blocks: tuple[Block, ...]
    cut: int
    said: dict[str, Any]
    edit_text: str
    edit_hides: int
    can_edit: bool
    yours: tuple[Block, ...]
    mends: tuple[dict[str, Any], ...]
    goes_with: bool

    @property
    def kind(self) -> str:
        return review_filter.LETTER_WORDS[self.letter]

    @property
    def line(self) -> int | None:
        """Its first line (1-based); None in a new or removed file."""
        added = (line.number for block in self.blocks for line in block.lines if line.kind == "ins")
        return next(added, None) or line_of(self.hunk) if self.letter == "M" else None

    @property
    def edit_rows(self) -> int:
        return min(18, max(2, self.edit_text.count("\n") + 1))


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """One decision, its texts masked."""

    decision: LoadedDecision
    reason: str
    parts: tuple[CardChange, ...]
    evidence: CardEvidence
    can_decide: bool
    can_approve: bool

    @property
    def pk(self) -> int:
        return self.decision.pk

    @property
    def main(self) -> CardChange:
        return self.parts[0]

    @property
    def undo_href(self) -> str:
        hunk = self.decision.main
        return _undo(hunk.file.proposal, path=hunk.file.path, hunk=hunk.hunk_id)


@dataclass(frozen=True, slots=True)
class FileCard:
    """One file with the decisions shown with it. `was` is its old name if it was renamed. `secrets` counts those in its old
    and new text; `is_bare` shows them. `decisions` also counts those on other pages."""

    change: FileChange
    was: str
    memory: Memory | None
    cards: tuple[ReviewCard, ...]
    elsewhere: tuple[tuple[str, str], ...]
    findings: tuple[Remark, ...]
    is_stale: bool
    is_gone: bool
    is_rebased: bool
    is_text: bool
    standing: int
    decisions: int
    batch: Batch
    rendered: Rendered | None
    secrets: int
    is_bare: bool

    @property
    def pk(self) -> int:
        return self.change.pk

    @property
    def letter(self) -> str:
        return "R" if self.was else LETTERS[self.change.kind]

    @property
    def kind(self) -> str:
        return review_filter.LETTER_WORDS[self.letter]

    @property
    def view(self) -> str:
        return "rendered" if self.rendered else ""

    @property
    def href(self) -> str:
        return address(self.change.proposal, file=self.pk)

    @property
    def undo_href(self) -> str:
        return _undo(self.change.proposal, path=self.change.path)

    @property
    def folder(self) -> str:
        """The folder, shown above the sticky head if the path is too long for it; else ""."""
        folder, slash, _ = self.change.path.rpartition("/")
        return folder + slash if len(self.change.path) > LONG_PATH else ""

    @property
    def name(self) -> str:
        """The path, or only the name if it is too long."""
        return self.change.path.removeprefix(self.folder)

    @property
    def has_buttons(self) -> bool:
        """Whether buttons for the file are useful: for more than one card's own buttons."""
        undecided = len(self.batch.undecided)
        return undecided > 1 or (undecided > 0 and bool(self.view))


@dataclass(frozen=True, slots=True)
class Material:
    """The data for all cards, read at once. `said`: hunk → its findings, worst first; None → those on a file."""

    passing: Passing
    window: Window
    state: ReviewState
    sight: TextSight
    heard: Mapping[int, list[dict[str, object]]]
    said: Mapping[int | None, list[Finding]]
    evidence: Mapping[int, list[Evidence]]
    ties: Ties
    texts: Mapping[int, FileTexts]

    @property
    def loaded(self) -> LoadedProposal:
        return self.passing.loaded

    def quotes(self, rows: Iterable[Hunk]) -> tuple[Evidence, ...]:
        found: dict[tuple[object, ...], Evidence] = {}
        for one in (one for row in rows for one in self.evidence.get(row.pk, ())):
            found.setdefault(tuple(getattr(one, name) for name in _SAME_QUOTE), one)
        return tuple(found.values())

    def findings(self, rows: Iterable[Hunk]) -> list[Finding]:
        return [finding for row in rows for finding in self.said.get(row.pk, ())]

    def findings_on(self, files: Iterable[FileChange]) -> list[Finding]:
        """Findings on the files as such, not on their lines."""
        pks = {file.pk for file in files}
        return [finding for finding in self.said.get(None, ()) if finding.file_id in pks]


def cards(passing: Passing, window: Window, state: ReviewState, view: str = "") -> list[FileCard]:
    """The files of the page with their decisions. At most six queries in all."""
    made_from = _gather(passing, window, state)
    return [_file_card(made_from, file, view) for file in window.files]


def _gather(passing: Passing, window: Window, state: ReviewState) -> Material:
    """Reads the texts, the sessions' answers, findings, evidence and ledger for all decisions together."""
    loaded = passing.loaded
    rows = [hunk for one in window.decisions for hunk in one.hunks]
    files = {hunk.file_id: hunk.file for hunk in rows} | {file.pk: file for file in window.files}
    texts = texts_of(loaded, files)
    seen = sight(loaded, texts)
    pks = [row.pk for row in rows]
    cited: dict[int, list[Evidence]] = defaultdict(list)
    for found in seen.rows(Evidence.objects.filter(hunk__in=pks).select_related("session"), "quote", "note"):
        cited[found.hunk_id].append(found)
    ledger = seen.rows(LedgerEntry.objects.filter(hunk__in=pks), "text", "target_text", "note")
    return Material(
        passing=passing,
        window=window,
        state=state,
        sight=seen,
        heard=dict(Hunk.objects.filter(pk__in=pks).values_list("pk", "transcript_verdicts")),
        said=_said(loaded, pks, seen),
        evidence=cited,
        ties=Ties(
            loaded,
            {one.key for one in window.decisions},
            {file.pk for file in window.files},
            by_hunk(ledger),
        ),
        texts={pk: file_texts(file, loaded.hunks[pk], seen.texts) for pk, file in files.items()},
    )


def _said(
    loaded: LoadedProposal, hunks: Sequence[int], seen: TextSight
) -> Mapping[int | None, list[Finding]]:
    rows = loaded.proposal.findings.filter(Q(hunk__in=hunks) | Q(hunk__isnull=True))
    found: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in by_severity(seen.rows(rows, "message", "message_parts")):
        found[finding.hunk_id].append(finding)
    return found


def _file_card(made_from: Material, file: FileChange, view: str) -> FileCard:
    loaded, state, texts = made_from.loaded, made_from.state, made_from.sight.texts
    old, found = loaded.renames.get(file.pk), made_from.texts[file.pk]
    paths = {part.path for part in loaded.parts_of(file)}
    before = texts.get(old.base_sha) if old else found.base
    read = rendered(found, before) if view == "rendered" and found.is_text else None
    shown = [one for one in made_from.window.decisions if one.file_id == file.pk]
    return FileCard(
        change=file,
        was=old.path if old else "",
        memory=loaded.memories.get(old.path if old else file.path),
        cards=() if read else tuple(_card(made_from, one) for one in shown),
        elsewhere=() if read else tuple(_elsewhere(made_from, file)),
        findings=proof.plain(
            made_from.findings_on(loaded.parts_of(file)),
            proof.Beside(loaded.proposal.project_id, state.is_open or state.waits),
        ),
        is_stale=not paths.isdisjoint(state.stale),
        is_gone=not paths.isdisjoint(state.gone),
        is_rebased=file in state.unconfirmed,
        is_text=found.is_text,
        standing=sum(h.applied_in_id is not None and h.undone_in_id is None for h in loaded.hunks[file.pk]),
        decisions=sum(one.file_id == file.pk for one in made_from.passing.decisions),
        batch=file_batch(loaded, shown, file, "rendered" if read else ""),
        rendered=read,
        secrets=made_from.sight.secrets_in(*shas(loaded, file)),
        is_bare=loaded.is_bare,
    )


def _elsewhere(made_from: Material, file: FileChange) -> Iterable[tuple[str, str]]:
    """(path, address) of each decision that changes the file but is shown with another, such as an index row with its memory."""
    loaded = made_from.loaded
    found = {
        one.key: one
        for row in loaded.hunks[file.pk]
        if (one := loaded.decision_of[row.pk]).file_id != file.pk
    }
    for one in found.values():
        yield one.main.file.path, made_from.ties.href(one.main)


def _card(made_from: Material, decision: LoadedDecision) -> ReviewCard:
    can_decide = made_from.state.is_open and not any(hunk.file.conflict for hunk in decision.hunks)
    can_approve = can_decide and not _is_refused(made_from, decision)
    quotes = made_from.quotes(decision.hunks)
    heard = _heard(made_from, decision)
    shown = _Shown(made_from, decision, can_approve, quotes, heard)
    parts = tuple(shown.parts())
    return ReviewCard(
        decision=decision,
        reason=made_from.sight.mask(decision.reason),
        parts=parts,
        evidence=CardEvidence(
            quotes, heard, tuple(shown.ledger), proof.first_quote(quotes) if parts[0].letter == "A" else None
        ),
        can_decide=can_decide,
        can_approve=can_approve,
    )


def _heard(made_from: Material, decision: LoadedDecision) -> tuple[proof.AddedStatement, ...]:
    """The statements to show. An index row repeats its memory: only its contradicted ones are included."""
    mask = made_from.sight.mask
    own = [hunk for hunk in decision.hunks if hunk is decision.main or not memdir.is_index(hunk.file.path)]
    rows = [hunk for hunk in decision.hunks if hunk not in own]
    found = proof.statements((made_from.heard[hunk.pk] for hunk in own), mask)
    repeated = proof.statements((made_from.heard[hunk.pk] for hunk in rows), mask)
    return (*(one for one in repeated if one.answer == "contradicted" and one not in found), *found)


def _is_refused(made_from: Material, decision: LoadedDecision) -> bool:
    """Whether one of its changes or their files has a finding that cannot be confirmed."""
    said = [*made_from.findings(decision.hunks), *made_from.findings_on(hunk.file for hunk in decision.hunks)]
    return any(finding.severity == Finding.Severity.REFUSE for finding in said)


class _Shown:
    """The changes of one decision for its card; `ledger` collects the entries of lines that are not shown."""

    def __init__(
        self,
        made_from: Material,
        decision: LoadedDecision,
        can_edit: bool,
        quotes: Sequence[Evidence],
        heard: Sequence[proof.AddedStatement],
    ) -> None:
        self.made_from, self.decision, self.can_edit = made_from, decision, can_edit
        self.quotes, self.heard = quotes, heard
        self.ledger: list[LedgerEntry] = []
        self.room = diffs.Room(MOST_LINES, OPEN_LINES)

    def parts(self) -> Iterable[CardChange]:
        loaded = self.made_from.loaded
        for hunk in self.decision.hunks:
            old = loaded.renames.get(hunk.file_id)
            if old is not None:
                [gone] = loaded.hunks[old.pk]
                yield self._part(
                    hunk, [gone, hunk], self._renamed(hunk, old), self._plain(hunk, is_whole=True)
                )
            elif hunk.file_id not in loaded.old_names:
                yield self._part(hunk, [hunk], self._block(hunk), self._plain(hunk))

    def _block(self, hunk: Hunk) -> tuple[Block, ...]:
        found = self.made_from.texts[hunk.file_id]
        hunks = found.as_shown() if self.made_from.state.is_open else found.as_submitted(hunk)
        made = diffs.blocks(text.decode(found.base or b""), hunks, hunk.file.path, only=hunk.hunk_id)
        is_new = hunk.file.kind == FileChange.Kind.ADD and not memdir.is_index(hunk.file.path)
        return tuple(diffs.without_frontmatter(block) if is_new else block for block in made)

    def _renamed(self, hunk: Hunk, old: FileChange) -> tuple[Block, ...]:
        """The diff of a renamed file, which is one decision on two rows."""
        base = text.decode(self.made_from.sight.texts.get(old.base_sha, b""))
        new = self.made_from.texts[hunk.file_id].whole(hunk)
        return tuple(diffs.blocks(base, diff.hunks(base, new, path=hunk.file.path), hunk.file.path))

    def _plain(self, hunk: Hunk, *, is_whole: bool = False) -> str:
        """The exact text for an edit: its secrets are not masked."""
        file = hunk.file
        found = file_texts(file, self.made_from.loaded.hunks[file.pk], self.made_from.sight.plain)
        if is_whole:
            return found.whole(hunk)
        return next(lines.added for lines in found.as_shown() if lines.id == hunk.hunk_id)

    def _part(self, hunk: Hunk, rows: Sequence[Hunk], blocks: tuple[Block, ...], typed: str) -> CardChange:
        made_from, file = self.made_from, hunk.file
        found, memory = made_from.texts[file.pk], made_from.loaded.memories.get(file.path)
        can_edit = self.can_edit and found.is_text and bool(file.new_sha)
        letter = "R" if len(rows) > 1 else LETTERS[file.kind]
        shown, cut = self.room.fitted(self._tied(rows, blocks))
        whats = {block.what for block in blocks}
        return CardChange(
            hunk=hunk,
            letter=letter,
            what=whats.pop() if len(whats) == 1 else "",
            memory=memory,
            blocks=shown,
            cut=cut,
            said=self._said(hunk, rows),
            edit_text=typed.replace("\r\n", "\n"),
            edit_hides=made_from.sight.mask.count(typed),
            can_edit=can_edit,
            yours=self._yours(hunk, found) if hunk.verdict == Hunk.Verdict.EDITED else (),
            mends=self._mends(rows) if can_edit else (),
            goes_with=made_from.passing.goes_with(hunk),
        )

    def _yours(self, hunk: Hunk, found: FileTexts) -> tuple[Block, ...]:
        """The diff from the proposed text to the person's."""
        proposed = next(lines.added for row, lines in found.hunks if row.pk == hunk.pk)
        made = diff.hunks(proposed, found.edited[hunk.hunk_id], path=hunk.file.path)
        return tuple(diffs.blocks(proposed, made, hunk.file.path, folds=False))

    def _said(self, hunk: Hunk, rows: Sequence[Hunk]) -> dict[str, Any]:
        """The findings on the change, and on its file if the file is not on the page."""
        made_from, state = self.made_from, self.made_from.state
        said = made_from.findings(rows)
        if hunk.file not in made_from.window.files:
            said += made_from.findings_on([hunk.file])
        beside = proof.Beside(
            made_from.loaded.proposal.project_id,
            state.is_open or (state.waits and hunk.applied_in_id is None),
            self.heard,
            any(not quote.found for quote in self.quotes),
            hunk.file.path,
        )
        return proof.said(said, beside)

    def _mends(self, rows: Sequence[Hunk]) -> tuple[dict[str, Any], ...]:
        """The offered fixes; none for a renamed file, which has two changes."""
        if len(rows) > 1:
            return ()
        [row] = rows
        ledger = self.made_from.ties.ledger.get(row.pk, ())
        parts = len(self.decision.hunks)
        return tuple(proof.offers(self.made_from.findings(rows), ledger, row, parts))

    def _tied(self, rows: Sequence[Hunk], blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        """The blocks with their lines' ties. The first row has the ledger of the removed lines."""
        ties = self.made_from.ties
        entries = ties.entries(rows[0])
        tied = tuple(ties.tied(rows[0], block, entries) for block in blocks)
        left = [entry for rest in entries.values() for entry in rest]
        if len(rows) > 1:
            # Most lines of a renamed file stay and are not shown as removed: they need no entry.
            new = self.made_from.texts[rows[-1].file_id].whole(rows[-1])
            stays = {line.strip() for line in diff.split_lines(new)}
            left = [entry for entry in left if entry.text.strip() not in stays]
        self.ledger += left
        return tied


def _undo(proposal: Proposal, **query: object) -> str:
    return f"{reverse('undo', args=[proposal.public_id])}?{urlencode(query)}"
