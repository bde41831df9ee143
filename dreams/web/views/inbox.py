"""The inbox: what waits for a person, what runs, what came of the last dreams."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.selectors import inbox as selector


@owner
@require_safe
def inbox(request: Request) -> HttpResponse:
    now = timezone.now()
    found = selector.inbox(now)
    response = page(request, "dreams/inbox.html", "dreams/_inbox.html", {"inbox": found})
    if not _is_fetched_ahead(request):
        selector.mark_told(found.news, now)
    return response


def _is_fetched_ahead(request: Request) -> bool:
    """A browser that loads a page before anyone looks at it has told nobody anything."""
    return request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", "")
