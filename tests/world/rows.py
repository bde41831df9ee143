"""A small world made with the ORM: two projects, a session, memories, a dream and its proposal."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from itertools import count

from django.utils import timezone

from dreams.models import (
    AppliedBatch,
    AppliedFile,
    Blob,
    DreamRun,
    Evidence,
    FileChange,
    Finding,
    GateEvaluation,
    Hunk,
    Memory,
    OpenEnd,
    Operation,
    Project,
    Proposal,
    Session,
    Version,
)
from dreams.services import hosts

BEFORE = (
    "---\nname: Testing\ndescription: How tests are run here\ntype: feedback\n---\n\n"
    "Integration tests run against a real database, never a mock.\n"
    "Use the shared PostgreSQL 15 on staging-db.\n"
)
AFTER = BEFORE.replace(
    "Use the shared PostgreSQL 15 on staging-db.", "Use the PostgreSQL 16 container on port 5433."
)
_numbers = count(1)


def blob(text: str) -> str:
    data = text.encode()
    sha = hashlib.sha256(data).hexdigest()
    Blob.objects.get_or_create(sha256=sha, defaults={"data": data, "size": len(data)})
    return sha


def make_project(name: str = "acme-api", **fields: object) -> Project:
    number = next(_numbers)
    slug = f"-home-me-{name}"
    defaults: dict[str, object] = {
        "host": hosts.host(),
        "memory_dir": f"/home/me/.claude/projects/{slug}-{number}/memory",
        "slug": slug,
        "name": name,
        "root": "/home/me/.claude",
        "repo_dir": f"/home/me/{name}",
        "history_key": f"{name}-{number}",
    }
    return Project.objects.create(**{**defaults, **fields})


def make_session(project: Project, title: str = "Fix flaky auth tests", **fields: object) -> Session:
    number = next(_numbers)
    defaults: dict[str, object] = {
        "session_id": f"00000000-0000-4000-8000-{number:012d}",
        "path": f"/home/me/.claude/projects/{project.slug}/{number}.jsonl",
        "title": title,
        "touched_at": timezone.now(),
        "last_at": timezone.now(),
        "user_turns": 4,
        "assistant_turns": 9,
    }
    return Session.objects.create(project=project, **{**defaults, **fields})


def make_open_end(session: Session, subject: str = "Write the migration", **fields: object) -> OpenEnd:
    number = session.open_ends.count() + 1
    defaults: dict[str, object] = {"offset": 0, "line_no": 1, "at": timezone.now()}
    return OpenEnd.objects.create(session=session, number=number, subject=subject, **{**defaults, **fields})


def make_waiting_project(name: str, wait: dt.timedelta) -> Project:
    """A project with enough sessions for a dream; the time since the last one is sufficient after `wait`."""
    last = timezone.now() + wait - dt.timedelta(hours=24)
    project = make_project(name, last_consolidated_at=last, gate_fingerprint="time: recent")
    for _ in range(5):
        make_session(project, touched_at=timezone.now() - dt.timedelta(minutes=11))
    return project


def make_memory(
    project: Project, path: str = "feedback_testing.md", text: str = BEFORE, **fields: object
) -> Memory:
    sha = blob(text)
    defaults: dict[str, object] = {
        "type": "feedback",
        "name": "Testing",
        "description": "How tests are run here",
        "sha256": sha,
        "size": len(text.encode()),
        "lines": text.count("\n"),
        "changed_at": timezone.now() - dt.timedelta(days=20),
    }
    memory = Memory.objects.create(project=project, path=path, **{**defaults, **fields})
    Version.objects.create(
        memory=memory,
        number=1,
        sha256=sha,
        size=memory.size,
        at=memory.changed_at,
        origin=Version.Origin.FOUND,
    )
    return memory


def make_dream(project: Project, status: str = DreamRun.Status.COMPLETED, **fields: object) -> DreamRun:
    now = timezone.now()
    defaults: dict[str, object] = {
        "engine": "rules",
        "trigger": DreamRun.Trigger.SCHEDULE,
        "started_at": now - dt.timedelta(minutes=3),
        "ended_at": now - dt.timedelta(minutes=2) if status in DreamRun.TERMINAL else None,
    }
    return DreamRun.objects.create(project=project, status=status, **{**defaults, **fields})


def make_proposal(project: Project, dream: DreamRun | None = None, **fields: object) -> Proposal:
    """One file with one hunk, with its operation and evidence."""
    defaults: dict[str, object] = {
        "origin": Proposal.Origin.DREAM if dream else Proposal.Origin.EDIT,
        "summary": "The test database moved.",
    }
    proposal = Proposal.objects.create(project=project, dream=dream, **{**defaults, **fields})
    operation = Operation.objects.create(
        proposal=proposal, key="update-1", kind=Operation.Kind.UPDATE, reason="You changed the database."
    )
    change = FileChange.objects.create(
        proposal=proposal,
        path="feedback_testing.md",
        kind=FileChange.Kind.MODIFY,
        memory_type="feedback",
        base_sha=blob(BEFORE),
        new_sha=blob(AFTER),
    )
    hunk = Hunk.objects.create(
        file=change,
        operation=operation,
        hunk_id="h00000001",
        number=1,
        base_start=7,
        base_count=1,
        new_start=7,
        new_count=1,
    )
    Evidence.objects.create(
        hunk=hunk,
        source=Evidence.Source.TRANSCRIPT,
        role="user",
        line_no=214,
        at=timezone.now(),
        quote="from now on run them against the container on 5433",
    )
    return proposal


def make_written(proposal: Proposal) -> AppliedBatch:
    """Marks all of it as approved and applied, in rows only."""
    row = AppliedBatch.objects.create(
        proposal=proposal, journal_id=f"{proposal.public_id}-1", at=timezone.now(), actor="owner"
    )
    hunks = Hunk.objects.filter(file__proposal=proposal)
    hunks.update(verdict=Hunk.Verdict.APPROVED, applied_in=row)
    for file in proposal.files.all():
        AppliedFile.objects.create(
            application=row, path=file.path, before_sha=file.base_sha, after_sha=f"{file.pk:064x}"
        )
    Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.APPLIED)
    return row


def make_finding(proposal: Proposal, severity: str = Finding.Severity.WARN, **fields: object) -> Finding:
    number = next(_numbers)
    defaults: dict[str, object] = {
        "key": f"finding-{number}",
        "check_name": "injection",
        "code": "new-host",
        "message": "A host that no session names.",
    }
    return Finding.objects.create(proposal=proposal, severity=severity, **{**defaults, **fields})


def close_gate(project: Project, reason: str, opens_at: dt.datetime | None) -> GateEvaluation:
    gate = {
        "name": "time",
        "passed": False,
        "reason": reason,
        "opens_at": opens_at.isoformat() if opens_at else None,
    }
    return GateEvaluation.objects.create(
        project=project, at=timezone.now(), open=False, results=[gate], fingerprint=reason[:64]
    )


@dataclass(frozen=True)
class World:
    project: Project
    other: Project
    session: Session
    memory: Memory
    dream: DreamRun
    proposal: Proposal


def make_world() -> World:
    project = make_project()
    dream = make_dream(project)
    proposal = make_proposal(project, dream)
    session = make_session(project)
    Evidence.objects.filter(hunk__file__proposal=proposal).update(session=session)
    return World(
        project=project,
        other=make_project("notes-cli"),
        session=session,
        memory=make_memory(project),
        dream=dream,
        proposal=proposal,
    )
