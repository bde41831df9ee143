"""Every project, worst first."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import projects as selector
from dreams.web.paging import chosen, host_asked, search_text


@owner
@require_safe
def projects(request: Request) -> HttpResponse:
    text = search_text(request.GET.get("q"))
    state = chosen(request.GET.get("state"), list(selector.FILTERS))
    found = selector.projects(text, state, request.GET.get("page"), host_asked(request))
    context = {"found": found, "q": text, "state": state}
    return page(request, "dreams/projects.html", "dreams/_projects.html", context)
