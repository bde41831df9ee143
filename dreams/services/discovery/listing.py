"""Compares the transcripts on disk with the stored ones: which to read, which reappeared, which are gone."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from django.db import connection
from django.db.models import Case, IntegerField, QuerySet, When
from django.utils import timezone

from dreams.lib.agents.base import FoundNotes, FoundTranscript, FoundUnchanged, Mark, TranscriptKind
from dreams.models import Session, TranscriptFile
from dreams.services import database
from dreams.services.discovery.places import KnownProject
from dreams.services.discovery.rows import Tally

_BATCH = 500  # rows of one statement; chosen
_GONE = Case(When(gone_at__isnull=True, then=0), default=1, output_field=IntegerField())


class KnownFile(NamedTuple):
    """The stored values of one file that a listing is compared with."""

    pk: int
    session: int
    folder: int | None
    kind: str
    inode: int
    size: int
    mtime_ns: int
    gone: int  # 0 or 1


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read. `fresh`: from its first byte, even if part of it was read before."""

    found: FoundTranscript
    project: int
    folder: int
    folder_path: str
    known: KnownFile | None = None
    fresh: bool = False


@dataclass
class ListedFolders:
    """The contents of the transcript folders in `places` (by path). `differing` are new or changed transcripts that are not yet
    `judged`; `judged` are the paths of those that are."""

    places: dict[str, KnownProject] = field(default_factory=dict)
    differing: list[tuple[FoundTranscript, KnownProject, str]] = field(default_factory=list)
    unchanged: list[list[str]] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    @cached_property
    def paths(self) -> set[str]:
        """Paths of all transcripts. Only needed if one is missing or was replaced."""
        return {found.path for found, _, _ in self.differing}.union(self.judged, *self.unchanged)

    def missing(self, known: Set[Mark]) -> list[str]:
        """Paths that were there at the last discovery and are missing now."""
        if sum(map(len, self.unchanged)) == len(known):
            return []
        return list({path for path, *_ in known} - self.paths)

    def folder_of(self, path: str) -> str:
        """The transcript folder that contains a path; empty if it was not listed."""
        while path and path not in self.places:
            path = path.rpartition("/")[0]
        return path

    def folders_of(self, missing: Iterable[str], away: Set[int]) -> set[int]:
        """Ids of the folders with any difference."""
        found = {place.folders[folder] for _, place, folder in self.differing}
        for path in missing:
            folder = self.folder_of(path)
            found |= {self.places[folder].folders[folder]} if folder else away
        return found


@dataclass(slots=True)
class ReadingPlan:
    """What to do with the transcripts that differ from their rows; `notes` are session notes.

    `known` are the rows of the folders with any difference.
    """

    jobs: list[Job] = field(default_factory=list)
    back: list[KnownFile] = field(default_factory=list)
    gone: list[KnownFile] = field(default_factory=list)
    notes: list[FoundNotes] = field(default_factory=list)
    known: dict[str, KnownFile] = field(default_factory=dict)
    listed: ListedFolders = field(default_factory=ListedFolders)

    def again(self, files: Mapping[int, str]) -> list[Job]:
        """Jobs to read files again from their first byte; `files` maps row ids to paths. Missing files are left out."""
        there = [pk for pk, path in files.items() if path in self.listed.paths]
        rows = known_files(TranscriptFile.objects.filter(pk__in=there))
        return [self._afresh(path, row) for path, row in rows.items()]

    def _afresh(self, path: str, row: KnownFile) -> Job:
        folder = self.listed.folder_of(path)
        place = self.listed.places[folder]
        kind: TranscriptKind = "main" if row.kind == "main" else "subagent"
        found = FoundTranscript(path, kind, row.size, row.mtime_ns, row.inode)
        return Job(found, place.project.pk, place.folders[folder], folder, row, fresh=True)


def known_marks(*, host: str = "", project: int = 0) -> set[Mark]:
    """Every transcript of a host, or of one project, that existed at the last discovery, with its values then. One query."""
    files = _of_host(host) if host else TranscriptFile.objects.filter(session__project=project)
    rows = files.filter(gone_at__isnull=True).order_by().values_list("path", "inode", "size", "mtime_ns")
    sql, values = rows.query.sql_with_params()
    # Text and numbers without conversion: there may be a hundred thousand rows.
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return set(cursor)


def _of_host(host: str) -> QuerySet[TranscriptFile]:
    # Nearly every database has one host: excluding the others' sessions takes half as long as joining each one's host.
    others = Session.objects.exclude(project__host=host).order_by().values("pk")
    return TranscriptFile.objects.exclude(session__in=others)


def known_files(files: QuerySet[TranscriptFile]) -> dict[str, KnownFile]:
    """Rows by path."""
    found: dict[str, KnownFile] = {}
    columns = ("pk", "session_id", "session__folder_id", "kind", "inode", "size", "mtime_ns", _GONE)
    # Numbers and text need no conversion; converting a hundred thousand times would take longer than the query.
    rows = files.values_list("path", *columns).iterator()
    for path, pk, session, folder, kind, inode, size, mtime_ns, gone in rows:
        found[path] = KnownFile(pk, session, folder, kind, inode % 2**64, size, mtime_ns, gone)
    return found


def compare(places: Iterable[KnownProject], known: Set[Mark], away: set[int], tally: Tally) -> ReadingPlan:
    """Lists every transcript folder; `away` are the ids of folders that no longer exist.

    Files that match `known` are skipped at once; rows are only read for folders with any difference.
    """
    plan = ReadingPlan()
    for place in places:
        for path in place.folders if place.owns_sessions else ():
            _list(plan, place, path, known, tally)
    missing = plan.listed.missing(known)
    if missing or plan.listed.differing:
        folders = plan.listed.folders_of(missing, away)
        plan.known = known_files(TranscriptFile.objects.filter(session__folder__in=folders))
    for found, place, folder in plan.listed.differing:
        _judge(plan, found, place, folder)
        plan.listed.judged.append(found.path)
    plan.listed.differing.clear()
    plan.gone = [
        row for path in missing if (row := plan.known.get(path)) and not row.gone and not tally.unsure(path)
    ]
    # A sub-agent's rows need its parent's, and the older of two forks owns what both contain.
    plan.jobs.sort(key=lambda job: (job.found.kind != "main", job.found.mtime_ns))
    return plan


def _list(plan: ReadingPlan, place: KnownProject, folder: str, known: Set[Mark], tally: Tally) -> None:
    plan.listed.places[folder] = place
    for found in place.source.transcripts(folder):
        if isinstance(found, FoundUnchanged):
            tally.sessions += found.mains
            plan.listed.unchanged.append(found.paths)
        elif isinstance(found, FoundTranscript):
            tally.sessions += found.kind == "main"
            if found.mark in known:
                plan.listed.unchanged.append([found.path])
            else:
                plan.listed.differing.append((found, place, folder))
        elif isinstance(found, FoundNotes):
            plan.notes.append(found)
        else:
            tally.pass_over(found)


def _judge(plan: ReadingPlan, found: FoundTranscript, place: KnownProject, folder: str) -> None:
    row = plan.known.get(found.path)
    if row is None or (row.inode, row.size, row.mtime_ns) != (found.inode, found.size, found.mtime_ns):
        plan.jobs.append(Job(found, place.project.pk, place.folders[folder], folder, row))
    elif row.gone:
        plan.back.append(row)


def mark(plan: ReadingPlan) -> None:
    """Stores which files are gone and which reappeared unchanged; a session is gone when its main transcript is."""
    now = timezone.now()
    for rows, at in ((plan.gone, now), (plan.back, None)):
        for some in database.in_parts(rows, _BATCH):
            TranscriptFile.objects.filter(pk__in=[row.pk for row in some]).update(gone_at=at)
            mains = [row.session for row in some if row.kind == "main"]
            Session.objects.filter(pk__in=mains).update(gone_at=at)
