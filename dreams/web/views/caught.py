"""Cards caught in sessions: list them, decide on each, write the approved ones.

Every action is a POST that redirects to the cards. With htmx the same address answers with the cards alone.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import Card, Project
from dreams.services import host_requests
from dreams.services.catching import cards, lifecycle
from dreams.services.host_requests import Deed, NewRequest
from dreams.services.review import ReviewRefused
from dreams.web.access import reviewer
from dreams.web.htmx import Request, SeeOther, page, wants_fragment
from dreams.web.pages import caught as pages, project as project_pages
from dreams.web.views.host_requests import asked

_VERDICTS: dict[str, Callable[..., Card]] = {"approve": cards.approve, "reject": cards.reject}


@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    return _page(request, project, request.GET.get("after", ""))


def _page(request: Request, project: Project, after: str, status: int = 200, **refused: str) -> HttpResponse:
    caught = pages.of_project(project, after)
    if refused and all(card["row"].public_id != refused["refused_at"] for card in caught["cards"]):
        typed = f" You typed: “{refused['typed']}”" if refused["typed"] else ""
        refused = {"refused": f"{refused['refused']}{typed}"}  # there is no card to say it on
    context: dict[str, Any] = {"project": project, "caught": caught, **refused}
    if not wants_fragment(request):
        context["head"] = project_pages.counts(project)
    return page(request, "dreams/caught.html", "dreams/_caught.html", context, status)


@require_POST
def decide(request: Request, public_id: str) -> HttpResponse:
    """Approves or rejects the card; findings are confirmed by a separate button."""
    card = _find(public_id)
    verdict = _VERDICTS.get(request.POST.get("verdict", ""))
    if verdict is None:
        raise Http404("no such verdict")
    more = {"confirm": True} if verdict is cards.approve and request.POST.get("confirm") else {}
    return _done(request, card, lambda: verdict(card, reviewer(request), **more))


@require_POST
def edit(request: Request, public_id: str) -> HttpResponse:
    """Approves the card with other words."""
    card, typed = _find(public_id), request.POST.get("text", "")
    return _done(request, card, lambda: cards.edit(card, typed, reviewer(request)), typed)


@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undoes a decision that is not written yet."""
    card = _find(public_id)
    return _done(request, card, lambda: cards.take_back(card, reviewer(request)))


@require_POST
def submit(request: Request, pk: int) -> HttpResponse:
    """Writes the approved cards."""
    project = get_object_or_404(Project, pk=pk)
    back = SeeOther(reverse("project-caught", args=[pk]))
    if waits := asked(request, project, lambda: host_requests.to_write_cards(project), back):
        return waits
    try:
        report = cards.submit(project, reviewer(request))
    except Refusal as refused:
        messages.error(request, str(refused))
    else:
        if report.complete and not report.applied:
            messages.info(request, " ".join(report.said) or "Nothing differs from the current files.")
        elif report.complete:
            messages.success(request, f"Remembered in {plural(len(report.applied), 'file')}.")
        else:
            messages.warning(
                request,
                report.error or "A file changed in the meantime. The proposal is waiting in the inbox.",
            )
    return SeeOther(reverse("project-caught", args=[pk]))


@require_POST
def read(request: Request, pk: int) -> HttpResponse:
    """Reads what is new in this project's sessions now."""
    project = get_object_or_404(Project, pk=pk)
    back = SeeOther(reverse("project-caught", args=[pk]))
    if waits := asked(request, project, lambda: NewRequest(Deed.EXTRACT, project), back):
        return waits
    found = lifecycle.catch(project, asked=True)
    if found.closed:
        messages.warning(request, found.closed)
    else:
        said = f"Read {plural(len(found.read), 'session')}, caught {plural(len(found.cards), 'thing')}. {found.stopped}"
        messages.success(request, said)
    return SeeOther(reverse("project-caught", args=[pk]))


def _done(request: Request, card: Card, act: Callable[[], object], typed: str = "") -> HttpResponse:
    """`typed` is kept where it is refused."""
    try:
        act()
    except ReviewRefused as refused:
        if wants_fragment(request) or typed:
            said = {"refused": str(refused), "refused_at": card.public_id, "typed": typed}
            status = 200 if wants_fragment(request) else 409
            return _page(request, card.project, card.public_id, status, **said)
        messages.error(request, str(refused))
    if wants_fragment(request):
        return _page(request, card.project, card.public_id)
    address = reverse("project-caught", args=[card.project_id])
    return SeeOther(f"{address}?after={card.public_id}#now")


def _find(public_id: str) -> Card:
    return get_object_or_404(
        Card.objects.select_related("project", "proposal", "operation"), public_id=public_id
    )
