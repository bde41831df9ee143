"""A dream that asks: a project with a question of most kinds, with or without a proposal."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import KEEP, Citation, Edit, Fate, Option, Place, Question as Asked
from dreams.lib.files import workspace
from dreams.models import DreamRun, Project, Proposal, Question
from dreams.services import proposals
from dreams.services.memories import syncing
from dreams.services.questions import asking
from tests.world import directory as world, rows

FILES = {
    "MEMORY.md": (
        "# Memory\n\n- [Deploys](project_deploys.md) — how staging and production are deployed\n"
        "- [Staging](reference_staging.md) — where staging runs\n"
        "- [Testing](feedback_testing.md) — how tests run here\n"
        "- [Freeze](project_freeze.md) — the November freeze\n"
    ),
    "project_deploys.md": (
        "---\nname: Deploys\ndescription: how staging and production are deployed\ntype: project\n---\n\n"
        "Staging deploys itself from main, to the cluster kind-eu-1 on port 8443.\n\n"
        "Production is deployed by hand from a tag, only before 15:00.\n"
    ),
    "reference_staging.md": (
        "---\nname: Staging\ndescription: where staging runs\ntype: reference\n---\n\n"
        "Staging deploys itself from the branch main, to the cluster kind-eu-1 on port 9443.\n"
    ),
    "feedback_testing.md": (
        "---\nname: Testing\ndescription: how tests run here\ntype: feedback\n---\n\n"
        "Run the integration tests with `make test-db`; it starts PostgreSQL 15 itself.\n\n"
        "Never mock the database in these tests.\n\nThe helper `scripts/reset_db.sh` empties it.\n\n"
        "Snapshots of its tables are reviewed by hand.\n"
    ),
    "project_freeze.md": (
        "---\nname: Freeze\ntype: project\n---\n\nNo releases before 18 November 2026, the audit is running.\n"
    ),
}
STAGING = "Staging deploys itself from main, to the cluster kind-eu-1 on port 8443."
STAGING_TOO = "Staging deploys itself from the branch main, to the cluster kind-eu-1 on port 9443."
POSTGRES = "Run the integration tests with `make test-db`; it starts PostgreSQL 15 itself."
POSTGRES_NEW = "Run the integration tests with `make test-db`; it starts PostgreSQL 16 itself."
MOCK = "Never mock the database in these tests."
SNAPSHOTS = "Snapshots of its tables are reviewed by hand."
HELPER = "The helper `scripts/reset_db.sh` empties it."
FREEZE = "No releases before 18 November 2026, the audit is running."


def edit(path: str, old: str, new: str, operation: str = "step", *, explained: bool = True) -> Edit:
    """Replaces `old` with `new` in one file; without `explained`, a person has to confirm the loss."""
    before = FILES[path]
    assert old in before
    after = before.replace(old, new)
    gone = set(before.splitlines()) - set(after.splitlines())
    fates = tuple(Fate(line, "stated", note="You said so.") for line in sorted(gone)) if explained else ()
    return Edit(path, before, after, operation, "update", f"Changes {path}.", (), fates)


def place(path: str, said: str) -> Place:
    return Place(path, FILES[path].split(said)[0].count("\n") + 1, said)


def make_project(folder: Path, name: str = "orders-api") -> Project:
    project = world.make_project(folder, FILES)
    Project.objects.filter(pk=project.pk).update(name=name)
    project.refresh_from_db()
    return project


def conflict() -> Asked:
    return Asked(
        "conflict",
        "staging port 8443 9443",
        "Two memories give different ports for staging, and nothing says which is newer.",
        (place("project_deploys.md", STAGING), place("reference_staging.md", STAGING_TOO)),
        (
            Option("first", "Port 8443", (edit("reference_staging.md", "9443", "8443"),)),
            Option("second", "Port 9443", (edit("project_deploys.md", "8443", "9443"),)),
            KEEP,
        ),
        weight=0.9,
    )


def changed(project: Project) -> Asked:
    session = rows.make_session(project, "Upgrade the test database")
    at = timezone.now() - dt.timedelta(days=3)
    typed = "we moved the test database to postgres 16 on monday, make test-db starts PostgreSQL 16 itself"
    said = Citation("transcript", typed, session.path, session.pk, 42, 9000, "user", at)
    return Asked(
        "changed",
        "test-db postgresql",
        "You typed a newer version of this in a session.",
        (
            place("feedback_testing.md", POSTGRES),
            Place(session.path, 42, typed, session.pk, 9000, "user", at),
        ),
        (
            Option(
                "replace",
                "Change it to PostgreSQL 16",
                (edit("feedback_testing.md", POSTGRES, POSTGRES_NEW),),
            ),
            KEEP,
            Option(
                "history",
                "Keep the old one as history",
                (
                    edit(
                        "feedback_testing.md",
                        POSTGRES,
                        f"{POSTGRES_NEW} (PostgreSQL 15 until November 2026.)",
                    ),
                ),
            ),
        ),
        (said,),
        weight=0.8,
    )


def expired() -> Asked:
    return Asked(
        "expired",
        "freeze 2026-11-18",
        "The day it names has passed.",
        (place("project_freeze.md", FREEZE),),
        (
            Option("remove", "Remove it", (edit("project_freeze.md", FREEZE + "\n", ""),)),
            KEEP,
            Option(
                "past",
                "Put it in the past tense",
                (edit("project_freeze.md", "No releases before", "There were no releases before"),),
            ),
        ),
        weight=0.6,
    )


def blocked() -> Asked:
    """A question whose answer also removes a line that it does not show: a person has to confirm the finding."""
    return Asked(
        "gone",
        "scripts/reset_db.sh",
        "The repository no longer has scripts/reset_db.sh.",
        (place("feedback_testing.md", HELPER),),
        (
            Option(
                "remove",
                "Remove it",
                (edit("feedback_testing.md", f"{HELPER}\n\n{SNAPSHOTS}\n", "", explained=False),),
            ),
            KEEP,
        ),
        weight=0.5,
    )


def index() -> Asked:
    rows_ = {
        "project_freeze.md": "- [Freeze](project_freeze.md) — the November freeze\n",
        "reference_staging.md": "- [Staging](reference_staging.md) — where staging runs\n",
    }
    return Asked(
        "index",
        "index over budget",
        "The index is too long to be loaded whole. These rows seem to help least.",
        tuple(place("MEMORY.md", row.rstrip("\n")) for row in rows_.values()),
        (
            Option(
                "demote",
                "Move the ticked rows out",
                tuple(edit("MEMORY.md", row, "", path) for path, row in rows_.items()),
            ),
            KEEP,
        ),
        weight=0.4,
    )


def learn(number: int) -> Asked:
    return Asked(
        "learn",
        f"habit {number}",
        f"You asked for habit {number} once; it may have been for that task only.",
        (place("feedback_testing.md", MOCK),),
        (
            Option("learn", "Remember it", (edit("feedback_testing.md", MOCK, f"{MOCK} Habit {number}."),)),
            KEEP,
        ),
        weight=0.1,
    )


def ask(project: Project, *asked: Asked, proposal: Proposal | None = None) -> list[Question]:
    """Stores the questions of a finished dream, in this order."""
    dream = (
        proposal.dream if proposal and proposal.dream else rows.make_dream(project, DreamRun.Status.COMPLETED)
    )
    asking.save(dream, proposal, asked)
    subjects = [asking.digest(one) for one in asked]
    found = {row.subject: row for row in project.questions.all()}
    return [found[subject] for subject in subjects]


def ask_all(project: Project, proposal: Proposal | None = None) -> list[Question]:
    return ask(project, conflict(), changed(project), expired(), blocked(), index(), proposal=proposal)


def propose(project: Project) -> Proposal:
    """A dream's open proposal with two changes, in lines that no question is about."""
    dream = rows.make_dream(project, DreamRun.Status.COMPLETED)
    deploys = edit("project_deploys.md", "only before 15:00", "only before 15:00 UTC", "hours")
    testing = edit(
        "feedback_testing.md", MOCK, "Never mock the database in these tests, not even once.", "mock"
    )
    before = workspace.take(syncing.memory_dir(project)).contents()
    after = {**before, **{one.path: (one.after or "").encode() for one in (deploys, testing)}}
    origin = proposals.ProposalOrigin(Proposal.Origin.DREAM, summary="Two lines made exact.", dream=dream)
    return proposals.create(project, origin, drafts.draft(before, after, [deploys, testing]), before)


def read(project: Project, path: str) -> str:
    return (world.folder(project) / path).read_text()
