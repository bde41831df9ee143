"""Usage: tokens by day, model and project, priced where a price is known, and said where it is not."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from itertools import count

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.engines.tokens import rate_for
from dreams.models import DreamRun, DreamUsage, Price, RequestUsage, Session
from dreams.services.pricing import PriceBook
from dreams.web.pages import usage as pages
from tests.world import rows as world

_keys = count(1)


def _request(session: Session, model: str = "m-1", days: float = 0, **tokens: int) -> RequestUsage:
    at = timezone.now() - dt.timedelta(days=days)
    fields = {"input_tokens": 1000, "output_tokens": 100, **tokens}
    return RequestUsage.objects.create(key=next(_keys), session=session, model=model, at=at, **fields)


def _price(model: str, since: str = "2020-01-01", above: int = 0, dollars: str = "1") -> Price:
    amount = Decimal(dollars)
    return Price.objects.create(
        model=model,
        since=since,
        above_prompt_tokens=above,
        input=amount,
        output=amount * 5,
        cache_write_5m=amount,
        cache_write_1h=amount,
        cache_read=amount,
    )


@pytest.fixture
def session(db: None) -> Session:
    return world.make_session(world.make_project())


def test_known_prices_make_a_cost_and_unknown_ones_are_said(browser: Client, session: Session) -> None:
    _price("m-1")
    _request(session, "m-1-20260101", input_tokens=1_000_000, output_tokens=200_000)
    _request(session, "other", input_tokens=500, output_tokens=0)
    found = pages.usage(timezone.now())
    assert found.sessions.total.price == Decimal(2)
    assert found.sessions.total.unpriced == 500
    text = browser.get(reverse("usage")).content.decode()
    assert "$2.00" in text
    assert "500 tokens</span> of unknown price" in text
    assert "no price known" in text


def test_without_any_price_tokens_stand_without_a_cost(browser: Client, session: Session) -> None:
    Price.objects.all().delete()
    _request(session)
    text = browser.get(reverse("usage")).content.decode()
    assert "No prices are entered" in text
    assert pages.usage(timezone.now()).sessions.total.price is None


def test_the_price_of_the_day_and_of_the_prompts_length_counts(session: Session) -> None:
    _price("m-1", "2020-01-01", dollars="1")
    _price("m-1", "2026-06-01", dollars="2")
    _price("m-1", "2026-06-01", above=200_000, dollars="4")
    book = PriceBook.load()

    def dollars(model: str, day: dt.date, prompt: int = 1) -> Decimal | None:
        rate = rate_for(book.on(day), model, prompt)
        return rate.input if rate else None

    assert dollars("m-1", dt.date(2026, 5, 31)) == 1
    assert dollars("m-1", dt.date(2026, 6, 1)) == 2
    assert dollars("m-1", dt.date(2026, 6, 1), 200_001) == 4
    assert dollars("m-1", dt.date(2019, 1, 1)) is None
    assert dollars("m-10", dt.date(2026, 6, 1)) is None


def test_long_prompts_are_priced_apart_from_short_ones(session: Session) -> None:
    _price("m-1", dollars="1")
    _price("m-1", above=200_000, dollars="3")
    _request(session, input_tokens=100_000, output_tokens=0)
    _request(session, input_tokens=100_000, output_tokens=0, cache_read_tokens=200_000)
    expected = Decimal(100_000 + 3 * 300_000) / 1_000_000
    assert pages.usage(timezone.now()).sessions.total.price == expected


def test_only_the_time_asked_for_is_counted(session: Session) -> None:
    _request(session, days=0)
    _request(session, days=20)
    _request(session, days=200)
    totals = {period: pages.usage(timezone.now(), period).sessions.total.requests for period in pages.PERIODS}
    assert totals == {"7": 1, "30": 2, "90": 2, "365": 3}


@pytest.mark.parametrize(("period", "first"), [("90", "Day"), ("365", "Week from")])
def test_up_to_ninety_days_are_drawn_day_by_day(session: Session, period: str, first: str) -> None:
    _request(session)
    assert pages.usage(timezone.now(), period).pictures[0].head[0] == first


@pytest.mark.parametrize("period", pages.PERIODS)
def test_the_chart_by_kind_holds_every_token(session: Session, period: str) -> None:
    for days in (0, 3, 6.5):
        _request(
            session,
            days=days,
            input_tokens=100,
            output_tokens=10,
            cache_read_tokens=70,
            cache_write_5m_tokens=33,
        )
    found = pages.usage(timezone.now(), period)
    rows = found.pictures[0].rows
    assert sum(int(row[-1]) for row in rows) == found.sessions.total.tokens.total
    assert [sum(map(int, filter(None, row[1:-1]))) for row in rows] == [int(row[-1]) for row in rows]


def test_a_screen_reader_gets_the_chart_as_words_and_as_a_table(browser: Client, session: Session) -> None:
    _request(session)
    text = browser.get(reverse("usage")).content.decode()
    assert re.search(r'<svg [^>]*role="img"[^>]*aria-labelledby="tokens-by-kind-', text)
    assert 'As a table<span class="sr-only">: Tokens by kind</span>' in text
    assert "<caption" in text


def test_with_no_tokens_the_page_says_so_and_offers_more_time(browser: Client) -> None:
    assert "No usage yet" in browser.get(reverse("usage")).content.decode()
    _request(world.make_session(world.make_project()), days=40)
    text = browser.get(reverse("usage")).content.decode()
    assert "No tokens from sessions in this period" in text
    assert '<a class="button" href="?days=365">' in text


def test_dreams_by_rules_cost_nothing_and_others_cost_what_was_known(browser: Client) -> None:
    project = world.make_project()
    world.make_dream(project)
    world.make_dream(project, DreamRun.Status.FAILED, engine="anthropic", model="m-1")
    world.make_dream(
        world.make_project("second"), DreamRun.Status.RUNNING
    )  # counted once it is over, as elsewhere
    assert "2 dreams used no tokens and cost nothing." in browser.get(reverse("usage")).content.decode()
    run = world.make_dream(project, engine="anthropic", model="m-1")
    _used(run, cost_usd=Decimal("0.42"), output_usd=Decimal("0.42"))
    text = browser.get(reverse("usage")).content.decode()
    assert "$0.42" in text


def _used(run: DreamRun, model: str = "m-1", days: float = 0, **fields: object) -> DreamUsage:
    at = timezone.now() - dt.timedelta(days=days)
    given = {"requests": 1, "output_tokens": 100, "cache_read_tokens": 900, **fields}
    return DreamUsage.objects.create(dream=run, turn=1, at=at, model=model, **given)


def test_what_dreams_used_stands_by_model_kind_project_and_day(browser: Client) -> None:
    """Also of a dream that failed, and of a model without a price."""
    run = world.make_dream(world.make_project(), "failed", engine="anthropic", model="m-1")
    other = world.make_dream(world.make_project("notes-cli"), engine="anthropic", model="m-1")
    split = {"output_usd": Decimal("0.3"), "cache_read_usd": Decimal("0.2")}
    _used(run, cost_usd=Decimal("0.5"), **split)
    _used(run, days=2, cost_usd=Decimal("0.5"), **split)
    _used(other, "own-model")
    found = pages.usage(timezone.now()).dreams
    assert found.used.total.cost == 1 and found.used.total.unpriced == 1000
    assert [(line.name, line.sum.cost) for line in found.used.models] == [("m-1", 1), ("own-model", 0)]
    assert [(line.name, line.sum.cost, line.sum.unpriced) for line in found.kinds] == [
        ("Cache read", Decimal("0.4"), 900),
        ("Output", Decimal("0.6"), 100),
    ]
    assert {line.name: line.sum.tokens.total for line in found.used.projects} == {
        "acme-api": 2000,
        "notes-cli": 1000,
    }
    assert [total.requests for _, total in found.days] == [2, 1]
    text = browser.get(reverse("usage")).content.decode()
    assert "No price is known for own-model." in text


def test_more_requests_cost_no_more_queries(browser: Client, session: Session) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("usage"))
        return len(queries)

    world.make_project()  # of the same name: such are told apart by where they are
    _request(session)
    cost()
    few = cost()
    for number in range(20):
        _request(world.make_session(world.make_project()), f"m-{number}", days=number)
    assert cost() == few


def test_web_searches_are_counted_and_priced(browser: Client, session: Session) -> None:
    _price("m-1")
    Price.objects.filter(model="m-1").update(web_search=Decimal(10))
    _request(session, "m-1", input_tokens=1_000_000, output_tokens=0, web_searches=30)
    _request(session, "other", web_searches=2)
    total = pages.usage(timezone.now()).sessions.total
    assert (total.searches, total.search_cost, total.unpriced_searches) == (32, Decimal("0.3"), 2)
    assert total.cost == Decimal("1.3")
    text = " ".join(re.sub(r"<[^>]+>", "", browser.get(reverse("usage")).content.decode()).split())
    assert "32 web searches for $0.30, price unknown for 2" in text
    assert "30 web searches" in text, "beside their model"


def test_a_search_without_a_price_is_counted_and_costs_nothing(session: Session) -> None:
    _price("m-1")
    _request(session, "m-1", input_tokens=1_000_000, output_tokens=0, web_searches=3)
    total = pages.usage(timezone.now()).sessions.total
    assert (total.searches, total.unpriced_searches, total.cost) == (3, 3, Decimal(1))


def test_what_a_model_holds_is_beside_its_name(browser: Client, session: Session) -> None:
    _request(session, "claude-opus-5-5-20261001")
    _request(session, "other")
    lines = {line.name: line.limits for line in pages.usage(timezone.now()).sessions.models}
    known, unknown = lines["claude-opus-5-5-20261001"], lines["other"]
    assert known is not None and (known.context_window, known.max_output) == (1_000_000, 128_000)
    assert unknown is not None and (unknown.context_window, unknown.max_output) == (None, None)
    text = browser.get(reverse("usage")).content.decode()
    assert "1.00 M context" in text and "128.0 k longest answer" in text


def test_the_agents_own_count_is_beside_ours(browser: Client, session: Session) -> None:
    _price("m-1")
    _request(session, "m-1", input_tokens=1_000_000, output_tokens=0, agent_micros=1_250_000)
    _request(session, "m-1", input_tokens=1_000_000, output_tokens=0)
    total = pages.usage(timezone.now()).sessions.total
    assert (total.agent_cost, total.agent_told, total.cost) == (Decimal("1.25"), 1, Decimal(2))
    text = " ".join(re.sub(r"<[^>]+>", "", browser.get(reverse("usage")).content.decode()).split())
    assert "$1.25 by the agent’s own count, for 1 of the requests" in text


def test_models_and_projects_beyond_the_twenty_largest_are_counted(browser: Client) -> None:
    project = world.make_project()
    session = world.make_session(project)
    for number in range(21):
        _request(session, f"m-{number}", input_tokens=number + 1)
    page = " ".join(browser.get("/usage/").content.decode().split())
    assert "1 smaller model not shown." in page and "<b>21</b> requests" in page
