"""Engines: who dreams where, at what price, and whether there is a model to ask."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from dreams import conf
from dreams.engines.anthropic.probe import probe
from dreams.models import Project
from dreams.web.access import owner
from dreams.web.htmx import Request, go
from dreams.web.pages import engines as selector
from dreams.web.paging import number_or_none


@owner
@require_safe
def engines(request: Request) -> HttpResponse:
    found = selector.engines(request.GET.get("page"))
    context = {"found": found, "checks": selector.way(found.uses_model), "test": selector.last_test()}
    return render(request, "dreams/engines.html", context)


@owner
@require_POST
def test(request: Request) -> HttpResponse:
    """Ask the server one short question: with a project's model if one is named, else with everywhere's."""
    pk = number_or_none(request.POST.get("project"))
    project = None if pk is None else get_object_or_404(Project, pk=pk)
    model = conf.current(project).model
    finding = probe(model)
    selector.keep_test(model, finding)
    if finding.ok:
        messages.success(request, f"The connection works with {model}.")
    else:
        messages.error(
            request, f"The connection was tested with {model}: {finding.what}. The remedy is below."
        )
    return go(request, "engines")
