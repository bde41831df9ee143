"""The state of memoryweb: what open pages poll for, and everything that could prevent dreams."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from dreams.services import doctor, hosts
from dreams.services.inbox.waiting import open_decisions
from dreams.web.access import actor
from dreams.web.context import proposals_now, with_count
from dreams.web.htmx import Request, page
from dreams.web.paging import host_asked, number_or_none


@require_safe
def pulse(request: Request) -> HttpResponse:
    """204 while `count` and `last` are unchanged; else both, and a note on what is newer than `since`.

    The open page is never replaced: new proposals are announced with a link.
    """
    known, last, since = (number_or_none(request.GET.get(name)) or 0 for name in ("count", "last", "since"))
    waiting, newest = proposals_now(request.user)
    if waiting == known and newest == last:
        return HttpResponse(status=204)
    new = open_decisions(timezone.now(), actor(request)).filter(pk__gt=since).count() if waiting else 0
    context = {"open_proposals": waiting, "last_proposal": newest, "since": since, "new_proposals": new}
    return with_count(render(request, "_pulse.html", context), waiting, newest)


@require_safe
def health(request: Request) -> HttpResponse:
    """The health of one host; by default this one."""
    now, key = timezone.now(), host_asked(request) or hosts.host()
    shown = next((one for one in hosts.known() if one.key == key), None)
    if shown and not shown.is_here:
        found = doctor.examine_other(shown, now)
    else:
        found = doctor.examine(now, thorough="thorough" in request.GET)
    context = {"checks": doctor.worst_first(found), "host_shown": shown.name if shown else ""}
    return page(request, "dreams/health.html", "dreams/_health.html", context)
