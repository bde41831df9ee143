"""Files of a proposal that a person must look at once more: they changed on disk since they were decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from dreams.lib.files.text import plural
from dreams.models import FileChange, Hunk, Proposal
from dreams.models.prepared import prepared

State = Proposal.State


@dataclass(frozen=True, slots=True)
class Stuck:
    """A file that changed on disk, or is gone from it: in conflict, or brought up to date and not confirmed."""

    pk: int
    path: str
    in_conflict: bool
    is_gone: bool


def find(proposals: Sequence[int]) -> Mapping[int, list[Stuck]]:
    """Proposal → its files that a person must look at once more; none of which everything is on disk."""
    found: dict[int, list[Stuck]] = {}
    for proposal, *file in _rows(list(proposals)):
        found.setdefault(proposal, []).append(Stuck(*file))
    return found


@prepared
def _rows(proposals: list[int]) -> QuerySet[FileChange, tuple[Any, ...]]:
    rows = FileChange.objects.filter(proposal__in=proposals).filter(
        Q(conflict__isnull=False) | Q(rebase_confirmed=False)
    )
    unwritten = Hunk.objects.filter(file=OuterRef("pk"), applied_in__isnull=True)
    still_open = Q(proposal__state=State.OPEN) | Exists(unwritten.filter(verdict__in=Hunk.TAKEN))
    rows = (
        rows.filter(still_open)
        .annotate(in_conflict=Q(conflict__isnull=False), is_gone=Q(conflict__now=""))
        .order_by("path")
    )
    return rows.values_list("proposal", "pk", "path", "in_conflict", "is_gone")


def became(conflicts: Sequence[Stuck]) -> str:
    if all(file.is_gone for file in conflicts):
        return "is no longer on disk" if len(conflicts) == 1 else "are no longer on disk"
    return "changed in the same place on disk"


def paths(files: Sequence[Stuck]) -> str:
    if len(files) == 1:
        return files[0].path
    return f"{files[0].path} and {plural(len(files) - 1, 'other file')}"
