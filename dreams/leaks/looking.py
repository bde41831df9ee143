"""Where secrets stand: in the memories as they are, and in the texts that were kept of them.

A secret is named by a keyed hash (`findings.secrets.fingerprint`); its own words leave this package nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.conf import settings

from dreams import blobs, text
from dreams.findings import secrets
from dreams.findings.secret_rules import spans
from dreams.models import AppliedFile, FileChange, Hunk, Memory, Project, Version

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
    use_hosts_key()
    found: dict[str, Leak] = {}
    for memory, data in _present(project):
        content = text.decode(data)
        for span in spans(content):
            leak = _leak(found, content[span.start : span.end], span.rule)
            leak.places.append(Place(memory.path, memory.pk, content.count("\n", 0, span.start) + 1))
    paths = kept_texts(project)
    shas = list(paths)[:MOST_TEXTS]
    for sha, content in contents_of(shas):
        for value, rule in {content[span.start : span.end]: span.rule for span in spans(content)}.items():
            leak = _leak(found, value, rule)
            leak.texts += 1
            leak.paths |= paths[sha]
    ordered = sorted(found.values(), key=lambda leak: (not leak.stands, leak.rule, leak.id))
    return Leaks(tuple(ordered), len(paths) <= MOST_TEXTS)


def use_hosts_key() -> None:
    """So that a secret has the same name from one process to the next."""
    secrets.use_key(settings.SECRET_KEY.encode())


def kept_texts(project: Project) -> dict[str, set[str]]:
    """sha256 → the paths it was kept for, newest first: versions, proposals' texts, edits, and what was written."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    versions = Version.objects.filter(memory__project=project).order_by("-pk")
    files = FileChange.objects.filter(proposal__project=project)
    hunks = Hunk.objects.filter(file__proposal__project=project).exclude(edited_sha="")
    applied = AppliedFile.objects.filter(application__proposal__project=project)
    for rows in (
        versions.values_list("memory__path", "sha256"),
        files.values_list("path", "base_sha", "new_sha", "rebased_from"),
        hunks.values_list("file__path", "edited_sha"),
        applied.values_list("path", "before_sha", "after_sha"),
    ):
        for path, *shas in rows.iterator(chunk_size=2000):
            for sha in filter(None, shas):
                found[sha].add(path)
    return dict(found)


def contents_of(shas: list[str]) -> Iterator[tuple[str, str]]:
    """sha256 and text of those that are kept, some hundred at a time."""
    for start in range(0, len(shas), CHUNK):
        kept: Mapping[str, bytes] = blobs.get_many(shas[start : start + CHUNK])
        for sha, data in kept.items():
            yield sha, text.decode(data)


def _present(project: Project) -> Iterator[tuple[Memory, bytes]]:
    rows = list(project.memories.filter(gone_at__isnull=True).order_by("path"))
    kept = blobs.get_many(row.sha256 for row in rows)
    return ((row, kept[row.sha256]) for row in rows if row.sha256 in kept)


def _leak(found: dict[str, Leak], value: str, rule: str) -> Leak:
    name = secrets.fingerprint(value)
    return found.setdefault(name, Leak(name, rule))
