"""Health: everything that could keep dreams from happening, worst first, each with its remedy."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.services import doctor, hosts
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.paging import host_asked


@owner
@require_safe
def health(request: Request) -> HttpResponse:
    now, key = timezone.now(), host_asked(request)
    other = next((one for one in hosts.known() if one.key == key and not one.is_here), None) if key else None
    found = (
        doctor.examine_other(other, now) if other else doctor.examine(now, thorough="thorough" in request.GET)
    )
    checks = doctor.worst_first(found)
    return page(request, "dreams/health.html", "dreams/_health.html", {"checks": checks})
