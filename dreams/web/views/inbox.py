"""The inbox: what waits for a person, what runs, what came of the last dreams."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.pages import inbox as inbox_page
from dreams.web.pages import questions


@owner
@require_safe
def inbox(request: Request) -> HttpResponse:
    now = timezone.now()
    found = inbox_page.inbox(now)
    # Without scripts an answer leads to the page of all questions, where it can be taken back.
    context = {"inbox": found, "questions": questions.some_across(), "next": reverse("questions")}
    response = page(request, "dreams/inbox.html", "dreams/_inbox.html", context)
    if not _is_fetched_ahead(request):
        inbox_page.mark_told(found.news, now)
    return response


def _is_fetched_ahead(request: Request) -> bool:
    """A browser that loads a page before anyone looks at it has told nobody anything."""
    return request.method == "HEAD" or "prefetch" in request.headers.get("Sec-Purpose", "")
