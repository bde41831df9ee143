"""What was found, as rows: memories as they are, earlier versions of them, sessions, and what people typed.

Every list is bounded, newest first, and described in a fixed number of queries however much is found.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from dreams.lib.files import text as texts
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Project, Prompt, Session, Version
from dreams.services import blobs
from dreams.services.search.backend import earlier, is_common, matching, surely
from dreams.services.search.kinds import CANDIDATES, FEW, Kind
from dreams.services.search.marking import Excerpt, Part, excerpts, marked
from dreams.services.search.query import Query

# Nobody reads more: beyond it the answer is another word, not another page.
MOST = 1_000

T = TypeVar("T", bound=Sequence[Any])


@dataclass(frozen=True, slots=True)
class Filters:
    """What to look through: one project, and what is not older than `since`. None: everything."""

    project: int | None = None
    since: dt.datetime | None = None

    @property
    def on(self) -> bool:
        return self.project is not None or self.since is not None


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory whose present text, or path, has the words."""

    memory: Memory
    title: tuple[Part, ...]
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class VersionHit:
    """The newest earlier version of a memory that has the words; `others` more have them too.

    `after` is the id of the version that took its place. `still` when the memory has the words to this day.
    """

    version: Version
    after: int | None
    others: int
    still: bool
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class TypedHit:
    """What a person typed in a session, without its secrets."""

    prompt: Prompt
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session whose title has the words."""

    session: Session
    title: tuple[Part, ...]


# --- Memories as they are -----------------------------------------------------------------------------------------


def memories(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Memory]:
    """Those whose text has all terms, or whose path has. To be given to `memory_hits`, page by page."""
    in_path = Q()
    for term in query.terms:
        in_path &= Q(path__icontains=term)
    in_text = Q(sha256__in=matching(query.terms, Kind.MEMORY, most).values("blob_id"))
    rows = Memory.objects.filter(gone_at__isnull=True) if query.terms else Memory.objects.none()
    rows = rows.filter(in_path | in_text, *_limits(filters, "project", "changed_at"))
    return rows.select_related("project").order_by(F("changed_at").desc(nulls_last=True), "pk")[:MOST]


def memory_hits(rows: Iterable[Memory], query: Query) -> list[MemoryHit]:
    found = list(rows)
    kept = blobs.get_many(row.sha256 for row in found)
    return [
        MemoryHit(row, _marked(row.path, query), _excerpts(kept.get(row.sha256, b""), query)) for row in found
    ]


# --- Earlier versions ---------------------------------------------------------------------------------------------


def versions(
    query: Query, filters: Filters, most: int = CANDIDATES
) -> QuerySet[Version, Any]:  # rows of values: the stubs' own names for them cannot be written
    """One row for each memory: `newest` (a version's id), `count`, `still`. What is no longer said comes first.

    `still`: the memory has the words to this day.
    """
    rows = Version.objects.filter(earlier(query.terms, most), *_limits(filters, "memory__project", "at"))
    today = surely(query.terms).filter(blob=OuterRef("memory__sha256"))
    said = rows.annotate(still=Q(memory__gone_at__isnull=True) & Exists(today))
    grouped = said.order_by().values("memory", "still")
    counted = grouped.annotate(newest=Max("pk"), count=Count("pk"), last=Max("at"))
    return counted.order_by("still", "-last")[:MOST]


def version_hits(groups: Sequence[Mapping[str, int]], query: Query) -> list[VersionHit]:
    following = Version.objects.filter(memory=OuterRef("memory"), pk__gt=OuterRef("pk")).order_by("pk")
    rows = Version.objects.filter(pk__in=[group["newest"] for group in groups])
    described = rows.select_related("memory__project").annotate(after=Subquery(following.values("pk")[:1]))
    by_pk = {row.pk: row for row in described}
    kept = blobs.get_many(row.sha256 for row in by_pk.values())
    found = [(by_pk[group["newest"]], group) for group in groups if group["newest"] in by_pk]
    return [
        VersionHit(
            version=row,
            after=row.after,
            others=group["count"] - 1,
            still=bool(group["still"]),
            excerpts=_excerpts(kept.get(row.sha256, b""), query),
        )
        for row, group in found
    ]


# --- Titles of sessions -------------------------------------------------------------------------------------------


def sessions(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Session]:
    """Those of a person; what our own dreams left behind is no session of theirs."""
    rows = Session.objects.filter(
        pk__in=matching(query.terms, Kind.SESSION, most).values("session_id"), own=False
    )
    rows = rows.filter(*_limits(filters, "project", "touched_at"))
    return rows.select_related("project").order_by("-touched_at", "-pk")[:MOST]


def session_hits(rows: Iterable[Session], query: Query) -> list[SessionHit]:
    return [SessionHit(row, _marked(redact.redact(row.title), query)) for row in rows]


# --- What people typed --------------------------------------------------------------------------------------------


def typed(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Prompt]:
    """What our own dreams sent to a model was typed by nobody, and is left out."""
    rows = Prompt.objects.filter(
        pk__in=matching(query.terms, Kind.TYPED, most).values("prompt_id"), session__own=False
    )
    rows = rows.filter(*_limits(filters, "session__project", "at"))
    return rows.select_related("session__project").order_by(F("at").desc(nulls_last=True), "-pk")[:MOST]


def typed_hits(rows: Iterable[Prompt], query: Query) -> list[TypedHit]:
    return [TypedHit(row, excerpts(redact.redact(row.text), query.terms, most=1)) for row in rows]


def all_or_newest(rows: Callable[[int], T], query: Query, kind: Kind) -> T:
    """What `rows` finds among so many texts: all of it, or as much as is counted where the newest texts hold that."""
    if is_common(query.terms, kind, FEW) and len(found := rows(FEW)) >= MOST:
        return found
    return rows(CANDIDATES)


# --- Shared -------------------------------------------------------------------------------------------------------


def projects() -> list[tuple[int, str]]:
    """Projects to choose from: id and name, by name; those with anything that could be found."""
    mine = OuterRef("pk")
    used = Exists(Memory.objects.filter(project=mine)) | Exists(Session.objects.filter(project=mine))
    return list(Project.objects.filter(used).order_by("name", "slug").values_list("pk", "name")[:MOST])


def _limits(filters: Filters, project: str, at: str) -> list[Q]:
    wanted = []
    if filters.project is not None:
        wanted.append(Q((project, filters.project)))
    if filters.since is not None:
        wanted.append(Q((f"{at}__gte", filters.since)))
    return wanted


def _excerpts(data: bytes, query: Query) -> list[Excerpt]:
    content = texts.decode(data)
    return excerpts(Mask.of([content])(content), query.terms)


def _marked(text: str, query: Query) -> tuple[Part, ...]:
    return tuple(marked(text, query.terms))
