"""Saves the first state of many memory directories together, in few transactions and disk flushes."""

from collections.abc import Iterable, Iterator, Mapping

from django.db import transaction
from django.utils import timezone

from dreams.lib import stopwatch
from dreams.lib.files.workspace import Snapshot, SnapshotFile
from dreams.lib.storage.history import HistoryStore
from dreams.models import Memory, Project, Proposal
from dreams.services import blobs, database
from dreams.services.memories import syncing
from dreams.services.search import index

Files = Mapping[str, SnapshotFile]


def save(found: Iterable[tuple[Project, Snapshot]]) -> set[int]:
    """Save histories, then rows, of projects that have neither yet; returns the ids of those that have both now.

    `syncing.sync` handles all others and reports errors. Raises the same errors as it.
    """
    looks = {project.pk: (project, snapshot.files) for project, snapshot in found if snapshot.files}
    known = {pk for model in (Memory, Proposal) for pk in _with_any(model, looks)}
    for pk in known:
        del looks[pk]
    begun = _histories(looks.values())
    for some in _together((project, files) for project, files in looks.values() if project.pk in begun):
        begun -= _rows(some)
    return begun


def _with_any(model: type[Memory | Proposal], projects: Iterable[int]) -> set[int]:
    rows = model.objects.filter(project__in=list(projects)).order_by()
    return set(rows.values_list("project", flat=True).distinct())


@stopwatch.part("history")
def _histories(looks: Iterable[tuple[Project, Files]]) -> set[int]:
    """Begin the missing histories; returns the ids of their projects."""
    new = {path.name: look for look in looks if not (path := syncing.history_path(look[0])).exists()}
    states = {
        name: syncing.history_state(project, files, syncing.Cause(), first_look=True)
        for name, (project, files) in new.items()
    }
    made = HistoryStore.begin(syncing.history_folder(), states) if states else set()
    return {new[name][0].pk for name in made}


def _together(looks: Iterable[tuple[Project, Files]]) -> Iterator[dict[Project, Files]]:
    """Batches for one transaction each: larger ones would block SQLite's only writer for seconds."""
    some: dict[Project, Files] = {}
    for project, files in looks:
        some[project] = files
        if sum(map(len, some.values())) >= syncing.ROWS_AT_ONCE:
            yield some
            some = {}
    if some:
        yield some


def _rows(looks: dict[Project, Files]) -> set[int]:
    """Add rows and bytes; returns the ids of projects to which another process added rows meanwhile."""
    now = timezone.now()
    found = [(syncing.new_row(project, file), file) for project, file in _memories(looks)]
    with transaction.atomic():
        for pk in sorted(project.pk for project in looks):
            database.one_at_a_time(f"memories of {pk}")
        late = _with_any(Memory, [project.pk for project in looks])
        new = [(row, file) for row, file in found if row.project_id not in late]
        blobs.put_many(file.data for _, file in new)
        rows = Memory.objects.bulk_create([row for row, _ in new])
        syncing.add_versions(rows, syncing.Cause(), now, first_look=True)
        with stopwatch.part("search"):
            index.add({file.sha256: file.data for _, file in new})
    return late


def _memories(looks: Mapping[Project, Files]) -> Iterator[tuple[Project, SnapshotFile]]:
    for project, files in looks.items():
        for path, file in files.items():
            if syncing.is_memory(path):
                yield project, file
