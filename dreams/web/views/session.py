"""A session: its transcript page by page, with jumps to a line and a search; and notes on it, written by rules at
once or requested from a model. Also the tasks that agents left unfinished in a project."""

import re
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.agents.transcripts.search import Within
from dreams.models import NotesRequest, Project, Session, SessionNotes, TranscriptFile
from dreams.services import handing_over, host_requests, project_lock, session_notes
from dreams.services.search import query
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page, wants_fragment
from dreams.web.pages import session as pages
from dreams.web.paging import number_or_none
from dreams.web.views.project import beside


@require_safe
def session(request: Request, pk: int) -> HttpResponse:
    """`?line=`, `?q=`, and `?from=` and `?to=` for neighbouring pages; `?file=` for a sub-agent's transcript."""
    found = _session(pk)
    if (ran := pages.transcript_of_agent(found)) is not None:
        return redirect(f"{reverse('session', args=[ran.session_id])}?{_with_file(request, ran.pk)}")
    file = _file(request, found)
    path = file.path if file else found.path
    if host_requests.is_elsewhere(found.project):
        path = ""  # a file with that path on this host would be a different one
    place = _place(request)
    wanted = query.parse(request.GET.get("q", ""))
    hits = _hits(request, path, wanted)
    if hits and hits.hits and _is_new_search(request):
        place = pages.Position(mark=hits.hits[0].line)
    known = pages.known_lines(found, place.mark) if place.mark and not file else []
    files = pages.files(found)
    reached = 0 if file else pages.reached(found, place)
    notes = pages.notes(found, is_open=request.GET.get("notes") == "open")
    context = {
        "session": found,
        "no_answer": NO_ANSWER if found.gone_at and pages.is_history(found) else "",
        "project": found.project,
        "file": file,
        "files": files,
        "agents": {row["agent_id"]: row["pk"] for row in files if row["agent_id"]},
        "reading": pages.reading(path, place, known, wanted.terms, is_main=file is None),
        "mark": place.mark,
        "query": wanted,
        "keep": _kept(file, wanted),
        "inside": pages.inside(hits, place.mark, from_start=not request.GET.get("look")) if hits else None,
        "notes": notes,
        "handover": pages.handover(found, notes),
        "ask_anyway": request.GET.get("ask") == "anyway",
        "usage": pages.usage(found),
        "reached": reached,
        "outline": pages.outline(found, request.GET.get("page"), reached),
        "reviewed_by": pages.reviewed_by(found),
    }
    return page(request, "dreams/session.html", "dreams/_session_turns.html", context)


def _with_file(request: Request, file: int) -> str:
    asked = request.GET.copy()
    asked["file"] = str(file)
    return asked.urlencode()


def _kept(file: TranscriptFile | None, wanted: query.Query) -> str:
    """The query parameters that all links inside the transcript keep."""
    kept = {"file": file.pk if file else None, "q": wanted.text}
    carried = urlencode({name: value for name, value in kept.items() if value})
    return f"&{carried}" if carried else ""


def _hits(request: Request, path: str, wanted: query.Query) -> Within | None:
    """`?look=` and `?look_line=` continue a search that stopped in a very long transcript."""
    start, line = number_or_none(request.GET.get("look")), number_or_none(request.GET.get("look_line"))
    return pages.find_in_transcript(path, wanted, *((start, line) if start and line else ()))


def _is_new_search(request: Request) -> bool:
    """Whether the address names no place: then the page jumps to the first match."""
    return not any(request.GET.get(name) for name in ("line", "from", "to"))


def _file(request: Request, found: Session) -> TranscriptFile | None:
    """The requested transcript of a sub-agent; None for the main one."""
    pk = number_or_none(request.GET.get("file"))
    if pk is None:
        return None
    file = found.files.filter(pk=pk).first()
    if file is None:
        raise Http404("This session has no such transcript.")
    return None if file.kind == TranscriptFile.Kind.MAIN else file


def _place(request: Request) -> pages.Position:
    """`?line=214` jumps; `?from=` and `?to=` are byte offsets of neighbouring pages."""
    mark = number_or_none(request.GET.get("line"))
    if mark:
        return pages.Position(mark=mark)
    number = number_or_none(request.GET.get("n"))
    start, end = number_or_none(request.GET.get("from")), number_or_none(request.GET.get("to"))
    if start is not None:
        return pages.Position(start, number if start else 1)
    if end is not None:
        return pages.Position(end, number, backward=True)
    return pages.Position()


@require_POST
def write_notes(request: Request, pk: int) -> HttpResponse:
    """Writes hand-over notes from the transcript by rules, at once."""
    try:
        session_notes.by_rules(_session(pk))
    except (session_notes.NotReadable, project_lock.ProjectElsewhere) as refused:
        messages.error(request, str(refused))
        return go(request, "session", pk=pk)
    return SeeOther(f"{reverse('session', args=[pk])}?notes=open")


@require_POST
def ask_for_notes(request: Request, pk: int) -> HttpResponse:
    """Requests notes from a model. `force=1`: even if the session is short or has little new text."""
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
def cancel_notes(request: Request, pk: int) -> HttpResponse:
    asked = NotesRequest.objects.filter(session=pk, status__in=NotesRequest.UNFINISHED).first()
    if asked is None or not handing_over.cancel(asked):
        messages.info(request, "It had already ended; there was nothing to cancel.")
    return go(request, "session", pk=pk)


@require_safe
def notes_now(request: Request, pk: int) -> HttpResponse:
    """The notes, for the page's poller while a model writes."""
    if not wants_fragment(request):
        return redirect("session", pk=pk)
    found = _session(pk)
    notes = pages.notes(found, is_open=True)
    context = {"session": found, "notes": notes, "handover": pages.handover(found, notes)}
    return render(request, "dreams/_session_notes.html", context)


@require_safe
def download_notes(request: Request, pk: int, origin: str) -> HttpResponse:
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
    return beside(request, project, "open_ends", found=pages.open_ends(project, request.GET.get("page")))
