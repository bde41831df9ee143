"""What memories of several projects say about the person in the same words: written once where every project loads it, it needs
no copies.

Compared line by line in one pass, near linear and bounded. What is cached has no text, only lines by their numbers.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Prefetch

from dreams.engines.versions import source_digest
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import InstructionText, Memory, Project
from dreams.services import blobs, database

ABOUT_PEOPLE = ("user", "feedback")  # a project's own facts may be alike by chance, or by a template
LEAST_PROJECTS = 2  # a rule that only two have is one told twice; chosen
LEAST_BYTES = 20  # of a line: about four words, or seven characters of Chinese; chosen
MOST_MEMORIES = 5_000  # the newest; chosen
MOST_SHOWN = 30  # chosen
KEPT_SECONDS = 24 * 3600  # chosen
_MARK = re.compile(r"(?:[-*+>]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Shared:
    """Memories with the same lines, by id, and where the first one has them. `alone`: those that say nothing else."""

    memories: tuple[int, ...]
    lines: tuple[int, ...]
    alone: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Kept:
    pk: int
    project: int
    home: tuple[str, str]  # the host and the config folder, whose files all its projects load
    sha: str


def page() -> dict[str, Any]:
    found = _found()
    shown = found[:MOST_SHOWN]
    rows = Memory.objects.filter(pk__in={pk for one in shown for pk in one.memories}).select_related(
        "project"
    )
    memories = {row.pk: row for row in rows}
    texts = blobs.get_many(row.sha256 for row in memories.values())
    files = _loaded_together()
    cards = (
        _card(one, [memories[pk] for pk in one.memories if pk in memories], texts, files) for one in shown
    )
    return {"cards": [card for card in cards if card], "more": max(0, len(found) - MOST_SHOWN)}


def _card(
    one: Shared, places: Sequence[Memory], texts: Mapping[str, bytes], files: Sequence[InstructionText]
) -> dict[str, Any] | None:
    if not places or places[0].sha256 not in texts:
        return None
    content = text.decode(texts[places[0].sha256])
    projects = {place.project_id for place in places}
    said = {key for number, key in _keys(content) if number in one.lines}
    loaded = [file for file in files if projects <= {each.pk for each in file.always_in.all()}]
    saying = [file.path for file in loaded if said & {key for _, key in _keys(file.text)}]
    is_told = said <= {key for file in loaded for _, key in _keys(file.text)}
    lines = _as_written(content, one.lines)
    return {
        "projects": len(projects),
        "text": diff.visible(Mask.of([lines])(lines)),
        "places": [(place, place.pk in one.alone) for place in places],
        "told": saying if is_told else [],
        "target": f"{places[0].project.root}/CLAUDE.md",
    }


def _as_written(content: str, numbers: Sequence[int]) -> str:
    """These lines, with a blank line where the memory has one between them."""
    made, lines = list[str](), content.splitlines()
    for before, number in zip((numbers[0], *numbers), numbers, strict=False):
        if any(not line.strip() for line in lines[before : number - 1]):
            made.append("")
        made.append(lines[number - 1])
    return "\n".join(made)


def _loaded_together() -> list[InstructionText]:
    """The instruction files that several projects always load."""
    rows = InstructionText.objects.annotate(loading=Count("always_in")).filter(loading__gte=LEAST_PROJECTS)
    return list(rows.prefetch_related(Prefetch("always_in", Project.objects.only("pk"))).order_by("path"))


def _found() -> list[Shared]:
    """Said in most projects first."""
    rows = Memory.objects.filter(kind=Memory.Kind.TOPIC, type__in=ABOUT_PEOPLE, gone_at=None)
    rows = rows.filter(project__gone_at=None, project__repo_gone_at=None, project__unwatched_at=None)
    columns = ("pk", "project_id", "project__host", "project__root", "sha256")
    newest = rows.order_by("-mtime_ns", "-pk").values_list(*columns)[:MOST_MEMORIES]
    kept = [_Kept(pk, project, (host, root), sha) for pk, project, host, root, sha in newest]
    digest = hashlib.sha256(f"{source_digest()}{kept}".encode("utf-8", "surrogatepass")).hexdigest()
    found: list[Shared] | None = cache.get(f"memoryweb:several-projects:{digest}")
    if found is None:
        found = _compared(kept, blobs.get_many(one.sha for one in kept))
        with database.unless_full():
            cache.set(f"memoryweb:several-projects:{digest}", found, KEPT_SECONDS)
    return found


def _compared(kept: Sequence[_Kept], texts: Mapping[str, bytes]) -> list[Shared]:
    lines = {one.pk: list(_keys(text.decode(texts.get(one.sha, b"")))) for one in kept}
    project = {one.pk: one.project for one in kept}
    having: defaultdict[tuple[tuple[str, str], str], dict[int, None]] = defaultdict(dict)
    for one in kept:
        for _, key in lines[one.pk]:
            if len(text.encode(key)) >= LEAST_BYTES:
                having[one.home, key][one.pk] = None
    alike: defaultdict[tuple[int, ...], set[str]] = defaultdict(set)
    for (_, key), memories in having.items():
        if len({project[pk] for pk in memories}) >= LEAST_PROJECTS:
            alike[tuple(memories)].add(key)
    found = [
        Shared(
            pks,
            tuple(number for number, key in lines[pks[0]] if key in keys),
            frozenset(pk for pk in pks if all(key in keys for _, key in lines[pk])),
        )
        for pks, keys in alike.items()
    ]
    return sorted(found, key=lambda one: (-len({project[pk] for pk in one.memories}), -len(one.lines)))


def _keys(content: str) -> Iterator[tuple[int, str]]:
    """Each line below the frontmatter that says something, with its number from 1: without case, list mark and bold type."""
    lines = memdir.parse(text.encode(content)).body.splitlines()
    for number, line in enumerate(lines, len(content.splitlines()) - len(lines) + 1):
        said = _MARK.sub("", line.strip(), count=1) if not line.startswith("#") else ""
        if key := " ".join(said.replace("**", "").casefold().split()).rstrip(".!"):
            yield number, key
