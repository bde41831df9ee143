"""Sums up a dream, a proposal, an application or an undo in one sentence and one set of counts, used everywhere.

Told from what was decided and written, never from what was dreamt: what was rejected or undone since is not told as
done. Each function takes many rows at once, in a fixed number of queries. The engine's own words about its work are
`DreamRun.summary`; whoever shows them says whose they are.
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
from dreams.services.proposals.decisions import Counts, Decided

Kind = Operation.Kind
State = Proposal.State
Origin = Proposal.Origin
MOST_NAMES = 3  # in one sentence; chosen
LONGEST_NAME = 60  # letters; chosen
#: What is undone is one decision of the undo, and as many as it was of what it undoes, two numbers for one thing: files are counted.
_UNCOUNTED = "changes"
_REDO = "redo"
_INDEX = "the index"
#: In the order in which they are told: done, still to do, and what they are counted in where the verb does not say it.
_DEEDS: Mapping[str, tuple[str, str, str]] = {
    Kind.LEARN: ("learnt", "learn", ""),
    Kind.MERGE: ("merged", "merge", ""),
    Kind.UPDATE: ("updated", "update", ""),
    Kind.DATE: ("dated", "date", ""),
    Kind.DEMOTE: ("shortened", "shorten", ""),
    Kind.PRUNE: ("removed", "remove", ""),
    Kind.INDEX: ("made", "make", "index change"),
    Kind.EDIT: ("edited", "edit", "place"),
    Kind.COPY: ("copied", "copy", ""),
    Kind.UNDO: ("undid", "undo", _UNCOUNTED),
    _REDO: ("redid", "redo", _UNCOUNTED),
    "": ("made", "make", "other change"),
}
#: What a person's own change did to the memories that it names.
_BY_HAND: Mapping[str, str] = {
    Origin.EDIT: "Edited",
    Origin.FORGET: "Forgot",
    Origin.RESTORE: "Restored",
    Origin.REDACTION: "Removed secrets from",
    Origin.COPIED: "Copied",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """`text` is a sentence without its full stop; `detail` goes on where it failed. `tone` is a colour: "" for none."""

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
        """All of it, on one line, without a full stop of its own."""
        return f"{self.text}: {self.detail}" if self.detail else self.text


def of_proposals(proposals: Collection[Proposal]) -> dict[int, Summary]:
    """Proposal (its pk) → what came of it."""
    known = _Known.of(proposals)
    return {proposal.pk: known.summary([proposal]) for proposal in proposals}


def of_proposal(proposal: Proposal) -> Summary:
    return of_proposals([proposal])[proposal.pk]


def of_dreams(runs: Collection[DreamRun]) -> dict[int, Summary]:
    """Dream (its pk) → what came of it: of the part that a policy let in and of the part that a person reviews."""
    made: dict[int, list[Proposal]] = defaultdict(list)
    for proposal in _made_by([run.pk for run in runs]):
        made[proposal.dream_id or 0].append(proposal)
    known = _Known.of([proposal for proposals in made.values() for proposal in proposals])
    asked = _asked(runs)
    return {run.pk: _of_dream(run, known, made[run.pk], asked[run.pk]) for run in runs}


@prepared
def _made_by(dreams: list[int]) -> QuerySet[Proposal]:
    return Proposal.objects.filter(dream__in=dreams).only("dream", "state")


def _asked(runs: Collection[DreamRun]) -> defaultdict[int, str]:
    """Dream → what it asked: the questions that are open, else those that a person answered."""
    found: defaultdict[int, str] = defaultdict(str)
    for dream, still, answered in _questions_of([run.pk for run in runs]):
        if still:
            found[dream] = plural(still, "open question")
        elif answered:
            found[dream] = f"{plural(answered, 'question')} answered"
    return found


@prepared
def _questions_of(dreams: list[int]) -> QuerySet[Question, tuple[Any, ...]]:
    """(dream, how many questions are open, how many were answered)."""
    rows = Question.objects.filter(dream__in=dreams, asked=True).order_by()
    counted = rows.values("dream").annotate(
        still=Count("pk", filter=Q(state=Question.State.OPEN)),
        answered=Count("pk", filter=Q(state__in=(Question.State.WAITING, Question.State.ANSWERED))),
    )
    return counted.values_list("dream", "still", "answered")


def of_dream(run: DreamRun) -> Summary:
    return of_dreams([run])[run.pk]


def _of_dream(run: DreamRun, known: "_Known", made: Sequence[Proposal], asked: str) -> Summary:
    found = known.summary(made)
    if run.status == DreamRun.Status.COMPLETED:
        if asked and not found.counts.decisions:
            tone = "accent" if "open" in asked else found.tone
            return replace(found, text=f"Nothing certain to improve; {asked}", tone=tone)
        return found
    if not run.is_over:
        return Summary("Dreaming now" if run.started_at else "Waiting for a free worker", "info")
    left = f"; of the finished part: {found.text[:1].lower()}{found.text[1:]}" if made else ""
    if run.status == DreamRun.Status.FAILED:
        return replace(found, text=f"Failed{left}", tone="block", detail=run.error or "no reason given")
    return replace(found, text=f"Cancelled{left or '; nothing was changed'}", tone="warn")


@dataclass(frozen=True, slots=True)
class _Known:
    """The decisions of some proposals, by proposal, with their counts and the files that they touch."""

    each: Mapping[int, Sequence[Decided]]
    counts: Mapping[int, Counts]
    files: Counter[int]

    @classmethod
    def of(cls, proposals: Collection[Proposal]) -> "_Known":
        pks = [proposal.pk for proposal in proposals]
        found = decisions.each(pks) if pks else []
        again = undos.redos({one.proposal for one in found if one.kind == Kind.UNDO})
        by_proposal: dict[int, list[Decided]] = defaultdict(list)
        for one in found:
            is_redo = one.kind == Kind.UNDO and one.proposal in again
            by_proposal[one.proposal].append(replace(one, kind=_REDO) if is_redo else one)
        names = decisions.renamed(pks)
        return cls(by_proposal, decisions.counts_of(pks, found, names), _files(pks, names))

    def summary(self, proposals: Sequence[Proposal]) -> Summary:
        """Of proposals that are told as one."""
        counts = sum((self.counts[proposal.pk] for proposal in proposals), Counts())
        each = [one for proposal in proposals for one in self.each.get(proposal.pk, ())]
        files = sum(self.files[proposal.pk] for proposal in proposals)
        head, tone = _head(each, counts, files, {proposal.state for proposal in proposals})
        is_open = any(proposal.state == State.OPEN for proposal in proposals)
        rest = _rest(each, counts, is_open=is_open)
        return Summary(
            f"{head}; {rest}" if rest else head,
            tone,
            counts=counts,
            files=files,
        )


def _files(proposals: Collection[int], names: Counter[int]) -> Counter[int]:
    """Proposal → how many files it touches; a file under a new name is one."""
    found = Counter(dict(_files_counted(list(proposals))))
    found.subtract(names)
    return found


@prepared
def _files_counted(proposals: list[int]) -> QuerySet[FileChange, tuple[Any, ...]]:
    rows = FileChange.objects.filter(proposal__in=proposals).order_by().values("proposal")
    return rows.annotate(n=Count("pk")).values_list("proposal", "n")


def _head(each: Sequence[Decided], counts: Counts, files: int, states: Collection[str]) -> tuple[str, str]:
    """What came of it before all else, and its colour."""
    written = [one for one in each if one.written]
    if written:
        return deeds(written, files=files if len(written) == len(each) else 0), "ok"
    if counts.undone:
        return "All of it was undone", "warn"
    if not each:
        return "Nothing to improve", "ok"
    if State.OPEN in states:
        return _head_of_open(each, counts), "accent"
    if State.SUBMITTED in states:
        return f"Approved {counts.taken + counts.mixed} of {counts.decisions}, not written yet", "accent"
    return ("Replaced by a newer proposal" if State.SUPERSEDED in states else "Nothing was written"), ""


def _head_of_open(each: Sequence[Decided], counts: Counts) -> str:
    if not counts.decided:
        return f"Proposes to {deeds(each, done=False)}"
    return f"{counts.decided} of {counts.decisions} decided, nothing is written yet"


def _rest(each: Sequence[Decided], counts: Counts, *, is_open: bool) -> str:
    """What is not told by the head: undone, rejected, left."""
    told = []
    if counts.written:
        waiting = sum(not one.written and not one.undone and one.state in _TAKEN for one in each)
        told += [f"{waiting} not written yet"] if waiting else []
        told += [f"{counts.undone} undone"] if counts.undone else []
        told += [f"{counts.undecided} to decide"] if is_open and counts.undecided else []
    if counts.rejected:
        told.append(f"{counts.rejected} rejected")
    if counts.undecided and not is_open:
        told.append(f"{counts.undecided} left undecided")
    return ", ".join(told)


_TAKEN = ("approved", "edited", "mixed")


def deeds(each: Iterable[Decided], *, files: int = 0, done: bool = True) -> str:
    """ "Learnt 1, merged 2"; what is not done yet goes on after "Proposes to": "learn 1, merge 2". `files` is how many an undo
    changed, 0 where only a part of it did."""
    counted = Counter(one.kind if one.kind in _DEEDS else "" for one in each)
    told = [
        f"{past if done else verb} {_counted(counted[kind], noun, files)}"
        for kind, (past, verb, noun) in _DEEDS.items()
        if counted[kind]
    ]
    said = ", ".join(told)
    return said[:1].upper() + said[1:] if done else said


def _counted(number: int, noun: str, files: int) -> str:
    if noun == _UNCOUNTED:
        return f"{noun} in {plural(files, 'file')}" if files else noun
    return plural(number, noun) if noun else f"{number:,}"


def reason(proposal: Proposal) -> str:
    """Why a person made it, in that person's words; empty where nobody gave a reason."""
    if proposal.origin in (Origin.DREAM, Origin.ANSWERS, Origin.CAUGHT) or proposal.summary.startswith(
        "Undo of "
    ):
        return ""
    return hand_edits.given(proposal.summary, proposal.created_by)


def reasons_in(path: str, proposals: Iterable[Proposal]) -> dict[int, str]:
    """Proposal (its pk) → why it changed this file: the reasons of the changes that were written, or a person's own."""
    made = {proposal.pk: proposal for proposal in proposals}
    rows = Hunk.objects.filter(file__proposal__in=made, file__path=path, applied_in__isnull=False)
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for pk, why in rows.order_by("number").values_list("file__proposal", "operation__reason"):
        found[pk][why or ""] = None
    drafted = (Origin.DREAM, Origin.ANSWERS, Origin.CAUGHT)
    return {
        pk: " ".join(filter(None, found[pk])) if proposal.origin in drafted else reason(proposal)
        for pk, proposal in made.items()
    }


# --- What was written ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deed:
    """One write to a memory directory. `undone` of its `decisions` were undone since, in whole or in part. `is_out`: what it
    was about is not in memory now, so that to turn it round is to redo. `can_be_undone`: that would change a file; once a
    purge has taken a secret from the text of before, too, it is the text of after."""

    text: str
    reason: str
    decisions: int
    undone: int
    is_undone: bool
    is_out: bool
    can_be_undone: bool


@dataclass(slots=True)
class _Written:
    """The decisions of one application by their key, and the paths that they touch; `kept` and `undone` are those with
    a change that is still there and with one that was undone."""

    each: dict[int, Decided] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    undone: set[str] = field(default_factory=set)
    differs: bool = False

    def add(self, hunk: Hunk) -> None:
        key = decisions.key(hunk)
        old = self.each.get(key) or Decided(
            0, hunk.operation.kind if hunk.operation else "", 0, "approved", 0, 0
        )
        undone = hunk.undone_in_id is not None
        self.each[key] = Decided(
            0, old.kind, old.changes + 1, "approved", old.written + (not undone), old.undone + undone
        )
        self.paths.add(hunk.file.path)
        (self.undone if undone else self.kept).add(hunk.file.path)

    @property
    def named(self) -> set[str]:
        """Without what is as it was before; all of them where nothing is left."""
        return self.paths - (self.undone - self.kept) if self.kept else self.paths


def written_files(**of: Any) -> QuerySet[AppliedFile]:
    """What these applications wrote. A lock that goes with its folder is no memory."""
    return AppliedFile.objects.filter(**of).exclude(path=LOCK_NAME)


def of_applications(rows: Collection[AppliedBatch]) -> dict[int, Deed]:
    """Applied batch (its pk) → what it did and to which memories. Wants `proposal` loaded."""
    pks = [row.pk for row in rows]
    written = _by_application(pks, "applied_in")
    reverted = _by_application(pks, "undone_in")
    files = written_files(application__in=pks)
    for pk, path, before, after in files.values_list("application", "path", "before_sha", "after_sha"):
        written[pk].paths.add(path)
        written[pk].differs |= before != after
    names = _names(rows, written)
    turned = undos.turns({row.proposal_id for row in rows})
    return {
        row.pk: _deed(row, written[row.pk], reverted[row.pk], names[row.pk], turned[row.proposal_id])
        for row in rows
    }


def _by_application(pks: Sequence[int], by: str) -> defaultdict[int, _Written]:
    found: defaultdict[int, _Written] = defaultdict(_Written)
    hunks = Hunk.objects.filter(**{f"{by}__in": pks}).select_related("operation", "file")
    for hunk in hunks.only("operation__kind", "file__path", "applied_in", "undone_in"):
        found[getattr(hunk, f"{by}_id")].add(hunk)
    return found


def _names(rows: Collection[AppliedBatch], written: Mapping[int, _Written]) -> dict[int, list[str]]:
    """Applied batch → what its memories are called; the index only where nothing else was written."""
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


def _deed(row: AppliedBatch, written: _Written, reverted: _Written, names: Sequence[str], turns: int) -> Deed:
    is_redo = turns > 0 and turns % 2 == 0
    standing = [one for one in written.each.values() if one.written]
    undone = sum(bool(one.undone) for one in written.each.values())
    is_undone = row.undone_at is not None or (bool(undone) and not standing)
    said = _done(row.proposal, standing or list(written.each.values()), reverted, _listed(names), is_redo)
    if is_undone and row.proposal.origin == Origin.ROLLBACK:
        said += "; undone since" if is_redo else "; redone since"
    elif is_undone:
        said = f"Undone: {said[:1].lower()}{said[1:]}"
    elif undone:
        said += f"; {undone} undone"
    return Deed(
        said,
        reason(row.proposal),
        len(written.each),
        undone,
        is_undone,
        (turns + is_undone) % 2 == 1,
        not is_undone and written.differs,
    )


def _done(proposal: Proposal, each: Sequence[Decided], reverted: _Written, names: str, is_redo: bool) -> str:
    if proposal.origin in _BY_HAND:
        return f"{_BY_HAND[proposal.origin]} {names}"
    if proposal.origin == Origin.ROLLBACK:
        many = f"{plural(len(reverted.each), 'decision')}:" if reverted.each else "changes to"
        return f"Redid changes to {names}" if is_redo else f"Undid {many} {names}"
    if proposal.origin == Origin.ANSWERS:
        return f"Wrote {plural(len(each), 'answer')}: {names}"
    if names == _INDEX and all(one.kind == Kind.INDEX for one in each):
        return deeds(each)
    return f"{deeds(each) or 'Changed'}: {names}"


def _listed(names: Sequence[str]) -> str:
    """“Testing”, “Role” and 2 more."""
    if list(names) == [INDEX_NAME]:
        return _INDEX
    shown = ", ".join(f"“{shortened(name, LONGEST_NAME)}”" for name in names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown or "nothing"
