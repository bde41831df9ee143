"""What search looks through: one row for each text, however many versions share it. Written by `dreams.services.search` alone.

On SQLite a full-text table and three triggers hang on this table (see its migration). A migration that makes SQLite
build the table anew would lose the triggers: it must put them back.
"""

from __future__ import annotations

from django.db import models

from dreams.models.memories import Blob
from dreams.models.sessions import Prompt, Session


class SearchText(models.Model):
    """The text of a memory's version, of what a person typed, or of a session's title, as search compares it."""

    blob = models.OneToOneField(Blob, on_delete=models.CASCADE, null=True, related_name="+")
    prompt = models.OneToOneField(Prompt, on_delete=models.CASCADE, null=True, related_name="+")
    session = models.OneToOneField(Session, on_delete=models.CASCADE, null=True, related_name="+")
    text = models.TextField(help_text="Lower case, without accents; secrets removed.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(blob__isnull=False, prompt__isnull=True, session__isnull=True)
                | models.Q(blob__isnull=True, prompt__isnull=False, session__isnull=True)
                | models.Q(blob__isnull=True, prompt__isnull=True, session__isnull=False),
                name="search_text_of_one_thing",
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]
