"""The prompts of a project; hiding one, and showing it again."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.models import Project, Prompt
from dreams.services import prompt_hiding
from dreams.web.htmx import Request, SeeOther, page
from dreams.web.pages import project as project_pages
from dreams.web.pages import prompts as pages
from dreams.web.paging import number_or_none

_KEY = re.compile(r"-?[0-9]{1,19}")


@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    """`?session=` comes first, `?hidden=1` lists what is hidden, `?paste=` reads the long pastes of one prompt."""
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_pages.counts(project),
        "prompts": pages.prompts(
            project,
            request.GET.get("page"),
            number_or_none(request.GET.get("session")),
            _key(request.GET.get("paste")),
            hidden=request.GET.get("hidden") == "1",
        ),
    }
    return page(request, "dreams/prompts.html", "dreams/_prompts.html", context)


@require_safe
def of_session(request: Request, pk: int, line: int) -> HttpResponse:
    """One prompt among those of its project; in the transcript, where that came back since it was cited."""
    rows = Prompt.objects.filter(session=pk, line_no=line).select_related("session", "history")
    prompt = get_object_or_404(rows.order_by("history", "pk"))
    if not hasattr(prompt, "history"):
        return redirect(f"{reverse('session', args=[pk])}?line={line}#line-{line}")
    address = reverse("project-prompts", args=[prompt.session.project_id])
    return redirect(f"{address}?session={pk}#prompt-{prompt.pk}")


@require_POST
def hide(request: Request, pk: int) -> HttpResponse:
    """`show=1` in the form brings it back."""
    key = _key(request.POST.get("key"))
    prompt = get_object_or_404(Prompt, pk=key, session__project=pk)
    if request.POST.get("show") == "1":
        prompt_hiding.show(prompt)
    else:
        prompt_hiding.hide(prompt)
    back = f"?{request.GET.urlencode()}" if request.GET else ""
    return SeeOther(f"{reverse('project-prompts', args=[pk])}{back}")


def _key(value: str | None) -> int | None:
    """A prompt's key is a signed number of 64 bits."""
    key = int(value) if value and _KEY.fullmatch(value) else None
    return key if key is not None and -(2**63) <= key < 2**63 else None
