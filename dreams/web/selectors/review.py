"""The review page: a proposal as the list of its files and the cards of its hunks, in a fixed number of queries.

Cards are made for the first files only: the others come when they are scrolled to. Texts come from blobs; of the
disk only the state of the proposal's own files is asked (`review_state`), to say that one changed since.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import Count, Min, Q
from django.urls import reverse

from dreams import blobs, review
from dreams.models import DreamRun, FileChange, Finding, Hunk, Memory, Proposal
from dreams.text import plural
from dreams.web.selectors import review_cards, review_index, review_state
from dreams.web.selectors.review_cards import FileCard
from dreams.web.selectors.review_index import Loads

LETTERS = {"add": "A", "modify": "M", "delete": "D"}
SHOWN_FILES = 12
SHOWN_HUNKS = 40
FILTERS = {"": "All", "undecided": "Undecided", "findings": "With findings", "unseen": "Not viewed"}
WORST = [severity.value for severity in Finding.Severity]
BAR_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the page is asked for: one file alone, a filter of the list, a file as it will read."""

    file: int | None = None
    show: str = ""
    view: str = ""


@dataclass
class Loaded:
    """A proposal with everything the page tells of it, except texts, evidence and ledger."""

    proposal: Proposal
    files: list[FileChange]
    hunks: Mapping[int, list[Hunk]]
    findings: list[Finding]
    memories: Mapping[str, Memory]

    @cached_property
    def all_hunks(self) -> list[Hunk]:
        return [hunk for file in self.files for hunk in self.hunks[file.pk]]

    @cached_property
    def parts(self) -> Mapping[int, list[Hunk]]:
        """Operation → its hunks, wherever they are."""
        found = defaultdict(list)
        for hunk in self.all_hunks:
            if hunk.operation_id is not None:
                found[hunk.operation_id].append(hunk)
        return found

    @cached_property
    def said(self) -> Mapping[int | None, list[Finding]]:
        """Hunk → its findings, worst first; None holds those on a file or on the whole."""
        found = defaultdict(list)
        for finding in sorted(self.findings, key=lambda f: WORST.index(f.severity)):
            found[finding.hunk_id].append(finding)
        return found

    def together(self, hunk: Hunk) -> list[Hunk]:
        """The hunk and the other parts of its operation."""
        return self.parts.get(hunk.operation_id or 0) or [hunk]

    @cached_property
    def digest(self) -> str:
        """Changes when any file of the proposal does: what a verdict on several files was made on."""
        states = "\n".join(f"{f.pk} {f.base_sha} {f.new_sha} {bool(f.conflict)}" for f in self.files)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    @property
    def is_open(self) -> bool:
        return self.proposal.state == Proposal.State.OPEN

    def without_findings(self, hunks: Sequence[Hunk]) -> list[Hunk]:
        """Those undecided ones that nothing speaks against, neither here nor in another part of the operation."""
        spoken_of = {file for finding in self.said[None] if _counts(finding) for file in [finding.file_id]}
        unsolved = {file.pk for file in self.files if file.conflict}
        return [
            hunk
            for hunk in hunks
            if hunk.verdict == Hunk.Verdict.PENDING
            and not any(
                part.file_id in unsolved | spoken_of or any(map(_counts, self.said.get(part.pk, ())))
                for part in self.together(hunk)
            )
        ]


def _counts(finding: Finding) -> bool:
    return finding.severity != Finding.Severity.INFO and finding.confirmed_at is None


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in the list. `dots` are verdicts in the order of the hunks."""

    pk: int
    folder: str
    name: str
    letter: str
    kind: str
    added: int
    removed: int
    added_width: float
    removed_width: float
    dots: tuple[str, ...]
    worst: str
    findings: int
    is_viewed: bool
    href: str
    note: str

    @property
    def dots_words(self) -> str:
        counted = Counter(self.dots)
        said = [f"{counted[word]} {word}" for word in ("approved", "edited", "rejected") if counted[word]]
        undecided = counted["pending"]
        return ", ".join([*said, *([f"{undecided} undecided"] if undecided else [])])


@dataclass(frozen=True, slots=True)
class Bar:
    """Where the review stands, and what submitting it would do."""

    total: int
    approved: int
    rejected: int
    files: int
    rest: int
    waiting: int
    digest: str

    @property
    def decided(self) -> int:
        return self.approved + self.rejected

    @property
    def undecided(self) -> int:
        return self.total - self.decided

    @property
    def rest_is_all(self) -> bool:
        return self.rest == self.undecided

    @property
    def is_quick(self) -> bool:
        """Nothing wants a closer look: no finding, no conflict, no verdict so far. One button does it all."""
        return self.total > 0 and self.rest == self.total

    @property
    def sentence(self) -> str:
        """What "Submit review" does."""
        if not self.decided:
            return "Decide on a change first; nothing is written before you submit."
        said = []
        if self.approved:
            said.append(f"Writes {plural(self.approved, 'change')} to {plural(self.files, 'file')}")
        if self.rejected:
            said.append(f"{'leaves' if said else 'Leaves'} out {self.rejected}")
        if self.undecided:
            said.append(f"{'leaves' if said else 'Leaves'} {self.undecided} undecided for a later dream")
        return ", ".join(said) + "."


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


def find(public_id: str) -> Proposal | None:
    """By its own id or by its dream's."""
    rows = Proposal.objects.select_related("project", "dream", "undoes", "undoes__dream")
    own = rows.filter(public_id=public_id).first()
    if own is not None:
        return own
    return rows.filter(dream__public_id=public_id).order_by("by_policy", "-pk").first()


def load(proposal: Proposal) -> Loaded:
    """Five queries, whatever the size of the proposal."""
    files = list(proposal.files.all())
    for file in files:
        file.proposal = proposal
    hunks: dict[int, list[Hunk]] = {file.pk: [] for file in files}
    by_pk = {file.pk: file for file in files}
    for hunk in Hunk.objects.filter(file__proposal=proposal).select_related("operation").order_by("number"):
        hunk.file = by_pk[hunk.file_id]
        hunks[hunk.file_id].append(hunk)
    memories = proposal.project.memories.filter(path__in=[file.path for file in files])
    return Loaded(proposal, files, hunks, list(proposal.findings.all()), {m.path: m for m in memories})


def desk(loaded: Loaded, asked: Asked) -> Desk:
    entries = [_entry(loaded, file) for file in loaded.files]
    listed = [entry for entry in entries if _passes(entry, asked.show)]
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
        filters=[(key, label, sum(_passes(e, key) for e in entries)) for key, label in FILTERS.items()],
        viewed=sum(entry.is_viewed for entry in entries),
        left_out=_left_out(loaded.proposal),
    )


def some_cards(loaded: Loaded, file_pks: set[int], view: str = "") -> list[FileCard]:
    """The cards of these files alone, for a fragment."""
    files = [file for file in loaded.files if file.pk in file_pks]
    state = review_state.state(loaded.proposal, loaded.files, loaded.all_hunks, loaded.memories)
    return review_cards.cards(loaded, files, _texts(loaded, file_pks), state, view)


def entries(loaded: Loaded, show: str = "") -> list[Entry]:
    return [e for e in (_entry(loaded, file) for file in loaded.files) if _passes(e, show)]


def loads(loaded: Loaded) -> Loads | None:
    return review_index.loads(loaded, _texts(loaded, set()))


def bar(loaded: Loaded) -> Bar:
    taken = [hunk for hunk in loaded.all_hunks if hunk.is_taken]
    in_way = [
        finding
        for finding in loaded.findings
        if finding.stands_in_the_way and (finding.hunk_id is None or finding.hunk_id in {h.pk for h in taken})
    ]
    return Bar(
        total=len(loaded.all_hunks),
        approved=len(taken),
        rejected=sum(hunk.verdict == Hunk.Verdict.REJECTED for hunk in loaded.all_hunks),
        files=len({hunk.file_id for hunk in taken}),
        rest=len(loaded.without_findings(loaded.all_hunks)),
        waiting=len(in_way),
        digest=loaded.digest,
    )


def address(proposal: Proposal, *, anchor: str = "", **query: object) -> str:
    """The page's address, at a file or a hunk."""
    given = {key: value for key, value in query.items() if value not in (None, "")}
    return (
        reverse("review", args=[proposal.public_id])
        + (f"?{urlencode(given)}" if given else "")
        + (f"#{anchor}" if anchor else "")
    )


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


def _passes(entry: Entry, show: str) -> bool:
    if show == "undecided":
        return "pending" in entry.dots
    if show == "findings":
        return entry.findings > 0
    return not (show == "unseen" and entry.is_viewed)


def _entry(loaded: Loaded, file: FileChange) -> Entry:
    hunks = loaded.hunks[file.pk]
    found = [f for f in loaded.findings if f.file_id == file.pk and f.severity != Finding.Severity.INFO]
    added, removed = sum(h.new_count for h in hunks), sum(h.base_count for h in hunks)
    scale = BAR_WIDTH / max(added + removed, BAR_WIDTH / 4)
    folder, _, name = file.path.rpartition("/")
    return Entry(
        pk=file.pk,
        folder=f"{folder}/" if folder else "",
        name=name,
        letter=LETTERS[file.kind],
        kind=file.get_kind_display(),
        added=added,
        removed=removed,
        added_width=round(added * scale, 1),
        removed_width=round(removed * scale, 1),
        dots=tuple(hunk.verdict for hunk in hunks),
        worst=min((f.severity for f in found), key=WORST.index, default=""),
        findings=len(found),
        is_viewed=review.is_viewed(file),
        href=address(loaded.proposal, file=file.pk, anchor=f"file-{file.pk}"),
        note="conflict" if file.conflict else "" if file.rebase_confirmed else "changed since",
    )


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
