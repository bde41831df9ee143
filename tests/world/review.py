"""A realistic proposal on a real directory: several files, operations over two of them, evidence, findings."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit, Fate
from dreams.lib.files import workspace
from dreams.models import DreamRun, DreamSession, Finding, Hunk, Project, Proposal
from dreams.services import blobs, proposals
from dreams.services.memories import syncing
from tests.world import directory as world, rows

TESTING = (
    "---\nname: Testing\ndescription: How tests are run here\ntype: feedback\n---\n\n"
    "# Testing\n\n"
    "Integration tests run against a real database, never a mock.\n\n"
    "Use the shared PostgreSQL 15 instance on staging-db; reset it yesterday's way with `make reset`.\n\n"
    + "".join(
        f"Rule {n}: a test says in its name what it shows, and shows nothing else.\n" for n in range(1, 10)
    )
    + "\n## Snapshots\n\n- Snapshots are reviewed by hand.\n- The [runbook](runbook.md) says how.\n"
)
TESTING_AFTER = TESTING.replace(
    "Use the shared PostgreSQL 15 instance on staging-db; reset it yesterday's way with `make reset`.",
    "Use the PostgreSQL 16 container on localhost:5433; reset it with `make reset` (since 2026-11-12).",
)
TESTING_LINK = TESTING_AFTER.replace("](runbook.md)", "](reference_runbook.md)")
TESTING_MERGED = TESTING_LINK.replace(
    "- Snapshots are reviewed by hand.\n",
    "- Snapshots are reviewed by hand.\n- Never update them with `-u` in CI.\n",
)
TWIN = "---\nname: Tests, again\ntype: feedback\n---\n\nNever update snapshots with `-u` in CI.\n"
TRAIN = (
    "---\nname: Release train\ndescription: When releases leave\ntype: project\n---\n\n"
    "Releases leave on Tuesdays at 10:00 UTC, from `main`, and never before a holiday.\n"
)
INDEX = (
    "# Memory\n\n- [Testing](feedback_testing.md) — how tests are run here\n"
    "- [Tests, again](feedback_tests_2.md) — snapshots\n- [Role](user_role.md) — who you are\n"
)
INDEX_AFTER = INDEX.replace("- [Tests, again](feedback_tests_2.md) — snapshots\n", "")
INDEX_LAST = INDEX_AFTER + "- [Release train](project_release_train.md) — when releases leave\n"
ROLE = "---\nname: Role\ntype: user\n---\n\nWorks on the API\u200b team.\nLikes short answers.\n"
FILES = {
    "MEMORY.md": INDEX,
    "feedback_testing.md": TESTING,
    "feedback_tests_2.md": TWIN,
    "user_role.md": ROLE,
    "reference_runbook.md": "---\nname: Runbook\ntype: reference\n---\n\nThe runbook is in the wiki.\n",
}


def make_project(folder: Path, name: str = "acme-api") -> Project:
    project = world.make_project(folder, FILES)
    Project.objects.filter(pk=project.pk).update(name=name)
    project.refresh_from_db()
    return project


def make_dream(project: Project) -> tuple[DreamRun, Citation]:
    """A finished dream that read one session, and that session's messages."""
    session = rows.make_session(project, "Fix flaky auth tests")
    dream = rows.make_dream(project, DreamRun.Status.COMPLETED)
    DreamSession.objects.create(dream=dream, session=session, to_byte=4000)
    said = Citation(
        "transcript",
        "from now on run them against the pg16 container on 5433, staging-db goes away this week",
        place=session.path,
        session_pk=session.pk,
        line_no=214,
        offset=80_000,
        role="user",
        at=timezone.now() - dt.timedelta(days=9),
    )
    return dream, said


def make_proposal(project: Project) -> Proposal:
    """Seven changes in five files."""
    dream, said = make_dream(project)
    moved = Citation(
        "memory", "Never update snapshots with `-u` in CI.", place="feedback_tests_2.md", line_no=6
    )
    lost = Citation(
        "transcript", "releases leave on tuesdays", place=said.place, role="assistant", found=False
    )
    old = "Use the shared PostgreSQL 15 instance on staging-db; reset it yesterday's way with `make reset`."
    gone = Fate(
        "Never update snapshots with `-u` in CI.",
        "merged-into",
        "feedback_testing.md",
        "Never update them with `-u` in CI.",
    )
    steps = [
        Edit("feedback_testing.md", TESTING, TESTING_AFTER, "db", "update",
             "You changed the database on 12 November.", (said,),
             (Fate(old, "superseded-by", "feedback_testing.md", "Use the PostgreSQL 16 container", "staging-db goes away"),)),
        Edit("feedback_testing.md", TESTING_AFTER, TESTING_LINK, "link", "index",
             "The runbook has another name."),
        Edit("feedback_testing.md", TESTING_LINK, TESTING_MERGED, "merge", "merge",
             "Says the same as feedback_tests_2.md.", (moved,)),
        Edit("feedback_tests_2.md", TWIN, None, "merge", "merge",
             "Says the same as feedback_tests_2.md.", (moved,), (gone,)),
        Edit("MEMORY.md", INDEX, INDEX_AFTER, "merge", "index", "Its file is merged."),
        Edit("project_release_train.md", None, TRAIN, "train", "learn",
             "You said when releases leave.", (lost,)),
        Edit("MEMORY.md", INDEX_AFTER, INDEX_LAST, "train", "index", "A row for the new memory."),
        Edit("user_role.md", ROLE, ROLE.replace("short", "very short"), "role", "update",
             "You asked for shorter answers twice.", (said,)),
    ]  # fmt: skip
    before = workspace.take(syncing.memory_dir(project)).contents()
    after = dict(before)
    for step in steps:
        if step.after is None:
            after.pop(step.path)
        else:
            after[step.path] = step.after.encode()
    origin = proposals.ProposalOrigin(
        Proposal.Origin.DREAM, summary="Tests moved, one twin merged.", dream=dream
    )
    return proposals.create(project, origin, drafts.draft(before, after, steps), before)


def add_finding(proposal: Proposal, words: str, severity: str, message: str, remedy: str = "") -> Finding:
    """Adds a finding, as a check would, to the hunk that adds `words`."""
    hunk = hunk_with(proposal, words)
    return rows.make_finding(
        proposal, severity, hunk=hunk, file=hunk.file, message=message, remedy=remedy, check_name="test"
    )


def hunk_with(proposal: Proposal, words: str) -> Hunk:
    """The hunk that adds or removes these words."""
    files = list(proposal.files.all())
    texts = blobs.get_many(sha for file in files for sha in (file.base_sha, file.new_sha))
    for file in files:
        if not any(words.encode() in texts.get(sha, b"") for sha in (file.base_sha, file.new_sha)):
            continue
        for row, lines in proposals.text_hunks(file):
            if words in lines.added or (words in lines.removed and not lines.added):
                return row
    raise AssertionError(f"no hunk has {words!r}")
