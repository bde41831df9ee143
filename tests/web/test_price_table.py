"""The price table in the admin: a price from a date on, and what was spent before keeps what it cost."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.engines.tokens import rate_for
from dreams.models import AuditEntry, DreamUsage, Price
from dreams.services import audit_sentences, pricing
from tests.world import rows as world

ADD = "admin:dreams_price_add"


def _given(**changes: object) -> dict[str, object]:
    kinds = ("output", "cache_write_5m", "cache_write_1h", "cache_read")
    fields = {"model": "own-model", "since": "2026-01-01", "above_prompt_tokens": 0, "input": "3"}
    return {**fields, **dict.fromkeys(kinds, "1"), **changes}


def _input(model: str, day: dt.date) -> Decimal | None:
    rate = rate_for(pricing.table(day), model, 1)
    return rate.input if rate else None


def test_a_price_is_entered_with_its_date_and_holds_from_then_on(browser: Client) -> None:
    assert browser.post(reverse(ADD), _given()).status_code == 302
    assert browser.post(reverse(ADD), _given(since="2026-06-01", input="4.25")).status_code == 302
    found = [_input("own-model", dt.date(*day)) for day in ((2025, 12, 31), (2026, 5, 31), (2026, 6, 1))]
    assert found == [None, Decimal(3), Decimal("4.25")]


def test_a_price_is_corrected_in_place(browser: Client) -> None:
    browser.post(reverse(ADD), _given())
    row = Price.objects.get(model="own-model")
    assert (
        browser.post(reverse("admin:dreams_price_change", args=[row.pk]), _given(input="2")).status_code
        == 302
    )
    assert _input("own-model", dt.date(2026, 1, 1)) == 2


def test_the_audit_log_says_who_changed_which_price_from_what_to_what(browser: Client) -> None:
    browser.post(reverse(ADD), _given(above_prompt_tokens=200_000))
    row = Price.objects.get(model="own-model")
    change, changed = (
        reverse("admin:dreams_price_change", args=[row.pk]),
        {"input": "2.5", "web_search": "10"},
    )
    for _ in range(2):
        browser.post(change, _given(above_prompt_tokens=200_000, **changed))
    browser.post(reverse("admin:dreams_price_delete", args=[row.pk]), {"post": "yes"})
    entries = list(AuditEntry.objects.filter(action__startswith="price.").order_by("number"))
    sentences = audit_sentences.Sentences.of(entries)
    added, corrected, removed = (sentences.sentence(entry) for entry in entries)
    named = "price of own-model since 2026-01-01, above 200,000 tokens"
    assert f"“{named}” to “model own-model, " in added and "input $3, output $1, " in added
    assert corrected.endswith(
        f" set “{named}” to “input $2.50, web search $10” (it was “input $3, web search none”)."
    )
    assert removed.endswith(f" removed the {named}.") and "input $2.50" in entries[-1].data["was"]
    assert {entry.actor for entry in entries} == {"owner"}


def test_the_same_model_and_date_twice_and_a_price_below_zero_are_refused_in_words(browser: Client) -> None:
    browser.post(reverse(ADD), _given())
    twice = browser.post(reverse(ADD), _given()).content.decode()
    below = browser.post(reverse(ADD), _given(since="2027-01-01", input="-1")).content.decode()
    assert "already exists" in twice
    assert "This cannot be below 0." in below
    assert Price.objects.filter(model="own-model").count() == 1


def test_what_a_dream_has_cost_stays_what_it_cost(browser: Client) -> None:
    project = world.make_project()
    run = world.make_dream(project, engine="anthropic", model="own-model")
    DreamUsage.objects.create(
        dream=run, turn=1, at=timezone.now(), model="own-model", output_tokens=10, cost_usd=Decimal("0.5")
    )
    browser.post(reverse(ADD), _given(output="1000000"))
    assert pricing.spent(project, timezone.now(), dt.UTC).today == Decimal("0.5")


def test_the_rows_of_what_dreams_used_are_shown_and_not_changed(browser: Client) -> None:
    run = world.make_dream(world.make_project(), engine="anthropic", model="own-model")
    row = DreamUsage.objects.create(dream=run, turn=1, at=timezone.now(), model="own-model")
    assert run.public_id in browser.get(reverse("admin:dreams_dreamusage_changelist")).content.decode()
    address = reverse("admin:dreams_dreamusage_change", args=[row.pk])
    assert browser.post(address, {"model": "x"}).status_code == 403
    assert browser.get(reverse("admin:dreams_dreamusage_changelist") + "add/").status_code == 403
