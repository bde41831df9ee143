"""What a dream, a proposal, an application and an undo did, in a sentence; many cost no more queries than few."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import AppliedBatch, DreamRun, Hunk, Operation, Proposal, Question
from dreams.services.proposals import summaries
from tests.world import rows as make

pytestmark = pytest.mark.django_db


def test_a_dream_is_told_by_what_its_policy_applied_and_what_a_person_decides() -> None:
    run = make.make_dream(make.make_project())
    make.make_written(make.make_proposal(run.project, run, by_policy=True))
    assert summaries.of_dream(run).text == "Updated 1 statement"
    waiting = make.make_proposal(run.project, run)
    told = summaries.of_dream(run)
    assert told.text == "Updated 1 statement; 1 to decide"
    assert told.size == "2 decisions in 2 files"
    Hunk.objects.filter(file__proposal=waiting).update(verdict=Hunk.Verdict.REJECTED)
    Proposal.objects.filter(pk=waiting.pk).update(state=Proposal.State.REJECTED)
    assert summaries.of_dream(run).text == "Updated 1 statement; 1 rejected"


def test_each_of_several_dreams_is_told_by_its_own_proposal() -> None:
    project = make.make_project()
    runs = [make.make_dream(project) for _ in range(3)]
    for run in runs[:2]:
        make.make_proposal(project, run, by_policy=True)
    told = summaries.of_dreams(runs)
    assert [told[run.pk] for run in runs] == [summaries.of_dream(run) for run in runs]
    assert told[runs[1].pk].text != told[runs[2].pk].text == "Nothing to improve"


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (DreamRun.Status.PENDING, "Waiting for a free worker"),
        (DreamRun.Status.COMPLETED, "Nothing to improve"),
        (DreamRun.Status.FAILED, "Failed: The disk is full."),
        (DreamRun.Status.KILLED, "Cancelled; nothing was changed"),
    ],
)
def test_a_dream_without_a_proposal_says_why_there_is_none(status: str, line: str) -> None:
    fields = {"started_at": None} if status == DreamRun.Status.PENDING else {}
    run = make.make_dream(make.make_project(), status, error="The disk is full.", **fields)
    assert summaries.of_dream(run).line == line


def test_a_dream_that_only_asks_is_not_told_as_one_that_found_nothing() -> None:
    run = make.make_dream(make.make_project())
    for subject in ("one", "two"):
        Question.objects.create(
            project=run.project, dream=run, kind="same", subject=subject, why="?", asked=True
        )
    told = summaries.of_dream(run)
    assert (told.text, told.tone) == ("Nothing certain to improve; 2 open questions", "accent")
    Question.objects.update(state=Question.State.ANSWERED)
    told = summaries.of_dream(run)
    assert (told.text, told.tone) == ("Nothing certain to improve; 2 questions answered", "ok")
    Question.objects.update(state=Question.State.OUTDATED)
    assert summaries.of_dream(run).text == "Nothing to improve"


def test_unfinished_work_that_was_proposed_is_told_as_unfinished() -> None:
    run = make.make_dream(make.make_project(), DreamRun.Status.KILLED)
    make.make_proposal(run.project, run, partial=True)
    assert summaries.of_dream(run).text == "Cancelled; of the finished part: proposes to update 1 statement"


@pytest.mark.parametrize(
    ("state", "verdict", "text"),
    [
        ("submitted", "approved", "Approved 1 of 1, not written yet"),
        ("rejected", "rejected", "Nothing was written; 1 rejected"),
        ("superseded", "pending", "Replaced by a newer proposal; 1 left undecided"),
    ],
)
def test_a_proposal_of_which_nothing_is_written_says_what_became_of_it(
    state: str, verdict: str, text: str
) -> None:
    made = make.make_proposal(make.make_project(), state=state)
    Hunk.objects.update(verdict=verdict)
    assert summaries.of_proposal(made).text == text


def test_each_kind_of_change_has_its_verb() -> None:
    made = make.make_proposal(make.make_project())
    operation = Operation.objects.get()
    told = set()
    for kind in Operation.Kind:
        Operation.objects.filter(pk=operation.pk).update(kind=kind)
        told.add(summaries.of_proposal(made).text)
    assert len(told) == len(Operation.Kind) and not any("other change" in text for text in told)


def test_an_undo_that_was_undone_is_a_redo() -> None:
    project = make.make_project()
    made = make.make_proposal(project, make.make_dream(project))
    make.make_memory(project)
    written = make.make_written(made)
    undo = make.make_proposal(project, origin="rollback", undoes=made, summary="Undo of it.")
    undone = make.make_written(undo)
    Hunk.objects.filter(applied_in=written).update(undone_in=undone)
    redo = make.make_proposal(project, origin="rollback", undoes=undo, summary="Undo of it.")
    redone = make.make_written(redo)
    told = summaries.of_applications([undone, redone])
    assert told[undone.pk].text == "Undid 1 decision: “Testing”"
    assert told[redone.pk].text == "Redid changes to “Testing”"
    assert told[redone.pk].reason == "", "nobody gave one"


def test_an_undo_that_was_taken_back_says_so_in_plain_words() -> None:
    project = make.make_project()
    make.make_memory(project)
    made = make.make_proposal(project, make.make_dream(project))
    make.make_written(made)
    undo = make.make_proposal(project, origin="rollback", undoes=made, summary="Undo of it.")
    undone = make.make_written(undo)
    redo = make.make_proposal(project, origin="rollback", undoes=undo, summary="Undo of it.")
    redone = make.make_written(redo)
    AppliedBatch.objects.update(undone_at=timezone.now())
    told = summaries.of_applications(AppliedBatch.objects.select_related("proposal"))
    assert told[undone.pk].text == "Undid changes to “Testing”; redone since"
    assert told[redone.pk].text == "Redid changes to “Testing”; undone since"


@pytest.mark.more
def test_many_cost_no_more_queries_than_few() -> None:
    def cost() -> list[int]:
        rows = list(AppliedBatch.objects.select_related("proposal"))
        found = []
        for told in (
            lambda: summaries.of_dreams(list(DreamRun.objects.all())),
            lambda: summaries.of_proposals(list(Proposal.objects.all())),
            lambda: summaries.of_applications(rows),
        ):
            with CaptureQueriesContext(connection) as queries:
                told()
            found.append(len(queries))
        return found

    def more(count: int) -> None:
        for number in range(count):
            project = make.make_project(f"project-{number}")
            make.make_memory(project)
            make.make_written(make.make_proposal(project, make.make_dream(project)))

    more(2)
    few = cost()
    more(20)
    assert cost() == few
