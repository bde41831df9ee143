"""One discovery, from start to end."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from dreams import conf
from dreams.lib import stopwatch
from dreams.lib.agents import registry
from dreams.lib.agents.base import AgentSource, FoundProject
from dreams.lib.files.text import with_home
from dreams.lib.refusal import Refusal
from dreams.models import Project, Session, TranscriptFolder
from dreams.services import secret_paths
from dreams.services.discovery import (
    agents,
    instruction_files,
    listing,
    memory,
    notes,
    places,
    prompt_history,
    rows,
)
from dreams.services.discovery.importing import Importer
from dreams.services.discovery.listing import ReadingPlan
from dreams.services.discovery.places import KnownProject
from dreams.services.discovery.rows import DiscoveryReport, OnProgress, Skip, Tally
from dreams.services.hosts import host as current_host
from dreams.services.memories import moved
from memoryweb import datadir

#: How long a discovery waits for another one; the first of a large folder takes about a minute.
LOCK_SECONDS = 120.0
#: Cache key of the time of the last discovery; without it, the next tick runs one.
LAST_LOOK = "memoryweb:last-discovery"
#: The parts by which the time of a discovery is reported; waiting for another one is part of the walk.
PARTS = ("walk", "transcripts", "memories", "history", "search")


class DiscoveryBusy(Refusal):
    """Another process runs a discovery and did not finish within the waiting time."""


def configured_roots(chosen: str | None = None) -> tuple[Path, ...]:
    """The config folders to read: those set in the pages (`chosen`, if the caller has read it), else the environment's."""
    if chosen is None:
        chosen = str(conf.sourced()["roots"].value)
    lines = [line.strip() for line in chosen.splitlines() if line.strip()]
    found = tuple(Path(with_home(line)) for line in lines)
    return found or tuple(settings.ROOTS)


def discover(
    roots: Iterable[Path | str] | None = None,
    *,
    progress: OnProgress | None = None,
    leave_others: bool = False,
) -> DiscoveryReport:
    """Updates the rows from these config folders (None: the configured ones).

    `leave_others`: projects of other config folders are no longer watched. Only the scheduler knows which folders `serve`
    watches; a command in another terminal does not. Idempotent; a second one at the same time waits for the first. Raises
    DiscoveryBusy and database errors; paths that cannot be read are in `DiscoveryReport.skipped`.
    """
    tally, host = Tally(), current_host()
    with stopwatch.running(*PARTS) as watch, _one_at_a_time():
        known = listing.known_marks(host=host)
        sources = _sources(roots, tally)
        real_roots = {source.root.real_path for source in sources}
        kept = places.save(places.find(sources, known, tally), host)
        tally.projects = len(kept)
        away = places.mark_gone(kept, host, real_roots, tally, leave_others=leave_others)
        plan = listing.compare(kept, known, away, tally)
        with stopwatch.part("transcripts"):
            _import(plan, host, tally, progress)
            agents.update_sessions(host)
            prompt_history.import_new([source.root.real_path for source in sources], host, tally)
            notes.read_changed(plan.notes, tally)
        with stopwatch.part("memories"):
            memory.refresh_all(kept, host, tally)
        moved.save_moves(place.project for place in kept)
        instruction_files.read_due(host, timezone.now())
        return tally.report(watch.ms())


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    file = datadir.lock_file(Path(settings.DATA_DIR), "discovery.lock")
    lock = filelock.FileLock(file, timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise DiscoveryBusy(
            f"Another process has been looking for sessions and memories for over {LOCK_SECONDS:g} s. Try again later."
        ) from error
    try:
        yield
    finally:
        lock.release()


def refresh(project: Project) -> tuple[Skip, ...]:
    """Does the same for one project: its known folders and memory directory, without looking for new folders. Returns what
    could not be read."""
    tally = Tally()
    place = _place_of(project)
    plan = listing.compare([place], listing.known_marks(project=project.pk), set(), tally)
    _import(plan, project.host, tally, None)
    if project.kind == Project.Kind.AGENT:
        agents.update_sessions(project.host, project)
    notes.read_changed(plan.notes, tally)
    memory.refresh_all([place], project.host, tally)
    return tally.report({}).skipped


def _import(plan: ReadingPlan, host: str, tally: Tally, progress: OnProgress | None) -> None:
    listing.mark(plan)
    if not plan.jobs:
        return
    projects, folders = {job.project for job in plan.jobs}, {job.folder for job in plan.jobs}
    named = [job for job in plan.jobs if len(job.found.session_id) != secret_paths.PLAIN_ID]
    secret_paths.mark_folders((job.project, job.found.session_id) for job in named)
    Importer(plan, host, tally, progress).run()
    _note_sessions(projects, folders)


def _note_sessions(projects: set[int], folders: set[int]) -> None:
    """Updates the fields of projects and folders that depend on their sessions, if sessions changed."""
    last = (
        Session.objects.filter(project__in=projects, own=False)
        .values_list("project")
        .annotate(Max("touched_at"))
    )
    unknown = TranscriptFolder.objects.filter(pk__in=folders, cwd="").values_list("pk", flat=True)
    newest = Session.objects.filter(folder__in=list(unknown)).exclude(cwd="").order_by("touched_at")
    cwds = {folder: (cwd, project) for folder, cwd, project in newest.values_list("folder", "cwd", "project")}
    # Two prepared statements: updating 10,000 projects through the models would take seconds.
    with transaction.atomic():
        rows.note_last_sessions([(rows.as_cell(at), project) for project, at in last.order_by()])
        rows.note_cwds([(cwd, folder) for folder, (cwd, _) in cwds.items()])
        secret_paths.mark_folders((project, cwd) for cwd, project in cwds.values())


def _sources(roots: Iterable[Path | str] | None, tally: Tally) -> list[AgentSource]:
    trusted = set(Project.objects.filter(trusted=True).values_list("repo_dir", flat=True))
    cwds = dict(TranscriptFolder.objects.exclude(cwd="").values_list("path", "cwd"))
    found: dict[str, AgentSource] = {}
    for root in configured_roots() if roots is None else roots:
        source = registry.read(root, trusted=trusted.__contains__, cwds=cwds.get)
        if why := registry.why_unread(source.root.real_path):
            tally.skip(source.root.path, why)
        found.setdefault(source.root.real_path, source)
    return list(found.values())


def _place_of(project: Project) -> KnownProject:
    """A KnownProject built from rows alone."""
    folders = dict(project.folders.filter(gone_at__isnull=True).values_list("path", "pk"))
    found = FoundProject(
        memory_dir=project.memory_dir,
        slug=project.slug,
        transcript_folders=tuple(folders),
        repo=project.repo_dir or None,
        kind="agent" if project.kind == Project.Kind.AGENT else "auto",
    )
    return KnownProject(project, found, registry.read(project.root or project.memory_dir), folders)
