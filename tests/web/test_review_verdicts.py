"""Deciding in the page: per hunk, file and all, back again, with and without JavaScript, and never on a stale state."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dreams.models import Decision, FileChange, Finding, Hunk, Proposal
from dreams.services import review
from dreams.services.review import mending
from dreams.web import verdicts as verdict_steps
from dreams.web.pages import review_proposal as selector
from tests.world import directory as world, review as desk
from tests.world.pressing import form, press

pytestmark = pytest.mark.django_db


def post(browser: Client, proposal: Proposal, verb: str, data: dict[str, object], **headers: str):
    return browser.post(f"/review/{proposal.public_id}/{verb}/", data, headers=headers)


def about(hunk: Hunk, **more: object) -> dict[str, object]:
    return {"hunk": hunk.pk, "base": hunk.file.base_sha, **more}


def verdicts(proposal: Proposal) -> dict[str, str]:
    return {str(h.pk): h.verdict for h in Hunk.objects.filter(file__proposal=proposal)}


def test_a_verdict_leads_back_to_its_hunk_and_is_taken_back_there(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "PostgreSQL 16")
    response = post(browser, proposal, "decide", about(hunk, verdict="approved", back="show=undecided"))
    assert response.status_code == 303
    assert response["Location"] == f"/review/{proposal.public_id}/?show=undecided#hunk-{hunk.pk}"
    hunk.refresh_from_db()
    assert hunk.verdict == "approved" and hunk.decided_by == "owner"
    # The same button takes it back.
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    button = text[text.index(f'id="approve-{hunk.pk}"') :].partition(">")[0]
    assert 'value="pending"' in button and 'aria-pressed="true"' in button
    post(browser, proposal, "decide", about(hunk, verdict="pending"))
    hunk.refresh_from_db()
    assert hunk.verdict == "pending"


def test_a_verdict_decides_the_other_parts_of_its_operation(browser: Client, proposal: Proposal) -> None:
    post(
        browser,
        proposal,
        "decide",
        about(desk.hunk_with(proposal, "Releases leave"), verdict="rejected", reason="Wrong"),
    )
    row = desk.hunk_with(proposal, "[Release train]")
    assert row.verdict == "rejected" and row.decide_reason == "Wrong"


def test_a_reason_with_a_secret_is_shown_without_it(browser: Client, proposal: Proposal) -> None:
    key = "gh" + "p_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
    hunk = desk.hunk_with(proposal, "PostgreSQL 16")
    wanted = about(hunk, verdict="rejected", reason=f"It has {key}.", shown=str(hunk.pk))
    page = post(browser, proposal, "decide", wanted, **{"HX-Request": "true"}).content.decode()
    assert "It has [redacted: github-token]." in page and key not in page


def test_a_file_is_approved_without_what_has_findings(browser: Client, proposal: Proposal) -> None:
    Finding.objects.filter(proposal=proposal).delete()
    desk.add_finding(proposal, "PostgreSQL 16", "warn", "No date.")
    file = proposal.files.get(path="feedback_testing.md")
    text = browser.get(f"/review/{proposal.public_id}/?file={file.pk}").content.decode()
    press(browser, text[text.index(f'id="file-head-{file.pk}"') :], "Approve 2 without findings")
    assert desk.hunk_with(proposal, "PostgreSQL 16").verdict == "pending"
    assert desk.hunk_with(proposal, "reference_runbook").verdict == "approved"


def test_an_index_that_is_too_long_makes_no_decision_one_to_take_alone(
    browser: Client, proposal: Proposal
) -> None:
    Finding.objects.filter(proposal=proposal).delete()
    index = proposal.files.get(path="MEMORY.md")
    Finding.objects.create(
        proposal=proposal,
        file=index,
        key="k",
        check_name="budget",
        code="index-over-budget",
        severity="warn",
        message="300 lines.",
    )
    page = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "With findings<span>1</span>" in page.replace(" <span>", "<span>")
    assert "300 lines." in browser.get(f"/review/{proposal.public_id}/?show=findings").content.decode()
    press(browser, page, "Approve all 5")
    assert set(verdicts(proposal).values()) == {"approved"}


def test_the_rest_without_findings_leaves_out_whole_operations(browser: Client, proposal: Proposal) -> None:
    Finding.objects.filter(proposal=proposal).delete()
    desk.add_finding(proposal, "[Release train]", "block", "Look at this row.")
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    press(browser, text, "Approve 4 without findings")
    assert desk.hunk_with(proposal, "Releases leave").verdict == "pending"
    assert sorted(verdicts(proposal).values()) == ["approved"] * 6 + ["pending"] * 2


def test_an_edit_replaces_the_new_lines_and_approves(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    response = post(browser, proposal, "edit", about(hunk, text="Likes brief answers.\r\n"))
    assert response.status_code == 303
    hunk.refresh_from_db()
    assert hunk.verdict == "edited"
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "edited by you" in text and "brief" in text


def test_an_undo_leaves_what_another_person_decided_since(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    post(browser, proposal, "decide", about(hunk, verdict="approved"))
    review.decide(proposal, [hunk], Hunk.Verdict.REJECTED, review.Actor("ada"))
    response = post(browser, proposal, "take-back", {})
    assert response.status_code == 409 and "changed since your last decision" in response.content.decode()
    hunk.refresh_from_db()
    assert (hunk.verdict, hunk.decided_by) == ("rejected", "ada")


@pytest.mark.parametrize("was", ["pending", "edited"])
def test_an_undo_leaves_what_another_person_decides_at_the_same_moment(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch, was: str
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    if was == "edited":
        post(browser, proposal, "edit", about(hunk, text="Likes brief answers.\n"))
    post(browser, proposal, "decide", about(hunk, verdict="approved"))
    put_back = verdict_steps._put_back

    def beside_another(*given: Any) -> None:
        review.decide(proposal, [hunk], Hunk.Verdict.REJECTED, review.Actor("ada"))
        put_back(*given)

    monkeypatch.setattr(verdict_steps, "_put_back", beside_another)
    assert post(browser, proposal, "take-back", {}).status_code == 409
    hunk.refresh_from_db()
    assert (hunk.verdict, hunk.decided_by) == ("rejected", "ada")


@pytest.mark.parametrize("button", ["one decision", "all", "edit", "redact"])
def test_of_two_people_who_decide_at_the_same_moment_the_later_is_told(
    browser: Client, proposal: Proposal, monkeypatch: pytest.MonkeyPatch, button: str
) -> None:
    Finding.objects.filter(proposal=proposal).delete()
    hunk = desk.hunk_with(proposal, "very short")
    remember = verdict_steps.remember

    def beside_another(*given: Any) -> Any:
        review.decide(proposal, [hunk], Hunk.Verdict.REJECTED, review.Actor("ada"))
        return remember(*given)

    monkeypatch.setattr(verdict_steps, "remember", beside_another)
    page = browser.get(f"/review/{proposal.public_id}/").content.decode()
    if button == "all":
        response = press(browser, page, "Approve all 5")
    elif button == "edit":
        response = post(browser, proposal, "edit", about(hunk, text="Likes brief answers.\n"))
    elif button == "redact":
        monkeypatch.setitem(mending._MENDS, "redact", lambda *_: "Nothing.\n")
        response = post(browser, proposal, "mend", about(hunk, how="redact"))
    else:
        response = post(browser, proposal, "decide", about(hunk, verdict="approved"))
    assert response.status_code == 409
    assert "changed since you opened the page" in response.content.decode()
    hunk.refresh_from_db()
    assert (hunk.verdict, hunk.decided_by) == ("rejected", "ada")
    assert set(verdicts(proposal).values()) == {"pending", "rejected"}


@pytest.mark.parametrize("verb", ["decide", "edit"])
def test_a_verdict_on_a_state_that_is_gone_is_refused_and_the_new_one_shown(
    browser: Client, proposal: Proposal, verb: str
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    reason = {"reason": "It moved to the wiki"} if verb == "decide" else {}
    old = about(hunk, verdict="rejected", **reason) | ({"text": "x"} if verb == "edit" else {})
    FileChange.objects.filter(pk=hunk.file_id).update(base_sha=desk.rows.blob(desk.ROLE + "Oslo.\n"))
    response = post(browser, proposal, verb, old)
    assert response.status_code == 409
    assert "changed since you opened the page" in response.content.decode()
    hunk.refresh_from_db()
    assert hunk.verdict == "pending"
    swapped = post(browser, proposal, verb, old, **{"HX-Request": "true"})
    assert swapped.status_code == 409
    text = swapped.content.decode()
    for answer in (response, swapped):
        said = "The reason that you typed: “It moved to the wiki”"
        assert (said in html.unescape(answer.content.decode())) == (verb == "decide")
    if verb == "edit":  # what was typed stays in its field
        assert "changed since" in text and swapped.headers["HX-Retarget"] == f"#preview-{hunk.pk}"
    else:
        assert f'id="file-{hunk.file_id}"' in text and '<span class="block-text">This changed' in text


def test_a_verdict_on_what_another_window_decided_meanwhile_is_refused_and_that_is_shown(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    old = about(hunk, verdict="rejected", seen=selector.load(proposal).decision_of[hunk.pk].seen)
    post(browser, proposal, "decide", about(hunk, verdict="approved"))
    response = post(browser, proposal, "decide", old, **{"HX-Request": "true"})
    assert response.status_code == 409
    assert "approved</span>" in response.content.decode()
    hunk.refresh_from_db()
    assert hunk.verdict == "approved"


def test_a_verdict_on_a_review_that_was_submitted_meanwhile_leads_to_its_page_as_it_is_now(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    old = about(hunk, verdict="rejected", seen=selector.load(proposal).decision_of[hunk.pk].seen)
    Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.APPLIED)
    answer = post(browser, proposal, "decide", old, **{"HX-Request": "true"})
    assert answer.headers["HX-Redirect"] == f"/review/{proposal.public_id}/"
    page = browser.get(answer.headers["HX-Redirect"]).content.decode()
    assert "This proposal is applied: its decisions can no longer change." in page
    # What was typed is not thrown away for it.
    edited = post(browser, proposal, "edit", {**old, "text": "x"}, **{"HX-Request": "true"})
    assert edited.status_code == 409 and "HX-Redirect" not in edited.headers
    whole = post(browser, proposal, "edit", {**old, "text": "x"})
    assert (
        whole.status_code == 409 and "To keep what you typed, go back and copy it." in whole.content.decode()
    )


def test_an_answer_brings_every_card_that_another_window_decided_meanwhile(
    browser: Client, proposal: Proposal, opened: str
) -> None:
    mine, other = desk.hunk_with(proposal, "very short"), desk.hunk_with(proposal, "PostgreSQL 16")
    cards = re.findall(r'data-hunk="(\d+)" data-seen="(\w+)"', opened)
    post(browser, proposal, "decide", about(other, verdict="rejected"))
    shown = ",".join(":".join(card) for card in cards)
    answer = post(
        browser,
        proposal,
        "decide",
        about(mine, verdict="approved", shown=shown),
        **{"HX-Request": "true"},
    )
    assert {*re.findall(r'data-hunk="(\d+)"', answer.content.decode())} == {str(mine.pk), str(other.pk)}


def test_a_tab_left_open_decides_nothing_that_changed_and_says_that_the_review_was_submitted_meanwhile(
    browser: Client, proposal: Proposal
) -> None:
    Finding.objects.filter(proposal=proposal).delete()
    hunk = desk.hunk_with(proposal, "very short")
    one = about(hunk, verdict="approved", seen=selector.load(proposal).decision_of[hunk.pk].seen)
    address, fields = form(browser.get(f"/review/{proposal.public_id}/").content.decode(), "Approve all 5")
    FileChange.objects.filter(proposal=proposal, path="MEMORY.md").update(base_sha=desk.rows.blob("new"))
    assert browser.post(address, fields).status_code == 409
    assert set(verdicts(proposal).values()) == {"pending"}
    Hunk.objects.filter(file__proposal=proposal).update(verdict="approved")
    Proposal.objects.filter(pk=proposal.pk).update(state=Proposal.State.APPLIED)
    for old, to in ((fields, address), (one, f"/review/{proposal.public_id}/decide/")):
        answer = browser.post(to, old)
        assert answer.status_code == 409
        assert "This proposal is applied: its decisions can no longer change." in answer.content.decode()


@pytest.mark.more
def test_each_verdict_can_be_undone_one_after_the_other(browser: Client, proposal: Proposal) -> None:
    hunk, other = desk.hunk_with(proposal, "very short"), desk.hunk_with(proposal, "PostgreSQL 16")
    post(browser, proposal, "edit", about(hunk, text="Likes brief answers."))
    post(browser, proposal, "decide", about(other, verdict="rejected", reason="Wrong"))
    post(browser, proposal, "decide", about(hunk, verdict="rejected"))
    assert (
        "Rejected 1 decision in user_role.md."
        in browser.get(f"/review/{proposal.public_id}/").content.decode()
    )
    post(browser, proposal, "take-back", {})
    hunk.refresh_from_db()
    assert hunk.verdict == "edited"
    post(browser, proposal, "take-back", {})
    other.refresh_from_db()
    assert (other.verdict, other.decide_reason) == ("pending", "")
    post(browser, proposal, "take-back", {})
    hunk.refresh_from_db()
    assert hunk.verdict == "pending"
    assert post(browser, proposal, "take-back", {}).status_code == 409
    # Undoing is deciding again; the log keeps every step.
    assert Decision.objects.filter(proposal=proposal, hunk_id=hunk.hunk_id).count() >= 4


def test_with_htmx_only_what_changed_comes_back(browser: Client, proposal: Proposal) -> None:
    hunk, row = desk.hunk_with(proposal, "Releases leave"), desk.hunk_with(proposal, "[Release train]")
    other = desk.hunk_with(proposal, "very short")
    shown = f"{hunk.pk},{row.pk},{other.pk}"
    response = post(
        browser, proposal, "decide", about(hunk, verdict="approved", shown=shown), **{"HX-Request": "true"}
    )
    text = response.content.decode()
    assert response.status_code == 200 and "<html" not in text
    assert f'id="hunk-{hunk.pk}"' in text and f'id="hunk-{row.pk}"' in text
    assert f'id="hunk-{other.pk}"' not in text
    assert "1 of 5 decided" in text and "Approved 1 decision in project_release_train.md." in text


def test_a_card_that_is_not_on_the_page_is_not_sent(browser: Client, proposal: Proposal) -> None:
    hunk, other = desk.hunk_with(proposal, "Releases leave"), desk.hunk_with(proposal, "very short")
    asked = about(hunk, verdict="approved", shown=str(other.pk))
    response = post(browser, proposal, "decide", asked, **{"HX-Request": "true"})
    assert "data-hunk=" not in response.content.decode()


def test_a_finding_that_blocks_is_confirmed_one_by_one(browser: Client, proposal: Proposal) -> None:
    finding = desk.add_finding(proposal, "very short", "block", "An invisible character.")
    other = desk.add_finding(proposal, "very short", "block", "A second thing.")
    post(browser, proposal, "confirm", {"finding": finding.key})
    finding.refresh_from_db()
    other.refresh_from_db()
    assert finding.confirmed_by == "owner" and other.confirmed_at is None


@pytest.mark.more
def test_many_findings_of_one_kind_are_a_list_of_which_only_what_is_ticked_passes(
    browser: Client, proposal: Proposal
) -> None:
    proposal.findings.all().delete()
    lost = [f"The {word} queue is drained by hand." for word in ("red", "green", "blue", "grey")]
    found = [
        desk.add_finding(proposal, "very short", "block", f"Unexplained loss: “{said}”") for said in lost
    ]
    for finding, said in zip(found, lost, strict=True):
        Finding.objects.filter(pk=finding.pk).update(
            code="unexplained-loss", message_parts={"statement": said}
        )
    text = html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())
    assert "4 statements would no longer appear anywhere." in text and "I saw this" not in text
    for finding, said in zip(found, lost, strict=True):
        box = text[text.index(f'value="{finding.key}"') :].partition("</label>")[0]
        assert said in box and "checked" not in box
    assert post(browser, proposal, "confirm", {}).status_code == 409
    some_gone = {"finding": [found[0].key, "gone"]}
    assert post(browser, proposal, "confirm", some_gone).status_code == 409
    post(browser, proposal, "confirm", {"finding": [found[0].key, found[2].key]})
    waiting = Finding.objects.filter(proposal=proposal, confirmed_at=None).values_list("key", flat=True)
    assert set(waiting) == {found[1].key, found[3].key}


def test_a_refusal_has_no_button_and_cannot_be_confirmed(browser: Client, proposal: Proposal) -> None:
    finding = desk.add_finding(proposal, "very short", "refuse", "Outside the directory.")
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    start = text.index(f'id="hunk-{finding.hunk_id}"')
    shown = text[start : text.index("</article>", start)]
    assert "Outside the directory." in shown
    assert "I saw this" not in shown and f'id="approve-{finding.hunk_id}"' not in shown
    assert f'id="reject-{finding.hunk_id}"' in shown
    assert post(browser, proposal, "confirm", {"finding": finding.key}).status_code == 409


def test_a_verb_is_a_post_of_the_owner_with_a_token(
    client: Client, owner: object, proposal: Proposal
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)
    for verb in ("decide", "edit", "confirm", "viewed", "bring-up", "submit", "apply", "take-back"):
        address = f"/review/{proposal.public_id}/{verb}/"
        assert client.post(address).status_code == 302, verb
        assert set(verdicts(proposal).values()) == {"pending"}, verb
        assert strict.post(address).status_code == 403, verb
        assert strict.get(address).status_code == 405, verb


def test_a_verdict_that_does_not_exist_is_not_taken(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    for data in (
        about(hunk, verdict="edited"),
        about(hunk, verdict="x"),
        {"hunk": "7777777", "verdict": "approved"},
    ):
        assert post(browser, proposal, "decide", data).status_code == 404


def test_a_hunk_of_another_proposal_is_not_found_here(
    browser: Client, proposal: Proposal, tmp_path: Path
) -> None:
    other = world.three_changes(world.make_project(tmp_path / "other"))
    hunk = Hunk.objects.filter(file__proposal=other).first()
    assert hunk is not None
    assert post(browser, proposal, "decide", about(hunk, verdict="approved")).status_code == 404


def test_a_card_that_came_later_leads_back_to_the_view_it_is_in(browser: Client, proposal: Proposal) -> None:
    file = proposal.files.get(path="user_role.md")
    at = f"/review/{proposal.public_id}/"
    part = browser.get(
        f"{at}?file={file.pk}",
        headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{at}?show=undecided"},
    )
    assert 'name="back" value="show=undecided"' in part.content.decode()


@pytest.mark.more
def test_the_verdicts_of_a_visit_are_kept_within_bounds(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    for _ in range(verdict_steps.MOST + 2):
        post(browser, proposal, "decide", about(hunk, verdict="rejected"))
    assert len(browser.session[f"verdicts:{proposal.public_id}"]) == verdict_steps.MOST


def test_all_is_rejected_with_one_button_and_can_be_taken_back(
    browser: Client, proposal: Proposal, opened: str
) -> None:
    press(browser, opened, "Reject all 5")
    assert set(verdicts(proposal).values()) == {"rejected"}
    post(browser, proposal, "take-back", {})
    assert set(verdicts(proposal).values()) == {"pending"}


def test_the_other_button_for_all_leaves_what_is_decided(browser: Client, proposal: Proposal) -> None:
    post(browser, proposal, "decide", about(desk.hunk_with(proposal, "Releases leave"), verdict="approved"))
    press(browser, browser.get(f"/review/{proposal.public_id}/").content.decode(), "Reject the other 4")
    assert sorted(verdicts(proposal).values()) == ["approved"] * 2 + ["rejected"] * 6


def test_an_undo_says_what_it_undid_and_leads_to_it_wherever_it_is(
    browser: Client, proposal: Proposal
) -> None:
    train, role = desk.hunk_with(proposal, "Releases leave"), desk.hunk_with(proposal, "very short")
    post(browser, proposal, "decide", about(train, verdict="approved"))
    post(browser, proposal, "decide", about(role, verdict="rejected"))
    back = post(browser, proposal, "take-back", {"back": "q=very+short"})
    assert back["Location"] == f"/review/{proposal.public_id}/?q=very+short&hunk={role.pk}#hunk-{role.pk}"
    said = "Undone: rejected 1 decision in user_role.md."
    assert said in browser.get(f"/review/{proposal.public_id}/").content.decode()
    # The filter hides the other one, so it is left for it.
    answer = post(browser, proposal, "take-back", {"back": "q=very+short"}, **{"HX-Request": "true"})
    to = json.loads(answer["HX-Trigger-After-Settle"])["review:go"]
    assert to["to"] == f"hunk-{train.pk}"
    assert to["address"] == f"/review/{proposal.public_id}/?hunk={train.pk}#hunk-{train.pk}"
    assert "Undone: approved 1 decision in project_release_train.md." in answer.content.decode()


@pytest.mark.more
def test_an_edit_is_shown_against_the_proposal_and_can_go_back_to_it(
    browser: Client, proposal: Proposal
) -> None:
    hunk = desk.hunk_with(proposal, "Releases leave")
    kept = "---\nname: Release train\ndescription: When releases leave\ntype: project\n---\n\n"
    found = set(proposal.findings.values_list("message", flat=True))
    post(browser, proposal, "edit", about(hunk, text=f"{kept}Releases leave on Mondays.\n"))
    text = browser.get(f"/review/{proposal.public_id}/").content.decode()
    yours = text[text.index("Your version, compared with the proposal") :].partition("</form>")[0]
    assert re.search(r"<del>.*Tuesdays.*</del>", yours) and "Mondays" in yours
    assert found != set(proposal.findings.values_list("message", flat=True))
    press(browser, text, "Back to the proposal")
    hunk.refresh_from_db()
    assert (hunk.verdict, hunk.edited_sha) == ("approved", "")
    assert desk.hunk_with(proposal, "[Release train]").verdict == "approved"
    # What the checks say is of the proposed text again.
    assert found == set(proposal.findings.values_list("message", flat=True))
    post(browser, proposal, "take-back", {})
    hunk.refresh_from_db()
    assert hunk.verdict == "edited"


def test_undoing_a_reason_that_was_given_later_does_not_claim_to_undo_the_verdict(
    browser: Client, proposal: Proposal
) -> None:
    role = desk.hunk_with(proposal, "very short")
    for reason in ("", "Wrong"):
        post(browser, proposal, "decide", about(role, verdict="rejected", reason=reason))
    post(browser, proposal, "take-back", {})
    role.refresh_from_db()
    assert (role.verdict, role.decide_reason) == ("rejected", "")
    shown = browser.get(f"/review/{proposal.public_id}/").content.decode()
    assert "Undone: gave a reason for 1 decision in user_role.md." in shown
    assert "Rejected 1 decision in user_role.md." not in shown, "what was undone is said first"


def test_a_typed_reason_is_confirmed(browser: Client, proposal: Proposal) -> None:
    hunk = desk.hunk_with(proposal, "very short")
    answer = post(
        browser,
        proposal,
        "decide",
        about(hunk, verdict="rejected", reason="Not so.", shown=str(hunk.pk)),
        **{"HX-Request": "true"},
    )
    assert "Reason saved" in answer.content.decode()


def test_the_index_comes_last_as_its_rows_go_with_their_memories(browser: Client, proposal: Proposal) -> None:
    assert [file.path for file in selector.load(proposal).files][-1] == "MEMORY.md"
