"""Tokens and cost, by day, model and project."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import usage as selector
from dreams.web.paging import chosen


@owner
@require_safe
def usage(request: Request) -> HttpResponse:
    period = chosen(request.GET.get("days"), list(selector.PERIODS), selector.DEFAULT_PERIOD)
    context = {
        "usage": selector.usage(timezone.now(), period),
        "periods": selector.PERIODS,
        "period": period,
    }
    return page(request, "dreams/usage.html", "dreams/_usage.html", context)
