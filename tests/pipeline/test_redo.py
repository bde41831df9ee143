"""What was undone can be redone, and undone again: the undo of the undo brings the first one back to how it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreams.models import Hunk, LeftOut, Proposal
from dreams.services import rollback
from dreams.services.apply import applying
from dreams.services.rollback import Selection
from tests.world import directory as world

pytestmark = pytest.mark.django_db


@pytest.fixture
def written(tmp_path: Path) -> Proposal:
    made = world.all_approved(tmp_path)
    assert applying.apply(made, world.ME).complete
    return made


def _undo(proposal: Proposal, **how: object) -> Proposal:
    report = rollback.rollback(proposal, world.ME, **how)  # type: ignore[arg-type] # keywords of rollback
    assert report.complete
    return Proposal.objects.get(public_id=report.proposal)


def _texts(proposal: Proposal) -> dict[str, str]:
    return {path.name: path.read_text() for path in world.folder(proposal.project).iterdir()}


def _standing(proposal: Proposal) -> int:
    return Hunk.objects.filter(
        file__proposal=proposal, applied_in__isnull=False, undone_in__isnull=True
    ).count()


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_redone_it_counts_as_written_again_and_can_be_undone_again(written: Proposal) -> None:
    after, count = _texts(written), _standing(written)
    undo = _undo(written)
    before = _texts(written)
    assert _standing(written) == 0
    _undo(undo)
    assert _texts(written) == after and _standing(written) == count
    assert written.applications.filter(undone_at__isnull=True).exists()
    again = _undo(written)
    assert _texts(written) == before
    _undo(again)
    assert _texts(written) == after and _standing(written) == count


@pytest.mark.not_on_postgresql
def test_one_change_is_undone_and_redone(written: Proposal) -> None:
    after, count = _texts(written), _standing(written)
    hunk = Hunk.objects.filter(file__proposal=written, file__path="feedback_testing.md").first()
    assert hunk
    undo = _undo(written, selection=Selection(hunk_ids=(hunk.hunk_id,)))
    assert _standing(written) == count - 1
    _undo(undo)
    assert _texts(written) == after and _standing(written) == count


def test_of_an_undo_that_is_redone_in_part_those_changes_count_as_written_again(written: Proposal) -> None:
    after = _texts(written)
    undo = _undo(written)
    hunk = Hunk.objects.filter(file__proposal=undo, file__path="feedback_testing.md").first()
    assert hunk
    part = _undo(undo, selection=Selection(hunk_ids=(hunk.hunk_id,)))
    assert _texts(written)["feedback_testing.md"] == after["feedback_testing.md"] and _standing(written) == 2
    assert written.applications.filter(undone_at__isnull=True).exists()
    _undo(part)
    assert _standing(written) == 0
    part = _undo(undo, selection=Selection(hunk_ids=(hunk.hunk_id,)))
    _undo(undo)
    assert _texts(written) == after and _standing(written) == 4
    _undo(part)
    assert _standing(written) == 2 and _texts(written)["MEMORY.md"] == after["MEMORY.md"]


def test_a_redo_that_is_undone_after_another_undo_says_nothing_of_what_that_one_holds(
    written: Proposal,
) -> None:
    after, count = _texts(written), _standing(written)
    undo = _undo(written)
    redo = _undo(undo)
    second = _undo(written)
    _undo(redo)  # nothing to write: the second undo has restored all of it
    assert _standing(written) == 0
    with pytest.raises(rollback.AlreadyUndone):
        _undo(undo)
    _undo(second)
    assert _texts(written) == after and _standing(written) == count


@pytest.mark.not_on_postgresql
def test_what_was_never_to_be_proposed_again_may_be_once_it_is_redone(written: Proposal) -> None:
    undo = _undo(written, never_again=True)
    assert LeftOut.objects.filter(proposal=written).exists()
    _undo(undo)
    assert not LeftOut.objects.filter(proposal=written).exists()
