"""The inbox: what waits for a person, what runs, what came of the last dreams; and putting something off."""

from __future__ import annotations

import datetime as dt

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.services import dreaming
from dreams.services.inbox import waiting
from dreams.services.review import triage
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page
from dreams.web.pages import inbox as inbox_pages
from dreams.web.pages import questions, settings
from dreams.web.paging import host_asked


@require_safe
def inbox(request: Request) -> HttpResponse:
    now = timezone.now()
    found = inbox_pages.inbox(now, inbox_pages.asked_of(request.GET, host_asked(request)), actor(request))
    # Without scripts an answer leads to the page of all questions, where it can be taken back.
    context = {
        "inbox": found,
        "questions": questions.some_across(),
        "next": reverse("questions"),
        "kinds": triage.counts(),
        "offers": settings.offers(),
        "passed": settings.passed(now),
    }
    return page(request, "dreams/inbox.html", "dreams/_inbox.html", context)


@require_POST
def seen(request: Request) -> HttpResponse:
    dreaming.note_told(request.POST.getlist("dream"))
    return go(request, "inbox")


@require_safe
def next_up(request: Request) -> HttpResponse:
    """On to the first thing that waits, or to the one behind `?after=`; to the inbox when nothing else does."""
    found = inbox_pages.next_after(timezone.now(), actor(request), request.GET.get("after", ""))
    if found is None:
        messages.info(request, "Nothing else is waiting for you.")
        return go(request, "inbox")
    return SeeOther(found.url)


@require_http_methods(["GET", "HEAD", "POST"])
def put_off(request: Request) -> HttpResponse:
    """Until when, and then doing it. Items that no longer wait are left alone."""
    now = timezone.now()
    given = request.POST if request.method == "POST" else request.GET
    wanted = set(given.getlist("proposal"))
    items = [item for item in waiting.waiting(now) if item.key in wanted]
    if not items:
        messages.info(request, "Select something in the inbox first.")
        return go(request, "inbox")
    today = timezone.localdate(now)
    context = {
        "items": items,
        "choices": inbox_pages.choices(today),
        "earliest": today + dt.timedelta(days=1),
    }
    if request.method != "POST":
        return render(request, "dreams/snooze.html", context)
    until = inbox_pages.until_of(given.get("until", ""), given.get("day", ""), today)
    if until is None:
        messages.error(request, "Choose a day after today, or the next dream.")
        return render(request, "dreams/snooze.html", context, status=422)
    waiting.put_off([(item.key, item.kind.value) for item in items], until.at, actor(request), now)
    what = items[0].project if len(items) == 1 else plural(len(items), "item")
    messages.success(request, f"Snoozed {what} {until.words}. You find it under “Snoozed” in the inbox.")
    return go(request, "inbox")


@require_POST
def bring_back(request: Request) -> HttpResponse:
    if waiting.bring_back(request.POST.get("item", ""), actor(request)):
        messages.success(request, "Back in the inbox.")
    return go(request, "inbox")
