"""Where each line of a memory came from."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Memory, Version
from dreams.web import hidden_secrets
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import blame as selector
from dreams.web.paging import number_or_none


@owner
@require_safe
def blame(request: Request, pk: int) -> HttpResponse:
    """`?version=` is one of its versions; without it, the newest that was not a removal."""
    memory = get_object_or_404(Memory.objects.select_related("project"), pk=pk)
    version = _version(memory, request.GET.get("version"))
    found = selector.blame(memory, version, is_bare=hidden_secrets.is_bare(request, memory))
    context = {
        "memory": memory,
        "project": memory.project,
        "blame": found,
        "summary": selector.summary(found),
    }
    return page(request, "dreams/memory_blame.html", "dreams/_memory_blame.html", context)


def _version(memory: Memory, raw: str | None) -> Version:
    rows = memory.versions.exclude(sha256="").select_related("proposal__dream").order_by("-at", "-pk")
    number = number_or_none(raw)
    found = rows.first() if number is None else rows.filter(pk=number).first()
    if found is None:
        raise Http404("This memory has no such version.")
    return found
