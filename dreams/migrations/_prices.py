"""Prices and limits of models as published when this was written; people edit them in the admin.

Cache writes cost 1.25 times the input for five minutes and twice for an hour; cache reads a tenth, if no other price is named.
"""

import datetime as dt
from decimal import Decimal

SINCE = dt.date(2026, 1, 1)
# Model, above how many prompt tokens, dollars per million tokens in and out.
PRICES = [
    ("claude-sonnet-5-5", 0, "2", "10"),
    ("claude-haiku-5-5", 0, "0.10", "0.50"),
    ("claude-haiku-5-5", 100_000, "0.50", "2.50"),
    ("claude-opus-5-5", 0, "4", "20"),
]
# Of models that agents used before, or beside those: dollars per million tokens in, out, and read from the cache.
MORE_SINCE = dt.date(2025, 1, 1)
MORE = [
    ("claude-3-5-haiku", "0.80", "4", None),
    ("claude-3-5-sonnet", "3", "15", None),
    ("claude-3-7-sonnet", "3", "15", None),
    ("claude-sonnet-4", "3", "15", None),
    ("claude-sonnet-4-5", "3", "15", None),
    ("claude-sonnet-4-6", "3", "15", None),
    ("claude-sonnet-5", "2", "10", None),
    ("claude-haiku-4-5", "1", "5", None),
    ("claude-opus-4", "15", "75", None),
    ("claude-opus-4-1", "15", "75", None),
    ("claude-opus-4-5", "5", "25", None),
    ("claude-opus-4-6", "5", "25", None),
    ("claude-opus-4-7", "5", "25", None),
    ("claude-opus-4-8", "5", "25", None),
    ("claude-opus-5", "5", "25", None),
    ("claude-fable-5", "10", "50", None),
    ("claude-fable-5-1", "10", "50", "0.25"),
    ("claude-fable-5-2", "8", "40", "0.20"),
    ("claude-mythos-5", "10", "50", None),
    ("claude-mythos-5-1", "10", "50", "0.25"),
]
# From this day on, what the cache of claude-sonnet-5-5 costs to read.
CHEAPER_SINCE = dt.date(2026, 10, 7)
LIMITS = {
    "web_search": Decimal(10),  # dollars per thousand
    "context_window": 1_000_000,
    "max_output": 128_000,
}


def seed(apps, schema_editor):
    Price = apps.get_model("dreams", "Price")
    for model, above, dollars_in, dollars_out in PRICES:
        Price.objects.get_or_create(
            model=model, since=SINCE, above_prompt_tokens=above, defaults=_dollars(dollars_in, dollars_out)
        )


def _dollars(dollars_in, dollars_out, read=None):
    price = Decimal(dollars_in)
    return {
        "input": price,
        "output": Decimal(dollars_out),
        "cache_write_5m": price * Decimal("1.25"),
        "cache_write_1h": price * 2,
        "cache_read": Decimal(read) if read else price / 10,
    }


def fill(apps, schema_editor):
    """What a web search costs and what a model holds, where nobody said so."""
    rows = apps.get_model("dreams", "Price").objects.filter(model__in={model for model, *_ in PRICES})
    for name, value in LIMITS.items():
        rows.filter(**{f"{name}__isnull": True}).update(**{name: value})


def seed_whole(apps, schema_editor):
    seed(apps, schema_editor)
    fill(apps, schema_editor)


def _add(apps, rows):
    Price = apps.get_model("dreams", "Price")
    priced = set(Price.objects.values_list("model", flat=True))
    for model, dollars_in, dollars_out, read in rows:
        if model not in priced:
            dollars = _dollars(dollars_in, dollars_out, read)
            Price.objects.create(
                model=model, since=MORE_SINCE, web_search=LIMITS["web_search"], **dollars
            )


def seed_newest(apps, schema_editor):
    """The model that came after the others; they stay as they are, also where a person removed one."""
    _add(apps, [row for row in MORE if row[0] == "claude-fable-5-2"])


def seed_more(apps, schema_editor):
    """Models that agents used before, and cache reads that cost less than a tenth. What a person wrote stays as it is."""
    _add(apps, MORE)
    Price = apps.get_model("dreams", "Price")
    as_seeded = {"since": SINCE, "above_prompt_tokens": 0}
    Price.objects.filter(model="claude-opus-5-5", **as_seeded, **_dollars("4", "20")).update(cache_read="0.20")
    sonnet = Price.objects.filter(model="claude-sonnet-5-5")
    if sonnet.count() == 1 and sonnet.filter(**as_seeded, **_dollars("2", "10")).exists():
        dollars = _dollars("2", "10", "0.10")
        Price.objects.create(model="claude-sonnet-5-5", since=CHEAPER_SINCE, **dollars, **LIMITS)
