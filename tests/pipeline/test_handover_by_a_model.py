"""Hand-over notes by a model: its words under our headings, within the budgets, followed and cancelled."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from dreams import conf
from dreams.dev.fake_server.messages import say
from dreams.engines.handover import model, rules, sections
from dreams.management.base import Refused
from dreams.models import ModelRequest, NotesRequest, Session, SessionNotes
from dreams.services import discovery, forecast, handing_over, pricing, session_notes, settings_changes
from tests.world.model_server import ModelServer, Script, ScriptedReply, ScriptedStep, Use, status
from tests.world.talking import Talk, first_start

pytestmark = pytest.mark.django_db
HEADINGS = [f"# {section.heading}" for section in sections.SECTIONS]
TOKEN = "ghp_" + "d9Hn2WvX6cT4pB7zM1sQ8kJ3rL5yG0fAuEoI"


def section(name: str, text: str) -> Use:
    return Use("write_section", {"section": name, "text": text})


def all_sections(text: str = "Written by the model.") -> ScriptedReply:
    return ScriptedReply(tuple(section(one.name, text) for one in model.ASKED))


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    """A long session: a request, a failing command, and an answer."""
    project = first_start(tmp_path)
    made = (
        Talk(tmp_path, "long")
        .user("Move the queue to Redis, please.")
        .called(
            "Bash", "Exit code 1\nrefused\n" + "a long log line\n" * 3_000, failed=True, command="make test"
        )
        .called("Read", "a long log line\n" * 3_000, file_path="/home/dev/app/log.txt")
        .agent("The queue runs on Redis.")
        .save()
    )
    discovery.refresh(project)
    return made


@pytest.fixture
def session(talk: Talk) -> Session:
    return Session.objects.select_related("project").get(session_id=talk.id)


def wrote(
    monkeypatch: pytest.MonkeyPatch, session: Session, steps: object, *, force: bool = False
) -> tuple[NotesRequest, Sequence[Mapping[str, Any]]]:
    model = Script(steps) if isinstance(steps, list) else steps
    with ModelServer(model) as wire:  # type: ignore[arg-type]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        asked = handing_over.run(handing_over.request(session, "me", force=force).pk)
        assert asked is not None
        return asked, [call.body for call in wire.calls]


def notes(session: Session) -> str:
    return session_notes.text_of(session.notes.get(origin="model"))


@pytest.mark.more
def test_a_models_words_stand_before_what_the_rules_listed(session: Session, monkeypatch) -> None:
    asked, requests = wrote(monkeypatch, session, [all_sections()])
    assert (asked.status, asked.sections, asked.error) == ("done", len(model.ASKED), "")
    found = sections.read(notes(session))
    assert found["learnings"] == found["results"] == "Written by the model."
    assert found["errors"].startswith("Written by the model.\n\n- `make test` failed:")
    assert found["title"] == str(session) and "Move the queue" in found["worklog"]
    material = json.dumps(requests[0]["messages"])
    assert "PERSON (line 1): Move the queue" in material and "CALL (line 2): make test FAILED" in material
    assert "a long log line" not in material


@pytest.mark.more
@pytest.mark.parametrize(
    "text",
    [
        "# Another\n\nheading",
        "## Title\n_x_",
        "```\nnever closed",
        "Text\n---",
        "<!-- swallow",
        "</div><h1>x</h1>",
    ],
)
def test_the_headings_are_ours_whatever_the_model_writes(session: Session, monkeypatch, text: str) -> None:
    wrote(monkeypatch, session, [all_sections(text)])
    assert [line for line in notes(session).splitlines() if line.startswith("# ")] == HEADINGS
    for one in sections.SECTIONS:
        assert f"# {one.heading}\n_{one.about}_\n" in notes(session)


@pytest.mark.more
def test_sections_of_its_own_and_odd_calls_are_refused(session: Session, monkeypatch) -> None:
    odd = ScriptedReply(
        (
            section("worklog", "mine"),
            section("title", "mine"),
            section("secrets", "mine"),
            Use("write_section", {"section": "state"}),
            section("state", "It runs."),
        )
    )
    asked, requests = wrote(monkeypatch, session, [odd, say("Done.")])
    assert (asked.status, asked.sections, asked.error) == ("done", 1, "")
    assert "mine" not in notes(session) and "It runs." in notes(session)
    results = requests[1]["messages"][-1]["content"]
    assert [block.get("is_error", False) for block in results] == [True, True, True, True, False]


@pytest.mark.more
def test_they_are_bounded_and_without_secrets(session: Session, monkeypatch) -> None:
    wrote(monkeypatch, session, [all_sections(f"{TOKEN} " + "word " * 20_000)])
    kept = sections.read(notes(session))
    assert sum(map(len, kept.values())) <= sections.ALL_TOKENS * 3.5
    assert TOKEN not in notes(session) and "(shortened)" in notes(session)


@pytest.mark.more
def test_what_it_used_is_kept_and_counts_towards_the_budgets(session: Session, monkeypatch) -> None:
    asked, _ = wrote(monkeypatch, session, [all_sections()])
    row = ModelRequest.objects.get()
    assert row.purpose == "handover" and row.cost_usd and asked.cost_usd == row.cost_usd
    spent = pricing.spent(session.project, timezone.now(), conf.zone(conf.current()))
    assert spent.project_month == row.cost_usd


@pytest.mark.more
def test_a_budget_that_is_used_up_asks_nobody(session: Session, monkeypatch) -> None:
    settings_changes.set_override("max_cost_day", 0.0001, actor="me")
    with pytest.raises(handing_over.NotAsked, match="Writing the notes takes"):
        wrote(monkeypatch, session, [all_sections()])
    assert not NotesRequest.objects.exists()


@pytest.mark.more
def test_a_limit_that_is_met_keeps_what_was_written(session: Session, monkeypatch) -> None:
    settings_changes.set_override("max_cost_dream", 0.12, actor="me")
    long = ScriptedStep(ScriptedReply((section("state", "word " * 9_000),)))
    asked, requests = wrote(monkeypatch, session, [long] * 6)
    assert asked.status == "failed" and "What had been written is kept." in asked.error
    assert 0 < len(requests) < 6 and "word" in notes(session)


@pytest.mark.more
def test_without_a_key_nobody_is_asked(session: Session, monkeypatch, browser: Client) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(handing_over.NotAsked, match="ANTHROPIC_API_KEY"):
        handing_over.request(session, "me")
    text = browser.get(reverse("session", args=[session.pk])).content.decode()
    assert "Write hand-over notes" in text and "notes/ask/" not in text


@pytest.mark.more
def test_a_request_that_failed_says_so_and_that_nobody_retries_it(
    session: Session, monkeypatch, browser: Client
) -> None:
    asked, _ = wrote(monkeypatch, session, [status(400, "No such model")])
    assert asked.status == "failed"
    page = " ".join(browser.get(reverse("session", args=[session.pk])).content.decode().split())
    assert "The model’s notes ended early" in page and "No such model" in page
    assert "It is not retried automatically: ask again." in page
    Session.objects.filter(pk=session.pk).update(gone_at=timezone.now())
    assert "No such model" in browser.get(reverse("session", args=[session.pk])).content.decode()


@pytest.mark.more
def test_a_short_session_is_not_worth_a_model_unless_asked_anyway(tmp_path: Path, monkeypatch) -> None:
    project = first_start(tmp_path)
    made = Talk(tmp_path, "short").user("Hello.").agent("Hello.").save()
    discovery.refresh(project)
    session = Session.objects.select_related("project").get(session_id=made.id)
    with pytest.raises(handing_over.TooLittle, match="from 10,000"):
        wrote(monkeypatch, session, [])
    asked, _ = wrote(monkeypatch, session, [all_sections()], force=True)
    assert asked.status == "done"


@pytest.mark.more
@pytest.mark.parametrize(
    ("tokens", "calls", "ends_in_words", "closed"),
    [
        (14_999, 20, True, "About 4,999 tokens are new"),
        (15_000, 12, False, "called 2 tools and has not finished"),
        (15_000, 13, False, ""),
        (15_000, 10, True, ""),
    ],
)
def test_it_is_asked_again_after_5000_tokens_and_three_calls_or_words(
    session: Session, tokens: int, calls: int, ends_in_words: bool, closed: str
) -> None:
    NotesRequest.objects.create(
        session=session, status="done", asked_at=timezone.now(), session_tokens=10_000, session_calls=10
    )
    seen = rules.ReadTranscript(chars=int(tokens * 3.5) + 1, calls=calls, ends_in_words=ends_in_words)
    said = handing_over.too_little(session, seen)
    assert closed in said and bool(said) is bool(closed)


@pytest.mark.more
def test_one_at_a_time_and_claimed_once(session: Session, monkeypatch) -> None:
    with ModelServer(Script([all_sections()])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        asked = handing_over.request(session, "me")
        with pytest.raises(handing_over.NotAsked, match="already"):
            handing_over.request(session, "me")
        assert handing_over.run(asked.pk) is not None
        assert handing_over.run(asked.pk) is None
        assert len(wire.calls) == 1


@pytest.mark.more
def test_a_request_under_way_is_cancelled_and_keeps_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handing_over, "LOOK_SECONDS", 0.0)
    real = model.write

    def cancelled(*given: Any) -> None:
        handing_over.cancel(NotesRequest.objects.get(session=session))
        real(*given)

    monkeypatch.setattr(model, "write", cancelled)
    asked, _ = wrote(monkeypatch, session, [all_sections()])
    assert asked.status == "cancelled"
    assert not SessionNotes.objects.exists()


@pytest.mark.more
def test_a_request_whose_worker_is_gone_ends_and_can_be_asked_again(session: Session, monkeypatch) -> None:
    long_ago = timezone.now() - dt.timedelta(minutes=5)
    lost = NotesRequest.objects.create(session=session, status="running", asked_at=long_ago, seen_at=long_ago)
    asked, _ = wrote(monkeypatch, session, [all_sections()])
    lost.refresh_from_db()
    assert (lost.status, asked.status) == ("failed", "done")


@pytest.mark.more
def test_the_page_asks_follows_and_cancels(session: Session, monkeypatch, browser: Client) -> None:
    page = reverse("session", args=[session.pk])
    with ModelServer(Script([])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        text = browser.get(page).content.decode()
        assert f"Ask {conf.current().model}" in text and "Asking the model costs about $0.0" in text
        browser.post(reverse("session-ask-notes", args=[session.pk]))
        assert OrmQ.objects.count() == 1
        assert "Waiting for a free worker" in browser.get(page).content.decode()
        now = reverse("session-notes-now", args=[session.pk])
        NotesRequest.objects.update(status="running", sections=3)
        part = browser.get(now, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in part and "3 of" in " ".join(part.split()) and "data-poll" in part
        NotesRequest.objects.update(status="pending")
        browser.post(reverse("session-cancel-notes", args=[session.pk]))
        assert NotesRequest.objects.get().status == "cancelled"
        assert "data-poll" not in browser.get(now, headers={"HX-Request": "true"}).content.decode()


@pytest.mark.more
def test_a_session_that_is_too_short_offers_to_ask_anyway(
    tmp_path: Path, monkeypatch, browser: Client
) -> None:
    project = first_start(tmp_path)
    made = Talk(tmp_path, "short").user("Hello.").agent("Hello.").save()
    discovery.refresh(project)
    address = [Session.objects.get(session_id=made.id).pk]
    with ModelServer(Script([])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        text = browser.post(reverse("session-ask-notes", args=address), follow=True).content.decode()
        assert "from 10,000" in text and "anyway" in text
        browser.post(reverse("session-ask-notes", args=address), {"force": "1"})
        assert NotesRequest.objects.get().status == "pending"


@pytest.mark.more
def test_the_command_asks_in_the_foreground(session: Session, monkeypatch, capsys) -> None:
    with ModelServer(Script([all_sections()])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        call_command("notes", session.session_id, engine="anthropic", json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["engine"] == "anthropic" and found["cost_usd"] > 0
    assert found["sections"][7]["text"] == "Written by the model."
    with ModelServer(Script([])) as wire, pytest.raises(Refused, match="script has no more steps"):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        call_command("notes", session.session_id, engine="anthropic", force=True)


@pytest.mark.more
def test_what_it_may_cost_is_more_than_it_did(session: Session, monkeypatch) -> None:
    asked, _ = wrote(monkeypatch, session, [all_sections()])
    expected = forecast.of_notes(session, conf.current().model)
    assert expected and asked.cost_usd and Decimal(0) < asked.cost_usd < expected


@pytest.mark.more
def test_a_conversation_that_is_too_long_keeps_its_beginning_and_its_end() -> None:
    steps = [rules.PromptStep(f"Prompt {number} " + "x" * 900, number) for number in range(1, 101)]
    material = model.material(rules.ReadTranscript(steps=steps), {}, 20_000)
    assert "Prompt 1 " in material and "Prompt 100 " in material and "left out here" in material
    assert "Prompt 50 " not in material and len(material) < 20_500
    numbers = [int(line.split()[4]) for line in material.splitlines() if line.startswith("PERSON")]
    assert numbers == sorted(numbers)
