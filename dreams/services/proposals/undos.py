"""Which proposals undo changes, and which redo them: the undo of an undo is a redo, and so on."""

from collections.abc import Collection, Mapping

from dreams.models import Proposal


def turns(proposals: Collection[int]) -> dict[int, int]:
    """Proposal (its pk) → how many undos it stands on: none for changes of its own, odd for an undo, even for a redo. One query."""
    wanted = list(proposals)
    if not wanted:
        return {}
    projects = Proposal.objects.filter(pk__in=wanted).order_by().values("project")
    rows = Proposal.objects.filter(undoes__isnull=False, project__in=projects).order_by()
    of = dict(rows.values_list("pk", "undoes"))
    return {pk: _turns(pk, of) for pk in wanted}


def _turns(pk: int, of: Mapping[int, int | None]) -> int:
    found = 0
    while (before := of.get(pk)) is not None:
        pk, found = before, found + 1
    return found


def redos(proposals: Collection[int]) -> set[int]:
    """Those of these that bring again what was undone."""
    return {pk for pk, number in turns(proposals).items() if number and number % 2 == 0}


def takes_back(proposal: Proposal) -> bool:
    """Whether it is an undo: to undo it is to redo."""
    return proposal.undoes_id is not None and turns([proposal.pk])[proposal.pk] % 2 == 1
