"""Undo a dream, a file or a change: first a preview, then one button."""

from functools import partial

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from dreams.lib.refusal import Refusal
from dreams.models import Proposal
from dreams.services import host_requests, rollback
from dreams.services.review import Actor, ReviewRefused
from dreams.services.rollback import NothingToUndo, Selection
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther
from dreams.web.pages import undo as pages
from dreams.web.pages.review_proposal import address
from dreams.web.paging import number_or_none
from dreams.web.views.host_requests import asked
from dreams.web.views.review import proposal_of
from dreams.web.views.review_submit import stoppable

CHIPS = ("It was wrong", "It lost something", "I would word it differently", "Just testing")


@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: Request, public_id: str) -> HttpResponse:
    if request.method == "POST":
        return _undo(request, public_id)
    return _answer(request, proposal_of(public_id), request.GET)


def _again(request: Request, proposal: Proposal) -> HttpResponse:
    """The page as it is now, with the same boxes ticked and the same reason. No redirect: an address has no room for many."""
    return _answer(request, proposal, request.POST, is_refused=True)


@stoppable("Nothing was written.", _again)
def _undo(request: Request, proposal: Proposal) -> HttpResponse:
    host_requests.refuse_unless_accepted(proposal.project)
    return _answer(request, proposal, request.POST)


def _answer(
    request: Request, proposal: Proposal, given: QueryDict, *, is_refused: bool = False
) -> HttpResponse:
    try:
        found = _asked(proposal, given)
    except (NothingToUndo, ReviewRefused) as nothing:
        messages.info(request, str(nothing))
        return SeeOther(address(proposal))
    if request.method != "POST" or is_refused:
        return _page(request, found, given, 409 if is_refused else 200)
    if not found.decisions:
        return _page(request, found, given, 422)
    if request.POST.get("seen") != found.digest:
        messages.error(request, "A file changed since you opened this page. Look at what would happen now.")
        return _page(request, found, given, 409)
    return _carry_out(request, proposal, found)


def _asked(proposal: Proposal, given: QueryDict) -> pages.Undo:
    """The undo of the ticked boxes, or else of the files and changes in the address. Raises as `pages.undo`."""
    hunk_ids = tuple(filter(None, given.getlist("hunk")))
    if batch := number_or_none(given.get("batch")):
        return pages.undo(proposal, pages.of_batch(proposal, batch))
    if "choose" not in given:
        return pages.undo(proposal, Selection(tuple(filter(None, given.getlist("path"))), hunk_ids))
    if not hunk_ids:
        return pages.unticked(proposal)
    return pages.undo(proposal, pages.chosen(proposal, hunk_ids))


def _carry_out(request: Request, proposal: Proposal, found: pages.Undo) -> HttpResponse:
    reason = (request.POST.get("own_reason") or request.POST.get("reason") or "").strip()
    what = (proposal, Actor(actor(request)), found.selection)
    never_again = "never_again" in request.POST
    new_request = partial(
        host_requests.to_undo, proposal, found.selection, reason=reason, never_again=never_again
    )
    if waits := asked(request, proposal.project, new_request, SeeOther(address(proposal.undoes or proposal))):
        return waits
    try:
        if found.conflicts:
            made = rollback.propose(*what, reason=reason, never_again=never_again)
            messages.info(request, "Nothing was written. Solve what is marked, then submit.")
            return SeeOther(address(made))
        report = rollback.rollback(*what, reason=reason, never_again=never_again)
    except Refusal as refused:
        messages.error(request, str(refused))
        return _again(request, proposal)
    if report.complete:
        messages.success(request, f"{found.done.capitalize()}: {found.did}.")
    else:
        why = report.error or "; ".join(f"{waiting.path}: {waiting.why}" for waiting in report.conflicts)
        messages.error(request, f"Nothing was {found.done}: {why}")
    for said in report.said:
        messages.info(request, said)
    # A redo is started on the page of the undone proposal, which it restores.
    back = SeeOther(address(proposal.undoes or proposal))
    return back if report.complete else _again(request, proposal)


def _page(request: Request, found: pages.Undo, typed: QueryDict, status: int = 200) -> HttpResponse:
    """`typed` is kept while boxes are ticked, and where the form is refused."""
    chips = () if found.is_redo else CHIPS
    context = {"undo": found, "chips": chips, "typed": typed}
    return render(request, "dreams/undo.html", context, status=status)
