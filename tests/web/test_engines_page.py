"""The engines page: what is in force and why, whether there is a key, and a test of the connection over real HTTP."""

from __future__ import annotations

import re
import socket
import uuid
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.engines.anthropic import keys, probe
from dreams.lib.sandbox.tool_worker import fences
from dreams.models import Override, Project
from dreams.services import settings_changes
from dreams.web.pages import engines as selector
from tests.world import rows as make
from tests.world.model_server import FakeLimits, ModelServer, Script, use

READY = use("ready", word="yes")


@pytest.fixture(autouse=True)
def no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    cache.clear()


def text(browser: Client) -> str:
    return " ".join(browser.get(reverse("engines")).content.decode().split())


def probed(browser: Client, **form: object) -> str:
    response = browser.post(reverse("engines-test"), form, follow=True)
    assert response.redirect_chain == [(reverse("engines"), 303)]
    return " ".join(response.content.decode().split())


def own(project: Project, **values: str) -> None:
    for key, value in values.items():
        settings_changes.set_override(key, value, actor="me", project=project)


def test_without_a_key_the_page_and_the_test_say_what_to_do(browser: Client) -> None:
    make.make_project()
    assert "Not tested yet" in text(browser) and "The rules engine needs none" in text(browser)
    # States begin with a capital, those of switches too.
    assert not re.search(r"<td>\s*(?:on|off|none|no limit)\b", text(browser))
    found = probed(browser)
    assert "no usable key" in found and "Set ANTHROPIC_API_KEY" in found


def test_a_button_of_slow_work_shows_that_it_runs(browser: Client) -> None:
    project = make.make_project("slow")
    for page in (text(browser), browser.get(f"/projects/{project.pk}/caught/").content.decode()):
        assert "data-busy=" in page and "js/busy.js" in page


def test_projects_of_one_name_are_told_apart(browser: Client) -> None:
    for folder in ("/work/one", "/work/two"):
        make.make_project("app", repo_dir=folder)
    assert "app (/work/one)" in text(browser) and "app (/work/two)" in text(browser)


def test_a_chosen_model_without_a_key_is_a_fault(browser: Client) -> None:
    own(make.make_project(), engine="anthropic")
    assert "its dreams will fail" in text(browser)


def test_a_key_is_said_to_be_there_and_is_never_shown(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = uuid.uuid4().hex
    monkeypatch.setenv("ANTHROPIC_API_KEY", made_up)
    found = text(browser)
    assert "In the environment, for api.anthropic.com alone" in found
    assert made_up not in found


def test_an_address_with_a_password_is_not_shown(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://someone:pass-word@models.example.org")
    found = text(browser)
    assert "is not an address" in found and "pass-word" not in found


@pytest.mark.more
def test_what_a_test_found_stands_on_the_page_with_its_facts_until_the_next_one(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(Script([READY])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert "The connection works with claude-sonnet-5-5." in probed(browser)
    again = text(browser)
    assert "and calls tools." in again and "<dt>Round trip</dt>" in again and "Tested" in again
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert "at a different address: " + server.url.removeprefix("http://") in text(browser)


@pytest.mark.more
def test_a_projects_own_model_is_the_one_that_is_tested(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make.make_project()
    own(project, engine="anthropic", model="tiny")
    with ModelServer(Script([READY]), limits=FakeLimits(models=("other",))) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        found = probed(browser, project=project.pk)
    assert "does not know the model “tiny”. It offers: other." in found
    assert browser.post(reverse("engines-test"), {"project": "999999"}).status_code == 404


def test_an_address_where_nobody_listens_has_its_remedy(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    assert "Is the server running? Start it" in probed(browser)


def test_a_test_is_a_post(browser: Client) -> None:
    assert browser.get(reverse("engines-test")).status_code == 405


def test_each_project_shows_its_engine_where_that_comes_from_and_what_is_its_own(browser: Client) -> None:
    make.make_project("plain")
    own(make.make_project("special"), engine="anthropic", model="home-made", max_turns="7")
    found = text(browser)
    assert "Its own: Model, Turns per dream" in found and "Set for this project" in found
    assert "home-made" in found and "tokens without a price" in found and "The price is unknown" in found
    assert "Cache write" in found
    rows = {row["project"].name: row for row in selector.engines(None)["rows"].items}
    assert not rows["plain"]["uses_model"] and rows["plain"]["source"] == "Default"
    assert rows["special"]["config"].max_turns == 7
    Override.objects.create(key="model", value="home-made")
    assert "Cache write" not in text(browser), "no table where no price is known"


def test_the_prices_are_those_of_the_models_that_somebody_chose(db: None) -> None:
    own(make.make_project(), model="claude-opus-5-5")
    gone = make.make_project("gone", gone_at=timezone.now())
    own(gone, model="forgotten")
    shown = selector.engines(None)
    found = {one["model"]: one for one in (*shown["priced"], *shown["unpriced"])}
    assert set(found) == {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"}
    rate = found["claude-opus-5-5"]["rate"]
    assert rate is not None and (rate.input, rate.output) == (Decimal(4), Decimal(20))
    assert found["claude-haiku-5-5"]["users"] == "fallback"


def test_the_sandbox_is_told_with_its_remedy(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "offered", lambda: fences.Fences(trouble="bubblewrap is not installed"))
    assert "Built-in checks only" in text(browser) and "apt install bubblewrap" in text(browser)
    assert "apt install bubblewrap" in browser.get(reverse("health")).content.decode()


def test_a_finding_of_an_older_version_is_kept_apart(browser: Client) -> None:
    cache.set(selector.LAST_TEST, "something else")
    assert "Not tested yet" in text(browser)


def test_many_projects_cost_no_more_queries_than_few(browser: Client) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("engines"))
        return len(queries)

    own(make.make_project(), model="m")
    cost()
    few = cost()
    for number in range(6):
        own(make.make_project(f"p{number}"), model=f"m{number}")
    assert cost() == few


def test_the_words_of_a_test_are_kept_as_they_are_made(db: None) -> None:
    finding = probe.Probed(keys.What.BUSY, "It is busy.", "Wait.", (("Model", "m"),), ("m",))
    selector.save_test("m", finding)
    kept = selector.last_test()
    assert kept is not None and (kept["finding"], kept["model"], kept["is_old"]) == (finding, "m", False)
