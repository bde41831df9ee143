"""Rebuilds the memory directory at any past time from stored versions."""

import datetime as dt
from collections.abc import Collection, Mapping
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from django.db.models import Min, OuterRef, QuerySet, Subquery
from django.utils import timezone

from dreams.lib.files import text
from dreams.lib.storage.history import HistoryDamaged, HistoryError, HistoryStore
from dreams.models import Memory, Project, Purge, Version
from dreams.services import blobs, database
from dreams.services.memories import syncing

if TYPE_CHECKING:
    from django_stubs_ext.annotations import WithAnnotations


AT_ONCE = 200  # texts in memory; chosen


class Then(TypedDict):
    """The pk of a file's version at a moment, its sha256 and its size in bytes."""

    then: int
    then_sha: str
    then_size: int


MemoryThen: TypeAlias = "WithAnnotations[Memory, Then]"


def moment_of(typed: str) -> dt.datetime | None:
    """The typed or linked time; without an offset it is in the zone of the pages.

    A day, a minute or a second means its end, so changes within it are included. None if it is not a time.
    """
    given = typed.strip()[:40]
    try:
        found = dt.datetime.fromisoformat(given)
    except ValueError:
        return None
    try:
        if found.tzinfo is None:
            return timezone.make_aware(found + _rest_of(given))
        return found.astimezone(dt.UTC)
    except (OverflowError, ValueError):
        return None


def _rest_of(given: str) -> dt.timedelta:
    """The duration of the typed unit, to add to its beginning."""
    units = {10: dt.timedelta(days=1), 16: dt.timedelta(minutes=1), 19: dt.timedelta(seconds=1)}
    unit = units.get(len(given))
    return unit - dt.timedelta(microseconds=1) if unit else dt.timedelta()


def memories_at(project: Project, when: dt.datetime) -> QuerySet[MemoryThen]:
    """The files that existed at `when`, each with the fields of `Then`.

    Includes versions made exactly at `when`; of all made by then, the last one saved counts.
    """
    latest = Version.objects.filter(memory=OuterRef("pk"), at__lte=when).order_by("-number", "-pk")
    rows = Memory.objects.filter(project=project).annotate(
        then=Subquery(latest.values("pk")[:1]),
        then_sha=Subquery(latest.values("sha256")[:1]),
        then_size=Subquery(latest.values("size")[:1]),
    )
    return rows.filter(then_sha__gt="")


def states_at(project: Project, when: dt.datetime) -> dict[str, str]:
    """Path → sha256 at that moment."""
    return dict(memories_at(project, when).values_list("path", "then_sha"))


def states_now(project: Project) -> dict[str, str]:
    """Path → sha256 as last seen."""
    return dict(project.memories.filter(gone_at__isnull=True).values_list("path", "sha256"))


def history_if_there(project: Project) -> HistoryStore | None:
    """For readers: a lost history is not begun anew by them, which would hide the loss."""
    path = syncing.history_path(project)
    syncing.restore_replaced(path)
    return HistoryStore(path) if path.exists() else None


def bytes_of(project: Project, shas: Collection[str]) -> Mapping[str, bytes]:
    """Sha256 → bytes, from the database, else from the history. Only reads: a proposal made of them repairs the database. Raises
    blobs.MissingBlob for what both lost and for what was purged but may still be in the history, and history errors."""
    found = blobs.whole(blobs.get_many(shas))
    lost = [sha for sha in shas if sha not in found]
    if lost:
        waiting = Purge.objects.filter(done_at__isnull=True)
        purged = {sha for made in waiting if project.history_key in made.histories for sha in made.replaced}
        with history_if_there(project) or nullcontext() as store:
            for sha in lost:
                if store and sha not in purged and store.has(sha):
                    found[sha] = store.read(sha)
                else:
                    found[sha] = blobs.get(sha)  # which refuses in plain words
    return found


def whole(project: Project, sha: str, data: bytes) -> bytes:
    """`data`, or for what a disk has damaged in the database that of the history, if it is there."""
    if text.sha256(data) != sha:
        with suppress(blobs.MissingBlob, HistoryError, OSError):
            return bytes_of(project, [sha])[sha]
    return data


def bring_back_texts(project: Project, store: HistoryStore) -> None:
    """Those that the database lost or a disk has damaged there."""
    versions = Version.objects.filter(memory__project=project).exclude(sha256="").order_by("sha256")
    for some in database.in_parts(list(versions.values_list("sha256", flat=True).distinct()), AT_ONCE):
        whole = blobs.whole(blobs.get_many(some))
        for sha in some:
            if sha not in whole and store.has(sha):
                with suppress(HistoryDamaged):  # both have lost it
                    blobs.bring_back(store.read(sha))


def change_before(project: Project, when: dt.datetime) -> dt.datetime | None:
    """The time of the last change before `when`."""
    return _changes(project).filter(at__lt=when).order_by("-at").values_list("at", flat=True).first()


def change_after(project: Project, when: dt.datetime) -> dt.datetime | None:
    return _changes(project).filter(at__gt=when).order_by("at").values_list("at", flat=True).first()


def last_change(project: Project, when: dt.datetime) -> dt.datetime | None:
    """The time of the last change at or before `when`; None before the first version."""
    return _changes(project).filter(at__lte=when).order_by("-at").values_list("at", flat=True).first()


def first_check(project: Project) -> dt.datetime:
    """From when on changes are known: for an imported history that is where it was made."""
    noticed = _changes(project).exclude(origin=Version.Origin.FOUND).aggregate(at=Min("at"))["at"]
    return min(project.first_seen_at, noticed or project.first_seen_at)


def _changes(project: Project) -> QuerySet[Version]:
    return Version.objects.filter(memory__project=project)
