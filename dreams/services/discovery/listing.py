"""Transcripts on disk against those known: what to read, what came back, what is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Case, IntegerField, When
from django.utils import timezone

from dreams.lib.agents.base import FoundNotes, FoundTranscript
from dreams.models import Session, TranscriptFile
from dreams.services import database
from dreams.services.discovery.places import KnownProject
from dreams.services.discovery.rows import Tally

_BATCH = 500
_GONE = Case(When(gone_at__isnull=True, then=0), default=1, output_field=IntegerField())


class Known(NamedTuple):
    """What the database knows of one file, as far as a listing can tell whether it changed."""

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
    """One file to read. `fresh`: from its first byte, whatever is known."""

    found: FoundTranscript
    project: int
    folder: int
    folder_path: str
    known: Known | None = None
    fresh: bool = False


@dataclass(slots=True)
class Plan:
    """`seen` holds every transcript that is there now, with the place it belongs to; `notes` those on sessions."""

    jobs: list[Job] = field(default_factory=list)
    back: list[Known] = field(default_factory=list)
    gone: list[Known] = field(default_factory=list)
    notes: list[FoundNotes] = field(default_factory=list)
    seen: dict[str, tuple[FoundTranscript, KnownProject, str]] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)

    def again(self, path: str) -> Job | None:
        """The job that reads a file from its first byte once more, when it is still there."""
        if path not in self.seen:
            return None
        found, place, folder = self.seen[path]
        return Job(found, place.project.pk, place.folders[folder], folder, self.known.get(path), fresh=True)


def known_files(*, host: str | None = None, project: int | None = None) -> dict[str, Known]:
    """By path; of a whole host or of one project. One query."""
    rows = TranscriptFile.objects.all()
    rows = rows.filter(session__project__host=host) if host is not None else rows
    rows = rows.filter(session__project=project) if project is not None else rows
    columns = ("pk", "session_id", "session__folder_id", "kind", "inode", "size", "mtime_ns", _GONE)
    # Numbers and text need no conversion, which for a hundred thousand moments would take longer than the query.
    return {
        path: Known(pk, session, folder, kind, inode % 2**64, size, mtime_ns, gone)
        for path, pk, session, folder, kind, inode, size, mtime_ns, gone in (
            rows.values_list("path", *columns).iterator()
        )
    }


def compare(places: Iterable[KnownProject], known: dict[str, Known], away: set[int], tally: Tally) -> Plan:
    """List every transcript folder; `away` are the ids of folders that are no longer there."""
    plan, listed = Plan(known=known), set(away)
    for place in places:
        if not place.owns_sessions:
            continue
        for path, pk in place.folders.items():
            listed.add(pk)
            for found in place.source.transcripts(path):
                if isinstance(found, FoundTranscript):
                    tally.sessions += found.kind == "main"
                    _judge(plan, place, path, found)
                elif isinstance(found, FoundNotes):
                    plan.notes.append(found)
                else:
                    tally.pass_over(found)
    missing = (path for path, row in known.items() if path not in plan.seen and row.folder in listed)
    plan.gone = [known[path] for path in missing if not known[path].gone and not tally.unsure(path)]
    # A sub-agent's rows need its parent's, and of two forks the older one owns what both hold.
    plan.jobs.sort(key=lambda job: (job.found.kind != "main", job.found.mtime_ns))
    return plan


def _judge(plan: Plan, place: KnownProject, folder: str, found: FoundTranscript) -> None:
    plan.seen[found.path] = found, place, folder
    row = plan.known.get(found.path)
    if row is None or (row.inode, row.size, row.mtime_ns) != (found.inode, found.size, found.mtime_ns):
        plan.jobs.append(Job(found, place.project.pk, place.folders[folder], folder, row))
    elif row.gone:
        plan.back.append(row)


def mark(plan: Plan) -> None:
    """Write down what is gone and what came back unchanged; a session is gone with its main transcript."""
    now = timezone.now()
    for rows, at in ((plan.gone, now), (plan.back, None)):
        for some in database.in_parts(rows, _BATCH):
            TranscriptFile.objects.filter(pk__in=[row.pk for row in some]).update(gone_at=at)
            mains = [row.session for row in some if row.kind == "main"]
            Session.objects.filter(pk__in=mains).update(gone_at=at)
