"""The inbox: snoozed items, tokens of the feed, and channels of the digest."""

from django.db import models


class Snooze(models.Model):
    """A waiting item that is hidden from one account until a day, or until the next dream has ended."""

    item = models.CharField(max_length=80, help_text="The id of the proposal, or “questions”.")
    kind = models.CharField(
        max_length=12, help_text="Why it waited then. It comes back once it waits for another reason."
    )
    until = models.DateTimeField(null=True, blank=True, help_text="Empty: until the next dream has ended.")
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True, help_text="The account that it is snoozed for.")

    class Meta:
        ordering = ["until", "made_at"]
        constraints = [models.UniqueConstraint(fields=["item", "made_by"], name="snoozed_once_per_account")]

    def __str__(self) -> str:
        return f"{self.item} until {self.until or 'the next dream'}"


class FeedToken(models.Model):
    """The token of the feed's address, which lists only the titles of waiting items. Only its hash is stored."""

    token_hash = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="When the feed was last read.")

    class Meta:
        ordering = ["made_at"]

    def __str__(self) -> str:
        return f"made {self.made_at:%Y-%m-%d %H:%M}"


class Channel(models.Model):
    """One way of sending the digest. `next_at` is also a claim: the process that advances it sends."""

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
