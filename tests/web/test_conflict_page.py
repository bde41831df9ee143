"""A conflict is shown with its three sides and solved in the page; what is chosen is what is written."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import AuditEntry, Decision, FileChange, Finding, Hunk, Proposal
from dreams.services import proposals, review
from dreams.services.apply import applying
from dreams.services.proposals import rebase
from dreams.services.review import deciding
from dreams.web.access import reviewer
from dreams.web.htmx import Request
from dreams.web.views import conflict as view
from tests.world import directory as world, review as desk, rows
from tests.world.kept import Keep, Kept

pytestmark = pytest.mark.django_db
OUTSIDE = desk.TESTING.replace("shared PostgreSQL 15", "shared PostgreSQL 17").replace(
    "Rule 3:", "Rule three:"
)
OURS = "Use the shared PostgreSQL 17 instance"
THEIRS = "Use the PostgreSQL 16 container"


def clashing(folder: Path) -> FileChange:
    proposal = desk.make_proposal(desk.make_project(folder))
    Finding.objects.filter(proposal=proposal).delete()
    review.decide(proposal, [desk.hunk_with(proposal, "PostgreSQL 16")], Hunk.Verdict.APPROVED, world.ME)
    (world.folder(proposal.project) / "feedback_testing.md").write_text(OUTSIDE)
    change = proposal.files.get(path="feedback_testing.md")
    assert rebase.rebase(change, OUTSIDE.encode()) == "conflict"
    return change


@pytest.fixture(scope="module")
def made(kept: Keep[FileChange]) -> Kept[FileChange]:
    return kept(clashing)


@pytest.fixture
def file(made: Kept[FileChange]) -> FileChange:
    """feedback_testing.md, approved, then changed outside in the same place."""
    return made.anew()


def address(file: FileChange) -> str:
    return f"/review/{file.proposal.public_id}/conflict/{file.pk}/"


def state(file: FileChange) -> str:
    assert file.conflict is not None
    return rebase.conflict_state(file)


def test_the_review_page_leads_to_the_conflict_and_takes_no_verdict_there(
    browser: Client, file: FileChange
) -> None:
    text = browser.get(f"/review/{file.proposal.public_id}/").content.decode()
    assert address(file) in text
    hunk = desk.hunk_with(file.proposal, "PostgreSQL 16")
    assert f'id="approve-{hunk.pk}"' not in text
    assert "Leaves 1 waiting until the conflict is solved" in text


def test_the_side_of_an_undo_and_of_a_redo_is_called_so(browser: Client, file: FileChange) -> None:
    made = {"project": file.proposal.project, "state": Proposal.State.SUPERSEDED}
    first = rows.make_proposal(**made)
    undone = rows.make_proposal(**made, origin=Proposal.Origin.ROLLBACK, undoes=first)
    for name, before in (("This undo", first), ("This redo", undone)):
        Proposal.objects.filter(pk=file.proposal.pk).update(origin=Proposal.Origin.ROLLBACK, undoes=before)
        text = " ".join(browser.get(address(file)).content.decode().split())
        assert name in text and f"that {name.lower()} wants to change" in text


def test_a_file_that_stays_as_it_is_on_disk_has_no_picture_without_a_name(
    browser: Client, file: FileChange
) -> None:
    rebase.resolve(file, {0: "ours"})
    Hunk.objects.filter(file=file).delete()  # what is the same on both sides leaves no change
    assert 'aria-label=""' not in browser.get(f"/review/{file.proposal.public_id}/").content.decode()


def test_the_bar_says_in_how_many_files_a_conflict_waits(browser: Client, file: FileChange) -> None:
    proposal = file.proposal
    Hunk.objects.filter(file__proposal=proposal).update(verdict=Hunk.Verdict.APPROVED)
    other = proposal.files.exclude(pk=file.pk)[0]
    FileChange.objects.filter(pk=other.pk).update(conflict=file.conflict)
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "waiting until the conflicts in 2 files are solved" in text
    Hunk.objects.filter(file=other).update(verdict=Hunk.Verdict.REJECTED)
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "waiting until the conflict is solved" in text


def test_the_three_sides_are_labelled_and_the_rest_is_merged(browser: Client, file: FileChange) -> None:
    text = html.unescape(browser.get(address(file)).content.decode())
    for label in ("Now on disk", "This dream", "Before", "Both", "My own text", "Place 1 of 1"):
        assert label in text
    assert "Rule three:" in text


@pytest.mark.more
@pytest.mark.parametrize(
    ("choice", "has", "left"),
    [("ours", [OURS], [THEIRS]), ("theirs", [THEIRS], [OURS]), ("both", [OURS, THEIRS], []),
     ("base", ["shared PostgreSQL 15"], [OURS, THEIRS])],
)  # fmt: skip
def test_what_is_chosen_is_what_the_proposal_wants(
    browser: Client, file: FileChange, choice: str, has: list[str], left: list[str]
) -> None:
    response = browser.post(address(file), {"state": state(file), "choice-0": choice})
    assert response.status_code == 303
    assert "solved, and not written yet." in browser.get(response.url).content.decode()
    file.refresh_from_db()
    assert file.conflict is None
    wanted = desk.proposals.bytes_of(file.new_sha)
    assert wanted is not None
    assert "Rule three:" in wanted.decode()
    assert all(words in wanted.decode() for words in has)
    assert not any(words in wanted.decode() for words in left)
    # What goes together with an undecided change elsewhere is not approved without it.
    assert desk.hunk_with(file.proposal, "Never update them").verdict == Hunk.Verdict.PENDING
    assert desk.hunk_with(file.proposal, "](reference_runbook.md)").verdict == Hunk.Verdict.APPROVED


def test_a_submitted_proposal_of_which_nothing_is_left_is_ended_when_its_conflict_is_solved(
    browser: Client, file: FileChange
) -> None:
    proposal = Proposal.objects.get(pk=file.proposal_id)
    assert applying.apply(proposal, world.ME).conflicts
    file.refresh_from_db()
    solved = browser.post(address(file), {"state": state(file), "choice-0": "ours"}, follow=True)
    text = html.unescape(solved.content.decode())
    assert "feedback_testing.md: solved; it stays as it is on disk." in text
    assert "nothing written yet" not in text and "Write now" not in text
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.APPLIED and proposal.closed_at is not None


def test_ones_own_text_is_written_on_submit(browser: Client, file: FileChange) -> None:
    browser.post(
        address(file), {"state": state(file), "choice-0": "edit", "text-0": "Use whichever database answers."}
    )
    Finding.objects.filter(proposal=file.proposal).update(confirmed_at="2026-11-20T00:00:00Z")
    proposal = Proposal.objects.get(pk=file.proposal_id)
    report = applying.apply(proposal, world.ME)
    assert "feedback_testing.md" in {written.path for written in report.applied}
    now = (world.folder(proposal.project) / "feedback_testing.md").read_text()
    assert "\nUse whichever database answers.\n\n" in now and "Rule three:" in now


def test_a_place_without_a_choice_is_asked_for_again(browser: Client, file: FileChange) -> None:
    response = browser.post(address(file), {"state": state(file), "text-0": "kept while asking"})
    assert response.status_code == 422
    text = response.content.decode()
    assert "Choose at place 1;" in text and "choose here" in text and "kept while asking" in text
    file.refresh_from_db()
    assert file.conflict is not None


def test_a_conflict_that_is_another_one_by_now_is_shown_anew(browser: Client, file: FileChange) -> None:
    assert browser.post(address(file), {"state": "older", "choice-0": "ours"}).status_code == 409


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Someone else is faster: `change` happens after the page was compared and before the proposal is locked."""

    def slow(request: Request) -> review.Actor:
        change()
        return reviewer(request)

    monkeypatch.setattr(view, "reviewer", slow)


def test_choices_for_texts_that_changed_under_the_hand_are_not_kept(
    browser: Client, file: FileChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"state": state(file), "choice-0": "edit", "text-0": "Use the container."}
    newer = OUTSIDE.replace("PostgreSQL 17", "PostgreSQL 18").encode()
    meanwhile(monkeypatch, lambda: rebase.rebase(FileChange.objects.get(pk=file.pk), newer))
    response = browser.post(address(file), data)
    text = html.unescape(response.content.decode())
    assert response.status_code == 409 and "The file has changed again. Choose again." in text
    file.refresh_from_db()
    assert state(file) != data["state"] and state(file) in text
    assert "Use the container." in text, "what was typed is not lost"


def test_choices_for_a_text_that_is_no_longer_proposed_are_not_kept(
    browser: Client, file: FileChange
) -> None:
    """The file on disk is the same, and another decision left other lines to merge with it."""
    data = {"state": state(file), "choice-0": "theirs"}
    sides = rebase.sides_of(file)
    other = desk.TESTING.replace("PostgreSQL 15", "PostgreSQL 14").encode()
    rebase.remember_conflict(file, replace(sides, wanted=other))
    assert browser.post(address(file), data).status_code == 409


def test_a_second_click_on_a_solved_conflict_is_told_so(
    browser: Client, file: FileChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"state": state(file), "choice-0": "ours"}
    meanwhile(monkeypatch, lambda: rebase.resolve(FileChange.objects.get(pk=file.pk), {0: "theirs"}))
    text = html.unescape(browser.post(address(file), data, follow=True).content.decode())
    assert "feedback_testing.md no longer has a conflict." in text


def test_a_conflict_from_before_in_which_nothing_is_left_to_choose_is_saved_as_it_is_shown(
    browser: Client, file: FileChange
) -> None:
    base = desk.TESTING.encode()
    now, wanted = (
        base + more for more in (b"- Staging is reset on Mondays.\n", b"- Ana reviews migrations.\n")
    )
    rebase.remember_conflict(file, rebase.Sides(base, now, wanted))
    FileChange.objects.filter(pk=file.pk).update(base_sha=file.conflict["base"] if file.conflict else "")
    page = " ".join(browser.get(address(file)).content.decode().split())
    assert "Both changes fit, so there is nothing to choose." in page and "in the same place" not in page
    assert browser.post(address(file), {"state": state(file)}).status_code == 303
    file.refresh_from_db()
    assert file.conflict is None
    assert proposals.bytes_of(file.new_sha) == now + wanted.removeprefix(base)


@pytest.mark.parametrize("is_early", [True, False])
def test_what_was_typed_for_a_conflict_that_somebody_else_solved_can_be_copied(
    browser: Client, file: FileChange, monkeypatch: pytest.MonkeyPatch, is_early: bool
) -> None:
    data = {"state": state(file), "choice-0": "edit", "text-0": "Both, on <port> 5432.\n"}

    def solve() -> None:
        rebase.resolve(FileChange.objects.get(pk=file.pk), {0: "theirs"})

    solve() if is_early else meanwhile(monkeypatch, solve)
    response = browser.post(address(file), data)
    assert response.status_code == 409
    assert "Both, on &lt;port&gt; 5432." in response.content.decode()
    assert "Nothing was saved." in response.content.decode()


@pytest.mark.more
def test_a_solved_conflict_leads_back_to_the_review(browser: Client, file: FileChange) -> None:
    browser.post(address(file), {"state": state(file), "choice-0": "ours"})
    response = browser.get(address(file))
    assert response.status_code == 303
    assert response["Location"].startswith(f"/review/{file.proposal.public_id}/")


def test_a_file_that_one_side_removed_can_stay_removed(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    made = world.propose(project, world.edit("user_role.md", desk.ROLE, None, "gone", "prune"))
    change = made.files.get()
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    now = (desk.ROLE + "Lives in Oslo.\n").encode()
    (world.folder(project) / "user_role.md").write_bytes(now)
    assert rebase.rebase(change, now) == "conflict"
    text = browser.get(address(change)).content.decode()
    assert "The file was changed on disk, and this dream wants to remove it. Choose what stays." in text
    assert re.search(r"The\s+file is removed\.", text) and "in the same place" not in text
    browser.post(address(change), {"state": state(change), "choice-0": "theirs"})
    change.refresh_from_db()
    assert change.conflict is None and change.new_sha == ""


def test_a_file_that_stays_as_it_is_on_disk_is_said_to_stay(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    made = world.propose(project, world.edit("user_role.md", desk.ROLE, None, "gone", "prune"))
    change = made.files.get()
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    now = (desk.ROLE + "Lives in Oslo.\n").encode()
    (world.folder(project) / "user_role.md").write_bytes(now)
    assert rebase.rebase(change, now) == "conflict"
    answer = browser.post(address(change), {"state": state(change), "choice-0": "ours"}, follow=True)
    text = answer.content.decode()
    assert "user_role.md: solved; it stays as it is on disk." in text
    assert "This proposal has no files." not in text and "The file stays as it is on disk." in text


@pytest.mark.more
def test_a_file_that_is_kept_keeps_its_index_row(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    row = next(line for line in desk.INDEX.splitlines(keepends=True) if "feedback_tests_2.md" in line)
    path = world.folder(project) / "feedback_tests_2.md"
    made = world.propose(
        project,
        world.edit(path.name, path.read_text(), None, "gone", "prune"),
        world.edit("MEMORY.md", desk.INDEX, desk.INDEX.replace(row, ""), "gone", "prune"),
    )
    made.findings.all().delete()
    removal = Hunk.objects.get(file__proposal=made, file__path="MEMORY.md")
    review.edit(made, removal, "- Tests\n", world.ME, reason="Shorter.")
    now = path.read_bytes() + b"Added by a session.\n"
    path.write_bytes(now)
    change = made.files.get(path=path.name)
    assert rebase.rebase(change, now) == "conflict"
    answer = browser.post(address(change), {"state": state(change), "choice-0": "ours"}, follow=True)
    assert "What belongs to it in MEMORY.md is rejected with it." in answer.content.decode()
    removal.refresh_from_db()
    assert (removal.verdict, removal.edited_sha, removal.decide_reason) == ("rejected", "", "")
    assert not Hunk.objects.filter(file__proposal=made, verdict__in=Hunk.TAKEN).exists()
    assert not Decision.objects.filter(verdict="rejected").exclude(text_sha="").exists()
    applying.apply(made, world.ME)
    assert row in (world.folder(project) / "MEMORY.md").read_text() and path.read_bytes() == now


def test_a_new_file_in_the_way_is_not_said_to_have_changed(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    made = world.propose(project, world.edit("user_port.md", None, "Port 80.\n", "new", "learn"))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    (world.folder(project) / "user_port.md").write_text("Port 90.\n")
    assert rebase.rebase(made.files.get(), b"Port 90.\n") == "conflict"
    text = browser.get(address(made.files.get())).content.decode()
    assert (
        "There is a file of this name on disk now, with another text" in text
        and "There was no such file." in text
    )
    review_page = browser.get(f"/review/{made.public_id}/").content.decode()
    assert "is on disk now, with another text." in review_page
    assert "in the same place" not in text + review_page


def test_a_stranger_sees_no_conflict(client: Client, file: FileChange) -> None:
    assert client.get(address(file)).status_code == 302


def test_what_a_choice_comes_to_is_shown_before_it_is_kept(browser: Client, file: FileChange) -> None:
    data = {"state": state(file), "look": "1", "choice-0": "theirs"}
    text = html.unescape(browser.post(address(file), data).content.decode())
    assert "All places are decided." in text and "localhost:5433" in text.partition('id="solution"')[2]
    part = browser.post(
        address(file), {**data, "choice-0": ""}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "<html" not in part and "1 place still open" in part
    file.refresh_from_db()
    assert file.conflict is not None


def test_who_solved_it_decided_what_is_written_and_the_audit_log_says_so(
    browser: Client, file: FileChange
) -> None:
    Hunk.objects.filter(file=file).update(decided_by="anna")
    data = {"state": state(file), "choice-0": "edit", "text-0": "Use the container."}
    browser.post(address(file), data)
    taken = file.hunks.filter(verdict__in=Hunk.TAKEN)
    assert {(hunk.decided_by, hunk.decided_at is not None) for hunk in taken} == {("owner", True)}
    kept = Decision.objects.filter(actor="owner").order_by("-pk")[: len(taken)]
    file.refresh_from_db()
    words = {row.hunk_id for row, lines in proposals.text_hunks(file) if "Use the container." in lines.added}
    assert len(words) == 1 and {(row.hunk_id, row.verdict) for row in kept} == {
        (hunk.hunk_id, "edited" if hunk.hunk_id in words else "approved") for hunk in taken
    }
    [entry] = AuditEntry.objects.filter(action="review.conflict_solved")
    file.refresh_from_db()
    assert (entry.actor, entry.data["path"], entry.data["now"]) == ("owner", file.path, file.new_sha)


def test_a_conflict_is_not_solved_while_the_review_is_being_submitted(
    browser: Client, file: FileChange
) -> None:
    data = {"state": state(file), "choice-0": "edit", "text-0": "My careful words."}
    with deciding.claimed(file.proposal):
        text = html.unescape(browser.post(address(file), data, follow=True).content.decode())
    file.refresh_from_db()
    assert file.conflict is not None and "being submitted" in text
    assert "My careful words.</textarea>" in text and 'value="edit" checked' in text, "nothing typed is lost"


def test_what_the_proposal_wrote_itself_is_not_said_to_have_changed(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    outside = world.TESTING.replace("make reset", "make pristine")
    (world.folder(project) / "feedback_testing.md").write_text(outside)
    assert not applying.apply(proposal, world.ME).complete
    assert (world.folder(project) / "project_export.md").exists()
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "was changed in the same place" in text
    assert "Changed since:" not in text and "Changed on disk since" not in text


def test_files_that_changed_are_named_in_their_order(browser: Client, tmp_path: Path) -> None:
    """Whatever order a set has in this process."""
    names = [f"note_{letter}.md" for letter in "abc"]
    project = world.make_project(tmp_path, {name: f"{name} is one.\n" for name in names})
    edits = [world.edit(name, f"{name} is one.\n", f"{name} is two.\n", name) for name in names]
    proposal = world.propose(project, *edits)
    for name in names:
        (world.folder(project) / name).write_text(f"{name} is three.\n")
    text = " ".join(browser.get(f"/review/{proposal.public_id}/").content.decode().split())
    assert f"({', '.join(names)})" in text


def test_a_file_that_is_gone_is_not_told_as_changed(browser: Client, tmp_path: Path) -> None:
    Proposal.objects.all().delete()  # the module's own has the other words in the inbox
    proposal = desk.make_proposal(desk.make_project(tmp_path))
    Finding.objects.filter(proposal=proposal).delete()
    review.decide(proposal, [desk.hunk_with(proposal, "PostgreSQL 16")], Hunk.Verdict.APPROVED, world.ME)
    (world.folder(proposal.project) / "feedback_testing.md").unlink()
    change = proposal.files.get(path="feedback_testing.md")
    assert rebase.rebase(change, None) == "conflict"
    change.refresh_from_db()
    pages = ["/", f"/review/{proposal.public_id}/", address(change)]
    for text in (html.unescape(browser.get(page).content.decode()) for page in pages):
        assert "no longer on disk" in text and "in the same place" not in text


def test_a_row_that_is_kept_as_it_is_on_disk_drops_no_approved_change_of_its_memory(
    browser: Client, tmp_path: Path
) -> None:
    project = desk.make_project(tmp_path)
    row = next(line for line in desk.INDEX.splitlines(keepends=True) if "feedback_tests_2.md" in line)
    path = world.folder(project) / "feedback_tests_2.md"
    learnt = path.read_text() + "The port is 5433.\n"
    made = world.propose(
        project,
        world.edit(path.name, path.read_text(), learnt, "port", "update"),
        world.edit(
            "MEMORY.md", desk.INDEX, desk.INDEX.replace(row, row.rstrip() + ", the port\n"), "port", "update"
        ),
    )
    made.findings.all().delete()
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    now = desk.INDEX.replace(row, row.rstrip() + ", by a session\n").encode()
    (world.folder(project) / "MEMORY.md").write_bytes(now)
    change = made.files.get(path="MEMORY.md")
    assert rebase.rebase(change, now) == "conflict"
    browser.post(address(change), {"state": state(change), "choice-0": "ours"})
    applying.apply(made, world.ME)
    assert path.read_text() == learnt
