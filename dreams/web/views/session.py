"""A session: its transcript page by page, with jumps to a line, a time, and words looked for in it."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.agents.transcripts.search import Within
from dreams.models import Session, TranscriptFile
from dreams.services import host_requests
from dreams.services.search import query
from dreams.web.htmx import Request, page
from dreams.web.pages import session as pages
from dreams.web.pages import session_notes as notes_pages
from dreams.web.paging import number_or_none


@require_safe
def session(request: Request, pk: int) -> HttpResponse:
    """`?line=`, `?goto=`, `?q=` and the neighbours' `?from=` and `?to=`; `?file=` for a sub-agent's transcript."""
    found = get_object_or_404(Session.objects.select_related("project"), pk=pk)
    if (ran := pages.transcript_of_agent(found)) is not None:
        return redirect(f"{reverse('session', args=[ran.session_id])}?{_with_file(request, ran.pk)}")
    file = _file(request, found)
    path = file.path if file else found.path
    if host_requests.is_elsewhere(found.project):
        path = ""  # a file of that path here would be another one
    goto = request.GET.get("goto", "")[:40]
    gone_to = pages.gone_to(path, found, goto) if goto.strip() else None
    place = gone_to or _place(request)
    wanted = query.parse(request.GET.get("q", ""))
    hits = _hits(request, path, wanted)
    if hits and hits.hits and _is_new_search(request):
        place = pages.Position(mark=hits.hits[0].line)
    known = pages.known_lines(found, place.mark) if place.mark and not file else []
    files = pages.files(found)
    reached = 0 if file else pages.reached(found, place)
    notes = notes_pages.notes(found, is_open=request.GET.get("notes") == "open")
    context = {
        "session": found,
        "no_answer": NO_ANSWER if found.gone_at and pages.is_history(found) else "",
        "project": found.project,
        "file": file,
        "files": files,
        "agents": {row.agent_id: row.pk for row in files if row.agent_id},
        "reading": pages.reading(path, place, known, wanted.terms, is_main=file is None),
        "mark": place.mark,
        "goto": goto,
        "is_lost": bool(goto.strip()) and gone_to is None,
        "query": wanted,
        "keep": _kept(file, wanted),
        "inside": pages.inside(hits, place.mark, from_start=not request.GET.get("look")) if hits else None,
        "notes": notes,
        "handover": notes_pages.handover(found, notes),
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
    """What every address inside the transcript carries on."""
    kept = {"file": file.pk if file else None, "q": wanted.text}
    carried = urlencode({name: value for name, value in kept.items() if value})
    return f"&{carried}" if carried else ""


def _hits(request: Request, path: str, wanted: query.Query) -> Within | None:
    """`?look=` and `?look_line=` go on where a search of a very long transcript had stopped."""
    start, line = number_or_none(request.GET.get("look")), number_or_none(request.GET.get("look_line"))
    return pages.look(path, wanted, start, line) if start and line else pages.look(path, wanted)


def _is_new_search(request: Request) -> bool:
    """No place was asked for with it: then it leads to the first one that is found."""
    return not any(request.GET.get(name) for name in ("line", "goto", "from", "to"))


def _file(request: Request, found: Session) -> TranscriptFile | None:
    """A sub-agent's transcript of this session, when one was asked for."""
    pk = number_or_none(request.GET.get("file"))
    if pk is None:
        return None
    file = found.files.filter(pk=pk).first()
    if file is None:
        raise Http404("This session has no such transcript.")
    return None if file.kind == TranscriptFile.Kind.MAIN else file


def _place(request: Request) -> pages.Position:
    """`?line=214` jumps; `?from=` and `?to=` are the byte offsets that the neighbouring pages are asked with."""
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
