"""Finds rows: current memories, earlier versions, sessions, what people typed and pasted, and instruction files.

Every list is bounded, newest first, and takes a fixed number of queries.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Count, Exists, F, Model, OuterRef, QuerySet, Subquery

from dreams.lib.files import text as texts
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import masked
from dreams.models import HistoryPrompt, InstructionText, Memory, OpenEnd, Project, Prompt, Session, Version
from dreams.models.prepared import prepared
from dreams.services import blobs, session_notes
from dreams.services.search import index
from dreams.services.search.hits import (
    MOST_LINES,
    Earlier,
    Excerpt,
    ExcerptPart,
    InstructionHit,
    MemoryHit,
    PromptHit,
    SessionHit,
    VersionHit,
    excerpts,
    marked,
)
from dreams.services.search.index import pasted_text
from dreams.services.search.query import CANDIDATES, FEW, Query, TextKind

# Nobody reads more; a more specific word helps better than another page.
MOST = 500
# Words in one text of so many are in most texts; chosen
MANY = 4

Found = TypeVar("Found", bound=Model)


@dataclass(frozen=True, slots=True)
class Filters:
    """Limits of a search: one project, and nothing older than `since`. None: everything."""

    project: int | None = None
    since: dt.datetime | None = None

    @property
    def on(self) -> bool:
        return self.project is not None or self.since is not None


# --- From words to rows, in SQL -----------------------------------------------------------------------------------
#
# Joined from the index on, so that the database stops after the last wanted row instead of reading all rows, or all texts with
# a common word.


@dataclass(frozen=True, slots=True)
class _Texts:
    """How a kind of text (`t`) is joined to its rows: `tables`, the `link` to them, and the condition `holds`.

    `key`, `project` (with one value) and `at` are columns of the row; `path` is searched too, if there is one; `tied` orders
    rows of one moment.
    """

    kind: TextKind
    tables: str
    link: str
    holds: str
    key: str
    project: str
    at: str
    path: str = ""
    tied: str = "key DESC"


_NOT_HIDDEN = "NOT s.own AND NOT EXISTS (SELECT 1 FROM dreams_hiddenprompt AS n WHERE n.key = p.key)"
_MEMORIES = _Texts(
    TextKind.MEMORY,
    "dreams_memory AS m",
    "m.sha256 = t.blob_id",
    "m.gone_at IS NULL",
    key="m.id",
    project="m.project_id = %s",
    at="m.changed_at",
    path="m.path",
    tied="key",  # those first seen together are in the order of their directory
)
_VERSIONS = _Texts(
    TextKind.MEMORY,
    "dreams_version AS v CROSS JOIN dreams_memory AS m",
    "v.sha256 = t.blob_id AND m.id = v.memory_id",
    "NOT (m.gone_at IS NULL AND m.sha256 = v.sha256)",
    key="v.id",
    project="m.project_id = %s",
    at="v.at",
)
_SESSIONS = _Texts(
    TextKind.SESSION,
    "dreams_session AS s",
    "s.id = t.session_id",
    "NOT s.own",
    key="s.id",
    project="s.project_id = %s",
    at="s.touched_at",
)
_TYPED = _Texts(
    TextKind.TYPED,
    "dreams_prompt AS p CROSS JOIN dreams_session AS s",
    "p.key = t.prompt_id AND s.id = p.session_id",
    _NOT_HIDDEN,
    key="p.key",
    project="s.project_id = %s",
    at="p.at",
)
_PASTED = replace(_TYPED, kind=TextKind.PASTED, link="p.key = t.history_id AND s.id = p.session_id")
_INSTRUCTIONS = _Texts(
    TextKind.INSTRUCTION,
    "dreams_instructiontext AS i",
    "i.id = t.instruction_id",
    "1 = 1",
    key="i.id",
    project="i.id IN (SELECT l.instructiontext_id FROM dreams_instructiontext_projects AS l WHERE l.project_id = %s)",
    at="i.changed_at",
    path="i.path",
)


def _keys(texts: _Texts, query: Query, filters: Filters, most: int = MOST) -> list[int]:
    """The found keys, newest first, at most `most`; for a common word only among the newest texts."""
    if not query.terms:
        return []
    sql, values = _newest(texts, query, filters, most * FEW // MOST)
    if texts.path:
        by_path, more = _by_path(texts, query, filters)
        sql, values = f"SELECT key, at FROM ({sql}) AS r UNION {by_path}", [*values, *more]  # noqa: S608 - values are apart
    listed = f"SELECT key FROM ({sql}) AS w ORDER BY at DESC NULLS LAST, {texts.tied} LIMIT %s"  # noqa: S608 - values are apart
    return [key for (key,) in index.rows(listed, [*values, most])]


# Keys of memories, of sessions and typed prompts without those of dreams, and of prompts of the history by their short pasted
# texts (a prompt of a transcript includes them). A page of them is for `memory_hits` and so on.
memories = partial(_keys, _MEMORIES)
sessions = partial(_keys, _SESSIONS)
typed = partial(_keys, _TYPED)
pasted = partial(_keys, _PASTED)


def _newest(
    texts: _Texts, query: Query, filters: Filters, most: int, also: str = "", *, by_row: bool = False
) -> tuple[str, list[Any]]:
    """A query with its values for rows (key, at and columns `also`) whose text is among the newest with the words.

    `by_row`: from the newest rows to their texts, to pass few texts of other rows that have the words.
    """
    near, wanted = index.newest(query.terms, texts.kind)
    conditions, limits = _conditions(texts, filters)
    select, holds = f"SELECT {texts.key} AS key, {texts.at} AS at{also} FROM", index.holds(query.terms)
    if by_row:
        where = f"WHERE {texts.link} AND {conditions} AND {holds} ORDER BY {texts.key} DESC LIMIT %s"
        sql = f"{select} {texts.tables} CROSS JOIN dreams_searchtext AS t {where}"
        return sql, [*limits, *query.terms, most]
    sql = (
        f"{select} ({near}) AS f CROSS JOIN dreams_searchtext AS t CROSS JOIN {texts.tables}"
        f" WHERE t.id = f.id AND {holds} AND {texts.link} AND {conditions}{index.in_order()} LIMIT %s"
    )
    return sql, [*wanted, *query.terms, *limits, most]


def _spellings(term: str, word: str) -> dict[str, None]:
    """Only those of ASCII are alike in either case to SQLite."""
    accented = () if word.isascii() else (word, word.lower(), word.title(), word.upper())
    return dict.fromkeys((term, *accented))


def _by_path(texts: _Texts, query: Query, filters: Filters) -> tuple[str, list[Any]]:
    """Rows (key, at) whose path has the words, with their accents or without."""
    conditions, limits = _conditions(texts, filters)
    any_database: Any = connection
    has = f"{any_database.ops.lookup_cast('icontains') % texts.path} {any_database.operators['icontains']}"
    forms = [_spellings(*pair) for pair in zip(query.terms, query.words, strict=True)]
    holds = " AND ".join(f"({' OR '.join([has] * len(either))})" for either in forms)
    patterns = [f"%{connection.ops.prep_for_like_query(form)}%" for either in forms for form in either]
    sql = f"SELECT {texts.key} AS key, {texts.at} AS at FROM {texts.tables} WHERE {holds} AND {conditions}"  # noqa: S608 - values are apart
    return sql, [*patterns, *limits]


def _conditions(texts: _Texts, filters: Filters) -> tuple[str, list[Any]]:
    conditions, values = [texts.holds], list[Any]()
    if filters.project is not None:
        conditions.append(texts.project)
        values.append(filters.project)
    if filters.since is not None:
        conditions.append(f"{texts.at} >= %s")
        values.append(connection.ops.adapt_datetimefield_value(filters.since))
    return " AND ".join(conditions), values


def _in_order(rows: Iterable[Found], keys: Sequence[int]) -> list[Found]:
    by_key = {row.pk: row for row in rows}
    return [by_key[key] for key in keys if key in by_key]


# --- Memories as they are -----------------------------------------------------------------------------------------


def memory_hits(keys: Sequence[int], query: Query) -> list[MemoryHit]:
    found = _in_order(_memories(list(keys)), keys)
    kept = blobs.get_many(row.sha256 for row in found)
    return [
        MemoryHit(row, _marked(row.path, query), _excerpts(kept.get(row.sha256, b""), query)) for row in found
    ]


@prepared
def _memories(keys: list[int]) -> QuerySet[Memory]:
    return Memory.objects.filter(pk__in=keys).select_related("project")


# --- Earlier versions ---------------------------------------------------------------------------------------------


def versions(query: Query, filters: Filters, most: int = MOST) -> list[Earlier]:
    """Earlier versions by memory, first of those memories that no longer have the words."""
    if not query.terms:
        return []
    found = _earlier(query, filters, FEW)
    # Many versions of few memories: there may be more.
    is_cut = len(found) < MOST and sum(row.count for row in found) >= FEW
    return (_earlier(query, filters, CANDIDATES) if is_cut else found)[:most]


def _earlier(query: Query, filters: Filters, most: int) -> list[Earlier]:
    # Whether the words may be in so many texts that it is quicker to look at every version.
    [(last,)] = index.rows("SELECT max(id) FROM dreams_version", [])
    many = (last or 0) // MANY + 1
    by_row = many <= CANDIDATES and index.is_common(query.terms, TextKind.MEMORY, many)
    newest, values = _newest(_VERSIONS, query, filters, most, ", v.memory_id", by_row=by_row)
    sql = (
        "SELECT g.newest, g.count, m.gone_at IS NULL AND EXISTS (SELECT 1 FROM dreams_searchtext AS t"  # noqa: S608 - values are apart
        f" WHERE t.blob_id = m.sha256 AND {index.holds(query.terms)}) AS still"
        f" FROM (SELECT memory_id, max(key) AS newest, count(*) AS count, max(at) AS last FROM ({newest}) AS w GROUP BY memory_id) AS g"
        " CROSS JOIN dreams_memory AS m WHERE m.id = g.memory_id ORDER BY still, g.last DESC LIMIT %s"
    )
    rows = index.rows(sql, [*query.terms, *values, MOST])
    return [Earlier(version, count, bool(still)) for version, count, still in rows]


def version_hits(groups: Sequence[Earlier], query: Query) -> list[VersionHit]:
    by_pk = {row.pk: row for row in _versions([group.newest for group in groups])}
    kept = blobs.get_many(row.sha256 for row in by_pk.values())
    found = [(by_pk[group.newest], group) for group in groups if group.newest in by_pk]
    return [
        VersionHit(
            version=row,
            after=row.after,
            others=group.count - 1,
            still=group.still,
            excerpts=_excerpts(kept.get(row.sha256, b""), query),
        )
        for row, group in found
    ]


@prepared
def _versions(keys: list[int]) -> QuerySet[Any]:
    later = Version.objects.filter(memory=OuterRef("memory"), number__gt=OuterRef("number"))
    rows = Version.objects.filter(pk__in=keys).select_related("memory__project")
    return rows.annotate(after=Subquery(later.order_by("number").values("pk")[:1]))


# --- Titles and notes of sessions -------------------------------------------------------------------------------------------


def session_hits(keys: Sequence[int], query: Query) -> list[SessionHit]:
    found = _in_order(_sessions(list(keys)), keys)
    notes = session_notes.texts(row.pk for row in found)
    tasks = session_notes.open_ends_of(row.pk for row in found)
    return [_session_hit(row, notes.get(row.pk, ()), tasks.get(row.pk, ()), query) for row in found]


@prepared
def _sessions(keys: list[int]) -> QuerySet[Session]:
    return Session.objects.filter(pk__in=keys).select_related("project")


def _session_hit(row: Session, notes: Sequence[str], tasks: Iterable[OpenEnd], query: Query) -> SessionHit:
    title = _marked(redact.redact(row.title), query)
    lines = excerpts("\n".join(notes), query.terms)
    left = [
        replace(line, line=task.line_no)
        for task in tasks
        for line in excerpts(redact.redact(task.subject), query.terms)
    ]
    return SessionHit(row, title, lines or left[:MOST_LINES], is_task=bool(left and not lines))


# --- What people typed --------------------------------------------------------------------------------------------


def typed_hits(keys: Sequence[int], query: Query) -> list[PromptHit]:
    return [
        PromptHit(row, hasattr(row, "history"), excerpts(redact.redact(row.text), query.terms, most=1))
        for row in _in_order(_prompts(list(keys)), keys)
    ]


@prepared
def _prompts(keys: list[int]) -> QuerySet[Prompt]:
    return Prompt.objects.filter(pk__in=keys).select_related("session__project", "history")


def pasted_hits(keys: Sequence[int], query: Query) -> list[PromptHit]:
    return [
        PromptHit(
            row.prompt,
            True,
            excerpts(redact.redact(pasted_text(row.pastes)), query.terms, most=1),
            redact.redact(row.prompt.text),
        )
        for row in _in_order(_pastes(list(keys)), keys)
    ]


@prepared
def _pastes(keys: list[int]) -> QuerySet[HistoryPrompt]:
    return HistoryPrompt.objects.filter(pk__in=keys).select_related("prompt__session__project")


# --- Instruction files --------------------------------------------------------------------------------------------


def instructions(query: Query, filters: Filters, most: int = MOST) -> list[tuple[int, int | None]]:
    """Instruction files, with the searched project if there is one."""
    return [(key, filters.project) for key in _keys(_INSTRUCTIONS, query, filters, most)]


def instruction_hits(found: Sequence[tuple[int, int | None]], query: Query) -> list[InstructionHit]:
    files = {row.pk: row for row in _instructions([file for file, _ in found])}
    loading = {file: project or files[file].lately for file, project in found if file in files}
    by_pk = Project.objects.in_bulk(set(loading.values()))
    return [
        InstructionHit(
            files[file],
            by_pk[project],
            files[file].loaded_by - 1,
            excerpts(masked(files[file].text), query.terms),
        )
        for file, project in loading.items()
        if project in by_pk
    ]


@prepared
def _instructions(keys: list[int]) -> QuerySet[Any]:
    """Each with its most recently used project."""
    lately = Project.objects.filter(instruction_texts=OuterRef("pk")).order_by(
        F("last_session_at").desc(nulls_last=True), "pk"
    )
    rows = InstructionText.objects.filter(pk__in=keys).annotate(loaded_by=Count("projects"))
    return rows.annotate(lately=Subquery(lately.values("pk")[:1]))


# --- Shared -------------------------------------------------------------------------------------------------------


@prepared
def projects() -> QuerySet[Project, tuple[int, str]]:
    """Projects with searchable texts: id and name, by name."""
    mine = OuterRef("pk")
    used = Exists(Memory.objects.filter(project=mine)) | Exists(Session.objects.filter(project=mine))
    return Project.objects.filter(used).order_by("name", "slug").values_list("pk", "name")[:MOST]


def _excerpts(data: bytes, query: Query) -> list[Excerpt]:
    return excerpts(masked(texts.decode(data)), query.terms)


def _marked(text: str, query: Query) -> tuple[ExcerptPart, ...]:
    return tuple(marked(text, query.terms))


Rows = Sequence[Any]
Hits = Callable[[Rows, Query], Sequence[Any]]
#: What is searched: how its rows are found (at most as many as are given, else MOST), and what is shown of some of them.
SEARCHED: Mapping[str, tuple[Callable[..., Rows], Hits]] = {
    "memories": (memories, memory_hits),
    "sessions": (sessions, session_hits),
    "versions": (versions, version_hits),
    "typed": (typed, typed_hits),
    "pasted": (pasted, pasted_hits),
    "instructions": (instructions, instruction_hits),
}
