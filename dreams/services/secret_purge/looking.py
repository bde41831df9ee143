"""Where secrets stand: in the memories as they are, and in the texts that were kept of them.

A secret is named by a keyed hash (`findings.secrets.fingerprint`); its own words leave this package nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model, Q, QuerySet

from dreams.findings import secrets
from dreams.lib.files import text
from dreams.lib.secrets.finding import spans
from dreams.lib.secrets.redact import values
from dreams.models import (
    AppliedFile,
    Blob,
    Decision,
    FileChange,
    Hunk,
    Memory,
    Project,
    QuestionOption,
    Version,
)
from dreams.services import blobs, host_key

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
    host_key.use()
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
    """sha256 → the paths it was kept for: versions, proposals' texts, edits, what was written, and drafted answers."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    paths = {Version: "memory__path", Hunk: "file__path"}
    for rows, columns in _columns(project):
        named = rows.values_list(paths.get(rows.model, "path"), *columns)
        for path, *shas in named.iterator(chunk_size=2000):
            for sha in filter(None, shas):
                found[sha].add(path)
    for sha, named_for in _drafted(project).items():
        found[sha] |= named_for
    return dict(found)


def contents_of(project: Project) -> Iterator[tuple[str, str]]:
    """sha256 and text of the kept ones, at most MOST_TEXTS, the newest first; one query, some hundred rows at a time."""
    seen = set()
    for sha, content in _texts(Blob.objects.filter(_named_by(project))):
        seen.add(sha)
        yield sha, content
    drafted = sorted(_drafted(project).keys() - seen)[:MOST_TEXTS]
    for start in range(0, len(drafted), CHUNK):
        for sha, data in blobs.get_many(drafted[start : start + CHUNK]).items():
            yield sha, text.decode(data)


def _drafted(project: Project | None = None) -> dict[str, set[str]]:
    """sha256 → paths of the texts that options of questions name."""
    rows = QuestionOption.objects.exclude(edits=[])
    if project is not None:
        rows = rows.filter(question__project=project)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for edits in rows.values_list("edits", flat=True).iterator(chunk_size=CHUNK):
        for edit in edits:
            for sha in filter(None, (edit["before"], edit["after"])):
                found[sha].add(edit["path"])
    return dict(found)


def unnamed() -> Iterator[tuple[str, str]]:
    """sha256 and text of what no row of any project names any more: an edit that was edited again, what a rebase replaced."""
    conflicts = FileChange.objects.filter(conflict__isnull=False).values_list("conflict", flat=True)
    sides = {sha for conflict in conflicts for sha in (conflict or {}).values()}
    sides |= _drafted().keys()
    return ((sha, content) for sha, content in _texts(Blob.objects.exclude(_named_by())) if sha not in sides)


def _texts(rows: QuerySet[Blob]) -> Iterator[tuple[str, str]]:
    newest = rows.order_by("-first_seen_at").values_list("sha256", "data")[:MOST_TEXTS]
    for sha, data in newest.iterator(chunk_size=CHUNK):
        yield sha, text.decode(bytes(data))


def _named_by(project: Project | None = None) -> Q:
    """Texts that `project`, or any, has."""
    found = Q()
    for rows, columns in _columns(project):
        for column in columns:
            found |= Q(sha256__in=rows.exclude(**{column: ""}).values(column))
    return found


def _columns(project: Project | None) -> tuple[tuple[QuerySet[Any], tuple[str, ...]], ...]:
    """Where a text is named, the columns' own order after the path."""

    def of(model: type[Model], way: str) -> QuerySet[Any]:
        rows = model._default_manager.order_by()
        return rows.filter(**{way: project}) if project else rows

    return (
        (of(Version, "memory__project"), ("sha256",)),
        (of(FileChange, "proposal__project"), ("base_sha", "new_sha", "rebased_from")),
        (of(Hunk, "file__proposal__project"), ("edited_sha",)),
        (of(Decision, "proposal__project"), ("base_sha", "text_sha")),
        (of(AppliedFile, "application__proposal__project"), ("before_sha", "after_sha")),
    )


def _present(project: Project) -> Iterator[tuple[Memory, bytes]]:
    rows = project.memories.filter(gone_at__isnull=True).order_by("path")
    kept = blobs.get_all(rows.values_list("sha256", flat=True))
    return ((row, kept[row.sha256]) for row in rows if row.sha256 in kept)


def _leak(found: dict[str, Leak], value: str, rule: str) -> Leak:
    name = secrets.fingerprint(value)
    return found.setdefault(name, Leak(name, rule))
