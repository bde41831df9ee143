"""Several proposals at once: every line that one verdict would change, and which need to be looked at one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Count

from dreams.lib.files.text import plural
from dreams.models import Hunk, Operation, Proposal, Question
from dreams.services import blobs, proposals
from dreams.services.proposals import decisions
from dreams.services.proposals.decisions import Counts
from dreams.web.pages import review_proposal
from dreams.web.pages.by_kind import Part, index_last, masked_parts, texts_of
from dreams.web.pages.review_proposal import Loaded, changed_since

#: A proposal that changes more lines is decided on its own page.
MOST_LINES = 80


@dataclass(frozen=True, slots=True)
class Decision:
    """One undecided decision with all its lines."""

    kind: str
    reason: str
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Shown:
    """Of one proposal. `why_not` says why it cannot be approved together with others; empty when it can."""

    decisions: Sequence[Decision] = field(default_factory=tuple)
    why_not: str = ""


def of(proposal_pks: Collection[int]) -> dict[int, Shown]:
    """Proposal → its undecided decisions. Two queries, however many there are."""
    rows = Hunk.objects.filter(file__proposal__in=proposal_pks, verdict=Hunk.Verdict.PENDING)
    rows = rows.select_related("file", "operation").order_by("file__path", "number")
    found: dict[int, list[Hunk]] = {pk: [] for pk in proposal_pks}
    for row in index_last(rows):
        found[row.file.proposal_id].append(row)
    texts = texts_of(rows)
    return {pk: _of_one(hunks, texts) for pk, hunks in found.items()}


def _of_one(hunks: Sequence[Hunk], texts: proposals.Texts) -> Shown:
    try:
        return _in_full(hunks, texts)
    except blobs.MissingBlob:
        return Shown(why_not="The text of one of its files is not kept, so it cannot be shown. Review it.")


def _in_full(hunks: Sequence[Hunk], texts: proposals.Texts) -> Shown:
    count = sum(hunk.base_count + hunk.new_count for hunk in hunks)
    if count > MOST_LINES:
        return Shown(why_not=f"It changes {plural(count, 'line')}, too many to show here. Review it.")
    shown, _, mask = masked_parts(hunks, texts)
    if mask.shown:
        return Shown(why_not="It has a secret, which is hidden here. Review it.")
    parts = {hunk.pk: part for hunk, part in zip(hunks, shown, strict=True)}
    groups = decisions.grouped(hunks).values()
    return Shown([_decision(group, [parts[hunk.pk] for hunk in group]) for group in groups])


def _decision(hunks: Sequence[Hunk], parts: Sequence[Part]) -> Decision:
    operation = hunks[0].operation
    return Decision(
        kind=str(operation.get_kind_display()) if operation else "Changed",
        reason=operation.reason if operation else "",
        parts=parts,
    )


#: Each proposal costs a look at its files.
MOST = 20
MOST_PATHS = 6
MOST_REASONS = 12
APPROVE, REJECT = "approve", "reject"


@dataclass(frozen=True, slots=True)
class Choice:
    """One selected proposal. `shown` is what would be approved, line by line; `reasons` are (kind, why) of all its changes;
    `why_not` says why it is left as it is, empty when the verdict can be given; `yours` are the answers of the person
    that are written with it."""

    public_id: str
    project: str
    paths: list[str]
    more_paths: int
    counts: Counts
    shown: Sequence[Decision]
    reasons: list[tuple[str, str]]
    more_reasons: int
    digest: str
    answers: str
    why_not: str
    yours: int


def chosen(public_ids: Sequence[str], verdict: str) -> list[Choice]:
    """Those that are there, in the order given; at most MOST. A fixed number of queries."""
    wanted = list(dict.fromkeys(public_ids))[:MOST]
    rows = {
        row.public_id: row
        for row in Proposal.objects.filter(public_id__in=wanted).select_related("project", "dream")
    }
    loaded = review_proposal.load_all([rows[name] for name in wanted if name in rows])
    operations = Operation.objects.filter(proposal__in=list(rows.values())).in_bulk()
    pks = [one.proposal.pk for one in loaded]
    counts = decisions.counts(pks)
    lines = of(pks) if verdict == APPROVE else {}
    yours = _answers(rows.values()) if verdict == APPROVE else {}
    return [
        _choice(
            one,
            verdict,
            counts[one.proposal.pk],
            lines.get(one.proposal.pk, Shown()),
            operations,
            yours.get(one.proposal.project_id, 0),
        )
        for one in loaded
    ]


def _answers(proposals: Iterable[Proposal]) -> Mapping[int, int]:
    """Project → how many answers wait there and are written with a dream's changes."""
    dreams = {row.project_id for row in proposals if row.origin == Proposal.Origin.DREAM}
    waiting = Question.objects.filter(
        project__in=dreams,
        state=Question.State.WAITING,
        operation__proposal__origin=Proposal.Origin.ANSWERS,
    )
    return dict(waiting.order_by().values_list("project").annotate(count=Count("pk")))


def _choice(
    loaded: Loaded,
    verdict: str,
    counts: Counts,
    shown: Shown,
    operations: Mapping[int, Operation],
    yours: int,
) -> Choice:
    reasons = _reasons(loaded, operations)
    return Choice(
        public_id=loaded.proposal.public_id,
        project=str(loaded.proposal.project),
        paths=[file.path for file in loaded.shown_files[:MOST_PATHS]],
        more_paths=max(0, len(loaded.shown_files) - MOST_PATHS),
        counts=counts,
        shown=shown.decisions,
        reasons=reasons[:MOST_REASONS],
        more_reasons=max(0, len(reasons) - MOST_REASONS),
        digest=loaded.digest,
        answers=loaded.answers,
        why_not=why_not(loaded, verdict) or shown.why_not,
        yours=yours,
    )


def _reasons(loaded: Loaded, operations: Mapping[int, Operation]) -> list[tuple[str, str]]:
    """What kind of change and why, once for those that go together."""
    found = [operations[hunk.operation_id] for hunk in loaded.all_hunks if hunk.operation_id is not None]
    return list(dict.fromkeys((str(one.get_kind_display()), one.reason) for one in found))


def why_not(loaded: Loaded, verdict: str) -> str:
    """Approving many unseen is only for what nothing speaks against; rejecting writes nothing, so it is for all."""
    if not loaded.is_open:
        return f"It is no longer open ({loaded.proposal.get_state_display().lower()})."
    if verdict == REJECT:
        return ""
    undecided = [one for one in loaded.decisions if one.is_open]
    left = len(undecided) - len(loaded.free(undecided))
    if left:
        return f"{plural(left, 'decision')} with a finding or a conflict: decide on {'it' if left == 1 else 'them'} there."
    stale = changed_since(loaded.proposal, loaded.files, loaded.memories)
    if stale:
        return f"{min(stale)} changed on disk since it was proposed."
    return ""
