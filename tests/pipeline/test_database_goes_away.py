"""A database that goes away in the middle of a write, at whichever statement: all or nothing is on disk, and a second try ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection

from dreams.models import AppliedBatch, Hunk, Project, Proposal, Version
from dreams.services import recovery, review, rollback, verifying
from dreams.services.apply import applying
from tests.world import directory as world

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sweep, pytest.mark.not_on_postgresql]
STEP = 6  # of the statements, the first, the seventh, … are not answered any more; each run of them takes a second
NEW = "---\nname: New\n---\n\nText.\n"


def _applied(proposal: Proposal) -> None:
    assert applying.apply(Proposal.objects.get(pk=proposal.pk), world.ME).complete


def _undone(proposal: Proposal) -> None:
    with suppress(rollback.AlreadyUndone):
        assert rollback.rollback(Proposal.objects.get(pk=proposal.pk), world.ME).complete


def _decided(folder: Path) -> Proposal:
    made = world.propose(
        world.make_project(folder),
        world.edit("project_deploy.md", world.DEPLOY, f"{world.DEPLOY}- More.\n", "a"),
        world.edit("new.md", None, NEW, "a", "learn"),
        world.edit("feedback_testing.md", world.TESTING, None, "b", "prune"),
    )
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(made, made.findings.filter(severity="block"), world.ME)
    return made


@contextmanager
def _away_from(number: int, *, is_committed: bool) -> Iterator[list[int]]:
    """From this statement or commit on nothing is answered; `is_committed`: that commit was done all the same."""
    asked, commit = [0], connection._commit  # type: ignore[attr-defined] # of a private method, as no other sees a commit

    def answered(work: Callable[..., Any], *given: Any, is_done: bool = False) -> Any:
        asked[0] += 1
        if asked[0] < number:
            return work(*given)
        if is_done and asked[0] == number:
            work(*given)
        raise OperationalError("server closed the connection unexpectedly")

    connection.ensure_connection()
    connection._commit = lambda: answered(commit, is_done=is_committed)  # type: ignore[attr-defined] # as above
    try:
        with connection.execute_wrapper(answered):
            yield asked
    finally:
        del connection._commit  # type: ignore[attr-defined] # as above
        connection.close()


def _on_disk(project: Project) -> dict[str, str]:
    folder = world.folder(project)
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("is_committed", [False, True], ids=["", "the last commit is done"])
@pytest.mark.parametrize("act", [_applied, _undone], ids=["apply", "undo"])
def test_wherever_the_database_goes_away_a_write_is_whole_and_its_second_try_ends_it(
    tmp_path: Path, settings: Any, act: Callable[[Proposal], None], is_committed: bool
) -> None:
    number, is_cut = 1, True
    while is_cut:
        settings.DATA_DIR = tmp_path / f"data{number}"
        settings.DATA_DIR.mkdir()
        Project.objects.all().delete()
        proposal = _decided(tmp_path / f"root{number}")
        project, ends = proposal.project, [_on_disk(proposal.project)]
        if act is _undone:
            _applied(proposal)
        ends.append(_on_disk(project))
        with suppress(OperationalError), _away_from(number, is_committed=is_committed) as asked:
            act(proposal)
        is_cut = asked[0] >= number
        assert not recovery.recover().problems and not recovery.recover().said, number
        if act is _undone:
            assert _on_disk(project) in ends, number
        act(proposal)
        _all_is_well(project, 1 + (act is _undone))
        number += STEP
    assert number > 10 * STEP


def _all_is_well(project: Project, writes: int) -> None:
    assert AppliedBatch.objects.filter(proposal__project=project).count() == writes
    assert not project.proposals.filter(state__in=Proposal.UNFINISHED).exists()
    assert not verifying.verify().problems
    rows = Version.objects.filter(memory__project=project).order_by("memory", "number")
    told = list(rows.values_list("memory", "sha256"))
    assert all(one != other for one, other in pairwise(told)), "no state is told twice"
    assert not [path for path in world.folder(project).rglob("*") if ".memoryweb-" in path.name]
