"""The schedule: jobs and runs; adding, starting and removing a job."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from dreams.lib.files.text import plural
from dreams.models import Project, ScheduledJob
from dreams.services import hosts, jobs
from dreams.services.host_requests import Deed, NewRequest
from dreams.services.scheduling import scheduler
from dreams.web.access import actor
from dreams.web.htmx import Request, go, page
from dreams.web.pages import schedules as pages
from dreams.web.paging import host_asked, number_or_none
from dreams.web.views.host_requests import ask


@require_http_methods(["GET", "HEAD", "POST"])
def schedules(request: Request) -> HttpResponse:
    """A GET with the form previews its times; a POST adds the job."""
    now = timezone.now()
    if request.method == "POST":
        return _add(request, now)
    typed = _typed(request.GET)
    if request.GET.get("cron"):
        typed = _previewed(typed, now)
    return _page(request, now, typed)


@require_POST
def run(request: Request, public_id: str) -> HttpResponse:
    job = _found(public_id)
    if job.host != hosts.host():
        new_request = NewRequest(Deed.JOB, job.project, {"job": job.pk}, host=job.host)
        return ask(request, new_request, go(request, "schedules"))
    try:
        made = jobs.start_now(job, actor=actor(request))
    except jobs.AlreadyRunning as error:
        messages.warning(request, str(error))
    else:
        jobs.begin(made, scheduler.enqueue)
        messages.success(request, f"{job}: started.")
    return go(request, "schedules")


@require_POST
def remove(request: Request, public_id: str) -> HttpResponse:
    job = _found(public_id)
    followed = len(jobs.remove(job, actor=actor(request))) - 1
    more = f", with {plural(followed, 'job')} that followed it" if followed else ""
    messages.success(request, f"{job}: removed{more}.")
    return go(request, "schedules")


def _add(request: Request, now: dt.datetime) -> HttpResponse:
    typed = _typed(request.POST)
    try:
        job = jobs.add(_wanted(typed), actor=actor(request), now=now)
    except jobs.SameJob as same:
        messages.info(request, str(same))
        return go(request, "schedules")
    except jobs.BadJob as error:
        return _page(request, now, replace(typed, error=str(error)), status=422)
    messages.success(request, f"{job}: added.")
    return go(request, "schedules")


def _page(request: Request, now: dt.datetime, typed: pages.Typed, status: int = 200) -> HttpResponse:
    context = {"schedule": pages.schedule(now, typed, host_asked(request), request.GET.get("page"))}
    return page(request, "dreams/schedules.html", "dreams/_schedule_times.html", context, status)


def _typed(given: Mapping[str, str]) -> pages.Typed:
    cron, after, project, until = (given.get(name, "") for name in ("cron", "after", "project", "until"))
    return pages.Typed(given.get("kind", "dream"), cron, after, project, given.get("once") == "on", until)


def _wanted(typed: pages.Typed) -> jobs.Wanted:
    """Raises BadJob for an unknown project or job."""
    after = jobs.find(typed.after) if typed.after else None
    if typed.after and after is None:
        raise jobs.BadJob("The job that it should follow no longer exists.")
    project = Project.objects.filter(pk=number_or_none(typed.project) or 0).first() if typed.project else None
    if typed.project and project is None:
        raise jobs.BadJob("The project no longer exists.")
    try:
        until = dt.date.fromisoformat(typed.until) if typed.until else None
    except ValueError as error:
        raise jobs.BadJob(f"“{typed.until}” is not a day such as 2026-12-31.") from error
    return jobs.Wanted(typed.kind, typed.cron, after, project, typed.once, until)


def _previewed(typed: pages.Typed, now: dt.datetime) -> pages.Typed:
    clock = jobs.Clock.load()
    try:
        job = jobs.checked(_wanted(typed), now, clock)
    except jobs.BadJob as error:
        return replace(typed, error=str(error))
    return replace(typed, upcoming=jobs.due_times(job, now, clock))


def _found(public_id: str) -> ScheduledJob:
    job = jobs.find(public_id)
    if job is None:
        raise Http404(public_id)
    return job
