"""Questions for tests, and dreams that ask them."""

from __future__ import annotations

from collections.abc import Callable

from dreams.engines.types import KEEP, Edit, Fate, Job, Option, Place, Question
from dreams.models import DreamRun, Project, Question as Row
from dreams.services import dreaming
from tests.world import engines

ALPHA = "The API runs on host alpha."
RESET = "Use make reset before a run."


def changes(path: str, old: str, new: str, operation: str = "step") -> Callable[[Job], Edit]:
    """An edit of the directory before the dream."""

    def made(job: Job) -> Edit:
        before = job.workspace.snapshot.contents()[path].decode()
        assert old in before
        fates = tuple(Fate(line, "stated", note="You said so.") for line in old.splitlines() if line.strip())
        return Edit(
            path, before, before.replace(old, new), operation, "update", f"Changes {path}.", (), fates
        )

    return made


def asks(
    path: str,
    old: str,
    new: str,
    *,
    kind: str = "changed",
    subject: str = "",
    weight: float = 0.5,
    label: str = "Replace it",
) -> Callable[[Job], Question]:
    """A question about one statement: replace it with `new`, or keep it."""

    def made(job: Job) -> Question:
        line = job.workspace.snapshot.contents()[path].decode()[:].split(old)[0].count("\n") + 1
        return Question(
            kind=kind,  # type: ignore[arg-type] # one of the kinds
            subject=subject or f"{path} {old}",
            why=f"A session says “{new}”.",
            places=(Place(path, line, old),),
            options=(
                Option("replace", label, (changes(path, old, new)(job),)),
                KEEP,
            ),
            weight=weight,
        )

    return made


def dream(
    project: Project,
    monkeypatch,
    *asked: Callable[[Job], Question],
    act=engines.nothing,
) -> DreamRun:
    """Runs a dream that makes the edits of `act` and asks questions."""
    engines.use(monkeypatch, act, lambda job: [each(job) for each in asked])
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    return run


def states(project: Project) -> list[str]:
    return [row.state for row in Row.objects.filter(project=project).order_by("pk")]
