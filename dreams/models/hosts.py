"""The installations that share this database."""

from __future__ import annotations

from django.db import models


class Host(models.Model):
    """One installation: a data directory with its queue. Rows that belong to it hold its `key`, people see its name."""

    key = models.CharField(
        max_length=255, unique=True, help_text="From the file host_id in its data directory."
    )
    name = models.CharField(max_length=200, unique=True, help_text="MEMORYWEB_HOST, or the computer's name.")
    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When its scheduler last ran, by the database's clock."
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
