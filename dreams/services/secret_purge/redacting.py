"""A proposal that takes the secrets out of memories as they are. Nothing is written before a person submits it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dreams.lib.files import text
from dreams.lib.files.text import plural
from dreams.lib.secrets.redact import values, without
from dreams.models import Hunk, Project, Proposal
from dreams.services.memories import hand_edits, syncing
from dreams.services.review import Reviewer


def propose(project: Project, reviewer: Reviewer, paths: Collection[str] = ()) -> Proposal | None:
    """An open proposal for `paths`, or for every memory with a secret: the one that waits undecided, if it is the same.

    None where there is no secret. Raises manual.Stale.
    """
    syncing.refresh(project)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    taken: set[str] = set()
    for path, data in sorted(syncing.contents(project).items()):
        content = text.decode(data)
        found = values(content)
        if not found or (paths and path not in paths):
            continue
        taken |= found.keys()
        before[path], after[path] = data, text.encode(without(content, found))
    if not after:
        return None
    waiting = _waiting(project, {path: text.sha256(data) for path, data in after.items() if data})
    if waiting:
        return waiting
    reason = f"Takes {plural(len(taken), 'secret')} out of {plural(len(after), 'memory', 'memories')}."
    change = hand_edits.Change(Proposal.Origin.REDACTION, "edit", reason, after, before, apart=True)
    return hand_edits.propose(project, change, reviewer)


def _waiting(project: Project, wanted: Mapping[str, str]) -> Proposal | None:
    """Asked for twice it is proposed once: a second proposal would hold the secret, and every purge, up."""
    rows = Proposal.objects.filter(
        project=project, origin=Proposal.Origin.REDACTION, state=Proposal.State.OPEN
    )
    undecided = rows.exclude(
        files__hunks__verdict__in=[v for v in Hunk.Verdict.values if v != Hunk.Verdict.PENDING]
    )
    for row in undecided.prefetch_related("files"):
        if {file.path: file.new_sha for file in row.files.all()} == wanted:
            return row
    return None
