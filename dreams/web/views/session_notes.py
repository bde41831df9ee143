"""Notes on a session: written by rules at once or asked of a model, followed, cancelled, and downloaded; and the tasks that
agents left unfinished in a project."""

from __future__ import annotations

import re

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.models import NotesRequest, Project, Session, SessionNotes
from dreams.services import handing_over, project_lock, session_notes
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page, wants_fragment
from dreams.web.pages import project as project_pages
from dreams.web.pages import session_notes as pages


@require_POST
def write(request: Request, pk: int) -> HttpResponse:
    """Hand-over notes of what the transcript shows, at once."""
    try:
        session_notes.by_rules(_session(pk))
    except (session_notes.NotReadable, project_lock.ProjectElsewhere) as refused:
        messages.error(request, str(refused))
        return go(request, "session", pk=pk)
    return SeeOther(f"{reverse('session', args=[pk])}?notes=open")


@require_POST
def ask(request: Request, pk: int) -> HttpResponse:
    """Ask a model for them. `force=1`: although the session is short, or little of it is new."""
    try:
        asked = handing_over.request(_session(pk), actor(request), force=request.POST.get("force") == "1")
    except handing_over.TooLittle as refused:
        messages.info(request, str(refused))
        return SeeOther(f"{reverse('session', args=[pk])}?ask=anyway")
    except (handing_over.NotAsked, session_notes.NotReadable, project_lock.ProjectElsewhere) as refused:
        messages.error(request, str(refused))
    else:
        handing_over.enqueue(asked)
    return go(request, "session", pk=pk)


@require_POST
def cancel(request: Request, pk: int) -> HttpResponse:
    asked = NotesRequest.objects.filter(session=pk, status__in=NotesRequest.UNFINISHED).first()
    if asked is None or not handing_over.cancel(asked):
        messages.info(request, "It had already ended; there was nothing to cancel.")
    return go(request, "session", pk=pk)


@require_safe
def now(request: Request, pk: int) -> HttpResponse:
    """What the page's poller shows while a model writes."""
    if not wants_fragment(request):
        return redirect("session", pk=pk)
    found = _session(pk)
    notes = pages.notes(found, is_open=True)
    context = {"session": found, "notes": notes, "handover": pages.handover(found, notes)}
    return render(request, "dreams/_session_notes.html", context)


@require_safe
def download(request: Request, pk: int, origin: str) -> HttpResponse:
    """Kept notes as a Markdown file."""
    row = get_object_or_404(SessionNotes.objects.select_related("session"), session=pk, origin=origin)
    text = session_notes.text_of(row)
    if row.is_handover:
        text = pages.downloaded(text, request.build_absolute_uri(reverse("session", args=[pk])))
    name = re.sub(r"[^\w.-]+", "-", row.session.session_id)[:80]
    return HttpResponse(
        text,
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}-{row.origin}.md"'},
    )


def _session(pk: int) -> Session:
    return get_object_or_404(Session.objects.select_related("project"), pk=pk)


@require_safe
def open_ends(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context = {
        "project": project,
        "head": project_pages.counts(project),
        "found": pages.page(project, request.GET.get("page")),
    }
    return page(request, "dreams/open_ends.html", "dreams/_open_ends.html", context)
