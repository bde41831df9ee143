"""Stores and loads bytes in the database by sha256, for pages and decisions."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from dreams.lib.files import text
from dreams.lib.refusal import Refusal
from dreams.models import AuditEntry, Blob, Project, Purge
from dreams.models.prepared import prepared
from dreams.services import database
from memoryweb import typed

NOTHING = text.sha256(b"")


class MissingBlob(Refusal):
    """There are no bytes with this sha256, or others than were stored; the message names it."""


def put(data: bytes) -> str:
    """Store `data` once; returns its sha256."""
    return put_many([data])[0]


def put_many(items: Iterable[bytes]) -> list[str]:
    rows = [Blob(sha256=text.sha256(data), data=data, size=len(data)) for data in items]
    # In one order, so that two transactions with common texts cannot deadlock.
    unique = {row.sha256: row for row in sorted(rows, key=lambda row: row.sha256)}
    Blob.objects.bulk_create(unique.values(), ignore_conflicts=True, batch_size=200)
    return [row.sha256 for row in rows]


def get(sha: str) -> bytes:
    """The bytes; empty for an empty `sha` (no file). Raises MissingBlob."""
    if not sha:
        return b""
    data = whole(get_many([sha])).get(sha)
    if data is None:
        raise MissingBlob(lost(sha))
    return data


def lost(sha: str) -> str:
    return f"The text {sha} is lost or damaged. Run `{typed('verify')}` to see what else is, and how it comes back."


def whole(found: Mapping[str, bytes]) -> dict[str, bytes]:
    """Without those that a disk has changed: for what is written to a memory."""
    return {sha: data for sha, data in found.items() if text.sha256(data) == sha}


def put_whole(items: Iterable[bytes]) -> None:
    """As `put_many`, also in the place of damaged texts: for what a person is to decide on and is written then."""
    given = {text.sha256(data): data for data in items}
    put_many(given.values())
    for sha in given.keys() - whole(get_many(given)).keys():
        bring_back(given[sha])


def bring_back(data: bytes) -> None:
    """Store `data`, also in the place of a damaged text."""
    Blob.objects.update_or_create(sha256=text.sha256(data), defaults={"data": data, "size": len(data)})


def get_text(sha: str) -> str:
    return text.decode(get(sha))


def get_all(shas: QuerySet[Any, str]) -> Mapping[str, bytes]:
    """The bytes of the sha256s that a query finds, without those that are not stored; one query."""
    rows = Blob.objects.filter(sha256__in=shas.order_by()).values_list("sha256", "data")
    return {sha: bytes(data) for sha, data in rows}


def get_many(shas: Iterable[str]) -> Mapping[str, bytes]:
    """The stored ones of `shas`; one query per 500."""
    wanted = sorted({sha for sha in shas if sha})
    found = {sha: b"" for sha in wanted if sha == NOTHING}  # which no disk can lose
    for some in database.in_parts(wanted, 500):
        found.update((sha, bytes(data)) for sha, data in _kept(list(some)))
    return found


def instead_of_purged(project: Project | None = None, *, own: bool = False) -> dict[str, bytes]:
    """sha256 of each purged text, or of those of `project`, → the text in its place. A later purge may have replaced that, too:
    then the last. Those of `project` count before others: of a copy of its memories another secret may have been purged."""
    purged = AuditEntry.objects.filter(
        action="history.purged", project_id_was=project.pk if project else None
    )
    ours = set(purged.values_list("object_id", flat=True))
    last: dict[str, str] = {}
    for made in sorted(Purge.objects.order_by("-pk"), key=lambda made: str(made.pk) not in ours):
        if str(made.pk) in ours or not own:
            last = {old: last.get(new, new) for old, new in made.replaced.items()} | last
    kept = get_many(last.values())
    return {old: kept[new] for old, new in last.items() if new in kept}


@prepared
def _kept(shas: list[str]) -> QuerySet[Blob, tuple[str, bytes | memoryview]]:
    return Blob.objects.filter(sha256__in=shas).values_list("sha256", "data")
