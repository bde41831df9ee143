"""Secrets taken out of everything that is kept: what was replaced, and whether that is done."""

from __future__ import annotations

from django.db import models


class Purge(models.Model):
    """One purge. Names texts by sha256 and never holds what was in them; an unfinished one is finished at the next start."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=150, blank=True)
    by_command = models.BooleanField(default=False)
    reason = models.CharField(max_length=500, blank=True)
    replaced = models.JSONField(help_text="Old sha256 to the sha256 of the same text without the secret.")
    histories = models.JSONField(help_text="Keys of the histories still to be rewritten.")
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{len(self.replaced)} texts, {self.at:%Y-%m-%d %H:%M}"
