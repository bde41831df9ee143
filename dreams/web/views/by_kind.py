"""One kind of change across projects: look at the lines, and give one verdict for those on screen."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.models import Hunk
from dreams.services.proposals import decisions
from dreams.services.review import triage
from dreams.web.access import owner
from dreams.web.htmx import Request, SeeOther, page, wants_fragment
from dreams.web.pages import by_kind as pages
from dreams.web.paging import chosen, number_or_none
from dreams.web.views.review_answer import reviewer

VERDICTS = (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING)


@owner
@require_safe
def look(request: Request) -> HttpResponse:
    return _show(request, request.GET)


@owner
@require_POST
def decide(request: Request) -> HttpResponse:
    """Decide on exactly what was shown. Something else than that is shown again, with the new count."""
    verdict = request.POST.get("verdict", "")
    wanted = [pk for value in request.POST.getlist("of")[: pages.PAGE_SIZE] if (pk := number_or_none(value))]
    if verdict not in VERDICTS:
        raise Http404("no such verdict")
    try:
        given = triage.give(wanted, request.POST.get("digest", ""), Hunk.Verdict(verdict), reviewer(request))
    except triage.Changed:
        return _refuse(request)
    for sentence in given.refused:
        messages.warning(request, sentence)
    if verdict == Hunk.Verdict.PENDING:
        messages.success(request, f"Took back {plural(given.decisions, 'decision')}.")
    back = {name: value for name in ("kind", "page", "at") if (value := request.POST.get(name))}
    done = {} if verdict == Hunk.Verdict.PENDING else {"done": wanted}
    address = f"{reverse('by-kind')}?{urlencode({**back, **done}, doseq=True)}"
    if wants_fragment(request):
        return _show(request, QueryDict(address.partition("?")[2]))
    return SeeOther(address)


def _refuse(request: Request) -> HttpResponse:
    now = pages.by_kind(_kind(request.POST), request.POST.get("page"))
    count = now.present.words if now.present else "nothing of this kind"
    messages.error(
        request, f"Some of these changed since you opened this page, so nothing was decided. Now: {count}."
    )
    # A fragment that is refused is swapped in, too.
    return _show(request, request.POST, 422 if wants_fragment(request) else 409)


def _show(request: Request, given: QueryDict, status: int = 200) -> HttpResponse:
    done = [pk for value in given.getlist("done")[: pages.PAGE_SIZE] if (pk := number_or_none(value))]
    found = pages.by_kind(_kind(given), given.get("page"), number_or_none(given.get("at")))
    context = {"found": found, "done": pages.done(done) if done else None}
    return page(request, "dreams/by_kind.html", "dreams/_by_kind.html", context, status)


def _kind(given: QueryDict) -> str:
    return chosen(given.get("kind"), decisions.ORDER)
