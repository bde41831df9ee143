"""Hand-over notes of a session, by rules: ten sections with lines that lead into the transcript."""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.engines.handover import rules, sections
from dreams.management.base import Refused
from dreams.models import Session, SessionNotes
from dreams.services import discovery, session_notes
from dreams.services.search import finding, index
from dreams.services.search.query import parse
from dreams.web.pages import session as pages
from tests.world.talking import Talk, first_start

pytestmark = pytest.mark.django_db
AT = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)
TOKEN = "ghp_" + "w3Xc9LpR6kT1vB8nZ5yD2hJ7fS4mQ0aGeUiO"


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """One session: a request, a change that fails first, a correction and an answer."""
    project = first_start(tmp_path)
    made = (
        Talk(tmp_path, "work")
        .user("Move the queue to Redis, please.", at=AT)
        .called("Read", "class Queue: ...", file_path="/home/dev/app/queue.py")
        .called("Bash", "Exit code 1\nconnection refused", failed=True, command="make test")
        .called("Edit", file_path="/home/dev/app/queue.py", old_string="a", new_string="b")
        .called("Bash", "ok", command="make test")
        .user("No, use port 6380, as I told you.", at=AT + dt.timedelta(minutes=5))
        .called("Edit", file_path="/home/dev/app/settings.py", old_string="6379", new_string="6380")
        .agent("The queue runs on Redis, port 6380.")
        .save()
    )
    discovery.refresh(project)
    return made


def _session(talk: Talk) -> Session:
    return Session.objects.select_related("project").get(session_id=talk.id)


def _written(talk: Talk) -> dict[str, str]:
    call_command("notes", talk.id, json=True)
    notes = SessionNotes.objects.get(origin="rules")
    return sections.read(session_notes.text_of(notes))


@pytest.mark.not_on_postgresql
def test_each_section_has_what_the_transcript_shows(talk: Talk) -> None:
    found = _written(talk)
    assert found["title"] == str(_session(talk))
    assert "Last asked: “No, use port 6380, as I told you” (line 10)" in found["state"]
    assert "Last file changed: `settings.py` (line 11)" in found["state"]
    assert found["task"].startswith("> Move the queue to Redis, please.")
    assert "- `queue.py`: changed once (line 6)" in found["files"]
    assert found["workflow"] == "- `make test`: 2 times (line 8)"
    assert (
        "- `make test` failed: `Exit code 1: connection refused` (line 4); it worked later (line 8)"
        in found["errors"]
    )
    assert "- You corrected: “No, use port 6380, as I told you” (line 10)" in found["errors"]
    assert found["results"].startswith("The queue runs on Redis, port 6380.")
    assert (
        found["worklog"]
        .splitlines()[0]
        .endswith("asked “Move the queue to Redis, please”: 1 file changed, 2 commands, 1 failed (line 1)")
    )
    assert found["system"] == found["learnings"] == ""


@pytest.mark.not_on_postgresql
def test_the_worklog_reads_from_left_to_right_whatever_script_was_typed(tmp_path: Path) -> None:
    """A line has the direction of its first letter, and a list that of its first line."""
    project = first_start(tmp_path)
    made = Talk(tmp_path, "arabic").user("تذكر أن الخادم هو db-4.internal").save()
    discovery.refresh(project)
    worklog = _written(made)["worklog"]
    letters = (unicodedata.bidirectional(letter) for letter in worklog)
    assert next(way for way in letters if way in ("L", "R", "AL")) == "L"


@pytest.mark.not_on_postgresql
def test_a_file_that_was_written_in_one_long_call_is_listed(tmp_path: Path) -> None:
    """Only the beginning of a long call is read: it says which file."""
    project = first_start(tmp_path)
    path = '/home/dev/app/the "big" report.md'
    made = Talk(tmp_path, "long").user("Write it down.")
    made.called("Write", file_path=path, content="All of it. " * 3_000)
    made.called("Bash", command="echo " + "x" * 30_000).save()
    discovery.refresh(project)
    found = _written(made)
    assert found["files"] == '- `the "big" report.md`: changed once (line 2)'
    assert "Last file changed" in found["state"]
    assert found["workflow"].startswith("- `echo xxx")


@pytest.mark.not_on_postgresql
def test_tasks_that_were_left_unfinished_are_what_is_left_to_do(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    todos = [{"content": "Write the migration", "status": "pending", "activeForm": "x"}]
    made = Talk(tmp_path, "todo").user("Go on.").called("TodoWrite", todos=todos).save()
    discovery.refresh(project)
    assert "- Left to do: Write the migration (line 2)" in _written(made)["state"]


@pytest.mark.not_on_postgresql
def test_the_page_shows_them_with_links_into_the_transcript(talk: Talk, browser: Client) -> None:
    session = _session(talk)
    text = browser.get(reverse("session", args=[session.pk])).content.decode()
    assert "Write hand-over notes" in text
    browser.post(reverse("session-write-notes", args=[session.pk]))
    text = browser.get(reverse("session", args=[session.pk])).content.decode()
    assert "Hand-over notes by rules" in text and "Errors and corrections" in text
    assert 'href="?line=4#line-4"' in text
    assert "Write them again" in text


def test_they_are_downloaded_as_markdown_with_whole_addresses(talk: Talk, browser: Client) -> None:
    session = _session(talk)
    session_notes.by_rules(session)
    answer = browser.get(reverse("session-notes", args=[session.pk, "rules"]))
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert f'filename="{talk.id}-rules.md"' in answer["Content-Disposition"]
    text = answer.content.decode()
    assert (
        text.startswith("# Title\n_") and f"(http://testserver/sessions/{session.pk}/?line=4#line-4)" in text
    )
    assert browser.get(reverse("session-notes", args=[session.pk, "model"])).status_code == 404


@pytest.mark.not_on_postgresql
def test_the_newest_hand_over_is_first_and_the_agents_own_notes_are_last(talk: Talk) -> None:
    session = _session(talk)
    made = session_notes.by_rules(session)
    for origin, hours in (("agent", 2), ("model", 1)):
        at = made.written_at + dt.timedelta(hours=hours)
        SessionNotes.objects.create(session=session, origin=origin, sha256=made.sha256, size=1, written_at=at)
    found = pages.notes(session, is_open=True)
    assert [each["row"].origin for each in found] == ["model", "rules", "agent"]
    assert [each["is_open"] for each in found] == [True, False, False]


def test_they_are_found_by_search_and_written_again_in_place(talk: Talk) -> None:
    session = _session(talk)
    first = session_notes.by_rules(session)
    second = session_notes.by_rules(session)
    assert first.pk == second.pk
    index.catch_up(5)
    query = parse("it worked later")
    (hit,) = finding.session_hits(finding.sessions(query, finding.Filters()), query)
    assert hit.session == session


@pytest.mark.not_on_postgresql
def test_secrets_are_not_in_them(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    made = Talk(tmp_path, "leak").user(f"Use {TOKEN} there.").called("Bash", command=f"x {TOKEN}").save()
    discovery.refresh(project)
    session_notes.by_rules(_session(made))
    text = session_notes.text_of(SessionNotes.objects.get(origin="rules"))
    assert TOKEN not in text and "[redacted: github-token]" in text


def test_no_half_of_a_secret_is_in_them_where_a_prompt_is_cut(tmp_path: Path) -> None:
    for before in (20, 110, 125, 270, 280, 290):
        for said in (
            f"No, that is wrong. {'x' * (before - 20)} {TOKEN} is it.",
            f"No,{'x' * before}/{TOKEN}",
        ):
            talk = Talk(tmp_path / f"{before}{said[3]}").user(said).agent("Sorry.").save()
            found = rules.read_transcript(talk.path)
            text = sections.written(rules.bodies(found, "Title", [], dt.UTC))
            assert "ghp_" not in text, (before, text)


def test_a_session_whose_transcript_is_gone_is_refused_with_a_sentence(talk: Talk, browser: Client) -> None:
    session = _session(talk)
    talk.path.unlink()
    answer = browser.post(reverse("session-write-notes", args=[session.pk]), follow=True)
    assert "no longer on disk" in answer.content.decode()
    discovery.refresh(session.project)
    assert "Write hand-over notes" not in browser.get(answer.wsgi_request.path).content.decode()
    with pytest.raises(Refused, match="No session"):
        call_command("notes", talk.id)


@pytest.mark.not_on_postgresql
def test_the_command_takes_the_beginning_of_an_id_and_prints_one_object(talk: Talk, capsys) -> None:
    call_command("notes", talk.id[:13], json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["session"] == talk.id and found["engine"] == "rules"
    assert [one["heading"] for one in found["sections"]][:3] == [
        "Title",
        "Current state",
        "Task specification",
    ]
    call_command("notes", talk.id)
    assert capsys.readouterr().out.startswith("# Title\n")


@pytest.mark.not_on_postgresql
def test_a_long_transcript_is_read_at_both_ends(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    size = talk.path.stat().st_size
    monkeypatch.setattr(rules, "FIRST_BYTES", size // 5)
    monkeypatch.setattr(rules, "LAST_BYTES", size // 5)
    found = rules.read_transcript(talk.path)
    assert found.left_out and found.asked[0].line == 1
    assert found.steps[-1].said == [("The queue runs on Redis, port 6380.", 13)]


def test_more_notes_cost_no_more_queries(talk: Talk, browser: Client) -> None:
    session = _session(talk)
    address = reverse("session", args=[session.pk])

    def asked() -> int:
        with CaptureQueriesContext(connection) as caught:
            browser.get(address)
        return len(caught)

    session_notes.by_rules(session)
    asked()
    few = asked()
    session_notes.save(session.pk, SessionNotes.Origin.AGENT, "Theirs.", at=AT, size=7)
    assert asked() == few
