"""The review page: a proposal as the list of its files and the cards of its decisions, in a fixed number of queries.

Cards are made for one page of decisions. Texts come from blobs; of the disk only the state of the proposal's own files
is asked, to say that one changed since.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Min, Q

from dreams.findings.base import Found
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.models import DreamRun, Hunk, Proposal
from dreams.services import review
from dreams.services.proposals import decisions, summaries
from dreams.web.pages import diffs, review_findings, review_state
from dreams.web.pages.review_card import FileCard
from dreams.web.pages.review_cards import cards
from dreams.web.pages.review_findings import Remark
from dreams.web.pages.review_index import Loads, loads
from dreams.web.pages.review_list import Listing, listing
from dreams.web.pages.review_loaded import (
    Decision,
    Loaded,
    address,
    by_severity,
    file_texts,
    masked,
    texts_of,
)
from dreams.web.pages.review_shown import Asked, Batch, Passing, Window, everything, passing, window
from dreams.web.pages.sight import Sight


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
    why: str
    size: str
    files: int
    sessions: int
    since: dt.datetime | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """Where the review is, in decisions, and what submitting it would do. `clashing` are approved ones of a file that
    waits for a choice: they are not written before; `files` are those of the others. `batch` is for one
    press on all of it: only where nothing is hidden."""

    total: int
    approved: int
    clashing: int
    rejected: int
    undecided: int
    files: int
    batch: Batch
    waiting: int
    waits_at: Decision | None
    next_open: str
    digest: str
    answers: str

    @property
    def decided(self) -> int:
        return self.total - self.undecided

    @property
    def is_quick(self) -> bool:
        """Nothing wants a closer look: no finding, no conflict, no verdict so far. One button does it all."""
        return self.total > 0 and len(self.batch.free) == self.total

    @property
    def sentence(self) -> str:
        """What "Submit review" does."""
        if not self.decided:
            return "Decide on a change first; nothing is written before you submit."
        said = []
        if writes := self.approved - self.clashing:
            said.append(f"writes {plural(writes, 'decision')} to {plural(self.files, 'file')}")
        if self.clashing:
            said.append(f"holds {self.clashing} until the conflict is solved")
        if self.rejected:
            said.append(f"rejects {self.rejected}")
        if self.undecided:
            said.append(f"leaves {self.undecided} undecided for a later dream")
        return ", ".join(said).capitalize() + "."


@dataclass(frozen=True, slots=True)
class LeftBefore:
    """A change the dream would have proposed again, had a person not rejected it before."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Desk:
    """The whole page. `window` is the page of decisions that the cards of `files` are."""

    head: Head
    state: review_state.State
    listing: Listing
    files: list[FileCard]
    window: Window
    bar: Bar
    loads: Loads | None
    general: Sequence[Remark]
    left_out: list[LeftBefore]

    @property
    def first_open(self) -> int | None:
        """The first decision on this page that waits."""
        shown = (card for file in self.files for card in file.cards)
        return next((card.pk for card in shown if card.state == "undecided"), None)


def desk(loaded: Loaded, asked: Asked) -> Desk:
    found = passing(loaded, asked)
    shown = window(found)
    state = review_state.state(loaded.proposal, loaded.files, loaded.all_hunks, loaded.memories)
    return Desk(
        head=_head(loaded),
        state=state,
        listing=listing(found, shown),
        files=cards(found, shown, state, asked.view),
        window=shown,
        bar=bar(found),
        loads=loads(loaded, texts_of(loaded, ())),
        general=_general(loaded.proposal, state),
        left_out=_left_out(loaded.proposal),
    )


def some_cards(
    found: Passing, pks: Collection[int], files: Collection[int] = (), view: str = ""
) -> list[FileCard]:
    """For a fragment: the decisions shown at these hunks, and these files with what the page shows of them."""
    loaded = found.loaded
    part = [
        one for one in loaded.decisions if one.pk in pks or (one.file_id in files and one in found.decisions)
    ]
    homes = {one.file_id for one in part} | set(files)
    shown = [file for file in loaded.shown_files if file.pk in homes]
    # Only these are looked at on disk.
    rows = [row for file in shown for row in loaded.parts_of(file)]
    state = review_state.state(loaded.proposal, rows, loaded.all_hunks, loaded.memories)
    return cards(found, Window(tuple(part), tuple(shown), total=len(part)), state, view)


def bar(found: Passing) -> Bar:
    loaded = found.loaded
    every = loaded.decisions
    states = [one.state for one in every]
    taken = [one for one in every if one.is_taken]
    clashing = [one for one in taken if any(hunk.file.conflict for hunk in one.hunks)]
    writes = [
        hunk
        for one in taken
        if one not in clashing
        for hunk in one.hunks
        if hunk.file_id not in loaded.old_names
    ]
    in_way = review.blocking(loaded.findings, [hunk for hunk in loaded.all_hunks if hunk.is_taken])
    hunks, files = {found.hunk_id for found in in_way}, {f.file_id for f in in_way if f.hunk_id is None}
    first = next((one for one in every if one.is_open), None)
    return Bar(
        total=len(every),
        approved=len(taken),
        clashing=len(clashing),
        rejected=states.count("rejected"),
        undecided=states.count("undecided"),
        files=len({hunk.file_id for hunk in writes}),
        batch=Batch("all") if found.asked.is_part else everything(loaded),
        waiting=len(in_way),
        waits_at=next(
            (one for one in every if any(h.pk in hunks or h.file_id in files for h in one.hunks)), None
        ),
        next_open=where(found, first) if first else "",
        digest=loaded.digest,
        answers=loaded.answers,
    )


def where(found: Passing, decision: Decision) -> str:
    """The address that shows a decision: with the filter that is on, or without it where that hides it."""
    asked, proposal, anchor = found.asked, found.loaded.proposal, f"hunk-{decision.pk}"
    if any(one.key == decision.key for one in found.decisions):
        return asked.to(proposal, anchor, file=asked.file, page="", hunk=decision.pk)
    return address(proposal, hunk=decision.pk, anchor=anchor)


@dataclass(frozen=True, slots=True)
class Typed:
    """An edit that is not kept yet: its lines against the current file, as it reads, and what the checks say."""

    blocks: tuple[diffs.Block, ...]
    text: str
    source: str
    findings: tuple[Found, ...]


def typed(loaded: Loaded, hunk: Hunk, preview: review.EditPreview) -> Typed:
    texts = texts_of(loaded, {hunk.file_id, *(old.pk for old in [loaded.renames.get(hunk.file_id)] if old)})
    mask = Sight.of([preview.text, *map(text.decode, texts.values())], is_bare=loaded.is_bare).mask
    texts, shown = masked(texts, mask), mask(preview.text)
    old = loaded.renames.get(hunk.file_id)
    if old is not None:
        base = text.decode(texts.get(old.base_sha, b""))
        made = diff.hunks(base, shown, path=hunk.file.path)
    else:
        found = file_texts(hunk.file, [hunk], texts)
        base = text.decode(found.base or b"")
        made = [replace(lines, new_lines=tuple(diff.split_lines(shown))) for _, lines in found.hunks]
    blocks = tuple(replace(b, above=None, below=None) for b in diffs.blocks(base, made, hunk.file.path))
    plain = preview.text.replace("\r\n", "\n")
    # A whole memory starts with its frontmatter, which is no text to read.
    read = shown.replace("\r\n", "\n")
    body = memdir.parse(read.encode()).body if not hunk.base_start else read
    return Typed(blocks, plain, diff.visible(body), _said_of(loaded, hunk, preview))


def _said_of(loaded: Loaded, hunk: Hunk, preview: review.EditPreview) -> tuple[Found, ...]:
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


def _general(proposal: Proposal, state: review_state.State) -> Sequence[Remark]:
    found = by_severity(proposal.findings.filter(hunk__isnull=True, file__isnull=True))
    return review_findings.plain(
        found, review_findings.Beside(proposal.project_id, state.is_open or state.waits)
    )


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
    counted = decisions.Counts(decisions=len(loaded.decisions), changes=len(loaded.shown_hunks))
    return Head(
        project=str(proposal.project),
        project_pk=proposal.project_id,
        public_id=proposal.public_id,
        dream=proposal.dream,
        origin=proposal.origin,
        origin_label=proposal.get_origin_display(),
        state=proposal.state,
        created_at=proposal.created_at,
        # Unfinished work says itself what it holds; a dream's own words are on its page.
        why=proposal.summary if proposal.partial else summaries.reason(proposal),
        size=counted.words,
        files=len(loaded.shown_files),
        sessions=int(str(reviewed.get("count", 0))),
        since=since if isinstance(since, dt.datetime) else None,
        is_open=loaded.is_open,
    )
