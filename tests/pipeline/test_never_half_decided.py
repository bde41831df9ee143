"""A decision is whole: where one part of it has to be looked at again, so have the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreams.models import Hunk, Project, Proposal
from dreams.services import proposals, review
from dreams.services.proposals import rebase
from tests.world import directory as world

pytestmark = pytest.mark.django_db
ROW = "- [Export](project_export.md) — when it runs\n"
LONG = "---\nname: L\ntype: project\n---\n\nWait a day.\nTry again.\n"


def learnt(project: Project, hour: int) -> Proposal:
    """A new memory with its row, and a change that stands alone."""
    fact = f"---\nname: Export\ntype: project\n---\n\nThe export runs at 0{hour}:00 UTC.\n"
    new = world.TESTING.replace("make reset", "make fresh")
    return world.propose(
        project,
        world.edit("feedback_testing.md", world.TESTING, new, "reset"),
        world.edit("project_export.md", None, fact, "export", "learn"),
        world.edit("MEMORY.md", world.INDEX, world.INDEX + ROW, "export", "index"),
    )


def verdicts(proposal: Proposal) -> dict[str, str]:
    return dict(Hunk.objects.filter(file__proposal=proposal).values_list("file__path", "verdict"))


@pytest.mark.not_on_postgresql
def test_a_new_dream_keeps_the_verdict_on_what_it_says_again_in_all_its_parts(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    before = learnt(project, 4)
    review.decide(before, review.select_hunks(before), Hunk.Verdict.APPROVED, world.ME)
    decided = proposals.supersede(before, world.ME.name)
    after = learnt(project, 5)
    carried = proposals.carry_over(after, decided)
    assert verdicts(after) == {
        "feedback_testing.md": "approved",
        "project_export.md": "pending",
        "MEMORY.md": "pending",  # the row is the same, what it leads to is not
    }
    assert carried == 1


def test_an_edit_that_no_longer_fits_takes_back_the_verdict_on_what_goes_with_it(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    world.put(world.folder(project) / "long.md", LONG)
    shorter = LONG.replace("Wait a day.\nTry again.\n", "")
    proposal = world.propose(
        project,
        world.edit("long.md", LONG, shorter, "waiting"),
        world.edit("MEMORY.md", world.INDEX, world.INDEX + ROW, "waiting", "index"),
    )
    file = proposal.files.get(path="long.md")
    review.edit(proposal, file.hunks.get(), "Be patient.\n", world.ME)
    assert verdicts(proposal) == {"long.md": "edited", "MEMORY.md": "approved"}
    assert rebase.rebase(file, (LONG + "Wait a day.\n").encode()) == "rebased"
    assert verdicts(proposal) == {"long.md": "pending", "MEMORY.md": "pending"}
