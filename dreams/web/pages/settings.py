"""Settings and policies for the settings pages: current values, their sources, and earned policies."""

import json
import urllib.parse
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.urls import reverse

from dreams import conf
from dreams.engines import versions
from dreams.lib.files.text import is_folder
from dreams.models import Channel, Operation, Policy, Project
from dreams.services import agent_settings, discovery, notify
from dreams.services.agent_settings import SettingsRefused
from dreams.services.policies import Table, action_for, earned, table
from dreams.services.proposals import decisions
from dreams.services.settings_changes import MEMORY_TYPES, POLICY_KINDS

MOST_EXAMPLES = 40  # of one offer; chosen
#: The operations that a policy can cover, besides a kind of change.
BY_TYPE = (Policy.Operation.ADD, Policy.Operation.CHANGE, Policy.Operation.REMOVE)
POLICIES_SAY = (
    "What dreams may write without asking you, from the next one on. Team memory, and a finding that needs a person, always "
    "wait for you."
)
KINDS_FIRST = "A policy for a kind of change comes before one for a memory type."
REMOVES_ALONE = (
    "Memories can be removed without asking you.",
    "Each removal can be undone, but you will not see it first.",
)
REMOVING = (Operation.Kind.MERGE, Operation.Kind.UPDATE, Operation.Kind.PRUNE)


@dataclass(frozen=True, slots=True)
class PolicyCell:
    """One policy of the form. `action` is its value here ("" if not set), or what was typed; `was` is its value in any case,
    `otherwise` what happens without it."""

    label: str
    field: str
    action: str
    was: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class PolicyRow:
    label: str
    cells: list[PolicyCell]


def policies_at(projects: Collection[int]) -> dict[int, str]:
    """Project → the address of the policies that apply changes there: its own, or those of everywhere."""
    own = Policy.objects.filter(project__in=projects, action=Policy.Action.AUTO).values_list(
        "project", flat=True
    )
    pages = {pk: reverse("project-settings", args=[pk]) for pk in own}
    return {pk: f"{pages.get(pk) or reverse('settings')}#policies" for pk in projects}


def by_type(project: Project | None, typed: Mapping[str, str] | None = None) -> list[PolicyRow]:
    """`typed`: field → action of a refused form."""
    found, own = table(project), project is not None
    return [
        PolicyRow(
            memory_type.capitalize() or "Any type",
            [
                _cell(found, (own, "", memory_type, operation.value), operation.label, typed)
                for operation in BY_TYPE
            ],
        )
        for memory_type in MEMORY_TYPES
    ]


def by_kind(project: Project | None, typed: Mapping[str, str] | None = None) -> list[PolicyRow]:
    """As `by_type`, by kind of change; the last row is for cards, to which no other policy applies."""
    found, own = table(project), project is not None
    caught = _cell(found, (own, "", "", Policy.Operation.CATCH), "Policy", typed)
    rows = [
        PolicyRow(decisions.kind_label(kind), [_cell(found, (own, kind, "", ""), "Policy", typed)])
        for kind in decisions.KINDS_IN_ORDER
        if kind in POLICY_KINDS
    ]
    return [*rows, PolicyRow("Caught in your sessions", [caught])]


def otherwise(policy: Policy) -> str:
    """What will happen to a policy's changes without it."""
    here = (policy.project_id is not None, policy.kind, policy.memory_type, policy.operation)
    return _cell(table(policy.project), here, "").otherwise


def _cell(
    found: Table, here: tuple[bool, str, str, str], label: str, typed: Mapping[str, str] | None = None
) -> PolicyCell:
    _, kind, memory_type, operation = here
    without = {key: action for key, action in found.items() if key != here}
    otherwise = action_for(without, memory_type, operation, kind)
    words = {Policy.Action.AUTO: "applied", Policy.Action.REVIEW: "reviewed"}
    field = field_of(memory_type, operation, kind)
    return PolicyCell(
        label=str(label),
        field=field,
        action=(typed or {}).get(field, found.get(here, "")),
        was=found.get(here, ""),
        otherwise=words.get(Policy.Action(otherwise), "")
        if otherwise
        else "by memory type"
        if kind
        else "reviewed",
    )


def field_of(memory_type: str, operation: str, kind: str = "") -> str:
    return f"kind-{kind}" if kind else f"{memory_type or 'any'}-{operation}"


def removes_without_asking(project: Project | None) -> bool:
    """Whether removals are applied without review, including by policies for all projects."""
    found = table(project)
    by_type = (action_for(found, name, Policy.Operation.REMOVE) for name in MEMORY_TYPES)
    by_kind = (action_for(found, "", "", kind) for kind in REMOVING)
    return Policy.Action.AUTO in {*by_type, *by_kind}


def earned_rows() -> list[dict[str, Any]]:
    """Earned policies: those in force first, then ended ones. Two queries."""
    rows = Policy.objects.exclude(maker="").order_by("action", "-changed_at")
    applied = Counter(Operation.objects.filter(policy__in=rows).values_list("policy", flat=True))
    return [
        {
            "row": row,
            "kind": decisions.kind_label(row.kind),
            "maker": versions.maker_name(row.maker),
            "applied": applied.get(row.pk, 0),
            "ended": _ended(row),
        }
        for row in rows
        if row.action == Policy.Action.AUTO or applied.get(row.pk)
    ]


def _ended(row: Policy) -> str:
    if row.action != Policy.Action.AUTO:
        return row.note
    return "" if earned.is_current(row.kind, row.maker) else "The engine has changed since then."


def offers() -> list[dict[str, Any]]:
    """Policies offered to the person. Four queries."""
    found = earned.offers()
    shown = {pk for offer in found for pk in offer.operations[:MOST_EXAMPLES]}
    examples = _examples(shown) if shown else {}
    return [
        {
            "record": offer,
            "name": decisions.kind_label(offer.kind).lower(),
            "by": versions.maker_name(offer.maker),
            "examples": [examples[pk] for pk in offer.operations[:MOST_EXAMPLES] if pk in examples],
            "more": max(0, len(offer.operations) - MOST_EXAMPLES),
        }
        for offer in found
    ]


def _examples(wanted: Collection[int]) -> Mapping[int, dict[str, Any]]:
    rows = Operation.objects.filter(pk__in=wanted).select_related("proposal__project")
    found = [(row, list(row.hunks.all())) for row in rows.prefetch_related("hunks__file")]
    return {
        row.pk: {"row": row, "places": decisions.places(hunks), "hunk": hunks[0].pk if hunks else ""}
        for row, hunks in found
    }


SOURCES = {
    "default": "Default",
    "environment": "From the environment",
    "everywhere": "Set for all projects",
    "project": "Set for this project",
}
GROUPS = {
    "When": "When a project is ready to dream.",
    "Catching": "What you plainly say in a session becomes a card the same day.",
    "Engine": "What does the dreaming, and its limits.",
    "Recall": "Which memories your agent is given for a question.",
    "Budget": "What memoryweb may spend. Only a model costs anything.",
    "Review": "What policies may apply without you, and how many questions a dream asks.",
    "Index": "How much of MEMORY.md an agent loads, and how dreams write to it.",
    "Places": "Where your agents keep their notes.",
    "Digest": "A summary of what is waiting for you, by mail or webhook. Off until you give an address; when it is sent is on Schedule.",
}
# Pausing is at the end, where it is not pressed by accident.
APART = frozenset({"paused"})


@dataclass(frozen=True, slots=True)
class Setting:
    spec: conf.Spec
    value: conf.Value
    source: conf.SourceName
    source_label: str
    can_reset: bool
    text: str
    error: str = ""

    @property
    def was(self) -> str:
        return as_typed(self.spec, self.value)

    @property
    def is_switch(self) -> bool:
        return self.spec.kind is bool

    @property
    def is_number(self) -> bool:
        return self.spec.kind in (int, float)

    @property
    def is_long(self) -> bool:
        return self.spec.key == "roots"

    @property
    def default(self) -> str:
        return as_text(self.spec, self.spec.default)

    @property
    def bounds(self) -> str:
        low, high = self.spec.minimum, self.spec.maximum
        return f"{low:,.15g} to {high:,.15g}" if low is not None and high is not None else ""


def channels() -> list[tuple[Channel, str]]:
    """Each way of sending the digest, with where to."""
    rows = {row.name: row for row in Channel.objects.all()}
    return [
        (rows.get(name) or Channel(name=name), _without_login(to)) for name, to in notify.configured().items()
    ]


def _without_login(to: str) -> str:
    """Only the host of a webhook, as its address often contains its secret."""
    return urllib.parse.urlsplit(to).hostname or to if "://" in to else to


def groups(
    project: Project | None, typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """All settings by group; `typed` and `errors` are those of a refused form."""
    values = conf.sourced(project)
    # Stored values may contradict each other after a reset, or by the environment or values for all projects.
    wrong = errors or conf.at_odds({key: found.value for key, found in values.items()})
    shown = [
        _setting(spec, values[key], project, (typed or {}).get(key), wrong.get(key, ""))
        for key, spec in conf.specs().items()
        if key not in APART and (project is None or spec.per_project)
    ]
    found = [_group(name, [s for s in shown if s.spec.group == name]) for name in GROUPS]
    return [group for group in found if group["common"] or group["advanced"]]


def as_text(spec: conf.Spec, value: conf.Value) -> str:
    if spec.kind is bool:
        return "on" if value else "off"
    if spec.choices is not None:
        return spec.choices.get(str(value), str(value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def as_typed(spec: conf.Spec, value: conf.Value) -> str:
    """The value for a form field: for a choice its value, not its label."""
    return as_text(spec, value) if spec.choices is None else str(value)


def _setting(
    spec: conf.Spec, found: conf.Sourced, project: Project | None, typed: str | None, error: str
) -> Setting:
    here: conf.SourceName = "project" if project is not None else "everywhere"
    return Setting(
        spec=spec,
        value=found.value,
        source=found.source,
        source_label=SOURCES[found.source],
        can_reset=found.source == here,
        text=as_typed(spec, found.value) if typed is None else typed,
        error=error,
    )


def _group(name: str, settings: list[Setting]) -> dict[str, Any]:
    return {
        "name": name,
        "sentence": GROUPS[name],
        "common": [s for s in settings if not s.spec.advanced],
        "advanced": [s for s in settings if s.spec.advanced],
        "has_errors": any(s.error for s in settings if s.spec.advanced),
    }


def hook() -> dict[str, Any]:
    entry = {"type": "command", "command": agent_settings.command(), "timeout": agent_settings.TIMEOUT}
    lines = json.dumps({"hooks": {agent_settings.EVENT: [{"hooks": [entry]}]}}, indent=2, ensure_ascii=False)
    return {"lines": lines, "folders": [_folder(root) for root in roots()]}


def roots() -> list[Path]:
    """The config folders that exist."""
    return [root for root in map(Path, discovery.configured_roots()) if is_folder(root)]


def _folder(root: Path) -> dict[str, Any]:
    """`refused` is why its settings cannot be written; then there is no change."""
    try:
        change = agent_settings.without_hook(root)
        there = not change.is_empty
        change = change if there else agent_settings.with_hook(root)
    except SettingsRefused as refused:
        return {"root": str(root), "has_hook": False, "change": None, "refused": str(refused)}
    return {"root": str(root), "has_hook": there, "change": change, "refused": ""}
