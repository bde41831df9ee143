"""The rows that name a purged text, or quote from it: every column that can, in one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, Q, QuerySet

from dreams.lib.secrets.redact import without
from dreams.models import (
    AppliedFile,
    Blob,
    Decision,
    DreamRun,
    Evidence,
    FileChange,
    Finding,
    Hunk,
    LedgerEntry,
    LeftOut,
    Memory,
    Operation,
    Project,
    Prompt,
    Proposal,
    Question,
    QuestionOption,
    Session,
    Turn,
    Version,
    WorkStep,
    WorkText,
)
from dreams.services.search import index

CHUNK = 500


def rename(project: Project, replaced: Mapping[str, str]) -> None:
    """Old sha256 → new one in every row of `project`; the old texts go, unless another project has the same one."""
    of = {"proposal__project": project}
    for rows, columns in (
        (Version.objects.filter(memory__project=project), ("sha256",)),
        (Memory.objects.filter(project=project), ("sha256",)),
        (FileChange.objects.filter(**of), ("base_sha", "new_sha", "rebased_from", "viewed_sha")),
        (Hunk.objects.filter(file__proposal__project=project), ("edited_sha", "verdict_base_sha")),
        (Decision.objects.filter(**of), ("base_sha", "text_sha")),
        (AppliedFile.objects.filter(application__proposal__project=project), ("before_sha", "after_sha")),
    ):
        for column in columns:
            _rename(rows, column, replaced)
    _rename_in_options(project, replaced)
    for sha in replaced:
        if not Version.objects.filter(sha256=sha).exists():
            drop([sha])
    # Unfinished work may hold it in any step, and another dream does that work again.
    WorkStep.objects.filter(dream__project=project).delete()
    WorkText.objects.filter(dream__project=project).delete()
    # The new texts are looked for by their words too.
    Version.objects.filter(memory__project=project, sha256__in=replaced.values()).update(indexed=False)


def _rename_in_options(project: Project, replaced: Mapping[str, str]) -> None:
    for row in QuestionOption.objects.filter(question__project=project).exclude(edits=[]):
        sides = [edit[side] for edit in row.edits for side in ("before", "after")]
        if not replaced.keys().isdisjoint(sides):
            row.edits = [
                {**edit, **{side: replaced.get(edit[side], edit[side]) for side in ("before", "after")}}
                for edit in row.edits
            ]
            row.save(update_fields=["edits"])


def drop(shas: Iterable[str]) -> None:
    """Texts that nothing names any more."""
    for sha in list(shas):
        index.forget(sha)
        Blob.objects.filter(sha256=sha).delete()


def _rename(rows: QuerySet[Any], column: str, replaced: Mapping[str, str]) -> None:
    for old, new in replaced.items():
        rows.filter(**{column: old}).update(**{column: new})


def scrub(project: Project, values: Mapping[str, str]) -> None:
    """Take the secrets (value → rule) out of quotes, reasons and other words of `project`'s rows."""
    of_proposal = Q(proposal__project=project)
    of_hunk = Q(hunk__file__proposal__project=project)
    for rows, columns in (
        (LedgerEntry.objects.filter(of_hunk), ("text", "target_text", "note")),
        (Evidence.objects.filter(of_hunk), ("quote", "context", "note")),
        (Operation.objects.filter(of_proposal), ("reason",)),
        (Finding.objects.filter(of_proposal), ("message", "remedy")),
        (Decision.objects.filter(of_proposal), ("reason",)),
        (Proposal.objects.filter(project=project), ("summary",)),
        (DreamRun.objects.filter(project=project), ("summary", "error")),
        (Turn.objects.filter(dream__project=project), ("text",)),
        (Memory.objects.filter(project=project), ("name", "description")),
        (Hunk.objects.filter(file__proposal__project=project), ("decide_reason",)),
        (LeftOut.objects.filter(project=project), ("reason",)),
        (Prompt.objects.filter(session__project=project), ("text",)),
        (Session.objects.filter(project=project), ("title",)),
        (Question.objects.filter(project=project), ("why",)),
        (QuestionOption.objects.filter(question__project=project), ("label",)),
    ):
        _scrub_text(rows, columns, values)
    index.read_again(
        Prompt.objects.filter(session__project=project, text__contains="[redacted: "),
        Session.objects.filter(project=project, title__contains="[redacted: "),
    )
    for found, column in (
        (Hunk.objects.filter(file__proposal__project=project), "claims"),
        (Hunk.objects.filter(file__proposal__project=project), "heard"),
        (Finding.objects.filter(of_proposal).exclude(told={}), "told"),
        (LeftOut.objects.filter(project=project), "added"),
        (DreamRun.objects.filter(project=project), "mended"),
        (Turn.objects.filter(dream__project=project), "tools"),
        (Question.objects.filter(project=project), "places"),
        (Question.objects.filter(project=project), "evidence"),
        (QuestionOption.objects.filter(question__project=project), "edits"),
        (FileChange.objects.filter(of_proposal, conflict__isnull=False), "conflict"),
    ):
        _scrub_json(found, column, values)


def _scrub_text(rows: QuerySet[Any], columns: tuple[str, ...], values: Mapping[str, str]) -> None:
    """The database finds them; only those are read."""
    for column in columns:
        for value in values:
            for row in rows.filter(**{f"{column}__contains": value}).iterator(chunk_size=CHUNK):
                setattr(row, column, without(getattr(row, column), values))
                row.save(update_fields=[column])


def _scrub_json(rows: QuerySet[Any], column: str, values: Mapping[str, str]) -> None:
    """JSON is escaped in the database, so it is looked at here, a few hundred rows at a time."""
    for row in rows.only("pk", column).iterator(chunk_size=CHUNK):
        before = getattr(row, column)
        after = _without(before, values)
        if after != before:
            setattr(row, column, after)
            _save(row, column)


def _save(row: Model, column: str) -> None:
    row.save(update_fields=[column])


def _without(value: object, values: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return without(value, values)
    if isinstance(value, list):
        return [_without(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _without(item, values) for key, item in value.items()}
    return value
