"""Compares the statements of a project's memories: possible duplicates, one thing with two values, values that several
memories name, and related memories.

Computed once for each state of the directory and cached; at most `MOST_BYTES` are read for it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from django.core.cache import cache
from django.db.models import F

from dreams.engines.versions import source_digest
from dreams.lib import diff
from dreams.lib.files import text
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.statement_pairs import Pair, PlacedText, places_of
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Project
from dreams.services import database
from dreams.services.memories import syncing

KEPT_SECONDS: Final = 24 * 3600  # people return to a page within the day; chosen
#: A hundred memories or more; comparing them takes one to two seconds, after the page is shown. The newest are read.
MOST_BYTES: Final = 500_000
#: The most that is compared while a page is built; more is requested after the page is shown.
AT_ONCE: Final = 60_000
#: Projects whose statements stay in memory, so that only changes are compared again: up to 30 MB each.
MOST_INDEXES: Final = 2
MOST_GROUPS: Final = 30
MOST_VALUES: Final = 15
MOST_PLACES: Final = 40
MOST_RELATED: Final = 6
LEAST_RELATED: Final = 0.25
SHORTEST_VALUE: Final = 4
#: Kinds of values that name something; a number or a date is in many places by chance.
NAMING: Final = frozenset({"code", "address", "path", "identifier"})


_indexes: dict[int, StatementIndex] = {}


@dataclass(frozen=True, slots=True)
class StatementLink:
    """One statement; `pk` is its memory."""

    path: str
    line: int
    text: str
    pk: int | None = None


@dataclass(frozen=True, slots=True)
class StatementGroup:
    """Places with a common finding, and the reason."""

    places: tuple[StatementLink, ...]
    why: str


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value that statements of several memories name."""

    value: str
    places: int
    files: int


@dataclass(frozen=True, slots=True)
class Related:
    """Another memory, and the reason why it is related."""

    path: str
    why: str
    title: str = ""
    pk: int | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """The result for one state of a directory. `having`: value → indices of the places that name it."""

    duplicates: tuple[StatementGroup, ...]
    two_values: tuple[StatementGroup, ...]
    named: tuple[NamedValue, ...]
    places: tuple[StatementLink, ...]
    having: Mapping[str, tuple[int, ...]]
    related: Mapping[str, tuple[Related, ...]]


def is_quick(project: Project) -> bool:
    """Whether the comparison is cached, or small enough to be made with the page."""
    files, _ = _chosen(project)
    return sum(map(len, files.values())) <= AT_ONCE or cache.get(_key(files)) is not None


def page(project: Project, asked: str = "") -> dict[str, Any]:
    files, of_files = _chosen(project)
    found = _compared(project, files)
    pks = dict(project.memories.filter(gone_at__isnull=True).values_list("path", "pk"))
    mask = Mask.of(place.text for place in found.places)
    said = _said_where(found, asked)
    return {
        "duplicates": tuple(_shown(group, pks, mask) for group in found.duplicates),
        "two_values": tuple(_shown(group, pks, mask) for group in found.two_values),
        "named": tuple(_counted(found, one) for one in found.named if mask(one.value) == one.value),
        "asked": asked,
        "said": tuple(_place(place, pks, mask) for place in said[:MOST_PLACES]),
        "more_said": max(0, len(said) - MOST_PLACES),
        "most_groups": MOST_GROUPS,
        "files": len(files),
        "of_files": of_files,
    }


def related(memory: Memory) -> tuple[Related, ...]:
    """The memories that have most in common with this one."""
    files, _ = _chosen(memory.project)
    found = _compared(memory.project, files).related.get(memory.path, ())
    rows = memory.project.memories.filter(path__in=[one.path for one in found], gone_at__isnull=True)
    known = {row.path: row for row in rows}
    mask = Mask.of(one.why for one in found)
    return tuple(
        Related(one.path, diff.visible(mask(one.why)), known[one.path].title, known[one.path].pk)
        for one in found
        if one.path in known
    )


def _shown(group: StatementGroup, pks: Mapping[str, int], mask: Mask) -> StatementGroup:
    return StatementGroup(tuple(_place(place, pks, mask) for place in group.places), mask(group.why))


def _place(place: StatementLink, pks: Mapping[str, int], mask: Mask) -> StatementLink:
    return StatementLink(
        diff.visible(place.path), place.line, diff.visible(mask(place.text)), pks.get(place.path)
    )


def _counted(found: Compared, named: NamedValue) -> NamedValue:
    """With as many places as are listed when it is looked for, which includes index rows and descriptions."""
    places = _said_where(found, named.value)
    return NamedValue(named.value, len(places), len({place.path for place in places}))


def _said_where(found: Compared, asked: str) -> list[StatementLink]:
    """The places that name the value; if none do, those that contain the words."""
    key = " ".join(asked.strip("`").lower().split())
    if not key:
        return []
    places = [found.places[number] for number in found.having.get(key, ())]
    return places or [place for place in found.places if key in place.text.lower()]


# --- Comparing ----------------------------------------------------------------------------------------------------


def _chosen(project: Project) -> tuple[dict[str, str], int]:
    """The texts to compare, those that changed last first, up to MOST_BYTES; and how many there are."""
    contents = syncing.contents(project)
    latest = project.memories.filter(gone_at__isnull=True).order_by(
        F("changed_at").desc(nulls_last=True), "path"
    )
    room = MOST_BYTES
    chosen: dict[str, str] = {}
    for path in latest.values_list("path", flat=True):
        data = contents.get(path)
        if data is None or len(data) > room:
            continue
        room -= len(data)
        chosen[path] = text.decode(data)
    return chosen, len(contents)


def _key(files: Mapping[str, str]) -> str:
    digest = hashlib.sha256(source_digest().encode())
    for path, content in sorted(files.items()):
        digest.update(text.encode(path) + b"\0" + hashlib.sha256(text.encode(content)).digest())
    return f"memoryweb:compared-statements:{digest.hexdigest()}"


def _compared(project: Project, files: Mapping[str, str]) -> Compared:
    key = _key(files)
    found: Compared | None = cache.get(key)
    if found is None:
        # Removed while in use, so that no two threads change the same index.
        index = _indexes.pop(project.pk, None) or StatementIndex({})
        index.update(files)
        found = compare(index)
        _indexes[project.pk] = index
        for oldest in list(_indexes)[:-MOST_INDEXES]:
            _indexes.pop(oldest, None)
        with database.unless_full():
            cache.set(key, found, KEPT_SECONDS)
    return found


def compare(index: StatementIndex) -> Compared:
    """Compares all statements. A pure function."""
    having: defaultdict[str, list[int]] = defaultdict(list)
    for number, statement in enumerate(index.statements):
        for value in statement.reading.anchors:
            having[value].append(number)
    duplicates = index.possible_duplicates()[:MOST_GROUPS]
    return Compared(
        duplicates=tuple(
            StatementGroup(_places(places_of(group)), group[0].found.rule) for group in duplicates
        ),
        two_values=tuple(_two_values(pair) for pair in index.two_values()[:MOST_GROUPS]),
        named=_named(index, {PurePosixPath(path.lower()).stem for path in index.paths}),
        places=_places(index.statements),
        having={value: tuple(numbers) for value, numbers in having.items()},
        related=_related(index),
    )


def _places(statements: Iterable[PlacedText]) -> tuple[StatementLink, ...]:
    return tuple(StatementLink(one.path, one.first_line, one.text) for one in statements)


def _two_values(pair: Pair) -> StatementGroup:
    values = [value.key for value in (pair.found.old, pair.found.new) if value]
    return StatementGroup(
        _places((pair.one, pair.other)), " or ".join(values) + "?" if values else pair.found.rule
    )


def _named(index: StatementIndex, memories_: Set[str]) -> tuple[NamedValue, ...]:
    """Values of the kinds NAMING in two files or more, most places first. Names of memories are links and are
    left out."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    as_written: dict[str, str] = {}
    for statement in index.statements:
        if statement.source == "body":
            written = {
                value.key: _as_written(value.key, statement.text[value.start : value.end].strip("`"))
                for value in statement.reading.values
                if value.kind in NAMING
            }
            for key, words in written.items():
                places[key].append(statement.path)
                as_written.setdefault(key, words)
    found = [
        (NamedValue(as_written[key], len(paths), len(set(paths))), paths)
        for key, paths in places.items()
        if len(set(paths)) > 1 and len(key) >= SHORTEST_VALUE and PurePosixPath(key).stem not in memories_
    ]
    found.sort(key=lambda each: (-each[0].files, -each[0].places, -len(each[0].value), each[0].value))
    # A code span and the identifier in it are one value to a reader, unless the identifier is elsewhere too.
    once: list[tuple[NamedValue, list[str]]] = []
    for one, where in found:
        if len(once) == MOST_VALUES:
            break
        if not any(one.value in other.value and where == there for other, there in once):
            once.append((one, where))
    return tuple(one for one, _ in once)


def _as_written(key: str, words: str) -> str:
    """The value in the writer's letters: of an address that names a host, only the host."""
    at = words.lower().find(key)
    return words[at : at + len(key)] if at >= 0 else words


def _related(index: StatementIndex) -> Mapping[str, tuple[Related, ...]]:
    """Path → the memories with the most similar statements, and what they have in common."""
    best: defaultdict[str, dict[str, tuple[float, str]]] = defaultdict(dict)
    for statement in index.statements:
        if statement.source != "body":
            continue
        for other, found in index.related(statement, 3):
            if other.path == statement.path or found.score < LEAST_RELATED:
                continue
            for one, another in ((statement, other), (other, statement)):
                if found.score > best[one.path].get(another.path, (0.0, ""))[0]:
                    best[one.path][another.path] = (found.score, _in_common(one, another))
    return {
        path: tuple(
            Related(other, why)
            for other, (_, why) in sorted(others.items(), key=lambda each: (-each[1][0], each[0]))[
                :MOST_RELATED
            ]
        )
        for path, others in best.items()
    }


def _in_common(one: PlacedText, other: PlacedText) -> str:
    """ "both name kind-eu-1, 8443", or the beginning of the other statement if they share no value."""
    both = one.reading.anchors & other.reading.anchors
    shared = sorted(
        (value for value in both if len(value) >= SHORTEST_VALUE), key=lambda value: (-len(value), value)
    )
    if shared:
        return f"both name {', '.join(shared[:2])}"
    return f"“{other.text[:80].rstrip()}{'…' if len(other.text) > 80 else ''}”"
