"""Policies: setting them, and answering what memoryweb offers after many like decisions."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from dreams.models import Policy, Project
from dreams.services import settings_changes
from dreams.services.policies import earned
from dreams.web.access import actor, owner
from dreams.web.htmx import Request, SeeOther, go
from dreams.web.pages import settings as pages


def save(request: Request, project: Project | None) -> int:
    """The tables of policies in a form, by type and by kind; only what is another is written. How many were changed."""
    return sum(_set(request, project, *of) for of in _wanted())


def changed(request: Request, project: Project | None) -> bool:
    """The form has another policy than is set. Nothing is saved."""
    rows = [*pages.by_type(project), *pages.by_kind(project)]
    cells = [cell for row in rows for cell in row.cells]
    return any(request.POST.get(cell.field, cell.action) != cell.action for cell in cells)


def _wanted() -> Iterable[tuple[str, str, str]]:
    for memory_type in settings_changes.MEMORY_TYPES:
        yield from ((memory_type, operation, "") for operation in Policy.Operation.values)
    yield from (("", "", kind) for kind in settings_changes.POLICY_KINDS)


def _set(request: Request, project: Project | None, memory_type: str, operation: str, kind: str) -> bool:
    action = request.POST.get(pages.field_of(memory_type, operation, kind))
    if action is None:
        return False
    try:
        return settings_changes.set_policy(
            operation, action, actor=actor(request), memory_type=memory_type, kind=kind, project=project
        )
    except settings_changes.BadPolicy as error:
        raise Http404(str(error)) from error


@owner
@require_POST
def answer(request: Request) -> HttpResponse:
    """Take an offer as it was shown, or decline it."""
    kind, maker = request.POST.get("kind", ""), request.POST.get("maker", "")
    try:
        if request.POST.get("answer") == "accept":
            last = request.POST.get("last", "")
            earned.accept(kind, maker, int(last) if last.isdecimal() else 0, actor=actor(request))
            messages.success(
                request, "From now on these are applied without asking. The first one you undo ends that."
            )
        else:
            earned.decline(kind, maker, actor=actor(request))
            messages.info(request, "These will still wait for your review.")
    except earned.OfferGone as gone:
        messages.warning(request, str(gone))
    return SeeOther("/")


@owner
@require_POST
def end(request: Request, pk: int) -> HttpResponse:
    policy = get_object_or_404(Policy.objects.exclude(maker=""), pk=pk)
    earned.end(policy, actor=actor(request))
    messages.success(request, "Ended. These wait for your review again.")
    return go(request, "settings")
