"""The audit log as a filtered list, its chain, and its lines for export."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse

from dreams import auditlog
from dreams.models import AuditEntry, DreamRun, Project, Proposal
from dreams.web.paging import Listed, page_of
from dreams.web.selectors.used import used

PAGE_SIZE = 50
MOST_PROBLEMS = 50
MOST_FACTS = 5
SHORT = 60
MOST_PROJECTS = 500
MOST_ACTORS = 50


@dataclass(frozen=True, slots=True)
class Filter:
    action: str = ""
    actor: str = ""
    project: int | None = None
    text: str = ""

    @property
    def is_on(self) -> bool:
        return bool(self.action or self.actor or self.project or self.text)


@dataclass(frozen=True, slots=True)
class EntryRow:
    number: int
    at: dt.datetime
    action: str
    label: str
    tone: str
    actor: str
    project: str
    project_pk: int | None
    project_gone: bool
    object_id: str
    leads_to: str
    facts: list[tuple[str, str]]
    data: str


@dataclass(frozen=True, slots=True)
class Chain:
    """`problems` is empty when every entry is as it was written."""

    entries: int
    problems: list[str]
    more: int


@dataclass(frozen=True, slots=True)
class Choices:
    actions: list[tuple[str, str]]
    actors: list[str]
    projects: list[tuple[int, str]]


def entries(wanted: Filter, number: str | None = None) -> Listed[EntryRow]:
    page = page_of(_rows(wanted).order_by("-number"), number, PAGE_SIZE)
    found = list(page.object_list)
    known = _Known.of(found)
    return Listed([_row(row, known) for row in found], page)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the entries of one page speak of and still exists: the log outlives it, and no link leads nowhere."""

    projects: frozenset[int]
    proposals: frozenset[str]
    dreams: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[AuditEntry]) -> _Known:
        pks = {row.project_id_was for row in rows if row.project_id_was is not None}
        names = {row.object_id for row in rows if row.object_id}
        proposals, dreams = (
            model.objects.filter(public_id__in=names).values_list("public_id", flat=True)
            for model in (Proposal, DreamRun)
        )
        return cls(
            frozenset(Project.objects.filter(pk__in=pks).values_list("pk", flat=True)),
            frozenset(proposals),
            frozenset(dreams),
        )

    def address(self, name: str) -> str:
        if name in self.proposals:
            return reverse("review", args=[name])
        return reverse("dream", args=[name]) if name in self.dreams else ""


def _rows(wanted: Filter) -> QuerySet[AuditEntry]:
    rows = AuditEntry.objects.all()
    if wanted.action:
        rows = rows.filter(action=wanted.action)
    if wanted.actor:
        rows = rows.filter(actor="" if wanted.actor == "system" else wanted.actor)
    if wanted.project is not None:
        rows = rows.filter(project_id_was=wanted.project)
    if wanted.text:
        rows = rows.filter(Q(object_id__icontains=wanted.text) | Q(project_label__icontains=wanted.text))
    return rows


def choices() -> Choices:
    """What the filters offer: actions and actors that occur, and projects by the last name they had."""
    actions = {value for value, _ in used(AuditEntry, "action", len(auditlog.ACTIONS) + MOST_ACTORS)}
    actors = [str(value) for value, _ in used(AuditEntry, "actor", MOST_ACTORS + 1) if value]
    named = [pk for _, pk in used(AuditEntry, "project_id_was", MOST_PROJECTS)]
    labels = AuditEntry.objects.filter(pk__in=named).values_list("project_id_was", "project_label")
    return Choices(
        actions=[(name, label) for name, label in auditlog.ACTIONS.items() if name in actions],
        actors=["system", *actors[:MOST_ACTORS]],
        projects=sorted(((pk or 0, label) for pk, label in labels), key=lambda pair: pair[1].lower()),
    )


_TONES = {
    "apply.done": "ok",
    "apply.failed": "block",
    "rollback.done": "warn",
    "dream.cancelled": "warn",
    "history.purged": "block",
    "lock.healed": "warn",
    "review.finding_confirmed": "warn",
    "project.trusted": "warn",
    "setting.changed": "info",
    "policy.changed": "info",
}


# What these are about has a number that leads nowhere and says nothing to anybody.
_NUMBERED = ("login.link", "history.purged")


def _row(row: AuditEntry, known: _Known) -> EntryRow:
    label = auditlog.ACTIONS.get(row.action, row.action)
    return EntryRow(
        number=row.number,
        at=row.at,
        action=row.action,
        label=label,
        tone=_TONES.get(row.action, ""),
        actor=row.actor,
        project=row.project_label,
        project_pk=row.project_id_was if row.project_id_was in known.projects else None,
        project_gone=row.project_id_was is not None and row.project_id_was not in known.projects,
        object_id="" if row.action in _NUMBERED else row.object_id,
        leads_to=known.address(row.object_id),
        facts=_facts(row.data, label),
        data=_unfolded(row.data),
    )


def _unfolded(data: Mapping[str, object]) -> str:
    """All of it, where the line does not say everything already."""
    said = {
        name
        for name, value in data.items()
        if not isinstance(value, list | dict) and len(str(value)) <= SHORT
    }
    if len(said) == len(data) <= MOST_FACTS:
        return ""
    return json.dumps(data, ensure_ascii=False, indent=1)[:8_000]


def _facts(data: Mapping[str, object], label: str) -> list[tuple[str, str]]:
    """The few plain values, and how many of a list, for the line; all of it can be unfolded."""
    plain = {name: len(value) if isinstance(value, list) else value for name, value in data.items()}
    said = [
        (name.replace("_", " "), _word(value))
        for name, value in plain.items()
        if isinstance(value, str | int | float) and value
    ]
    return [(name, word) for name, word in said if word not in label.lower()][:MOST_FACTS]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"


def chain() -> Chain:
    problems = auditlog.verify_chain()
    return Chain(AuditEntry.objects.count(), problems[:MOST_PROBLEMS], max(0, len(problems) - MOST_PROBLEMS))


def lines(wanted: Filter) -> Iterator[str]:
    """JSON lines, oldest first, with everything that the hashes cover, so that the chain can be checked elsewhere."""
    for row in _rows(wanted).order_by("number").iterator(chunk_size=1000):
        yield json.dumps(_exported(row), ensure_ascii=False, sort_keys=True) + "\n"


def _exported(row: AuditEntry) -> dict[str, object]:
    return {
        "number": row.number,
        "at": row.at.astimezone(dt.UTC).isoformat(),
        "action": row.action,
        "actor": row.actor,
        "project_id": row.project_id_was,
        "project": row.project_label,
        "object_id": row.object_id,
        "batch": row.batch,
        "data": row.data,
        "prev_hash": row.prev_hash,
        "hash": row.hash,
    }
