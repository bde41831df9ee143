"""Where something is said in a project's memories, what may be said twice, and what is related to a memory."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Memory, Project
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import project as project_selector
from dreams.web.pages import statements as selector
from dreams.web.paging import search_text


@owner
@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    """A page of its own, and a part of the checkup."""
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_selector.counts(project),
        "statements": selector.page(project, search_text(request.GET.get("value"))),
    }
    return page(request, "dreams/project_statements.html", "dreams/_statements.html", context)


@owner
@require_safe
def related(request: Request, pk: int) -> HttpResponse:
    memory = get_object_or_404(Memory.objects.select_related("project"), pk=pk)
    context = {"memory": memory, "project": memory.project, "related": selector.related(memory)}
    return page(request, "dreams/memory_related.html", "dreams/_memory_related.html", context)
