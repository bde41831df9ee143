"""The review page: a proposal as the list of its files and the cards of its hunks, in a fixed number of queries.

Cards are made for one page of changes (`window`). Texts come from blobs; of the disk only the state of the proposal's own files is asked (`state`), to say that one changed since.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Min, Q

from dreams import blobs, memdir, review, text, textdiff
from dreams.findings.base import Found
from dreams.models import DreamRun, FileChange, Hunk, Proposal
from dreams.web.selectors import diffs
from dreams.web.selectors.review import cards as review_cards
from dreams.web.selectors.review import index
from dreams.web.selectors.review import masked as review_masked
from dreams.web.selectors.review import said as review_said
from dreams.web.selectors.review import state as review_state
from dreams.web.selectors.review import texts as review_texts
from dreams.web.selectors.review.asked import FILTERS, Asked, asked_of, choices, listed, passes
from dreams.web.selectors.review.card import FileCard
from dreams.web.selectors.review.index import Loads
from dreams.web.selectors.review.listing import Bar, Entry, bar, entries
from dreams.web.selectors.review.loaded import HunkRow, Loaded, address, by_severity, find, load
from dreams.web.selectors.review.said import Remark
from dreams.web.selectors.review.window import Window, window
from dreams.web.selectors.sight import Sight

__all__ = [
    "FILTERS",
    "Asked",
    "Desk",
    "Listing",
    "Loaded",
    "Typed",
    "address",
    "asked_of",
    "bar",
    "desk",
    "find",
    "listing",
    "load",
    "loads",
    "passing",
    "some_cards",
    "typed",
    "window_of",
]

# A list that is longer is walked page by page.
LISTED = 200
# What is decided is neither undecided nor to be viewed.
ALWAYS = frozenset({"", "findings"})


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
class Filter:
    """A part of the list that one link leads to."""

    label: str
    count: int
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list of files: `first` of `count` that pass, and what can be decided of all that pass."""

    entries: list[Entry]
    count: int
    first: int
    filters: list[Filter]
    kinds: list[tuple[str, str]]
    folders: list[str]
    viewed: int
    files: int
    free: int
    undecided: int

    before: str
    after: str

    @property
    def last(self) -> int:
        return self.first + len(self.entries) - 1


@dataclass(frozen=True, slots=True)
class LeftBefore:
    """A change the dream would have proposed again, had a person not rejected it before."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Desk:
    """The whole page. `window` is the page of changes that `cards` are."""

    head: Head
    state: review_state.State
    listing: Listing
    cards: list[FileCard]
    window: Window
    bar: Bar
    loads: Loads | None
    general: Sequence[Remark]
    left_out: list[LeftBefore]


def desk(loaded: Loaded, asked: Asked) -> Desk:
    listing_ = listing(loaded, asked)
    part = window_of(loaded, asked)
    files = [file for file in loaded.shown_files if file in part.files]
    texts = _texts(loaded, {file.pk for file in files})
    state = review_state.state(loaded.proposal, loaded.files, loaded.all_hunks, loaded.memories)
    return Desk(
        head=_head(loaded),
        state=state,
        listing=listing_,
        cards=review_cards.cards(loaded, files, texts, state, asked.view, part.hunks),
        window=part,
        bar=bar(loaded),
        loads=index.loads(loaded, texts),
        general=_general(loaded.proposal, state),
        left_out=_left_out(loaded.proposal),
    )


def passing(loaded: Loaded, asked: Asked) -> list[FileChange]:
    """The files that the filter lets through, on whatever page of the list they are."""
    pks = {entry.pk for entry in listed(loaded, entries(loaded), asked)}
    return [file for file in loaded.shown_files if file.pk in pks]


def window_of(loaded: Loaded, asked: Asked) -> Window:
    """The page of changes that is asked for: of one file, or of all that pass the filter."""
    files = _only(loaded, asked.file) if asked.file is not None else passing(loaded, asked)
    return window(loaded, files, asked)


def _only(loaded: Loaded, file_pk: int) -> list[FileChange]:
    """The file; of an old name, the new one."""
    return [f for f in loaded.shown_files if file_pk in {part.pk for part in loaded.parts_of(f)}]


def listing(loaded: Loaded, asked: Asked) -> Listing:
    every = entries(loaded)
    passing = listed(loaded, every, asked)
    page = passing[asked.start : asked.start + LISTED]
    rows = [hunk for entry in passing for hunk in loaded.hunks[entry.pk]]
    kinds, folders = choices(every)
    after = asked.start + LISTED
    return Listing(
        entries=page,
        count=len(passing),
        first=asked.start + 1,
        filters=[_filter(loaded, asked, key, every) for key in FILTERS if loaded.is_open or key in ALWAYS],
        kinds=kinds,
        folders=folders,
        viewed=sum(entry.is_viewed for entry in every),
        files=len(every),
        free=len(loaded.without_findings(rows)),
        undecided=sum(hunk.verdict == Hunk.Verdict.PENDING for hunk in rows),
        before=asked.to(loaded.proposal, start=max(0, asked.start - LISTED)) if asked.start else "",
        after=asked.to(loaded.proposal, start=after) if after < len(passing) else "",
    )


def _filter(loaded: Loaded, asked: Asked, key: str, every: Sequence[Entry]) -> Filter:
    return Filter(
        FILTERS[key],
        sum(passes(entry, key) for entry in every),
        asked.to(loaded.proposal, show=key, start="", page="", hunk="", view=""),
        key == asked.show,
    )


def some_cards(
    loaded: Loaded, file_pks: set[int], view: str = "", only: frozenset[int] | None = None
) -> list[FileCard]:
    """The cards of these files alone, for a fragment; of an old name, those of the new one. `only`: with these changes."""
    wanted = [f for f in loaded.shown_files if file_pks & {part.pk for part in loaded.parts_of(f)}]
    # Only these are looked at on disk.
    parts = [part for file in wanted for part in loaded.parts_of(file)]
    state = review_state.state(loaded.proposal, parts, loaded.all_hunks, loaded.memories)
    texts = _texts(loaded, {file.pk for file in wanted})
    return review_cards.cards(loaded, wanted, texts, state, view, only)


@dataclass(frozen=True, slots=True)
class Typed:
    """An edit that is not kept yet: its lines against what stands there, as it reads, and what the checks say."""

    blocks: tuple[diffs.Block, ...]
    text: str
    source: str
    findings: tuple[Found, ...]


def typed(loaded: Loaded, hunk: HunkRow, preview: review.EditPreview) -> Typed:
    texts = _texts(loaded, {hunk.file_id, *(old.pk for old in [loaded.renames.get(hunk.file_id)] if old)})
    mask = Sight.of([preview.text, *map(text.decode, texts.values())], is_bare=loaded.is_bare).mask
    texts, shown = review_masked.masked(texts, mask), mask(preview.text)
    old = loaded.renames.get(hunk.file_id)
    if old is not None:
        base = text.decode(texts.get(old.base_sha, b""))
        made = textdiff.hunks(base, shown, path=hunk.file.path)
    else:
        found = review_texts.of(hunk.file, [hunk], texts)
        base = text.decode(found.base or b"")
        made = [replace(lines, new_lines=tuple(textdiff.split_lines(shown))) for _, lines in found.hunks]
    blocks = tuple(replace(b, above=None, below=None) for b in diffs.blocks(base, made, hunk.file.path))
    plain = preview.text.replace("\r\n", "\n")
    # A whole memory starts with its frontmatter, which is no text to read.
    read = shown.replace("\r\n", "\n")
    body = memdir.parse(read.encode()).body if not hunk.base_start else read
    return Typed(blocks, plain, textdiff.visible(body), _said_of(loaded, hunk, preview))


def _said_of(loaded: Loaded, hunk: HunkRow, preview: review.EditPreview) -> tuple[Found, ...]:
    """What is said of the text itself, and what it makes new of the parts decided with it."""
    known = set(loaded.proposal.findings.values_list("key", flat=True))
    own = (hunk.file.path, hunk.hunk_id)
    return tuple(
        replace(found, message=found.told.remark or found.message)
        if (found.path, found.hunk_id) == own
        else found
        for found in preview.findings
        if (found.path, found.hunk_id) == own or found.key not in known
    )


def loads(loaded: Loaded) -> Loads | None:
    return index.loads(loaded, _texts(loaded, set()))


def _texts(loaded: Loaded, shown: set[int]) -> Mapping[str, bytes]:
    """The blobs of the shown files and of the index, in one query."""
    return blobs.get_many(_shas(loaded, shown))


def _shas(loaded: Loaded, shown: set[int]) -> Iterator[str]:
    for file in loaded.files:
        if file.pk in shown or file.path == index.INDEX:
            yield from review_texts.shas(loaded, file)


def _general(proposal: Proposal, state: review_state.State) -> Sequence[Remark]:
    found = by_severity(proposal.findings.filter(hunk__isnull=True, file__isnull=True))
    return review_said.plain(found, review_said.Beside(proposal.project_id, state.is_open or state.waits))


def _left_out(proposal: Proposal) -> list[LeftBefore]:
    kept = proposal.dream.left_out if proposal.dream is not None else []
    return [LeftBefore(str(item.get("path", "")), str(item.get("why", ""))) for item in kept]


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
        changes=len(loaded.shown_hunks),
        files=len(loaded.shown_files),
        sessions=int(str(reviewed.get("count", 0))),
        since=since if isinstance(since, dt.datetime) else None,
        is_open=loaded.is_open,
    )
