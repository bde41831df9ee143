"""The context of every page: counts, health, banners, hosts. Three small queries."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import DatabaseError
from django.db.models import Count, Exists, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils import timezone
from django_htmx.http import trigger_client_event
from django_q.models import Schedule

from dreams.models import Proposal
from dreams.models.prepared import prepared
from dreams.services.discovery import configured_roots
from dreams.services.hosts import cluster_name, host, names
from dreams.services.inbox import waiting
from dreams.services.people import role_of
from dreams.web import access

# The queue checks its schedules about every 30 s; three missed checks are no coincidence.
OVERDUE = dt.timedelta(minutes=2)
MOST_ON_ICON = 9


def everywhere(request: HttpRequest) -> dict[str, Any]:
    """`open_proposals`, `last_proposal`, `favicon`, `scheduler_ok`, `is_demo`, `is_paused`,
    `hosts` (key → name, empty if there is only one). A user who may not see them gets fewer."""
    user, config = getattr(request, "user", None), getattr(request, "config", None)
    if user is None or not user.is_authenticated:
        return {"favicon": favicon(0)}
    try:
        count, newest = proposals_now(user)
        running = scheduler_runs(timezone.now())
        hosts = names()
    except DatabaseError:
        # Error pages use this too: it must not fail for the same reason again.
        return {"favicon": favicon(0)}
    return {
        "open_proposals": count,
        "last_proposal": newest,
        "favicon": favicon(count),
        "scheduler_ok": running,
        "hosts": hosts if len(hosts) > 1 else {},
        "is_demo": settings.DEMO_ROOT in configured_roots(getattr(config, "roots", "")),
        "is_paused": bool(getattr(config, "paused", False)),
    }


@prepared
def _newest(now: dt.datetime, reader: str) -> QuerySet[Proposal, tuple[Any, ...]]:
    is_open = waiting.open_decisions(now, reader).order_by()
    open_now = is_open.values("state").annotate(n=Count("pk")).values("n")
    newest = Proposal.objects.order_by("-pk").annotate(
        waiting=Coalesce(Subquery(open_now), 0), any_to_finish=Exists(waiting.all_decided())
    )
    return newest.values_list("pk", "waiting", "any_to_finish")[:1]


def proposals_now(user: AbstractUser | AnonymousUser) -> tuple[int, int]:
    """How many proposals this account can decide on and has not snoozed, and the newest proposal's id (0 without any).

    One query, unless a proposal only has to be finished.
    """
    now, reader = timezone.now(), user.get_username()
    rows = _newest(now, reader)
    pk, count, any_to_finish = rows[0] if rows else (0, 0, False)
    if not access.allows(role_of(user), "review-submit"):
        return 0, pk
    return count + (waiting.to_finish(now, reader) if any_to_finish else 0), pk


def with_count(response: HttpResponse, waiting: int, newest: int) -> HttpResponse:
    """Has the open page show the number of waiting proposals in its title, icon and menu."""
    return trigger_client_event(
        response, "waiting", {"count": waiting, "newest": newest, "icon": static(favicon(waiting))}
    )


def scheduler_runs(now: dt.datetime) -> bool:
    """Whether the scheduler is running: the next run of its schedule is not long overdue."""
    due = next(iter(_next_run(cluster_name(host()))), None)
    return due is not None and due > now - OVERDUE


@prepared
def _next_run(cluster: str) -> QuerySet[Schedule, dt.datetime | None]:
    """The next run in this host's schedule; other hosts on the same database have their own rows."""
    rows = Schedule.objects.filter(cluster=cluster, func__startswith="dreams.")
    found: QuerySet[Schedule, dt.datetime | None] = rows.values_list("next_run", flat=True)
    return found[:1]


def favicon(waiting: int) -> str:
    """The icon of the browser tab, with the number of open proposals."""
    if not waiting:
        return "img/favicon.svg"
    return f"img/favicon-{waiting if waiting <= MOST_ON_ICON else 'more'}.svg"
