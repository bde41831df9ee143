"""An answer becomes a change that is decided: it joins the open proposal, waits for the submit, and can be undone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from unittest.mock import Mock

import pytest

from dreams.engines.types import KEEP, Option, Place, Question as Asked
from dreams.lib.refusal import Refusal
from dreams.models import AuditEntry, Blob, Evidence, Hunk, LedgerEntry, Proposal, Question
from dreams.services import blobs, proposals, review, rollback
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.questions import answering, asking as service, joining, options
from dreams.services.review import ReviewRefused, deciding
from tests.world import asking, directory as world, engines, questions
from tests.world.asking import ALPHA, RESET
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db

BETA = "The API runs on host beta."
ASK = asking.asks("project_deploy.md", ALPHA, BETA)
ASK_RESET = asking.asks("feedback_testing.md", RESET, "Use make fresh before a run.")
SNAPSHOTS = engines.rewrite("feedback_testing.md", "by hand", "by a person")


def read(project, path: str) -> str:
    return (world.folder(project) / path).read_text()


@pytest.mark.not_on_postgresql
def test_an_answer_joins_the_open_proposal_and_is_approved_there(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK, act=SNAPSHOTS)
    question = Question.objects.get()
    done = answering.answer(question, "replace", world.ME)
    proposal = Proposal.of(run)
    assert done.proposal == proposal and done.question.state == "waiting"
    hunk = Hunk.objects.get(operation=done.operations[0])
    assert (hunk.verdict, hunk.decided_by, hunk.decide_reason) == (
        "approved",
        "owner",
        "Answered: Replace it",
    )
    assert done.operations[0].kind == "update"
    assert Evidence.objects.filter(hunk=hunk, quote=ALPHA).exists()
    assert hunk.ledger.get().fate == "stated"
    assert AuditEntry.objects.filter(action="question.answered", object_id=question.public_id).exists()
    # Nothing is written before the submit, and the dream's own change is as undecided as before.
    assert ALPHA in read(project, "project_deploy.md")
    assert Hunk.objects.exclude(pk=hunk.pk).get().verdict == "pending"


@pytest.mark.not_on_postgresql
def test_an_answer_whose_text_a_disk_damaged_is_refused(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get()
    kept = Blob.objects.get(sha256=question.options.get(option_id="replace").edits[0]["after"])
    Blob.objects.filter(pk=kept.pk).update(data=bytes(kept.data).replace(b"beta", b"betb"))
    with pytest.raises(Refusal):
        answering.answer(question, "replace", world.ME)
    assert not Hunk.objects.exists()


@pytest.mark.not_on_postgresql
def test_an_answer_is_called_by_what_it_changes_not_by_what_was_asked(tmp_path: Path, monkeypatch) -> None:
    """ "Put it in the past tense" removes nothing, although "Remove it" would be another answer."""
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, asking.asks("project_deploy.md", ALPHA, BETA, kind="expired"))
    done = answering.answer(Question.objects.get(), "replace", world.ME)
    assert done.operations[0].kind == "update"


@pytest.mark.more
def test_an_answer_in_a_file_of_the_proposal_leaves_the_other_verdicts_alone(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK_RESET, act=SNAPSHOTS)
    proposal = Proposal.of(run)
    assert proposal is not None
    old = Hunk.objects.get()
    review.decide(proposal, [old], Hunk.Verdict.REJECTED, world.ME, reason="No.")
    done = answering.answer(Question.objects.get(), "replace", world.ME)
    assert done.proposal == proposal
    old.refresh_from_db()
    assert (old.verdict, old.decide_reason) == ("rejected", "No.")
    applying.apply(proposal, world.ME)
    text = read(project, "feedback_testing.md")
    assert "make fresh" in text and "by hand" in text
    assert Question.objects.get().state == "answered"


@pytest.mark.not_on_postgresql
def test_without_a_proposal_the_answer_waits_in_the_projects_answers(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK, ASK_RESET)
    assert Proposal.of(run) is None
    first, second = Question.objects.order_by("pk")
    one = answering.answer(first, "replace", world.ME)
    two = answering.answer(second, "replace", world.ME)
    assert one.proposal == two.proposal and one.proposal is not None
    assert (one.proposal.origin, one.proposal.state) == ("answers", "open")
    applying.apply(one.proposal, world.ME)
    assert BETA in read(project, "project_deploy.md") and "make fresh" in read(project, "feedback_testing.md")
    assert asking.states(project) == ["answered", "answered"]


@pytest.mark.not_on_postgresql
def test_leaving_it_as_it_is_answers_without_a_change(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    done = answering.answer(Question.objects.get(), "keep", world.ME)
    assert (done.operations, done.proposal, done.question.state) == ((), None, "answered")
    assert not Proposal.objects.exists()


@pytest.mark.more
def test_an_answer_taken_back_leaves_the_proposal_as_it_was(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK_RESET, ASK, act=SNAPSHOTS)
    proposal = Proposal.of(run)

    def rows() -> list[object]:
        files = proposal.files.values_list("path", "base_sha", "new_sha", "kind")
        return [*files, *Hunk.objects.values_list("pk", "hunk_id", "verdict", "new_start")]

    before = rows()
    for question in Question.objects.all():
        answering.answer(question, "replace", world.ME)
    assert rows() != before
    for question in Question.objects.all():
        assert answering.take_back(question, world.ME).state == "open"
    assert rows() == before
    assert not proposal.operations.filter(key__startswith="q").exists()


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_the_last_answer_taken_back_closes_the_projects_answers(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    made = answering.answer(Question.objects.get(), "replace", world.ME).proposal
    answering.take_back(Question.objects.get(), world.ME)
    made.refresh_from_db()
    assert made.state == "superseded"
    again = answering.answer(Question.objects.get(), "replace", world.ME)
    assert again.proposal != made and again.question.state == "waiting"


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_submit_of_answers_takes_none_in_and_gives_none_back(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, ASK_RESET)
    first, second = Question.objects.order_by("pk")
    made = answering.answer(first, "replace", world.ME).proposal
    assert made is not None
    with deciding.claimed(made):
        with pytest.raises(ReviewRefused, match="being submitted"):
            answering.answer(second, "replace", world.ME)
        with pytest.raises(ReviewRefused, match="being submitted"):
            answering.take_back(first, world.ME)
    assert made.operations.count() == 1
    assert answering.answer(second, "replace", world.ME).proposal == made
    assert answering.take_back(first, world.ME).state == "open"


def test_leave_as_it_is_and_not_now_can_be_taken_back(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    for option in ("keep", "later"):
        answering.answer(Question.objects.get(), option, world.ME)
        assert answering.take_back(Question.objects.get(), world.ME).state == "open"


@pytest.mark.not_on_postgresql
def test_an_answer_whose_change_was_rejected_is_asked_again(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    done = answering.answer(Question.objects.get(), "replace", world.ME)
    review.decide(done.proposal, review.select_hunks(done.proposal), Hunk.Verdict.REJECTED, world.ME)
    review.submit(done.proposal, world.ME)
    question = Question.objects.get()
    assert (question.state, question.answer, question.operation) == ("open", "", None)


@pytest.mark.not_on_postgresql
def test_an_answer_in_a_proposal_that_a_newer_one_replaced_is_asked_again(
    tmp_path: Path, monkeypatch
) -> None:
    asking.dream(world.make_project(tmp_path), monkeypatch, ASK)
    done = answering.answer(Question.objects.get(), "replace", world.ME)
    assert done.proposal is not None
    proposals.supersede(done.proposal, "owner")
    assert Question.objects.get().state == "open"


@pytest.mark.more
def test_an_undone_answer_is_asked_once_more_and_not_a_third_time(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    before = manifest(world.folder(project))
    for state in ("open", "answered"):
        done = answering.answer(Question.objects.get(), "replace", world.ME)
        applying.apply(done.proposal, world.ME)
        rollback.rollback(done.proposal, world.ME)
        assert Question.objects.get().state == state
    after = manifest(world.folder(project))
    assert {path: entry for path, entry in after.items() if path.endswith(".md")} == {
        path: entry for path, entry in before.items() if path.endswith(".md")
    }


def asked_beside(project, monkeypatch, *edits) -> tuple[Question, Proposal]:
    """An open question, and a dream's open proposal that came by another way and was not held against it."""
    asking.dream(project, monkeypatch, ASK)
    return Question.objects.get(), world.propose(project, *edits)


GAMMA = world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY.replace("alpha", "gamma"), "gamma")


@pytest.mark.not_on_postgresql
def test_an_answer_that_clashes_with_an_undecided_change_waits_in_the_projects_answers(
    tmp_path: Path, monkeypatch
) -> None:
    question, proposal = asked_beside(world.make_project(tmp_path), monkeypatch, GAMMA)
    done = answering.answer(question, "replace", world.ME)
    assert done.proposal is not None and done.proposal.origin == "answers"
    assert proposal.files.get().hunks.get().verdict == "pending"


@pytest.mark.not_on_postgresql
def test_an_answer_that_clashes_with_an_approved_change_stays_open(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    question, proposal = asked_beside(project, monkeypatch, GAMMA)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    with pytest.raises(ReviewRefused, match="Apply that first"):
        answering.answer(question, "replace", world.ME)
    assert asking.states(project) == ["open"]


@pytest.mark.not_on_postgresql
def test_two_answers_that_touch_the_same_lines_are_given_one_after_the_other(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    other = asking.asks("project_deploy.md", "host alpha", "the host alpha", subject="the", weight=0.4)
    asking.dream(project, monkeypatch, ASK, other)
    first, second = Question.objects.order_by("pk")
    answering.answer(first, "replace", world.ME)
    with pytest.raises(ReviewRefused, match="The question stays open"):
        answering.answer(second, "replace", world.ME)
    assert asking.states(project) == ["waiting", "open"]


@pytest.mark.not_on_postgresql
def test_what_the_dreams_own_changes_touch_is_not_asked(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    gamma = engines.rewrite("project_deploy.md", "host alpha", "host gamma")
    asking.dream(project, monkeypatch, ASK, ASK_RESET, act=gamma)
    asked = Question.objects.filter(asked=True)
    assert [row.places[0]["path"] for row in asked] == ["feedback_testing.md"]


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_question_held_back_by_the_dreams_change_is_asked_once_that_is_applied(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    longer = engines.rewrite("project_deploy.md", ALPHA, f"{ALPHA}  ")
    run = asking.dream(project, monkeypatch, ASK, act=longer)
    question = Question.objects.get()
    assert (question.state, question.asked) == ("later", False)
    proposal = Proposal.of(run)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    question.refresh_from_db()
    assert (question.state, question.asked) == ("open", True)


@pytest.mark.not_on_postgresql
def test_those_held_back_count_among_the_most_that_a_dream_asks(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    of_deploy = [
        asking.asks("project_deploy.md", ALPHA, f"Host {n}.", subject=f"host {n}", weight=0.9)
        for n in range(5)
    ]
    of_testing = [
        asking.asks("feedback_testing.md", RESET, f"Run {n}.", subject=f"run {n}", weight=0.4)
        for n in range(5)
    ]
    longer = engines.rewrite("project_deploy.md", ALPHA, f"{ALPHA}  ")
    proposal = Proposal.of(asking.dream(project, monkeypatch, *of_deploy, *of_testing, act=longer))
    asked = Question.objects.filter(asked=True)
    assert sorted(row.weight for row in asked) == [0.4, 0.4]
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    assert sorted(row.weight for row in asked.all()) == [0.4] * 2 + [0.9] * 5
    assert service.show_more(project) == 3, "the others wait behind “show more”"


@pytest.mark.not_on_postgresql
def test_a_question_held_back_is_still_held_back_once_its_folder_is_back(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK, act=engines.rewrite("project_deploy.md", ALPHA, f"{ALPHA}  "))
    folder = world.folder(project)
    away = folder.rename(folder.with_name("elsewhere"))
    syncing.refresh(project)
    away.rename(folder)
    syncing.refresh(project)
    question = Question.objects.get()
    assert (question.state, question.asked) == ("later", False), "its answers clash with what is proposed"


@pytest.mark.more
def test_a_question_held_back_is_asked_by_the_next_dream_where_the_change_was_rejected(
    tmp_path: Path, monkeypatch
) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK, act=engines.rewrite("project_deploy.md", "alpha", "gamma"))
    proposal = Proposal.of(run)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    review.submit(proposal, world.ME)
    asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get()
    assert (question.state, question.asked) == ("open", True)


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_the_answer_explains_the_lines_that_the_question_showed(tmp_path: Path, monkeypatch) -> None:
    """Nothing else says where they went, and the person saw them; a line that was not shown still has to be confirmed."""
    listed = world.TESTING.replace("Snapshots", "- Snapshots")
    project = world.make_project(tmp_path, {"MEMORY.md": world.INDEX, "feedback_testing.md": listed})

    def ask(*shown: str):
        def made(job):
            edit = asking.changes("feedback_testing.md", "\n- Snapshots are reviewed by hand.\n", "")(job)
            places = tuple(Place("feedback_testing.md", 11, text) for text in shown)
            bare = dataclasses.replace(edit, fates=())
            return Asked(
                "derived", shown[0], "The code says it.", places, (Option("remove", "Remove it", (bare,)),)
            )

        return made

    asking.dream(project, monkeypatch, ask(RESET), ask("Snapshots are reviewed by hand."))
    unseen, seen = Question.objects.order_by("pk")
    with pytest.raises(answering.NeedsConfirmation):
        answering.answer(unseen, "remove", world.ME)
    done = answering.answer(seen, "remove", world.ME)
    (entry,) = LedgerEntry.objects.filter(hunk__operation=done.operations[0])
    assert (entry.fate, entry.note) == ("stated", "Answered: Remove it")


def test_a_question_whose_file_changed_at_its_place_is_outdated(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    path = world.folder(project) / "project_deploy.md"
    path.write_text(path.read_text().replace("alpha", "delta"))
    with pytest.raises(ReviewRefused, match="no longer open: outdated"):
        answering.answer(Question.objects.get(), "replace", world.ME)
    assert Question.objects.get().state == "outdated"
    assert "delta" in path.read_text()


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (options.DoesNotFit(["a.md"]), "a.md has since changed in the same place"),
        (joining.NothingToDo(), "the memories already say this"),
        (blobs.MissingBlob("0" * 64), "the text of this answer is no longer stored"),
    ],
)
def test_an_answer_that_fits_no_longer_outdates_its_question_and_says_why(
    tmp_path: Path, monkeypatch, problem: Exception, why: str
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    monkeypatch.setattr(answering.options, "edits_of", Mock(side_effect=problem))
    with pytest.raises(ReviewRefused, match=f"outdated: {why}\\."):
        answering.answer(Question.objects.get(), "replace", world.ME)
    assert Question.objects.get().state == "outdated"
    (world.folder(project) / "project_new.md").write_text("New since.\n")
    syncing.refresh(project)
    assert Question.objects.get().state == "outdated"  # although its own file is as the dream saw it


@pytest.mark.parametrize("now", ["Staging is gone.", ""])
def test_an_answer_that_keeps_a_statement_removes_no_other_once_that_is_gone(
    tmp_path: Path, now: str
) -> None:
    project = questions.make_project(tmp_path)
    kept, other = ("project_deploys.md", questions.STAGING), ("reference_staging.md", questions.STAGING_TOO)
    removal = questions.edit(other[0], f"{other[1]}\n", "", explained=False)
    places = (questions.place(*kept), questions.place(*other))
    merge = Asked(
        "same", "staging", "Both say the same.", places, (Option("merge", "Keep it", (removal,)), KEEP)
    )
    [question] = questions.ask(project, merge)
    done = answering.answer(question, "merge", world.ME)
    assert done.proposal and not review.blocking_findings(done.proposal)
    path = world.folder(project) / kept[0]
    path.write_text(path.read_text().replace(kept[1], now))
    with pytest.raises(review.BlockingFinding, match=r"reference_staging\.md has an open finding"):
        applying.apply(done.proposal, world.ME)
    assert other[1] in read(project, other[0])
    answering.take_back(done.question, world.ME)
    assert not Hunk.objects.exists()


@pytest.mark.more
def test_an_answer_with_a_blocking_finding_asks_for_a_confirmation_first(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    secret = "ghp_" + "A1b2C3d4" * 4 + "A1b2"
    ask = asking.asks("project_deploy.md", ALPHA, f"The token is {secret}.")
    asking.dream(project, monkeypatch, ask)
    question = Question.objects.get()
    with pytest.raises(answering.NeedsConfirmation) as refused:
        answering.answer(question, "replace", world.ME)
    assert refused.value.findings
    question.refresh_from_db()
    assert question.state == "open" and not Proposal.objects.exists()
    done = answering.answer(question, "replace", world.ME, confirm=True)
    confirmed = done.proposal.findings.filter(severity="block")
    assert confirmed and all(found.confirmed_by == "owner" for found in confirmed)
    assert applying.apply(done.proposal, world.ME).complete


def test_an_unknown_option_names_those_there_are(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    with pytest.raises(ReviewRefused, match="replace, keep, later"):
        answering.answer(Question.objects.get(), "merge", world.ME)


@pytest.mark.not_on_postgresql
def test_apply_of_a_dream_writes_the_answers_too(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    fact = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
    run = asking.dream(project, monkeypatch, ASK, act=engines.add("project_export.md", fact))
    proposal = Proposal.of(run)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    answering.answer(Question.objects.get(), "replace", world.ME)
    report = applying.apply_with_answers(proposal, world.ME)
    assert report.complete and [item.path for item in report.applied] == ["project_deploy.md"]
    assert BETA in read(project, "project_deploy.md")


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_approving_or_rejecting_everything_leaves_answers_alone(tmp_path: Path, monkeypatch) -> None:
    project = world.make_project(tmp_path)
    run = asking.dream(project, monkeypatch, ASK, act=SNAPSHOTS)
    proposal = Proposal.of(run)
    done = answering.answer(Question.objects.get(), "replace", world.ME)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    assert Hunk.objects.get(operation=done.operations[0]).decide_reason == "Answered: Replace it"
    applying.apply(proposal, world.ME)
    assert BETA in read(project, "project_deploy.md") and "by hand" in read(project, "feedback_testing.md")
