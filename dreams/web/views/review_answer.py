"""How the review desk answers: the page, one of its parts, or what changed in it, and what every verb needs."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from dreams.models import FileChange, Hunk, Proposal
from dreams.review import Reviewer
from dreams.web import verdicts
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, wants_fragment
from dreams.web.selectors import review as selector
from dreams.web.selectors.review import Loaded

LAYOUTS = ("auto", "unified", "split")
CHIPS = ("Wrong", "Outdated", "Already said elsewhere", "Not worth keeping", "Badly put")


def page(request: Request, loaded: Loaded, asked: selector.Asked, status: int = 200) -> HttpResponse:
    context = {"desk": selector.desk(loaded, asked), "asked": asked, **_common(request, loaded)}
    response = render(request, "dreams/review.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def fragment(
    request: Request, template: str, loaded: Loaded, context: dict[str, object], status: int = 200
) -> HttpResponse:
    response = render(request, template, {**_common(request, loaded), **context}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _common(request: Request, loaded: Loaded) -> dict[str, object]:
    layout = request.COOKIES.get(layout_cookie(), "auto")
    return {
        "proposal": loaded.proposal,
        "is_open": loaded.is_open,
        "layout": layout if layout in LAYOUTS else "auto",
        "layouts": [(name, name.capitalize()) for name in LAYOUTS],
        "chips": CHIPS,
        "back": _query_to_come_back_to(request),
        "last": verdicts.last(request, loaded.proposal),
    }


def _query_to_come_back_to(request: Request) -> str:
    """Which of the page's views a person is at: the fragment's own address is not it."""
    if request.method == "POST":
        return request.POST.get("back", "")
    if wants_fragment(request):
        return urlsplit(request.htmx.current_url or "").query
    return request.GET.urlencode()


def around(request: Request, loaded: Loaded, files: set[int]) -> dict[str, object]:
    """The parts beside the cards that a verdict on `files` changes."""
    asked = asked_of(QueryDict(request.POST.get("back", "")))
    entries = selector.entries(loaded, asked.show)
    return {
        "asked": asked,
        # Under a filter files come and go, so the list is sent whole.
        "entries": entries if asked.show else [entry for entry in entries if entry.pk in files],
        "bar": selector.bar(loaded),
        "loads": selector.loads(loaded),
    }


def answer(
    request: Request, proposal: Proposal, touched: Sequence[Hunk], file: int | None = None
) -> HttpResponse:
    """Back to the first hunk touched; with htmx, every card on the page that changed and what stands around."""
    anchor = f"hunk-{_main(request, touched)}" if touched else f"file-{file}" if file else ""
    if not wants_fragment(request):
        return SeeOther(back_to(request, proposal, anchor))
    loaded = selector.load(proposal_of(proposal.public_id))
    shown = {int(pk) for pk in request.POST.get("shown", "").split(",") if pk.isdecimal()}
    changed = {hunk.pk for hunk in touched} & shown
    files = {hunk.file_id for hunk in loaded.all_hunks if hunk.pk in changed} | ({file} if file else set())
    cards = selector.some_cards(loaded, files)
    return fragment(
        request,
        "dreams/_review_answer.html",
        loaded,
        {
            "cards": cards,
            "changed": changed,
            **around(request, loaded, {h.file_id for h in touched} | files),
        },
    )


def refuse(request: Request, loaded: Loaded, why: str, hunks: Sequence[Hunk]) -> HttpResponse:
    """409 with the page as it is now; with htmx the file as it is now, and why, above it."""
    messages.error(request, why)
    loaded = selector.load(proposal_of(loaded.proposal.public_id))
    if wants_fragment(request):
        files = {hunk.file_id for hunk in hunks[:1]}
        cards = selector.some_cards(loaded, files)
        context = {"whole": cards, "with_messages": True, **around(request, loaded, files)}
        return fragment(request, "dreams/_review_answer.html", loaded, context, status=422)
    return page(request, loaded, asked_of(QueryDict(request.POST.get("back", ""))), status=409)


def file_of(request: Request, loaded: Loaded) -> FileChange:
    wanted = request.POST.get("file", "")
    found = next((file for file in loaded.files if str(file.pk) == wanted), None)
    if found is None:
        raise Http404("no such file in this proposal")
    return found


def _main(request: Request, touched: Sequence[Hunk]) -> int:
    """The hunk a person acted on, among those that were decided with it."""
    pks = [hunk.pk for hunk in touched]
    wanted = request.POST.get("hunk", "")
    return int(wanted) if wanted.isdecimal() and int(wanted) in pks else pks[0]


def asked_of(query: QueryDict) -> selector.Asked:
    file = query.get("file", "")
    show = query.get("show", "")
    return selector.Asked(
        file=int(file) if file.isdecimal() and len(file) < 16 else None,
        show=show if show in selector.FILTERS else "",
        view=query.get("view", ""),
    )


def back_to(request: Request, proposal: Proposal, anchor: str) -> str:
    asked = asked_of(QueryDict(request.POST.get("back", "")))
    return selector.address(proposal, anchor=anchor, file=asked.file, show=asked.show, view=asked.view)


def layout_cookie() -> str:
    # By port: other servers on this machine share the host's cookies.
    return f"layout_{settings.PORT}"


def reviewer(request: Request) -> Reviewer:
    return Reviewer(actor(request))


def proposal_of(public_id: str) -> Proposal:
    found = selector.find(public_id)
    if found is None:
        raise Http404("no such proposal")
    return found
