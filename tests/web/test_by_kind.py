"""One kind of change across projects: what is on screen is what one verdict decides."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import Blob, Decision, Evidence, FileChange, Finding, Hunk, Operation, Project, Proposal
from dreams.services import review
from dreams.services.review import triage
from dreams.web.pages import bulk as pages
from tests.world import directory as real, rows as make

pytestmark = pytest.mark.django_db


def propose(project: str, count: int = 1, kind: str = "date", **fields: object) -> Proposal:
    """A dream's proposal of so many changes of one line, each a decision."""
    where = make.make_project(project)
    made = Proposal.objects.create(
        project=where, dream=make.make_dream(where), **{"origin": "dream", "summary": "Dated.", **fields}
    )
    for number in range(count):
        add(made, f"Rack {number} was moved yesterday.\n", f"Rack {number} was moved on 2026-10-01.\n", kind)
    return made


def add(proposal: Proposal, old: str, new: str, kind: str = "date") -> Hunk:
    number = proposal.operations.count()
    operation = Operation.objects.create(
        proposal=proposal, key=f"{kind}{number}", kind=kind, reason="“yesterday” is 2026-10-01."
    )
    file = FileChange.objects.create(
        proposal=proposal,
        path=f"log_{number}.md",
        kind="modify" if new else "delete",
        base_sha=make.blob(old),
        new_sha=make.blob(new) if new else "",
    )
    hunk = Hunk.objects.create(
        file=file,
        operation=operation,
        hunk_id=f"h{number}",
        number=0,
        base_start=0,
        base_count=old.count("\n"),
        new_start=0,
        new_count=new.count("\n"),
    )
    Evidence.objects.create(
        hunk=hunk, source="memory", place=file.path, quote=f"moved rack {number} the day before"
    )
    return hunk


def form(browser: Client, query: str = "?kind=date") -> dict[str, object]:
    found = browser.get(f"/by-kind/{query}").context["found"]
    return {"kind": found.kind, "digest": found.digest, "of": [card["operation"].pk for card in found.able]}


def give(browser: Client, verdict: str, shown: dict[str, object]):
    return browser.post("/by-kind/decide/", {**shown, "verdict": verdict}, follow=True)


def verdicts() -> list[str]:
    return sorted(Hunk.objects.values_list("verdict", flat=True))


def test_all_projects_are_one_list_with_every_line_and_its_evidence(browser: Client) -> None:
    propose("api", 2), propose("web", 1)
    page = browser.get("/by-kind/?kind=date").content.decode()
    assert "<h1>3 relative dates to fix in 2 projects</h1>" in page
    for number in (0, 1):
        assert f"Rack {number} was moved " in page and f"moved rack {number} the day before" in page
    assert "3 relative dates to fix in 2 projects" in browser.get("/").content.decode()


def test_quotes_that_do_not_fit_are_counted(browser: Client) -> None:
    hunk = Hunk.objects.get(file__proposal=propose("api"))
    for day in ("Monday", "Tuesday"):
        Evidence.objects.create(hunk=hunk, source="memory", place="log_0.md", quote=f"moved on {day}")
    page = browser.get("/by-kind/?kind=date").content.decode()
    assert page.count("<q>") == 2 and "1 more quote in its review." in page


def test_one_verdict_decides_what_is_shown_and_nothing_else(browser: Client) -> None:
    for name in ("api", "web", "infra"):
        propose(name, 9)
    other = propose("other", 1, kind="merge")
    shown = form(browser)
    assert len(shown["of"]) == pages.PAGE_SIZE == 25  # type: ignore[arg-type]
    page = give(browser, "approved", shown)
    assert "Approved: 25 decisions in 3 projects" in page.content.decode()
    assert Hunk.objects.filter(verdict="approved").count() == 25
    assert Hunk.objects.filter(verdict="pending").count() == 3
    assert other.operations.get().hunks.get().verdict == "pending"
    assert len(set(Decision.objects.values_list("batch", flat=True)) - {""}) == 1, "one press is one batch"


def test_one_change_alone_is_no_batch(browser: Client) -> None:
    propose("api", 2)
    card = browser.get("/by-kind/?kind=date").context["found"].able[0]
    give(browser, "rejected", {"kind": "date", "of": card["operation"].pk, "digest": card["digest"]})
    assert verdicts() == ["pending", "rejected"]
    assert list(Decision.objects.values_list("batch", flat=True)) == [""]


def changed_text(first: Hunk) -> None:
    FileChange.objects.filter(pk=first.file_id).update(new_sha=make.blob("something else\n"))


def decided_elsewhere(first: Hunk) -> None:
    review.decide(first.file.proposal, [first], Hunk.Verdict.REJECTED, review.Actor("owner"))


def found_out(first: Hunk) -> None:
    Finding.objects.create(
        proposal=first.file.proposal, file=first.file, hunk=first, key="k", code="c", severity="warn"
    )


@pytest.mark.parametrize("change", [changed_text, decided_elsewhere, found_out])
def test_what_changed_since_it_was_shown_is_not_decided_and_the_new_count_is_said(
    browser: Client, change
) -> None:
    propose("api", 2), propose("web", 1)
    shown = form(browser)
    change(Hunk.objects.select_related("file__proposal").earliest("pk"))
    before = verdicts()
    page = give(browser, "approved", shown)
    assert page.status_code == 409 and verdicts() == before
    count = triage.counts(timezone.now(), "owner")[0].decisions
    assert f"so nothing was decided. Now: {count} relative date" in page.content.decode()


def test_what_was_put_off_is_not_among_what_is_decided_by_kind(browser: Client) -> None:
    later = propose("api", 2)
    propose("web", 1)
    browser.post("/snooze/", {"proposal": later.public_id, "until": "dream"})
    assert "1 relative date to fix in" in unescape(browser.get("/").content.decode())
    assert len(form(browser)["of"]) == 1  # type: ignore[arg-type]
    browser.post("/snooze/bring-back/", {"item": later.public_id})
    assert len(form(browser)["of"]) == 3  # type: ignore[arg-type]


def test_a_decision_that_was_not_shown_is_not_decided_with_the_digest_of_others(browser: Client) -> None:
    propose("api", 1)
    shown = form(browser)
    more = propose("web", 1).operations.get()
    assert give(browser, "approved", {**shown, "of": [*shown["of"], more.pk]}).status_code == 409  # type: ignore[misc]
    assert set(verdicts()) == {"pending"}


def test_what_has_a_finding_or_a_secret_or_is_too_long_is_decided_in_its_review(browser: Client) -> None:
    proposal = propose("api", 1)
    found_out(Hunk.objects.get())
    add(proposal, "The token is gh" + "p_" + "q8Rt2" * 7 + "x.\n", "The token is gone.\n")
    add(proposal, "line\n" * (pages.MOST_LINES_OF_ONE + 1), "")
    cards = browser.get("/by-kind/?kind=date").context["found"]
    assert [bool(card["why_not"]) for card in cards.cards.items] == [True] * 3 and not cards.able
    assert "q8Rt2" not in browser.get("/by-kind/?kind=date").content.decode()


def test_a_change_whose_text_is_missing_says_so_and_the_others_can_be_decided(browser: Client) -> None:
    lost = propose("api", 1).files.get()
    propose("web", 1)
    Blob.objects.filter(sha256=lost.base_sha).delete()
    FileChange.objects.filter(proposal__project__name="web").update(base_sha=make.blob("Rack 9.\n"))
    page = browser.get("/by-kind/?kind=date")
    assert page.status_code == 200
    missing, whole = page.context["found"].cards.items
    assert missing["why_not"] == "The text of one of its files is missing. Decide on it in its review."
    assert not whole["why_not"] and [card["operation"].pk for card in page.context["found"].able] == [
        whole["operation"].pk
    ]
    give(browser, "approved", form(browser))
    assert verdicts() == ["approved", "pending"]


def test_a_removal_is_shown_line_by_line_before_it_can_be_approved(browser: Client) -> None:
    add(propose("api", 0), "One fact.\nAnother fact.\n", "", kind="prune")
    page = browser.get("/by-kind/?kind=prune")
    assert "removes the file" in page.content.decode()
    assert "One fact." in page.content.decode() and "Another fact." in page.content.decode()
    assert len(page.context["found"].able) == 1


def test_it_is_taken_back_at_once(browser: Client) -> None:
    propose("api", 2)
    page = give(browser, "approved", form(browser))
    done = page.context["done"]
    again = give(browser, "pending", {"kind": "date", "of": done["operations"], "digest": done["digest"]})
    assert "Undid 2 decisions." in again.content.decode() and verdicts() == ["pending", "pending"]


def test_what_is_fully_decided_can_be_written_from_there_unless_its_file_changed(
    browser: Client, tmp_path: Path
) -> None:
    done, half = propose("api", 1), propose("web", 1)
    Project.objects.filter(pk=done.project_id).update(memory_dir=str(tmp_path))
    file = tmp_path / "log_0.md"
    file.write_text("Rack 0 was moved yesterday.\n")
    add(half, "One fact.\n", "One fact more.\n", kind="learn")
    page = give(browser, "approved", form(browser))
    assert page.context["found"].ready == [done.public_id]
    assert f"/several/?verdict=approve&amp;proposal={done.public_id}" in page.content.decode()
    file.write_text("Rack 0 was moved yesterday, by Ada.\n")
    assert "can be written" not in browser.get("/by-kind/").content.decode()


def test_undos_hand_edits_and_answers_are_not_listed(browser: Client) -> None:
    propose("api", 1, origin="rollback"), propose("web", 1, state="submitted")
    assert triage.counts(timezone.now(), "owner") == []
    none = browser.get("/by-kind/?kind=date").content.decode()
    assert "Nothing of this kind is waiting" in none and "Every line is shown" not in none


def test_with_htmx_the_list_is_answered_alone(browser: Client) -> None:
    propose("api", 2)
    shown = form(browser)
    answer = browser.post(
        "/by-kind/decide/", {**shown, "verdict": "approved"}, headers={"HX-Request": "true"}
    )
    assert answer.status_code == 200 and b"<html" not in answer.content and b"Approved: 2" in answer.content


def test_however_much_there_is_the_page_asks_as_often(browser: Client) -> None:
    propose("api", 1), propose("web", 1)
    few = queries(browser)
    for number in range(6):
        proposal = propose(f"more{number}", 3)
        found_out(Hunk.objects.filter(file__proposal=proposal).earliest("pk"))
    assert queries(browser) <= few


def queries(browser: Client) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get("/by-kind/?kind=date").status_code == 200
    return len(asked)


def shown_now(*proposals: Proposal) -> tuple[list[int], str]:
    """The decisions of these, with the digest of what is to be said of them."""
    wanted = list(
        Operation.objects.filter(proposal__in=proposals).order_by("pk").values_list("pk", flat=True)
    )
    found = triage.parts(wanted)
    hunks = [hunk for each in found.values() for hunk in each]
    return wanted, triage.digest(found.values(), triage.findings_by_decision(hunks))


def test_what_a_finding_is_against_is_approved_by_no_form_and_can_be_rejected(browser: Client) -> None:
    proposal = propose("api", 2)
    found_out(Hunk.objects.earliest("pk"))
    wanted, seen = shown_now(proposal)
    with pytest.raises(triage.ShownHasChanged):
        triage.decide_shown(wanted, seen, Hunk.Verdict.APPROVED, review.Actor("owner"))
    assert verdicts() == ["pending", "pending"]
    assert triage.decide_shown(wanted, seen, Hunk.Verdict.REJECTED, review.Actor("owner")).decisions == 2
    assert verdicts() == ["rejected", "rejected"]


def test_what_a_check_found_at_this_moment_is_not_approved_unseen(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = propose("api")
    wanted, seen = shown_now(proposal)
    locked = review.lock_open_proposal

    def found_meanwhile(of: Proposal) -> None:
        found_out(Hunk.objects.get())
        locked(of)

    monkeypatch.setattr(review, "lock_open_proposal", found_meanwhile)
    result = triage.decide_shown(wanted, seen, Hunk.Verdict.APPROVED, review.Actor("owner"))
    assert result.decisions == 0 and "Look at it again" in result.refused[0]
    assert verdicts() == ["pending"]


def test_a_proposal_that_is_submitted_at_this_moment_stops_no_other(browser: Client) -> None:
    first, second = propose("api"), propose("web")
    wanted, seen = shown_now(first, second)
    Proposal.objects.filter(pk=first.pk).update(state=Proposal.State.SUBMITTED)
    result = triage.decide_shown(wanted, seen, Hunk.Verdict.APPROVED, review.Actor("owner"))
    assert (result.decisions, result.projects, len(result.refused)) == (1, 1, 1)
    assert result.refused[0].startswith(f"{first.project}: ")
    assert [Hunk.objects.get(file__proposal=each).verdict for each in (first, second)] == [
        "pending",
        "approved",
    ]


def test_a_link_decides_nothing(browser: Client) -> None:
    assert browser.get("/by-kind/decide/").status_code == 405


def test_from_the_list_to_the_disk_without_opening_a_review(browser: Client, tmp_path: Path) -> None:
    after = real.DEPLOY.replace("host alpha", "host beta")
    made = []
    for name in ("one", "two"):
        project = real.make_project(tmp_path / name)
        made.append(real.propose(project, real.edit("project_deploy.md", real.DEPLOY, after, "moved")))
    Finding.objects.all().delete()
    give(browser, "approved", form(browser, "?kind=update"))
    link = re.search(r'href="(/several/[^"]+)"', browser.get("/by-kind/").content.decode())
    assert link is not None
    page = browser.get(unescape(link[1])).content.decode()
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    shown: dict[str, list[str]] = {}
    for name, value in fields:
        shown.setdefault(name, []).append(value)
    browser.post("/several/decide/", shown)
    for proposal in made:
        assert (real.folder(proposal.project) / "project_deploy.md").read_text() == after
    assert triage.ready_to_submit() == [] and triage.counts(timezone.now(), "owner") == []


def test_what_another_person_decided_at_the_same_moment_is_not_decided_again(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, other = propose("api"), propose("web")
    shown, look = form(browser), triage.findings_by_decision

    def beside_another(hunks: list[Hunk]) -> dict[int, list[Finding]]:
        monkeypatch.undo()
        ada = review.Actor("ada")
        review.decide(made, list(Hunk.objects.filter(file__proposal=made)), Hunk.Verdict.REJECTED, ada)
        return look(hunks)

    monkeypatch.setattr(triage, "findings_by_decision", beside_another)
    page = give(browser, "approved", shown).content.decode()
    assert "api: This changed since you opened the page" in unescape(page)
    assert Hunk.objects.get(file__proposal=made).decided_by == "ada"
    assert Hunk.objects.get(file__proposal=other).verdict == "approved"
