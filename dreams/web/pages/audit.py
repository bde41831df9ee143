"""The audit log page: entries as sentences, filters, and whether the hash chain is intact."""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, models
from django.db.models import Q, QuerySet
from django.urls import reverse

from dreams.models import AuditEntry, DreamRun, Project, Proposal
from dreams.services import auditlog
from dreams.services.audit_sentences import POLICY, Sentences
from dreams.web.pages.projects import with_unique_names
from dreams.web.pages.settings import policies_at
from dreams.web.paging import PageOfRows, page_of


def distinct(model: type[models.Model], column: str, most: int) -> list[tuple[str | int, int]]:
    """At most `most` distinct values of an indexed `column`, sorted, each with the newest row's id. One query.

    `DISTINCT` reads the whole table on SQLite and PostgreSQL; a log has many rows but few values.
    """
    quoted = connection.ops.quote_name
    table, column = quoted(model._meta.db_table), quoted(column)
    following = f"SELECT MIN({column}) FROM {table} WHERE {column} > step.found"  # noqa: S608 - names of our own
    newest = f"SELECT MAX(id) FROM {table} WHERE {column} = step.found"  # noqa: S608 - as above
    sql = (
        f"WITH RECURSIVE step(found) AS (SELECT MIN({column}) FROM {table}"  # noqa: S608 - as above
        f" UNION ALL SELECT ({following}) FROM step WHERE found IS NOT NULL)"
        f" SELECT found, ({newest}) FROM step WHERE found IS NOT NULL LIMIT %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [most])
        return [(value, newest_pk) for value, newest_pk in cursor.fetchall()]


PAGE_SIZE = 50  # rows; chosen
MOST_PROBLEMS = 50  # shown; chosen
MOST_DATA = 8_000  # characters of an entry; chosen
MOST_PROJECTS = 500  # to choose from; chosen
MOST_ACTORS = 50  # to choose from; chosen


@dataclass(frozen=True, slots=True)
class AuditFilter:
    action: str = ""
    actor: str = ""
    project: int | None = None
    text: str = ""

    @property
    def is_on(self) -> bool:
        return bool(self.action or self.actor or self.project or self.text)


def entries(wanted: AuditFilter, number: str | None = None, you: str = "") -> PageOfRows[dict[str, Any]]:
    """`you` is the reader's name: their own actions are shown as "you"."""
    page = page_of(_rows(wanted).order_by("-number"), number, PAGE_SIZE)
    found = list(page.object_list)
    known, told = _Known.of(found), Sentences.of(found, you)
    return PageOfRows([_row(row, known, told) for row in found], page)


@dataclass(frozen=True, slots=True)
class _Known:
    """The objects named by a page's entries that still exist: deleted ones get no link."""

    projects: frozenset[int]
    proposals: frozenset[str]
    dreams: frozenset[str]
    policies_at: Mapping[int, str]

    @classmethod
    def of(cls, rows: Sequence[AuditEntry]) -> "_Known":
        pks = {row.project_id_was for row in rows if row.project_id_was is not None}
        names = {row.object_id for row in rows if row.object_id}
        proposals, dreams = (
            model.objects.filter(public_id__in=names).values_list("public_id", flat=True)
            for model in (Proposal, DreamRun)
        )
        projects = frozenset(Project.objects.filter(pk__in=pks).values_list("pk", flat=True))
        return cls(projects, frozenset(proposals), frozenset(dreams), policies_at(projects))

    def address(self, name: str) -> str:
        if name in self.proposals:
            return reverse("review", args=[name])
        return reverse("dream", args=[name]) if name in self.dreams else ""


def _rows(wanted: AuditFilter) -> QuerySet[AuditEntry]:
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


def choices() -> dict[str, Any]:
    """The options of the filters: actions and actors that occur, and projects by their latest name."""
    actions = {value for value, _ in distinct(AuditEntry, "action", len(auditlog.ACTIONS) + MOST_ACTORS)}
    actors = [str(value) for value, _ in distinct(AuditEntry, "actor", MOST_ACTORS + 1) if value]
    named = [pk for _, pk in distinct(AuditEntry, "project_id_was", MOST_PROJECTS)]
    labels = AuditEntry.objects.filter(pk__in=named).values_list("project_id_was", "project_label")
    return {
        "actions": [(name, label) for name, (label, _) in auditlog.ACTIONS.items() if name in actions],
        "actors": ["system", *actors[:MOST_ACTORS]],
        "projects": sorted(
            with_unique_names((pk or 0, label) for pk, label in labels), key=lambda pair: pair[1].lower()
        ),
    }


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
    "price.changed": "info",
    "price.removed": "info",
    "policy.earned": "warn",
    "policy.ended": "info",
}


def _row(row: AuditEntry, known: _Known, told: Sentences) -> dict[str, Any]:
    return {
        "row": row,
        "label": auditlog.ACTIONS.get(row.action, (row.action, ""))[0],
        "tone": _TONES.get(row.action, ""),
        "sentence": told.sentence(row),
        "project_pk": row.project_id_was if row.project_id_was in known.projects else None,
        # An internal id means nothing to a reader.
        "object_id": "" if row.object_id.isdecimal() else row.object_id,
        "leads_to": known.address(row.object_id),
        "policies_at": row.actor == POLICY and known.policies_at.get(row.project_id_was or 0),
        "data": json.dumps(row.data, ensure_ascii=False, indent=1)[:MOST_DATA] if row.data else "",
    }


def chain() -> dict[str, Any]:
    problems = auditlog.verify_chain()
    return {
        "entries": AuditEntry.objects.count(),
        "problems": problems[:MOST_PROBLEMS],
        "more": max(0, len(problems) - MOST_PROBLEMS),
    }


def lines(wanted: AuditFilter) -> Iterator[str]:
    """JSON lines, oldest first, with all hashed fields, so that the chain can be checked elsewhere."""
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
