"""Grouped search results, for the search page and the list below the search field."""

import datetime as dt
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.paginator import Page
from django.db import DatabaseError
from django.urls import reverse

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.files.text import one_line, plural
from dreams.models import Project
from dreams.services.memories import instructions
from dreams.services.search import finding, index
from dreams.services.search.finding import Filters, Rows
from dreams.services.search.hits import (
    Excerpt,
    ExcerptPart,
    InstructionHit,
    MemoryHit,
    PromptHit,
    SessionHit,
    VersionHit,
    marked,
)
from dreams.services.search.index import is_common
from dreams.services.search.query import Query, TextKind
from dreams.web.pages.memory import Looks
from dreams.web.pages.session import quote_address
from dreams.web.paging import PageOfRows, page_of

PAGE = 20  # rows of one kind; chosen
FEW = 5  # rows of each kind; chosen
COUNTED = 100  # found of each kind where a few are shown; chosen
MOST_WAITING = 1_000  # counted: counting more takes as long as a search
QUICK = 4  # rows of each kind while typing; chosen
LEAD = 24  # letters before a match; chosen
TITLE = 120  # letters; chosen
SINCE = {
    "week": ("Past week", dt.timedelta(days=7)),
    "month": ("Past month", dt.timedelta(days=31)),
    "quarter": ("Past three months", dt.timedelta(days=92)),
    "year": ("Past year", dt.timedelta(days=366)),
}
Kinds = Mapping[str, "_Kind"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """One result. `lines` show the matches; `note` is a word about its state."""

    icon: str
    href: str
    title: tuple[ExcerptPart, ...]
    project: Project
    at: dt.datetime | None
    lines: list[Excerpt]
    place: str = ""
    note: str = ""

    @property
    def brief(self) -> tuple[ExcerptPart, ...]:
        """The first line, cut shortly before its first match so that a narrow list shows it."""
        parts = self.lines[0].parts if self.lines else ()
        if parts and not parts[0].is_match and len(parts[0].text) > LEAD:
            return (ExcerptPart(f"…{parts[0].text[-LEAD:]}"), *parts[1:])
        return parts


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """`is_capped`: there are more matches than `total`, at which the count stopped."""

    key: str
    label: str
    hint: str
    listed: PageOfRows[SearchRow]
    is_capped: bool

    @property
    def total(self) -> int:
        return self.listed.total

    @property
    def more(self) -> int:
        return self.total - len(self.listed.items)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """`waiting` texts are not in the index yet, counted up to MOST_WAITING. `is_broken`: the database failed."""

    groups: list[SearchGroup]
    waiting: int
    is_broken: bool = False

    @property
    def total(self) -> int:
        return sum(group.total for group in self.groups)

    @property
    def waits_for_many(self) -> bool:
        return self.waiting >= MOST_WAITING

    @property
    def is_capped(self) -> bool:
        return any(group.is_capped for group in self.groups)


@dataclass(frozen=True, slots=True)
class _Kind:
    label: str
    hint: str
    of: TextKind
    row: Callable[[Any, Query], SearchRow]
    hits: finding.Hits | None = None  # if not the usual ones


def found(
    query: Query, filters: Filters, kinds: Kinds, number: str | None = None, few: int = FEW
) -> SearchResults:
    """Groups with their first `few` rows; a single kind has pages. A fixed number of queries."""
    if not query.terms:
        return SearchResults([], waiting=0)
    # Searching only reads: the scheduler fills the index.
    waiting = min(index.waiting(MOST_WAITING), MOST_WAITING)
    is_one = len(kinds) == 1
    most, size, number = (finding.MOST, PAGE, number) if is_one else (COUNTED, few, None)
    try:
        groups = [_group(key, kind, query, filters, most, number, size) for key, kind in kinds.items()]
    except DatabaseError:
        log.exception("search")
        return SearchResults([], waiting, is_broken=True)
    return SearchResults([group for group in groups if group.total], waiting)


def _group(
    key: str, kind: _Kind, query: Query, filters: Filters, most: int, number: str | None, size: int
) -> SearchGroup:
    # All keys at once: counting before fetching the page would search the index twice.
    keys, hits = finding.SEARCHED[key]
    page: Page[Any] = page_of(keys(query, filters, most), number, size)
    rows = [kind.row(hit, query) for hit in (kind.hits or hits)(list(page.object_list), query)]
    is_capped = page.paginator.count >= most or (filters.on and is_common(query.terms, kind.of))
    return SearchGroup(key, kind.label, kind.hint, PageOfRows(rows, page), is_capped)


# --- Rows ---------------------------------------------------------------------------------------------------------


def _memory(hit: MemoryHit, query: Query) -> SearchRow:
    row = hit.memory
    address = reverse("memory", args=[row.pk])
    return SearchRow(
        icon="index" if row.kind == row.Kind.INDEX else "file",
        href=f"{address}?view=source{_at(hit.excerpts)}" if hit.excerpts else address,
        title=hit.title,
        project=row.project,
        at=row.changed_at,
        lines=hit.excerpts,
        place=_lines(hit.excerpts),
    )


def _session(hit: SessionHit, query: Query) -> SearchRow:
    row = hit.session
    place = "#notes" if hit.excerpts else ""
    if hit.is_task:
        line = hit.excerpts[0].line
        place = f"?line={line}#line-{line}"
    return SearchRow(
        icon="session",
        href=reverse("session", args=[row.pk]) + place,
        title=hit.title or (ExcerptPart(str(row)),),
        project=row.project,
        at=row.at,
        lines=hit.excerpts,
        place=plural(row.user_turns + row.assistant_turns, "turn"),
        note="gone from disk" if row.gone_at else "",
    )


def _version_hits(found: Rows, query: Query) -> list[tuple[VersionHit, str]]:
    hits = finding.version_hits(found, query)
    looks = Looks.of(hit.version for hit in hits)
    return [(hit, looks(hit.version).what) for hit in hits]


def _version(told: tuple[VersionHit, str], query: Query) -> SearchRow:
    hit, what = told
    row = hit.version
    after = f"&b={hit.after}" if hit.after else ""
    others = f", and {plural(hit.others, 'more version')}" if hit.others else ""
    return SearchRow(
        icon="clock",
        href=f"{reverse('memory-compare', args=[row.memory_id])}?a={row.pk}{after}",
        title=(ExcerptPart(row.memory.path),),
        project=row.memory.project,
        at=row.at,
        lines=hit.excerpts,
        place=f"{what[0].lower()}{what[1:]}{others}",
        note="still says so" if hit.still else "no longer says so",
    )


def _prompt(hit: PromptHit, query: Query) -> SearchRow:
    row, session = hit.prompt, hit.prompt.session
    return SearchRow(
        icon="user",
        href=quote_address(session.pk, row.line_no, NO_ANSWER if hit.no_answer else ""),
        title=(ExcerptPart(one_line(hit.typed)[:TITLE] or str(session)),),
        project=session.project,
        at=row.at,
        lines=hit.excerpts,
        place="" if hit.no_answer else f"line {row.line_no:,}",
        note=NO_ANSWER if hit.no_answer else "gone from disk" if session.gone_at else "",
    )


def _instruction(hit: InstructionHit, query: Query) -> SearchRow:
    name = instructions.shown(hit.project, hit.file.path)
    at = f"&line={hit.excerpts[0].line}#instruction-line" if hit.excerpts else "#instruction-line"
    others = f"and {plural(hit.others, 'more project')}" if hit.others else ""
    return SearchRow(
        icon="file",
        href=f"{reverse('project-instructions', args=[hit.project.pk])}?text={hit.file.pk}{at}",
        title=tuple(marked(name, query.terms)),
        project=hit.project,
        at=hit.file.changed_at,
        lines=hit.excerpts,
        place=" · ".join(filter(None, (others, _lines(hit.excerpts)))),
    )


def _lines(excerpts: Sequence[Excerpt]) -> str:
    numbers = [f"{excerpt.line:,}" for excerpt in excerpts]
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {' and '.join(numbers)}" if numbers else ""


def _at(excerpts: Sequence[Excerpt]) -> str:
    """The anchor: a text fragment, so that browsers scroll to the words and mark them."""
    first = excerpts[0]
    return f"#line-{first.line}:~:text={quote(first.words, safe='').replace('-', '%2D')}"


_SEARCHED: Kinds = {
    "memories": _Kind("Memories", "as they are now", TextKind.MEMORY, _memory),
    "sessions": _Kind("Sessions", "by title, notes and open ends", TextKind.SESSION, _session),
    "versions": _Kind("Earlier versions", "as they were", TextKind.MEMORY, _version, _version_hits),
    "typed": _Kind("What you typed", "in sessions", TextKind.TYPED, _prompt),
    "pasted": _Kind("What you pasted", "short texts of the prompt history", TextKind.PASTED, _prompt),
    "instructions": _Kind(
        "Instructions", "CLAUDE.md and what it includes", TextKind.INSTRUCTION, _instruction
    ),
}


def kinds(*, of_sessions: bool) -> Kinds:
    """The kinds that a reader may search: all, or all but those from sessions."""
    open_to_all = (TextKind.MEMORY, TextKind.INSTRUCTION)
    return {key: kind for key, kind in _SEARCHED.items() if of_sessions or kind.of in open_to_all}
