"""Counts decisions: the unit in which every page, command and message counts.

The hunks of one operation are one decision: a new memory with its index row, a merge with the rows it removes, both
halves of a move, a renamed file. A hunk without an operation is a decision of its own. Hunks are *changes*: a proposal
has "9 decisions, 15 changes".
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, TypeVar, cast

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from dreams.lib.files.text import joined, plural
from dreams.models import FileChange, Hunk, Operation
from dreams.models.prepared import prepared
from dreams.services.proposals.rows_to_hunks import old_names

Kind = Operation.Kind
#: In the order of sentences and lists: past tense, infinitive, and the noun to count. The only words for a kind of change.
WORDS: Mapping[str, tuple[str, str, str]] = {
    Kind.LEARN: ("learnt", "learn", "thing"),
    Kind.MERGE: ("merged", "merge", "duplicate"),
    Kind.UPDATE: ("updated", "update", "statement"),
    Kind.DATE: ("fixed", "fix", "relative date"),
    Kind.DEMOTE: ("shortened", "shorten", "index row"),
    Kind.PRUNE: ("removed", "remove", "passage"),
    Kind.INDEX: ("made", "make", "index change"),
    Kind.EDIT: ("edited", "edit", "place"),
    Kind.COPY: ("copied", "copy", "file"),
    Kind.RESTORE: ("restored", "restore", "file"),
    Kind.UNDO: ("undid", "undo", "change"),
}
KINDS_IN_ORDER = tuple(WORDS)


def count_label(kind: str, number: int) -> str:
    """ "38 relative dates to fix"."""
    _, verb, noun = WORDS[kind]
    return f"{plural(number, noun)} to {verb}"


def kind_label(kind: str) -> str:
    """ "Fixed relative dates", "Index changes"; an unknown kind is returned as it is."""
    past, _, noun = WORDS.get(kind, (kind, "", ""))
    return f"{'' if past == 'made' else past} {noun}s".strip().capitalize() if noun else kind.capitalize()


Verdict = Hunk.Verdict


def is_any_open() -> Exists:
    """Of a row of proposals: whether a decision is open."""
    return Exists(Hunk.objects.filter(file__proposal=OuterRef("pk"), verdict=Verdict.PENDING))


#: `undecided`: at least one change has no verdict. `mixed`: some were approved and some rejected, as after a rebase.
State = Literal["undecided", "approved", "edited", "rejected", "mixed"]


class Grouped(Protocol):
    """The part of a hunk that says which decision it belongs to."""

    @property
    def pk(self) -> int: ...
    @property
    def operation_id(self) -> int | None: ...


class HunkWithVerdict(Grouped, Protocol):
    @property
    def verdict(self) -> str: ...
    @property
    def edited_sha(self) -> str: ...


class HunkOfFile(HunkWithVerdict, Protocol):
    @property
    def file(self) -> FileChange: ...


#: How many changed lines of a file are named.
MOST_LINES = 3
Row = TypeVar("Row", bound=Grouped)


def key(hunk: Grouped) -> int:
    """The same number for all hunks of one decision, another for every other decision."""
    return hunk.operation_id or -hunk.pk


def grouped(hunks: Iterable[Row]) -> dict[int, list[Row]]:
    """Key → the hunks of that decision, in the given order."""
    found: dict[int, list[Row]] = {}
    for hunk in hunks:
        found.setdefault(key(hunk), []).append(hunk)
    return found


def count(hunks: Iterable[Grouped]) -> int:
    """How many decisions these hunks belong to."""
    return len({key(hunk) for hunk in hunks})


def line_of(hunk: Hunk) -> int:
    """Its first line (1-based): of the new text, or of the old where nothing is added."""
    return (hunk.new_start if hunk.new_count else hunk.base_start) + 1


def places(hunks: Sequence[Hunk]) -> tuple[str, ...]:
    """The files of one decision, each with up to MOST_LINES changed lines: decisions of a kind often have the same reason."""
    lines: dict[str, list[str]] = {}
    for hunk in hunks:
        found = lines.setdefault(hunk.file.path, [])
        if hunk.file.kind == FileChange.Kind.MODIFY:
            found.append(str(line_of(hunk)))
    return tuple(
        f"{path}, line{'s' * (len(found) > 1)} {joined(found)}" if 0 < len(found) <= MOST_LINES else path
        for path, found in lines.items()
    )


def state(hunks: Sequence[HunkWithVerdict]) -> State:
    """What was decided; `hunks` are all those of one decision. One edited hunk makes it edited."""
    return _state({hunk.verdict for hunk in hunks})


def _state(verdicts: Collection[str]) -> State:
    if Verdict.PENDING in verdicts:
        return "undecided"
    if Verdict.REJECTED in verdicts:
        return "rejected" if len(verdicts) == 1 else "mixed"
    return "edited" if Verdict.EDITED in verdicts else "approved"


def digest(hunks: Iterable[HunkOfFile]) -> str:
    """Changes when one of these hunks, its verdict or its file changes. A form that decides on many sends it back."""
    states = sorted(
        f"{hunk.pk} {hunk.verdict} {hunk.edited_sha} {hunk.file.base_sha} {hunk.file.new_sha}"
        for hunk in hunks
    )
    return hashlib.sha256("\n".join(states).encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Counts:
    """The decisions of one proposal by their state, and how many are on disk or were undone.

    A decision that is half undone counts in both `written` and `undone`.
    """

    decisions: int = 0
    changes: int = 0
    undecided: int = 0
    approved: int = 0
    edited: int = 0
    rejected: int = 0
    mixed: int = 0
    written: int = 0
    undone: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def decided(self) -> int:
        return self.decisions - self.undecided

    @property
    def taken(self) -> int:
        return self.approved + self.edited

    @property
    def words(self) -> str:
        """ "9 decisions, 15 changes"; just "9 decisions" where each is a single change."""
        number = plural(self.decisions, "decision")
        return number if self.changes == self.decisions else f"{number}, {plural(self.changes, 'change')}"


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision of a proposal (its pk): how many of its changes are on disk, were undone, or remove a file."""

    proposal: int
    kind: str
    changes: int
    state: State
    written: int
    undone: int
    removals: int = 0


def of_proposals(proposals: Collection[int]) -> list[DecisionRow]:
    """All decisions of these proposals. One query."""
    verdicts = Verdict.values  # each access builds the list
    return [
        DecisionRow(
            row["file__proposal"],
            row["operation__kind"] or "",
            row["changes"],
            _state({verdict for verdict in verdicts if row[verdict]}),
            row["written"],
            row["undone"],
            row["removals"],
        )
        for row in _rows(list(proposals))
    ]


def counts(proposals: Collection[int]) -> dict[int, Counts]:
    """Proposal (its pk) → its counts; every given proposal has an entry. At most five queries, however many there are."""
    return counts_of(proposals, of_proposals(proposals), renamed(proposals))


def renamed(proposals: Collection[int]) -> Counter[int]:
    """Proposal → how many of its files were renamed."""
    return Counter(proposal for proposal, _ in old_names(proposals)) if proposals else Counter()


def counts_of(
    proposals: Collection[int], decided: Iterable[DecisionRow], names: Counter[int]
) -> dict[int, Counts]:
    """As `counts`, from decisions and `names` (see `renamed`) that are loaded already."""
    wanted = set(proposals)
    states: dict[int, Counter[str]] = {pk: Counter() for pk in wanted}
    changes: Counter[int] = Counter()
    for one in decided:
        places = [name for name in ("written", "undone") if getattr(one, name)]
        states[one.proposal].update(["decisions", one.state, *places])
        changes[one.proposal] += one.changes
    # A renamed file is stored as one deleted and one added file, but is one change.
    changes.subtract(names)
    return {pk: Counts(changes=changes[pk], **states[pk]) for pk in wanted}


@prepared
def _rows(proposals: list[int]) -> QuerySet[Hunk, dict[str, Any]]:
    """One row per decision, with the number of its hunks by verdict."""
    per_verdict = {value: Count("pk", filter=Q(verdict=value)) for value in Verdict.values}
    hunks = Hunk.objects.filter(file__proposal__in=proposals).order_by()
    rows = hunks.values(
        "file__proposal", "operation__kind", decision=Coalesce("operation", -F("pk"))
    ).annotate(
        changes=Count("pk"),
        written=Count("pk", filter=Q(applied_in__isnull=False, undone_in__isnull=True)),
        undone=Count("pk", filter=Q(undone_in__isnull=False)),
        removals=Count("pk", filter=Q(file__kind=FileChange.Kind.DELETE)),
        **per_verdict,
    )
    return cast("QuerySet[Hunk, dict[str, Any]]", rows)
