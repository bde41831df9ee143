"""Secrets of a project: see where they stand, propose to take them out, purge what was kept of them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.models import Project
from dreams.services import secret_purge
from dreams.services.host_requests import Deed, NewRequest, to_purge
from dreams.services.memories import hand_edits
from dreams.services.review import Actor
from dreams.web.access import actor
from dreams.web.htmx import Request, go
from dreams.web.views.host_requests import asked


@require_safe
def show(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    leaks = secret_purge.look(project)
    context = {
        "project": project,
        "standing": [leak for leak in leaks.found if leak.stands],
        "kept": [leak for leak in leaks.found if not leak.stands],
        "all_looked_at": leaks.all_looked_at,
    }
    return render(request, "dreams/secrets.html", context)


@require_POST
def redact(request: Request, pk: int) -> HttpResponse:
    """Propose to take every secret out of the memories as they are; the review says what would change."""
    project = get_object_or_404(Project, pk=pk)
    waits = asked(request, project, lambda: NewRequest(Deed.REDACT, project), go(request, "project", pk=pk))
    if waits:
        return waits
    try:
        made = secret_purge.propose(project, Actor(actor(request)))
    except hand_edits.Stale as stale:
        messages.error(request, str(stale))
        return go(request, "project-secrets", pk=pk)
    if made is None:
        messages.info(request, "No memory contains a secret now.")
        return go(request, "project-secrets", pk=pk)
    return go(request, "review", public_id=made.public_id)


@require_POST
def purge(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    reason, wanted = request.POST.get("reason", "").strip(), request.POST.getlist("secret")
    waits = asked(request, project, lambda: to_purge(project, wanted, reason), go(request, "project", pk=pk))
    if waits:
        return waits
    try:
        done = secret_purge.purge(project, wanted, Actor(actor(request)), reason=reason)
    except secret_purge.PurgeRefused as refused:
        messages.error(request, str(refused))
        return go(request, "project-secrets", pk=pk)
    messages.success(
        request, f"Removed from {plural(done.texts, 'stored text')}. The audit log has a record of it."
    )
    for why in done.waits:
        messages.warning(
            request, f"The git history is not rewritten yet: {why} memoryweb tries again at the next start."
        )
    return go(request, "project-secrets", pk=pk)
