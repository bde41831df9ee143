"""Health: everything that could keep dreams from happening, worst first, each with its remedy."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.services import doctor
from dreams.web.access import owner
from dreams.web.htmx import Request, page


@owner
@require_safe
def health(request: Request) -> HttpResponse:
    checks = doctor.worst_first(doctor.examine(timezone.now(), thorough="thorough" in request.GET))
    return page(request, "dreams/health.html", "dreams/_health.html", {"checks": checks})
