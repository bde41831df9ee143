"""Policies as pages show them: what is set, what was earned, what is offered, and what was applied without a person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from dreams.engines import versions
from dreams.models import Operation, Policy, Project
from dreams.services.policies import action_for, earned, table
from dreams.services.policies.rules import Table
from dreams.services.proposals import decisions
from dreams.services.settings_changes import MEMORY_TYPES, POLICY_KINDS

LATELY = dt.timedelta(days=7)
MOST_PASSED = 20
MOST_EXAMPLES = 40
#: What a policy can be about, besides a kind of change.
BY_TYPE = (Policy.Operation.ADD, Policy.Operation.CHANGE, Policy.Operation.REMOVE)
REMOVING = (Operation.Kind.MERGE, Operation.Kind.UPDATE, Operation.Kind.PRUNE)


@dataclass(frozen=True, slots=True)
class Cell:
    """One policy that can be set. `action` is what is set here ("" for nothing), `otherwise` what happens without it."""

    label: str
    field: str
    action: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class EarnedRow:
    """A policy that was earned. `ended` says why it is no longer in force; empty while it is."""

    pk: int
    kind: str
    maker: str
    applied: int
    since: dt.datetime
    ended: str


@dataclass(frozen=True, slots=True)
class Example:
    """A change that the policy would have applied."""

    reason: str
    project: str
    proposal: str


@dataclass(frozen=True, slots=True)
class Offer:
    """`last` is what the answer carries: it is refused when something was decided since."""

    kind: str
    maker: str
    name: str
    by: str
    decisions: int
    days: int
    proposals: int
    last: int
    examples: list[Example]
    more: int


def by_type(project: Project | None, typed: Mapping[str, str] | None = None) -> list[Row]:
    """`typed`: field → action of a form that was not taken."""
    found = table(project)
    own = project is not None
    rows = [
        Row(
            memory_type.capitalize() or "Any type",
            [_cell(found, (own, "", memory_type, operation.value), operation.label) for operation in BY_TYPE],
        )
        for memory_type in MEMORY_TYPES
    ]
    return [_as_typed(row, typed or {}) for row in rows]


def by_kind(project: Project | None, typed: Mapping[str, str] | None = None) -> list[Row]:
    """As `by_type`; last what was caught in sessions, to which no other policy applies."""
    found = table(project)
    own = project is not None
    caught = _cell(found, (own, "", "", Policy.Operation.CATCH), "Policy")
    rows = [
        Row(decisions.named(kind), [_cell(found, (own, kind, "", ""), "Policy")])
        for kind in decisions.ORDER
        if kind in POLICY_KINDS
    ]
    rows.append(Row("Caught in your sessions", [caught]))
    return [_as_typed(row, typed or {}) for row in rows]


def _as_typed(row: Row, typed: Mapping[str, str]) -> Row:
    return Row(row.label, [replace(cell, action=typed.get(cell.field, cell.action)) for cell in row.cells])


def _cell(found: Table, here: tuple[bool, str, str, str], label: str) -> Cell:
    _, kind, memory_type, operation = here
    without = {key: action for key, action in found.items() if key != here}
    otherwise = action_for(without, memory_type, operation, kind)
    words = {Policy.Action.AUTO: "applied", Policy.Action.REVIEW: "reviewed"}
    return Cell(
        label=str(label),
        field=field_of(memory_type, operation, kind),
        action=found.get(here, ""),
        otherwise=words.get(Policy.Action(otherwise), "")
        if otherwise
        else "by memory type"
        if kind
        else "reviewed",
    )


def field_of(memory_type: str, operation: str, kind: str = "") -> str:
    return f"kind-{kind}" if kind else f"{memory_type or 'any'}-{operation}"


def removes_without_asking(project: Project | None) -> bool:
    found = Policy.objects.filter(project=project, action=Policy.Action.AUTO, maker="")
    removals = found.filter(operation=Policy.Operation.REMOVE) | found.filter(kind__in=REMOVING)
    return removals.exists()


def earned_rows() -> list[EarnedRow]:
    """Those in force first, then the ones that ended. Two queries."""
    rows = Policy.objects.exclude(maker="").order_by("action", "-changed_at")
    applied = _applied(rows)
    return [
        EarnedRow(
            pk=row.pk,
            kind=decisions.named(row.kind),
            maker=versions.maker_name(row.maker),
            applied=applied.get(row.pk, 0),
            since=row.changed_at,
            ended=_ended(row),
        )
        for row in rows
        if row.action == Policy.Action.AUTO or applied.get(row.pk)
    ]


def _applied(rows: Iterable[Policy]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for pk in Operation.objects.filter(policy__in=rows).values_list("policy", flat=True):
        found[pk or 0] = found.get(pk or 0, 0) + 1
    return found


def _ended(row: Policy) -> str:
    if row.action != Policy.Action.AUTO:
        return row.note
    return "" if earned.is_current(row.kind, row.maker) else "The engine changed since."


def offers() -> list[Offer]:
    """What may be applied from now on, if the person wants it. Three queries."""
    found = earned.offers()
    shown = {pk for offer in found for pk in offer.operations[:MOST_EXAMPLES]}
    examples = _examples(shown) if shown else {}
    return [
        Offer(
            kind=offer.kind,
            maker=offer.maker,
            name=decisions.named(offer.kind).lower(),
            by=versions.maker_name(offer.maker),
            decisions=offer.decisions,
            days=offer.days,
            proposals=offer.proposals,
            last=offer.last,
            examples=[examples[pk] for pk in offer.operations[:MOST_EXAMPLES] if pk in examples],
            more=max(0, len(offer.operations) - MOST_EXAMPLES),
        )
        for offer in found
    ]


def _examples(wanted: Collection[int]) -> Mapping[int, Example]:
    rows = Operation.objects.filter(pk__in=wanted).select_related("proposal__project")
    return {row.pk: Example(row.reason, str(row.proposal.project), row.proposal.public_id) for row in rows}


def passed(now: dt.datetime) -> list[earned.Passed]:
    return earned.passed(now - LATELY, MOST_PASSED)
