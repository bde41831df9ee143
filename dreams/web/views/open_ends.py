"""The tasks that agents left unfinished in a project. Read-only."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Project
from dreams.web.htmx import Request, page
from dreams.web.pages import open_ends as selector
from dreams.web.pages import project as project_selector


@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_selector.counts(project),
        "found": selector.page(project, request.GET.get("page")),
    }
    return page(request, "dreams/open_ends.html", "dreams/_open_ends.html", context)
