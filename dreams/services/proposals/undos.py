"""Which proposals undo changes, and which redo them: the undo of an undo is a redo, and so on."""

from collections.abc import Collection, Mapping

from dreams.models import Operation, Proposal


def undo_depths(proposals: Collection[int]) -> dict[int, int]:
    """Proposal (its pk) → the length of its chain of undos: 0 for none, odd for an undo, even for a redo. One query."""
    wanted = list(proposals)
    if not wanted:
        return {}
    projects = Proposal.objects.filter(pk__in=wanted).order_by().values("project")
    rows = Proposal.objects.filter(undoes__isnull=False, project__in=projects).order_by()
    undoes = dict(rows.values_list("pk", "undoes"))
    return {pk: _undo_depth(pk, undoes) for pk in wanted}


def _undo_depth(pk: int, undoes: Mapping[int, int | None]) -> int:
    depth = 0
    while (undone := undoes.get(pk)) is not None:
        pk, depth = undone, depth + 1
    return depth


def redos(proposals: Collection[int]) -> set[int]:
    """Those of these proposals that redo what was undone."""
    return {pk for pk, number in undo_depths(proposals).items() if number and number % 2 == 0}


def is_redo(proposal: Proposal) -> bool:
    return proposal.undoes_id is not None and proposal.pk in redos([proposal.pk])


def kind(operation: Operation | None, *, is_redo: bool) -> str:
    """The label of a decision: what it does or did."""
    if is_redo:
        return "Redone"
    return str(operation.get_kind_display()) if operation else "Changed"


def redone(proposal: Proposal) -> Proposal:
    """What a redo does again, also the redo of a redo; any other proposal itself."""
    while proposal.undoes and proposal.undoes.undoes:
        proposal = proposal.undoes.undoes
    return proposal


def is_undo(proposal: Proposal) -> bool:
    """Whether undoing it would be a redo."""
    return proposal.undoes_id is not None and undo_depths([proposal.pk])[proposal.pk] % 2 == 1
