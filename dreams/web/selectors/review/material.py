"""What the cards of the review page are made from: read at once for all the files that are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from dreams import memdir
from dreams.models import Evidence, FileChange, Finding, Hunk, LedgerEntry
from dreams.web.selectors.review import masked as review_masked
from dreams.web.selectors.review import quotes as review_quotes
from dreams.web.selectors.review import ties as review_ties
from dreams.web.selectors.review.loaded import HunkRow, Loaded, by_severity
from dreams.web.selectors.review.masked import TextSight
from dreams.web.selectors.review.quotes import Quote
from dreams.web.selectors.review.state import State
from dreams.web.selectors.review.ties import Ties


@dataclass(frozen=True, slots=True)
class Material:
    """`shown` are the files on the page, `only` those of their changes that are (None: all). `said`: hunk → its findings, worst first; None holds those on a file."""

    loaded: Loaded
    shown: set[int]
    only: frozenset[int] | None
    whole: Mapping[int, Hunk]
    said: Mapping[int | None, list[Finding]]
    evidence: Mapping[int, list[Evidence]]
    ties: Ties
    state: State
    sight: TextSight

    def quotes(self, rows: Iterable[HunkRow]) -> tuple[Quote, ...]:
        found = (review_quotes.quote(one) for row in rows for one in self.evidence.get(row.pk, ()))
        return tuple(dict.fromkeys(found))

    def findings(self, rows: Iterable[HunkRow]) -> list[Finding]:
        return [finding for row in rows for finding in self.said.get(row.pk, ())]

    def findings_on(self, files: Iterable[FileChange]) -> list[Finding]:
        """Those on the files themselves, on none of their lines."""
        pks = {file.pk for file in files}
        return [finding for finding in self.said.get(None, ()) if finding.file_id in pks]


def gather(
    loaded: Loaded,
    files: Sequence[FileChange],
    texts: Mapping[str, bytes],
    state: State,
    only: frozenset[int] | None,
) -> Material:
    """Five queries at most: whole rows, findings, evidence and ledger of all the files together, and memories named in
    it."""
    sight = review_masked.sight(loaded, texts)
    rows = [row for file in files for row in _rows(loaded, file, only)]
    hunks = [row.pk for row in rows]
    # With the parts decided together with them: a row of the index does not repeat what its memory's card shows.
    asked = {part.pk for row in rows for part in (loaded.together(row) if is_index(row) else [row])}
    evidence: dict[int, list[Evidence]] = defaultdict(list)
    cited = Evidence.objects.filter(hunk__in=asked).select_related("session")
    for found in sight.rows(cited, "quote", "note"):
        evidence[found.hunk_id].append(found)
    shown = {file.pk for file in files}
    ledger = sight.rows(LedgerEntry.objects.filter(hunk__in=hunks), "text", "target_text", "note")
    return Material(
        loaded=loaded,
        shown=shown,
        only=only,
        whole=Hunk.objects.filter(pk__in=hunks).select_related("operation").defer("claims").in_bulk(),
        said=_said(loaded, hunks, sight),
        evidence=evidence,
        ties=Ties(loaded, shown, only, review_ties.by_hunk(ledger)),
        state=state,
        sight=sight,
    )


def _rows(loaded: Loaded, file: FileChange, only: frozenset[int] | None) -> list[HunkRow]:
    """The file's changes that are on the page, with what is removed under its old name."""
    old = loaded.renames.get(file.pk)
    rows = [row for row in loaded.hunks[file.pk] if only is None or row.pk in only]
    return [*rows, *(loaded.hunks[old.pk] if old else ())]


def _said(loaded: Loaded, hunks: Sequence[int], sight: TextSight) -> Mapping[int | None, list[Finding]]:
    """Hunk → its findings, worst first; None holds those on a file. Beside those of `hunks` what nobody can confirm: it
    speaks against every part of its operation."""
    refused = Q(severity=Finding.Severity.REFUSE)
    rows = loaded.proposal.findings.filter(Q(hunk__in=hunks) | Q(hunk__isnull=True) | refused)
    found: dict[int | None, list[Finding]] = defaultdict(list)
    for finding in by_severity(sight.rows(rows, "message", "told")):
        found[finding.hunk_id].append(finding)
    return found


def is_index(row: HunkRow) -> bool:
    return row.file.path.rpartition("/")[2] == memdir.INDEX_NAME
