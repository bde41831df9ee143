"""Finds what is new in sessions since they were last read for catching: one cursor per session, in bytes.

Records are identified by uuid: what a resumed or forked session repeats was already read with the first one.

Pasted text does not count as the person's words: if the agent's prompt history (`history.jsonl`) has the prompt as typed,
with `[Pasted text #1 +20 lines]` for a paste, only the rest counts.
"""

import datetime as dt
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import F, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from dreams.engines.types import PromptBrief, SessionBrief
from dreams.lib.agents.claude_code.history import FILE
from dreams.lib.files import safefs
from dreams.models import Card, MemoryWrite, Project, Prompt, Session, TranscriptFolder
from dreams.models.prepared import prepared
from dreams.services.dreaming.dream_inputs import brief, end_of, with_prompts_only, without_hidden

MOST_SESSIONS = 50  # in one reading; the others are read next time
MOST_PROMPTS = 2_000  # of one session in one reading
#: Prompts typed longer than this before a project was first seen are too old, even if memoryweb already ran elsewhere.
BEFORE_FIRST_SEEN = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """The bytes of a session that were not read yet, and what the person typed in them."""

    session: Session
    cursor: int | None
    from_byte: int
    to_byte: int
    prompts: Sequence[Prompt]
    by_agent: bool = False  # the agent wrote memory itself in these bytes

    def before(self, byte: int) -> "UnreadPart":
        return replace(self, to_byte=byte, prompts=[row for row in self.prompts if row.offset < byte])

    def since_cards(self, cards: Iterable[Card]) -> "UnreadPart":
        """What was read before, from the prompts of the oldest of these cards on."""
        own = self.session.pk
        cited = [one["offset"] for card in cards for one in card.citations if one.get("session_pk") == own]
        rows = without_hidden(self.session.prompts.filter(offset__lt=self.from_byte))
        rows = rows.filter(offset__gte=min(cited)) if cited else rows.none()
        return replace(self, prompts=list(rows.order_by("offset")[:MOST_PROMPTS]))

    @property
    def cursor_after(self) -> int:
        """Never moves back: a session that is read again may end before the old cursor."""
        if self.cursor is None or self.cursor > self.session.size:
            return self.to_byte
        return max(self.cursor, self.to_byte)

    @property
    def brief(self) -> SessionBrief:
        texts = without_pasted(self.session, self.prompts)
        typed = (
            PromptBrief(text, row.line_no, row.offset, row.at)
            for row, text in zip(self.prompts, texts, strict=True)
            if text
        )
        return brief(self.session, self.from_byte, self.to_byte, typed)


def unread(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those with unread bytes, oldest first; not those of our own dreams."""
    rows = sessions.filter(gone_at__isnull=True, own=False)
    return rows.exclude(size=Coalesce(F("caught_bytes"), 0)).order_by("touched_at", "pk")


def unread_prompts(
    sessions: QuerySet[Session], until: dt.datetime, since: dt.datetime | None = None
) -> QuerySet[Session]:
    """Those without a transcript that have unread prompts in the prompt history; the last prompt of each was typed
    between `since` and `until`."""
    rows = with_prompts_only(sessions).filter(end__gt=Coalesce(F("caught_bytes"), 0), last_at__lte=until)
    return (rows.filter(last_at__gte=since) if since else rows).order_by("last_at", "pk")


def quiet(sessions: QuerySet[Session], before: dt.datetime, ahead: dt.datetime) -> QuerySet[Session]:
    """The `unread` ones that were last written to `before` this time, or that the agent's hook reported as ended."""
    # Touched far in the future: from a wrong clock.
    is_quiet = Q(touched_at__lte=before) | Q(touched_at__gt=ahead)
    return unread(sessions).filter(is_quiet | Q(hinted_at__gte=F("touched_at")))


def active(host: str, since: dt.datetime) -> QuerySet[Project]:
    """The projects of a host that were used since then."""
    return Project.objects.filter(host=host, gone_at__isnull=True, last_session_at__gte=since)


def _of_active(host: str, since: dt.datetime) -> QuerySet[Session]:
    return Session.objects.filter(project__in=active(host, since)).order_by()


@prepared
def with_quiet(
    host: str, since: dt.datetime, before: dt.datetime, ahead: dt.datetime
) -> QuerySet[Session, int]:
    """Those of the `active` projects that have `quiet` sessions."""
    rows = quiet(_of_active(host, since), before, ahead)
    return rows.order_by().values_list("project", flat=True).distinct()


def with_prompts(host: str, since: dt.datetime, until: dt.datetime) -> list[int]:
    """Those with `unread_prompts` whose last one is not too old."""
    rows = _last_prompts(host, since, until)
    first = first_run(host) if rows else None
    return [project for project, seen, last in rows if last >= _began(first or seen, seen)]


@prepared
def _last_prompts(
    host: str, since: dt.datetime, until: dt.datetime
) -> QuerySet[Session, tuple[int, dt.datetime, dt.datetime]]:
    """Each with the time when it was first seen, and that of its last unread prompt."""
    rows = unread_prompts(_of_active(host, since), until, None).order_by()
    grouped = rows.values("project", "project__first_seen_at").annotate(last=Max("last_at"))
    return grouped.values_list("project", "project__first_seen_at", "last")


@prepared
def folders_of_active(host: str, since: dt.datetime) -> QuerySet[TranscriptFolder, tuple[int, str]]:
    rows = TranscriptFolder.objects.filter(project__in=active(host, since), gone_at__isnull=True)
    return rows.values_list("project", "path")


@prepared
def touched(host: str, since: dt.datetime) -> QuerySet[Session, tuple[str, dt.datetime]]:
    """The path of each transcript, and its modification time at the last reading."""
    return _of_active(host, since).filter(gone_at__isnull=True).values_list("path", "touched_at")


def first_run(host: str) -> dt.datetime | None:
    """When memoryweb first saw a project on this host."""
    first: dt.datetime | None = Project.objects.filter(host=host).aggregate(at=Min("first_seen_at"))["at"]
    return first


def began(project: Project) -> dt.datetime:
    """Earlier prompts are too old: the later of memoryweb's first run here and shortly before the project was first seen."""
    return _began(first_run(project.host) or project.first_seen_at, project.first_seen_at)


def _began(first: dt.datetime, seen: dt.datetime) -> dt.datetime:
    return max(first, seen - BEFORE_FIRST_SEEN)


def parts(sessions: Iterable[Session], since: dt.datetime | None, *, again: bool = False) -> list[UnreadPart]:
    """The new part of each session: prompts typed at `since` or later; all if `since` is None.

    `again`: from the first byte, including what was already read.
    """
    return [_part(session, since, again) for session in list(sessions)[:MOST_SESSIONS]]


def _part(session: Session, since: dt.datetime | None, again: bool) -> UnreadPart:
    cursor = session.caught_bytes
    end = end_of(session)
    start = 0 if again or cursor is None or cursor > end else cursor
    rows = without_hidden(session.prompts.filter(offset__gte=start, offset__lt=end))
    rows = rows if again else rows.filter(caught_at__isnull=True)
    rows = rows if since is None else rows.exclude(at__lt=since)
    found = list(rows.order_by("offset")[: MOST_PROMPTS + 1])
    prompts = found[:MOST_PROMPTS]
    end = found[-1].offset if len(found) > MOST_PROMPTS else end  # the next reading goes on there
    written = MemoryWrite.objects.filter(session=session, offset__gte=start, offset__lt=end)
    by_agent = not again and bool(prompts) and written.exists()
    return UnreadPart(session, cursor, start, end, prompts, by_agent)


def move(parts: Iterable[UnreadPart], now: dt.datetime) -> list[UnreadPart]:
    """Moves the cursors past what was read. Returns the parts without those whose cursor somebody else moved meanwhile."""
    moved = []
    with transaction.atomic():
        for part in parts:
            row = Session.objects.filter(pk=part.session.pk, caught_bytes=part.cursor)
            if part.cursor is None:
                row = Session.objects.filter(pk=part.session.pk, caught_bytes__isnull=True)
            if row.update(caught_bytes=part.cursor_after):
                Prompt.objects.filter(pk__in=[prompt.pk for prompt in part.prompts]).update(caught_at=now)
                moved.append(part)
    return moved


HISTORY_BYTES = 4 * 1024 * 1024  # from its end
SHORTEST_PASTE = 200  # characters: the agent shows nothing shorter as a paste
_PASTE = re.compile(r"\[(?:Pasted text|Image|\.\.\.Truncated text) ?#\d+[^\]]*\]")


def without_pasted(session: Session, prompts: Sequence[Prompt]) -> list[str]:
    """The texts of the prompts without pasted text, as far as the prompt history shows it."""
    if not any(_may_hold_a_paste(prompt.text) for prompt in prompts):
        return [prompt.text for prompt in prompts]
    # What was typed whole fits better than a prompt that is only a paste, which fits any.
    displays = sorted(_displays(session), key=lambda display: -len(_PASTE.sub("", display)))
    return [
        _typed(prompt.text, displays) if _may_hold_a_paste(prompt.text) else prompt.text for prompt in prompts
    ]


def _may_hold_a_paste(text: str) -> bool:
    return len(text) > SHORTEST_PASTE or "\n" in text


def _typed(text: str, displays: Sequence[str]) -> str:
    for display in displays:
        pieces = [piece.strip() for piece in _PASTE.split(display)]
        if _in_order(pieces, text):
            return "\n\n".join(filter(None, pieces))
    return text


def _in_order(pieces: Sequence[str], text: str) -> bool:
    """Whether the prompt contains these pieces in order, with anything between, before or after them."""
    at = 0
    if len(pieces) == 1:  # nothing was pasted
        return text.strip() == pieces[0]
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return text.strip().startswith(pieces[0]) and text.strip().endswith(pieces[-1])


def _displays(session: Session) -> Iterator[str]:
    """The prompts of this session, as the prompt history shows them."""
    for line in _lines(session.project.root):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if not isinstance(found, dict) or found.get("sessionId") != session.session_id:
            continue
        if isinstance(display := found.get("display"), str):
            yield display


def _lines(root: str) -> list[bytes]:
    try:
        with safefs.Root.open(root) as folder, folder.open_file(FILE) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - HISTORY_BYTES))
            return file.read(HISTORY_BYTES).split(b"\n")
    except (OSError, safefs.SafeFsError):
        return []
