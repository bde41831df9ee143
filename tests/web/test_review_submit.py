"""Submitting: what is approved is written, what waits says why, and a file that changed is shown anew first."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest
from django.test import Client

from dreams.lib import progress
from dreams.management import shown
from dreams.models import AuditEntry, Finding, Hunk, Project, Proposal
from dreams.services import review, work_under_way
from dreams.services.apply import applying, writing
from dreams.services.questions import answering
from dreams.services.review import deciding
from dreams.web.pages import review_proposal as selector
from tests.world import directory as world, questions as question_world, review as desk
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db


def without_findings(folder: Path) -> Proposal:
    made = desk.make_proposal(desk.make_project(folder))
    Finding.objects.filter(proposal=made).delete()
    return made


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    return kept(without_findings)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Without a proposal, and none beside it: that of the module is there once it was made."""
    Proposal.objects.all().delete()
    return desk.make_project(tmp_path)


def follow(browser: Client, proposal: Proposal, verb: str, **data: object) -> str:
    """POST, then the page it leads to."""
    response = browser.post(f"/review/{proposal.public_id}/{verb}/", data, follow=True)
    return html.unescape(response.content.decode())


def submit(browser: Client, proposal: Proposal, **data: object) -> str:
    loaded = selector.load(proposal)
    return follow(browser, proposal, "submit", bases=loaded.digest, answers=loaded.answers, **data)


def approve(proposal: Proposal, *words: str) -> None:
    hunks = [desk.hunk_with(proposal, word) for word in words]
    review.decide(proposal, hunks, Hunk.Verdict.APPROVED, world.ME)


def test_submitting_writes_what_is_approved_and_says_so(browser: Client, proposal: Proposal) -> None:
    folder = world.folder(proposal.project)
    approve(proposal, "reference_runbook")
    review.decide(proposal, [desk.hunk_with(proposal, "very short")], Hunk.Verdict.REJECTED, world.ME)
    shown = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "Writes 1 decision to 1 file, rejects 1, leaves 3 undecided for a later dream." in shown
    text = submit(browser, proposal)
    on_disk = [file.path for file in proposal.files.all() if (folder / file.path).exists()]
    assert len(on_disk) < proposal.files.count(), "a new file that is not written is none that is left"
    assert f"Written: 1 file. Left as they are: {len(on_disk) - 1} files." in text
    assert "](reference_runbook.md)" in (folder / "feedback_testing.md").read_text()
    assert (folder / "user_role.md").read_text() == desk.ROLE
    assert "Undo all" in text and "Undo this change" in text


ALREADY = "Everything approved had already been applied; nothing was written."


@pytest.mark.more
def test_a_form_that_was_sent_twice_is_told_to_have_written_nothing_more(
    browser: Client, proposal: Proposal
) -> None:
    approve(proposal, "reference_runbook")
    sent = {"bases": selector.load(proposal).digest, "answers": selector.load(proposal).answers}
    assert "Written: 1 file." in follow(browser, proposal, "submit", **sent)
    again = follow(browser, proposal, "submit", bases=selector.load(proposal).digest, answers=sent["answers"])
    assert ALREADY in again
    assert "Written: 1 file." not in again
    report = applying.apply(proposal, world.ME)
    assert report.already and report.applied and shown.report_words(shown.report(report)) == [ALREADY]


@pytest.mark.more
def test_a_write_that_was_cut_off_is_not_shown_as_somebody_elses_change(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    approve(proposal, "reference_runbook")
    with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
        cut.setattr(writing, "record_result", die)
        applying.apply(proposal, world.ME)
    text = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "This is being written, or writing was interrupted." in text and "manage.py" not in text
    assert "Changed since" not in text and "nothing written yet" not in text and "Write now" not in text
    after = follow(browser, proposal, "apply", bases=selector.load(proposal).digest)
    assert "was cut off" not in after and "Made 1 index change" in after


def test_nothing_is_written_and_nothing_closed_while_nothing_is_decided_or_a_finding_is_open(
    browser: Client, proposal: Proposal
) -> None:
    before = manifest(world.folder(proposal.project))

    def is_open() -> bool:
        proposal.refresh_from_db()
        return proposal.state == Proposal.State.OPEN and manifest(world.folder(proposal.project)) == before

    assert "Nothing is decided yet" in submit(browser, proposal) and is_open()
    approve(proposal, "Releases leave")
    text = submit(browser, proposal)
    assert "has an open finding" in text and "Confirm it, or reject the change." in text and is_open()
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    assert "Nothing was written; 5 rejected." in submit(browser, proposal)
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.REJECTED
    assert manifest(world.folder(proposal.project)) == before


def test_what_was_decided_in_another_window_is_shown_before_anything_is_written(
    browser: Client, proposal: Proposal
) -> None:
    approve(proposal, "reference_runbook")
    before, shown = manifest(world.folder(proposal.project)), selector.load(proposal)
    older = {"bases": "older", "answers": shown.answers}
    response = browser.post(f"/review/{proposal.public_id}/submit/", older)
    assert response.status_code == 409
    assert "The proposal changed since this page was shown." in response.content.decode()
    approve(proposal, "very short")
    seen = {"bases": shown.digest, "answers": shown.answers}
    response = browser.post(f"/review/{proposal.public_id}/submit/", seen)
    assert response.status_code == 409
    assert "Something was decided elsewhere since this page was shown." in response.content.decode()
    assert manifest(world.folder(proposal.project)) == before
    proposal.refresh_from_db()
    assert proposal.state == Proposal.State.OPEN


@pytest.mark.more
def test_a_file_changed_before_the_submit_is_brought_up_shown_and_confirmed(
    browser: Client, proposal: Proposal
) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    outside = desk.TESTING.replace("Rule 1:", "Rule one:")
    file.write_text(outside)
    text = follow(browser, proposal, "bring-up")
    assert "updated to what is on disk now" in text and "Confirm this result" in text
    assert file.read_text() == outside
    change = proposal.files.get(path="feedback_testing.md")
    assert not change.rebase_confirmed
    assert desk.hunk_with(proposal, "reference_runbook").verdict == "approved"
    follow(browser, proposal, "bring-up", confirm="1", file=change.pk, base=change.base_sha)
    assert AuditEntry.objects.filter(action="review.rebase_confirmed").count() == 1
    submit(browser, proposal)
    assert file.read_text() == outside.replace("](runbook.md)", "](reference_runbook.md)")


def test_a_file_changed_at_the_submit_waits_for_one_confirmation(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    outside = desk.TESTING.replace("Rule 1:", "Rule one:")
    file.write_text(outside)
    text = submit(browser, proposal)
    assert (
        "nothing written yet" in text and "changed since your review" in text and "Confirm and write" in text
    )
    assert file.read_text() == outside
    text = follow(browser, proposal, "apply", bases=selector.load(proposal).digest, rebased="1")
    assert "Written: 1 file." in text
    assert file.read_text() == outside.replace("](runbook.md)", "](reference_runbook.md)")


@pytest.mark.more
def test_a_new_result_is_confirmed_only_where_it_is_shown(browser: Client, proposal: Proposal) -> None:
    approve(proposal, "reference_runbook")
    (world.folder(proposal.project) / "feedback_testing.md").write_text(
        desk.TESTING.replace("Rule 1:", "Rule one:")
    )
    submit(browser, proposal)
    changed = proposal.files.get(path="feedback_testing.md").pk
    other = proposal.files.exclude(pk=changed).exclude(path="MEMORY.md").latest("path").pk
    elsewhere = browser.get(f"/review/{proposal.public_id}/", {"file": other}).content.decode()
    there = f'href="/review/{proposal.public_id}/?file={changed}#file-{changed}"'
    assert "Confirm and write" not in elsewhere
    assert (
        f"{there}>Check the new result</a>" in elsewhere and f"{there}>feedback_testing.md</a>" in elsewhere
    )
    shown = browser.get(f"/review/{proposal.public_id}/", {"file": changed}).content.decode()
    assert "Confirm and write" in shown and "Confirm this result" in shown


@pytest.mark.more
def test_a_confirmation_of_an_older_result_writes_nothing(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule one:"))
    seen = selector.load(proposal).digest
    submit(browser, proposal)
    response = browser.post(f"/review/{proposal.public_id}/apply/", {"bases": seen, "rebased": "1"})
    assert response.status_code == 409
    assert "reference_runbook" not in file.read_text()


@pytest.mark.more
def test_an_applied_review_can_no_longer_be_decided(browser: Client, proposal: Proposal) -> None:
    approve(proposal, "reference_runbook")
    submit(browser, proposal)
    hunk = desk.hunk_with(proposal, "very short")
    response = browser.post(
        f"/review/{proposal.public_id}/decide/",
        {"hunk": hunk.pk, "base": hunk.file.base_sha, "verdict": "approved"},
    )
    assert response.status_code == 409
    assert "can no longer change" in response.content.decode()


def test_one_button_approves_and_writes_all_when_nothing_else_is_open(
    browser: Client, project: Project
) -> None:
    before, after = desk.INDEX, desk.INDEX.replace("who you are", "who you are, and how you like answers")
    made = world.propose(project, world.edit("MEMORY.md", before, after, "row"))
    more = made.files.get()
    Finding.objects.filter(proposal=made).delete()
    Hunk.objects.create(
        file=more, hunk_id="zzz", number=9, base_start=5, base_count=0, new_start=5, new_count=0
    )
    assert "Approve all and submit" in browser.get(f"/review/{made.public_id}/").content.decode()
    desk.add_finding(made, "how you like answers", "warn", "Look at this.")
    assert "Approve all and submit" not in browser.get(f"/review/{made.public_id}/").content.decode()
    Finding.objects.filter(proposal=made).delete()
    Hunk.objects.filter(hunk_id="zzz").delete()
    submit(browser, made, rest="1")
    assert (world.folder(project) / "MEMORY.md").read_text() == after


def test_a_stop_in_the_first_seconds_of_a_submit_counts_while_decisions_are_saved(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, before, pressed = progress.step, manifest(world.folder(proposal.project)), list[str]()
    monkeypatch.setattr(work_under_way, "LOOK_SECONDS", -1.0)

    def stop(what: str, done: int = 0, total: int = 0) -> None:
        if not pressed:
            pressed.append(what)
            browser.post(f"/review/{proposal.public_id}/stop/")
        step(what, done, total)

    monkeypatch.setattr(progress, "step", stop)
    assert "Stopped. Your decisions are kept" in submit(browser, proposal, rest="1")
    assert pressed == [deciding.SAVING] and manifest(world.folder(proposal.project)) == before
    proposal.refresh_from_db()
    assert (proposal.state, proposal.submitting_by) == ("open", "")
    approve(proposal, "reference_runbook")
    assert "Written: 1 file." in submit(browser, proposal)


def test_what_was_rejected_before_is_listed_as_left_out(browser: Client, proposal: Proposal) -> None:
    assert proposal.dream is not None
    proposal.dream.left_out = [{"path": "user_role.md", "hunk": "abc", "why": "Wrong"}]
    proposal.dream.save()
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "1 change left out: it was rejected before" in text


def _rebased_with_a_new_finding(browser: Client, proposal: Proposal) -> Hunk:
    """Submitted, stale, and on the new result there is a finding that was not there before."""
    approve(proposal, "reference_runbook")
    file = world.folder(proposal.project) / "feedback_testing.md"
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule one:"))
    submit(browser, proposal)
    hunk = desk.hunk_with(proposal, "reference_runbook")
    proposal.findings.create(
        hunk=hunk, file=hunk.file, key="k", check_name="x", code="x", severity="block", message="Look."
    )
    return hunk


@pytest.mark.more
def test_confirm_and_write_leads_to_the_finding_that_is_in_the_way(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    hunk = _rebased_with_a_new_finding(browser, proposal)
    monkeypatch.setattr("dreams.services.proposals.examine", lambda *_, **__: None)
    form = {"bases": selector.load(proposal).digest, "rebased": "1"}
    response = browser.post(f"/review/{proposal.public_id}/apply/", form)
    assert response.headers["Location"].endswith(f"#hunk-{hunk.pk}")
    text = html.unescape(browser.get(response.headers["Location"]).content.decode())
    assert "Look. Confirm it, or reject the change." in text and "--confirm-findings" not in text


@pytest.mark.more
def test_confirm_and_write_leads_to_the_conflict_that_is_in_the_way(
    browser: Client, proposal: Proposal
) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule one:"))
    submit(browser, proposal)
    form = {"bases": selector.load(proposal).digest, "rebased": "1"}
    file.write_text(desk.TESTING.replace("](runbook.md) says", "](other.md) says"))
    response = browser.post(f"/review/{proposal.public_id}/apply/", form)
    pk = proposal.files.get(path="feedback_testing.md").pk
    assert response.headers["Location"] == f"/review/{proposal.public_id}/conflict/{pk}/"


@pytest.mark.more
def test_a_file_that_changed_once_more_is_said_to_have(browser: Client, proposal: Proposal) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule one:"))
    submit(browser, proposal)
    digest = selector.load(proposal).digest
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule 1, again:"))
    text = follow(browser, proposal, "apply", bases=digest, rebased="1")
    assert "feedback_testing.md changed again. Check the new result, then confirm it." in text
    assert "reference_runbook" not in file.read_text()


@pytest.mark.more
def test_done_and_next_leads_on_to_what_waits_next(
    browser: Client, proposal: Proposal, tmp_path: Path
) -> None:
    other = desk.make_proposal(desk.make_project(tmp_path / "other", "other"))
    approve(proposal, "reference_runbook")
    loaded = selector.load(proposal)
    form = {"bases": loaded.digest, "answers": loaded.answers, "then": "next"}
    text = browser.post(f"/review/{proposal.public_id}/submit/", form, follow=True)
    assert text.request["PATH_INFO"] == f"/review/{other.public_id}/"
    assert b"acme-api: Written: 1 file." in text.content
    assert f'<a href="/review/{proposal.public_id}/undo/">Undo</a>'.encode() in text.content


@pytest.fixture
def answered(tmp_path: Path) -> Proposal:
    """An open proposal of a dream, beside which an answer to an older question waits in a proposal of its own."""
    project = question_world.make_project(tmp_path)
    question = question_world.ask(project, question_world.conflict())[0]
    answering.answer(question, "first", world.ME)
    made = question_world.propose(project)
    review.decide(made, [desk.hunk_with(made, "not even once")], Hunk.Verdict.APPROVED, world.ME)
    return made


@pytest.mark.more
def test_submitting_a_dream_writes_the_answers_of_its_project_too(
    browser: Client, answered: Proposal
) -> None:
    text = submit(browser, answered)
    assert "not even once" in question_world.read(answered.project, "feedback_testing.md")
    assert "on port 8443" in question_world.read(answered.project, "reference_staging.md")
    assert "Written: 2 files." in text


@pytest.mark.more
def test_answers_whose_file_changed_are_shown_anew_behind_what_was_written(
    browser: Client, answered: Proposal
) -> None:
    staging = world.folder(answered.project) / "reference_staging.md"
    staging.write_text(staging.read_text() + "\nIt has two nodes.\n")
    text = submit(browser, answered)
    assert "not even once" in question_world.read(answered.project, "feedback_testing.md")
    assert "9443" in staging.read_text() and "Written: 1 file." in text
    assert "reference_staging.md</a> changed since your review" in text and "Confirm and write" in text


@pytest.mark.more
def test_confirming_a_changed_result_confirms_no_answers_that_the_page_does_not_show(
    browser: Client, answered: Proposal
) -> None:
    for name in ("reference_staging.md", "feedback_testing.md"):
        path = world.folder(answered.project) / name
        path.write_text(path.read_text() + "\nIt has two nodes.\n")
    submit(browser, answered)
    follow(browser, answered, "apply", bases=selector.load(answered).digest, rebased="1")
    assert "not even once" in question_world.read(answered.project, "feedback_testing.md")
    assert "9443" in question_world.read(answered.project, "reference_staging.md")


@pytest.mark.more
def test_answers_that_cannot_be_written_leave_what_was_and_say_why(
    browser: Client, answered: Proposal, tmp_path: Path
) -> None:
    os.link(world.folder(answered.project) / "reference_staging.md", tmp_path / "elsewhere.md")
    text = submit(browser, answered)
    assert "not even once" in question_world.read(answered.project, "feedback_testing.md")
    assert "Written: 1 file." in text and "Your answers were not written: reference_staging.md has" in text


@pytest.mark.more
@pytest.mark.parametrize("verdict", [Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING])
def test_the_lines_of_a_written_review_have_the_numbers_of_the_file(
    browser: Client, project: Project, verdict: str
) -> None:
    first, last = "# Runbook\n", "The port is 8443.\n"
    before = "".join([first, *(f"Step {number}.\n" for number in range(1, 9)), last])
    more = before.replace(first, f"{first}Never skip one.\nAsk first.\n")
    world.put(world.folder(project) / "project_steps.md", before)
    made = world.propose(
        project,
        world.edit("project_steps.md", before, more, "more"),
        world.edit("project_steps.md", more, more.replace("8443", "9443"), "port"),
    )
    assert _numbers(browser, made, "9443") == ["12"]
    if verdict != Hunk.Verdict.PENDING:
        review.decide(made, [desk.hunk_with(made, "Never skip")], verdict, world.ME)
    review.decide(made, [desk.hunk_with(made, "9443")], Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(made, world.ME).complete
    written = (world.folder(project) / "project_steps.md").read_text().split("\n")
    assert written[9] == "The port is 9443."
    assert _numbers(browser, made, "9443") == ["10"] and _numbers(browser, made, "Step 8.") == ["9"]
    assert _numbers(browser, made, "Never skip one.") == ["2"], "as it was proposed"


def _numbers(browser: Client, proposal: Proposal, words: str) -> list[str]:
    """The numbers beside the lines with these words."""
    page = browser.get(f"/review/{proposal.public_id}/").content.decode()
    rows = re.findall(r'class="diff-no">(\d*)</span>.*?<div class="diff-text">(.*?)</div>', page, re.DOTALL)
    return [number for number, line in rows if words in re.sub("<[^>]*>", "", line)]


@pytest.mark.more
def test_an_open_finding_after_the_submit_says_what_to_do_instead_of_offering_a_write(
    browser: Client, proposal: Proposal
) -> None:
    approve(proposal, "reference_runbook")
    review.submit(proposal, world.ME)
    hunk = desk.hunk_with(proposal, "reference_runbook")
    made = proposal.findings.create(
        hunk=hunk, file=hunk.file, key="k", check_name="x", code="x", severity="block", message="Look."
    )
    here = f"/review/{proposal.public_id}/"
    text = html.unescape(browser.get(here).content.decode())
    assert "1 finding must be confirmed first." in text and "Write now" not in text
    findings = re.search(rf'"({re.escape(here)}\?show=findings)"', text)
    assert findings
    shown = html.unescape(browser.get(findings[1]).content.decode())
    [form] = re.findall(rf'<form[^>]*action="{here}confirm/"[^>]*>', shown)
    assert "hx-post" not in form  # the head of the page says what is next
    assert "Write now" in follow(browser, proposal, "confirm", finding=made.key)


def test_what_is_refused_because_of_another_window_is_answered_with_the_reason(
    browser: Client, proposal: Proposal
) -> None:
    browser.raise_request_exception = False
    loaded = selector.load(proposal)
    form = {"bases": loaded.digest, "answers": loaded.answers, "rest": "1"}
    with deciding.claimed(proposal):
        answer = browser.post(f"/review/{proposal.public_id}/submit/", form)
    assert answer.status_code == 409
    assert "This proposal is being submitted." in html.unescape(answer.content.decode())


def test_no_later_dream_is_promised_for_what_an_undo_leaves_undecided(
    browser: Client, proposal: Proposal
) -> None:
    approve(proposal, "reference_runbook")
    Proposal.objects.update(origin=Proposal.Origin.ROLLBACK)
    shown = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert re.search(r"leaves \d+ undecided\.", shown) and "later dream" not in shown


@pytest.mark.more
def test_the_bar_promises_no_write_for_files_that_changed_since_or_are_written_with_one(
    browser: Client, proposal: Proposal
) -> None:
    approve(proposal, "reference_runbook")
    review.decide(proposal, [desk.hunk_with(proposal, "very short")], Hunk.Verdict.APPROVED, world.ME)
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(path.read_text() + "\nAdded by a session.\n")
    shown = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "leaves 1 waiting until you have checked what changed since" in shown
    assert "Writes 1 decision to " in shown
    applying.bring_up_to_date(proposal)
    shown = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "leaves 1 waiting until you have checked what changed since" in shown, "it is not confirmed yet"
    assert [file.path for file in applying.apply(proposal, world.ME).rebased] == [path.name]


def test_that_the_folder_is_gone_is_said_once_with_what_to_do(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path / "claude")
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.submit(proposal, world.ME)
    world.folder(project).rename(tmp_path / "away")
    told = submit(browser, proposal)
    assert told.count("the memory directory is gone. Bring the folder back") == 1
    assert "was not written: the memory directory" not in told


@pytest.mark.more
def test_a_folder_that_leads_elsewhere_is_named_with_what_to_do(
    browser: Client, proposal: Proposal, tmp_path: Path
) -> None:
    here = f"/review/{proposal.public_id}/"
    folder = world.folder(proposal.project)
    assert "another one now" not in browser.get(here).content.decode()
    folder.rename(tmp_path / "set aside")
    folder.symlink_to(tmp_path / "set aside")
    text = html.unescape(browser.get(here).content.decode())
    assert "The folder is another one now." in text and str(tmp_path / "set aside") in text
    bar = text.partition('id="submit-says"')[2]
    assert "Can be submitted once it is brought up to date" in bar and 'aria-disabled="true"' in bar
    assert "another one now" not in follow(browser, proposal, "bring-up")
    folder.unlink()
    (tmp_path / "set aside").rename(folder)


def test_what_a_changed_file_no_longer_lists_after_the_submit_is_said(
    browser: Client, proposal: Proposal
) -> None:
    file = world.folder(proposal.project) / "feedback_testing.md"
    approve(proposal, "reference_runbook")
    submitted = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "no longer listed" not in submitted
    file.write_text(desk.TESTING.replace("Rule 1:", "Rule one:"))
    text = submit(browser, proposal)
    assert "PostgreSQL 16" not in text
    said = (
        "1 more decision is no longer listed, because its file changed on disk."
        " A later dream can propose again what was left undecided."
    )
    assert said in " ".join(text.split()) and "<li>You changed the database on 12 November.</li>" in text
    text = follow(browser, proposal, "apply", bases=selector.load(proposal).digest, rebased="1")
    assert "Written: 1 file." in text and said in " ".join(text.split())
