"""Recall by a model: names and descriptions only, five at most, paid for, and the rules where it cannot be had."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from dreams.lib.prose import recall
from dreams.models import ModelRequest, Project, SetAside
from dreams.services import recalling, settings_changes
from tests.world import directory as world
from tests.world.model_server import ModelServer, Script, ScriptedReply, ScriptedStep, Text, Use, status

pytestmark = pytest.mark.django_db

FILES = {
    f"m{number}.md": (
        f"---\nname: Memory {number}\ndescription: About subject {number}\ntype: project\n---\n\n"
        f"The body of number {number} says kumquat.\n"
    )
    for number in range(8)
}
FILES["m7.md"] = FILES["m7.md"].replace("About subject 7", "The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2)
QUESTION = "what about subject 3?"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    settings_changes.set_override("recall_engine", "anthropic", actor="me")
    return world.make_project(tmp_path / "claude", FILES)


def choose(*files: object) -> ScriptedReply:
    return ScriptedReply((Use("choose", {"files": list(files)}),))


def asked(
    monkeypatch: pytest.MonkeyPatch,
    project: Project,
    steps: list[object],
    seen: recall.LoadedSoFar | None = None,
) -> tuple[recalling.Recall, list[Mapping[str, Any]]]:
    with ModelServer(Script(steps)) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        found = recalling.ask(project, recalling.fresh(project), QUESTION, seen)
        return found, [call.body for call in wire.calls]


@pytest.mark.not_on_postgresql
def test_it_sees_names_and_descriptions_and_never_a_body_or_a_secret(project: Project, monkeypatch) -> None:
    found, requests = asked(monkeypatch, project, [choose("m2.md", "m5.md")])
    sent = json.dumps(requests[0])
    assert "m2.md (Memory 2): About subject 2" in sent and QUESTION in sent
    assert "kumquat" not in sent and "a1B2c3D4" not in sent
    assert [(one.path, one.why) for one in found.chosen] == [
        ("m2.md", f"chosen by {found.by.model}"),
        ("m5.md", f"chosen by {found.by.model}"),
    ]
    assert {one.why for one in found.left_out} == {f"not chosen by {found.by.model}"}
    assert "kumquat" in found.chosen[0].text


@pytest.mark.not_on_postgresql
def test_a_choice_that_is_cut_off_is_asked_for_again_and_is_never_no_choice(
    project: Project, monkeypatch
) -> None:
    cut = ScriptedReply((Text("Hm"),), stop_reason="max_tokens")
    found, requests = asked(monkeypatch, project, [cut, choose("m2.md")])
    assert [one.path for one in found.chosen] == ["m2.md"] and len(requests) == 2
    found, _ = asked(monkeypatch, project, [cut, cut])
    assert "cut off" in found.by.note and "The rules chose instead" in found.by.note
    found, _ = asked(monkeypatch, project, [ScriptedReply((Text("No."),), stop_reason="refusal")])
    assert "refused to answer. The rules chose instead" in found.by.note


@pytest.mark.not_on_postgresql
def test_at_most_five_are_taken_and_names_it_was_not_given_are_dropped(project: Project, monkeypatch) -> None:
    named = [
        "../../etc/passwd",
        "m6.md",
        "m6.md",
        5,
        "m1.md",
        "m2.md",
        "m3.md",
        "m4.md",
        "m5.md",
        "MEMORY.md",
    ]
    found, requests = asked(monkeypatch, project, [choose(*named)], recall.LoadedSoFar(shown=["m1.md"]))
    assert [one.path for one in found.chosen] == ["m6.md", "m2.md", "m3.md", "m4.md", "m5.md"]
    assert found.by.note == "Dropped 3 names that were not in the list."
    assert "m1.md" not in json.dumps(requests[0]["messages"])
    found, _ = asked(monkeypatch, project, [choose(*(f"m{number}.md" for number in range(7)))])
    assert len(found.chosen) == 5
    assert next(one.why for one in found.left_out if one.path == "m6.md") == "5 others match better"


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("reply", [choose(), ScriptedReply((Text("I am not sure."),))])
def test_unsure_means_none(project: Project, monkeypatch, reply: ScriptedReply) -> None:
    found, _ = asked(monkeypatch, project, [reply])
    assert found.chosen == [] and found.by.model and found.by.note == ""


def test_what_it_cost_is_kept_shown_and_counted(project: Project, monkeypatch) -> None:
    found, _ = asked(monkeypatch, project, [choose("m2.md")])
    row = ModelRequest.objects.get()
    assert (row.purpose, row.requests, row.cost_usd) == ("recall", 1, found.by.usd)
    assert row.cost_usd and row.cost_usd > 0 and not SetAside.objects.exists()
    settings_changes.set_override("max_cost_day", float(row.cost_usd), actor="me")
    found, requests = asked(monkeypatch, project, [choose("m2.md")])
    assert requests == [] and "for today" in found.by.note


def rules_chose(found: recalling.Recall) -> bool:
    return found.by.name == "rules" and "m3.md" in [one.path for one in found.chosen]


@pytest.mark.parametrize(
    ("step", "seconds", "said"),
    [
        (status(401), 60, "does not take the key"),
        (ScriptedReply((Use("choose", {"files": "m2.md"}),)), 60, "something else than a list"),
        (
            ScriptedStep(ScriptedReply((Text("slow " * 200),), piece=1, pause=0.05)),
            1,
            "took longer than its 1 seconds",
        ),
    ],
)
@pytest.mark.not_on_postgresql
def test_the_rules_choose_where_the_model_is_away_odd_or_slow_and_that_is_said(
    project: Project, monkeypatch, step: object, seconds: int, said: str
) -> None:
    settings_changes.set_override("recall_seconds", seconds, actor="me")
    found, _ = asked(monkeypatch, project, [step])
    assert rules_chose(found) and said in found.by.note
    assert found.by.note.endswith("The rules chose instead.")


@pytest.mark.not_on_postgresql
def test_the_rules_choose_where_the_budget_is_used_up(project: Project, monkeypatch) -> None:
    settings_changes.set_override("max_cost_day", 0.001, actor="me")
    found, requests = asked(monkeypatch, project, [choose("m2.md")])
    assert rules_chose(found) and requests == []
    assert "could pass the $0.0010 for today" in found.by.note and "dream" not in found.by.note


@pytest.mark.not_on_postgresql
def test_no_model_is_asked_where_none_is_set_or_nothing_is_left_to_choose(
    project: Project, monkeypatch
) -> None:
    _, requests = asked(monkeypatch, project, [choose("m2.md")], recall.LoadedSoFar(shown=list(FILES)))
    assert requests == []
    settings_changes.set_override("recall_engine", "rules", actor="me")
    found, requests = asked(monkeypatch, project, [choose("m2.md")])
    assert rules_chose(found) and requests == [] and found.by.note == ""


def test_the_page_asks_it_on_a_press_and_says_who_chose(
    project: Project, monkeypatch, browser: Client
) -> None:
    address = f"/projects/{project.pk}/recall/"
    with ModelServer(Script([choose("m2.md")])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        typed = browser.get(address, {"q": QUESTION}).content.decode()
        assert wire.calls == [] and "chosen by rules" in typed and f"{address}model/" in typed
        pressed = " ".join(browser.post(f"{address}model/", {"q": QUESTION}).content.decode().split())
    row = ModelRequest.objects.get()
    assert f"Chosen by {row.model}. 1 request to a model, $" in pressed
    assert f"chosen by {row.model} ·" in pressed and f"not chosen by {row.model}" in pressed
    settings_changes.set_override("recall_engine", "rules", actor="me")
    assert f"{address}model/" not in browser.get(address, {"q": QUESTION}).content.decode()


def test_command_and_mcp_say_who_chose_and_what_it_cost(
    project: Project, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dreams.management import mcp_server  # loads for a second: not in every process

    monkeypatch.setattr(mcp_server, "close_old_connections", lambda: None)  # the test's own
    with ModelServer(Script([choose("m2.md"), choose("m4.md")])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        call_command("recall", project.memory_dir, QUESTION, "--json")
        printed = json.loads(capsys.readouterr().out)
        answer = json.loads(mcp_server.Desk(project.pk).recall(QUESTION))
    for found, path in ((printed, "m2.md"), (answer, "m4.md")):
        assert [one["path"] for one in found["chosen"]] == [path]
        assert found["chosen_by"] not in ("", "rules") and found["cost_usd"] > 0 and found["note"] == ""
