"""Catching by a model: small windows, memory first, and only what the person typed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from dreams import conf
from dreams.engines.anthropic import catching as model
from dreams.engines.types import PromptBrief
from dreams.models import Card, ModelRequest, Project, Session, SetAside
from dreams.services import discovery, forecast, pricing, settings_changes
from dreams.services.catching import lifecycle
from tests.world.model_server import ModelServer, Script, ScriptedReply, ScriptedStep, Text, Use
from tests.world.talking import Talk, first_start

pytestmark = pytest.mark.django_db

WISH = "We talked about it at length: from January releases are cut on Tuesdays, never on Fridays."


def item(
    quote: str = WISH, text: str = "Releases are cut on Tuesdays.", kind: str = "project"
) -> dict[str, str]:
    return {"quote": quote, "text": text, "type": kind}


def remember(*items: object) -> ScriptedReply:
    return ScriptedReply((Use("remember", {"items": list(items)}),))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    found = first_start(tmp_path)
    lifecycle.catch(found)
    settings_changes.set_override("catch_engine", "anthropic", actor="me")
    cache.delete(f"memoryweb:catching-failed:{found.pk}")
    yield found
    cache.delete(f"memoryweb:catching-failed:{found.pk}")


def asked(
    monkeypatch: pytest.MonkeyPatch, project: Project, steps: list[object]
) -> tuple[lifecycle.Caught, list[Mapping[str, Any]]]:
    with ModelServer(Script(steps)) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        found = lifecycle.catch(project)
        return found, [call.body for call in wire.calls]


@pytest.mark.more
def test_a_model_reads_first_and_names_what_was_said(project: Project, tmp_path: Path, monkeypatch) -> None:
    Talk(tmp_path).user("hello").agent("Hello.").user(WISH).agent("Understood.").save()
    steps = [ScriptedReply((Use("read_memory", {"path": "project_deploy.md"}),)), remember(item())]
    found, requests = asked(monkeypatch, project, steps)
    assert [(card.said, card.text, card.engine) for card in found.cards] == [
        (WISH, "Releases are cut on Tuesdays.", "anthropic")
    ]
    assert found.cards[0].citations[0]["line_no"] == 3
    first = json.dumps(requests[0]["messages"])
    assert "project_deploy.md: Deploy" in first and "PERSON: hello" in first and "AGENT: Hello." in first
    assert "host alpha" not in first and "host alpha" in json.dumps(requests[1]["messages"])


@pytest.mark.more
def test_what_the_person_did_not_type_is_dropped(project: Project, tmp_path: Path, monkeypatch) -> None:
    Talk(tmp_path).user(WISH).agent("I always use tabs.").save()
    odd = [
        item(quote="I always use tabs."),
        item(quote=""),
        item(kind="secret"),
        item(text="x" * 401),
        {"quote": WISH},
        5,
    ]
    found, _ = asked(monkeypatch, project, [remember(*odd)])
    assert found.cards == [] and found.read


@pytest.mark.more
def test_what_memory_or_a_card_says_is_not_caught(project: Project, tmp_path: Path, monkeypatch) -> None:
    Talk(tmp_path).user(WISH).save()
    found, _ = asked(monkeypatch, project, [remember(item(text="The API runs on host alpha."))])
    assert found.cards == []


@pytest.mark.more
def test_a_model_that_only_reads_ends_after_five_turns(project: Project, tmp_path: Path, monkeypatch) -> None:
    Talk(tmp_path).user(WISH).save()
    reads = ScriptedStep(ScriptedReply((Use("read_memory", {"path": "../../etc/passwd"}),)))
    found, requests = asked(monkeypatch, project, [reads] * 5)
    assert len(requests) == 5 and found.cards == []
    assert [tool["name"] for tool in requests[4]["tools"]] == ["remember"]
    assert "There is no such memory." in json.dumps(requests[1]["messages"])


def test_an_answer_that_is_cut_off_is_asked_for_again_and_never_counts_as_nothing(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    """What a model thinks counts towards its output: the call after it is the first thing that is lost."""
    Talk(tmp_path).user(WISH).save()
    cut = ScriptedReply((Text("Hm"), *remember(item()).blocks), stop_reason="max_tokens")
    found, requests = asked(monkeypatch, project, [cut, remember(item())])
    assert [request["max_tokens"] for request in requests] == [2_000, 16_000]
    assert requests[0]["messages"] == requests[1]["messages"] and len(found.cards) == 1


def test_a_part_that_a_model_refuses_is_named_and_not_asked_again(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    Talk(tmp_path).user(WISH).save()
    no = ScriptedReply((Text("No."),), stop_reason="refusal")
    found, _ = asked(monkeypatch, project, [no])
    assert found.read and found.stopped == "The model refused to read 1 part."
    found, requests = asked(monkeypatch, project, [])
    assert requests == [] and not found.stopped


def test_what_a_cut_off_answer_was_about_is_read_again(project: Project, tmp_path: Path, monkeypatch) -> None:
    Talk(tmp_path).user(WISH).save()
    cut = ScriptedReply((Text("Hm"),), stop_reason="max_tokens")
    found, _ = asked(monkeypatch, project, [cut, cut])
    assert found.cards == [] and "cut off" in found.stopped + found.closed
    cache.delete(f"memoryweb:catching-failed:{project.pk}")
    found, _ = asked(monkeypatch, project, [remember(item())])
    assert len(found.cards) == 1


@pytest.mark.more
def test_windows_have_ten_messages_and_4000_characters_at_most() -> None:
    def message(size: int, typed: bool) -> model.SessionMessage:
        return model.SessionMessage("x" * size, 0, PromptBrief("x" * size, 1, 0, None) if typed else None)

    found = model.windows([message(100, True) for _ in range(25)])
    assert [len(window) for window in found] == [10, 10, 5]
    found = model.windows([message(1_500, number % 2 == 0) for number in range(6)])
    assert [len(window) for window in found] == [2, 2, 2]
    assert model.windows([message(100, False)] * 12) == [], "nobody typed anything"


@pytest.mark.more
def test_what_it_used_counts_towards_the_budgets(project: Project, tmp_path: Path, monkeypatch) -> None:
    from django.utils import timezone

    Talk(tmp_path).user(WISH).save()
    asked(monkeypatch, project, [remember(item())])
    row = ModelRequest.objects.get()
    assert row.requests == 1 and row.cost_usd is not None and row.cost_usd > 0
    spent = pricing.spent(project, timezone.now(), conf.zone(conf.current()))
    assert spent.today == spent.project_month == row.cost_usd


@pytest.mark.more
def test_the_gate_asks_what_a_window_costs_and_not_what_a_dream_does(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    """A dream of this project is expected to cost more than what is left of the day; ten messages are not."""
    Talk(tmp_path).user(WISH + " It grew late." * 2_000).save()
    discovery.refresh(project)
    dream = forecast.forecast(project, conf.current(project)).likely
    window = forecast.of_a_window(project, conf.current(project).model)
    assert dream and window and 0 < window < dream
    settings_changes.set_override("max_cost_day", float(window + (dream - window) / 2), actor="me")
    found, requests = asked(monkeypatch, project, [remember(item())] * 20)
    assert found.closed == "" and requests


@pytest.mark.more
def test_a_long_reading_ends_when_the_budget_of_the_day_does(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    talk = Talk(tmp_path)
    for number in range(20):
        talk.user(f"{number}: {WISH}" + " It grew late." * 270)
    talk.save()
    window = forecast.of_a_window(project, conf.current(project).model)
    assert window is not None
    settings_changes.set_override("max_cost_day", round(float(window), 4) + 0.001, actor="me")
    found, requests = asked(monkeypatch, project, [remember(item())] * 20)
    spent = sum(row.cost_usd or 0 for row in ModelRequest.objects.all())
    assert "could pass" in found.stopped and "for today" in found.stopped and found.cards
    assert 0 < len(requests) < 20 and spent <= window + Decimal("0.001")


@pytest.mark.more
def test_a_window_at_its_limits_costs_no_more_than_was_expected(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    Talk(tmp_path).user(WISH + " It grew late." * 250).save()
    path = "project_deploy.md"
    reads = [ScriptedStep(ScriptedReply((Use("read_memory", {"path": path}),))) for _ in range(4)]
    _, requests = asked(monkeypatch, project, [*reads, remember(item())])
    spent = sum(row.cost_usd or 0 for row in ModelRequest.objects.all())
    expected = forecast.of_a_window(project, conf.current(project).model)
    assert len(requests) == 5 and spent and expected and spent <= expected


@pytest.mark.more
def test_a_server_that_fails_moves_no_cursor_and_is_asked_again_later(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    talk = Talk(tmp_path).user(WISH).save()
    found, requests = asked(monkeypatch, project, [])
    assert "script has no more steps" in found.closed and len(requests) == 1
    assert Session.objects.get(session_id=talk.id).caught_bytes is None and not Card.objects.exists()
    _, requests = asked(monkeypatch, project, [remember(item())])
    assert requests == [], "not every minute"
    cache.delete(f"memoryweb:catching-failed:{project.pk}")
    found, _ = asked(monkeypatch, project, [remember(item())])
    assert len(found.cards) == 1


LONG = " It grew late." * 270


def three_windows(folder: Path) -> Talk:
    """Each prompt fills a window of its own."""
    talk = Talk(folder)
    for day in ("Monday", "Tuesday", "Friday"):
        talk.user(f"We cut releases on {day}." + LONG)
    return talk.save()


def one_item(day: str) -> ScriptedReply:
    quote = f"We cut releases on {day}."
    return remember(item(quote, f"Releases are cut on {day}, in the {day} window."))


@pytest.mark.more
def test_what_was_read_before_the_server_failed_is_kept_and_the_rest_is_read_later(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    talk = three_windows(tmp_path)
    found, requests = asked(monkeypatch, project, [one_item("Monday"), one_item("Tuesday")])
    assert [card.said for card in found.cards] == [
        "We cut releases on Monday.",
        "We cut releases on Tuesday.",
    ]
    assert "script has no more steps" in found.stopped and found.closed == "" and len(requests) == 3
    row = Session.objects.get(session_id=talk.id)
    third = row.prompts.get(text__startswith="We cut releases on Friday.")
    assert row.caught_bytes == third.offset and third.caught_at is None
    cache.delete(f"memoryweb:catching-failed:{project.pk}")
    found, requests = asked(monkeypatch, project, [one_item("Friday")])
    assert [card.said for card in found.cards] == ["We cut releases on Friday."] and found.stopped == ""
    assert "on Monday." not in json.dumps(requests[0]["messages"])
    row.refresh_from_db()
    assert row.caught_bytes == row.size


@pytest.mark.more
def test_a_reading_that_met_its_budget_says_so_in_its_own_words(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    three_windows(tmp_path)
    window = forecast.of_a_window(project, conf.current(project).model)
    assert window is not None
    settings_changes.set_override("max_cost_day", round(float(window), 4) + 0.001, actor="me")
    costly = ScriptedReply(one_item("Monday").blocks, input_tokens=200_000)
    found, requests = asked(monkeypatch, project, [costly, one_item("Tuesday")])
    assert [card.said for card in found.cards] == ["We cut releases on Monday."] and len(requests) == 1
    assert "this reading has spent" in found.stopped and "dream" not in found.stopped


@pytest.mark.more
def test_a_reading_ends_after_its_windows_and_the_next_goes_on_there(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    three_windows(tmp_path)
    monkeypatch.setattr(model, "MOST_WINDOWS", 2)
    found, _ = asked(monkeypatch, project, [one_item("Monday"), one_item("Tuesday")])
    assert (
        len(found.cards) == 2 and found.stopped == "A reading has at most 2 windows; the rest is read next."
    )
    found, _ = asked(monkeypatch, project, [one_item("Friday")])
    assert [card.said for card in found.cards] == ["We cut releases on Friday."]


@pytest.mark.more
def test_a_session_read_once_more_does_not_move_its_cursor_back(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    talk = three_windows(tmp_path)
    asked(monkeypatch, project, [ScriptedReply((Text("Nothing."),))] * 3)
    row = Session.objects.get(session_id=talk.id)
    assert row.caught_bytes == row.size
    monkeypatch.setattr(model, "MOST_WINDOWS", 1)
    with ModelServer(Script([one_item("Monday")])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        found = lifecycle.catch(project, asked=True, session=row)
    row.refresh_from_db()
    assert len(found.cards) == 1 and row.caught_bytes == row.size


@pytest.mark.more
def test_two_readings_at_once_cannot_both_take_the_last_of_a_budget(
    project: Project, tmp_path: Path, monkeypatch
) -> None:
    Talk(tmp_path).user(WISH).save()
    settings_changes.set_override("max_cost_day", 1.0, actor="me")
    aside: list[Decimal | None] = []
    keep = pricing.Meter._keep
    monkeypatch.setattr(
        pricing.Meter, "_keep", lambda meter, dollars: (aside.append(dollars), keep(meter, dollars))
    )
    asked(monkeypatch, project, [remember(item())])
    assert aside[0] and aside[1:] == [None, None], "set aside, booked, over"
    assert not SetAside.objects.exists()
