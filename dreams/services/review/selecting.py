"""Which hunks a verdict is about: those that are named, and those that are decided with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from django.db.models import Q

from dreams.models import Hunk, Proposal
from dreams.services.questions import states
from dreams.services.review.base import ReviewRefused


def select(proposal: Proposal, *, paths: Iterable[str] = (), hunk_ids: Iterable[str] = ()) -> list[Hunk]:
    """The named hunks, or those of the named files, or all but answers to questions, which are decided already. Raises ReviewRefused for a name that is not there."""
    hunks = Hunk.objects.filter(file__proposal=proposal).select_related("file", "operation")
    wanted_paths, wanted_ids = set(paths), set(hunk_ids)
    if wanted_paths:
        hunks = hunks.filter(file__path__in=wanted_paths)
        _complain_about(wanted_paths - {h.file.path for h in hunks}, "file", proposal)
    if wanted_ids:
        hunks = hunks.filter(hunk_id__in=wanted_ids)
        _complain_about(wanted_ids - {h.hunk_id for h in hunks}, "hunk", proposal)
    if not (wanted_paths or wanted_ids) and proposal.origin == Proposal.Origin.DREAM:
        hunks = hunks.exclude(operation__in=states.answers_in(proposal))
    return list(hunks)


def _complain_about(missing: set[str], what: str, proposal: Proposal) -> None:
    if missing:
        names = ", ".join(sorted(missing))
        raise ReviewRefused(
            f"{proposal.public_id} has no {what} {names}. `proposal {proposal.public_id}` lists them."
        )


class Decidable(Protocol):
    """A hunk's row, or as much of it as says which one it is."""

    @property
    def pk(self) -> int: ...
    @property
    def operation_id(self) -> int | None: ...


def together(hunks: Sequence[Decidable]) -> list[Hunk]:
    """`hunks` with every other part of their operations: what one verdict decides."""
    operations = {hunk.operation_id for hunk in hunks if hunk.operation_id}
    parts = Hunk.objects.filter(Q(operation__in=operations) | Q(pk__in=[h.pk for h in hunks]))
    return list(parts.select_related("file", "operation").order_by("file__path", "number"))
