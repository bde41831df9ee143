"""What models cost, by the day since when."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from django.contrib import admin

from dreams.admin.base import Listed, ModelForm
from dreams.models import Price

PRICES = "Dollars per million tokens. A new price is a new row with its date; earlier spending keeps the earlier price."


class PriceForm(ModelForm):
    """Prices as the providers give them; none is below nothing."""

    class Meta:
        model = Price
        fields = (
            "model",
            "since",
            "above_prompt_tokens",
            "input",
            "output",
            "cache_write_5m",
            "cache_write_1h",
            "cache_read",
        )
        labels: ClassVar = {
            "above_prompt_tokens": "Above",
            "cache_write_5m": "Cache write, 5 min",
            "cache_write_1h": "Cache write, 1 h",
        }

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        for name, value in list(found.items()):
            if isinstance(value, int | Decimal) and value < 0:
                self.add_error(name, "A price is not below 0.")
        return found


@admin.register(Price)
class PriceAdmin(Listed):
    form = PriceForm
    fieldsets = ((None, {"description": PRICES, "fields": PriceForm.Meta.fields}),)
    list_display = (
        "model",
        "since",
        "above_prompt_tokens",
        "input_shown",
        "output_shown",
        "cache_read_shown",
    )
    list_filter = ("model",)
    search_fields = ("model",)
