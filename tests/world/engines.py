"""Engines for tests: real ones, except that a test specifies their edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dreams.engines.types import Edit, EngineTurn, Job, Outcome, Question, Reporter


@dataclass
class Scripted:
    """Runs `act`, which edits through the workspace and returns the edits."""

    act: Callable[[Job, Reporter], list[Edit]]
    name: str = "scripted"
    ask: Callable[[Job], list[Question]] = lambda job: []

    def run(self, job: Job, report: Reporter) -> Outcome:
        report.turn(EngineTurn("orient", "Looked around."))
        edits = self.act(job, report)
        return Outcome(edits=edits, summary="Did as the script says.", questions=self.ask(job))


def use(
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[Job, Reporter], list[Edit]],
    ask: Callable[[Job], list[Question]] = lambda job: [],
) -> None:
    monkeypatch.setattr("dreams.engines.get", lambda name: Scripted(act, ask=ask))


def nothing(job: Job, report: Reporter) -> list[Edit]:
    return []


def rewrite(
    path: str, old: str, new: str, operation: str = "change"
) -> Callable[[Job, Reporter], list[Edit]]:
    def act(job: Job, report: Reporter) -> list[Edit]:
        before = job.workspace.read(path) or ""
        after = before.replace(old, new)
        if before == after:
            return []
        job.workspace.write(path, after)
        return [Edit(path, before, after, operation, "update", "The script said so.")]

    return act


def add(path: str, content: str) -> Callable[[Job, Reporter], list[Edit]]:
    def act(job: Job, report: Reporter) -> list[Edit]:
        if job.workspace.read(path) is not None:
            return []
        job.workspace.write(path, content)
        return [Edit(path, None, content, f"add {path}", "learn", "The script said so.")]

    return act
