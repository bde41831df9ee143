"""The checkup of a project's memories as they stand: a page, and one line of it for the project's overview."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from dreams.models import Project
from dreams.web.access import owner
from dreams.web.htmx import Request, wants_fragment
from dreams.web.pages import checkup as selector
from dreams.web.pages import questions, statements


@owner
@require_safe
def checkup(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context: dict[str, object] = {"project": project, "checkup": selector.page(project)}
    if wants_fragment(request):
        return render(request, "dreams/_checkup_brief.html", context)
    context["muted"] = questions.muted(project)
    # None: compared once the page is there.
    context["statements"] = statements.page(project) if statements.is_quick(project) else None
    return render(request, "dreams/checkup.html", context)
