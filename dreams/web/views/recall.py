"""The recall tester: ask as you would ask your agent, and see what it would have before it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.lib.prose import recall
from dreams.models import Project
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import project as project_selector
from dreams.web.pages import recall as selector

MOST_TYPED = 2_000


@owner
@require_safe
def tester(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    question = " ".join(request.GET.get("q", "").split())[: recall.QUESTION_CHARS]
    found = selector.page(
        project,
        question,
        shown=request.GET.get("shown", "")[:MOST_TYPED],
        tools=request.GET.get("tools", "")[:MOST_TYPED],
        with_proposal=request.GET.get("after") == "1",
    )
    context = {
        "project": project,
        "head": project_selector.counts(project),
        "found": found,
        "question": question,
    }
    return page(request, "dreams/recall.html", "dreams/_recall.html", context)
