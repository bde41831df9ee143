"""Prices as published when this was written; people edit them in the admin.

Cache writes cost 1.25 times the input for five minutes and twice for an hour; cache reads a tenth.
"""

import datetime as dt
from decimal import Decimal

from django.db import migrations

SINCE = dt.date(2026, 1, 1)
# Model, above how many prompt tokens, dollars per million tokens in and out.
PRICES = [
    ("claude-sonnet-5-5", 0, "2", "10"),
    ("claude-haiku-5-5", 0, "0.10", "0.50"),
    ("claude-haiku-5-5", 100_000, "0.50", "2.50"),
    ("claude-opus-5-5", 0, "4", "20"),
]


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


class Migration(migrations.Migration):
    dependencies = [("dreams", "0001_initial")]
    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
