"""Imports instruction files for search: those that an agent would load in a project, read again now and then, never written.

Trust works as for the agent: a file outside the repository is only imported while its project is trusted.
"""

import datetime as dt
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from django.db import transaction
from django.db.models import F, Q, QuerySet

from dreams.lib.agents.base import InstructionFile
from dreams.lib.files.text import storable
from dreams.lib.secrets.redact import values, without
from dreams.models import InstructionText, Project
from dreams.services import secret_paths
from dreams.services.memories import instructions

# A file has at most 200 KB: the agent does not load a longer one either.
MOST_FILES = 100
MOST_CHARS = 1 << 20
MOST_PROJECTS = 1_000
#: For all projects together in one discovery; those that waited longest are read first.
SECONDS = 2.0
EVERY = dt.timedelta(minutes=10)

log = logging.getLogger(__name__)


def read_due(host: str, now: dt.datetime) -> None:
    """Reads the files of projects not read for ten minutes, within a time limit. An error in one project stops no other."""
    until = time.monotonic() + SECONDS
    gone = Project.objects.filter(host=host, gone_at__isnull=False)
    if InstructionText.projects.through.objects.filter(project__in=gone).exists():
        _unlink(gone)
    for pk in _due(host, now):
        try:
            # Each project is reloaded: trust may have been withdrawn meanwhile.
            project = Project.objects.get(pk=pk)
            _keep(project, instructions.files(project))
        except Exception:
            log.exception("instruction files of project %s", pk)
        Project.objects.filter(pk=pk).update(instructions_read_at=now)
        if time.monotonic() > until:
            return


def forget(project: Project) -> None:
    """Call it when trust changes: search finds none of the project's files until they are read again."""
    of_repository = Q(host=project.host, repo_dir=project.repo_dir) if project.repo_dir else Q(pk=project.pk)
    rows = Project.objects.filter(of_repository)
    _unlink(rows)
    rows.update(instructions_read_at=None)


def _due(host: str, now: dt.datetime) -> list[int]:
    rows = Project.objects.filter(host=host, kind=Project.Kind.AUTO, gone_at__isnull=True).exclude(
        repo_dir=""
    )
    rows = rows.filter(
        Q(instructions_read_at__isnull=True)
        | Q(instructions_read_at__lte=now - EVERY)
        | Q(instructions_read_at__gt=now)
    )
    oldest_first = F("instructions_read_at").asc(nulls_first=True)
    return list(
        rows.order_by(oldest_first, F("last_session_at").desc(nulls_last=True), "pk").values_list(
            "pk", flat=True
        )[:MOST_PROJECTS]
    )


def _unlink(projects: QuerySet[Project]) -> None:
    for each in (InstructionText.projects, InstructionText.always_in):
        each.through.objects.filter(project__in=projects.values("pk")).delete()
    _forget_unloaded()


def _forget_unloaded() -> None:
    InstructionText.objects.filter(projects__isnull=True).delete()


def _keep(project: Project, found: Iterable[InstructionFile]) -> None:
    """Replaces the project's rows with the files found now; a file no longer loaded is removed from the search index too."""
    texts = dict(_texts(found))
    with transaction.atomic():
        rows = InstructionText.objects.filter(host=project.host, path__in=list(texts))
        known = {row.path: row for row in rows}
        kept = [_put(project.host, file, text, known) for (file, text) in texts.values()]
        project.instruction_texts.set(kept)
        always = zip(kept, texts.values(), strict=True)
        project.always_loaded_texts.set(row for row, (file, _) in always if not file.when)
        secret_paths.mark_folders((project.pk, path) for path in texts)
        _forget_unloaded()


def _put(
    host: str, file: InstructionFile, text: str, known: Mapping[str, InstructionText]
) -> InstructionText:
    row = known.get(file.path)
    if row is not None and (row.text, row.scope) == (text, file.scope):
        return row
    row, _ = InstructionText.objects.update_or_create(
        host=host,
        path=file.path,
        defaults={
            "scope": file.scope,
            "text": text,
            "changed_at": _changed_at(file.path),
            "indexed": False,
        },
    )
    return row


def _texts(found: Iterable[InstructionFile]) -> Iterator[tuple[str, tuple[InstructionFile, str]]]:
    """(path, (file, text without secrets)) in the order in which the agent loads them, up to the limits per project."""
    room, seen = MOST_CHARS, set[str]()
    for file in found:
        if file.problem or not file.text.strip() or file.path in seen:
            continue
        room -= len(file.text)
        if room < 0 or len(seen) >= MOST_FILES:
            return
        seen.add(file.path)
        text = storable(file.text)
        yield file.path, (file, without(text, values(text)))


def _changed_at(path: str) -> dt.datetime:
    try:
        seconds = Path(path).stat().st_mtime
    except OSError:
        seconds = 0.0
    return dt.datetime.fromtimestamp(max(0.0, min(seconds, 4e9)), dt.UTC)
