"""What models cost."""

from __future__ import annotations

from django.db import models


class Price(models.Model):
    """Dollars per million tokens of a model, from a date on. An unknown model has tokens and no price, and a page says so."""

    model = models.CharField(max_length=100)
    since = models.DateField()
    above_prompt_tokens = models.BigIntegerField(
        default=0, help_text="For prompts longer than this many tokens."
    )
    input = models.DecimalField(max_digits=10, decimal_places=4)
    output = models.DecimalField(max_digits=10, decimal_places=4)
    cache_write_5m = models.DecimalField(max_digits=10, decimal_places=4)
    cache_write_1h = models.DecimalField(max_digits=10, decimal_places=4)
    cache_read = models.DecimalField(max_digits=10, decimal_places=4)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "since", "above_prompt_tokens"], name="price_once")
        ]
        ordering = ["model", "-since", "above_prompt_tokens"]

    def __str__(self) -> str:
        return f"{self.model} since {self.since}"
