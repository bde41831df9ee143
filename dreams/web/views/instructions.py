"""The instruction files that a project's agent loads. Read-only."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Project
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import instructions as selector
from dreams.web.pages import project as project_selector

MOST_TYPED = 1_000


@owner
@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    folder = request.GET.get("folder", "").strip()[:MOST_TYPED]
    context = {
        "project": project,
        "head": project_selector.counts(project),
        "found": selector.page(project, folder),
    }
    return page(request, "dreams/instructions.html", "dreams/_instructions.html", context)
