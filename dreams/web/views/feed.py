"""The feed of what waits: the one page that no login guards, as its address is the key."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_POST, require_safe

from dreams.services.inbox import feed
from dreams.web.access import actor
from dreams.web.htmx import Request, go


@require_safe
def read(request: HttpRequest, token: str) -> HttpResponse:
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
def make(request: Request) -> HttpResponse:
    token = feed.make_token(actor(request))
    address = request.build_absolute_uri(reverse("feed", args=[token]))
    messages.success(request, f"The feed’s address, shown once: {address}")
    return go(request, f"{reverse('settings')}#feed")


@require_POST
def revoke(request: Request) -> HttpResponse:
    if feed.revoke(actor(request)):
        messages.success(request, "The feed’s address is revoked. Readers that have it get nothing.")
    return go(request, f"{reverse('settings')}#feed")
