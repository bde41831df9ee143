"""What a person has looked at: the ticks of files, and secrets that are masked unless somebody asks for them."""

from __future__ import annotations

from dreams.lib.files import text
from dreams.models import FileChange, Memory, Proposal
from dreams.services import auditlog
from dreams.services.review.deciding import Actor


def mark_viewed(file: FileChange, viewed: bool) -> None:
    """Ticked for the state that was seen: when the file changes, the tick is gone."""
    file.viewed_sha = state_key(file) if viewed else ""
    file.save(update_fields=["viewed_sha"])


def is_viewed(file: FileChange) -> bool:
    return bool(file.viewed_sha) and file.viewed_sha == state_key(file)


def state_key(file: FileChange) -> str:
    return text.sha256(f"{file.base_sha} {file.new_sha}".encode())


def log_secrets_shown(thing: Proposal | Memory, reviewer: Actor) -> None:
    """Somebody has the secrets of these texts shown as they stand; who and when, never what."""
    kind, name = ("review", thing.public_id) if isinstance(thing, Proposal) else ("memory", thing.path)
    auditlog.record(
        f"{kind}.secrets_shown",
        actor=reviewer.name,
        project=thing.project,
        object_id=name,
        by_command=reviewer.by_command,
    )
