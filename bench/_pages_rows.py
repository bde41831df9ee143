"""Very many rows for `bench/growth.py` and `bench/readers.py`, as after years of use, made with the ORM in bulk, and all pages.

Of files they only have histories: pages that read another report that it is missing.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from collections.abc import Iterator
from typing import Any

CHUNK = 2_000
WORDS = [
    "deploy",
    "staging",
    "database",
    "tests",
    "review",
    "index",
    "session",
    "memory",
    "release",
    "cache",
    "token",
]


def addresses() -> dict[str, str]:
    """The address of every page, for the largest project."""
    from dreams.models import DreamRun, Memory, Project, Proposal, Session

    project = Project.objects.get(slug="-p0")
    memory = Memory.objects.filter(project=project).earliest("pk")
    session = Session.objects.filter(project=project).earliest("pk")
    dream = DreamRun.objects.filter(project=project).earliest("pk")
    proposal = Proposal.objects.filter(project=project, state="open").latest("pk")
    mine = f"/projects/{project.pk}"
    return {
        "inbox": "/",
        "pulse": "/pulse/",
        "projects": "/projects/",
        "project": f"{mine}/",
        "project: memories": f"{mine}/?show=memories",
        "project: sessions": f"{mine}/?show=sessions",
        "project: timeline": f"{mine}/?show=timeline",
        "project: by whom": f"{mine}/?show=timeline&who=-system",
        "directory at a moment": f"{mine}/at/",
        "between two moments": f"{mine}/between/?a=2000-01-01",
        "bring back": f"{mine}/at/restore/?when=2000-01-01",
        "checkup": f"{mine}/checkup/",
        "recall": f"{mine}/recall/?q=deploy+database",
        "secrets": f"{mine}/secrets/",
        "project settings": f"{mine}/settings/",
        "memory": f"/memories/{memory.pk}/",
        "memory: blame": f"/memories/{memory.pk}/blame/",
        "memory: compare": f"/memories/{memory.pk}/compare/",
        "memory: edit": f"/memories/{memory.pk}/edit/",
        "session": f"/sessions/{session.pk}/",
        "search": "/search/?q=deploy",
        "search, rare": "/search/?q=note+7",
        "dreams": "/dreams/",
        "dreams, last page": "/dreams/?page=last",
        "dream": f"/dreams/{dream.public_id}/",
        "review": f"/review/{proposal.public_id}/",
        "usage": "/usage/",
        "usage of a year": "/usage/?days=365",
        "audit": "/audit/",
        "audit, checked": "/audit/?check=1",
        "settings": "/settings/",
        "engines": "/engines/",
        "health": "/health/",
    }


def fill(sessions: int, memories: int, dreams: int) -> None:
    """Makes rows with the ORM, in bulk. One project in ten has most of everything, as in practice."""
    from django.utils import timezone

    from dreams.models import Project
    from dreams.services import auditlog
    from dreams.services.hosts import host

    random.seed(7)
    now = timezone.now()
    count = max(3, memories // 40)
    projects = Project.objects.bulk_create(
        Project(
            host=host(),
            memory_dir=f"/nowhere/.claude/projects/-p{n}/memory",
            slug=f"-p{n}",
            name=f"project {n}",
            root="/nowhere/.claude",
            history_key=f"bench{n}",
            last_session_at=now - dt.timedelta(minutes=n),
        )
        for n in range(count)
    )
    fill_sessions(projects, sessions, now)
    fill_memories(projects, memories, now)
    begin_histories(projects, now)
    fill_dreams(projects, dreams, now)
    for number in range(min(2_000, dreams)):
        auditlog.record("setting.changed", actor="owner", object_id="paused", was=None, now=bool(number % 2))


def share(projects: list[Any], number: int) -> Any:
    """The first project gets a tenth of everything, the others share the rest."""
    return projects[0] if number % 10 == 0 else projects[number % len(projects)]


def chunks(rows: Iterator[Any], model: Any) -> list[Any]:
    made: list[Any] = []
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == CHUNK:
            made += model.objects.bulk_create(batch)
            batch = []
    made += model.objects.bulk_create(batch)
    return made


def fill_sessions(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import Prompt, RequestUsage, Session

    def session(number: int) -> Any:
        at = now - dt.timedelta(minutes=7 * number)
        return Session(
            project=share(projects, number),
            session_id=f"{number:08d}",
            path=f"/nowhere/.claude/projects/-p/{number}.jsonl",
            title=f"Session {number} about {random.choice(WORDS)}",
            touched_at=at,
            last_at=at,
            started_at=at - dt.timedelta(minutes=5),
            size=10_000,
            lines=100,
            user_turns=4,
            assistant_turns=20,
        )

    made = chunks((session(n) for n in range(count)), Session)
    chunks(
        (
            RequestUsage(
                key=2 * n + k,
                message_key=2 * n + k,
                session=one,
                model="claude-sonnet-5-5" if k else "claude-haiku-5-5",
                at=one.last_at,
                input_tokens=100,
                output_tokens=50,
                cache_read_tokens=5_000,
            )
            for n, one in enumerate(made)
            for k in range(2)
        ),
        RequestUsage,
    )
    chunks(
        (
            Prompt(
                key=n,
                session=one,
                offset=10,
                line_no=1,
                at=one.last_at,
                text=f"please look at the {WORDS[n % len(WORDS)]}",
            )
            for n, one in enumerate(made)
        ),
        Prompt,
    )


def fill_memories(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import Blob, Memory, Version

    def text(number: int, version: int) -> bytes:
        body = "\n".join(f"- {' '.join(random.sample(WORDS, 6))} {number}.{k}" for k in range(20))
        return f"---\nname: Note {number}\ndescription: {WORDS[number % len(WORDS)]}\ntype: project\n---\n\n{body}\n{version}\n".encode()

    rows, blobs, versions = [], [], []
    for number in range(count):
        data = [text(number, version) for version in range(2)]
        shas = [hashlib.sha256(one).hexdigest() for one in data]
        blobs += [Blob(sha256=s, data=d, size=len(d)) for s, d in zip(shas, data, strict=True)]
        rows.append(
            Memory(
                project=share(projects, number),
                path=f"note_{number}.md",
                type="project",
                name=f"Note {number}",
                sha256=shas[1],
                size=len(data[1]),
                lines=27,
                changed_at=now - dt.timedelta(hours=number),
            )
        )
        versions.append([(shas[0], 60), (shas[1], 1)])
    chunks(iter(blobs), Blob)
    made = chunks(iter(rows), Memory)
    chunks(
        (
            Version(
                memory=memory,
                sha256=sha,
                size=600,
                at=now - dt.timedelta(days=days),
                origin=Version.Origin.FOUND if days == 60 else Version.Origin.OUTSIDE,
            )
            for memory, states in zip(made, versions, strict=True)
            for sha, days in states
        ),
        Version,
    )


def begin_histories(projects: list[Any], now: dt.datetime) -> None:
    """One state each: pages say where a history is lost, and count what was lost with it."""
    from dreams.lib.storage.history import HistoryStore, State
    from dreams.services.memories import syncing

    path = syncing.history_path(projects[0])
    state = State({"note.md": b"A note.\n"}, {}, "Found", {}, now, "me")
    HistoryStore.begin(path.parent, {syncing.history_path(one).name: state for one in projects})


def fill_dreams(projects: list[Any], count: int, now: dt.datetime) -> None:
    from dreams.models import DreamRun, DreamUsage, FileChange, GateEvaluation, Hunk, Proposal, Turn

    states = [DreamRun.Status.COMPLETED] * 8 + [DreamRun.Status.FAILED, DreamRun.Status.KILLED]

    def dream(number: int) -> Any:
        at = now - dt.timedelta(hours=number)
        return DreamRun(
            project=share(projects, number),
            status=states[number % 10],
            engine="anthropic" if number % 3 else "rules",
            model="claude-sonnet-5-5" if number % 3 else "",
            trigger=DreamRun.Trigger.SCHEDULE,
            started_at=at,
            ended_at=at + dt.timedelta(seconds=90),
            notified_at=now if number > 20 else None,
            input_tokens=10_000,
            output_tokens=2_000,
        )

    made = chunks((dream(n) for n in range(count)), DreamRun)
    # auto_now_add set the current time for all.
    for start in range(0, len(made), CHUNK):
        batch = made[start : start + CHUNK]
        for row in batch:
            row.created_at = row.started_at
        DreamRun.objects.bulk_update(batch, ["created_at"])
    chunks(
        (
            Turn(dream=one, number=k, phase="gather", text="Looking.", at=one.started_at)
            for one in made
            for k in range(2)
        ),
        Turn,
    )
    chunks(
        (
            DreamUsage(
                dream=one,
                turn=k,
                at=one.started_at,
                model=one.model,
                requests=1,
                input_tokens=3_000,
                output_tokens=700,
                cache_read_tokens=20_000,
                cost_usd="0.02",
            )
            for one in made
            if one.model
            for k in range(2)
        ),
        DreamUsage,
    )
    proposals = chunks(
        (
            Proposal(
                project=one.project,
                dream=one,
                origin=Proposal.Origin.DREAM,
                state=Proposal.State.APPLIED,
                summary="Tidied.",
                closed_at=now,
            )
            for one in made
            if one.status == DreamRun.Status.COMPLETED
        ),
        Proposal,
    )
    for number, project in enumerate(projects[: max(3, len(projects) // 4)]):
        open_one = Proposal.objects.create(
            project=project, origin=Proposal.Origin.DREAM, summary="To look at.", dream=None
        )
        proposals.append(open_one)
        del number
    files = chunks(
        (
            FileChange(proposal=one, path=f"note_{n}.md", kind=FileChange.Kind.MODIFY, memory_type="project")
            for n, one in enumerate(proposals)
        ),
        FileChange,
    )
    chunks(
        (
            Hunk(file=file, hunk_id=f"h{n}", number=0, base_start=1, base_count=1, new_start=1, new_count=1)
            for n, file in enumerate(files)
        ),
        Hunk,
    )
    chunks(
        (
            GateEvaluation(
                project=project,
                at=now - dt.timedelta(hours=k),
                open=False,
                fingerprint=f"f{k}",
                results=[
                    {"name": "time", "passed": False, "reason": "Too soon.", "opens_at": now.isoformat()}
                ],
            )
            for project in projects
            for k in range(100)
        ),
        GateEvaluation,
    )
