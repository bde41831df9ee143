"""A proposal that takes the secrets out of memories as they are. Nothing is written before a person submits it."""

from __future__ import annotations

from collections.abc import Collection

from dreams import manual, memories, text
from dreams.models import Project, Proposal
from dreams.redact import values, without
from dreams.review import Reviewer
from dreams.text import plural


def propose(project: Project, reviewer: Reviewer, paths: Collection[str] = ()) -> Proposal | None:
    """An open proposal for `paths`, or for every memory with a secret; None where there is none. Raises manual.Stale."""
    memories.refresh(project)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    taken: set[str] = set()
    for path, data in sorted(memories.contents(project).items()):
        content = text.decode(data)
        found = values(content)
        if not found or (paths and path not in paths):
            continue
        taken |= found.keys()
        before[path], after[path] = data, text.encode(without(content, found))
    if not after:
        return None
    reason = f"Takes {plural(len(taken), 'secret')} out of {plural(len(after), 'memory', 'memories')}."
    change = manual.Change(Proposal.Origin.REDACTION, "edit", reason, after, before, apart=True)
    return manual.propose(project, change, reviewer)
