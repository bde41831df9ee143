"""The checkup of a project's memories as they stand: a page, and one line of it for the project's overview."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from dreams.models import Project
from dreams.web.access import owner
from dreams.web.htmx import Request, wants_fragment
from dreams.web.selectors import checkup as selector


@owner
@require_safe
def checkup(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    template = "dreams/_checkup_brief.html" if wants_fragment(request) else "dreams/checkup.html"
    return render(request, template, {"project": project, "checkup": selector.page(project)})
