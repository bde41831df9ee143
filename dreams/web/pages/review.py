"""The review page: a proposal's files and the cards of its decisions. A fixed number of queries."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Min, Q

from dreams.lib.files.text import plural
from dreams.models import FileChange, Operation, Proposal
from dreams.services import host_requests, review
from dreams.services.apply import undoing
from dreams.services.proposals import decisions, summaries
from dreams.web.pages import review_evidence, review_proposal, undo
from dreams.web.pages.recall import loads
from dreams.web.pages.review_cards import FileCard, cards
from dreams.web.pages.review_evidence import Remark
from dreams.web.pages.review_filter import (
    FILTERS,
    LETTER_WORDS,
    LETTERS,
    Batch,
    Passing,
    ReviewQuery,
    Window,
    batch,
    choices,
    everything,
    filter_of,
    passing,
    window,
)
from dreams.web.pages.review_proposal import WORST, LoadedDecision, LoadedProposal, address, by_severity
from dreams.web.pages.review_texts import texts_of

# Filters of a closed review, which has nothing undecided.
ALWAYS: Final = frozenset({"", "findings"})
# Longer lists have pages.
LISTED: Final = 200
LINE: Final = 24


def entry_of(loaded: LoadedProposal, file: FileChange) -> dict[str, Any]:
    """One file in the list. `added` and `removed` count lines; once applied, the written ones. `dots` are verdicts in
    the order of its changes; `findings` counts unconfirmed ones, `worst` is their highest severity."""
    pks = {part.pk for part in loaded.parts_of(file)}
    rows = [hunk for pk in pks for hunk in loaded.hunks[pk]]
    if loaded.proposal.state == Proposal.State.APPLIED:
        rows = [hunk for hunk in rows if hunk.applied_in_id]
    said = [finding for pk in pks for finding in loaded.found_in.get(pk, ())]
    found = [finding for finding in said if finding.confirmed_at is None]
    folder, slash, name = file.path.rpartition("/")
    old = loaded.renames.get(file.pk)
    letter = "R" if old else LETTERS[file.kind]
    dots = tuple("undone" if hunk.undone_in_id else hunk.verdict for hunk in loaded.hunks[file.pk])
    return {
        "file": file,
        # For addresses and ids: a template would format the number, which takes longer.
        "key": str(file.pk),
        "folder": folder + slash,
        "name": name,
        # They would not fit on one line of the list.
        "is_long": len(folder + slash + name) > LINE,
        "was": old.path if old else "",
        "letter": letter,
        "kind": LETTER_WORDS[letter],
        "added": sum(hunk.new_count for hunk in rows),
        "removed": sum(hunk.base_count for hunk in rows),
        "dots": dots,
        "dots_words": _dots_words(dots),
        "worst": min((f.severity for f in found), key=WORST.index, default=""),
        "findings": len(found),
        "confirmed": len(said) - len(found),
        "note": "conflict" if file.conflict else "" if file.rebase_confirmed else "changed since",
    }


def _dots_words(dots: Iterable[str]) -> str:
    counted = Counter("undecided" if dot == "pending" else dot for dot in dots)
    words = ("approved", "edited", "rejected", "undone", "undecided")
    return ", ".join(f"{counted[word]} {word}" for word in words if counted[word])


def listing(found: Passing, shown: Window) -> dict[str, Any]:
    """One page of the list of files: `first` to `last` of `count` matches; `batch` are the decisions shown beside it."""
    loaded, asked = found.loaded, found.asked
    # A single file is shown beside the full list.
    files = found.files if asked.is_narrowed else loaded.shown_files
    page = files[asked.start : asked.start + LISTED]
    after = asked.start + LISTED
    own_kinds, folders = choices(loaded)
    viewed = sum(file.is_viewed for file in loaded.shown_files)
    return {
        "entries": [entry_of(loaded, file) for file in page],
        "count": len(files),
        "first": asked.start + 1,
        "last": asked.start + len(page),
        "filters": [filter_of(found, key) for key in FILTERS if loaded.is_open or key in ALWAYS],
        "kinds": own_kinds,
        "folders": folders,
        "viewed_words": f"{viewed} of {plural(len(loaded.shown_files), 'file')} viewed",
        "files": len(loaded.shown_files),
        "batch": batch(loaded, "listed", shown.decisions),
        "size": plural(found.count(found.decisions), "decision"),
        "before": asked.to(loaded.proposal, start=max(0, asked.start - LISTED)) if asked.start else "",
        "after": asked.to(loaded.proposal, start=after) if after < len(files) else "",
    }


@dataclass(frozen=True, slots=True)
class Bar:
    """The progress of the review in decisions, and what a submit would do. Approved decisions that are not written yet:
    `clashing` for one of the files with `conflicts`, `stale` for one that changed since and is not confirmed, `for_second` in one
    that needs a second person; `files` counts the files of the others. `batch` is for all decisions, if no filter hides any. `refuses`
    says why nothing can be submitted now."""

    total: int
    approved: int
    clashing: int
    conflicts: int
    stale: int
    for_second: int
    rejected: int
    undecided: int
    files: int
    batch: Batch
    waiting: int
    waits_at: LoadedDecision | None
    next_open: str
    digest: str
    answers: str
    refuses: str
    is_dreamt: bool

    @property
    def decided(self) -> int:
        return self.total - self.undecided

    @property
    def is_ready(self) -> bool:
        return bool(self.decided) and not self.waiting and not self.refuses

    @property
    def is_quick(self) -> bool:
        """Whether one button can approve everything: no finding, no conflict, no verdict so far."""
        return self.total > 0 and len(self.batch.free) == self.total and not self.refuses

    @property
    def sentence(self) -> str:
        """What "Submit review" will do."""
        if self.refuses:
            return self.refuses
        if not self.decided:
            return "Decide on a change first; nothing is written until you submit."
        said = []
        if writes := self.approved - self.clashing - self.stale - self.for_second:
            said.append(f"writes {plural(writes, 'decision')} to {plural(self.files, 'file')}")
        if self.clashing:
            conflict = "conflict is" if self.conflicts == 1 else f"conflicts in {self.conflicts} files are"
            said.append(f"leaves {self.clashing} waiting until the {conflict} solved")
        if self.stale:
            said.append(f"leaves {self.stale} waiting until you have checked what changed since")
        if self.for_second:
            said.append(f"leaves {self.for_second} waiting for a second person")
        if self.rejected:
            said.append(f"rejects {self.rejected}")
        if self.undecided:
            said.append(f"leaves {self.undecided} undecided{' for a later dream' if self.is_dreamt else ''}")
        return ", ".join(said).capitalize() + "."


def desk(loaded: LoadedProposal, asked: ReviewQuery) -> dict[str, Any]:
    """All data of the page. `window` is the page of decisions that `files` shows as cards."""
    found = passing(loaded, asked)
    shown = window(found)
    state = review_proposal.state(loaded, loaded.files)
    files = cards(found, shown, state, asked.view)
    on_page = (card for file in files for card in file.cards)
    return {
        "head": head(loaded),
        "state": state,
        "listing": listing(found, shown),
        "files": files,
        "first_open": next((card.pk for card in on_page if card.decision.is_open), None),
        "unseen_result": _unseen_result(state, shown),
        "window": shown,
        "bar": bar(found, state),
        "loads": loads(loaded, texts_of(loaded, ())),
        "general": _general(loaded.proposal, state),
        # Changes that the dream did not propose because a person rejected them before.
        "left_out": loaded.proposal.dream.left_out if loaded.proposal.dream else (),
    }


def _unseen_result(state: review_proposal.ReviewState, window: Window) -> str:
    """The address of an unconfirmed new result that is not on this page: only visible results can be confirmed."""
    shown = {hunk.file_id for one in window.decisions for hunk in one.hunks}
    loaded = state.loaded
    unseen = [f for f in state.unconfirmed if loaded.hunks[f.pk] and f.pk not in shown]
    return address(loaded.proposal, file=unseen[0].pk, anchor=f"file-{unseen[0].pk}") if unseen else ""


def some_cards(
    found: Passing, pks: Collection[int], files: Collection[int] = (), view: str = ""
) -> list[FileCard]:
    """For a fragment: the decisions at these hunks, and these files with their decisions on the page."""
    loaded = found.loaded
    part = [
        one for one in loaded.decisions if one.pk in pks or (one.file_id in files and one in found.decisions)
    ]
    homes = {one.file_id for one in part} | set(files)
    shown = [file for file in loaded.shown_files if file.pk in homes]
    # Only these are compared with the disk.
    rows = [row for file in shown for row in loaded.parts_of(file)]
    state = review_proposal.state(loaded, rows)
    return cards(found, Window(tuple(part), tuple(shown), total=len(part)), state, view)


def bar(found: Passing, state: review_proposal.ReviewState) -> Bar:
    loaded = found.loaded
    every = loaded.decisions
    states = [one.state for one in every]
    taken = [one for one in every if one.is_taken]
    clashing = _waiting_for(taken, {file.path for file in state.conflicts})
    shared = {
        file.pk
        for file in review.lacking_second(loaded.proposal, {h.file for one in taken for h in one.hunks})
    }
    rest = [one for one in taken if one not in clashing]
    stale = _waiting_for(rest, {*state.stale, *(file.path for file in state.unconfirmed)})
    rest = [one for one in rest if one not in stale]
    for_second = [one for one in rest if any(hunk.file_id in shared for hunk in one.hunks)]
    writes = [
        hunk
        for one in rest
        if one not in for_second
        for hunk in one.hunks
        if hunk.file_id not in loaded.old_names
    ]
    in_way = review.filter_blocking(loaded.findings, [hunk for hunk in loaded.all_hunks if hunk.is_taken])
    hunks, files = {found.hunk_id for found in in_way}, {f.file_id for f in in_way if f.hunk_id is None}
    first = next((one for one in every if one.is_open), None)
    return Bar(
        total=len(every),
        approved=len(taken),
        clashing=len(clashing),
        conflicts=len({hunk.file_id for one in clashing for hunk in one.hunks if hunk.file.conflict}),
        stale=len(stale),
        for_second=len(for_second),
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
        refuses=_refuses(loaded.proposal, state),
        is_dreamt=loaded.proposal.origin == Proposal.Origin.DREAM,
    )


def _waiting_for(taken: Iterable[LoadedDecision], paths: Collection[str]) -> list[LoadedDecision]:
    """The decisions about these files, and about files that are only written together with one of them."""
    every = [(one, {hunk.file.path for hunk in one.hunks}) for one in taken]
    held = set(paths)
    while more := set().union(*(files for _, files in every if files & held)) - held:
        held |= more
    return [one for one, files in every if files & held]


def _refuses(proposal: Proposal, state: review_proposal.ReviewState) -> str:
    if host := host_requests.refuses(proposal.project):
        return f"Can be submitted on {host}, which has the files."
    if state.is_away:
        return "Can be submitted once the folder is back."
    if state.leads_to:
        return "Can be submitted once it is brought up to date: the folder is another one now."
    return ""


def where(found: Passing, decision: LoadedDecision) -> str:
    """The address of a decision: with the current filter, unless that hides it."""
    asked, proposal, anchor = found.asked, found.loaded.proposal, f"hunk-{decision.pk}"
    if any(one.key == decision.key for one in found.decisions):
        return asked.to(proposal, anchor, file=asked.file, page="", hunk=decision.pk)
    return address(proposal, hunk=decision.pk, anchor=anchor)


def _general(proposal: Proposal, state: review_proposal.ReviewState) -> Sequence[Remark]:
    found = by_severity(proposal.findings.filter(hunk__isnull=True, file__isnull=True))
    return review_evidence.plain(
        found, review_evidence.Beside(proposal.project_id, state.is_open or state.waits)
    )


def head(loaded: LoadedProposal) -> dict[str, Any]:
    """The summary above the files; an answer to a question changes it."""
    proposal = loaded.proposal
    reviewed: Mapping[str, object] = {}
    if proposal.dream is not None:
        moment = Min("session__last_at", filter=Q(session__last_at__isnull=False))
        reviewed = proposal.dream.reviewed.aggregate(count=Count("pk"), since=moment)
    since = reviewed.get("since")
    counted = decisions.Counts(decisions=len(loaded.decisions), changes=len(loaded.shown_hunks))
    # A written undo is told by what it undid; its own decisions matter only while it is decided.
    undone = undoing.undone_by(proposal)
    return {
        "size": undo.size(undone) if undone else counted.words,
        "files": len(loaded.shown_files),
        "sessions": int(str(reviewed.get("count", 0))),
        "since": since if isinstance(since, dt.datetime) else None,
        # Unfinished work has its own summary; the words of a dream are on its page.
        "why": proposal.summary if proposal.partial else summaries.reason(proposal),
        "unlisted": () if loaded.is_open else _unlisted(loaded),
    }


def _unlisted(loaded: LoadedProposal) -> Sequence[Operation]:
    """The decisions of a dream that lost all their changes, because after a submit only what was decided is merged into a
    file that changed on disk."""
    if loaded.proposal.origin != Proposal.Origin.DREAM or not any(file.rebased_from for file in loaded.files):
        return ()
    return list(loaded.proposal.operations.filter(hunks=None))
