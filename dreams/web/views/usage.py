"""Models: the engines of projects, prices, the connection to a model, and usage by day, model and project."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams import conf
from dreams.engines.anthropic.probe import probe
from dreams.models import Project
from dreams.web.htmx import Request, go, page
from dreams.web.page_cache import kept
from dreams.web.pages import engines as engines_pages, usage as usage_pages
from dreams.web.paging import chosen, number_or_none


@require_safe
@kept
def usage(request: Request) -> HttpResponse:
    period = chosen(request.GET.get("days"), list(usage_pages.PERIODS), usage_pages.DEFAULT_PERIOD)
    context = {
        "usage": usage_pages.usage(timezone.now(), period),
        "periods": usage_pages.PERIODS,
        "period": period,
    }
    return page(request, "dreams/usage.html", "dreams/_usage.html", context)


@require_safe
def engines(request: Request) -> HttpResponse:
    found = engines_pages.engines(request.GET.get("page"))
    context = {
        "found": found,
        "checks": engines_pages.connection_checks(found["uses_model"]),
        "test": engines_pages.last_test(),
    }
    return render(request, "dreams/engines.html", context)


@require_POST
def test_engine(request: Request) -> HttpResponse:
    """Asks the model server one short question, with the model of a project or the default one."""
    pk = number_or_none(request.POST.get("project"))
    project = None if pk is None else get_object_or_404(Project, pk=pk)
    model = conf.current(project).model
    finding = probe(model)
    engines_pages.save_test(model, finding)
    if finding.ok:
        messages.success(request, f"The connection works with {model}.")
    else:
        messages.error(
            request, f"The connection was tested with {model}: {finding.what}. See below for what to do."
        )
    return go(request, "engines")
