"""Earned policies: after many similar decisions memoryweb offers to apply that kind of change, but only a person can accept.

Decisions count for one kind of change and one maker (engine, model and version of its code), and only where the
policy would have applied the change as it was. A batch counts once. A rejection, an edit or an undo restarts the count;
the first undo also ends an accepted policy, and so does the first one that a person would not have as it was. The order is
that of ids, not of clocks.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils import timezone

from dreams.engines import drafts, versions
from dreams.engines.types import Edit
from dreams.lib.files import text
from dreams.models import (
    AppliedBatch,
    Decision,
    DreamRun,
    DreamUsage,
    FileChange,
    Finding,
    Hunk,
    Operation,
    Policy,
    Project,
    Proposal,
)
from dreams.models.prepared import prepared
from dreams.services import auditlog, blobs, database, proposals
from dreams.services.policies.routine import ROUTINE_KINDS, routine
from dreams.services.proposals import decisions

# Chosen: this many similar decisions, days and proposals cannot come from a single sitting.
LEAST_DECISIONS = 20
LEAST_DAYS = 3
LEAST_PROPOSALS = 3
#: How many operations earned policies may apply in one project within 24 hours; the rest waits for a person.
MOST_A_DAY = 10
A_DAY = dt.timedelta(days=1)
#: The findings that such a change may have, even if the project's other policies accept more.
ACCEPTED = frozenset({"info"})
#: The actor of decisions made by a policy.
POLICY_ACTOR = "policy"
#: How many decisions are read: enough for every kind, few enough for a page.
MOST_ROWS = 1_000
MOST_PASSED = 20  # listed
_SETTLED = (Proposal.State.SUBMITTED, Proposal.State.APPLIED)
_AGAINST = (Hunk.Verdict.REJECTED, Hunk.Verdict.EDITED)


class OfferGone(Exception):
    """The offer is no longer the one shown; the message says so."""


@dataclass(frozen=True, slots=True)
class Record:
    """The decisions in favour of one kind and maker. `operations` are those the policy would have applied, newest first."""

    kind: str
    maker: str
    decisions: int
    days: int
    proposals: int
    operations: tuple[int, ...]
    last: int

    @property
    def is_enough(self) -> bool:
        return (
            self.decisions >= LEAST_DECISIONS
            and self.days >= LEAST_DAYS
            and self.proposals >= LEAST_PROPOSALS
        )


def makers(dream: DreamRun, draft: drafts.Draft) -> dict[str, str]:
    """Operation → its maker, from the models that were really used, including a fallback."""
    asked = DreamUsage.objects.filter(dream=dream).exclude(model="").order_by("model")
    models = "+".join(asked.values_list("model", flat=True).distinct()) or dream.model
    return {
        key: versions.maker(dream.engine, models, operation.kind)
        for key, operation in draft.operations.items()
    }


def routine_of(dream: DreamRun, draft: drafts.Draft, edits: Sequence[Edit]) -> frozenset[str]:
    return routine(draft, edits, by_model=is_by_model(dream))


def is_by_model(dream: DreamRun) -> bool:
    return dream.engine != "rules"


def trusted(
    dream: DreamRun, draft: drafts.Draft, edits: Sequence[Edit], among: Collection[str]
) -> dict[str, int]:
    """Operation in `among` → the earned policy that may apply it."""
    rows = Policy.objects.filter(action=Policy.Action.AUTO).exclude(maker="")
    policies = {(row.kind, row.maker): row.pk for row in rows}
    if not policies:
        return {}
    made_by, fit = makers(dream, draft), routine_of(dream, draft, edits)
    found = {key: (operation.kind, made_by[key]) for key, operation in draft.operations.items()}
    return {
        key: policies[who] for key, who in found.items() if key in among and key in fit and who in policies
    }


def within_a_day(project: Project, wanted: Mapping[str, int], bad: Collection[str]) -> dict[str, int]:
    """As many of `wanted` as may still be applied today, except those in `bad`.

    Today is the last 24 hours and anything later, so that setting back the clock allows no more.
    """
    used = Operation.objects.filter(
        policy__isnull=False, proposal__project=project, proposal__created_at__gt=timezone.now() - A_DAY
    ).count()
    fit = [(key, policy) for key, policy in wanted.items() if key not in bad]
    return dict(fit[: max(0, MOST_A_DAY - used)])


def not_applied(part: Proposal) -> None:
    """Operations that a policy allowed but that were not written wait for a person."""
    waiting = part.operations.filter(policy__isnull=False).exclude(hunks__applied_in__isnull=False)
    Operation.objects.filter(pk__in=[row.pk for row in waiting]).update(policy=None)


def would_apply(proposal: Proposal, hunks: Sequence[Hunk], fine: Collection[str]) -> set[int]:
    """The operations of these hunks that an earned policy would apply unchanged.

    Excludes rebased files, which may contain other lines, and changes with a finding not in `fine`.
    """
    if proposal.origin != Proposal.Origin.DREAM or proposal.partial:
        return set()
    found = {hunk.operation_id for hunk in hunks if hunk.operation and hunk.operation.is_routine}
    bad = list(Finding.objects.filter(proposal=proposal).exclude(severity__in=ACCEPTED & set(fine)))
    files = {one.file_id for one in bad if one.hunk_id is None}
    spoken_of = {one.hunk_id for one in bad}
    against = {
        hunk.operation_id
        for hunk in hunks
        if hunk.file.rebased_from or hunk.file_id in files or hunk.pk in spoken_of
    }
    return {pk for pk in found - against if pk is not None}


_COLUMNS = (
    *("pk", "operation_id", "operation__kind", "operation__maker", "proposal_id", "proposal__state", "path"),
    *("hunk_id", "verdict", "batch", "is_routine", "by_command", "actor", "at"),
)


def _counts(row: Any) -> bool:
    """Whether a person approved it in the browser, as an agent can run commands."""
    by_person = not row.by_command and row.actor != POLICY_ACTOR
    return row.verdict == Hunk.Verdict.APPROVED and row.is_routine and by_person


def offers() -> list[Record]:
    """The policies to offer now, for the installed code. Two queries."""
    found = [record for record in records() if record.is_enough and is_current(record.kind, record.maker)]
    accepted = {(kind, maker) for kind, maker, _ in _automatic()} if found else ()
    return [record for record in found if (record.kind, record.maker) not in accepted]


@prepared
def _automatic() -> QuerySet[Policy, tuple[str, str, str]]:
    return Policy.objects.filter(action=Policy.Action.AUTO).values_list("kind", "maker", "changed_by")


def is_current(kind: str, maker: str) -> bool:
    """Whether the installed code made it, and its kind can be earned."""
    return any(kind == known and versions.is_current(maker, known) for known in ROUTINE_KINDS)


def records() -> list[Record]:
    """Every kind and maker with decisions, most decisions first."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in _decided():
        groups.setdefault((row.operation__kind, row.operation__maker), []).append(row)
    start = _counted_after() if groups else {}
    found = [
        _record(kind, maker, [row for row in rows if row.pk > start.get((kind, maker), 0)])
        for (kind, maker), rows in groups.items()
    ]
    return sorted(found, key=lambda record: -record.decisions)


@prepared
def _decided() -> QuerySet[Decision, Any]:
    """The newest decisions on hunks of routine kinds."""
    rows = Decision.objects.filter(operation__kind__in=ROUTINE_KINDS).exclude(operation__maker="")
    return rows.order_by("-pk").values_list(*_COLUMNS, named=True)[:MOST_ROWS]


def _counted_after() -> dict[tuple[str, str], int]:
    rows = Policy.objects.exclude(maker="").values_list("kind", "maker", "counted_after")
    return {(kind, maker): after for kind, maker, after in rows}


def _record(kind: str, maker: str, rows: Iterable[Any]) -> Record:
    """`rows` are newest first."""
    latest: dict[tuple[int, str, str], Any] = {}
    for row in rows:
        latest.setdefault((row.operation_id, row.path, row.hunk_id), row)
    against = max((row.pk for row in latest.values() if row.verdict in _AGAINST), default=0)
    whole: dict[int, list[Any]] = {}
    for row in latest.values():
        whole.setdefault(row.operation_id, []).append(row)
    good = {
        operation: parts[0]
        for operation, parts in whole.items()
        if all(_counts(part) and part.proposal__state in _SETTLED and part.pk > against for part in parts)
    }
    return Record(
        kind=kind,
        maker=maker,
        decisions=len({row.batch or operation for operation, row in good.items()}),
        days=len({timezone.localtime(row.at).date() for row in good.values()}),
        proposals=len({row.proposal_id for row in good.values()}),
        operations=tuple(good),
        last=max((row.pk for row in good.values()), default=0),
    )


def accept(kind: str, maker: str, last: int, *, actor: str) -> Policy:
    """Accept the offer as it was shown (`last`). Raises OfferGone."""
    with transaction.atomic():
        database.one_at_a_time("settings")
        offer = next((found for found in offers() if (found.kind, found.maker) == (kind, maker)), None)
        if offer is None or offer.last != last:
            raise OfferGone("Something has been decided or undone since this was shown. Nothing was changed.")
        row = _row(kind, maker)
        row.action, row.note, row.changed_by = Policy.Action.AUTO, "", actor
        row.ended_by_undo = False
        row.save()
        _audit("policy.earned", row, actor, decisions=offer.decisions, days=offer.days)
    return row


def decline(kind: str, maker: str, *, actor: str) -> None:
    """Not now: offered again after as many new decisions. Raises OfferGone."""
    if kind not in ROUTINE_KINDS or not Operation.objects.filter(kind=kind, maker=maker).exists():
        raise OfferGone("There is no such offer.")
    _start_anew(kind, maker, "policy.declined", "The offer was declined.", actor)


def end(policy: Policy, *, actor: str) -> None:
    """End an earned policy at a person's request."""
    _start_anew(policy.kind, policy.maker, "policy.ended", "It was no longer wanted.", actor)


def corrected(made: AppliedBatch) -> list[str]:
    """After a write by hand: removing a line that a policy wrote also counts as an undo. Returns what `undone` does."""
    hunks = Hunk.objects.filter(
        file__proposal__project=made.proposal.project,
        file__path__in=made.files.values("path"),
        operation__policy__isnull=False,
        applied_in__isnull=False,
        undone_in__isnull=True,
    ).select_related("file__proposal")
    paths = {hunk.file.path for hunk in hunks}
    files = FileChange.objects.filter(proposal=made.proposal, path__in=paths).prefetch_related("hunks")
    gone = _removed(files)
    shas = {hunk.file.new_sha for hunk in hunks}
    # The files are written: a text that is no longer stored has no lines here, and stops nothing.
    texts = proposals.Texts({**dict.fromkeys(shas, b""), **blobs.get_many(shas)})
    ended = []
    for hunk in hunks:
        wrote = texts.lines(hunk.file.new_sha)[hunk.new_start : hunk.new_start + hunk.new_count]
        if gone[hunk.file.path] & _lines("".join(wrote)):
            ended += undone(hunk.file.proposal, [hunk], actor=made.actor)
    return ended


def _removed(files: Collection[FileChange]) -> dict[str, set[str]]:
    """Path → the lines that are no longer in the file after its verdicts."""
    texts = proposals.texts_of(files)
    sides = {
        file.path: (proposals.bytes_of(file.base_sha, texts), proposals.decided_bytes(file, texts=texts))
        for file in files
    }
    return {
        path: _lines(text.decode(old or b"")) - _lines(text.decode(new or b""))
        for path, (old, new) in sides.items()
    }


def _lines(content: str) -> set[str]:
    return {line for line in map(str.strip, content.splitlines()) if line}


def undone(proposal: Proposal, hunks: Iterable[Hunk], *, actor: str) -> list[str]:
    """After an undo was written, end the policies of the undone kinds and restart their counts. Returns a sentence for each
    policy that was on."""
    why = f"A change of {proposal.public_id} was undone."
    return [
        f"{named(kind, maker)} are no longer applied without asking."
        for kind, maker in _kinds_of(hunks)
        if _start_anew(kind, maker, "policy.ended", why, actor, by_itself=True)
    ]


REFUSED = "was rejected or edited."  # the end of the reason


def turned_down(proposal: Proposal) -> None:
    """After a submit, end the policies that would have applied what a person rejected or edited. Who did that last has ended them,
    not who submits."""
    fit = Decision.objects.filter(proposal=proposal, verdict__in=_AGAINST, is_routine=True)
    hunks = Hunk.objects.filter(file__proposal=proposal, verdict__in=_AGAINST, operation__decisions__in=fit)
    earned = hunks.filter(operation__kind__in=ROUTINE_KINDS).exclude(operation__maker="")
    rows = earned.order_by("decided_at").values_list("operation__kind", "operation__maker", "decided_by")
    why = f"A change of {proposal.public_id} {REFUSED}"
    for (kind, maker), who in {(kind, maker): who for kind, maker, who in rows}.items():
        _start_anew(kind, maker, "policy.ended", why, who, by_itself=True)


def ended_by(hunks: Iterable[Hunk]) -> list[tuple[str, str]]:
    """The policies, by name, that the undo of these would end, each with who accepted it."""
    kinds = set(_kinds_of(hunks))
    return [(named(kind, maker), by) for kind, maker, by in sorted(_automatic()) if (kind, maker) in kinds]


def ended_since(since: dt.datetime, reader: str) -> list[dict[str, Any]]:
    """The policies that a refused change ended since then, or an undo by others than `reader`, which tells so itself; newest
    first."""
    return [
        {"name": named(row.kind, row.maker), "row": row}
        for row in _ended(since)
        if row.changed_by != reader or row.note.endswith(REFUSED)
    ]


@prepared
def _ended(since: dt.datetime) -> QuerySet[Policy]:
    rows = Policy.objects.filter(ended_by_undo=True, changed_at__gte=since)
    return rows.order_by("-changed_at")


def _kinds_of(hunks: Iterable[Hunk]) -> QuerySet[Operation, tuple[str, str]]:
    operations = Operation.objects.filter(pk__in={hunk.operation_id for hunk in hunks if hunk.operation_id})
    kinds = operations.filter(kind__in=ROUTINE_KINDS).exclude(maker="").order_by()
    return kinds.values_list("kind", "maker").distinct()


def named(kind: str, maker: str) -> str:
    """ "Fixed relative dates from the rules engine"."""
    return f"{decisions.kind_label(kind)} from {versions.maker_name(maker)}"


def _start_anew(kind: str, maker: str, action: str, why: str, actor: str, *, by_itself: bool = False) -> bool:
    """Restart the count and end the policy; returns whether it was on. With `by_itself`, logged only if it was."""
    with transaction.atomic():
        database.one_at_a_time("settings")
        row = _row(kind, maker)
        was_on = row.action == Policy.Action.AUTO
        row.counted_after = Decision.objects.aggregate(last=Max("pk"))["last"] or 0
        if was_on:
            row.action, row.note, row.changed_by = Policy.Action.REVIEW, why, actor
            row.ended_by_undo = by_itself
        # Of one that had ended before it stays known who ended it, when and why.
        row.save(update_fields=["counted_after"] if row.pk and not was_on else None)
        if was_on or not by_itself:
            _audit(action, row, actor, why=why, by_itself=by_itself)
    return was_on


def _row(kind: str, maker: str) -> Policy:
    rows = Policy.objects.select_for_update(of=("self",)).filter(project=None, kind=kind, maker=maker)
    return rows.first() or Policy(kind=kind, maker=maker)


def _audit(action: str, row: Policy, actor: str, **data: Any) -> None:
    auditlog.record(action, actor=actor, object_id=row.kind, maker=row.maker, **data)


@dataclass(frozen=True, slots=True)
class AppliedByPolicy:
    """A change that an earned policy applied, with what is needed to undo it."""

    reason: str
    places: tuple[str, ...]
    project: str
    proposal: str
    hunk: Hunk
    at: dt.datetime
    is_undone: bool


def applied_since(since: dt.datetime) -> list[AppliedByPolicy]:
    """What earned policies applied since then, newest first. Two queries."""
    shown = _applied(since)
    hunks: dict[int, list[Hunk]] = {}
    rows = Hunk.objects.filter(operation__in=shown).select_related("file", "applied_in")
    for hunk in rows if shown else ():
        hunks.setdefault(hunk.operation_id or 0, []).append(hunk)
    return [_passed(row, hunks[row.pk]) for row in shown]


@prepared
def _applied(since: dt.datetime) -> QuerySet[Operation]:
    written = Exists(Hunk.objects.filter(operation=OuterRef("pk"), applied_in__at__gte=since))
    # By policy, as else SQLite would go through all changes of all projects.
    rows = Operation.objects.filter(written, policy__in=Policy.objects.order_by())
    return rows.select_related("proposal__project").order_by("-pk")[:MOST_PASSED]


def _passed(row: Operation, hunks: Sequence[Hunk]) -> AppliedByPolicy:
    return AppliedByPolicy(
        reason=row.reason,
        places=decisions.places(hunks),
        project=str(row.proposal.project),
        proposal=row.proposal.public_id,
        hunk=hunks[0],
        at=max(hunk.applied_in.at for hunk in hunks if hunk.applied_in),
        is_undone=all(hunk.undone_in_id for hunk in hunks),
    )
