"""Sessions of agents that have their own memory, from that agent's transcripts, wherever it was started.

A transcript belongs to the session that started the agent, where its tokens count once. The agent's own project also gets
a session for it, so that dreams of the agent's memory use what the agent saw.
"""

import datetime as dt
import time
from collections import defaultdict
from pathlib import PurePath
from typing import Any

from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from dreams.lib.agents.claude_code.sessions import agent_beside, agents_in, memory_name
from dreams.lib.agents.transcripts.typed_prompts import title_of
from dreams.lib.files.text import storable
from dreams.lib.secrets import redact
from dreams.models import Project, Session, TranscriptFile
from dreams.services.discovery import resume

#: Transcripts whose agent is looked up in one run.
MOST_NAMED = 5_000
#: How long main transcripts are read in one run; the next discovery continues.
SECONDS = 10.0
#: The author of a transcript is recorded at the latest when the agent answers; after this time it stays unknown.
SETTLED = dt.timedelta(days=1)
_FIELDS = ("size", "lines", "touched_at", "started_at", "last_at", "title", "gone_at")


def update_sessions(host: str, project: Project | None = None) -> None:
    """Updates the sessions of this host's agent projects, or of one of them, from their transcripts."""
    owners = Project.objects.filter(host=host, kind=Project.Kind.AGENT, gone_at__isnull=True)
    if project is not None:
        owners = owners.filter(pk=project.pk)
    found = list(owners)
    if found:
        _name(host)
    for owner in found:
        _keep_sessions(owner)


def _name(host: str) -> None:
    """Stores which agent wrote each transcript whose agent was not looked up yet."""
    files = TranscriptFile.objects.filter(
        kind=TranscriptFile.Kind.SUBAGENT,
        agent__isnull=True,
        session__project__host=host,
        gone_at__isnull=True,
    ).select_related("session")
    by_session: dict[str, list[TranscriptFile]] = defaultdict(list)
    for file in files.order_by("-pk")[:MOST_NAMED]:
        by_session[file.session.path].append(file)
    named: list[TranscriptFile] = []
    long_ago = (timezone.now() - SETTLED).timestamp() * 1e9
    begun = time.monotonic()
    for main, some in by_session.items():
        if time.monotonic() - begun > SECONDS:
            break
        told: dict[str, str] | None = None
        for file in some:
            agent = agent_beside(file.path)
            if not agent:
                told = agents_in(main) if told is None else told
                agent = told.get(PurePath(file.path).stem.removeprefix("agent-"), "")
            if agent or file.mtime_ns < long_ago:
                file.agent = storable(agent, 200)
                named.append(file)
    TranscriptFile.objects.bulk_update(named, ["agent"], batch_size=500)


def _files_of(owner: Project) -> QuerySet[TranscriptFile]:
    """The agent's transcripts; for a repository's agent only those that ran there."""
    rows = TranscriptFile.objects.filter(
        Q(agent=memory_name(owner.agent_name)),
        kind=TranscriptFile.Kind.SUBAGENT,
        session__project__host=owner.host,
        session__project__root=owner.root,
        session__own=False,
    ).exclude(agent="")
    if owner.scope != "user":
        folders = owner.folders.filter(gone_at__isnull=True).values("path")
        rows = rows.filter(session__folder__path__in=folders)
    return rows.select_related("session")


def _keep_sessions(owner: Project) -> None:
    known = {row.path: row for row in owner.sessions.all()}
    new, changed = list[Session](), list[Session]()
    seen: set[str] = set()
    for file in _files_of(owner):
        if file.path in seen:
            continue
        seen.add(file.path)
        wanted, row = _wanted(file), known.get(file.path)
        if row is None:
            name = PurePath(file.path).stem[:200]
            new.append(Session(project=owner, path=file.path, session_id=name, **wanted))
        elif any(getattr(row, key) != value for key, value in wanted.items()):
            for key, value in wanted.items():
                setattr(row, key, value)
            changed.append(row)
    for path, row in known.items():
        if path not in seen and row.gone_at is None:
            row.gone_at = timezone.now()
            changed.append(row)
    Session.objects.bulk_create(new, batch_size=500)
    Session.objects.bulk_update(changed, _FIELDS, batch_size=500)
    if new or changed:
        last = owner.sessions.filter(gone_at__isnull=True).aggregate(last=Max("touched_at"))["last"]
        Project.objects.filter(pk=owner.pk).update(last_session_at=last)


def _wanted(file: TranscriptFile) -> dict[str, Any]:
    told = resume.summary_of(bytes(file.state))
    title = title_of(redact.redact(told.title)) if told else ""
    touched = dt.datetime.fromtimestamp(file.mtime_ns // 1000 / 1e6, dt.UTC)
    return {
        "size": file.offset,
        "lines": file.line_no,
        "touched_at": touched,
        "started_at": told.first_at if told else None,
        "last_at": told.last_at if told else None,
        "title": storable(title),
        "gone_at": file.gone_at,
    }
