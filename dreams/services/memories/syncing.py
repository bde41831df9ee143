"""Saves the current state of a memory directory to rows, blobs and history. No other module does this.

Discovery, dreams, apply and rollback all call `sync`, so the first of them saves an edit made outside, and nothing is
overwritten before it was saved.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from dreams.lib import memdir, stopwatch
from dreams.lib.files import safefs, text, workspace
from dreams.lib.files.seen import seen
from dreams.lib.secrets import redact
from dreams.lib.storage import history
from dreams.models import AppliedFile, Memory, Project, Proposal, Version
from dreams.models.prepared import prepared
from dreams.services import auditlog, blobs, database, project_lock
from dreams.services.questions import question_states
from dreams.services.search import index

NAME_LIMIT, PATH_LIMIT = 300, 1000  # characters in the columns
ROWS_AT_ONCE = 500  # in one query; chosen


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the directory changed. The default: a change made outside, or a first look."""

    origin: Version.Origin | None = None
    proposal: Proposal | None = None
    actor: str = ""
    reason: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)


def memory_dir(project: Project) -> Path:
    """The memory directory on this host. Raises project_lock.ProjectElsewhere for a project of another host."""
    project_lock.refuse_elsewhere(project)
    return Path(project.memory_dir)


REPLACED = ".replaced"


def history_folder() -> Path:
    return Path(settings.DATA_DIR) / "history"


def history_path(project: Project) -> Path:
    return history_folder() / f"{project.history_key}.git"


def history_paths() -> Iterator[Path]:
    """Every project's bare repository."""
    yield from sorted(history_folder().glob("*.git"))


def open_history(project: Project) -> history.HistoryStore:
    restore_replaced(history_path(project))
    return history.HistoryStore.open_or_create(history_path(project))


def replaced(path: Path) -> Path:
    """The name of a history while an import takes its place."""
    return path.with_name(f".{path.name}{REPLACED}")


def restore_replaced(path: Path) -> bool:
    """Whether it was restored, because an import was killed before the new history had its name: before a new one begins."""
    with suppress(OSError):
        if not path.exists():
            replaced(path).rename(path)
            return True
    return False


def contents(project: Project, path: str = "") -> dict[str, bytes]:
    """Path → bytes of every memory as last seen, or of the one at `path`, from the database, where a disk may have damaged one."""
    present = project.memories.filter(gone_at__isnull=True, **({"path": path} if path else {}))
    found = blobs.get_all(present.values_list("sha256", flat=True))
    return {path: found[sha] for path, sha in present.values_list("path", "sha256") if sha in found}


def is_unchanged(project: Project) -> bool:
    """Whether every file matches its row by name, size, mtime and inode, so that nothing need be read."""
    rows = project.memories.filter(gone_at__isnull=True)
    known = {path: numbers for path, *numbers in rows.values_list("path", "size", "mtime_ns", "inode")}
    try:
        root = safefs.Root.open(memory_dir(project))
    except OSError:
        return not known
    with root:
        now = {
            entry.rel: [*seen(entry.stat)]
            for entry in root.walk(limit=workspace.MAX_FILES)
            if isinstance(entry, safefs.WalkedFile) and is_memory(entry.rel)
        }
    return now == known


def is_memory(path: str) -> bool:
    """Whether it is a Markdown file that is not hidden and that a row can name; all other files are ignored."""
    is_hidden = any(part.startswith(".") for part in PurePosixPath(path).parts)
    return path.endswith(".md") and not is_hidden and text.storable(path, PATH_LIMIT) == path


def is_away(project: Project) -> bool:
    """Whether the memory folder and its parent are both missing, as when a disk is not connected, or out of reach: its
    memories then stay as last seen. A project without memories has none yet, unless it is gone."""
    folder = memory_dir(project)
    if text.is_folder(folder) or text.is_folder(folder.parent):
        return False
    return project.gone_at is not None or project.memories.filter(gone_at__isnull=True).exists()


def refresh(project: Project) -> list[str]:
    """Update the rows from disk; returns the paths that changed. Walks the directory once if none did."""
    if is_unchanged(project) or is_away(project):
        return []
    return sync(project, workspace.take(memory_dir(project)))


def refresh_if_here(project: Project) -> None:
    """`refresh` for readers: does nothing for a project of another host, which is shown as last seen."""
    with suppress(project_lock.ProjectElsewhere):
        refresh(project)


def sync(project: Project, snapshot: workspace.Snapshot, cause: Cause | None = None) -> list[str]:
    """Save rows, blobs, versions and a commit for `snapshot`; returns the paths whose bytes changed.

    A file that exists but cannot be read counts as last seen, not as removed; so does each file while the folder is away.
    Files that an apply wrote but could not record are recorded as that apply, all others as changed outside.
    """
    if not snapshot.exists and is_away(project):
        return []
    rows = {row.path: row for row in project.memories.all()}
    files = {path: file for path, file in snapshot.files.items() if is_memory(path)}
    unread = {
        path: why
        for path, row in rows.items()
        if path not in files and row.gone_at is None and (why := snapshot.unread(path))
    }
    now = {**files, **_as_seen(rows[path] for path in unread)}
    others = {path: file for path, file in snapshot.files.items() if path not in files}
    changed: set[str] = set()
    for late, paths in _unrecorded(project, rows, now) if cause is None else ():
        seen = _as_seen(row for path, row in rows.items() if path not in paths and row.gone_at is None)
        written = {path: now[path] for path in paths & now.keys()}
        changed.update(_record(project, {**others, **seen, **written}, late, keep=rows.keys() - paths))
    changed.update(_record(project, {**others, **now}, cause or Cause(), keep=unread.keys()))
    if unread or any(row.unread for row in rows.values()):
        for row in project.memories.filter(Q(path__in=unread) | ~Q(unread="")):
            why = text.storable(unread.get(row.path, ""), 200)
            if why != row.unread:
                Memory.objects.filter(pk=row.pk).update(unread=why)
    if changed:
        question_states.refresh(project)
    return sorted(changed)


def _as_seen(rows: Iterable[Memory]) -> dict[str, workspace.SnapshotFile]:
    """The files as in their rows, if the database or the history has their bytes whole."""
    wanted = {row.path: row for row in rows}
    kept = blobs.whole(blobs.get_many(row.sha256 for row in wanted.values()))
    for row in (row for row in wanted.values() if row.sha256 not in kept):
        with suppress(history.HistoryError, OSError), open_history(row.project) as store:
            kept[row.sha256] = store.read(row.sha256)
    return {
        path: workspace.SnapshotFile(path, kept[row.sha256], row.mode, row.mtime_ns, row.inode, 1)
        for path, row in wanted.items()
        if row.sha256 in kept
    }


def _unrecorded(
    project: Project, rows: Mapping[str, Memory], now: Mapping[str, workspace.SnapshotFile]
) -> list[tuple[Cause, set[str]]]:
    """Applies that wrote the current files but have no version, oldest first, with their paths."""
    known = {path: row.sha256 for path, row in rows.items() if row.gone_at is None}
    states = {path: file.sha256 for path, file in now.items()}
    changed = [path for path in known.keys() | states.keys() if known.get(path) != states.get(path)]
    last = {file.path: file for file in _written(project.pk, changed)}
    mine = [file for file in last.values() if file.after_sha == states.get(file.path, "")]
    if not mine:
        return []
    versions = Version.objects.filter(memory__project=project, memory__path__in=changed)
    told = set(versions.values_list("memory__path", "proposal"))
    found: dict[int, tuple[Cause, set[str]]] = {}
    for file in sorted(mine, key=lambda file: file.application_id):
        made = file.application
        if (file.path, made.proposal_id) not in told:
            late = cause_of(made.proposal, made.actor, made.files.count())
            found.setdefault(made.pk, (late, set()))[1].add(file.path)
    return list(found.values())


@prepared
def _written(project: int, paths: list[str]) -> QuerySet[AppliedFile]:
    written = AppliedFile.objects.filter(application__proposal__project=project, path__in=paths)
    return written.select_related("application__proposal__dream").order_by("application")


def cause_of(proposal: Proposal, actor: str, files: int, reason: str = "") -> Cause:
    """The cause for the changes of a written proposal."""
    origin = version_origin(proposal)
    trailers = {"Proposal": proposal.public_id, "Approved-by": actor or "policy"}
    if proposal.dream:
        trailers["Dream"] = proposal.dream.public_id
    if reason:
        trailers["Reason"] = reason
    return Cause(origin, proposal, actor, f"{origin.label}: {text.plural(files, 'file')}", trailers)


def version_origin(proposal: Proposal) -> Version.Origin:
    """The origin of versions made by this proposal."""
    if proposal.origin in Proposal.DRAFTED:
        return Version.Origin.APPLY
    return Version.Origin(proposal.origin)


def _record(
    project: Project,
    everything: Mapping[str, workspace.SnapshotFile],
    cause: Cause,
    keep: Collection[str],
) -> list[str]:
    """Save `everything` to rows and history; returns the paths whose bytes changed. `keep` are not marked as gone."""
    now = timezone.now()
    before = {row.path: row for row in project.memories.only("project", "path", "mode", *_SEEN)}
    known = {path: row.sha256 for path, row in before.items() if row.sha256 and row.gone_at is None}
    first_look = not before
    if overtaken := _overtaken(project, everything, before):
        others = {path: file for path, file in everything.items() if path not in overtaken}
        standing = (row for path, row in before.items() if path in overtaken and path in known)
        everything, keep = {**others, **_as_seen(standing)}, {*keep, *overtaken}
    files = {path: file for path, file in everything.items() if is_memory(path)}
    is_new = known != {path: file.sha256 for path, file in files.items()}
    if is_new or any(path in known and not row.inode for path, row in before.items()):  # an adopted host's
        # Before the rows: once they have a state, a crash would leave it without a commit forever.
        commit(project, everything, cause, first_look=first_look)
    with transaction.atomic():
        database.one_at_a_time(f"memories of {project.pk}")
        rows = {row.path: row for row in project.memories.select_for_update()}
        blobs.put_many(file.data for file in files.values())
        changed = _save(project, rows, files, cause, now, first_look=first_look)
        with stopwatch.part("search"):
            index.add({files[path].sha256: files[path].data for path in changed})
        there = {*files, *keep}
        gone = [row for path, row in rows.items() if path not in there and row.gone_at is None]
        _mark_gone(gone, cause, now)
    return sorted([*changed, *(row.path for row in gone)])


_SEEN = ("sha256", "size", "mtime_ns", "inode", "gone_at")


def _overtaken(
    project: Project, everything: Mapping[str, workspace.SnapshotFile], rows: Mapping[str, Memory]
) -> set[str]:
    """Memories whose file matches the row but no longer what was read: another process has written and recorded it since.
    Recording the earlier text would look like an undo of that."""
    folder, found = memory_dir(project), set[str]()
    for path in filter(is_memory, rows.keys() | everything.keys()):
        row, file = rows.get(path), everything.get(path)
        there = (row.sha256, row.size, row.mtime_ns, row.inode) if row and row.gone_at is None else (None,)
        read = (file.sha256, len(file.data), file.mtime_ns, file.inode) if file else (None,)
        if there[0] == read[0]:
            continue
        now = _on_disk(folder / path)
        if there[1:] == now != read[1:] and not (file is None and _was_renamed(folder, everything, now)):
            found.add(path)
    return found


def _was_renamed(
    folder: Path, everything: Mapping[str, workspace.SnapshotFile], now: tuple[int, ...]
) -> bool:
    """Whether a file was read by another name, and still has it: where a disk ignores case, its old name leads to it too."""
    inode = now[2:]
    return any((file.inode,) == inode == _on_disk(folder / name)[2:] for name, file in everything.items())


def _on_disk(path: Path) -> tuple[int, ...]:
    try:
        return seen(path.lstat())
    except OSError:
        return ()


def _save(
    project: Project,
    rows: Mapping[str, Memory],
    files: Mapping[str, workspace.SnapshotFile],
    cause: Cause,
    now: dt.datetime,
    *,
    first_look: bool,
) -> list[str]:
    """Update the rows from `files` and add a version for each file whose bytes changed; returns their paths."""
    new = list[Memory]()
    changed = dict[str, Memory]()
    for path, file in files.items():
        row = rows.get(path)
        if row is None:
            new.append(changed.setdefault(path, new_row(project, file)))
            continue
        was = _numbers(row)
        if row.sha256 != file.sha256 or row.gone_at is not None:
            changed[path] = row
            _describe(row, file)
        _take_numbers(row, file)
        if path in changed or _numbers(row) != was:
            row.save()
    Memory.objects.bulk_create(new, batch_size=ROWS_AT_ONCE)
    add_versions(changed.values(), cause, now, first_look=first_look)
    return list(changed)


def new_row(project: Project, file: workspace.SnapshotFile) -> Memory:
    """An unsaved row."""
    row = Memory(project=project, path=file.path)
    _describe(row, file)
    _take_numbers(row, file)
    return row


def add_versions(rows: Iterable[Memory], cause: Cause, now: dt.datetime, *, first_look: bool) -> None:
    """Save a version of the current state of each memory."""
    made = [
        Version(
            memory=row,
            sha256=row.sha256,
            size=row.size,
            mode=row.mode,
            mtime_ns=row.mtime_ns,
            at=min(row.changed_at, now) if first_look and row.changed_at else now,
            origin=cause.origin or (Version.Origin.FOUND if first_look else Version.Origin.OUTSIDE),
            proposal=cause.proposal,
            actor=cause.actor,
        )
        for row in rows
    ]
    _save_as_newest(made, is_first=first_look)


def _save_as_newest(made: Sequence[Version], *, is_first: bool = False) -> None:
    known = Version.objects.filter(memory__in=[] if is_first else [one.memory_id for one in made])
    last = dict(known.order_by().values_list("memory").annotate(Max("number")))
    for one in made:
        one.number = last.get(one.memory_id, 0) + 1
    Version.objects.bulk_create(made, batch_size=ROWS_AT_ONCE)


def _take_numbers(row: Memory, file: workspace.SnapshotFile) -> None:
    row.sha256, row.size, row.mode = file.sha256, len(file.data), file.mode
    row.mtime_ns, row.inode, row.gone_at = file.mtime_ns, file.inode, None


def _numbers(row: Memory) -> tuple[object, ...]:
    """The fields that are compared at each look."""
    return row.sha256, row.size, row.mode, row.mtime_ns, row.inode, row.gone_at


def _describe(row: Memory, file: workspace.SnapshotFile) -> None:
    """Sets the fields for lists and search from the file's text."""
    document = memdir.parse(file.data)
    front = document.frontmatter
    row.kind = kind_of(file.path)
    row.secret_in_path = bool(redact.values(file.path))
    row.type = _told(memdir.memory_type(document, file.path), 40)
    row.name = _told(front.name if front else None, NAME_LIMIT)
    row.description = _told(front.description if front else None, 2000)
    row.pinned = bool(front and front.pinned)
    row.changed_at = dt.datetime.fromtimestamp(file.mtime_ns / 1e9, dt.UTC)
    row.lines = file.data.count(b"\n") + (not file.data.endswith(b"\n") and bool(file.data))


def _told(value: str | None, most: int) -> str:
    """The value with secrets masked, as lists, titles and MCP answers always show it."""
    return text.storable(redact.redact(value or ""), most)


def kind_of(path: str) -> Memory.Kind:
    if memdir.is_team(path):
        return Memory.Kind.TEAM
    if memdir.is_log(path):
        return Memory.Kind.LOG
    return Memory.Kind.INDEX if path == memdir.INDEX_NAME else Memory.Kind.TOPIC


def _mark_gone(rows: Sequence[Memory], cause: Cause, now: dt.datetime) -> None:
    Memory.objects.filter(pk__in=[row.pk for row in rows]).update(gone_at=now)
    origin = cause.origin or Version.Origin.OUTSIDE
    _save_as_newest(
        [
            Version(memory=row, at=now, origin=origin, proposal=cause.proposal, actor=cause.actor)
            for row in rows
        ]
    )


@stopwatch.part("history")
def commit(
    project: Project,
    everything: Mapping[str, workspace.SnapshotFile],
    cause: Cause,
    *,
    first_look: bool = False,
) -> None:
    """Commit the directory to the project's history, unless the tree is unchanged. If the history is lost, a new one
    begins, and the audit log says so."""
    with open_history(project) as store:
        is_lost = not store.log(1) and Version.objects.filter(memory__project=project).exists()
        store.commit(history_state(project, everything, cause, first_look=first_look))
    if is_lost:
        auditlog.record("history.begun_anew", project=project)


def history_state(
    project: Project, everything: Mapping[str, workspace.SnapshotFile], cause: Cause, *, first_look: bool
) -> history.State:
    subject = cause.reason or ("First check" if first_look else "Changed outside memoryweb")
    trailers = {
        "Origin": (cause.origin or Version.Origin.OUTSIDE).value,
        **cause.trailers,
        # So that an export names its directory without the database.
        "Directory": project.memory_dir,
    }
    return history.State(
        {path: file.data for path, file in everything.items()},
        {path: history.Meta(file.mode, file.mtime_ns) for path, file in everything.items()},
        subject,
        trailers,
        timezone.now(),
        cause.actor or "memoryweb",
    )
