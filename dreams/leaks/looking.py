"""Where secrets stand: in the memories as they are, and in the texts that were kept of them.

A secret is named by a keyed hash (`findings.secrets.fingerprint`); its own words leave this package nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from dreams import blobs, hostkey, text
from dreams.findings import secrets
from dreams.models import AppliedFile, Blob, FileChange, Hunk, Memory, Project, Version
from dreams.secrets.finding import spans
from dreams.secrets.redact import values

#: Kept texts that are looked at, the newest first; looking at one takes well under a millisecond.
MOST_TEXTS = 20_000
CHUNK = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A secret's place in a memory as it is now. `line_no` is 1-based."""

    path: str
    memory_pk: int
    line_no: int


@dataclass(slots=True)
class Leak:
    """One secret: by which rule it was known, where it stands now, and how many kept texts hold it."""

    id: str
    rule: str
    places: list[Place] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    texts: int = 0

    @property
    def stands(self) -> bool:
        """It is in a memory that an agent reads now."""
        return bool(self.places)


@dataclass(frozen=True, slots=True)
class Leaks:
    """Those that stand come first. `all_looked_at` is False when there are more kept texts than MOST_TEXTS."""

    found: tuple[Leak, ...]
    all_looked_at: bool


def look(project: Project) -> Leaks:
    """Every secret in what is kept of `project`."""
    hostkey.use()
    found: dict[str, Leak] = {}
    for memory, data in _present(project):
        content = text.decode(data)
        for span in spans(content):
            leak = _leak(found, content[span.start : span.end], span.rule)
            leak.places.append(Place(memory.path, memory.pk, content.count("\n", 0, span.start) + 1))
    paths = kept_texts(project)
    for sha, content in contents_of(project):
        for value, rule in values(content).items():
            leak = _leak(found, value, rule)
            leak.texts += 1
            leak.paths |= paths[sha]
    ordered = sorted(found.values(), key=lambda leak: (not leak.stands, leak.rule, leak.id))
    return Leaks(tuple(ordered), len(paths) <= MOST_TEXTS)


def kept_texts(project: Project) -> dict[str, set[str]]:
    """sha256 → the paths it was kept for: versions, proposals' texts, edits, and what was written."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    paths = {Version: "memory__path", Hunk: "file__path"}
    for rows, columns in _columns(project):
        named = rows.values_list(paths.get(rows.model, "path"), *columns)
        for path, *shas in named.iterator(chunk_size=2000):
            for sha in filter(None, shas):
                found[sha].add(path)
    return dict(found)


def contents_of(project: Project) -> Iterator[tuple[str, str]]:
    """sha256 and text of the kept ones, at most MOST_TEXTS, the newest first; one query, some hundred rows at a time."""
    rows = Blob.objects.filter(_named_by(project)).order_by("-first_seen_at")
    for sha, data in rows.values_list("sha256", "data")[:MOST_TEXTS].iterator(chunk_size=CHUNK):
        yield sha, text.decode(bytes(data))


def _named_by(project: Project) -> Q:
    found = Q()
    for rows, columns in _columns(project):
        for column in columns:
            found |= Q(sha256__in=rows.exclude(**{column: ""}).values(column))
    return found


def _columns(project: Project) -> tuple[tuple[QuerySet[Any], tuple[str, ...]], ...]:
    """Where a text of `project` is named, the columns' own order after the path."""
    files = FileChange.objects.filter(proposal__project=project)
    return (
        (Version.objects.filter(memory__project=project).order_by(), ("sha256",)),
        (files.order_by(), ("base_sha", "new_sha", "rebased_from")),
        (Hunk.objects.filter(file__proposal__project=project).order_by(), ("edited_sha",)),
        (
            AppliedFile.objects.filter(application__proposal__project=project).order_by(),
            ("before_sha", "after_sha"),
        ),
    )


def _present(project: Project) -> Iterator[tuple[Memory, bytes]]:
    rows = project.memories.filter(gone_at__isnull=True).order_by("path")
    kept = blobs.get_all(rows.values_list("sha256", flat=True))
    return ((row, kept[row.sha256]) for row in rows if row.sha256 in kept)


def _leak(found: dict[str, Leak], value: str, rule: str) -> Leak:
    name = secrets.fingerprint(value)
    return found.setdefault(name, Leak(name, rule))
