"""Prices of models, and their usage."""

from django.db import models

from dreams.lib.files.text import plural
from dreams.models.dreams import DreamRun


class Price(models.Model):
    """Dollars per million tokens of a model, from a date on. An unknown model has tokens but no price, which pages say."""

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
    web_search = models.DecimalField(
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="Dollars per thousand searches. Empty: searches are counted without a cost.",
    )
    context_window = models.BigIntegerField(
        null=True, blank=True, help_text="Tokens that the model holds at once."
    )
    max_output = models.BigIntegerField(null=True, blank=True, help_text="Tokens of the longest answer.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "since", "above_prompt_tokens"], name="price_once")
        ]
        ordering = ["model", "-since", "above_prompt_tokens"]

    def __str__(self) -> str:
        above = f", above {self.above_prompt_tokens:,} tokens" if self.above_prompt_tokens else ""
        return f"{self.model} since {self.since}{above}"


class DreamUsage(models.Model):
    """The usage of one model by one turn of a dream: the source of all limits and pages.

    Rows are only added, one turn at a time, so that the spending is known even if the process dies. Each has its own
    time: a dream over midnight spends on two days. Costs use the prices of that time; null means that the model has no
    price, though its tokens still count.
    """

    dream = models.ForeignKey(DreamRun, on_delete=models.CASCADE, related_name="usage")
    turn = models.PositiveIntegerField()
    at = models.DateTimeField(db_index=True)
    model = models.CharField(max_length=100)
    requests = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cache_write_5m_tokens = models.BigIntegerField(default=0)
    cache_write_1h_tokens = models.BigIntegerField(default=0)
    cache_read_tokens = models.BigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    input_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    output_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    cache_write_5m_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    cache_write_1h_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    cache_read_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)

    class Meta:
        verbose_name = "token count of a turn"
        verbose_name_plural = "token counts by turn"
        ordering = ["at", "pk"]
        indexes = [models.Index(fields=["dream", "turn"])]

    def __str__(self) -> str:
        return f"{self.dream} turn {self.turn}: {plural(self.requests, 'request')} to {self.model}"


class ModelRequest(models.Model):
    """The usage of one request to a model outside dreams. It counts towards the same limits."""

    class Purpose(models.TextChoices):
        CATCHING = "catching", "Catching"
        RECALL = "recall", "Recall"
        HANDOVER = "handover", "Hand-over notes"

    project = models.ForeignKey("dreams.Project", on_delete=models.CASCADE, related_name="model_requests")
    purpose = models.CharField(max_length=20, choices=Purpose, default=Purpose.CATCHING)
    at = models.DateTimeField(db_index=True)
    model = models.CharField(max_length=100)
    requests = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0, help_text="All input tokens, cached or not.")
    output_tokens = models.BigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)

    class Meta:
        verbose_name = "model request without a dream"
        verbose_name_plural = "model requests without a dream"
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.get_purpose_display()} in {self.project}: {plural(self.requests, 'request')} to {self.model}"


class SetAside(models.Model):
    """Dollars reserved for a running request outside dreams. Deleted when it is answered; if its process died,
    it counts until `until`."""

    project = models.ForeignKey("dreams.Project", on_delete=models.CASCADE, related_name="+")
    usd = models.DecimalField(max_digits=16, decimal_places=10)
    until = models.DateTimeField()

    class Meta:
        verbose_name = "amount set aside"
        verbose_name_plural = "amounts set aside"

    def __str__(self) -> str:
        return f"{self.project}: ${self.usd:.4f}"
