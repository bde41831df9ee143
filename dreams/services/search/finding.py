"""What was found, as rows: memories as they are, earlier versions of them, sessions, what people typed and pasted, and
instruction files.

Every list is bounded, newest first, and described in a fixed number of queries however much is found.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Value

from dreams.lib.files import text as texts
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import Mask
from dreams.models import (
    HiddenPrompt,
    HistoryPrompt,
    InstructionText,
    Memory,
    OpenEnd,
    Project,
    Prompt,
    Session,
    Version,
)
from dreams.models.prepared import prepared
from dreams.services import blobs, session_notes
from dreams.services.search.index import earlier, is_common, matching, pasted_text, surely
from dreams.services.search.query import CANDIDATES, FEW, Kind, Query, normal, spans

# The piece of a text that shows why it was found, in parts that say which of them matched.


LINE_CHARS = 180  # of an excerpt; chosen
# A line ends with a whole word, if that is no longer than this.
LAST_WORD = 20
BEFORE_CHARS = 60
MOST_LINES = 2
AROUND_CHARS = 60
# Words with single spaces between them: what a browser finds again on the page, whatever the page makes of the rest.
_RUN = re.compile(r"\S+(?: \S+)*")


@dataclass(frozen=True, slots=True)
class Part:
    """Plain text, to be escaped like any other."""

    text: str
    is_match: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of a text, cut to what can be read at a glance. `line` is 1-based.

    `words` are those around the first match, whole and exactly as they stand there.
    """

    line: int
    parts: tuple[Part, ...]
    words: str = ""


def excerpts(text: str, terms: tuple[str, ...], most: int = MOST_LINES) -> list[Excerpt]:
    """The lines that hold most of `terms`, in the order of the text; none where no line alone holds one."""
    lines = normal(text).split("\n")
    weighed = [(_weight(line, terms), -at) for at, line in enumerate(lines)]
    best = sorted(-at for weight, at in sorted(weighed, reverse=True)[:most] if weight)
    return [_excerpt(lines[at], at + 1, terms) for at in best]


def _weight(line: str, terms: tuple[str, ...]) -> int:
    return sum(bool(spans(line, (term,))) for term in terms)


def _excerpt(line: str, number: int, terms: tuple[str, ...]) -> Excerpt:
    found = spans(line, terms)
    start = _start(line, found[0][0])
    shown = _clip(line, start)
    return Excerpt(number, tuple(marked(shown, terms)), _around(line, *found[0]))


def _around(line: str, start: int, end: int) -> str:
    run = next((run for run in _RUN.finditer(line) if run.end() >= end), None)
    if run is None or run.start() > start:
        return line[start:end].strip()
    left = line.rfind(" ", run.start(), max(run.start(), start - AROUND_CHARS)) + 1 or run.start()
    right = line.find(" ", min(run.end(), end + AROUND_CHARS), run.end())
    return line[max(left, run.start()) : right if right >= 0 else run.end()]


def _start(line: str, match: int) -> int:
    """Where to begin so that the match is in sight: at a word, a little before it."""
    if match < LINE_CHARS - BEFORE_CHARS:
        return 0
    at = line.find(" ", match - BEFORE_CHARS, match)
    return at + 1 if at >= 0 else match - BEFORE_CHARS // 2


def _clip(line: str, start: int) -> str:
    end = start + LINE_CHARS
    is_cut = len(line) > end
    if is_cut and (space := line.rfind(" ", end - LAST_WORD, end + 1)) > start:
        end = space
    return f"{'…' if start else ''}{line[start:end].strip()}{'…' if is_cut else ''}"


def marked(text: str, terms: tuple[str, ...]) -> Iterator[Part]:
    """All of `text`, in parts."""
    text, at = normal(text), 0
    for start, end in spans(text, terms):
        if start > at:
            yield Part(text[at:start])
        yield Part(text[start:end], is_match=True)
        at = end
    if at < len(text):
        yield Part(text[at:])


# Nobody reads more: beyond it the answer is another word, not another page.
MOST = 500

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
    """What a person typed in a session, without its secrets. `no_answer`: only the prompt history has it."""

    prompt: Prompt
    no_answer: bool
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class PastedHit:
    """A prompt of the history whose pasted text has the words."""

    prompt: Prompt
    text: str
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class InstructionHit:
    """An instruction file whose text or path has the words. `project` is one that loads it, `others` so many more do."""

    file: InstructionText
    project: Project
    others: int
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session whose title, notes or open ends have the words; `excerpts` are of the notes, or else of the open ends,
    by the line of the transcript that last spoke of each: then `is_task`."""

    session: Session
    title: tuple[Part, ...]
    excerpts: list[Excerpt]
    is_task: bool = False


# --- Memories as they are -----------------------------------------------------------------------------------------


def memories(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Memory]:
    """Those whose text has all terms, or whose path has. To be given to `memory_hits`, page by page."""
    in_text = Q(sha256__in=matching(query.terms, Kind.MEMORY, most).values("blob_id"))
    rows = Memory.objects.filter(gone_at__isnull=True) if query.terms else Memory.objects.none()
    rows = rows.filter(_in_path(query) | in_text, *_limits(filters, "project", "changed_at"))
    return rows.select_related("project").order_by(F("changed_at").desc(nulls_last=True), "pk")[:MOST]


def _in_path(query: Query) -> Q:
    found = Q()
    for term in query.terms:
        found &= Q(path__icontains=term)
    return found


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


# --- Titles and notes of sessions -------------------------------------------------------------------------------------------


def sessions(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Session]:
    """Those of a person; what our own dreams left behind is no session of theirs."""
    rows = Session.objects.filter(
        pk__in=matching(query.terms, Kind.SESSION, most).values("session_id"), own=False
    )
    rows = rows.filter(*_limits(filters, "project", "touched_at"))
    return rows.select_related("project").order_by("-touched_at", "-pk")[:MOST]


def session_hits(rows: Iterable[Session], query: Query) -> list[SessionHit]:
    found = list(rows)
    notes = session_notes.texts(row.pk for row in found)
    tasks = session_notes.open_ends_of(row.pk for row in found)
    return [_session_hit(row, notes.get(row.pk, ()), tasks.get(row.pk, ()), query) for row in found]


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


def typed(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[Prompt]:
    """What our own dreams sent to a model was typed by nobody, and is left out."""
    rows = Prompt.objects.filter(
        ~Q(pk__in=HiddenPrompt.objects.values("key")),
        pk__in=matching(query.terms, Kind.TYPED, most).values("prompt_id"),
        session__own=False,
    )
    rows = rows.filter(*_limits(filters, "session__project", "at"))
    return rows.select_related("session__project").order_by(F("at").desc(nulls_last=True), "-pk")[:MOST]


def typed_hits(rows: Iterable[Prompt], query: Query) -> list[TypedHit]:
    return [
        TypedHit(row, hasattr(row, "history"), excerpts(redact.redact(row.text), query.terms, most=1))
        for row in rows
    ]


def pasted(query: Query, filters: Filters, most: int = CANDIDATES) -> QuerySet[HistoryPrompt]:
    """Prompts of the history by the short texts pasted into them; those of a transcript hold theirs as typed."""
    rows = HistoryPrompt.objects.filter(
        ~Q(pk__in=HiddenPrompt.objects.values("key")),
        pk__in=matching(query.terms, Kind.PASTED, most).values("history_id"),
        prompt__session__own=False,
    )
    rows = rows.filter(*_limits(filters, "prompt__session__project", "prompt__at"))
    return rows.order_by(F("prompt__at").desc(nulls_last=True), "-pk")[:MOST]


def pasted_hits(rows: Iterable[HistoryPrompt], query: Query) -> list[PastedHit]:
    return [
        PastedHit(
            row.prompt,
            redact.redact(row.prompt.text),
            excerpts(redact.redact(pasted_text(row.pastes)), query.terms, most=1),
        )
        for row in rows
    ]


# --- Instruction files --------------------------------------------------------------------------------------------


def instructions(
    query: Query, filters: Filters, most: int = CANDIDATES
) -> QuerySet[InstructionText, Any]:  # rows of values, as above
    """One row for each file: `pk`, and `project`, the one looked through or else the one of its projects used last."""
    in_text = Q(pk__in=matching(query.terms, Kind.INSTRUCTION, most).values("instruction_id"))
    rows = InstructionText.objects.all() if query.terms else InstructionText.objects.none()
    rows = rows.filter(_in_path(query) | in_text, *_limits(filters, "projects", "changed_at"))
    lately = Project.objects.filter(instruction_texts=OuterRef("pk")).order_by(
        F("last_session_at").desc(nulls_last=True), "pk"
    )
    of = Subquery(lately.values("pk")[:1]) if filters.project is None else Value(filters.project)
    return rows.annotate(project=of).order_by("-changed_at", "-pk").values("pk", "project")[:MOST]


def instruction_hits(groups: Sequence[Mapping[str, int]], query: Query) -> list[InstructionHit]:
    counted = InstructionText.objects.annotate(loaded_by=Count("projects"))
    files = counted.in_bulk([group["pk"] for group in groups])
    by_pk = Project.objects.in_bulk({group["project"] for group in groups})
    return [
        InstructionHit(
            file, by_pk[group["project"]], file.loaded_by - 1, excerpts(_masked(file.text), query.terms)
        )
        for group in groups
        if (file := files.get(group["pk"])) and group["project"] in by_pk
    ]


def all_or_newest(rows: Callable[[int], T], query: Query, kind: Kind) -> T:
    """What `rows` finds among so many texts: all of it, or as much as is counted where the newest texts hold that."""
    if is_common(query.terms, kind, FEW) and len(found := rows(FEW)) >= MOST:
        return found
    return rows(CANDIDATES)


# --- Shared -------------------------------------------------------------------------------------------------------


@prepared
def projects() -> QuerySet[Project, tuple[int, str]]:
    """Projects to choose from: id and name, by name; those with anything that could be found."""
    mine = OuterRef("pk")
    used = Exists(Memory.objects.filter(project=mine)) | Exists(Session.objects.filter(project=mine))
    return Project.objects.filter(used).order_by("name", "slug").values_list("pk", "name")[:MOST]


def _limits(filters: Filters, project: str, at: str) -> list[Q]:
    wanted = []
    if filters.project is not None:
        wanted.append(Q((project, filters.project)))
    if filters.since is not None:
        wanted.append(Q((f"{at}__gte", filters.since)))
    return wanted


def _excerpts(data: bytes, query: Query) -> list[Excerpt]:
    return excerpts(_masked(texts.decode(data)), query.terms)


def _masked(content: str) -> str:
    return Mask.of([content])(content)


def _marked(text: str, query: Query) -> tuple[Part, ...]:
    return tuple(marked(text, query.terms))
