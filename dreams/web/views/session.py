"""A session: its transcript page by page, with jumps to a line and to what was typed."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dreams.models import Session, TranscriptFile
from dreams.web.access import owner
from dreams.web.htmx import Request, page
from dreams.web.paging import number_or_none
from dreams.web.selectors import session as selector


@owner
@require_safe
def session(request: Request, pk: int) -> HttpResponse:
    found = get_object_or_404(Session.objects.select_related("project"), pk=pk)
    file = _file(request, found)
    place = _place(request)
    path = file.path if file else found.path
    known = selector.known_lines(found, place.mark) if place.mark and not file else []
    context = {
        "session": found,
        "project": found.project,
        "file": file,
        "files": selector.files(found),
        "reading": selector.reading(path, place, known),
        "mark": place.mark,
        "outline": selector.outline(found, request.GET.get("page")),
        "reviewed_by": selector.reviewed_by(found),
    }
    return page(request, "dreams/session.html", "dreams/_session_turns.html", context)


def _file(request: Request, found: Session) -> TranscriptFile | None:
    """A sub-agent's transcript of this session, when one was asked for."""
    pk = number_or_none(request.GET.get("file"))
    if pk is None:
        return None
    file = found.files.filter(pk=pk).first()
    if file is None:
        raise Http404("This session has no such transcript.")
    return None if file.kind == TranscriptFile.Kind.MAIN else file


def _place(request: Request) -> selector.Place:
    """`?line=214` jumps; `?from=` and `?to=` are the byte offsets that the neighbouring pages are asked with."""
    mark = number_or_none(request.GET.get("line"))
    if mark:
        return selector.Place(mark=mark)
    number = number_or_none(request.GET.get("n"))
    start, end = number_or_none(request.GET.get("from")), number_or_none(request.GET.get("to"))
    if start is not None:
        return selector.Place(start, number if start else 1)
    if end is not None:
        return selector.Place(end, number, backward=True)
    return selector.Place()
