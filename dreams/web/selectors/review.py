"""The review page: a proposal as the list of its files and the cards of its hunks, in a fixed number of queries.

Cards are made for the first files only: the others come when they are scrolled to. Texts come from blobs; of the
disk only the state of the proposal's own files is asked (`review_state`), to say that one changed since.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Min, Q

from dreams import blobs
from dreams.models import DreamRun, FileChange, Finding, Proposal
from dreams.web.selectors import review_cards, review_index, review_state
from dreams.web.selectors.review_cards import FileCard
from dreams.web.selectors.review_index import Loads
from dreams.web.selectors.review_list import FILTERS, Bar, Entry, bar, entries, entry_of, passes
from dreams.web.selectors.review_loaded import Loaded, address, find, load

__all__ = [
    "FILTERS",
    "Asked",
    "Desk",
    "Loaded",
    "address",
    "bar",
    "desk",
    "entries",
    "find",
    "load",
    "loads",
    "some_cards",
]

SHOWN_FILES = 12
SHOWN_HUNKS = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the page is asked for: one file alone, a filter of the list, a file as it will read."""

    file: int | None = None
    show: str = ""
    view: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    project: str
    project_pk: int
    public_id: str
    dream: DreamRun | None
    origin: str
    origin_label: str
    state: str
    created_at: dt.datetime
    summary: str
    changes: int
    files: int
    sessions: int
    since: dt.datetime | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Later:
    """A file whose cards come when it is scrolled to, or by its link."""

    pk: int
    path: str
    changes: int
    href: str


@dataclass(frozen=True, slots=True)
class Desk:
    """The whole page."""

    head: Head
    state: review_state.State
    entries: list[Entry]
    cards: list[FileCard]
    later: list[Later]
    bar: Bar
    loads: Loads | None
    general: list[Finding]
    filters: list[tuple[str, str, int]]
    viewed: int
    left_out: list[LeftBefore]


@dataclass(frozen=True, slots=True)
class LeftBefore:
    """A change the dream would have proposed again, had a person not rejected it before."""

    path: str
    why: str


def desk(loaded: Loaded, asked: Asked) -> Desk:
    entries = [entry_of(loaded, file) for file in loaded.files]
    listed = [entry for entry in entries if passes(entry, asked.show)]
    shown = _shown(loaded, [entry.pk for entry in listed], asked)
    state = review_state.state(loaded.proposal, loaded.files, loaded.all_hunks, loaded.memories)
    texts = _texts(loaded, shown)
    wanted = [file for file in loaded.files if file.pk in shown]
    pks = {entry.pk for entry in listed} if asked.file is None else set()
    return Desk(
        head=_head(loaded),
        state=state,
        entries=listed,
        cards=review_cards.cards(loaded, wanted, texts, state, asked.view),
        later=[_later(loaded, file) for file in loaded.files if file.pk in pks - shown],
        bar=bar(loaded),
        loads=review_index.loads(loaded, texts),
        general=[finding for finding in loaded.said[None] if finding.file_id is None],
        filters=[(key, label, sum(passes(e, key) for e in entries)) for key, label in FILTERS.items()],
        viewed=sum(entry.is_viewed for entry in entries),
        left_out=_left_out(loaded.proposal),
    )


def some_cards(loaded: Loaded, file_pks: set[int], view: str = "") -> list[FileCard]:
    """The cards of these files alone, for a fragment."""
    files = [file for file in loaded.files if file.pk in file_pks]
    state = review_state.state(loaded.proposal, loaded.files, loaded.all_hunks, loaded.memories)
    return review_cards.cards(loaded, files, _texts(loaded, file_pks), state, view)


def loads(loaded: Loaded) -> Loads | None:
    return review_index.loads(loaded, _texts(loaded, set()))


def _texts(loaded: Loaded, shown: set[int]) -> Mapping[str, bytes]:
    """The blobs of the shown files and of the index, in one query."""
    return blobs.get_many(_shas(loaded, shown))


def _shas(loaded: Loaded, shown: set[int]) -> Iterator[str]:
    for file in loaded.files:
        if file.pk in shown or file.path == review_index.INDEX:
            yield from (file.base_sha, file.new_sha)
            yield from (hunk.edited_sha for hunk in loaded.hunks[file.pk])


def _shown(loaded: Loaded, listed: Sequence[int], asked: Asked) -> set[int]:
    if asked.file is not None:
        return {asked.file}
    shown: set[int] = set()
    hunks = 0
    for pk in listed[:SHOWN_FILES]:
        hunks += len(loaded.hunks[pk])
        if shown and hunks > SHOWN_HUNKS:
            break
        shown.add(pk)
    return shown


def _left_out(proposal: Proposal) -> list[LeftBefore]:
    kept = proposal.dream.left_out if proposal.dream is not None else []
    return [LeftBefore(str(item.get("path", "")), str(item.get("why", ""))) for item in kept]


def _later(loaded: Loaded, file: FileChange) -> Later:
    return Later(file.pk, file.path, len(loaded.hunks[file.pk]), address(loaded.proposal, file=file.pk))


def _head(loaded: Loaded) -> Head:
    proposal = loaded.proposal
    reviewed: Mapping[str, object] = {}
    if proposal.dream is not None:
        moment = Min("session__last_at", filter=Q(session__last_at__isnull=False))
        reviewed = proposal.dream.reviewed.aggregate(count=Count("pk"), since=moment)
    since = reviewed.get("since")
    return Head(
        project=str(proposal.project),
        project_pk=proposal.project_id,
        public_id=proposal.public_id,
        dream=proposal.dream,
        origin=proposal.origin,
        origin_label=proposal.get_origin_display(),
        state=proposal.state,
        created_at=proposal.created_at,
        summary=proposal.summary,
        changes=len(loaded.all_hunks),
        files=len(loaded.files),
        sessions=int(str(reviewed.get("count", 0))),
        since=since if isinstance(since, dt.datetime) else None,
        is_open=loaded.is_open,
    )
