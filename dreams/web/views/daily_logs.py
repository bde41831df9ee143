"""The logs that an agent keeps of its days. Read-only."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Evidence, Project
from dreams.web.htmx import Request, page
from dreams.web.pages import daily_logs as pages
from dreams.web.pages import project as project_pages


@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_pages.counts(project),
        "found": pages.page(project, request.GET.get("day", ""), request.GET.get("page")),
    }
    return page(request, "dreams/daily_logs.html", "dreams/_daily_logs.html", context)


@require_safe
def of_evidence(request: Request, pk: int) -> HttpResponse:
    """From a quote of a log to its line."""
    rows = Evidence.objects.select_related("hunk__file__proposal")
    return HttpResponseRedirect(pages.place(get_object_or_404(rows, pk=pk, role="log")))
