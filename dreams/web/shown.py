"""Text of transcripts on its way to a page: secrets taken out, and what cannot be seen written out."""

from __future__ import annotations

from dreams.lib import diff
from dreams.lib.secrets import redact


def shown(text: str) -> str:
    """The one place through which every text of a transcript passes before a page shows it."""
    return diff.visible(redact.redact(text).replace("\r\n", "\n"))
