"""A proposal for its review: rows loaded once, decisions, state, and the files that changed on disk."""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.db.models import F, Q
from django.urls import reverse

from dreams.lib import memdir
from dreams.lib.files import text
from dreams.lib.secrets.spotting import spans
from dreams.models import FileChange, Finding, Hunk, Memory, Proposal
from dreams.services import blobs, host_requests, people, review
from dreams.services.apply import writing
from dreams.services.memories import syncing
from dreams.services.proposals import decisions, rebase, summaries, undos
from dreams.services.proposals.rows_to_hunks import renames as find_renames

#: Findings on the index as a whole. Approving in bulk ignores them, else each memory would be approved one by one.
_OF_NO_DECISION = frozenset({"index-over-budget"})

WORST = [severity.value for severity in Finding.Severity]
# The file that shows a decision: an added one, else a changed one, else a removed one.
_HOMES = {FileChange.Kind.ADD: 0, FileChange.Kind.MODIFY: 1, FileChange.Kind.DELETE: 2}


@dataclass(frozen=True, slots=True, eq=False)
class LoadedDecision:
    """The changes that one verdict decides. `hunks` are in reading order; the decision is shown with the first one's file."""

    key: int
    hunks: tuple[Hunk, ...]
    is_redo: bool = False

    @property
    def main(self) -> Hunk:
        return self.hunks[0]

    @property
    def pk(self) -> int:
        return self.main.pk

    @property
    def file_id(self) -> int:
        return self.main.file_id

    @property
    def state(self) -> decisions.State:
        return decisions.state(self.hunks)

    @property
    def is_open(self) -> bool:
        return self.state == "undecided"

    @property
    def is_taken(self) -> bool:
        return self.state in ("approved", "edited")

    @property
    def is_rejected(self) -> bool:
        return self.state == "rejected"

    @property
    def is_applied(self) -> bool:
        """Whether some of it is on disk."""
        return any(hunk.applied_in_id is not None and hunk.undone_in_id is None for hunk in self.hunks)

    @property
    def is_undone(self) -> bool:
        """Whether it was on disk and is completely undone."""
        return not self.is_applied and any(hunk.applied_in_id is not None for hunk in self.hunks)

    @property
    def seconds(self) -> list[str]:
        """Who approved it as the second person, in the current state of its files."""
        return sorted(
            {h.seconded_by for h in self.hunks if h.seconded_by and h.seconded_sha == h.file.state_sha}
        )

    @property
    def kind(self) -> str:
        return undos.kind(self.main.operation, is_redo=self.is_redo)

    @property
    def reason(self) -> str:
        return self.main.operation.reason if self.main.operation else ""

    @property
    def seen(self) -> str:
        """A digest of its verdicts and files, which a new verdict must match."""
        return decisions.digest(self.hunks)[:12]


@dataclass
class LoadedProposal:
    """A proposal with all its rows; hunks and findings without the texts that only a card needs."""

    proposal: Proposal
    files: list[FileChange]
    hunks: Mapping[int, list[Hunk]]
    findings: list[Finding]
    memories: Mapping[str, Memory]
    #: Secrets are not masked: a person asked for that.
    is_bare: bool = False

    @cached_property
    def all_hunks(self) -> list[Hunk]:
        return [hunk for file in self.files for hunk in self.hunks[file.pk]]

    @cached_property
    def decisions(self) -> list[LoadedDecision]:
        """In the order of the files that show them."""
        order = {file.pk: number for number, file in enumerate(self.files)}
        found = [
            LoadedDecision(key, tuple(sorted(rows, key=self._reading)), self.is_redo)
            for key, rows in decisions.grouped(self.all_hunks).items()
        ]
        return sorted(found, key=lambda one: (order[one.file_id], one.main.number))

    @cached_property
    def is_redo(self) -> bool:
        return undos.is_redo(self.proposal)

    def _reading(self, hunk: Hunk) -> tuple[object, ...]:
        file = hunk.file
        return (
            file.pk in self.old_names,
            memdir.is_index(file.path),
            _HOMES[FileChange.Kind(file.kind)],
            file.path,
            hunk.number,
        )

    @cached_property
    def decision_of(self) -> Mapping[int, LoadedDecision]:
        """Hunk → its decision."""
        return {hunk.pk: decision for decision in self.decisions for hunk in decision.hunks}

    @cached_property
    def renames(self) -> Mapping[int, FileChange]:
        """Added file → removed file, for renames that are one decision."""
        alone = [(file, rows[0].operation_id) for file in self.files if len(rows := self.hunks[file.pk]) == 1]
        return find_renames([(file, operation) for file, operation in alone if operation is not None])

    @cached_property
    def old_names(self) -> Mapping[int, FileChange]:
        """The reverse of `renames`: removed file → added file."""
        by_pk = {file.pk: file for file in self.files}
        return {old.pk: by_pk[new] for new, old in self.renames.items()}

    @cached_property
    def shown_files(self) -> list[FileChange]:
        """The files as shown: a renamed file only under its new name."""
        return [file for file in self.files if file.pk not in self.old_names]

    @cached_property
    def shown_hunks(self) -> list[Hunk]:
        """The changes of `shown_files`."""
        return [hunk for file in self.shown_files for hunk in self.hunks[file.pk]]

    def parts_of(self, file: FileChange) -> list[FileChange]:
        """The rows of one shown file: itself and, if renamed, its old name."""
        old = self.renames.get(file.pk)
        return [file, old] if old else [file]

    @cached_property
    def digest(self) -> str:
        """A digest of all files of the proposal."""
        states = "\n".join(f"{f.pk} {f.base_sha} {f.new_sha} {bool(f.conflict)}" for f in self.files)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    @property
    def answers(self) -> str:
        """A digest of all verdicts and edits."""
        states = "\n".join(f"{hunk.pk} {hunk.verdict} {hunk.edited_sha}" for hunk in self.all_hunks)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    def moved_since(self, digest: object, answers: object) -> str:
        """Why a form is outdated: its page had a different `digest` or different `answers`. Empty if it is not."""
        if digest != self.digest:
            return "The proposal changed since this page was shown. Look at it again; nothing was written."
        if answers != self.answers:
            return "Something was decided elsewhere since this page was shown. Look at it again; nothing was written."
        return ""

    @property
    def is_open(self) -> bool:
        """Whether it can be decided on: it is open, and no other host was asked to write it."""
        return self.proposal.state == Proposal.State.OPEN and not self.is_asked

    @cached_property
    def is_asked(self) -> bool:
        """Whether the host with the files was asked to write it and has not done so yet."""
        project = self.proposal.project
        return host_requests.is_elsewhere(project) and bool(host_requests.asked_to_write([self.proposal.pk]))

    @property
    def is_undecided(self) -> bool:
        """Whether no change has a verdict."""
        return all(hunk.verdict == Hunk.Verdict.PENDING for hunk in self.all_hunks)

    @cached_property
    def found_in(self) -> Mapping[int | None, list[Finding]]:
        """File → its findings above the level of a note; None → those on the proposal."""
        found = defaultdict(list)
        for finding in self.findings:
            if finding.severity != Finding.Severity.INFO:
                found[finding.file_id].append(finding)
        return found

    def has_findings(self, hunk: Hunk) -> bool:
        """Whether it or its file has a finding above the level of a note; the file's first change has those on no decision."""
        first = self.hunks[hunk.file_id][0].pk
        of = (first if f.code in _OF_NO_DECISION else f.hunk_id for f in self.found_in.get(hunk.file_id, ()))
        return any(pk in (hunk.pk, None) for pk in of)

    def free(self, among: Iterable[LoadedDecision]) -> list[LoadedDecision]:
        """The undecided ones of `among` without any finding or conflict."""
        return [one for one in among if one.is_open and one.key not in self._spoken_of]

    @cached_property
    def _spoken_of(self) -> set[int]:
        against = [
            f
            for found in self.found_in.values()
            for f in found
            if f.confirmed_at is None and f.code not in _OF_NO_DECISION
        ]
        files = {finding.file_id for finding in against if finding.hunk_id is None}
        files |= {file.pk for file in self.files if file.conflict}
        own = {finding.hunk_id for finding in against if finding.hunk_id is not None}
        return {decisions.key(h) for h in self.all_hunks if h.pk in own or h.file_id in files}

    def decided(self, hunks: Iterable[Hunk]) -> None:
        """Copies the saved verdicts of these rows, instead of loading the proposal again."""
        fresh = {hunk.pk: hunk for hunk in hunks}
        for hunk in self.all_hunks:
            if (saved := fresh.get(hunk.pk)) is not None:
                hunk.verdict, hunk.edited_sha = saved.verdict, saved.edited_sha
                hunk.decide_reason = saved.decide_reason


def find(public_id: str) -> Proposal | None:
    """By its own id or its dream's id."""
    rows = Proposal.objects.select_related("project", "dream", "undoes", "undoes__dream")
    own = rows.filter(public_id=public_id).first()
    if own is not None:
        return own
    return rows.filter(dream__public_id=public_id).order_by("by_policy", "-pk").first()


def load(proposal: Proposal) -> LoadedProposal:
    """Five queries, whatever the size of the proposal."""
    return load_all([proposal])[0]


def load_all(proposals: Sequence[Proposal]) -> list[LoadedProposal]:
    """As `load`, in the given order: five queries in all."""
    by_pk = {proposal.pk: proposal for proposal in proposals}
    files = {file.pk: file for file in FileChange.objects.filter(proposal__in=by_pk)}
    for file in files.values():
        file.proposal = by_pk[file.proposal_id]
    hunks = _hunks(by_pk, files)
    # The index is last: its rows are decided with the memories that they name.
    ordered = sorted(files.values(), key=lambda file: (file.path == memdir.INDEX_NAME, file.path))
    findings: defaultdict[int, list[Finding]] = defaultdict(list)
    for found in Finding.objects.filter(proposal__in=by_pk).defer(*_FINDING_TEXTS).order_by("pk"):
        findings[found.proposal_id].append(found)
    projects = {proposal.project_id for proposal in proposals}
    paths = FileChange.objects.filter(proposal__in=by_pk).order_by().values("path")
    memories = list(Memory.objects.filter(project__in=projects, path__in=paths))
    return [
        LoadedProposal(
            proposal=proposal,
            files=(mine := [file for file in ordered if file.proposal_id == proposal.pk]),
            hunks={file.pk: hunks[file.pk] for file in mine},
            findings=findings[proposal.pk],
            memories={m.path: m for m in memories if m.project_id == proposal.project_id},
        )
        for proposal in proposals
    ]


_FINDING_TEXTS = ("message", "message_parts", "remedy", "key", "check_name", "confirmed_by")


def _hunks(proposals: Collection[int], files: Mapping[int, FileChange]) -> Mapping[int, list[Hunk]]:
    """File → its hunks in order."""
    found: dict[int, list[Hunk]] = {pk: [] for pk in files}
    rows = Hunk.objects.filter(file__proposal__in=proposals).select_related("operation").order_by("number")
    for hunk in rows.defer("claims", "transcript_verdicts"):
        hunk.file = files[hunk.file_id]
        found[hunk.file_id].append(hunk)
    return found


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Worst first."""
    return sorted(findings, key=lambda finding: WORST.index(finding.severity))


def address(proposal: Proposal, *, anchor: str = "", **query: int | str | None) -> str:
    """The address of the review, at a file or a hunk."""
    given = {key: value for key, value in query.items() if value not in (None, "")}
    return (
        reverse("review", args=[proposal.public_id])
        + (f"?{urlencode(given)}" if given else "")
        + (f"#{anchor}" if anchor else "")
    )


@dataclass(frozen=True)
class ReviewState:
    """What a proposal waits for, and its result. The files on disk are compared once; the rest is queried when shown, which
    the answer to a verdict does not need.

    `stale` are paths that changed on disk and are not rebased yet, `gone` those of them that no longer exist;
    `is_away`: neither its files nor their folder exist. `unconfirmed` are rebased and wait to be confirmed.
    `interrupted`: the change on disk is its own write, which recovery must still complete.
    """

    loaded: LoadedProposal
    stale: tuple[str, ...]
    gone: tuple[str, ...]
    unconfirmed: tuple[FileChange, ...]
    conflicts: tuple[FileChange, ...]
    interrupted: bool
    is_away: bool

    @property
    def proposal(self) -> Proposal:
        return self.loaded.proposal

    @property
    def is_open(self) -> bool:
        return self.loaded.is_open

    @property
    def waits(self) -> bool:
        """Whether it is submitted and not completely written."""
        return self.proposal.state == Proposal.State.SUBMITTED

    @property
    def at(self) -> dt.datetime | None:
        return self.proposal.closed_at or self.proposal.submitted_at

    @cached_property
    def leads_to(self) -> str:
        return host_requests.leads_to(self.proposal) if self.is_open or self.waits else ""

    @cached_property
    def told(self) -> str:
        """Its result, without a full stop."""
        return summaries.of_proposal(self.proposal).text

    @property
    def standing(self) -> int:
        """The number of its changes on disk."""
        return sum(hunk.undone_in_id is None for hunk in _applied(self.loaded))

    @cached_property
    def can_be_undone(self) -> bool:
        """As a `summaries.WriteSummary`."""
        written = summaries.written_files(application__proposal=self.proposal)
        return bool(self.standing) and written.exclude(before_sha=F("after_sha")).exists()

    @cached_property
    def to_purge(self) -> bool:
        """Whether it removed secrets that earlier kept texts still contain."""
        if self.proposal.origin != Proposal.Origin.REDACTION or not self.standing:
            return False
        before = blobs.get_many(file.base_sha for file in self.loaded.files)
        return any(spans(text.decode(data)) for data in before.values())

    @cached_property
    def _undos(self) -> list[Proposal]:
        """Its undos that were not undone themselves."""
        redone = Q(state=Proposal.State.APPLIED, applications__undone_at__isnull=False)
        return list(self.proposal.undone_by.exclude(redone).order_by("created_at"))

    @property
    def undone_by(self) -> list[Proposal]:
        return [undo for undo in self._undos if undo.state == Proposal.State.APPLIED]

    @property
    def undo_waits(self) -> list[Proposal]:
        """Undos that a person must still decide on."""
        return [undo for undo in self._undos if undo.state in Proposal.UNFINISHED]

    @property
    def redo(self) -> str:
        """The public id of the undo to undo; "" if nothing of this is undone."""
        is_undone = any(hunk.undone_in_id is not None for hunk in _applied(self.loaded))
        return self.undone_by[-1].public_id if is_undone and self.undone_by else ""

    @property
    def is_several(self) -> bool:
        """Whether it was undone in several steps; they are redone one by one, the last first."""
        return len(self.undone_by) > 1

    @cached_property
    def by_policy(self) -> Proposal | None:
        """The proposal with the part of its dream that a policy applied."""
        if self.proposal.dream_id is None or self.proposal.by_policy:
            return None
        return Proposal.objects.filter(dream=self.proposal.dream_id, by_policy=True).first()

    @cached_property
    def second(self) -> review.SecondWait | None:
        """What must be approved by a second person."""
        return review.second_person_waits([self.proposal]).get(self.proposal.pk)

    @cached_property
    def nobody_else(self) -> bool:
        """Whether no second person exists."""
        second = self.second
        return second is not None and not people.reviewers().exclude(username__in=second.excluded).exists()


def state(loaded: LoadedProposal, files: Sequence[FileChange]) -> ReviewState:
    """The state; only `files` are compared with the disk."""
    proposal = loaded.proposal
    # Files written by this proposal do not count as changed.
    written = {hunk.file_id for hunk in _applied(loaded)}
    live = [] if proposal.closed_at is not None else [file for file in files if file.pk not in written]
    stale = rebase.changed_since(proposal, live, loaded.memories) if live else frozenset()
    interrupted = bool(stale) and proposal.state == Proposal.State.SUBMITTED and writing.interrupted(proposal)
    return ReviewState(
        loaded=loaded,
        stale=() if interrupted else tuple(sorted(stale)),
        gone=tuple(sorted(rebase.missing_on_disk(proposal, stale))),
        unconfirmed=tuple(file for file in live if not file.rebase_confirmed),
        conflicts=tuple(file for file in live if file.conflict),
        interrupted=interrupted,
        is_away=bool(stale)
        and not host_requests.is_elsewhere(proposal.project)
        and syncing.is_away(proposal.project),
    )


def _applied(loaded: LoadedProposal) -> list[Hunk]:
    return [hunk for hunk in loaded.all_hunks if hunk.applied_in_id is not None]
