"""Prices and limits of models as published when this was written; people edit them in the admin.

Cache writes cost 1.25 times the input for five minutes and twice for an hour; cache reads a tenth.
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
LIMITS = {
    "web_search": Decimal(10),  # dollars per thousand
    "context_window": 1_000_000,
    "max_output": 128_000,
}


def seed(apps, schema_editor):
    Price = apps.get_model("dreams", "Price")
    for model, above, dollars_in, dollars_out in PRICES:
        price = Decimal(dollars_in)
        Price.objects.get_or_create(
            model=model,
            since=SINCE,
            above_prompt_tokens=above,
            defaults={
                "input": price,
                "output": Decimal(dollars_out),
                "cache_write_5m": price * Decimal("1.25"),
                "cache_write_1h": price * 2,
                "cache_read": price / 10,
            },
        )


def fill(apps, schema_editor):
    """What a web search costs and what a model holds, where nobody said so."""
    rows = apps.get_model("dreams", "Price").objects.filter(model__in={model for model, *_ in PRICES})
    for name, value in LIMITS.items():
        rows.filter(**{f"{name}__isnull": True}).update(**{name: value})


def seed_whole(apps, schema_editor):
    seed(apps, schema_editor)
    fill(apps, schema_editor)
