"""Two people at once, an answer and a submit, an answer and a new dream: one wins, nothing is half done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

from dreams.models import Hunk, Operation, Project, Proposal, Question
from dreams.services import proposals, review
from dreams.services.apply import applying
from dreams.services.questions import answering, question_states
from dreams.services.review import ReviewRefused
from tests.world import asking, directory as world, engines
from tests.world.asking import ALPHA, RESET

pytestmark = pytest.mark.django_db(transaction=True)

ASK = asking.asks("project_deploy.md", ALPHA, "The API runs on host beta.")
ASK_RESET = asking.asks("feedback_testing.md", RESET, "Use make fresh before a run.")
FACT = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"


def together(*works: Callable[[], object]) -> list[object]:
    """What each gave or raised, all begun at once, each on a connection of its own."""
    gate = threading.Barrier(len(works))
    found: list[object] = [None] * len(works)

    def run(number: int, work: Callable[[], object]) -> None:
        try:
            gate.wait(10)
            found[number] = work()
        except Exception as error:
            found[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def answered(option: str) -> Callable[[], object]:
    return lambda: answering.answer(Question.objects.order_by("pk")[0], option, world.ME)


def test_of_two_answers_at_once_one_is_refused(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    found = together(answered("replace"), answered("replace"), answered("replace"))
    refused = [one for one in found if isinstance(one, ReviewRefused)]
    assert len(refused) == 2, found
    assert Operation.objects.count() == 1 and Hunk.objects.count() == 1
    assert asking.states(project) == ["waiting"]


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_answers_to_two_questions_at_once_share_one_proposal(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    first, second = Question.objects.order_by("pk")
    found = together(
        lambda: answering.answer(first, "replace", world.ME),
        lambda: answering.answer(second, "replace", world.ME),
    )
    assert not [one for one in found if isinstance(one, Exception)], found
    made = Proposal.objects.get(origin="answers")
    assert made.operations.count() == 2 and asking.states(project) == ["waiting", "waiting"]


def test_an_answer_beside_a_submit_is_written_or_waits_for_the_next(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK, act=engines.add("project_export.md", FACT))
    proposal = Proposal.of(run)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    found = together(answered("replace"), lambda: applying.apply(Proposal.of(run), world.ME))
    assert not [one for one in found if isinstance(one, Exception)], found
    question = Question.objects.get()
    target = question.operation.proposal
    if question.state == "waiting":
        assert (target.origin, target.state) == ("answers", "open")
        applying.apply(target, world.ME)
    assert "host beta" in (world.folder(project) / "project_deploy.md").read_text()
    assert Question.objects.get().state == "answered"


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_an_answer_taken_back_beside_a_submit_is_one_or_the_other(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    for question in Question.objects.all():
        made = answering.answer(question, "replace", world.ME).proposal
    together(
        lambda: answering.take_back(Question.objects.order_by("pk")[0], world.ME),
        lambda: applying.apply(Proposal.objects.get(pk=made.pk), world.ME),
    )
    question = Question.objects.order_by("pk")[0]
    written = "host beta" in (world.folder(project) / "project_deploy.md").read_text()
    assert (question.state, written) in {("open", False), ("answered", True)}


@pytest.mark.more
@pytest.mark.also_on_postgresql
def test_answers_survive_a_dream_that_supersedes_their_proposal(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    add = engines.add("project_export.md", FACT)
    run = asking.dream(project, monkeypatch, ASK, ASK_RESET, act=add)
    old = Proposal.of(run)
    answering.answer(Question.objects.order_by("pk")[0], "replace", world.ME)
    asking.dream(project, monkeypatch, ASK_RESET, act=add)
    old.refresh_from_db()
    question = Question.objects.order_by("pk")[0]
    assert (old.state, question.state) == ("superseded", "waiting")
    target = question.operation.proposal
    assert target.origin == "answers"
    assert Hunk.objects.get(operation=question.operation).decide_reason == "Answered: Replace it"
    new = proposals.open_dream_proposal(project)
    report = applying.apply_with_answers(new, world.ME)
    assert report.complete and "host beta" in (world.folder(project) / "project_deploy.md").read_text()
    # Of the new proposal nothing was decided: it is not closed by the write of an answer.
    new.refresh_from_db()
    assert new.state == "open" and "its review stays open" in " ".join(report.said)


def test_an_answer_that_is_taken_back_while_a_dream_supersedes_its_proposal_is_not_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    made = answering.answer(Question.objects.get(), "replace", world.ME).proposal
    assert made is not None
    lock = answering.lock_questions

    def late(*given: Project) -> None:
        monkeypatch.setattr(answering, "lock_questions", lock)
        answering.take_back(Question.objects.get(), world.ME)
        lock(*given)

    monkeypatch.setattr(answering, "lock_questions", late)
    assert answering.move_answers(made) == 0
    assert Question.objects.get().state == "open" and not Hunk.objects.filter(verdict="approved").exists()


@pytest.mark.also_on_postgresql
def test_an_answer_and_a_submit_that_leaves_changes_undecided_wait_for_each_other_in_one_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL would end one of two that wait for each other."""
    project = world.make_project(tmp_path)
    one, other = engines.add("project_export.md", FACT), engines.add("project_import.md", FACT)
    run = asking.dream(project, monkeypatch, ASK, act=lambda *given: [*one(*given), *other(*given)])
    proposal = Proposal.of(run)
    some = review.select_hunks(proposal, paths=["project_export.md"])
    review.decide(proposal, some, Hunk.Verdict.APPROVED, world.ME)
    is_closing, has_locked = threading.Event(), threading.Event()
    ended, lock = question_states.proposal_ended, answering.lock_questions

    def closing(closed: Proposal) -> None:
        ended(closed)
        is_closing.set()
        has_locked.wait(1)

    def locked(of: Project) -> None:
        is_closing.wait(10)
        lock(of)
        has_locked.set()

    monkeypatch.setattr(question_states, "proposal_ended", closing)
    monkeypatch.setattr(answering, "lock_questions", locked)
    found = together(answered("replace"), lambda: review.submit(Proposal.of(run), world.ME))
    assert not [one for one in found if isinstance(one, Exception)], found
