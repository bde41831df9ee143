"""The audit log: filter, check the chain, export as JSON lines."""

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.services import auditlog
from dreams.web.access import actor
from dreams.web.htmx import Request, page
from dreams.web.pages import audit as pages
from dreams.web.paging import chosen, number_or_none, search_text


@require_safe
def audit(request: Request) -> HttpResponse:
    wanted = _wanted(request)
    context = {
        "entries": pages.entries(wanted, request.GET.get("page"), actor(request)),
        "wanted": wanted,
        "choices": pages.choices(),
        "chain": pages.chain() if request.GET.get("check") == "1" else None,
    }
    return page(request, "dreams/audit.html", "dreams/_audit.html", context)


@require_safe
def export(request: Request) -> HttpResponse:
    name = f"audit-{timezone.localdate():%Y-%m-%d}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response: HttpResponseBase = StreamingHttpResponse(
        pages.lines(_wanted(request)), content_type="application/x-ndjson; charset=utf-8", headers=headers
    )
    return response  # type: ignore[return-value] # a streaming response is a response to every middleware


def _wanted(request: Request) -> pages.AuditFilter:
    return pages.AuditFilter(
        action=chosen(request.GET.get("action"), list(auditlog.ACTIONS)),
        actor=search_text(request.GET.get("actor")),
        project=number_or_none(request.GET.get("project")),
        text=search_text(request.GET.get("q")),
    )
