"""Imports prompts of sessions whose transcript is gone from the agent's prompt history. Other prompts are in transcripts.

Such a session's row is marked as gone from the start: it is listed and searched, but no gate or dream counts it. If its
transcript reappears, the transcript's prompts replace these.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef, Subquery
from django.utils import timezone

from dreams.lib.agents.base import printable, why
from dreams.lib.agents.claude_code import slug_of
from dreams.lib.agents.claude_code.history import FILE, History, PromptEntry
from dreams.lib.agents.transcripts import (
    FileGrowth,
    Prompt as Typed,
    change,
    identity_of,
    key64,
    seen,
)
from dreams.lib.agents.transcripts.reader import opened
from dreams.lib.agents.transcripts.typed_prompts import title_of
from dreams.lib.files.seen import signed
from dreams.lib.files.text import one_line, storable
from dreams.lib.secrets.redact import redact
from dreams.models import (
    HiddenPrompt,
    HistoryFile,
    HistoryPrompt,
    Project,
    Prompt,
    Session,
    TranscriptFile,
    TranscriptFolder,
)
from dreams.services import database
from dreams.services.discovery import rows
from dreams.services.discovery.reading import is_own, prompt_rows
from dreams.services.discovery.resume import mark_of
from dreams.services.discovery.rows import Tally

LINES_AT_ONCE, DELETED_AT_ONCE = 2_000, 500  # in one transaction; chosen
UNNAMED = "prompts-without-a-session"  # early versions wrote no session id
_MAIN = TranscriptFile.Kind.MAIN


def import_new(roots: Iterable[str], host: str, tally: Tally) -> None:
    """Imports new entries of the prompt history of each config folder."""
    for root in roots:
        path = f"{root}/{FILE}"
        try:
            with opened(path) as fd:
                _read(fd, root, host)
        except FileNotFoundError:
            continue
        except OSError as error:
            tally.skip(printable(path), why(error))
    _leave_to_transcripts(host)


def _read(fd: int, root: str, host: str) -> None:
    row, _ = HistoryFile.objects.get_or_create(host=host, root=root)
    places = _Places.of(root, host)
    again = bool(row.unplaced) and places.newest > row.newest_project
    before, changed = seen(fd), change(mark_of(row), fd)
    if changed is FileGrowth.UNCHANGED and not again:
        return
    if again or changed is FileGrowth.REPLACED:
        row.offset = row.line_no = row.malformed_lines = row.unplaced = 0
    reader = History(fd, row.offset, row.line_no)
    malformed, entries, batch = row.malformed_lines, reader.entries(), _Batch(places, host)
    while True:
        some = list(islice(entries, LINES_AT_ONCE))
        with transaction.atomic():
            row.unplaced += batch.write(some)
            row.offset, row.line_no = reader.offset, reader.line
            row.malformed_lines = malformed + reader.malformed
            row.identity, row.newest_project = identity_of(fd, row.offset), places.newest
            row.device, row.inode = signed(before.device), signed(before.inode)
            row.size, row.mtime_ns = (before.size, before.mtime_ns) if not some else (-1, 0)
            row.save()
        if not some:
            return


@dataclass(slots=True)
class _Places:
    """Working folder → project and the path of its transcript folder. Two queries."""

    root: str
    newest: int
    by_cwd: dict[str, int] = field(default_factory=dict)
    by_slug: dict[str, int] = field(default_factory=dict)
    found: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, root: str, host: str) -> "_Places":
        projects = Project.objects.filter(host=host, root=root, kind=Project.Kind.AUTO)
        known = dict(projects.values_list("pk", "repo_dir"))
        made = cls(root, max(known, default=0))
        made.by_cwd = {repo: pk for pk, repo in known.items() if repo}
        folders = TranscriptFolder.objects.filter(project__in=projects)
        for pk, cwd, slug in folders.values_list("project", "cwd", "slug"):
            made.by_slug[slug] = pk
            if cwd:
                made.by_cwd[cwd] = pk
        return made

    def project(self, cwd: str) -> int | None:
        if cwd not in self.found:
            self.found[cwd] = self._look(cwd)
        return self.found[cwd]

    def _look(self, cwd: str) -> int | None:
        if not cwd or is_own(cwd):
            return None
        if (pk := self.by_slug.get(slug_of(cwd))) is not None:
            return pk
        while cwd.strip("/"):
            if (pk := self.by_cwd.get(cwd)) is not None:
                return pk
            cwd = cwd.rpartition("/")[0]
        return None

    def path(self, entry: PromptEntry) -> str:
        """The path of a session's transcript, which need not exist."""
        name = entry.session_id if _is_name(entry.session_id) else UNNAMED
        return storable(f"{self.root}/projects/{slug_of(entry.project)}/{name}.jsonl")


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 200 and "/" not in text and text.isprintable()


@dataclass(slots=True)
class _Batch:
    """Writes entries in batches, in a fixed number of queries; `typed` are texts from transcripts, read when needed."""

    places: _Places
    host: str
    typed: set[str] | None = None

    def write(self, entries: list[PromptEntry]) -> int:
        """Returns how many belong to no known project."""
        placed = [(entry, pk) for entry in entries if (pk := self.places.project(entry.project)) is not None]
        told = _with_transcript({entry.session_id for entry, _ in placed if entry.session_id}, self.host)
        wanted = [(e, pk) for e, pk in placed if e.session_id not in told and not self._is_doubled(e)]
        if wanted:
            self._put(wanted)
        return sum(not is_own(entry.project) for entry in entries) - len(placed)

    def _is_doubled(self, entry: PromptEntry) -> bool:
        """For an entry without a session id, only its text can show this."""
        if _is_name(entry.session_id):
            return False
        if self.typed is None:
            texts = Prompt.objects.filter(session__project__host=self.host, history__isnull=True)
            self.typed = {one_line(text) for text in texts.values_list("text", flat=True).iterator()}
        return one_line(redact(entry.whole)) in self.typed

    def _put(self, wanted: list[tuple[PromptEntry, int]]) -> None:
        first = {(pk, self.places.path(entry)): entry for entry, pk in reversed(wanted)}
        rows.put_missing_sessions([_session_row(pk, path, entry) for (pk, path), entry in first.items()])
        known = Session.objects.filter(path__in={path for _, path in first}, project__host=self.host)
        ids = {(project, path): pk for project, path, pk in known.values_list("project", "path", "pk")}
        owned = [(ids[pk, self.places.path(entry)], entry) for entry, pk in wanted]
        typed = prompt_rows([(session, _typed(entry, self.places.root)) for session, entry in owned])
        rows.put_prompts(typed)
        told = [_history_row(cast(int, row[0]), entry) for row, (_, entry) in zip(typed, owned, strict=True)]
        HistoryPrompt.objects.bulk_create(told, ignore_conflicts=True)
        _sum_up({session for session, _ in owned})


def _with_transcript(ids: Set[str], host: str) -> set[str]:
    known = Session.objects.filter(session_id__in=ids, project__host=host, files__kind=_MAIN)
    return set(known.values_list("session_id", flat=True))


def _typed(entry: PromptEntry, root: str) -> Typed:
    return Typed(_key(entry, root), entry.offset, entry.line, entry.at, entry.display)


def _key(entry: PromptEntry, root: str) -> int:
    return key64(
        "history", root, entry.project, entry.session_id, str(entry.at or entry.offset), entry.display
    )


def _history_row(key: int, entry: PromptEntry) -> HistoryPrompt:
    pastes = [
        {"number": paste.number, "text": storable(redact(paste.text)), "hash": paste.hash}
        for paste in entry.pastes
    ]
    return HistoryPrompt(prompt_id=key, pastes=pastes, images=entry.images)


def _session_row(project: int, path: str, entry: PromptEntry) -> rows.Row:
    now = rows.as_cell(timezone.now())
    at = rows.as_cell(entry.at)
    is_named = _is_name(entry.session_id)
    title = title_of(redact(entry.display)) if is_named else "Prompts without a session"
    name = entry.session_id if is_named else UNNAMED
    folder, version, root_key = None, "", None
    head = (project, folder, storable(name, 200), path, storable(title), at, at, at or now)
    counts = (0, 0, 0, 0, 0, 0)  # size, lines, turns of both, corrections, malformed
    return (*head, "", storable(entry.project), version, root_key, *counts, False, now, 0)


def _sum_up(sessions: set[int]) -> None:
    """Sets start, end and number of prompts of these sessions from their prompts."""
    mine = Prompt.objects.filter(session=OuterRef("pk")).order_by().values("session")
    Session.objects.filter(pk__in=sessions).exclude(files__kind=_MAIN).update(
        started_at=Subquery(mine.annotate(found=Min("at")).values("found")),
        last_at=Subquery(mine.annotate(found=Max("at")).values("found")),
        user_turns=Subquery(mine.annotate(found=Count("pk")).values("found")),
    )


def _leave_to_transcripts(host: str) -> None:
    """Deletes prompts that a transcript now has, and sessions that are empty without them."""
    if not HistoryPrompt.objects.exists():
        return
    # In steps that use an index: in one query, PostgreSQL compares all rows with all until it has statistics of new ones.
    kept = Session.objects.filter(project__host=host, prompts__history__isnull=False).order_by()
    names = dict(kept.values_list("pk", "session_id").distinct())
    told = _with_transcript(set(names.values()), host)
    doubled = [session for session, name in names.items() if name in told]
    prompts = Prompt.objects.filter(session__in=doubled, history__isnull=False)
    left = list(prompts.values_list("pk", "session_id"))
    for some in database.in_parts([pk for pk, _ in left], DELETED_AT_ONCE):
        Prompt.objects.filter(pk__in=some).delete()
    for sessions in database.in_parts(list({session for _, session in left}), DELETED_AT_ONCE):
        # How far it was read was stored in bytes of the history.
        Session.objects.filter(pk__in=sessions, files__kind=_MAIN).update(used_bytes=0, caught_bytes=None)
        Session.objects.filter(
            pk__in=sessions, gone_at__isnull=False, files__isnull=True, prompts__isnull=True
        ).delete()


# --- Hidden from pages; the agent's own files are never touched ---


def hide(prompt: Prompt) -> None:
    with transaction.atomic():
        HiddenPrompt.objects.get_or_create(key=prompt.pk)
        _title_anew(prompt)


def show(prompt: Prompt) -> None:
    with transaction.atomic():
        HiddenPrompt.objects.filter(key=prompt.pk).delete()
        _title_anew(prompt)


def _title_anew(prompt: Prompt) -> None:
    """Sets the title of a session that only the history has to its first prompt that is not hidden."""
    if not hasattr(prompt, "history"):
        return
    is_hidden = Exists(HiddenPrompt.objects.filter(key=OuterRef("pk")))
    rows = Prompt.objects.filter(~is_hidden, session=prompt.session_id, session__gone_at__isnull=False)
    first = rows.order_by(F("at").asc(nulls_last=True), "offset").values_list("text", flat=True).first()
    known = Session.objects.filter(pk=prompt.session_id).exclude(session_id=UNNAMED)
    known.update(title=storable(title_of(first or "")), title_indexed_at=None)
