"""The inbox: what waits for a person, running dreams, results of the last ones; snoozing; and the same list as a feed,
which needs no login, as its address contains a secret token."""

import datetime as dt

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.services import dreaming
from dreams.services.inbox import feed, snoozing, waiting
from dreams.services.policies import earned
from dreams.services.review import triage
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page
from dreams.web.page_cache import kept
from dreams.web.pages import inbox as inbox_pages, questions, settings
from dreams.web.paging import host_asked


@require_safe
@kept
def inbox(request: Request) -> HttpResponse:
    now = timezone.now()
    found = inbox_pages.inbox(now, inbox_pages.parse_query(request.GET, host_asked(request)), actor(request))
    # Without JavaScript an answer leads to the page of all questions, where it can be undone.
    context = {
        "inbox": found,
        "questions": questions.QuestionList([], 0)
        if found.waiting.are_questions_later
        else questions.some_across(),
        "next": reverse("questions"),
        "kinds": triage.counts(now, actor(request)),
        "offers": settings.offers(),
        "passed": earned.applied_since(now - inbox_pages.LATELY),
        "ended": earned.ended_since(now - inbox_pages.LATELY, actor(request)),
    }
    return page(request, "dreams/inbox.html", "dreams/_inbox.html", context)


@require_POST
def seen(request: Request) -> HttpResponse:
    dreaming.mark_notified(request.POST.getlist("dream"))
    return go(request, "inbox")


@require_safe
def next_up(request: Request) -> HttpResponse:
    """Redirects to the first waiting item, or the one after `?after=`; to the inbox if there is no other."""
    found = inbox_pages.next_after(timezone.now(), actor(request), request.GET.get("after", ""))
    if found is None:
        messages.info(request, "Nothing else is waiting for you.")
        return go(request, "inbox")
    return SeeOther(found.url)


@require_http_methods(["GET", "HEAD", "POST"])
def put_off(request: Request) -> HttpResponse:
    """Asks until when to snooze the items, and does it. Items that no longer wait are ignored."""
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
        "day": given.get("day", ""),
    }
    if request.method != "POST":
        return render(request, "dreams/snooze.html", context)
    until = inbox_pages.until_of(given.get("until", ""), given.get("day", ""), today)
    if until is None:
        messages.error(request, "Choose a day after today, or the next dream.")
        return render(request, "dreams/snooze.html", context, status=422)
    snoozing.put_off([(item.key, item.kind.value) for item in items], until.at, actor(request), now)
    what = items[0].project if len(items) == 1 else plural(len(items), "item")
    messages.success(request, f"Snoozed {what} {until.words}. Find it under “Snoozed” in the inbox.")
    return go(request, "inbox")


@require_POST
def bring_back(request: Request) -> HttpResponse:
    if snoozing.bring_back(request.POST.get("item", ""), actor(request)):
        messages.success(request, "Back in the inbox.")
    return go(request, "inbox")


@require_safe
def read_feed(request: HttpRequest, token: str) -> HttpResponse:
    now = timezone.now()
    if not feed.may_read(token, now):
        raise Http404("no such feed")
    here = request.build_absolute_uri("/").rstrip("/")
    made = Atom1Feed(
        title="memoryweb: waiting for you",
        link=f"{here}{reverse('inbox')}",
        description="",
        feed_guid="urn:memoryweb:inbox",
        author_name="memoryweb",
    )
    for entry in feed.entries(now):
        made.add_item(
            title=entry.title,
            link=here + entry.url,
            description="",
            unique_id=f"urn:memoryweb:{entry.id}",
            pubdate=entry.at,
            updateddate=entry.at,
        )
    return HttpResponse(made.writeString("utf-8"), content_type=made.content_type)


@require_POST
def make_feed(request: Request) -> HttpResponse:
    token = feed.make_token(actor(request))
    address = request.build_absolute_uri(reverse("feed", args=[token]))
    messages.success(request, f"The feed’s address, shown once: {address}")
    return go(request, f"{reverse('settings')}#feed")


@require_POST
def revoke_feed(request: Request) -> HttpResponse:
    if feed.revoke(actor(request)):
        messages.success(request, "The feed’s address is revoked. Readers that use it get nothing.")
    return go(request, f"{reverse('settings')}#feed")
