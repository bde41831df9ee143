"""A proposal that takes the secrets out of memories as they are. Nothing is written before a person submits it."""

from __future__ import annotations

from collections.abc import Collection

from dreams import manual, memories, text
from dreams.findings.secret_rules import spans
from dreams.models import Project, Proposal
from dreams.redact import values, without
from dreams.review import Reviewer
from dreams.text import plural


def propose(project: Project, reviewer: Reviewer, paths: Collection[str] = ()) -> Proposal | None:
    """An open proposal for `paths`, or for every memory with a secret; None where there is none. Raises manual.Stale."""
    memories.refresh(project)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    count = 0
    for path, data in sorted(memories.contents(project).items()):
        content = text.decode(data)
        found = spans(content)
        if not found or (paths and path not in paths):
            continue
        count += len(found)
        before[path], after[path] = data, text.encode(without(content, values(content)))
    if not after:
        return None
    reason = f"Takes {plural(count, 'secret')} out of {plural(len(after), 'memory', 'memories')}."
    change = manual.Change(Proposal.Origin.REDACTION, "edit", reason, after, before, apart=True)
    return manual.propose(project, change, reviewer)
