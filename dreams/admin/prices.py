"""The prices of models, by start date: the only rows that are set here."""

from decimal import Decimal
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from dreams.admin.site import BoundedList, ModelForm, actor
from dreams.models import Price
from dreams.services import pricing

PRICES = "Dollars per million tokens. A new price is a new row with its date; earlier spending keeps the earlier price."


class PriceForm(ModelForm):
    """Prices as the providers state them; never negative."""

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
            "web_search",
            "context_window",
            "max_output",
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
                self.add_error(name, "This cannot be below 0.")
        return found


@admin.register(Price)
class PriceAdmin(BoundedList):
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

    def save_model(self, request: HttpRequest, obj: Price, form: ModelForm, change: bool) -> None:
        pricing.save(obj, actor=actor(request))

    def delete_model(self, request: HttpRequest, obj: Price) -> None:
        pricing.remove(obj, actor=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Price]) -> None:
        for row in queryset:
            self.delete_model(request, row)
