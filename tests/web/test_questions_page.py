"""Questions beside a review, on a project's page, across projects: answered, put off, taken back, with htmx and without."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dreams.engines.types import Citation, Edit, Option, Place
from dreams.models import DreamRun, Hunk, Project, Proposal, Question
from dreams.services import dreaming
from dreams.services.questions import shown_questions
from dreams.web.pages import questions as question_pages
from tests.world import directory, questions as asked

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return asked.make_project(tmp_path)


@pytest.fixture
def proposal(project: Project) -> Proposal:
    return asked.propose(project)


def text_of(response) -> str:
    return html.unescape(response.content.decode())


def page(browser: Client, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200
    return text_of(response)


def card(text: str, question: Question) -> str:
    """The card's own part of a page."""
    return text.partition(f'id="question-{question.public_id}"')[2].partition("</article>")[0]


def same_words(text: str) -> list[str]:
    """What a review says of its size beside the cards: in its head, its files and its filters."""
    names = ("review-size", "review-told", "review-list", "review-filters")
    parts = [re.search(rf'<(\w+)[^>]* id="{name}".*?</\1>', text, re.DOTALL) for name in names]
    return [" ".join(re.sub(r"<[^>]*>", " ", part[0]).split()) if part else "missing" for part in parts]


def answer(browser: Client, question: Question, option: str, **more):
    headers = more.pop("headers", {})
    return browser.post(
        f"/questions/{question.public_id}/answer/", {"option": option, **more}, headers=headers
    )


def state(question: Question) -> str:
    return Question.objects.values_list("state", flat=True).get(pk=question.pk)


def test_a_long_statement_is_shown_from_the_sentence_that_the_question_rests_on(
    browser: Client, tmp_path: Path
) -> None:
    said = "As of 2020-03-02 the importer skips step 3."
    others = "The importer of step 2 keeps what it read in a table beside the rows of step 1.\n" * 8
    project = directory.make_project(
        tmp_path,
        {
            "project_importer.md": f"The importer reads orders.\n\n{others}{said}\n",
        },
    )
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None
    (question,) = Question.objects.filter(kind="expired")
    one = card(page(browser, f"/projects/{project.pk}/questions/"), question)
    assert one.partition("</blockquote>")[0].count("<mark>") == 1 and f"<mark>{said}</mark>" in one, one
    shown = one.partition("<blockquote")[2].partition(f"<mark>{said}")[0].rpartition("<blockquote")[2]
    assert "… " in shown and len(shown) < 300


def test_a_review_shows_its_questions_with_places_marks_and_options(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    conflict, changed, *_ = asked.ask_all(project, proposal)
    text = page(browser, f"/review/{proposal.public_id}/")
    assert ">Only you can tell</h2>" in text and '<b class="questions-count">5 questions</b>.' in text
    one = card(text, conflict)
    assert "<mark>8443</mark>" in one and "<mark>9443</mark>" in one
    assert "project_deploys.md:7</a>" in one
    for number, label in enumerate(("Port 8443", "Port 9443", "Leave as it is"), 1):
        assert f'data-key="{number}">{label}' in one
    assert 'value="later" data-key="s"' in one
    # What each would change is in the page before it is chosen.
    assert one.count("Show change") == 2 and "/recall/?q=Staging" in one
    session = card(text, changed)
    assert "You, " in session and "Upgrade the test database · line 42</a>" in session
    assert session.count("we moved the test database") == 1 and "Evidence (" not in session, "not said twice"


def test_a_lost_file_is_shown_with_the_commit_that_removed_it(browser: Client, project: Project) -> None:
    note = "Removed in 3f2a91c, 2 May 2026: <b>Drop</b> the old\u202eAPI"
    cited = Citation("repository", "scripts/reset_db.sh", place="scripts/reset_db.sh", note=note)
    (question,) = asked.ask(project, replace(asked.blocked(), citations=(cited,)))
    shown = browser.get(f"/projects/{project.pk}/questions/").content.decode()
    evidence = card(shown, question).partition('<details class="fold question-evidence" open>')[2]
    assert "2 May 2026: &lt;b&gt;Drop&lt;/b&gt; the old⟨U+202E⟩API</p>" in evidence.partition("</details>")[0]


def test_an_answer_that_removes_a_whole_file_says_so_beside_its_button(
    browser: Client, project: Project
) -> None:
    freeze = asked.FILES["project_freeze.md"]
    gone = Edit("project_freeze.md", freeze, None, "answer", "remove", "It has passed.", (), ())
    without = replace(asked.expired(), options=(Option("remove", "Remove it", (gone,)), asked.KEEP))
    removed, kept = asked.ask(project, without, asked.conflict())
    text = page(browser, f"/projects/{project.pk}/questions/")
    assert "removes project_freeze.md</span>" in card(text, removed)
    assert ">removes " not in card(text, kept)


@pytest.mark.more
def test_only_a_review_that_is_open_says_that_questions_do_not_block_its_submit(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    asked.ask(project, asked.conflict(), proposal=proposal)
    here = f"/review/{proposal.public_id}/"
    assert "questions never block a submit" in page(browser, here)
    Proposal.objects.update(state=Proposal.State.REJECTED)
    text = page(browser, here)
    assert "Likely, but not certain." in text and "never block a submit" not in text


def test_places_that_are_a_list_are_not_compared(browser: Client, tmp_path: Path) -> None:
    names = ("deploys", "queue", "tests", "style")
    index = "".join(
        f"- [{name}]({name}.md) — the importer answers on port {8440 + len(name)}\n" for name in names
    )
    there = {f"{name}.md": f"What is said of {name}.\n" for name in names[:2]}
    project = directory.make_project(tmp_path, {"MEMORY.md": index, **there})
    assert dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    (question,) = Question.objects.filter(kind="gone")
    one = card(page(browser, f"/projects/{project.pk}/questions/"), question)
    assert "tests.md" in one and "style.md" in one and "<mark>" not in one


def test_of_many_things_that_two_files_say_each_is_compared_with_its_like(
    browser: Client, tmp_path: Path
) -> None:
    told = (
        "The `pump-reader-31` has its own valve, ladder and pressure plate",
        "Crates of `dock-7` wait below the copper awning for Ferdinand",
        "Lanterns along `north-pier-5` burn rapeseed while Ottilie is ashore",
    )
    own = [
        f"- {word} took {n} minutes.\n"
        for n, word in enumerate(["Linting", "Packing", "Signing", "Sorting"], 31)
    ]
    files = {
        "MEMORY.md": "- [Pumps](pumps.md) — the pumps\n- [Valves](valves.md) — the valves\n",
        "pumps.md": "".join([*(f"- {each}\n" for each in told), *own]),
        "valves.md": "".join([*(f"- {each}.\n" for each in told), *own[::-1]]).replace("took", "needed"),
    }
    project = directory.make_project(tmp_path, files)
    assert dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    (question,) = Question.objects.filter(kind="same")
    one = card(page(browser, f"/projects/{project.pk}/questions/"), question)
    assert "seem to say 3 things alike" in one and "dock-7" in one
    assert set(re.findall(r"<mark>(.*?)</mark>", one)) == {"."}


@pytest.mark.parametrize(
    ("paths", "said", "marked"),
    [
        (
            "abab",
            (
                "Backups stay a month",
                "Backups stay a year",
                "Boats leave the north pier",
                "Boats leave the south pier",
            ),
            ["month", "year", "north", "south"],
        ),
        (
            "abcabc",
            tuple(f"Backups stay a {word}" for word in ["day", "day", "year", "day", "year", "day"]),
            ["year", "year"],
        ),
    ],
)
def test_places_are_pairs_where_two_files_say_them_in_turn(
    browser: Client, project: Project, paths: str, said: tuple[str, ...], marked: list[str]
) -> None:
    places = tuple(Place(f"{path}.md", None, words) for path, words in zip(paths, said, strict=True))
    (question,) = asked.ask(project, replace(asked.conflict(), kind="same", places=places))
    one = card(page(browser, f"/projects/{project.pk}/questions/"), question)
    assert re.findall(r"<mark>(.*?)</mark>", one) == marked


def test_what_is_in_many_places_is_not_said_to_be_said_twice(browser: Client, project: Project) -> None:
    places = tuple(Place(f"note_{number}.md", None, "Backups stay a day") for number in range(14))
    (question,) = asked.ask(project, replace(asked.conflict(), kind="same", places=places))
    shown = card(page(browser, f"/projects/{project.pk}/questions/"), question)
    assert '<span class="tag accent">Repeated</span>' in shown and "twice" not in shown


def test_an_answer_comes_back_to_its_question_and_can_be_taken_back(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    question, _ = asked.ask(project, asked.conflict(), asked.expired(), proposal=proposal)
    here = f"/review/{proposal.public_id}/"
    response = answer(browser, question, "first", next=here)
    assert (response.status_code, response.headers["Location"]) == (
        303,
        f"{here}#question-{question.public_id}",
    )
    assert state(question) == "waiting"
    text = page(browser, here)
    assert "You answered: <b>Port 8443</b>" in card(text, question) and "1 of 3 decided" in text
    assert "9443" in asked.read(project, "reference_staging.md")
    response = browser.post(f"/questions/{question.public_id}/take-back/", {"next": here})
    assert response.headers["Location"] == f"{here}#question-{question.public_id}"
    assert state(question) == "open"
    assert "0 of 2 decided" in page(browser, here)
    # With htmx the card and the bar come back.
    text = text_of(answer(browser, question, "second", next=here, headers=HTMX))
    assert "<html" not in text and "You answered: <b>Port 9443</b>" in card(text, question)
    assert 'id="review-bar"' in text and "1 of 3 decided" in text
    assert same_words(text) == same_words(page(browser, here))
    assert '<b hx-swap-oob="innerHTML:.questions-count">1 question</b>' in text
    text = text_of(browser.post(f"/questions/{question.public_id}/take-back/", {"next": here}, headers=HTMX))
    assert 'value="first"' in card(text, question) and "0 of 2 decided" in text
    assert '<b hx-swap-oob="innerHTML:.questions-count">2 questions</b>' in text


def test_an_answer_and_its_undo_change_what_waits_for_a_submit_at_once(
    browser: Client, project: Project
) -> None:
    (question,) = asked.ask(project, asked.conflict())
    for here in (f"/projects/{project.pk}/questions/", "/questions/"):
        text = text_of(answer(browser, question, "second", next=here, headers=HTMX))
        assert (
            'id="questions-wait" hx-swap-oob' in text and "1 answer" in text and "Review and submit" in text
        )
        back = {"next": here}
        text = text_of(browser.post(f"/questions/{question.public_id}/take-back/", back, headers=HTMX))
        assert 'id="questions-wait" hx-swap-oob' in text and "Review and submit" not in text
    assert 'id="questions-wait"' not in text_of(answer(browser, question, "second", next="/", headers=HTMX))


def test_not_now_is_said_and_undone_and_leaving_it_as_it_is_makes_no_change(
    browser: Client, project: Project
) -> None:
    question = asked.ask(project, asked.expired())[0]
    here = f"/projects/{project.pk}/questions/"
    text = text_of(answer(browser, question, "later", next=here, headers=HTMX))
    assert "Not now." in card(text, question) and state(question) == "later"
    assert '<b hx-swap-oob="innerHTML:.questions-left">0</b>' in text, "what the tab counts"
    assert "review-bar" not in text
    browser.post(f"/questions/{question.public_id}/take-back/", {"next": here})
    assert state(question) == "open"
    # Leaving it as it is makes no change.
    answer(browser, question, "keep", next=here)
    assert state(question) == "answered" and not Proposal.objects.exists()
    assert "You answered: <b>Leave as it is</b>" in page(browser, f"/projects/{project.pk}/questions/")
    question.refresh_from_db()
    question.answered_by = "anna"
    question.save()
    assert "anna answered: <b>Leave as it is</b>" in page(browser, f"/projects/{project.pk}/questions/")


@pytest.mark.more
def test_an_answer_with_an_open_finding_asks_to_confirm_it_first(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.blocked())[0]
    here = f"/projects/{project.pk}/questions/"
    for headers, is_whole in (({}, True), (HTMX, False)):
        text = text_of(answer(browser, question, "remove", next=here, headers=headers))
        assert ("<html" in text) == is_whole
        assert (
            "Nothing has changed yet" in text
            and "data-key" not in text.partition('<form class="finding')[2].partition("</form>")[0]
        )
        assert state(question) == "open"
    keys = [part.partition('"')[0] for part in text.split('name="finding" value="')[1:]]
    assert keys
    # A tick that belongs to another finding confirms nothing.
    answer(browser, question, "remove", next=here, finding="another")
    assert state(question) == "open"
    response = answer(browser, question, "remove", next=here, finding=keys)
    assert response.status_code == 303 and state(question) == "waiting"


def test_rows_stay_ticked_on_the_way_back_from_what_is_to_be_confirmed_and_where_an_answer_is_refused(
    browser: Client, project: Project
) -> None:
    rows = (f"{asked.HELPER}\n\n{asked.SNAPSHOTS}\n", f"{asked.MOCK}\n\n")
    edits = (asked.edit("feedback_testing.md", row, "", row[:9], explained=False) for row in rows)
    options = (Option("demote", "Move the ticked rows out", tuple(edits)), asked.KEEP)
    question = asked.ask(project, replace(asked.index(), options=options))[0]
    given = {"row": rows[0][:9], "across": "1", "next": "/questions/"}
    text = text_of(answer(browser, question, "demote", **given, headers=HTMX))
    address, sends = re.findall(r'hx-get="([^"]*)".*?hx-include="closest form" hx-params="([^"]*)"', text)[0]
    back = f"{address}&{urlencode({name: given[name] for name in sends.split(',')})}"
    for shown in (
        text_of(browser.get(back, headers=HTMX)),
        text_of(answer(browser, question, "no such answer", **given, headers=HTMX)),
    ):
        assert f'value="{rows[0][:9]}" checked>' in shown and f'value="{rows[1][:9]}">' in shown
        assert 'name="across" value="1"' in shown and ">orders-api</a>" in shown


def test_each_row_of_an_index_question_is_ticked_by_itself(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.index())[0]
    here = f"/projects/{project.pk}/questions/"
    text = card(page(browser, here), question)
    assert 'value="project_freeze.md"' in text and 'value="reference_staging.md"' in text
    answer(browser, question, "demote", next=here)
    assert state(question) == "open" and "Tick what to change first." in page(browser, here)
    refused = answer(browser, question, "demote", next=here, headers={"hx-request": "true"}).content.decode()
    beside, _, elsewhere = refused.partition("</article>")
    assert "Tick what to change first." in beside, "the head of the page may be far away"
    assert '<div id="messages" hx-swap-oob="innerHTML"></div>' in elsewhere
    answer(browser, question, "demote", next=here, row=["project_freeze.md"])
    changed = "".join(Hunk.objects.values_list("operation__reason", flat=True))
    assert state(question) == "waiting" and Hunk.objects.count() == 1, changed


@pytest.mark.more
def test_an_answer_that_is_no_longer_open_is_refused_in_words(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.expired())[0]
    here = f"/projects/{project.pk}/questions/"
    answer(browser, question, "past", next=here)
    answer(browser, question, "remove", next=here)
    assert "no longer open" in page(browser, here)
    text = text_of(answer(browser, question, "remove", next=here, headers=HTMX))
    assert "no longer open" in text and "You answered: <b>Put it in the past tense</b>" in text
    assert browser.post("/questions/none/answer/", {"option": "keep"}).status_code == 404


def test_show_more_brings_the_next_seven(browser: Client, project: Project) -> None:
    asked.ask(project, *map(asked.learn, range(16)))
    here = f"/projects/{project.pk}/questions/"
    text = page(browser, here)
    assert text.count("data-hunk ") == 7 and "Show more (9)" in text
    assert '<b class="questions-count">7 of 16 questions</b>' in text
    first = project.questions.filter(asked=True).first()
    part = text_of(answer(browser, first, "keep", next=here, headers=HTMX))
    assert '<b hx-swap-oob="innerHTML:.questions-count">6 of 15 questions</b>' in part
    assert '<b class="questions-count">6 of 15 questions</b>' in page(browser, here)
    before = set(project.questions.filter(asked=True).values_list("public_id", flat=True))
    response = browser.post(f"{here}more/", {"next": here})
    text = page(browser, here)
    shown = [one for one in re.findall(r'id="question-(\w+)"', text) if one not in before]
    assert response.headers["Location"] == f"{here}#question-{shown[0]}", "the first of the new ones"
    assert text.count("data-hunk ") == 14 and "Show more (2)" in text
    for _ in range(2):
        response = browser.post(f"{here}more/", {"next": here})
    assert response.headers["Location"] == f"{here}#questions", "there are no more"


def test_htmx_gets_the_questions_of_a_project_as_its_page_has_them(browser: Client, project: Project) -> None:
    asked.ask(project, *(asked.learn(number) for number in range(9)))
    address = f"/projects/{project.pk}/questions/"
    part, whole = text_of(browser.get(address, headers=HTMX)), page(browser, address)
    assert "<html" not in part and "Show more (2)" in part
    classes = [re.findall(r' (?:class|action)="([^"]*question[^"]*)"', text) for text in (part, whole)]
    assert " ".join(classes[0]) in " ".join(classes[1])


def test_the_inbox_counts_questions_across_projects_and_not_in_its_title(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    other = asked.make_project(tmp_path / "other", "pocket-garden")
    asked.ask(project, asked.conflict(), asked.expired())
    asked.ask(other, asked.changed(other))
    text = page(browser, "/")
    assert text.count('class="questions-count">3 questions in 2 projects<') == 2
    assert text.count('class="hunk question') == 3
    assert "<title>Inbox · memoryweb</title>" in text
    text = page(browser, "/questions/")
    assert "3 questions in 2 projects" in text and f'href="/projects/{other.pk}/questions/"' in text


def test_below_a_part_of_the_questions_no_count_stays_behind_when_one_is_answered(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_pages, "MOST_ACROSS", 1)
    asked.ask(project, asked.conflict(), asked.expired())
    text = page(browser, "/questions/")
    assert "These are the most useful ones. More appear as you answer." in text
    assert text.count("2 questions in 1 project") == 1 and "of 2." not in text


def test_questions_that_were_put_off_are_not_told_in_the_inbox(browser: Client, project: Project) -> None:
    asked.ask(project, asked.conflict())
    browser.post("/snooze/", {"proposal": "questions", "until": "dream"})
    text = page(browser, "/")
    assert "Snoozed (1)" in text
    assert "questions-count" not in text and 'class="hunk question' not in text


@pytest.mark.more
def test_where_all_is_answered_no_heading_says_that_something_is_open(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    question, _ = asked.ask(project, asked.conflict(), asked.expired(), proposal=proposal)
    for one in (question, _):
        shown = text_of(answer(browser, one, "later", next="/", across="1", headers=HTMX))
    assert ">No open questions</b>" in shown
    for here in (f"/review/{proposal.public_id}/", f"/projects/{project.pk}/questions/", "/questions/"):
        text = page(browser, here)
        assert "2 answered" in text and "Not now." in text
        assert "Only you can tell" not in text and ">Open<" not in text and "(0)" not in text
        # A review shows its own questions only: the project may have others that are open.
        assert ("None open here" if "/review/" in here else "No open questions") in text


def test_the_words_for_open_questions_go_with_the_last_one_and_come_back_with_it(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    (question,) = asked.ask(project, asked.conflict(), proposal=proposal)
    here = f"/review/{proposal.public_id}/"
    assert "Answer what you can" in page(browser, here)
    text = text_of(answer(browser, question, "first", next=here, headers=HTMX))
    assert '<span hx-swap-oob="innerHTML:.questions-likely">' in text and "Likely" not in text
    assert '<b hx-swap-oob="innerHTML:.questions-count">None open here</b>' in text
    text = text_of(browser.post(f"/questions/{question.public_id}/take-back/", {"next": here}, headers=HTMX))
    again = text.partition('<span hx-swap-oob="innerHTML:.questions-likely">')[2].partition("</span>")[0]
    assert "Likely, but not certain." in again and "Answer what you can" in again


@pytest.mark.more
def test_in_the_inbox_an_answer_changes_what_each_row_says(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    def said(text: str, key: str) -> str:
        row = re.search(rf'id="why-{key}"[^>]*>(.*?)</p>', text, re.DOTALL)
        return " ".join(re.sub(r"<[^>]*>", " ", row[1]).split()) if row else "missing"

    one, two = asked.ask(project, asked.conflict(), asked.expired(), proposal=proposal)
    rows = f"{proposal.public_id} questions"
    assert f'{{"shown": "{rows}"}}' in page(browser, "/")
    given = {"next": "/questions/", "across": "1", "shown": rows}
    for question, option in ((one, "first"), (two, "later")):
        shown = text_of(answer(browser, question, option, headers=HTMX, **given))
        now = page(browser, "/")
        assert said(shown, proposal.public_id) == said(now, proposal.public_id) != "missing"
    assert "No open questions" in said(shown, "questions")


@pytest.mark.more
def test_across_projects_an_answer_is_listed_with_its_undo(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.conflict())[0]
    answer(browser, question, "first", next="/questions/", across="1")
    text = page(browser, "/questions/")
    assert "You answered: <b>Port 8443</b>" in card(text, question)
    assert "waits for your submit." in text
    made = Proposal.objects.get()
    assert f'href="/review/{made.public_id}/"' in text
    # Submitted, it is written, and no longer waits.
    review = page(browser, f"/review/{made.public_id}/")
    bases, answers = (
        review.partition(f'name="{name}" value="')[2].partition('"')[0] for name in ("bases", "answers")
    )
    browser.post(f"/review/{made.public_id}/submit/", {"bases": bases, "answers": answers})
    assert "8443" in asked.read(project, "reference_staging.md")
    assert "waits for your submit." not in page(browser, "/questions/")


def test_a_question_shows_no_secret_that_only_its_own_words_have(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.expired())[0]
    one, other = ("ghp_" + "a1B2c3D4e5" * 3 + end for end in ("F6g7H8", "F6g7K9"))
    Question.objects.update(why=f"The token is {one}.")
    question.options.filter(option_id="remove").update(label=f"Remove {other}")
    told = json.dumps(shown_questions.as_json(Question.objects.all()), ensure_ascii=False)
    for text in (page(browser, f"/questions/{question.public_id}/"), told):
        assert one not in text and "The token is ghp_••••••••H8." in text
        assert other not in text and "Remove ghp_••••••••K9" in text


def test_questions_never_lead_to_another_site_and_show_no_secret(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.expired())[0]
    token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    question.places[0]["text"] = question.why = f"The token is {token}."
    question.save()
    text = page(browser, f"/questions/{question.public_id}/")
    assert token not in text and text.count("The token is ghp_••••••••H8.") > 1
    response = answer(browser, question, "keep", next="https://evil.example/")
    assert response.headers["Location"] == f"/questions/{question.public_id}/#question-{question.public_id}"


@pytest.mark.more
def test_a_page_of_many_questions_asks_no_more_than_one_of_few(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    asked.ask(project, asked.conflict())
    many = asked.make_project(tmp_path / "many", "many")
    asked.ask_all(many)
    for path in ("questions",):
        counts = []
        for one in (project, many):
            page(browser, f"/projects/{one.pk}/{path}/")
            with CaptureQueriesContext(connection) as seen:
                page(browser, f"/projects/{one.pk}/{path}/")
            counts.append(len(seen))
        assert counts[1] <= counts[0] + 1  # sessions are only looked up where a place names one


def test_visitors_who_are_not_the_owner_are_led_to_the_login(client: Client, project: Project) -> None:
    question = asked.ask(project, asked.expired())[0]
    for path in ("/questions/", f"/projects/{project.pk}/questions/", f"/questions/{question.public_id}/"):
        assert client.get(path).headers["Location"].startswith("/login/")
    assert answer(client, question, "remove").status_code == 302 and state(question) == "open"


def test_no_reader_is_told_that_they_submit_what_another_may_have_to(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    (asked_one,) = asked.ask(project, asked.conflict(), proposal=proposal)
    for path in ("/questions/", f"/projects/{project.pk}/questions/", f"/questions/{asked_one.public_id}/"):
        text = page(browser, path)
        assert "when its proposal is submitted" in text
        assert "when you submit" not in text


def test_a_card_that_htmx_replaces_keeps_the_level_of_its_heading(browser: Client, project: Project) -> None:
    question = asked.ask(project, asked.expired())[0]
    for here, level in ((f"/questions/{question.public_id}/", "h2"), ("/questions/", "h3")):
        assert f'<{level} class="question-title"' in page(browser, here)
        card = text_of(answer(browser, question, "later", next=here, headers={"HX-Request": "true"}))
        assert f'<{level} class="question-title"' in card
        browser.post(f"/questions/{question.public_id}/take-back/")
