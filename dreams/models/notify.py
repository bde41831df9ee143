"""What was told to a person outside the pages: one row per way of telling."""

from __future__ import annotations

from django.db import models


class Channel(models.Model):
    """One way of sending the digest. `next_at` is also the claim: whoever moves it on sends."""

    class Name(models.TextChoices):
        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"

    name = models.CharField(max_length=10, choices=Name, unique=True)
    next_at = models.DateTimeField(null=True, blank=True, help_text="No check before this time.")
    sent_at = models.DateTimeField(null=True, blank=True)
    told = models.JSONField(default=list, help_text="Ids of what the last digest listed.")
    reminders = models.PositiveIntegerField(default=0, help_text="How many digests in a row had no news.")
    failures = models.PositiveIntegerField(default=0, help_text="In a row.")
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.get_name_display()
