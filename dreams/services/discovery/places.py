"""Finds projects and their transcript folders in an agent's config folder."""

import datetime as dt
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import PurePath

from django.db.models import Q
from django.utils import timezone

from dreams.lib import diff
from dreams.lib.agents import registry
from dreams.lib.agents.base import AgentSource, FoundProject, LiveSession, Mark, printable
from dreams.lib.files.text import is_folder, one_line, storable
from dreams.models import Project, Session, TranscriptFolder
from dreams.services import secret_paths
from dreams.services.discovery.rows import Tally

# A project's display name: its repository's folder name, with as many parent folders as make it unique.


_MOST = 4  # parts of a path used to distinguish projects with the same name; chosen


def names_of(found: Iterable[FoundProject]) -> dict[str, str]:
    """Memory directory → name: "app", or "work/app" and "play/app" if there are two."""
    projects = list(found)
    names = {project.memory_dir: _name(project, 1) for project in projects}
    for depth in range(2, _MOST + 1):
        count = Counter(names.values())
        doubled = [p for p in projects if count[names[p.memory_dir]] > 1]
        if not doubled:
            return names
        names |= {project.memory_dir: _name(project, depth) for project in doubled}
    count = Counter(names.values())
    return {
        p.memory_dir: names[p.memory_dir] if count[names[p.memory_dir]] == 1 else p.slug for p in projects
    }


def _name(project: FoundProject, depth: int) -> str:
    where = project.repo or project.cwd
    parts = PurePath(where).parts[-depth:] if where else ()
    folder = "/".join(part for part in parts if part != "/")
    if project.kind == "agent":
        return f"{project.agent} ({f'{folder}, {project.scope}' if folder else 'all projects'})"
    return folder or project.slug


# Running sessions.


def live_session_ids(project: Project) -> set[str]:
    """Session ids whose process is alive, from the registry in the project's config folder.

    Empty if the agent has no registry: then only a transcript's age shows whether it may be running.
    """
    if not project.root:
        return set()
    found = registry.read(project.root).live_sessions()
    return {entry.session_id for entry in found if isinstance(entry, LiveSession)}


_FIELDS = ["slug", "name", "kind", "scope", "agent_name", "root", "repo_dir", "gone_at", "unwatched_at"]
_FIELDS += ["repo_identity", "repo_gone_at"]
_BATCH = 200  # rows in one query; chosen


@dataclass(slots=True)
class KnownProject:
    """A project's row with what was found on disk. `folders` maps paths of its transcript folders to ids.

    A folder's sessions belong to one project: an agent's memory in a repository knows the folders, but owns none.
    """

    project: Project
    found: FoundProject
    source: AgentSource
    folders: dict[str, int] = field(default_factory=dict)

    @property
    def owns_sessions(self) -> bool:
        return self.found.kind == "auto"

    @property
    def home(self) -> str | None:
        return self.found.repo or (self.found.cwd if self.found.cwd_exists else None)


def find(
    sources: Iterable[AgentSource], known: Set[Mark], tally: Tally
) -> dict[str, tuple[AgentSource, FoundProject]]:
    """The projects found in the config folders, by memory directory; two folders that name the same directory share it."""
    found: dict[str, tuple[AgentSource, FoundProject]] = {}
    for source in sources:
        for entry in source.projects(known):
            if not isinstance(entry, FoundProject):
                tally.pass_over(entry)
            elif not _is_text(entry.memory_dir):
                tally.skip(printable(entry.memory_dir), "the path is not UTF-8 text; rename the folder")
            elif entry.memory_dir in found:
                first, other = found[entry.memory_dir]
                folders = dict.fromkeys([*other.transcript_folders, *entry.transcript_folders])
                found[entry.memory_dir] = first, replace(other, transcript_folders=tuple(folders))
            else:
                found[entry.memory_dir] = source, entry
    return found


def _is_text(path: str) -> bool:
    return storable(path) == path


def save(found: dict[str, tuple[AgentSource, FoundProject]], host: str) -> list[KnownProject]:
    """Creates rows for new projects, saves changed ones, and does not touch the rest."""
    known = {project.memory_dir: project for project in Project.objects.filter(host=host)}
    names = names_of([entry for _, entry in found.values()])
    new, changed, places = [], [], []
    for memory_dir, (source, entry) in found.items():
        project = known.get(memory_dir)
        if project is None:
            project = Project(host=host, memory_dir=memory_dir, history_key=history_key(host, memory_dir))
            new.append(project)
        wanted = _wanted(source, entry, names[memory_dir]) | _whereabouts(project, entry)
        if any(getattr(project, key) != value for key, value in wanted.items()):
            for key, value in wanted.items():
                setattr(project, key, value)
            if project.pk:
                changed.append(project)
        places.append(KnownProject(project, entry, source))
    Project.objects.bulk_create(new, batch_size=_BATCH)
    Project.objects.bulk_update(changed, _FIELDS, batch_size=_BATCH)
    _keep_folders(places, host, {row.pk: row.kind for row in known.values()})
    secret_paths.mark_folders(
        (project.pk, path)
        for project in (*new, *changed)
        for path in (project.memory_dir, project.root, project.repo_dir)
    )
    return places


def history_key(host: str, memory_dir: str) -> str:
    """The name of a project's history, which is the same if the database is lost and built again."""
    return sha256(f"{host}\0{memory_dir}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _wanted(source: AgentSource, entry: FoundProject, name: str) -> dict[str, object]:
    return {
        "slug": entry.slug[:300],
        # Mails and notices have it too, where a line break or an escape would pass for one of ours.
        "name": storable(diff.visible(one_line(name)), 200),
        "kind": entry.kind,
        "scope": entry.scope if entry.kind == "agent" else "",
        "agent_name": entry.agent[:200],
        "root": source.root.real_path,
        "repo_dir": storable(entry.repo or entry.cwd or ""),
        "gone_at": None,
        "unwatched_at": None,
    }


def _whereabouts(project: Project, entry: FoundProject) -> dict[str, object]:
    """Whether its repository is still at its path, and how to recognize it elsewhere; nothing if that is unknown."""
    try:
        seen = os.stat(entry.repo or entry.cwd or "")  # noqa: PTH116 - text in, as above
    except (FileNotFoundError, NotADirectoryError):
        missing = bool(entry.repo or entry.cwd)
        return {"repo_gone_at": (project.repo_gone_at or timezone.now()) if missing else None}
    except (OSError, ValueError):
        return {}
    return {"repo_identity": f"{seen.st_dev}:{seen.st_ino}", "repo_gone_at": None}


def _keep_folders(places: list[KnownProject], host: str, kinds: Mapping[int, str]) -> None:
    """`kinds` are those of the existing projects."""
    rows = list(TranscriptFolder.objects.filter(project__host=host))
    owned = {row.path: row for row in rows if kinds.get(row.project_id) == Project.Kind.AUTO}
    lent = {(row.project_id, row.path): row for row in rows if kinds.get(row.project_id) != Project.Kind.AUTO}
    new: list[tuple[KnownProject, TranscriptFolder]] = []
    for place in places:
        for path in place.found.transcript_folders:
            row = owned.get(path) if place.owns_sessions else lent.get((place.project.pk, path))
            if row is None:
                slug = storable(os.path.basename(path), 300)  # noqa: PTH119 - text in, text out
                new.append((place, TranscriptFolder(project=place.project, path=path, slug=slug)))
                continue
            place.folders[path] = row.pk
            if row.project_id != place.project.pk or row.gone_at is not None:
                _move(row, place.project)
    TranscriptFolder.objects.bulk_create([row for _, row in new], batch_size=_BATCH)
    secret_paths.mark_folders((place.project.pk, row.path) for place, row in new)
    for place, row in new:
        place.folders[row.path] = row.pk


def _move(row: TranscriptFolder, project: Project) -> None:
    """Updates a folder that reappeared, or whose cwd or memory directory changed."""
    TranscriptFolder.objects.filter(pk=row.pk).update(project=project, gone_at=None)
    if row.project_id != project.pk:
        Session.objects.filter(folder=row).update(project=project)


def mark_gone(
    places: list[KnownProject], host: str, roots: set[str], tally: Tally, *, leave_others: bool
) -> set[int]:
    """Marks projects and folders of these config folders that no longer exist; returns the ids of missing folders.

    A project whose config folder is read again is unmarked. With `leave_others`, projects of other config folders count as
    gone. Their data is kept.
    """
    now = timezone.now()
    others = _not_among(places, host)
    unseen = [row for row in others if row.root in roots]
    lost = {row.pk for row in unseen if not is_folder(row.memory_dir) and not tally.unsure(row.memory_dir)}
    lost |= _waiting_for_trust(unseen)
    Project.objects.filter(pk__in=lost).update(gone_at=now, unwatched_at=None)
    back = {row.pk for row in unseen if row.unwatched_at} - lost
    Project.objects.filter(pk__in=back).update(gone_at=None, unwatched_at=None)
    if leave_others:
        left = {row.pk for row in others if row.root and row.root not in roots and not row.gone_at}
        Project.objects.filter(pk__in=left).update(gone_at=now, unwatched_at=now)
    return _folders_gone(places, host, roots, tally, now)


def _folders_gone(
    places: list[KnownProject], host: str, roots: set[str], tally: Tally, now: dt.datetime
) -> set[int]:
    kept = {pk for place in places for pk in place.folders.values()}
    rows = TranscriptFolder.objects.filter(project__host=host, project__root__in=roots)
    away = {pk for pk, path in rows.values_list("pk", "path") if pk not in kept and not tally.unsure(path)}
    TranscriptFolder.objects.filter(pk__in=away, gone_at__isnull=True).update(gone_at=now)
    return away


def _not_among(places: list[KnownProject], host: str) -> list[Project]:
    """The projects that were not found, except those already marked as gone."""
    here = {place.project.pk for place in places}
    rows = Project.objects.filter(Q(gone_at=None) | Q(unwatched_at__isnull=False), host=host)
    columns = ("memory_dir", "scope", "repo_dir", "root", "gone_at", "unwatched_at")
    return [row for row in rows.only(*columns) if row.pk not in here]


def _waiting_for_trust(rows: Iterable[Project]) -> set[int]:
    """Projects that are an agent's memory in a repository that is not trusted; they count as gone."""
    repos = {row.pk: row.repo_dir for row in rows if row.scope in ("project", "local")}
    trusted = Project.objects.filter(trusted=True).values_list("repo_dir", flat=True) if repos else ()
    known = set(trusted)
    return {pk for pk, repo in repos.items() if repo not in known}
