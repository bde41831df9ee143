"""Policies: what may be applied without a person, by project, memory type and operation.

The most particular policy wins: project and type, project, type, everywhere. Without one a person reviews. A removal
is only automatic where a policy says so for removals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Q

from dreams import drafts, proposals
from dreams.models import Policy, Project

Table = Mapping[tuple[bool, str, str], str]


def table(project: Project) -> Table:
    """(own project, memory type, operation) → action, for `project`."""
    rows = Policy.objects.filter(Q(project=project) | Q(project__isnull=True))
    return {(row.project_id is not None, row.memory_type, row.operation): row.action for row in rows}


def action_for(found: Table, memory_type: str, operation: str) -> str:
    """`review` or `auto`."""
    for own, of_type in ((True, memory_type), (True, ""), (False, memory_type), (False, "")):
        action = found.get((own, of_type, operation))
        if action is not None:
            return action
    return Policy.Action.REVIEW


def operation_of(hunk: drafts.DraftHunk, file: drafts.DraftFile) -> str:
    """add, change or remove: what the hunk does to what is there."""
    if file.kind == "add" or hunk.hunk.kind == "add":
        return Policy.Operation.ADD
    if file.kind == "delete" or hunk.hunk.kind == "remove":
        return Policy.Operation.REMOVE
    return Policy.Operation.CHANGE


def automatic(project: Project, draft: drafts.Draft) -> frozenset[str]:
    """The operations of `draft` that may be applied without a person: all their parts must be."""
    found = table(project)
    if Policy.Action.AUTO not in found.values():
        return frozenset()
    needs_person = {
        hunk.operation
        for file in draft.files
        for hunk in file.hunks
        if action_for(found, _type_of(file), operation_of(hunk, file)) != Policy.Action.AUTO
    }
    return frozenset(draft.operations) - needs_person


def _type_of(file: drafts.DraftFile) -> str:
    return proposals.memory_type(file.path, file.new if file.new is not None else file.base)


def only(draft: drafts.Draft, before: Mapping[str, bytes], operations: Iterable[str]) -> dict[str, bytes]:
    """The directory as it would be with just these operations of `draft`."""
    wanted = set(operations)
    after = dict(before)
    for file in draft.files:
        chosen = {hunk.hunk.id: hunk.operation in wanted for hunk in file.hunks}
        data = drafts.rebuild(file.base, file.new, [hunk.hunk for hunk in file.hunks], chosen)
        if data is None:
            after.pop(file.path, None)
        else:
            after[file.path] = data
    return after
