"""A project on a real directory, and proposals made from the intended texts of its files."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit, Fate, OperationKind
from dreams.lib.files import workspace
from dreams.models import Hunk, Project, Proposal
from dreams.services import discovery, hosts, proposals, review
from dreams.services.memories import syncing
from dreams.services.review import Actor

ME = Actor("owner")

INDEX = "# Memory\n\n- [Testing](feedback_testing.md) — how tests run\n- [Deploy](project_deploy.md) — where it runs\n"
TESTING = (
    "---\nname: Testing\ndescription: how tests run\ntype: feedback\n---\n\n"
    "Tests run against a real database.\n\nUse make reset before a run.\n\nSnapshots are reviewed by hand.\n"
)
DEPLOY = "---\nname: Deploy\ntype: project\n---\n\nThe API runs on host alpha.\n"


def make_project(folder: Path, files: Mapping[str, str | bytes] | None = None) -> Project:
    """A project whose memory directory contains `files`, scanned once."""
    memory = folder / "projects" / "-home-dev-app" / "memory"
    memory.mkdir(parents=True)
    default = {"MEMORY.md": INDEX, "feedback_testing.md": TESTING, "project_deploy.md": DEPLOY}
    for path, content in (default if files is None else files).items():
        put(memory / path, content)
    project = Project.objects.create(
        host=hosts.host(),
        memory_dir=str(memory),
        slug="-home-dev-app",
        name="app",
        root=str(folder),
        history_key=uuid.uuid4().hex,
    )
    syncing.refresh(project)
    return project


def put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    os.chmod(path, 0o640)
    os.utime(path, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))


def folder(project: Project) -> Path:
    return Path(project.memory_dir)


def edit(
    path: str, before: str | None, after: str | None, operation: str, kind: OperationKind = "update"
) -> Edit:
    said = Citation("transcript", "as I said", place="s.jsonl", line_no=3, role="user")
    left = set((before or "").splitlines()) - set((after or "").splitlines())
    fates = tuple(Fate(line, "stated", note="It is no longer so.") for line in sorted(left) if line.strip())
    return Edit(path, before, after, operation, kind, f"Because of {operation}.", (said,), fates)


def propose(project: Project, *edits: Edit, origin: Proposal.Origin = Proposal.Origin.DREAM) -> Proposal:
    """An open proposal with these edits."""
    before = workspace.take(folder(project)).contents()
    after = dict(before)
    for made in edits:
        if made.after is None:
            after.pop(made.path)
        else:
            after[made.path] = made.after.encode()
    by = proposals.ProposalOrigin(origin, summary="A dream.")
    return proposals.create(project, by, drafts.draft(before, after, edits), before)


def three_changes(project: Project) -> Proposal:
    """Two separate changes in one file, and a new file with its index row as one operation."""
    one = TESTING.replace("make reset", "make fresh")
    two = one.replace("Snapshots are reviewed by hand.", "Snapshots are reviewed by hand, never with -u.")
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
    return propose(
        project,
        edit("feedback_testing.md", TESTING, one, "reset"),
        edit("feedback_testing.md", one, two, "snapshots"),
        edit("project_export.md", None, fact, "export", "learn"),
        edit("MEMORY.md", INDEX, INDEX + "- [Export](project_export.md) — when it runs\n", "export", "index"),
    )


def all_approved(folder: Path) -> Proposal:
    """A project with these changes, all approved."""
    made = three_changes(make_project(folder))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ME)
    return made


def discovered(root: Path, sessions: int = 2) -> Project:
    """A memory directory of two notes and sessions with one wish each below `root`, found by discovery."""
    write_sessions(root, sessions)
    for name, text in (("MEMORY.md", INDEX), ("feedback_testing.md", TESTING)):
        put(root / "projects/-home-dev-app/memory" / name, text)
    discovery.discover()
    return Project.objects.get()


def write_sessions(root: Path, count: int, *, slug: str = "-home-dev-app", days_ago: float = 1.0) -> None:
    """Writes `count` transcripts of a project, each with a prompt, last modified `days_ago`."""
    import json
    import time

    at = time.time() - days_ago * 86_400
    for number in range(count):
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{slug}{number}"))
        record = {
            "type": "user",
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{slug}{number} line")),
            "sessionId": session,
            "timestamp": "2026-03-01T10:00:00Z",
            "cwd": "/home/dev/" + slug.rpartition("-")[2],
            "message": {"role": "user", "content": f"Remember that queue {number} is drained by hand."},
        }
        path = root / "projects" / slug / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record) + "\n")
        os.utime(path, (at, at))
