"""Collects what an engine reads: the parts of sessions that no dream has used, and when each line of a memory was written;
and the fingerprint of all of it, as a dream with unchanged inputs does not start."""

import datetime as dt
import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, QuerySet, Subquery
from django.utils import timezone

from dreams import conf
from dreams.engines import linedates
from dreams.engines.types import LineDate, PromptBrief, SessionBrief
from dreams.lib import memdir
from dreams.lib.files.text import decode
from dreams.models import (
    AppliedFile,
    DreamRun,
    DreamSession,
    HiddenPrompt,
    LeftOut,
    Memory,
    MemoryWrite,
    Project,
    Prompt,
    Proposal,
    Session,
    Version,
)
from dreams.services import blobs, database, discovery
from dreams.services.memories import syncing
from dreams.services.scheduling import gates

MAX_SESSIONS = 500  # of one dream; the rest stays for the next one
MAX_PROMPTS = 5_000  # of one dream: a bound of memory
_MEMORIES_AT_ONCE = 50  # whose versions are in memory together
MAX_VERSIONS = 50  # of a memory, the newest; older lines get the date of the oldest of these
SETTLING = dt.timedelta(days=7)  # how long hand edits are protected
# Versions written by others, which date their lines; all others are our own.
_OF_OTHERS = {Version.Origin.FOUND, Version.Origin.OUTSIDE, Version.Origin.EDIT}


def unused(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those with parts that no submitted proposal has used, newest first, without those of dreams. "New" sessions, which the
    gates count, are another thing: touched since the last dream."""
    rows = sessions.filter(gone_at__isnull=True, own=False, size__gt=F("used_bytes"))
    return rows.order_by("-touched_at", "pk")


def with_prompts_only(sessions: QuerySet[Session]) -> QuerySet[Any]:
    """Sessions without a transcript: `end` is the position after their last prompt, in bytes of the transcript that was read before
    it went, or of the prompt history. Gates do not count them."""
    last = Prompt.objects.filter(session=OuterRef("pk")).order_by().values("session")
    end = Subquery(last.annotate(end=Max("offset") + 1).values("end"))
    return sessions.filter(gone_at__isnull=False, own=False).annotate(end=end).filter(end__isnull=False)


def _unused_prompts(sessions: QuerySet[Session]) -> QuerySet[Any]:
    """As `unused`, of those `with_prompts_only`."""
    rows = with_prompts_only(sessions).filter(end__gt=F("used_bytes"))
    return rows.order_by(F("last_at").desc(nulls_last=True), "-pk")


def fingerprint(project: Project) -> str:
    """A digest of memories, unused sessions, rejected changes and the engine. A few queries, no disk."""
    return fingerprints([project])[project.pk]


def fingerprints(projects: Sequence[Project]) -> dict[int, str]:
    """The same for many, by their ids, in as few queries."""
    overrides = conf.Overrides.load()
    common = overrides.config(None).engine
    digests = {project.pk: hashlib.sha256() for project in projects}
    for pk, digest in digests.items():
        own = pk in overrides.by_project
        _add(digest, ("engine", overrides.config(pk).engine if own else common))
    for rows, most in _inputs(list(digests)):
        # For one project the database limits the rows; for many they are limited here.
        counted: Counter[int] = Counter()
        for pk, *row in rows[:most] if most and len(digests) == 1 else rows.iterator():
            counted[pk] += 1
            if not most or counted[pk] <= most:
                _add(digests[pk], row)
    return {pk: digest.hexdigest() for pk, digest in digests.items()}


def _add(digest: "hashlib._Hash", row: Iterable[object]) -> None:
    digest.update("\0".join(map(str, row)).encode("utf-8", "surrogatepass") + b"\n")


def _inputs(projects: Sequence[int]) -> list[tuple[QuerySet[Any, Any], int | None]]:
    """Ordered rows that begin with a project's id, and how many of them count for each project."""
    sessions, in_order = Session.objects.filter(project__in=projects), ("project", "session_id")
    return [
        (
            Memory.objects.filter(project__in=projects, gone_at__isnull=True)
            .order_by("project", "path")
            .values_list("project_id", "path", "sha256"),
            None,
        ),
        (
            unused(sessions)
            .order_by(*in_order)
            .values_list("project_id", "session_id", "used_bytes", "size"),
            MAX_SESSIONS,
        ),
        (
            _unused_prompts(sessions)
            .order_by(*in_order)
            .values_list("project_id", "session_id", "used_bytes", "end"),
            MAX_SESSIONS,
        ),
        (
            LeftOut.objects.decided()
            .filter(project__in=projects)
            .order_by("project", "pk")
            .values_list("project_id", "path", "hunk_id", "inputs_key"),
            None,
        ),
    ]


def review_sessions(dream: DreamRun) -> list[SessionBrief]:
    """The unused parts of sessions, with their prompts; records the sessions as reviewed by this dream.

    Sessions without a transcript have the prompts that are kept, without hidden ones of the prompt history.
    """
    now, sessions = timezone.now(), dream.project.sessions.all()
    live = discovery.live_session_ids(dream.project)
    chosen = [
        session
        for session in unused(sessions)[:MAX_SESSIONS]
        if dream.forced or not gates.is_live(session.session_id in live or None, session.touched_at, now)
    ]
    chosen += _unused_prompts(sessions)[: MAX_SESSIONS - len(chosen)]
    DreamSession.objects.bulk_create(
        DreamSession(dream=dream, session=session, from_byte=session.used_bytes, to_byte=end_of(session))
        for session in chosen
    )
    prompts: dict[int, list[PromptBrief]] = {}
    rows = Prompt.objects.filter(session__in=chosen, offset__gte=F("session__used_bytes"))
    rows = without_hidden(rows).annotate(noted=_is_noted())
    for row in rows.order_by(F("at").asc(nulls_first=True), "session", "offset")[:MAX_PROMPTS]:
        typed = PromptBrief(row.text, row.line_no, row.offset, row.at, row.noted)
        prompts.setdefault(row.session_id, []).append(typed)
    return [
        brief(session, session.used_bytes, end_of(session), prompts.get(session.pk, ()))
        for session in sorted(chosen, key=lambda session: session.at)
    ]


def _is_noted() -> Exists:
    """Whether the agent wrote memory after a prompt and before the next one."""
    before = Prompt.objects.filter(session=OuterRef("session"), offset__lt=OuterRef("offset")).order_by(
        "-offset"
    )
    written = MemoryWrite.objects.annotate(prompt=Subquery(before.values("offset")[:1]))
    return Exists(written.filter(session=OuterRef("session"), prompt=OuterRef("offset")))


def without_hidden(rows: QuerySet[Prompt]) -> QuerySet[Prompt]:
    """Without prompts that the person hid, as citations are shown."""
    is_hidden = Exists(HiddenPrompt.objects.filter(key=OuterRef("pk")))
    return rows.exclude(is_hidden, history__isnull=False)


def end_of(session: Session) -> int:
    """The end of a session's readable part; for `with_prompts_only` that of its prompts."""
    return int(getattr(session, "end", session.size))


def brief(session: Session, from_byte: int, to_byte: int, prompts: Iterable[PromptBrief]) -> SessionBrief:
    """A part of a session, as engines are given it."""
    return SessionBrief(
        pk=session.pk,
        session_id=session.session_id,
        path=Path(session.path),
        title=session.title,
        last_at=session.last_at,
        from_byte=from_byte,
        to_byte=to_byte,
        corrections=session.corrections,
        prompts=tuple(prompts),
        no_answer=hasattr(session, "end"),
    )


def line_dates(project: Project, zone: dt.tzinfo) -> Mapping[str, Sequence[LineDate | None]]:
    """For every memory, when each of its lines was written."""
    found: dict[str, Sequence[LineDate | None]] = {}
    writes = dict(
        MemoryWrite.objects.filter(session__project=project, at__isnull=False)
        .order_by("at")
        .values_list("path", "at")
    )
    found_then = Version.objects.filter(memory__project=project, origin=Version.Origin.FOUND)
    mtimes = sorted(map(_moment, found_then.exclude(sha256="").values_list("mtime_ns", flat=True)))
    memories = list(project.memories.filter(gone_at__isnull=True).values_list("pk", "path"))
    for some in database.in_parts(memories, _MEMORIES_AT_ONCE):
        versions = _last_versions(pk for pk, _ in some)
        texts = blobs.get_many(row.sha256 for rows in versions.values() for row in rows)
        for pk, path in some:
            kept = [
                linedates.KeptVersion(
                    data=texts[row.sha256],
                    at=row.at,
                    mtime=None if linedates.copied(mtime, mtimes) else mtime,
                    seen_change=row.origin != Version.Origin.FOUND,
                    ours=row.origin not in _OF_OTHERS,
                    believable=linedates.believable(mtime, mtimes, project.first_seen_at),
                    written_at=writes.get(str(syncing.memory_dir(project) / path)),
                )
                for row in versions.get(pk, ())
                if row.sha256 in texts
                for mtime in [_moment(row.mtime_ns)]
            ]
            found[path] = linedates.line_dates(kept, zone, path)
    return found


def described_then(project: Project) -> Mapping[str, str]:
    """For rows of the index, by line: the description that the file had when the row was written, if it has another one now."""
    kept = defaultdict[str, list[tuple[dt.datetime, str]]](list)
    versions = Version.objects.filter(memory__project=project, memory__gone_at__isnull=True)
    in_order = versions.exclude(sha256="").order_by("number", "pk")
    for path, at, sha256 in in_order.values_list("memory__path", "at", "sha256"):
        kept[path].append((at, sha256))
    index = kept.pop(memdir.INDEX_NAME, [])[-MAX_VERSIONS:]
    data = blobs.get_many(sha256 for _, sha256 in index)
    texts = [(at, decode(data.get(sha256, b""))) for at, sha256 in index]
    written = {line.strip(): at for at, text in reversed(texts) for line in text.splitlines()}
    changed: dict[str, tuple[str, str]] = {}
    for row in memdir.parse_index(texts[-1][1]).rows if texts else ():
        if (its := kept.get(row.target)) and (day := written.get(row.raw.strip())):
            then = next((sha256 for since, sha256 in reversed(its) if since <= day), its[0][1])
            changed[row.raw.strip()] = then, its[-1][1]
    data = blobs.get_many({sha256 for then, now in changed.values() if then != now for sha256 in (then, now)})
    fronts = {sha256: memdir.parse(each).frontmatter for sha256, each in data.items()}
    described = {sha256: (front and front.description) or "" for sha256, front in fronts.items()}
    pairs = {line: (described.get(then, ""), described.get(now, "")) for line, (then, now) in changed.items()}
    return {line: then for line, (then, now) in pairs.items() if then and now and then != now}


def _last_versions(memories: Iterable[int]) -> Mapping[int, Sequence[Version]]:
    """The newest `MAX_VERSIONS` of each memory, the oldest first."""
    rows: dict[int, deque[Version]] = {}
    wanted = Version.objects.filter(memory__in=list(memories)).exclude(sha256="").order_by("number", "pk")
    for row in wanted.iterator():
        rows.setdefault(row.memory_id, deque(maxlen=MAX_VERSIONS)).append(row)
    return {memory: tuple(kept) for memory, kept in rows.items()}


def _moment(mtime_ns: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(mtime_ns / 1e9, dt.UTC)


def hand_edited(project: Project) -> frozenset[str]:
    """What the person edited in memoryweb in the last week, and did not undo."""
    edited = AppliedFile.objects.filter(
        application__proposal__project=project,
        application__proposal__origin=Proposal.Origin.EDIT,
        application__at__gte=timezone.now() - SETTLING,
        application__undone_at__isnull=True,
    )
    return frozenset(edited.values_list("path", flat=True))
