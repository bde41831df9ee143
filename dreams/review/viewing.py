"""The ticks of the files that a person has looked at."""

from __future__ import annotations

from dreams import text
from dreams.models import FileChange


def mark_viewed(file: FileChange, viewed: bool) -> None:
    """Ticked for the state that was seen: when the file changes, the tick is gone."""
    file.viewed_sha = state_key(file) if viewed else ""
    file.save(update_fields=["viewed_sha"])


def is_viewed(file: FileChange) -> bool:
    return bool(file.viewed_sha) and file.viewed_sha == state_key(file)


def state_key(file: FileChange) -> str:
    return text.sha256(f"{file.base_sha} {file.new_sha}".encode())
