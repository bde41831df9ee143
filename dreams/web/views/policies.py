"""Policies: setting them, and answering what memoryweb offers after many like decisions."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from dreams import settings_service
from dreams.models import Policy, Project
from dreams.services.policies import earned
from dreams.text import plural
from dreams.web.access import actor, owner
from dreams.web.htmx import Request, SeeOther, go
from dreams.web.pages import policies as pages


@owner
@require_POST
def save(request: Request, pk: int | None = None) -> HttpResponse:
    """The whole table of policies, by type and by kind; only what was changed is written."""
    project = None if pk is None else get_object_or_404(Project, pk=pk)
    wanted = [
        (memory_type, operation, "")
        for memory_type in settings_service.MEMORY_TYPES
        for operation in Policy.Operation.values
    ] + [("", "", kind) for kind in settings_service.POLICY_KINDS]
    changed = sum(_set(request, project, *of) for of in wanted)
    messages.success(
        request, f"{plural(changed, 'policy', 'policies')} changed." if changed else "Nothing changed."
    )
    return go(request, "settings") if project is None else go(request, "project-settings", pk=project.pk)


def _set(request: Request, project: Project | None, memory_type: str, operation: str, kind: str) -> bool:
    action = request.POST.get(pages.field_of(memory_type, operation, kind))
    if action is None:
        return False
    try:
        return settings_service.set_policy(
            operation, action, actor=actor(request), memory_type=memory_type, kind=kind, project=project
        )
    except settings_service.BadPolicy as error:
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
