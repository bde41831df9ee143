"""Undo in the page: a look first, then exactly that; on a conflict a review instead of a write."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.test import Client

from dreams.lib import progress
from dreams.models import FileChange, Finding, Hunk, LeftOut, Memory, Proposal
from dreams.services import project_lock, review, rollback, work_under_way
from dreams.services.apply import applying
from dreams.services.proposals import decisions
from dreams.web.pages import bulk, undo as selector
from tests.world import directory as world, every_kind as kinds, review as desk
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db


def applied(folder: Path) -> Proposal:
    made = desk.make_proposal(desk.make_project(folder))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    for _ in range(3):
        review.confirm(made, made.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    assert applying.apply(made, world.ME).complete
    return made


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(applied)


def undo(browser: Client, proposal: Proposal, seen: str | None = None, **data: object):
    selection = selector.Selection(
        tuple(filter(None, [str(data.get("path", ""))])), tuple(filter(None, [str(data.get("hunk", ""))]))
    )
    seen = seen or selector.undo(proposal, selection).digest
    return browser.post(f"/review/{proposal.public_id}/undo/", {"seen": seen, **data}, follow=True)


def test_the_preview_shows_what_would_happen_and_writes_nothing(browser: Client, proposal: Proposal) -> None:
    before = manifest(world.folder(proposal.project))
    text = html.unescape(browser.get(f"/review/{proposal.public_id}/undo/").content.decode())
    assert "5 decisions, 8 changes" in text and "nothing is written yet" in text
    assert "Will change 3 files, bring 1 back and remove 1; later edits are kept." in text
    assert "Will be exactly as it was before: text, permissions and time." in text
    assert "Will be removed: this dream added it." in text
    assert manifest(world.folder(proposal.project)) == before
    # What a policy applied is not called the whole dream.
    assert "Undo all of this dream" in text
    Proposal.objects.update(by_policy=True)
    text = browser.get(f"/review/{proposal.public_id}/undo/").content.decode()
    assert "Undo what a policy applied" in text


def test_a_removed_line_has_the_same_number_on_the_review_and_in_the_undo() -> None:
    file = FileChange(path="MEMORY.md", kind=FileChange.Kind.MODIFY)
    removed = Hunk(file=file, base_start=9, base_count=1, new_start=12, new_count=0)
    assert decisions.places([removed]) == (f"MEMORY.md, line {decisions.line_of(removed)}",)
    assert decisions.line_of(removed) == 10


@pytest.mark.more
def test_boxes_of_like_changes_are_told_apart_by_their_line(browser: Client, proposal: Proposal) -> None:
    role = desk.hunk_with(proposal, "very short")
    text = browser.get(f"/review/{proposal.public_id}/undo/").content.decode()
    assert f"{role.file.path}, line {role.new_start + 1}" in text


@pytest.mark.more
def test_a_renamed_file_is_one_change_as_in_its_review(browser: Client, tmp_path: Path) -> None:
    made = kinds.make_proposal(kinds.make_project(tmp_path))
    # A file that goes, one that comes, and the row that names it.
    file = made.files.get(path="project_oncall_rota.md")
    renamed = Hunk.objects.filter(operation__hunks__file=file)
    assert renamed.count() == 3
    review.decide(made, list(renamed), Hunk.Verdict.APPROVED, world.ME)
    with pytest.raises(review.BlockingFinding):  # what it checks once more is there to be confirmed
        applying.apply(made, world.ME)
    review.confirm(made, made.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    applying.apply(made, world.ME)
    text = browser.get(f"/review/{made.public_id}/undo/").content.decode()
    assert "<b>1 decision, 2 changes</b>" in text


def test_what_goes_with_a_change_is_not_said_to_be_one_change(browser: Client, proposal: Proposal) -> None:
    for part, said in (("very short", "Undo one change"), ("Never update them", "Undo one decision")):
        hunk = desk.hunk_with(proposal, part)
        asked = {"path": hunk.file.path, "hunk": hunk.hunk_id}
        text = browser.get(f"/review/{proposal.public_id}/undo/", asked).content.decode()
        assert f"<h1>{said}</h1>" in text


def test_undoing_all_brings_every_file_back(browser: Client, tmp_path: Path) -> None:
    project = desk.make_project(tmp_path)
    before = manifest(world.folder(project))
    made = desk.make_proposal(project)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(made, made.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    assert applying.apply(made, world.ME).complete
    response = undo(browser, made, reason="It was wrong")
    assert "Undone: changed 3 files, brought 1 back and removed 1." in response.content.decode()
    assert manifest(world.folder(project)) == before
    made.refresh_from_db()
    back = made.undone_by.get()
    assert back.summary == "It was wrong"
    text = browser.get(f"/review/{back.public_id}/").content.decode()
    assert f"/review/{made.public_id}/" in text
    text = response.content.decode()
    assert "All of it was undone in" in text and "apart from later edits, which are kept." in text
    assert f'href="/review/{back.public_id}/"' in response.content.decode()


def test_one_change_is_undone_alone(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "reference_runbook")
    undo(browser, proposal, path="feedback_testing.md", hunk=hunk.hunk_id)
    now = (world.folder(proposal.project) / "feedback_testing.md").read_text()
    assert "](runbook.md)" in now and "PostgreSQL 16" in now
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "Learnt 1 thing, merged 1 duplicate, updated 2 statements; 1 undone" in " ".join(text.split())
    assert "Part of it was undone" in text


def test_what_was_typed_is_kept_while_boxes_are_ticked_and_where_it_is_refused(
    browser: Client, proposal: Proposal
) -> None:
    address = f"/review/{proposal.public_id}/undo/"
    typed = {"choose": 1, "reason": "It was wrong", "own_reason": "too short", "never_again": "on"}
    *_, last = browser.get(address).context["undo"].choices
    pages = (
        browser.get(address, {**typed, "hunk": last["value"]}),
        browser.post(address, {**typed, "hunk": last["value"], "seen": "x"}),
    )
    for page in pages:
        text = page.content.decode()
        assert 'value="too short"' in text and 'name="never_again" checked' in text
        assert 'value="It was wrong" checked' in text
    none = browser.get(address, typed).content.decode()
    assert all(f'type="hidden" name="{name}"' in none for name in ("reason", "own_reason", "never_again"))


def test_what_was_ticked_and_typed_is_kept_where_an_undo_cannot_be_written_or_is_stopped(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/review/{proposal.public_id}/undo/"
    *_, last = browser.get(address).context["undo"].choices
    typed = {"choose": 1, "own_reason": "too short", "never_again": "on", "hunk": last["value"]}
    typed["seen"] = browser.get(address, typed).context["undo"].digest
    stops = (project_lock.ProjectBusy("A dream has the lock."), work_under_way.Stopped)
    for stop, said in zip(stops, ("A dream has the lock.", "Stopped. Nothing was written."), strict=True):
        monkeypatch.setattr(rollback, "rollback", mock.Mock(side_effect=stop))
        page = browser.post(address, typed, follow=True)
        text = page.content.decode()
        assert said in text and 'value="too short"' in text and 'name="never_again" checked' in text
        assert [one["value"] for one in page.context["undo"].choices if one["is_chosen"]] == [last["value"]]
        assert page.status_code == 409 and not page.redirect_chain
    late = applying.ApplyReport(error="The disk is full.", said=("The history follows later.",))
    monkeypatch.setattr(rollback, "rollback", lambda *_, **__: late)
    text = browser.post(address, typed, follow=True).content.decode()
    assert "The disk is full." in text and "The history follows later." in text


def test_a_failed_undo_of_more_changes_than_an_address_has_room_for_is_answered(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_use = mock.Mock(side_effect=project_lock.ProjectBusy("It is in use."))
    monkeypatch.setattr(rollback, "rollback", in_use)
    paths = ("feedback_testing.md",) * 1_000
    seen = selector.undo(proposal, selector.Selection(paths)).digest
    page = browser.post(f"/review/{proposal.public_id}/undo/", {"seen": seen, "path": paths})
    assert page.status_code == 409 and "It is in use." in page.content.decode()


@pytest.mark.more
def test_never_again_is_kept_with_its_reason(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "reference_runbook")
    undo(
        browser,
        proposal,
        path="feedback_testing.md",
        hunk=hunk.hunk_id,
        never_again="on",
        own_reason="no need",
    )
    assert LeftOut.objects.get().reason == "no need"


@pytest.mark.more
def test_a_redo_is_called_a_redo_wherever_a_version_is_told(browser: Client, proposal: Proposal) -> None:
    undone = Proposal.objects.get(public_id=rollback.rollback(proposal, world.ME).proposal)
    memory = Memory.objects.get(path=next(iter(proposal.files.filter(kind="modify"))).path)
    pages = [f"/memories/{memory.pk}/{part}" for part in ("", "blame/", "compare/")] + [
        f"/projects/{proposal.project_id}/at/"
    ]

    def told() -> list[list[str]]:
        texts = (browser.get(page, follow=True).content.decode() for page in pages)
        return [re.findall(r"\b(?:Un|Re)done\b(?! or)", text) for text in texts]

    assert all("Undone" in words and "Redone" not in words for words in told())
    # To bring something back nobody says what was wrong with it.
    assert "It was wrong" not in browser.get(f"/review/{undone.public_id}/undo/").content.decode()
    assert rollback.rollback(undone, world.ME).complete
    assert all("Redone" in words for words in told())


def test_an_undo_a_redo_and_its_undo_count_the_same_decisions_on_every_page(
    browser: Client, proposal: Proposal
) -> None:
    size = "5 decisions, 8 changes"
    made = proposal
    called = ("This undoes dream", "This redoes what was undone by undo", "This undoes redo")
    for turn in range(3):
        made = Proposal.objects.get(public_id=rollback.rollback(made, world.ME).proposal)
        review_page = browser.get(f"/review/{made.public_id}/")
        text = " ".join(re.sub("<a [^>]*>", " ", review_page.content.decode()).split())
        assert f"<b>{size}</b>" in text and called[turn] in text, turn
        # Its cards, and the filter by kind.
        assert set(re.findall(r"<b>(\w+done)</b>", text)) == {"Redone" if turn == 1 else "Undone"}
        assert f'<span class="chip">{"redo" if turn == 1 else "undo"} {made.public_id}</span>' in text
        assert review_page.context["listing"]["filters"][0]["count"] == 5, turn
        assert browser.get(f"/review/{made.public_id}/undo/").context["undo"].size == size, turn
    undone = proposal.undone_by.get()
    # What was redone since is no less what the undo had undone.
    assert f"<b>{size}</b>" in browser.get(f"/review/{undone.public_id}/").content.decode()


def test_the_page_of_a_redo_counts_what_is_ticked_and_says_what_each_box_brings_back(
    browser: Client, proposal: Proposal
) -> None:
    undone = Proposal.objects.get(public_id=rollback.rollback(proposal, world.ME).proposal)
    address = f"/review/{undone.public_id}/undo/"
    page = browser.get(address)
    text = html.unescape(page.content.decode())
    assert "What to redo" in text and "What to undo" not in text and "Redo 5 decisions" in text
    assert "Will be exactly as it was before the undo: text" in text and "this change added it" not in text
    assert "Undo of" not in text and all(operation.reason in text for operation in proposal.operations.all())
    *_, last = page.context["undo"].choices
    part = browser.get(address, {"choose": 1, "hunk": last["value"]}).context["undo"]
    assert part.decisions < 5 and part.size.startswith(f"{part.decisions} decision")
    undo(browser, undone, hunk=last["value"], choose=1)
    said = " ".join(browser.get(f"/review/{proposal.public_id}/").content.decode().split())
    assert "Part of it was undone" in said and "All of it was undone" not in said


def test_what_changed_since_the_preview_is_shown_again_first(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "user_role.md"
    file.write_text(file.read_text() + "Lives in Oslo.\n")
    response = undo(browser, proposal, seen="older")
    assert response.status_code == 409
    assert "very short" in file.read_text()


@pytest.mark.more
def test_later_edits_elsewhere_stay(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    file.write_text(file.read_text().replace("Rule 5:", "Rule five:"))
    text = browser.get(f"/review/{proposal.public_id}/undo/").content.decode()
    assert "It has changed since; later edits are kept." in text
    undo(browser, proposal)
    assert file.read_text() == desk.TESTING.replace("Rule 5:", "Rule five:")


@pytest.mark.more
def test_what_one_of_two_submits_wrote_is_undone_from_its_own_line_in_the_lists(
    browser: Client, tmp_path: Path
) -> None:
    made = desk.make_proposal(desk.make_project(tmp_path))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    changed = world.folder(made.project) / "user_role.md"
    before = changed.read_text()
    changed.write_text(f"{before}\nAdded meanwhile.\n")
    for _ in range(3):
        review.confirm(made, made.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    applying.apply(made, world.ME)
    assert applying.apply(made, world.ME, rebased=True).complete
    assert made.applications.count() == 2
    for page in ("/", f"/projects/{made.project_id}/?show=timeline"):
        links = re.findall(r'href="([^"]*/undo/[^"]*)"', browser.get(page).content.decode())
        told = [html.unescape(browser.get(link).content.decode()) for link in links[:2]]
        files = [
            set(re.findall(r'id="undo-file-\d+">\s*<span[^>]*>.</span>\s*([^<]+\S)', text)) for text in told
        ]
        assert len(files) == 2 and files[0] and files[1] and not files[0] & files[1], files


def test_an_undo_says_of_a_file_that_was_renamed_by_hand_where_it_is_now(
    browser: Client, proposal: Proposal
) -> None:
    file = proposal.files.get(path="MEMORY.md")
    here, there = (world.folder(proposal.project) / name for name in (file.path, "renamed.md"))
    here.rename(there)
    page = browser.get(f"/review/{proposal.public_id}/undo/?path=MEMORY.md").content.decode()
    assert (
        "Its text is in renamed.md now, where an undo does not follow" in page
        and "same place has changed" not in page
    )
    added = proposal.files.get(kind="add").path
    (world.folder(proposal.project) / added).rename(there.with_name("kept.md"))
    page = browser.get(f"/review/{proposal.public_id}/undo/?path={added}").content.decode()
    assert "Its text is in kept.md now, where an undo does not follow: remove it there." in page
    there.write_text("Something else.\n")
    page = browser.get(f"/review/{proposal.public_id}/undo/?path=MEMORY.md").content.decode()
    assert "It was removed since, so you have to choose" in page


def test_a_conflict_becomes_a_review_and_nothing_is_written(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    file.write_text(
        file.read_text().replace("localhost:5433", "localhost:6000").replace("Rule 5:", "Rule V:")
    )
    before = manifest(world.folder(proposal.project))
    found = selector.undo(proposal, selector.Selection())
    clashing = next(file for file in found.files if file["is_conflict"])
    lost = [line for block in clashing["blocks"] for line in block.hunk.base_lines]
    assert any("localhost:6000" in line for line in lost) and not any("Rule V:" in line for line in lost)
    text = browser.get(f"/review/{proposal.public_id}/undo/").content.decode()
    assert "cannot be undone without a choice" in text and "Open as a review" in text
    response = undo(browser, proposal)
    made = proposal.undone_by.get()
    assert response.redirect_chain[-1][0] == f"/review/{made.public_id}/"
    assert made.state == Proposal.State.OPEN
    told = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "An undo of this is not written yet" in told and "undone in" not in told
    assert f"/review/{made.public_id}/conflict/" in response.content.decode()
    assert manifest(world.folder(proposal.project)) == before


def test_what_was_never_applied_has_nothing_to_undo(browser: Client, tmp_path: Path) -> None:
    made = desk.make_proposal(desk.make_project(tmp_path))
    response = browser.get(f"/review/{made.public_id}/undo/", follow=True)
    assert "there is nothing to undo" in response.content.decode()


def test_a_stranger_undoes_nothing(client: Client, proposal: Proposal) -> None:
    before = manifest(world.folder(proposal.project))
    assert client.post(f"/review/{proposal.public_id}/undo/").status_code == 302
    assert manifest(world.folder(proposal.project)) == before


@pytest.mark.more
def test_single_changes_are_chosen_on_the_page_and_shown_before_anything_is_written(
    browser: Client, proposal: Proposal
) -> None:
    link, role = desk.hunk_with(proposal, "reference_runbook"), desk.hunk_with(proposal, "very short")
    at = f"/review/{proposal.public_id}/undo/"
    text = browser.get(at).content.decode()
    assert text.count('type="checkbox" id="undo-') == 5 and "5 of 5 ticked" in text
    chosen = {"choose": "1", "hunk": [link.hunk_id, role.hunk_id]}
    text = html.unescape(browser.get(at, chosen).content.decode())
    assert "2 of 5 ticked" in text and "Undo 2 decisions" in text
    seen = selector.undo(proposal, selector.chosen(proposal, chosen["hunk"])).digest
    browser.post(at, {**chosen, "seen": seen})
    assert (world.folder(proposal.project) / "user_role.md").read_text() == desk.ROLE
    assert "PostgreSQL 16" in (world.folder(proposal.project) / "feedback_testing.md").read_text()


@pytest.mark.more
def test_all_boxes_are_the_whole_and_none_is_told(browser: Client, proposal: Proposal) -> None:
    every = [hunk.hunk_id for hunk in Hunk.objects.filter(file__proposal=proposal)]
    assert selector.chosen(proposal, every).is_all
    at = f"/review/{proposal.public_id}/undo/"
    text = browser.get(at, {"choose": "1"}).content.decode()
    assert "Tick at least one decision" in text and "0 of 5 ticked" in text and "checked hx-get" not in text
    # Where nothing is chosen nothing is undone: least of all everything.
    before = manifest(world.folder(proposal.project))
    assert browser.post(at, {"choose": "1", "seen": ""}).status_code == 422
    assert manifest(world.folder(proposal.project)) == before


@pytest.mark.parametrize(
    "pressed_at", ["Comparing files", pytest.param("Writing files", marks=pytest.mark.more)]
)
def test_an_undo_says_how_far_it_is_and_ends_when_somebody_presses_stop(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch, pressed_at: str
) -> None:
    monkeypatch.setattr(work_under_way, "LOOK_SECONDS", -1.0)
    at, step, said = f"/review/{proposal.public_id}", progress.step, []
    before = manifest(world.folder(proposal.project))

    def look(what: str, done: int = 0, total: int = 0) -> None:
        step(what, done, total)
        said.append(browser.get(f"{at}/under-way/").content.decode())
        if what == pressed_at:
            assert browser.post(f"{at}/stop/").status_code == 204

    assert browser.get(f"{at}/under-way/").status_code == 204
    monkeypatch.setattr(progress, "step", look)
    page = undo(browser, proposal)
    assert any(one.startswith("Comparing files: ") for one in said)
    assert "Stopped. Nothing was written." in page.content.decode()
    for made in proposal.undone_by.all():
        stopped = browser.get(f"/review/{made.public_id}/").content.decode()
        assert "Nothing was written." in stopped and "not proposed again" not in stopped
    assert manifest(world.folder(proposal.project)) == before


def test_an_undo_that_somebody_else_has_just_written_is_answered(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text().replace("](reference_runbook.md)", "](reference_runbook.md) first"))
    propose, ended = rollback.propose, list[Proposal]()

    def beside_another(*given: Any, **more: Any) -> Proposal:
        if not ended:
            Hunk.objects.filter(file__proposal=proposal).update(undone_in=proposal.applications.get())
            ended.append(proposal)
        return propose(*given, **more)

    monkeypatch.setattr(rollback, "propose", beside_another)
    answer = undo(browser, proposal)
    assert ended and "has already been undone" in html.unescape(answer.content.decode())


def test_a_redo_is_called_so_where_several_are_decided_and_in_boxes_that_know_no_more(
    browser: Client, proposal: Proposal
) -> None:
    made, words = proposal, {"Undone", "Redone"}
    for word in ("Undone", "Redone"):
        made = Proposal.objects.get(public_id=rollback.rollback(made, world.ME).proposal)
        # Written in part: which changes it undid is not known yet.
        Proposal.objects.filter(pk=made.pk).update(state=Proposal.State.SUBMITTED)
        boxes = browser.get(f"/review/{made.public_id}/undo/").context["undo"].choices
        assert {box["kind"] for box in boxes} & words == {word}
        Proposal.objects.filter(pk=made.pk).update(state=Proposal.State.OPEN)
        chosen = {"proposal": made.public_id, "verdict": "reject"}
        said = browser.get("/several/", chosen).content.decode()
        assert set(re.findall(r"<b>(\w+)</b>", said)) & words == {word}
        Hunk.objects.filter(file__proposal=made).update(verdict=Hunk.Verdict.PENDING)
        shown = bulk.of([made.pk])[made.pk].decisions
        assert {one["kind"] for one in shown} <= {word}
        Hunk.objects.filter(file__proposal=made).update(verdict=Hunk.Verdict.APPROVED)
        Proposal.objects.filter(pk=made.pk).update(state=Proposal.State.APPLIED)
