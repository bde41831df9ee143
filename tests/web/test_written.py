"""After a submit the page says what the agent knows now, how a past question is answered since, and what comes next."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from dreams.findings.ledger import units
from dreams.models import Hunk, Memory, Prompt, Proposal
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.proposals import summaries
from tests.world import directory as world, rows

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("decided", [True, False])
def test_beside_each_file_are_the_lines_that_were_written(
    tmp_path: Path, browser: Client, decided: bool
) -> None:
    before = "One.\n\n## A\n\nTwo.\n\n## B\n\nThree.\n"
    after = before.replace("Two.", "Two.\nNew.").replace("Three.", "Three.\nLeft.\nOut.")
    project = world.make_project(tmp_path, {"MEMORY.md": "- [T](topic.md)\n", "topic.md": before})
    made = world.propose(project, world.edit("topic.md", before, after, "a"))
    made.findings.all().delete()
    made.operations.all().delete()
    first, *_ = hunks = list(Hunk.objects.filter(file__proposal=made).order_by("number"))
    assert len(hunks) == 2
    if not decided:
        assert '<span class="ok-text">+3</span>' in _page(browser, made)
        return
    review.decide(made, [first], Hunk.Verdict.APPROVED, world.ME)
    review.decide(made, hunks[1:], Hunk.Verdict.REJECTED, world.ME)
    assert applying.apply(made, world.ME).complete
    page = _page(browser, made)
    assert '<span class="ok-text">+1</span>' in page and '<span class="ok-text">+3</span>' not in page


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    made = world.three_changes(world.make_project(tmp_path))
    made.findings.all().delete()
    return made


def _write(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete


def _page(browser: Client, proposal: Proposal) -> str:
    return html.unescape(browser.get(f"/review/{proposal.public_id}/").content.decode())


def _panel(browser: Client, proposal: Proposal) -> str:
    return _page(browser, proposal).partition('class="card written"')[2].partition("</section>")[0]


def _ask(proposal: Proposal, text: str) -> None:
    session = rows.make_session(proposal.project)
    Prompt.objects.create(key=len(text), session=session, offset=0, line_no=1, at=timezone.now(), text=text)


@pytest.mark.more
@pytest.mark.parametrize("page", ["/review/{0.public_id}/", "/projects/{0.project_id}/instructions/"])
def test_a_page_keeps_the_statements_of_no_large_directory_in_memory(
    browser: Client, proposal: Proposal, page: str
) -> None:
    _write(proposal)
    for number in range(units.MOST_KEPT + 1):
        units.units_of("a.md", f"Room {number} is red.\n".encode())
    assert browser.get(page.format(proposal)).status_code == 200
    assert units._units.cache_info().currsize <= units.MOST_KEPT


@pytest.mark.more
def test_what_is_new_and_what_is_gone_is_said_of_each_memory(browser: Client, proposal: Proposal) -> None:
    assert not _panel(browser, proposal)
    _write(proposal)
    text = _panel(browser, proposal)
    assert "What your agent knows now" in text
    learnt = re.findall(r'<li class="learnt">.*?</span>(.*?)</li>', text)
    assert learnt == [
        "Use make fresh before a run.",
        "Snapshots are reviewed by hand, never with -u.",
        "The export runs at 04:00 UTC.",
    ]
    assert "<del>Use make reset before a run.</del>" in text


def test_what_somebody_wrote_or_removed_since_is_not_said_of_the_review(
    browser: Client, proposal: Proposal
) -> None:
    _write(proposal)
    before = _panel(browser, proposal)
    path = world.folder(proposal.project) / "feedback_testing.md"
    path.write_text(
        path.read_text().replace("Tests run against a real database.", "I wrote this line by hand.")
    )
    syncing.refresh(proposal.project)
    assert _panel(browser, proposal) == before


def test_what_took_the_place_of_a_line_is_told_also_where_another_memory_says_it(
    browser: Client, tmp_path: Path
) -> None:
    linked = world.TESTING.replace("Use make reset before a run.", "- [[rollout]]")
    mended = linked.replace("[[rollout]]", "[[deploy]]")  # the name of another memory
    project = world.make_project(tmp_path, {"feedback_testing.md": linked, "project_deploy.md": world.DEPLOY})
    made = world.propose(project, world.edit("feedback_testing.md", linked, mended, "link"))
    made.findings.all().delete()
    _write(made)
    told = re.findall(r'<li class="(?:learnt|gone)">.*?</span>(.*?)</li>', _panel(browser, made))
    assert told == ["[[deploy]]", "<del>[[rollout]]</del>"]


def test_a_question_of_a_past_session_is_answered_before_and_after(
    browser: Client, proposal: Proposal
) -> None:
    _ask(proposal, "what colour is the sea?")
    _ask(proposal, "When does the export run, is it in the morning?")
    _write(proposal)
    text = _panel(browser, proposal)
    assert "“When does the export run, is it in the morning?”" in text
    before, now = text.split("Before</h3>")[1].split("Now</h3>")
    assert "04:00" not in before, before
    assert "Tests run against a real database." in before, "the word “run” is all that it has"
    assert "The export runs at 04:00 UTC." in now


def test_without_a_question_that_is_answered_otherwise_none_is_shown(
    browser: Client, proposal: Proposal
) -> None:
    _ask(proposal, "what colour is the sea?")
    _write(proposal)
    assert "Before</h3>" not in _panel(browser, proposal)


@pytest.mark.more
def test_the_next_review_is_one_key_away(browser: Client, proposal: Proposal) -> None:
    _write(proposal)
    assert "Next review" not in _panel(browser, proposal)
    rows.make_proposal(rows.make_project())
    text = _panel(browser, proposal)
    assert f'href="/next/?after={proposal.public_id}" data-key="g"' in text and "Next review · 1 left" in text


@pytest.mark.more
def test_what_was_undone_is_redone_from_the_same_page(browser: Client, proposal: Proposal) -> None:
    _write(proposal)
    here, folder = f"/review/{proposal.public_id}/", world.folder(proposal.project)
    seen = _seen(browser.get(f"{here}undo/"))
    browser.post(f"{here}undo/", {"seen": seen})
    assert (folder / "feedback_testing.md").read_text() == world.TESTING
    text = _page(browser, proposal)
    link = re.search(r'<a class="button" href="([^"]+)">[^>]*?<svg.*?</svg>Redo</a>', text, re.S)
    assert link and not _panel(browser, proposal)
    page = browser.get(link[1])
    shown = page.content.decode()
    assert "<h1>Redo what was undone</h1>" in shown
    # As many as were undone: the undo took all of them back as one.
    assert "<b>3 decisions, 4 changes</b>" in shown and "Redo 3 decisions</button>" in shown
    assert 'data-busy="Redoing…"' in shown
    response = browser.post(link[1], {"seen": _seen(page)})
    assert response.headers["Location"] == here
    assert "make fresh" in (folder / "feedback_testing.md").read_text()
    text = _page(browser, proposal)
    assert "Redone: " in text and "Undo all" in text and "Redo</a>" not in text


@pytest.mark.more
def test_several_undos_are_redone_one_by_one_and_the_button_says_so(
    browser: Client, proposal: Proposal
) -> None:
    _write(proposal)
    changes = proposal.files.get(path="feedback_testing.md").hunks.all()
    for hunk in changes:
        here = f"/review/{proposal.public_id}/undo/?hunk={hunk.hunk_id}"
        browser.post(here, {"seen": _seen(browser.get(here)), "hunk": hunk.hunk_id})
    for button in ("Redo the last undo", "Redo"):
        text = " ".join(_page(browser, proposal).split())
        link = re.search(rf'<a class="button" href="([^"]+)"><svg[^>]*>.*?</svg> ?{button}</a>', text)
        assert link
        browser.post(link[1], {"seen": _seen(browser.get(link[1]))})
    assert "Redo" not in _panel(browser, proposal)


@pytest.mark.more
def test_an_undo_of_an_undo_is_a_redo_everywhere_and_the_next_one_an_undo(
    browser: Client, proposal: Proposal
) -> None:
    _write(proposal)
    made, told = [proposal], []
    for _ in range(3):
        here = f"/review/{made[-1].public_id}/undo/"
        browser.post(here, {"seen": _seen(browser.get(here))})
        made.append(Proposal.objects.latest("pk"))
        lately = browser.get("/").content.decode().partition("Recently applied")[2]
        told.append((summaries.of_proposal(made[-1]).text, set(re.findall(r"(Undo|Redo)<span", lately))))
    assert told == [
        ("Undid changes in 3 files", {"Redo"}),
        ("Redid changes in 3 files", {"Undo"}),
        ("Undid changes in 3 files", {"Redo"}),
    ]
    assert "<h1>Redo what was undone</h1>" in _page_of_undo(browser, made[3])
    assert re.search(r"</svg>\s*Redo</a>", _page(browser, made[1]))
    log = browser.get("/audit/").content.decode()
    assert re.findall(r"You (undid|redid) changes", log) == ["undid", "redid", "undid"]


def _page_of_undo(browser: Client, proposal: Proposal) -> str:
    return browser.get(f"/review/{proposal.public_id}/undo/").content.decode()


def _seen(page: object) -> str:
    found = re.search(r'name="seen" value="([^"]+)"', page.content.decode())  # type: ignore[attr-defined] # a response
    assert found
    return found[1]


@pytest.mark.more
def test_what_was_undone_is_redone_from_the_inbox(browser: Client, proposal: Proposal) -> None:
    _write(proposal)
    here = f"/review/{proposal.public_id}/undo/"
    browser.post(here, {"seen": _seen(browser.get(here))})
    undo = proposal.undone_by.get()
    text = browser.get("/").content.decode()
    # Beside what was undone, and beside the undo itself.
    links = re.findall(f'href="(/review/{undo.public_id}/undo/[^"]*)"', text)
    assert len(links) == 2 and text.count("Redo<span") == 2
    assert len({_seen(browser.get(link)) for link in links}) == 1, "they are the same redo"
    assert here not in text


@pytest.mark.more
def test_a_hand_edits_saved_carries_its_undo(browser: Client, proposal: Proposal) -> None:
    memory = Memory.objects.get(project=proposal.project, path="project_deploy.md")
    data = {"content": world.DEPLOY.replace("alpha", "beta"), "base_sha": memory.sha256}
    text = browser.post(f"/memories/{memory.pk}/edit/", data, follow=True).content.decode()
    made = Proposal.objects.get(origin="edit")
    assert "Saved project_deploy.md." in text
    assert f'<a href="/review/{made.public_id}/undo/">Undo</a>' in text
