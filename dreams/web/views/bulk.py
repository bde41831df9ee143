"""One verdict on many decisions: on several proposals, after a preview for each; and on changes of one kind across
projects, with their lines shown.
"""

import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import Hunk
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.proposals import decisions
from dreams.services.review import triage
from dreams.web.access import actor, reviewer
from dreams.web.htmx import Request, SeeOther, go, page, wants_fragment
from dreams.web.pages import bulk as pages
from dreams.web.pages.review_proposal import LoadedProposal, find, load
from dreams.web.paging import chosen, number_or_none
from dreams.web.views.review import CHIPS


@require_safe
def preview(request: Request) -> HttpResponse:
    """Previews the verdict; nothing is changed."""
    verdict = pages.REJECT if request.GET.get("verdict") == pages.REJECT else pages.APPROVE
    selected = request.GET.getlist("proposal")
    choices = pages.chosen(selected, verdict)
    if not choices:
        none = "Nothing that you selected is a proposal." if selected else "Select the proposals first."
        messages.info(request, none)
        return go(request, "inbox")
    if left := len(dict.fromkeys(selected)) - len(choices):
        only = f"only proposals are decided here, at most {pages.MOST} at once"
        messages.info(request, f"Left out {plural(left, 'item')}: {only}.")
    return _preview_page(request, verdict, choices)


def _preview_page(
    request: Request, verdict: str, choices: Sequence[dict[str, Any]], status: int = 200
) -> HttpResponse:
    """What was typed is kept."""
    able = [choice for choice in choices if not choice["why_not"]]
    context = {
        "verdict": verdict,
        "able": able,
        "unable": [choice for choice in choices if choice["why_not"]],
        "decisions": sum(choice["counts"].decisions - choice["counts"].rejected for choice in able),
        "chips": CHIPS,
    }
    return render(request, "dreams/bulk.html", context, status=status)


@require_POST
def decide(request: Request) -> HttpResponse:
    """Gives the verdict to each proposal that is unchanged since the preview. One that cannot be decided does not stop others."""
    verdict = request.POST.get("verdict", "")
    if verdict not in (pages.APPROVE, pages.REJECT):
        messages.error(request, "Nothing was decided: choose to approve or to reject.")
        return go(request, "inbox")
    wanted = dict.fromkeys(request.POST.getlist("proposal")[: pages.MOST])
    batch = uuid.uuid4().hex
    told = {public_id: _decide_one(request, public_id, verdict, batch) for public_id in wanted}
    if done := ", ".join(filter(None, told.values())):
        messages.success(
            request,
            f"Written: {done}." if verdict == pages.APPROVE else f"Rejected: {done}. Nothing was written.",
        )
    if verdict == pages.REJECT and _reason(request):
        again = pages.chosen([public_id for public_id, said in told.items() if not said], verdict)
        if any(not choice["why_not"] for choice in again):
            return _preview_page(request, verdict, again, 409)
    return SeeOther("/")


def _reason(request: Request) -> str:
    return (request.POST.get("reason") or request.POST.get("chip") or "").strip()


def _decide_one(request: Request, public_id: str, verdict: str, batch: str) -> str:
    """What was done, for the summary; empty, with a separate message, if nothing was."""
    proposal = find(public_id)
    if proposal is None:
        messages.warning(request, "A proposal that you selected no longer exists.")
        return ""
    loaded = load(proposal)
    seen = (request.POST.get(f"{name}-{public_id}") for name in ("bases", "answers"))
    trouble = pages.why_not(loaded, verdict) or loaded.moved_since(*seen) or _unseen(loaded, verdict)
    if trouble:
        messages.warning(request, f"{proposal.project} was left unchanged. {trouble}")
        return ""
    try:
        return (_approve if verdict == pages.APPROVE else _reject)(request, loaded, batch)
    except Refusal as refused:
        messages.error(request, f"{proposal.project}: {refused}")
        return ""


def _unseen(loaded: LoadedProposal, verdict: str) -> str:
    """Why its lines were not shown; empty if they were."""
    pk = loaded.proposal.pk
    return "" if verdict == pages.REJECT else pages.of([pk])[pk].why_not


def _approve(request: Request, loaded: LoadedProposal, batch: str) -> str:
    pending = [hunk for hunk in loaded.all_hunks if hunk.verdict == Hunk.Verdict.PENDING]
    if pending:
        review.decide(loaded.proposal, pending, Hunk.Verdict.APPROVED, reviewer(request), batch=batch)
    report = applying.apply_with_answers(loaded.proposal, reviewer(request))
    if report.error:
        messages.error(request, f"{loaded.proposal.project}: {report.refusal}")
    for waiting in (*report.conflicts, *report.rebased):
        messages.warning(
            request, f"{loaded.proposal.project}: {waiting.path} was not written: {waiting.why}."
        )
    return f"{loaded.proposal.project} ({plural(len(report.applied), 'file')})" if report.applied else ""


def _reject(request: Request, loaded: LoadedProposal, batch: str) -> str:
    review.decide(
        loaded.proposal,
        loaded.all_hunks,
        Hunk.Verdict.REJECTED,
        reviewer(request),
        reason=_reason(request),
        batch=batch,
    )
    review.submit(loaded.proposal, reviewer(request))
    return str(loaded.proposal.project)


# --- One kind of change

VERDICTS = (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING)


@require_safe
def of_kind(request: Request) -> HttpResponse:
    return _show_kind(request, request.GET)


@require_POST
def decide_kind(request: Request) -> HttpResponse:
    """Decides on exactly what was shown. If it changed, shows it again with the new count."""
    verdict = request.POST.get("verdict", "")
    wanted = [pk for value in request.POST.getlist("of")[: pages.PAGE_SIZE] if (pk := number_or_none(value))]
    if verdict not in VERDICTS:
        raise Http404("no such verdict")
    try:
        given = triage.decide_shown(
            wanted, request.POST.get("digest", ""), Hunk.Verdict(verdict), reviewer(request)
        )
    except triage.ShownHasChanged:
        return _refuse_kind(request)
    for sentence in given.refused:
        messages.warning(request, sentence)
    if verdict == Hunk.Verdict.PENDING:
        messages.success(request, f"Undid {plural(given.decisions, 'decision')}.")
    back = {name: value for name in ("kind", "page", "at") if (value := request.POST.get(name))}
    done = {} if verdict == Hunk.Verdict.PENDING else {"done": wanted}
    address = f"{reverse('by-kind')}?{urlencode({**back, **done}, doseq=True)}"
    if wants_fragment(request):
        return _show_kind(request, QueryDict(address.partition("?")[2]))
    return SeeOther(address)


def _refuse_kind(request: Request) -> HttpResponse:
    now = pages.by_kind(_kind(request.POST), request.POST.get("page"), actor(request))
    count = now.present.words if now.present else "nothing of this kind"
    messages.error(
        request, f"Some of these changed since you opened this page, so nothing was decided. Now: {count}."
    )
    # htmx also swaps in a fragment with status 422.
    return _show_kind(request, request.POST, 422 if wants_fragment(request) else 409)


def _show_kind(request: Request, given: QueryDict, status: int = 200) -> HttpResponse:
    done = [pk for value in given.getlist("done")[: pages.PAGE_SIZE] if (pk := number_or_none(value))]
    found = pages.by_kind(_kind(given), given.get("page"), actor(request), number_or_none(given.get("at")))
    context = {"found": found, "done": pages.done(done) if done else None}
    return page(request, "dreams/by_kind.html", "dreams/_by_kind.html", context, status)


def _kind(given: QueryDict) -> str:
    return chosen(given.get("kind"), decisions.KINDS_IN_ORDER)
