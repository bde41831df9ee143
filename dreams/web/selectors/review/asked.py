"""What of a review is asked for: one file, a part of the list, a kind of view; and which files that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from dreams import blobs
from dreams.models import Operation, Proposal
from dreams.web.selectors.review.listing import Entry
from dreams.web.selectors.review.loaded import Loaded, address
from dreams.web.selectors.review.texts import of as texts_of

FILTERS: Final = {"": "All", "undecided": "Undecided", "findings": "Findings", "unseen": "Not viewed"}
# As they go on in "3 files …".
FILTERED: Final = {"undecided": "undecided", "findings": "with findings", "unseen": "not viewed"}
LETTER_WORDS: Final = {"A": "Added", "M": "Changed", "R": "Renamed", "D": "Removed"}
MOST_TYPED: Final = 100
# A pk or a place in the list; more digits are no number of ours.
MOST_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Asked:
    """One file alone, a filter of the list, words to look for, a kind of change, a folder, where the list starts, a page
    of changes or the change that is to be on it."""

    file: int | None = None
    hunk: int | None = None
    page: int = 1
    show: str = ""
    q: str = ""
    kind: str = ""
    folder: str = ""
    start: int = 0
    view: str = ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.show or self.q or self.kind or self.folder)

    @property
    def query(self) -> dict[str, str]:
        """The filter as the page's address carries it."""
        return {"show": self.show, "q": self.q, "kind": self.kind, "folder": self.folder}

    def to(self, proposal: Proposal, anchor: str = "", **changes: object) -> str:
        """The page with the same filter and `changes`. Absolute, as a refused form is answered at its own address."""
        page = self.page if self.page > 1 else ""
        query = {
            **self.query,
            "start": self.start or "",
            "page": page,
            "hunk": self.hunk,
            "view": self.view,
            **changes,
        }
        given = {key: str(value) for key, value in query.items() if value not in (None, "")}
        return address(proposal, anchor=anchor, **given)

    @property
    def words(self) -> str:
        """ "undecided, dated, in topics/, with “alpha”": the filter as a person reads it."""
        said = [FILTERED[self.show]] if self.show else []
        said += [kinds()[self.kind].lower()] if self.kind else []
        said += [f"in {self.folder}"] if self.folder else []
        said += [f"with “{self.q}”"] if self.q else []
        return ", ".join(said)


def kinds() -> dict[str, str]:
    """What the list can be narrowed to: what happens to a file, then why."""
    return {**LETTER_WORDS, **{kind.value: str(kind.label) for kind in Operation.Kind}}


def asked_of(query: QueryDict) -> Asked:
    """From an address; what is not known is as if it had not been said."""
    show, kind = query.get("show", ""), query.get("kind", "")
    return Asked(
        file=_number(query.get("file", "")),
        hunk=_number(query.get("hunk", "")),
        page=_number(query.get("page", "")) or 1,
        show=show if show in FILTERS else "",
        q=query.get("q", "").strip()[:MOST_TYPED],
        kind=kind if kind in kinds() else "",
        folder=query.get("folder", "")[:MOST_TYPED],
        start=_number(query.get("start", "")) or 0,
        view=query.get("view", ""),
    )


def _number(typed: str) -> int | None:
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= MOST_DIGITS else None


def listed(loaded: Loaded, all_entries: Iterable[Entry], asked: Asked) -> list[Entry]:
    """The entries that pass every part of the filter. Only a search by words reads texts."""
    passing = [entry for entry in all_entries if passes(entry, asked.show) and _is_of(entry, asked)]
    if not asked.q:
        return passing
    found = _with_words(loaded, asked.q)
    return [entry for entry in passing if entry.pk in found]


def passes(entry: Entry, show: str) -> bool:
    if show == "undecided":
        return "pending" in entry.dots
    if show == "findings":
        return entry.findings + entry.confirmed > 0
    return not (show == "unseen" and entry.is_viewed)


def _is_of(entry: Entry, asked: Asked) -> bool:
    of_kind = not asked.kind or asked.kind == entry.letter or asked.kind in entry.kinds
    return of_kind and entry.folder.startswith(asked.folder)


def _with_words(loaded: Loaded, typed: str) -> set[int]:
    """Files that hold all the words in their path, their changed lines, or the reasons for them."""
    words = typed.casefold().split()
    texts = blobs.get_many(sha for file in loaded.files for sha in (file.base_sha, file.new_sha))
    reasons = dict(loaded.proposal.operations.values_list("pk", "reason"))
    found = set()
    for file in loaded.shown_files:
        said = _said(loaded, [part.pk for part in loaded.parts_of(file)], texts, reasons).casefold()
        if all(word in said for word in words):
            found.add(file.pk)
    return found


def _said(loaded: Loaded, pks: Sequence[int], texts: Mapping[str, bytes], reasons: Mapping[int, str]) -> str:
    said = []
    for file in loaded.files:
        if file.pk in pks:
            rows = loaded.hunks[file.pk]
            said += [file.path, *(reasons.get(row.operation_id or 0, "") for row in rows)]
            said += [hunk.removed + hunk.added for _, hunk in texts_of(file, rows, texts).hunks]
    return "\n".join(said)


def choices(all_entries: Sequence[Entry]) -> tuple[list[tuple[str, str]], list[str]]:
    """The kinds and the folders that this proposal has: what a narrowing can be made from."""
    there = {entry.letter for entry in all_entries} | {kind for entry in all_entries for kind in entry.kinds}
    folders = sorted({entry.folder for entry in all_entries if entry.folder})
    return [(key, label) for key, label in kinds().items() if key in there], folders


__all__ = ["FILTERS", "Asked", "asked_of", "choices", "kinds", "listed", "passes"]
