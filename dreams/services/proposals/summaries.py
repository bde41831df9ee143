"""Sums up a dream, a proposal, an application or an undo in one sentence and one set of counts, used everywhere.

A summary is made from what was decided and written, not from what the dream proposed: rejected and undone changes do
not count as done. Each function takes many rows at once, in a fixed number of queries. The engine's own words are in
`DreamRun.summary`; a page that shows them says whose they are.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Count, Q, QuerySet

from dreams.lib.files.text import plural, shortened
from dreams.lib.locks import LOCK_NAME
from dreams.lib.memdir import INDEX_NAME
from dreams.models import (
    AppliedBatch,
    AppliedFile,
    DreamRun,
    FileChange,
    Hunk,
    Memory,
    Operation,
    Proposal,
    Question,
)
from dreams.models.prepared import prepared
from dreams.services.memories import hand_edits
from dreams.services.proposals import decisions, undos
from dreams.services.proposals.decisions import Counts, DecisionRow

Kind = Operation.Kind
State = Proposal.State
Origin = Proposal.Origin
MOST_NAMES = 3  # in one sentence; chosen
LONGEST_NAME = 60  # letters; chosen
#: An undo is one decision, but may undo several: two numbers for one thing, so files are counted.
_UNCOUNTED = "change"
_REDO = "redo"
#: As it was then, without what was added since.
_WITHOUT = "without"
_INDEX = "the index"
_VERBS = {
    **decisions.WORDS,
    _WITHOUT: ("removed", "remove", "newer file"),
    _REDO: ("redid", "redo", _UNCOUNTED),
    "": ("made", "make", "other change"),
}
#: Their reasons are those of their changes; nobody gave one for the whole.
_BY_ENGINES = (Origin.DREAM, Origin.ANSWERS, Origin.CAUGHT)
#: Verbs for changes that a person made without a dream.
_BY_HAND: Mapping[str, str] = {
    Origin.EDIT: "Edited",
    Origin.FORGET: "Forgot",
    Origin.RESTORE: "Restored",
    Origin.REDACTION: "Removed secrets from",
    Origin.COPIED: "Copied",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """`text` is a sentence without its full stop; `detail` is the error of a failed dream. `tone` is a colour: "" for none."""

    text: str
    tone: str = ""
    detail: str = ""
    counts: Counts = field(default_factory=Counts)
    files: int = 0

    @property
    def size(self) -> str:
        """ "9 decisions, 15 changes in 4 files"."""
        return f"{self.counts.words} in {plural(self.files, 'file')}"

    @property
    def line(self) -> str:
        """`text` and `detail` on one line, without a full stop."""
        return f"{self.text}: {self.detail}" if self.detail else self.text


def of_proposals(proposals: Collection[Proposal]) -> dict[int, Summary]:
    """Proposal (its pk) → its summary."""
    known = _LoadedDecisions.load(proposals)
    return {proposal.pk: known.summary([proposal]) for proposal in proposals}


def of_proposal(proposal: Proposal) -> Summary:
    return of_proposals([proposal])[proposal.pk]


def of_dreams(runs: Collection[DreamRun]) -> dict[int, Summary]:
    """Dream (its pk) → one summary of the part that a policy applied and the part that a person reviews."""
    made: dict[int, list[Proposal]] = defaultdict(list)
    for proposal in _proposals_of([run.pk for run in runs]):
        made[proposal.dream_id or 0].append(proposal)
    known = _LoadedDecisions.load([proposal for proposals in made.values() for proposal in proposals])
    questions = _question_summaries(runs)
    return {run.pk: _of_dream(run, known, made[run.pk], questions[run.pk]) for run in runs}


@prepared
def _proposals_of(dreams: list[int]) -> QuerySet[Proposal]:
    return Proposal.objects.filter(dream__in=dreams).only("dream", "state")


def _question_summaries(runs: Collection[DreamRun]) -> defaultdict[int, str]:
    """Dream → how many of its questions are open, or else how many were answered."""
    found: defaultdict[int, str] = defaultdict(str)
    for dream, still_open, answered in _questions_of([run.pk for run in runs]):
        if still_open:
            found[dream] = plural(still_open, "open question")
        elif answered:
            found[dream] = f"{plural(answered, 'question')} answered"
    return found


@prepared
def _questions_of(dreams: list[int]) -> QuerySet[Question, tuple[Any, ...]]:
    """(dream, how many questions are open, how many were answered)."""
    rows = Question.objects.filter(dream__in=dreams, asked=True).order_by()
    counted = rows.values("dream").annotate(
        still_open=Count("pk", filter=Q(state=Question.State.OPEN)),
        answered=Count("pk", filter=Q(state__in=(Question.State.WAITING, Question.State.ANSWERED))),
    )
    return counted.values_list("dream", "still_open", "answered")


def of_dream(run: DreamRun) -> Summary:
    return of_dreams([run])[run.pk]


def _of_dream(run: DreamRun, known: "_LoadedDecisions", made: Sequence[Proposal], questions: str) -> Summary:
    found = known.summary(made)
    if run.status == DreamRun.Status.COMPLETED:
        if questions and not found.counts.decisions:
            tone = "accent" if "open" in questions else found.tone
            return replace(found, text=f"Nothing certain to improve; {questions}", tone=tone)
        return found
    if not run.is_over:
        return Summary("Dreaming now" if run.started_at else "Waiting for a free worker", "info")
    left = f"; of the finished part: {found.text[:1].lower()}{found.text[1:]}" if made else ""
    if run.status == DreamRun.Status.FAILED:
        return replace(found, text=f"Failed{left}", tone="block", detail=run.error or "No reason given.")
    return replace(found, text=f"Cancelled{left or '; nothing was changed'}", tone="warn")


@dataclass(frozen=True, slots=True)
class _LoadedDecisions:
    """The decisions of some proposals, with counts and numbers of files, all by proposal."""

    each: Mapping[int, Sequence[DecisionRow]]
    counts: Mapping[int, Counts]
    files: Counter[int]

    @classmethod
    def load(cls, proposals: Collection[Proposal]) -> "_LoadedDecisions":
        pks = [proposal.pk for proposal in proposals]
        found = decisions.of_proposals(pks) if pks else []
        again = undos.redos({one.proposal for one in found if one.kind == Kind.UNDO})
        by_proposal: dict[int, list[DecisionRow]] = defaultdict(list)
        for one in found:
            is_redo = one.kind == Kind.UNDO and one.proposal in again
            kind = _REDO if is_redo else _kind(one.kind, removes=one.removals > 0)
            by_proposal[one.proposal].append(replace(one, kind=kind))
        names = decisions.renamed(pks)
        return cls(by_proposal, decisions.counts_of(pks, found, names), _files(pks, names))

    def summary(self, proposals: Sequence[Proposal]) -> Summary:
        """One summary for all these proposals together."""
        counted = [self.counts[proposal.pk] for proposal in proposals] or [Counts()]
        counts = sum(counted[1:], counted[0])
        each = [one for proposal in proposals for one in self.each.get(proposal.pk, ())]
        files = sum(self.files[proposal.pk] for proposal in proposals)
        head, tone = _head(each, counts, files, {proposal.state for proposal in proposals})
        is_open = any(proposal.state == State.OPEN for proposal in proposals)
        rest = _rest(each, counts, is_open=is_open)
        return Summary(f"{head}; {rest}" if rest else head, tone, counts=counts, files=files)


def _kind(kind: str, *, removes: bool) -> str:
    return _WITHOUT if kind == Kind.RESTORE and removes else kind


def _files(proposals: Collection[int], names: Counter[int]) -> Counter[int]:
    """Proposal → how many files it touches; a renamed file counts once."""
    found = Counter(dict(_files_counted(list(proposals))))
    found.subtract(names)
    return found


@prepared
def _files_counted(proposals: list[int]) -> QuerySet[FileChange, tuple[Any, ...]]:
    rows = FileChange.objects.filter(proposal__in=proposals).order_by().values("proposal")
    return rows.annotate(n=Count("pk")).values_list("proposal", "n")


def _head(
    each: Sequence[DecisionRow], counts: Counts, files: int, states: Collection[str]
) -> tuple[str, str]:
    """The most important part of the summary, and its colour."""
    written = [one for one in each if one.written]
    if written:
        return describe_decisions(written, files=files if len(written) == len(each) else 0), "ok"
    if counts.undone:
        return "All of it was undone", "warn"
    if not each:
        return "Nothing to improve", "ok"
    if State.OPEN in states:
        return _head_of_open(each, counts), "accent"
    if State.SUBMITTED in states:
        return f"Approved {counts.taken + counts.mixed} of {counts.decisions}, not written yet", "accent"
    return ("Replaced by a newer proposal" if State.SUPERSEDED in states else "Nothing was written"), ""


def _head_of_open(each: Sequence[DecisionRow], counts: Counts) -> str:
    if not counts.decided:
        return f"Proposes to {describe_decisions(each, done=False)}"
    return f"{counts.decided} of {counts.decisions} decided, nothing is written yet"


def _rest(each: Sequence[DecisionRow], counts: Counts, *, is_open: bool) -> str:
    """What the head leaves out: undone, rejected, undecided."""
    notes = []
    if counts.written:
        waiting = sum(not one.written and not one.undone and one.state in _TAKEN for one in each)
        notes += [f"{waiting} not written yet"] if waiting else []
        notes += [f"{counts.undone} undone"] if counts.undone else []
        notes += [f"{counts.undecided} to decide"] if is_open and counts.undecided else []
    if counts.rejected:
        notes.append(f"{counts.rejected} rejected")
    if counts.undecided and not is_open:
        notes.append(f"{counts.undecided} left undecided")
    return ", ".join(notes)


_TAKEN = ("approved", "edited", "mixed")


def describe_decisions(each: Iterable[DecisionRow], *, files: int = 0, done: bool = True) -> str:
    """ "Learnt 1 thing, merged 2 duplicates"; not yet `done`, to follow "Proposes to": "learn 1 thing". `files` is how many an undo changed,
    0 where only part of the proposal was written."""
    counted = Counter(one.kind if one.kind in _VERBS else "" for one in each)
    phrases = [
        f"{past if done else verb} {_counted(counted[kind], noun, files)}"
        for kind, (past, verb, noun) in _VERBS.items()
        if counted[kind]
    ]
    sentence = ", ".join(phrases)
    return sentence[:1].upper() + sentence[1:] if done else sentence


def _counted(number: int, noun: str, files: int) -> str:
    if noun == _UNCOUNTED:
        return f"{noun}s in {plural(files, 'file')}" if files else f"{noun}s"
    return plural(number, noun)


def reason(proposal: Proposal) -> str:
    """The reason that a person gave for making this proposal; empty without one."""
    if proposal.origin in _BY_ENGINES or proposal.summary.startswith("Undo of "):
        return ""
    return hand_edits.given(proposal.summary, proposal.created_by)


def reasons_in(path: str, proposals: Iterable[Proposal]) -> dict[int, str]:
    """Proposal (its pk) → why it changed this file: the reasons of its written changes, or the person's own."""
    made = {proposal.pk: proposal for proposal in proposals}
    rows = Hunk.objects.filter(file__proposal__in=made, file__path=path, applied_in__isnull=False)
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for pk, why in rows.order_by("number").values_list("file__proposal", "operation__reason"):
        found[pk][why or ""] = None
    return {
        pk: " ".join(filter(None, found[pk])) if proposal.origin in _BY_ENGINES else reason(proposal)
        for pk, proposal in made.items()
    }


# --- What was written ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteSummary:
    """One write to a memory directory. `undone` counts its `decisions` that were undone since, at least in part. `is_out`: its
    changes are not in memory now, so reversing it is a redo. `can_be_undone`: an undo would change a file; after a purge
    the old and the new text can be the same."""

    text: str
    reason: str
    decisions: int
    undone: int
    is_undone: bool
    is_out: bool
    can_be_undone: bool


@dataclass(slots=True)
class _Batch:
    """The decisions of one application by key, and its paths; `kept` are those with a change that is still in place,
    `undone` those with one that was undone."""

    each: dict[int, DecisionRow] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    undone: set[str] = field(default_factory=set)
    differs: bool = False

    def add(self, hunk: Hunk) -> None:
        key = decisions.key(hunk)
        removes = hunk.file.kind == FileChange.Kind.DELETE
        kind = _kind(hunk.operation.kind, removes=removes) if hunk.operation else ""
        old = self.each.get(key) or DecisionRow(0, kind, 0, "approved", 0, 0)
        undone = hunk.undone_in_id is not None
        self.each[key] = DecisionRow(
            0, old.kind, old.changes + 1, "approved", old.written + (not undone), old.undone + undone
        )
        self.paths.add(hunk.file.path)
        (self.undone if undone else self.kept).add(hunk.file.path)

    @property
    def named(self) -> set[str]:
        """The paths without those whose changes were all undone; all paths if everything was undone."""
        return self.paths - (self.undone - self.kept) if self.kept else self.paths


def written_files(**of: Any) -> QuerySet[AppliedFile]:
    """What these applications wrote, without the lock file, which is no memory."""
    return AppliedFile.objects.filter(**of).exclude(path=LOCK_NAME)


def of_applications(rows: Collection[AppliedBatch]) -> dict[int, WriteSummary]:
    """Applied batch (its pk) → its summary. Expects `proposal` to be loaded."""
    pks = [row.pk for row in rows]
    written = _by_application(pks, "applied_in")
    reverted = _by_application(pks, "undone_in")
    files = written_files(application__in=pks)
    for pk, path, before, after in files.values_list("application", "path", "before_sha", "after_sha"):
        written[pk].paths.add(path)
        written[pk].differs |= before != after
    names = _names(rows, written)
    turned = undos.undo_depths({row.proposal_id for row in rows})
    return {
        row.pk: _write_summary(row, written[row.pk], reverted[row.pk], names[row.pk], turned[row.proposal_id])
        for row in rows
    }


def _by_application(pks: Sequence[int], by: str) -> defaultdict[int, _Batch]:
    found: defaultdict[int, _Batch] = defaultdict(_Batch)
    hunks = Hunk.objects.filter(**{f"{by}__in": pks}).select_related("operation", "file")
    for hunk in hunks.only("operation__kind", "file__path", "file__kind", "applied_in", "undone_in"):
        found[getattr(hunk, f"{by}_id")].add(hunk)
    return found


def _names(rows: Collection[AppliedBatch], written: Mapping[int, _Batch]) -> dict[int, list[str]]:
    """Applied batch → the names of its memories; the index only if nothing else was written."""
    paths = {path for one in written.values() for path in one.paths}
    projects = {row.proposal.project_id for row in rows}
    known = Memory.objects.filter(project__in=projects, path__in=paths).values_list("project", "path", "name")
    called = {(project, path): name for project, path, name in known if name}
    return {
        row.pk: [
            called.get((row.proposal.project_id, path)) or path
            for path in sorted(written[row.pk].named, key=lambda path: (path == INDEX_NAME, path))
            if path != INDEX_NAME or written[row.pk].named == {INDEX_NAME}
        ]
        for row in rows
    }


def _write_summary(
    row: AppliedBatch, written: _Batch, reverted: _Batch, names: Sequence[str], turns: int
) -> WriteSummary:
    is_redo = turns > 0 and turns % 2 == 0
    remaining = [one for one in written.each.values() if one.written]
    undone = sum(bool(one.undone) for one in written.each.values())
    is_undone = row.undone_at is not None or (bool(undone) and not remaining)
    sentence = _write_text(
        row.proposal, remaining or list(written.each.values()), reverted, _listed(names), is_redo
    )
    if is_undone and row.proposal.origin == Origin.ROLLBACK:
        sentence += "; undone since" if is_redo else "; redone since"
    elif is_undone:
        sentence = f"Undone: {sentence[:1].lower()}{sentence[1:]}"
    elif undone:
        sentence += f"; {undone} undone"
    return WriteSummary(
        sentence,
        reason(row.proposal),
        len(written.each),
        undone,
        is_undone,
        (turns + is_undone) % 2 == 1,
        not is_undone and written.differs,
    )


def _write_text(
    proposal: Proposal, each: Sequence[DecisionRow], reverted: _Batch, names: str, is_redo: bool
) -> str:
    if proposal.moved_to_id:
        return f"Moved {names} {'to' if proposal.leaves_for else 'here from'} another project"
    if proposal.origin in _BY_HAND and not any(one.kind == _WITHOUT for one in each):
        return f"{_BY_HAND[proposal.origin]} {names}"
    if proposal.origin == Origin.ROLLBACK:
        many = f"{plural(len(reverted.each), 'decision')}:" if reverted.each else "changes to"
        return f"Redid changes to {names}" if is_redo else f"Undid {many} {names}"
    if proposal.origin == Origin.ANSWERS:
        return f"Wrote {plural(len(each), 'answer')}: {names}"
    if names == _INDEX and all(one.kind == Kind.INDEX for one in each):
        return describe_decisions(each)
    return f"{describe_decisions(each) or 'Changed'}: {names}"


def _listed(names: Sequence[str]) -> str:
    """“Testing”, “Role” and 2 more."""
    if list(names) == [INDEX_NAME]:
        return _INDEX
    shown = ", ".join(f"“{shortened(name, LONGEST_NAME)}”" for name in names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown or "nothing"
