"""The recall tester: ask as you would ask your agent, and see what it would have before it."""

from __future__ import annotations

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.prose import recall
from dreams.models import Project
from dreams.web.htmx import Request, page
from dreams.web.pages import project as project_pages
from dreams.web.pages import recall as pages

MOST_TYPED = 2_000


@require_safe
def tester(request: Request, pk: int) -> HttpResponse:
    return _answered(request, pk, request.GET, by_model=False)


@require_POST
def by_model(request: Request, pk: int) -> HttpResponse:
    """The same, chosen by the model of the settings: it costs money, so nothing asks it while a question is typed."""
    return _answered(request, pk, request.POST, by_model=True)


def _answered(request: Request, pk: int, asked: QueryDict, *, by_model: bool) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    question = " ".join(asked.get("q", "").split())[: recall.QUESTION_CHARS]
    found = pages.page(
        project,
        question,
        shown=asked.get("shown", "")[:MOST_TYPED],
        tools=asked.get("tools", "")[:MOST_TYPED],
        with_proposal=asked.get("after") == "1",
        by_model=by_model and bool(question),
    )
    context = {
        "project": project,
        "head": project_pages.counts(project),
        "found": found,
        "question": question,
    }
    return page(request, "dreams/recall.html", "dreams/_recall.html", context)
