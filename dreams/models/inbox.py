"""What a person put off in the inbox, and who may read what waits from outside."""

from __future__ import annotations

from django.db import models


class Snooze(models.Model):
    """Something that waits and is not shown until a day, or until the next dream has ended."""

    item = models.CharField(max_length=80, unique=True, help_text="The id of the proposal, or “questions”.")
    kind = models.CharField(
        max_length=12, help_text="Why it waited then. It comes back once it waits for another reason."
    )
    until = models.DateTimeField(null=True, blank=True, help_text="Empty: until the next dream has ended.")
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["until", "made_at"]

    def __str__(self) -> str:
        return f"{self.item} until {self.until or 'the next dream'}"


class FeedToken(models.Model):
    """A token whose address lists the titles of what waits, and nothing else. Only its hash is kept."""

    token_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="When the feed was last read.")

    class Meta:
        ordering = ["made_at"]

    def __str__(self) -> str:
        return f"made {self.made_at:%Y-%m-%d %H:%M}"
