"""How many memories a proposal is about, in words. A row of the index comes and goes with its memory, and counts for none."""

from __future__ import annotations

from django.db.models import Count, Q

from dreams.memdir import INDEX_NAME
from dreams.text import plural

#: To annotate proposals, or what was applied of them, with.
NOTES = Count("files", filter=~Q(files__path=INDEX_NAME))


def memories(notes: int) -> str:
    return plural(notes, "memory", "memories") if notes else "the index"
