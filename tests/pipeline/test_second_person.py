"""Where a project asks for it, what a team shares is written when a second person has approved the same; an undo needs one."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.engines.types import Edit, Option, Place, Question
from dreams.lib.diff.merge import Edited
from dreams.management.base import BadUsage, Refused
from dreams.models import AuditEntry, Card, FileChange, Hunk, Project, Proposal
from dreams.services import audit_sentences, login, people, review, rollback, settings_changes
from dreams.services.apply import applying
from dreams.services.inbox import waiting
from dreams.services.memories import hand_edits
from dreams.services.notify import digest
from dreams.services.people import Role
from dreams.services.proposals import rebase
from dreams.services.questions import answering
from dreams.services.review import Actor, ReviewRefused
from dreams.services.scheduling import scheduler
from dreams.web.tags import desk
from tests.pipeline.test_team_memory import DATED, RELEASE
from tests.world import directory as world, questions as asked, rows as make
from tests.world.kept import Keep, Kept

pytestmark = pytest.mark.django_db

ANNA, BEA = Actor("anna"), Actor("bea")
DEPLOYED = world.DEPLOY + "\nIt takes a minute.\n"


def with_reviewers(folder: Path) -> Project:
    for name in ("anna", "bea"):
        people.add(name, Role.REVIEWER, Actor("owner"))
    files = {"MEMORY.md": world.INDEX, "project_deploy.md": world.DEPLOY, "team/releases.md": RELEASE}
    made = world.make_project(folder, files)
    settings_changes.set_override("team_second_person", True, actor="owner", project=made)
    return made


def with_a_change_for_the_team(folder: Path) -> Proposal:
    made = world.propose(
        with_reviewers(folder),
        world.edit("project_deploy.md", world.DEPLOY, DEPLOYED, "a"),
        world.edit("team/releases.md", RELEASE, DATED, "b"),
    )
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), Actor("owner"))
    return made


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(with_a_change_for_the_team)


@pytest.fixture
def proposal(made: Kept[Proposal], db: None) -> Proposal:
    """One change of the person's own memory, and one of the team's."""
    return made.anew()


@pytest.fixture
def project(proposal: Proposal) -> Project:
    """The same without a proposal."""
    project = proposal.project
    proposal.delete()
    return project


def approved(proposal: Proposal, by: Actor = ANNA) -> applying.ApplyReport:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, by)
    report = applying.apply(proposal, by)
    proposal.refresh_from_db()
    return report


def seen(proposal: Proposal) -> str:
    return review.second_person_waits([proposal])[proposal.pk].seen


def on_disk(proposal: Proposal, path: str = "team/releases.md") -> str:
    return (world.folder(proposal.project) / path).read_text()


def logged_in(name: str) -> Client:
    client = Client()
    client.force_login(people.find(name))
    return client


def solve(file: FileChange, by: Actor, choices: Mapping[str, str]) -> None:
    """On its page, which then shows what must be confirmed."""
    page = reverse("conflict", args=[file.proposal.public_id, file.pk])
    answer = logged_in(by.name).post(page, {"state": rebase.conflict_state(file), **choices})
    assert answer.status_code == 303


@pytest.mark.more
def test_the_persons_own_memory_is_written_and_the_teams_waits(proposal: Proposal) -> None:
    report = approved(proposal)
    assert [item.path for item in report.applied] == ["project_deploy.md"]
    assert [(item.path, item.why) for item in report.conflicts] == [
        ("team/releases.md", "a second person must approve it")
    ]
    assert proposal.state == Proposal.State.SUBMITTED
    assert on_disk(proposal) == RELEASE and on_disk(proposal, "project_deploy.md") == DEPLOYED
    assert applying.apply(proposal, ANNA).conflicts, "asking once more changes nothing"
    assert on_disk(proposal) == RELEASE


@pytest.mark.more
def test_without_the_setting_one_person_is_enough(proposal: Proposal) -> None:
    settings_changes.reset_override("team_second_person", actor="owner", project=proposal.project)
    assert approved(proposal).complete
    assert on_disk(proposal) == DATED


@pytest.mark.more
def test_what_a_second_person_approves_is_written(proposal: Proposal) -> None:
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    assert applying.apply(proposal, BEA).complete
    assert on_disk(proposal) == DATED
    assert Hunk.objects.get(file__path="team/releases.md").seconded_by == "bea"
    rows = list(AuditEntry.objects.filter(action="review.seconded"))
    [sentence] = [audit_sentences.Sentences.of(rows).sentence(row) for row in rows]
    # Of the proposal's two memories only the one that waited.
    assert sentence == "Bea approved changes to “Releases” in app as the second person."


@pytest.mark.more
def test_the_same_person_cannot_be_both(proposal: Proposal) -> None:
    approved(proposal)
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(proposal, seen(proposal), ANNA)
    assert on_disk(proposal) == RELEASE


@pytest.mark.more
def test_whoever_solved_a_conflict_wrote_the_text_and_is_not_its_second_person(proposal: Proposal) -> None:
    approved(proposal)
    there = world.folder(proposal.project) / "team/releases.md"
    there.write_text(RELEASE.replace(RELEASE.splitlines()[-1], "Releases are cut by hand."))
    applying.apply(proposal, ANNA)
    file = proposal.files.get(path="team/releases.md")
    solve(file, BEA, {"choice-0": "edit", "text-0": "Releases are cut by Bea."})
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(proposal, seen(proposal), BEA)
    review.approve_as_second(proposal, seen(proposal), ANNA)
    review.confirm(proposal, review.blocking_findings(proposal), ANNA)
    assert applying.apply(proposal, ANNA).complete
    assert "cut by Bea" in on_disk(proposal)


def test_two_are_enough_where_the_second_has_solved_a_conflict_of_another_file(project: Project) -> None:
    row = "- [Tags](team/tags.md) — {}\n"
    made = world.propose(
        project,
        world.edit("team/tags.md", None, DATED, "n", "learn"),
        world.edit("MEMORY.md", world.INDEX, world.INDEX + row.format("one for each release"), "n", "index"),
    )
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), ANNA)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ANNA)
    (world.folder(project) / "MEMORY.md").write_text(world.INDEX + row.format("signed, never moved"))
    applying.apply(made, ANNA)
    index = made.files.get(path="MEMORY.md")
    solve(index, BEA, {"choice-0": "theirs"})
    made.refresh_from_db()
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(made, seen(made), ANNA)
    review.approve_as_second(made, seen(made), BEA)
    review.confirm(made, review.blocking_findings(made), BEA)
    assert applying.apply(made, BEA).complete
    assert on_disk(made, "team/tags.md") == DATED and "one for each" in on_disk(made, "MEMORY.md")
    assert made.submitted_by == "anna"


@pytest.mark.more
@pytest.mark.parametrize("first", ["anna", "bea"])
def test_of_two_files_each_person_approves_the_one_that_the_other_decided(
    project: Project, first: str
) -> None:
    """Anna decided and submitted both; Bea solved the conflict of one."""
    (world.folder(project) / "team/days.md").write_text(RELEASE)
    made = world.propose(
        project,
        world.edit("team/releases.md", RELEASE, DATED, "a"),
        world.edit("team/days.md", RELEASE, DATED, "b"),
    )
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), ANNA)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, ANNA)
    there = world.folder(project) / "team/releases.md"
    there.write_text(RELEASE.replace(RELEASE.splitlines()[-1], "Releases are cut by hand."))
    applying.apply(made, ANNA)
    solve(made.files.get(path="team/releases.md"), BEA, {"choice-0": "theirs"})
    made.refresh_from_db()
    may = {"anna": "team/releases.md", "bea": "team/days.md"}
    for name in (first, *(set(may) - {first})):
        left = review.second_person_waits([made])[made.pk]
        assert name not in left.excluded
        review.approve_as_second(made, left.seen, Actor(name))
        review.confirm(made, review.blocking_findings(made), Actor(name))
        report = applying.apply(made, Actor(name))
        assert [item.path for item in report.applied] == [may[name]]
    assert on_disk(made) == on_disk(made, "team/days.md") == DATED


def test_the_owner_approves_what_another_solved_after_their_command(proposal: Proposal) -> None:
    approved(proposal, Actor("sam", by_command=True))
    there = world.folder(proposal.project) / "team/releases.md"
    there.write_text(RELEASE.replace(RELEASE.splitlines()[-1], "Releases are cut by hand."))
    applying.apply(proposal, ANNA)
    review.solve_conflict(proposal.files.get(path="team/releases.md"), {0: "theirs"}, ANNA)
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(proposal, seen(proposal), ANNA)
    review.approve_as_second(proposal, seen(proposal), Actor("owner"))


def test_whoever_only_submitted_has_decided_nothing_and_may_be_the_second(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, ANNA)
    applying.apply(proposal, BEA)
    proposal.refresh_from_db()
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(proposal, seen(proposal), ANNA)
    review.approve_as_second(proposal, seen(proposal), BEA)


@pytest.mark.more
def test_of_one_file_that_two_decided_each_approves_the_part_of_the_other(project: Project) -> None:
    words = RELEASE + "\n".join(f"Line {number}." for number in range(9)) + "\nTags are signed.\n"
    (world.folder(project) / "team/releases.md").write_text(words)
    new = words.replace("yesterday", "on 2026-10-01"), words.replace("Tags are", "All tags are")
    both = new[0].replace("Tags are", "All tags are")
    made = world.propose(
        project,
        world.edit("team/releases.md", words, new[0], "a"),
        world.edit("team/releases.md", new[0], both, "b"),
    )
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), ANNA)
    for hunk, one in zip(review.select_hunks(made), (ANNA, BEA), strict=True):
        review.decide(made, [hunk], Hunk.Verdict.APPROVED, one)
    applying.apply(made, ANNA)
    made.refresh_from_db()
    text = logged_in("bea").get(reverse("review", args=[made.public_id])).content.decode()
    assert "anna approved changes to what your team shares" in " ".join(text.split())
    assert "Your own changes to team/releases.md need someone else." in " ".join(text.split())
    for one in (BEA, ANNA):
        assert on_disk(made) == words
        review.approve_as_second(made, seen(made), one)
        applying.apply(made, one)
    assert on_disk(made) == both


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_where_two_decided_parts_that_became_one_whoever_confirms_it_is_not_its_second(
    project: Project,
) -> None:
    """Nobody had approved the part of the other."""
    old = [f"Line {number} says what it says.\n" for number in range(9)]
    lines = "".join(old)
    first = lines.replace(old[0], "Cranes nest in April.\n")
    both = first.replace(old[4], "Nobody signs the tags.\n")
    path = world.folder(project) / "team/releases.md"
    path.write_text(lines)
    name = "team/releases.md"
    made = world.propose(project, world.edit(name, lines, first, "a"), world.edit(name, first, both, "b"))
    for hunk, one in zip(review.select_hunks(made), (ANNA, BEA), strict=True):
        review.decide(made, [hunk], Hunk.Verdict.APPROVED, one)
    review.confirm(made, review.blocking_findings(made), ANNA)
    review.submit(made, ANNA)
    path.write_text("".join([old[0], *old[4:]]))
    assert not applying.apply(made, ANNA).complete
    [_] = review.select_hunks(made)
    review.confirm(made, review.blocking_findings(made), ANNA)
    review.approve_as_second(made, seen(made), BEA)
    applying.apply(made, BEA, rebased=True)
    assert "Cranes" not in path.read_text()  # Bea confirmed the whole, and Anna has not approved it
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(made, seen(made), BEA)
    review.approve_as_second(made, seen(made), ANNA)
    assert applying.apply(made, ANNA).complete
    assert path.read_text().startswith("Cranes nest in April.\nNobody signs the tags.\n")


def test_of_many_files_that_two_decided_the_page_tells_each_the_number_of_their_own() -> None:
    parts = [
        Hunk(pk=number, file=FileChange(pk=number // 2, path=f"team/{number // 2}.md")) for number in range(8)
    ]
    by = {part.pk: ("anna", "bea")[part.pk % 2] for part in parts}
    wait = review.SecondWait(tuple(parts), by, {pk: frozenset({name}) for pk, name in by.items()})
    assert desk.seen_by(wait, "anna")["own"] == "4 files"
    few = review.SecondWait(wait.hunks[:4], wait.decided_by, wait.not_by)
    assert desk.seen_by(few, "anna")["own"] == "team/0.md and team/1.md"


def test_who_decides_by_command_is_the_owner(proposal: Proposal) -> None:
    approved(proposal, Actor("sam", by_command=True))
    with pytest.raises(ReviewRefused, match="Someone else"):
        review.approve_as_second(proposal, seen(proposal), Actor("owner"))
    assert review.second_person_waits([proposal])[proposal.pk].names == "sam"
    review.approve_as_second(proposal, seen(proposal), ANNA)


@pytest.mark.not_on_postgresql
def test_an_approval_is_of_one_state_and_another_state_asks_again(proposal: Proposal) -> None:
    approved(proposal)
    before = seen(proposal)
    review.approve_as_second(proposal, before, BEA)
    (world.folder(proposal.project) / "team/releases.md").write_text(RELEASE + "\nAdded meanwhile.\n")
    report = applying.apply(proposal, BEA)
    assert not report.applied and "team/releases.md" in {item.path for item in report.conflicts}
    assert not applying.apply(proposal, BEA, rebased=True).applied
    with pytest.raises(ReviewRefused, match="changed since"):
        review.approve_as_second(proposal, before, BEA)
    review.approve_as_second(proposal, seen(proposal), BEA)
    assert applying.apply(proposal, BEA, rebased=True).complete
    assert on_disk(proposal) == DATED + "\nAdded meanwhile.\n"


@pytest.mark.more
def test_a_second_person_may_reject_and_the_rest_stays_written(proposal: Proposal) -> None:
    approved(proposal)
    review.reject_as_second(proposal, seen(proposal), BEA, "Not so.")
    assert proposal.state == Proposal.State.APPLIED
    assert on_disk(proposal) == RELEASE and on_disk(proposal, "project_deploy.md") == DEPLOYED
    assert Hunk.objects.get(file__path="team/releases.md").verdict == Hunk.Verdict.REJECTED
    [row] = AuditEntry.objects.filter(action="review.second_refused")
    sentence = audit_sentences.Sentences.of([row]).sentence(row)
    assert sentence.startswith("Bea rejected changes to “Releases” in app that waited")


def test_an_answer_that_a_second_person_rejected_is_asked_again(project: Project) -> None:
    change = Edit("team/releases.md", RELEASE, DATED, "answer", "update", "It was then.")
    option = Option("replace", "Write the day", (change,))
    place = Place("team/releases.md", 7, "We moved to tags yesterday.")
    [question] = asked.ask(project, Question("changed", "tags", "When?", (place,), (option,)))
    answering.answer(question, "replace", ANNA, confirm=True)
    answers = project.proposals.get()
    applying.apply(answers, ANNA)
    answers.refresh_from_db()
    question.refresh_from_db()
    assert question.state == "answered"
    review.reject_as_second(answers, seen(answers), BEA)
    question.refresh_from_db()
    assert (question.state, answers.state) == ("open", "rejected")


def test_a_card_that_a_second_person_rejected_is_rejected(project: Project) -> None:
    made = world.propose(project, world.edit("team/releases.md", RELEASE, DATED, "caught"))
    Proposal.objects.filter(pk=made.pk).update(origin=Proposal.Origin.CAUGHT)
    made.refresh_from_db()
    card = Card.objects.create(
        project=project,
        proposal=made,
        operation=made.operations.get(),
        key="k",
        said=DATED,
        text=DATED,
        state="open",
    )
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), Actor("owner"))
    approved(made)
    card.refresh_from_db()
    assert (card.state, card.decided_by) == ("approved", "anna")
    review.reject_as_second(made, seen(made), BEA)
    card.refresh_from_db()
    assert (card.state, card.decided_by) == ("rejected", "bea")


def test_whoever_approved_can_withdraw(proposal: Proposal) -> None:
    own = review.select_hunks(proposal, paths=["project_deploy.md"])
    review.decide(proposal, own, Hunk.Verdict.REJECTED, ANNA)
    review.decide(
        proposal, review.select_hunks(proposal, paths=["team/releases.md"]), Hunk.Verdict.APPROVED, ANNA
    )
    applying.apply(proposal, ANNA)
    proposal.refresh_from_db()
    review.reject_as_second(proposal, seen(proposal), ANNA)
    assert proposal.state == Proposal.State.REJECTED


def test_what_a_second_person_rejected_is_not_told_as_the_firsts(project: Project) -> None:
    made = world.propose(project, world.edit("team/releases.md", RELEASE, DATED, "b"))
    review.confirm(made, review.blocking_findings(made, review.select_hunks(made)), Actor("owner"))
    approved(made)
    review.reject_as_second(made, seen(made), BEA)
    text = " ".join(logged_in("anna").get(reverse("review", args=[made.public_id])).content.decode().split())
    assert ", submitted by anna.</b>" in text and "by bea" in text


@pytest.mark.more
def test_an_edit_by_hand_waits_too(project: Project) -> None:
    memory = project.memories.get(path="team/releases.md")
    report = hand_edits.edit(memory, DATED, memory.sha256, ANNA)
    assert not report.applied
    assert (world.folder(project) / "team/releases.md").read_text() == RELEASE


@pytest.mark.more
def test_an_undo_needs_one_person(proposal: Proposal) -> None:
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    applying.apply(proposal, BEA)
    assert rollback.rollback(proposal, ANNA).complete
    assert on_disk(proposal) == RELEASE


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_an_undo_that_was_looked_at_first_needs_one_person_too(proposal: Proposal) -> None:
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    applying.apply(proposal, BEA)
    undo = rollback.propose(proposal, ANNA, rollback.Selection())
    assert applying.apply(undo, ANNA).complete
    assert on_disk(proposal) == RELEASE


def test_an_undo_in_a_persons_own_words_needs_two(proposal: Proposal) -> None:
    """What it writes was never there, so nobody else has approved it."""
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    applying.apply(proposal, BEA)
    (world.folder(proposal.project) / "project_deploy.md").write_text(DEPLOYED.replace("minute", "while"))
    undo = rollback.propose(proposal, ANNA, rollback.Selection())
    review.solve_conflict(undo.files.get(path="project_deploy.md"), {0: "theirs"}, ANNA)
    hunk = Hunk.objects.get(file__proposal=undo, file__path="team/releases.md")
    review.edit(undo, hunk, "Releases are cut by Anna.", ANNA)
    review.confirm(undo, review.blocking_findings(undo), ANNA)
    assert "team/releases.md" in [item.path for item in applying.apply(undo, ANNA).conflicts]
    assert "Anna" not in on_disk(undo)
    review.approve_as_second(undo, seen(undo), BEA)
    applying.apply(undo, BEA)
    assert "cut by Anna" in on_disk(undo)


@pytest.mark.more
def test_an_undo_whose_conflict_was_solved_in_a_persons_own_words_needs_two(proposal: Proposal) -> None:
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    applying.apply(proposal, BEA)
    (world.folder(proposal.project) / "team/releases.md").write_text(DATED.replace("tags", "branches"))
    undo = rollback.propose(proposal, ANNA, rollback.Selection())
    file = undo.files.get(path="team/releases.md")
    review.solve_conflict(file, {0: Edited("Releases are cut by Anna.\n")}, ANNA)
    review.decide(undo, review.select_hunks(undo, paths=["project_deploy.md"]), Hunk.Verdict.APPROVED, ANNA)
    review.confirm(undo, review.blocking_findings(undo), ANNA)
    assert [item.path for item in applying.apply(undo, ANNA).conflicts] == ["team/releases.md"]
    assert "Anna" not in on_disk(undo)


@pytest.mark.more
def test_words_that_a_host_with_an_earlier_version_notes_at_the_undo_need_two_people_too(
    proposal: Proposal,
) -> None:
    approved(proposal)
    review.approve_as_second(proposal, seen(proposal), BEA)
    applying.apply(proposal, BEA)
    (world.folder(proposal.project) / "team/releases.md").write_text(DATED.replace("tags", "branches"))
    undo = rollback.propose(proposal, ANNA, rollback.Selection(paths=("team/releases.md",)))
    file = undo.files.get(path="team/releases.md")
    review.solve_conflict(file, {0: Edited("Releases are cut by Anna.\n")}, ANNA)
    undo.files.update(is_worded=False)
    Proposal.objects.filter(pk=undo.pk).update(undo_asked={**undo.undo_asked, "worded": ["team/releases.md"]})
    undo.refresh_from_db()
    review.confirm(undo, review.blocking_findings(undo), ANNA)
    assert [item.path for item in applying.apply(undo, ANNA).conflicts] == ["team/releases.md"]
    assert "Anna" not in on_disk(undo)
    review.approve_as_second(undo, seen(undo), BEA)
    assert applying.apply(undo, BEA).complete


def test_words_that_an_earlier_version_noted_at_the_undo_are_noted_at_the_file(proposal: Proposal) -> None:
    asked = {"hunks": [], "never_again": False, "reason": ""}
    undo = Proposal.objects.create(
        project=proposal.project, origin="rollback", undo_asked={**asked, "worded": ["a.md"]}
    )
    for path in ("a.md", "b.md"):
        undo.files.create(path=path, kind="modify")
    importlib.import_module("dreams.migrations.0065_worded_files").move(apps, None)
    undo.refresh_from_db()
    assert undo.undo_asked == asked
    assert list(undo.files.filter(is_worded=True).values_list("path", flat=True)) == ["a.md"]


def test_it_is_in_the_inbox_of_the_others_alone(proposal: Proposal, tmp_path: Path) -> None:
    approved(proposal)
    [item] = waiting.waiting(timezone.now())
    assert (item.kind, item.not_for) == (waiting.WaitingKind.SECOND, {"anna"})
    assert "Second person" in logged_in("bea").get("/").content.decode()
    assert "Second person" not in logged_in("anna").get("/").content.decode()
    assert "until" not in digest.collect(timezone.now()).as_text()
    # Who did their part is told whose move it is, and not that all is reviewed.
    text = logged_in("anna").get("/").content.decode()
    assert "Waiting for someone else" in text and "All reviewed" not in text
    assert "Nobody else may review here" not in text
    # What a second person approves is written with that, and part of it is written already.
    assert "until you submit" not in logged_in("bea").get("/").content.decode()
    world.three_changes(world.make_project(tmp_path / "other"))
    shown = " ".join(logged_in("bea").get("/").content.decode().split())
    assert "None of it is written" not in shown and "What is to review is not written" in shown


@pytest.mark.parametrize("asks", [False, True], ids=["one person is enough", "two are asked for"])
def test_more_undos_of_team_memory_take_no_more_queries(asks: bool, db: None) -> None:
    def undo(number: int) -> None:
        project = make.make_project(f"app-{number}")
        settings_changes.set_override("team_second_person", asks, actor="owner", project=project)
        made = make.make_proposal(
            project,
            origin=Proposal.Origin.ROLLBACK,
            state=Proposal.State.SUBMITTED,
            submitted_at=timezone.now(),
            submitted_by="anna",
        )
        made.files.update(path="team/releases.md")
        Hunk.objects.filter(file__proposal=made).update(verdict=Hunk.Verdict.EDITED, decided_by="anna")

    def counted() -> int:
        with CaptureQueriesContext(connection) as asked:
            kinds = {item.kind for item in waiting.waiting(timezone.now())}
        assert (waiting.WaitingKind.SECOND in kinds) == asks
        return len(asked)

    undo(0)
    counted()  # the first look also makes the owner's account
    few = counted()
    for number in range(1, 10):
        undo(number)
    assert counted() == few


@pytest.mark.not_on_postgresql
def test_who_is_alone_with_it_is_told_that_nobody_else_may_review(proposal: Proposal) -> None:
    """The owner approves alone, and then the only other reviewer leaves."""
    owner = Actor(login.ensure_owner().get_username())
    approved(proposal, owner)
    told = "Nobody else may review here"
    assert told not in logged_in(owner.name).get("/").content.decode()
    for name in ("anna", "bea"):
        people.remove(name, owner)
    text = logged_in(owner.name).get("/").content.decode()
    assert told in text and "Nothing waits for you" in text


def test_the_gate_sends_nobody_to_finish_what_only_another_person_can(proposal: Proposal) -> None:
    def gate() -> str:
        found = scheduler.evaluate_all(proposal.project, timezone.now())
        return next(one.reason for one in found if one.name == "review")

    assert "is waiting for a review; finish that first" in gate()
    approved(proposal)
    assert f"Proposal {proposal.public_id} is waiting for a second person" in gate()
    assert "finish" not in gate()


@pytest.mark.more
def test_before_the_submit_the_page_says_what_will_wait_for_a_second_person(proposal: Proposal) -> None:
    anna = Client()
    anna.force_login(people.find("anna"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, ANNA)
    page = anna.get(reverse("review", args=[proposal.public_id])).content.decode()
    assert "Writes 1 decision to 1 file, leaves 1 waiting for a second person." in page


@pytest.mark.not_on_postgresql
def test_the_pages_of_both_say_what_each_can_do(proposal: Proposal) -> None:
    approved(proposal)
    address, form = (reverse(name, args=[proposal.public_id]) for name in ("review", "review-second"))
    first, second = logged_in("anna"), logged_in("bea")
    text = first.get(address).content.decode()
    assert "Someone else must approve this too." in text and "Approve and write" not in text
    assert "by anna" in text
    assert "Approve and write" in second.get(address).content.decode()
    given = {"seen": seen(proposal), "verdict": "approve"}
    assert first.post(form, given).status_code == 303
    assert on_disk(proposal) == RELEASE
    assert "second approval" not in second.get(address).content.decode()
    assert second.post(form, given).status_code == 303
    assert on_disk(proposal) == DATED
    assert first.get(address).content.decode().count("second approval by bea") == 1


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_where_a_finding_is_open_the_second_person_is_not_promised_that_it_is_written(
    proposal: Proposal,
) -> None:
    approved(proposal)
    hunk = Hunk.objects.get(file__proposal=proposal, file__path="team/releases.md")
    finding = make.make_finding(proposal, "block", hunk=hunk, file=hunk.file, message="Look.")
    page, other = f"/review/{proposal.public_id}/", logged_in("bea")
    text = other.get(page).content.decode()
    assert "1 finding must be confirmed first." in text and "Approve and write" not in text
    other.post(f"{page}confirm/", {"finding": finding.key})
    text = other.get(page).content.decode()
    assert "What you approve is written immediately." in text and "Approve and write" in text


def told(capsys: pytest.CaptureFixture[str], proposal: Proposal) -> dict[str, Any]:
    """What `proposal` says of the second person."""
    capsys.readouterr()
    call_command("proposal", proposal.public_id, json=True)
    return dict(json.loads(capsys.readouterr().out)["second_person"])


@pytest.mark.more
def test_the_owner_approves_by_command_as_second_exactly_what_was_shown(
    proposal: Proposal, capsys: pytest.CaptureFixture[str]
) -> None:
    approved(proposal)
    waits = told(capsys, proposal)
    assert (waits["files"], waits["approved_by"]) == (["team/releases.md"], ["anna"])
    (world.folder(proposal.project) / "team/releases.md").write_text(RELEASE + "\nAdded meanwhile.\n")
    assert applying.apply(proposal, ANNA).rebased
    with pytest.raises(Refused, match="changed since"):
        call_command("decide", proposal.public_id, approve=True, second=waits["seen"])
    call_command("proposal", proposal.public_id)
    new = told(capsys, proposal)["seen"]
    assert new != waits["seen"]
    call_command("decide", proposal.public_id, approve=True, second=new)
    assert on_disk(proposal) == RELEASE + "\nAdded meanwhile.\n", "nothing is written before apply"
    call_command("apply", proposal.public_id, rebased=True)
    assert on_disk(proposal) == DATED + "\nAdded meanwhile.\n"
    assert AuditEntry.objects.get(action="review.seconded").data["by_command"]


@pytest.mark.more
def test_who_decided_by_command_cannot_be_the_second_by_command(
    proposal: Proposal, capsys: pytest.CaptureFixture[str]
) -> None:
    approved(proposal, Actor("sam", by_command=True))
    seen = told(capsys, proposal)["seen"]
    with pytest.raises(Refused, match="act for the owner, who has already approved this"):
        call_command("decide", proposal.public_id, approve=True, second=seen)
    assert applying.apply(proposal, ANNA).conflicts and on_disk(proposal) == RELEASE


@pytest.mark.more
def test_by_command_a_second_person_rejects(proposal: Proposal, capsys: pytest.CaptureFixture[str]) -> None:
    approved(proposal)
    call_command("decide", proposal.public_id, reject=True, second=told(capsys, proposal)["seen"])
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.APPLIED and on_disk(proposal) == RELEASE


@pytest.mark.more
def test_a_second_approval_by_command_is_of_all_that_was_shown_or_of_nothing(proposal: Proposal) -> None:
    approved(proposal)
    start = seen(proposal)[:4]
    with pytest.raises(Refused, match="changed since"):
        call_command("decide", proposal.public_id, approve=True, second=start)
    with pytest.raises(BadUsage, match="everything that was shown"):
        call_command("decide", proposal.public_id, approve=True, second=seen(proposal), path=["a.md"])


@pytest.mark.more
def test_by_command_it_is_refused_with_the_reason(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, ANNA)
    with pytest.raises(Refused, match="a second person must approve it"):
        call_command("apply", proposal.public_id)
    assert on_disk(proposal) == RELEASE
