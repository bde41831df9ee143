"""The filters and tags of the templates."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
import time_machine
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

from dreams.lib import amounts
from dreams.web.tags import desk
from tests.world.cases import each

NOW = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)


def _render(text: str, address: str = "/x/?a=1&page=2", **context: object) -> str:
    request = RequestFactory().get(address)
    return Template("{% load desk %}" + text).render(Context({"request": request, **context}))


@time_machine.travel(NOW, tick=False)
def test_an_age_carries_the_moment_for_machines_and_people() -> None:
    with timezone.override("Europe/Berlin"):
        out = desk.age(NOW - dt.timedelta(hours=3))
    assert out == (
        '<time datetime="2026-11-21T09:00:00+00:00" title="21 Nov 2026 10:00 CET" data-age>3 h ago</time>'
    )
    assert "just now" in desk.age(NOW + dt.timedelta(hours=6)), "a clock was set back"
    assert "data-due>in 6 h" in desk.due(NOW + dt.timedelta(hours=6))
    assert "now" in desk.due(NOW - dt.timedelta(hours=6))
    assert desk.age(None) == ""


@each(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (20_390, "20.4 KB"),
        (3 * 1000**3, "3.0 GB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert amounts.bytes_(count) == text


def test_commands_in_a_sentence_are_code_and_nothing_else_is_markup() -> None:
    assert desk.codes("Run `doctor <b>`, now.") == "Run <code>doctor &lt;b&gt;</code>, now."
    assert desk.codes("One ` alone <b>") == "One ` alone &lt;b&gt;"


@each(
    ("text", "short"),
    [
        ("Kept 1 row.", "Kept 1 row."),
        ("Merged two notes. Kept one row of the index.", "Merged two notes. …"),
        ("Merged two notes that say the same", "Merged two notes that say …"),
        ("a" * 40, "a" * 28 + " …"),
    ],
)
def test_what_is_too_long_ends_with_a_sentence_or_at_least_a_word(text: str, short: str) -> None:
    assert desk.brief(text, 30) == short


@each(
    ("count", "text"),
    [
        (820, "820"),
        (12_300, "12.3 k"),
        (999_960, "1.00 M"),
        (1_240_000, "1.24 M"),
        (40_000_000, "40.0 M"),
        (200_000_000, "200 M"),
        (3_054_130_000, "3.05 bn"),
    ],
)
def test_tokens(count: int, text: str) -> None:
    assert amounts.tokens(count) == text


@each(
    ("dollars", "text"),
    [(None, "no price known"), (0, "$0"), (Decimal("0.0031"), "$0.0031"), (1234.5, "$1,234.50")],
)
def test_money(dollars: Decimal | float | None, text: str) -> None:
    assert amounts.money(dollars) == text


def test_a_long_path_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert desk.short_path("/home/me/notes") == "~/notes"
    assert desk.short_path("/home/meadow/notes") == "/home/meadow/notes"
    long = "/home/me/.claude/projects/-home-me-some-very-long-project-name/memory/team/x.md"
    assert desk.short_path(long) == "~/.claude/…/memory/team/x.md"


def test_a_query_keeps_the_other_parameters() -> None:
    assert _render("{% query page=3 %}") == "?a=1&amp;page=3"
    assert _render("{% query page=None %}") == "?a=1"
    assert _render("{% query page='' a='' %}") == "/x/"


def test_a_proposal_that_a_sentence_names_is_linked() -> None:
    said = "Proposal p12345678 waits for <you>; proposals are none."
    assert _render("{{ said|linked }}", said=said) == (
        'Proposal <a href="/review/p12345678/">p12345678</a> waits for &lt;you&gt;; proposals are none.'
    )


def test_an_icon_is_for_the_eye_only() -> None:
    out = _render('{% icon "ok" %}')
    assert 'aria-hidden="true"' in out
    assert out.startswith("<svg")


def test_pages_lead_to_older_and_newer_and_are_not_there_for_one() -> None:
    many = Paginator(range(30), 10).page(2)
    out = _render("{% pages page %}", page=many)
    assert 'href="?a=1&amp;page=1"' in out
    assert 'href="?a=1&amp;page=3"' in out
    assert _render("{% pages page %}", page=Paginator(range(3), 10).page(1)).strip() == ""


@each(
    ("used", "limit", "over"),
    [(0, 200, False), (164, 200, False), (200, 200, False), (300, 200, True), (5, 0, False)],
)
def test_a_bar_shows_what_is_over(used: int, limit: int, over: bool) -> None:
    out = _render(f"{{% bar {used} {limit} %}}")
    assert ("bar-over" in out) is over
    assert f'aria-label="{used} of {limit}"' in out


def test_hidden_characters_are_written_out() -> None:
    assert _render("{{ x|visible }}", x="a\u202eb<i>") == "a⟨U+202E⟩b&lt;i&gt;"


def test_markdown_is_safe_in_a_template() -> None:
    assert _render("{{ x|markdown }}", x="**b** <i>").strip() == "<p><strong>b</strong> &lt;i&gt;</p>"


@each(
    ("dollars", "text"),
    [("15", "$15"), ("2.5000", "$2.50"), ("0.1250", "$0.125"), ("0.0100", "$0.01"), ("3.7512", "$3.7512")],
)
def test_prices_of_a_million_tokens(dollars: str, text: str) -> None:
    assert amounts.rate(Decimal(dollars)) == text


def test_lengths_are_said_in_the_units_of_people() -> None:
    assert (amounts.lasting(1_800), amounts.lasting(45), amounts.lasting(5_400)) == (
        "30 min",
        "45 s",
        "1 h 30 min",
    )
