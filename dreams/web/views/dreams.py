"""Dreams: the list, one dream live, cancelling it, and proposing its unfinished work."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams.models import DreamRun
from dreams.services import database, dreaming
from dreams.services.dreaming import unfinished
from dreams.services.people import role_of
from dreams.services.review import ReviewRefused
from dreams.web.access import actor, allows
from dreams.web.htmx import Request, go, page, wants_fragment
from dreams.web.page_cache import kept
from dreams.web.pages import dream as one, dreams as pages, usage
from dreams.web.paging import chosen, host_asked, number_or_none


@require_safe
@kept
def dreams(request: Request) -> HttpResponse:
    status = chosen(request.GET.get("status"), DreamRun.Status.values)
    project, host = number_or_none(request.GET.get("project")), host_asked(request)
    found = pages.dreams(status, project, request.GET.get("page"), host)
    context: dict[str, Any] = {
        "found": found,
        "status": status,
        "project": project,
        "statuses": DreamRun.Status.choices,
        "projects": pages.projects(host),
        "any_ever": bool(found.total) or DreamRun.objects.exists(),
    }
    if context["any_ever"] and not status and not host and found.page.number == 1:
        context["pictures"] = usage.of_dreams(timezone.now(), project)
    return page(request, "dreams/dreams.html", "dreams/_dreams.html", context)


@require_safe
def dream(request: Request, public_id: str) -> HttpResponse:
    """The page; for its poller only what is new: turns after `?after=` to append, and the figures."""
    run = _run(public_id)
    after = number_or_none(request.GET.get("after")) or 0
    live = wants_fragment(request)
    shown = one.dream(run, timezone.now(), after if live else 0, request.GET.get("page"))
    _tell_once(request, run)
    context = {"dream": shown, "run": run, "project": run.project}
    template = "dreams/_dream_live.html" if live else "dreams/dream.html"
    return render(request, template, context)


def _tell_once(request: Request, run: DreamRun) -> None:
    """Marks a finished dream as seen when a person opens it; prefetching and viewers do not count."""
    looked = request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", "")
    looked = looked and allows(role_of(request.user), "news-seen", posts=True)
    if looked and run.is_over and run.notified_at is None:
        with database.unless_busy():
            dreaming.mark_notified([run.public_id])


@require_POST
def cancel(request: Request, public_id: str) -> HttpResponse:
    run = _run(public_id)
    if dreaming.cancel(run, actor(request)):
        run.refresh_from_db()
        later = "It stops at its next step and does not count as a dream, unless it is proposing already."
        messages.success(request, "Cancelled." if run.is_over else f"Cancelled. {later}")
    else:
        messages.info(request, "It had already ended; there was nothing to cancel.")
    return go(request, "dream", public_id=public_id)


@require_POST
def propose_partial(request: Request, public_id: str) -> HttpResponse:
    """Makes the changes of an unfinished dream a proposal. Only a person can start this."""
    run = _run(public_id)
    try:
        made = unfinished.propose(run, actor(request))
    except (unfinished.UnfinishedRefused, ReviewRefused) as refused:
        messages.error(request, str(refused))
        return go(request, "dream", public_id=public_id)
    messages.success(
        request, "Proposed. It does not count as a dream: the next dream reads its sessions again."
    )
    return go(request, "review", public_id=made.public_id)


def _run(public_id: str) -> DreamRun:
    return get_object_or_404(DreamRun.objects.select_related("project"), public_id=public_id)
