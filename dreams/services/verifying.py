"""Reads all stored data and checks it: histories, texts in the database, journals, the audit log.

Reports each damage, loading a few hundred texts at a time, and changes nothing. What is lost of one project's history is said on
its page, where a person may set a damaged one aside.
"""

import datetime as dt
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from dreams.lib.files import flush
from dreams.lib.files.text import is_there, joined, plural, sha256
from dreams.lib.storage import history, journal
from dreams.models import AuditEntry, Blob, Project, Version
from dreams.models.prepared import prepared
from dreams.services import auditlog
from dreams.services.apply import writing
from dreams.services.auditlog import Actor
from dreams.services.blobs import NOTHING
from dreams.services.hosts import host
from dreams.services.memories import syncing

REMEDY = "Bring the history back with `import FILE` from an export, or copy the file from a backup."
TEXT_REMEDY = (
    "The project’s history still has it if a memory had it and no damage to that history is named here. Then `export PROJECT "
    "FILE` and `import FILE` bring it back."
)
OR_ANEW = "Else the next change begins a new one, and earlier versions are in the database alone."
CHUNK = 200  # texts at once; chosen
# Per kind of damage: a lost disk must not print a line for each of a million texts.
MOST = 100


@dataclass(frozen=True, slots=True)
class Damage:
    """One item that differs from what was written, or, if `is_unread`, cannot be read now."""

    what: str
    where: str
    remedy: str = ""
    is_unread: bool = False


@dataclass(slots=True)
class VerifyReport:
    """How much there is, by kind, and the damages; beyond the first 100 of a kind they are only counted."""

    checked: dict[str, int] = field(default_factory=dict)
    problems: list[Damage] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """ "1 thing is damaged and 2 things cannot be read"."""
        unread = sum(damage.is_unread for damage in self.problems)
        damaged = len(self.problems) - unread
        parts = (
            f"{plural(damaged, 'thing is', 'things are')} damaged" if damaged else "",
            f"{plural(unread, 'thing')} cannot be read" if unread else "",
        )
        return joined(parts)

    @property
    def worst(self) -> Damage:
        return min(self.problems, key=lambda damage: damage.is_unread)

    def add(self, kind: str, count: int, found: Iterator[Damage]) -> None:
        self.checked[kind] = count
        for number, damage in enumerate(found):
            if number < MOST:
                self.problems.append(damage)
            elif number == MOST:
                what = "cannot be read" if damage.is_unread else "are damaged"
                self.problems.append(replace(damage, what=f"more than {MOST} {kind} {what}"))
                return


#: Kinds of data that are read, in singular and plural.
KEPT = {
    "histories": ("history", "histories"),
    "versions": ("version", "versions"),
    "texts": ("text", "texts"),
    "journals": ("journal", "journals"),
    "audit entries": ("audit entry", "audit entries"),
}


def counted(checked: Mapping[str, int]) -> str:
    """ "6 histories, 1 version"."""
    return ", ".join(plural(count, *KEPT[kind]) for kind, count in checked.items())


AUDIT_REMEDY = (
    "Someone changed the database. Compare it with an earlier copy. If you restored it from one yourself: "
    "`audit --explain REASON`."
)


def verify(project: Project | None = None) -> VerifyReport:
    """Checks the stored data of `project`, or of all; journals and the audit log always cover all projects."""
    report = VerifyReport()
    paths = sorted({*syncing.history_paths(), *_kept_histories()})
    paths = [syncing.history_path(project)] if project else paths
    report.add("histories", len(paths), _histories(paths))
    versions = Version.objects.exclude(sha256="")
    if project:
        versions = versions.filter(memory__project=project)
    report.add("versions", versions.count(), _missing_texts(versions))
    blobs = Blob.objects.filter(sha256__in=versions.values("sha256")) if project else Blob.objects.all()
    report.add("texts", blobs.count(), _changed_texts(blobs))
    report.add("journals", *_journals(writing.journal_dir()))
    report.add("audit entries", AuditEntry.objects.count(), _audit_log())
    return report


def lost_histories() -> list[Path]:
    """Missing histories; the next change of their project starts a new one."""
    return [path for path in _kept_histories() if not _is_there(path)]


def _kept_histories() -> list[Path]:
    any_version = Version.objects.filter(memory__project=OuterRef("pk"))
    kept = Project.objects.filter(Exists(any_version), host=host()).order_by("pk")
    return [syncing.history_path(project) for project in kept]


def _is_there(path: Path) -> bool:
    """Also where nobody may look: what is out of reach is not lost."""
    try:
        return is_there(path)
    except OSError:
        return True


def _histories(paths: list[Path]) -> Iterator[Damage]:
    for path in paths:
        is_there = _is_there(path)
        if not is_there and not Version.objects.filter(memory__project__history_key=path.stem).exists():
            continue  # nothing of this project was stored yet
        try:
            if is_there:
                next(path.iterdir(), None)  # else a closed folder is taken for no history at all
            with history.HistoryStore(path) as store:
                for problem in store.verify():
                    yield Damage(problem.what, problem.where, problem.remedy)
        except history.HistoryError as error:
            yield Damage(str(error.args[0]), str(path), history.REMEDY)
        except OSError as error:
            yield _unread("this history", path, error)


def _unread(what: str, path: Path, error: OSError) -> Damage:
    return Damage(f"{what} cannot be read", str(path), flush.refusal(error, path), is_unread=True)


def _missing_texts(versions: QuerySet[Version]) -> Iterator[Damage]:
    kept = Blob.objects.filter(sha256=OuterRef("sha256"))
    lost = versions.exclude(sha256=NOTHING).exclude(Exists(kept))
    lost = lost.select_related("memory__project").order_by("pk")
    for version in lost.iterator(chunk_size=CHUNK):
        yield Damage(
            f"version {version.sha256} of {version.memory} is not in the database",
            str(version.memory.project),
            TEXT_REMEDY,
        )


def _changed_texts(blobs: QuerySet[Blob]) -> Iterator[Damage]:
    for blob in blobs.order_by("pk").iterator(chunk_size=CHUNK):
        if sha256(bytes(blob.data)) != blob.sha256:
            yield Damage(
                f"text {blob.sha256} in the database differs from what was stored",
                _users_of(blob),
                TEXT_REMEDY,
            )


def _users_of(blob: Blob) -> str:
    named = Version.objects.filter(sha256=blob.sha256).select_related("memory__project")[:3]
    return ", ".join(f"{version.memory.project}: {version.memory}" for version in named) or "the database"


def _journals(folder: Path) -> tuple[int, Iterator[Damage]]:
    try:
        count, lines = journal.verify_journals(folder)
    except OSError as error:
        return 0, iter([_unread("the folder of journals", folder, error)])
    remedy = "Its changes are undone from the history instead."
    return count, (
        _unread("this journal", Path(line.filename), line)
        if isinstance(line, OSError)
        else Damage(line, str(folder), remedy)
        for line in lines
    )


def _audit_log() -> Iterator[Damage]:
    for line in auditlog.verify_chain():
        yield Damage(line, "the audit log", AUDIT_REMEDY)


# --- The history of one project ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LostHistory:
    """`begun_at`: when a new one was begun; None while it is missing or damaged. `texts`: how many versions lost their text.
    `damage`: the error on reading it; no change can be saved then. `is_unread`: what the system refuses may be whole."""

    begun_at: dt.datetime | None
    texts: int
    damage: str = ""
    is_unread: bool = False


def lost_history(project: Project) -> LostHistory | None:
    """None if the history exists or was imported again, and for a project of another host."""
    if project.host != host():
        return None
    last = max((row[1:] for row in _events() if row[0] == project.pk), default=None)
    damage, is_unread = _damage(project)
    begun_at = last[1] if last and last[2] == "history.begun_anew" and not damage else None
    if begun_at is None and not damage and not is_missing(project):
        return None
    versions = Version.objects.filter(memory__project=project).exclude(sha256__in=("", NOTHING))
    without = versions.exclude(Exists(Blob.objects.filter(sha256=OuterRef("sha256"))))
    return LostHistory(begun_at, without.count(), damage, is_unread)


def set_aside(project: Project, by: Actor) -> str:
    """Rename a damaged history, so that an export can be imported or a new one begins. Returns its new name; empty if it
    is not damaged. Raises OSError."""
    damage, is_unread = _damage(project)
    if project.host != host() or not damage or is_unread:
        return ""
    path = syncing.history_path(project)
    aside = path.with_suffix(f".damaged-{timezone.now():%Y%m%d-%H%M%S}")
    path.rename(aside)
    auditlog.record("history.set_aside", actor=by, project=project, object_id=aside.name)
    return aside.name


def _damage(project: Project) -> tuple[str, bool]:
    """The error on reading the newest state and the index of texts, as each change does, and whether it is the system's.
    `verify` reads everything."""
    path = syncing.history_path(project)
    try:
        if not path.exists() or _readable.get(path) == (files := _files(path)):
            return "", False
        with history.HistoryStore(path) as store:
            store.log(1)
            store.has("0" * 64)
        _readable[path] = files
    except history.HistoryError as error:
        return str(error.args[0]), False
    except OSError as error:
        return flush.in_words(error).rstrip("."), True
    return "", False


#: What `_files` said of histories of this process that could be read: reading one takes 3 ms beside eleven packs.
_readable: dict[Path, bytes] = {}


def _files(folder: Path) -> bytes:
    """A digest of the names, sizes, times and inodes of all files in the folder; what vanishes meanwhile has none."""
    found = hashlib.sha256()
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                one = Path(where, name).lstat()
                state = (where, name, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino)
                found.update(repr(state).encode())
    return found.digest()


def is_missing(project: Project) -> bool:
    """Whether the project has versions but no history."""
    return (
        not syncing.history_path(project).exists()
        and Version.objects.filter(memory__project=project).exists()
    )


@prepared
def _events() -> QuerySet[AuditEntry, tuple[int | None, int, dt.datetime, str]]:
    """Of all projects: such entries are few, while all entries of one project may be many."""
    rows = AuditEntry.objects.filter(action__in=["history.begun_anew", "history.imported"]).order_by()
    return rows.values_list("project_id_was", "number", "at", "action")
