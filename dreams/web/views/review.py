"""The review desk: look at a proposal, decide on its parts, submit.

Every verb is a POST that leads back to the hunk it was about. With htmx the same address answers with the parts of
the page that changed. A verdict carries the state it was made on: on another one it is refused, and what stands
there now is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast, get_args

from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.views.decorators.http import require_POST, require_safe

from dreams import review
from dreams.models import Hunk
from dreams.review import Mend, ReviewRefused
from dreams.web import unmasked, verdicts
from dreams.web.access import owner
from dreams.web.htmx import Request, SeeOther, go, wants_fragment
from dreams.web.selectors.review import desk as selector
from dreams.web.selectors.review.desk import Loaded
from dreams.web.selectors.review.loaded import HunkRow
from dreams.web.views.review_answer import (
    LAYOUTS,
    answer,
    around,
    back_to,
    file_of,
    fragment,
    layout_cookie,
    load,
    on_page,
    page,
    proposal_of,
    refuse,
    reviewer,
    shown_now,
)

# Of a text that somebody types, so much is looked at before it is kept.
MOST_TYPED = 200_000
A_YEAR = 60 * 60 * 24 * 365


@owner
@require_safe
def desk(request: Request, public_id: str) -> HttpResponse:
    proposal = proposal_of(public_id)
    if proposal.public_id != public_id:
        return HttpResponseRedirect(selector.address(proposal))
    if request.GET.get("layout") in LAYOUTS:
        return _remember_layout(request)
    loaded = load(request, proposal)
    asked = selector.asked_of(request.GET)
    if asked.file is not None and asked.file not in {file.pk for file in loaded.files}:
        raise Http404("no such file in this proposal")
    if wants_fragment(request) and asked.file is not None:
        [card] = selector.some_cards(loaded, {asked.file}, asked.view, on_page(request, loaded, asked))
        return fragment(request, "dreams/_review_file.html", loaded, {"file": card})
    return page(request, loaded, asked)


@owner
@require_POST
def decide(request: Request, public_id: str) -> HttpResponse:
    """Approve, reject or take back: a hunk with its operation, a file, what has no findings, or all."""
    loaded = load(request, proposal_of(public_id))
    hunks = _hunks(request, loaded)
    stale = _stale(request, loaded, hunks)
    if stale:
        return refuse(request, loaded, stale, hunks)
    verdict = request.POST.get("verdict", "")
    if verdict not in (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING):
        raise Http404("no such verdict")
    reason = request.POST.get("reason", "").strip()
    if not hunks:
        return refuse(request, loaded, "Nothing is left to decide there.", [])
    before = verdicts.remember(hunks, loaded)
    try:
        decided = review.decide(
            loaded.proposal, hunks, Hunk.Verdict(verdict), reviewer(request), reason=reason
        )
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused), hunks)
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict(verdict), decided, loaded))
    return answer(request, loaded.proposal, decided)


@owner
@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undo the last verdict of this visit; again for the one before."""
    proposal = proposal_of(public_id)
    try:
        touched = verdicts.pop(request, proposal, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused), [])
    return answer(request, proposal, touched)


@owner
@require_POST
def edit(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    typed = request.POST.get("text", "")
    return _edited(request, loaded, lambda hunk: review.edit(loaded.proposal, hunk, typed, reviewer(request)))


def _edited(request: Request, loaded: Loaded, change: Callable[[Hunk], list[Hunk]]) -> HttpResponse:
    hunks = _hunks(request, loaded)
    stale = _stale(request, loaded, hunks)
    if stale:
        return refuse(request, loaded, stale, hunks)
    before = verdicts.remember(hunks, loaded)
    try:
        decided = change(_whole(hunks[0]))
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused), hunks)
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict.EDITED, decided, loaded))
    return answer(request, loaded.proposal, decided)


@owner
@require_POST
def mend(request: Request, public_id: str) -> HttpResponse:
    """What a finding advises, done: the change edited and approved."""
    loaded = load(request, proposal_of(public_id))
    how = cast(Mend, request.POST.get("how", ""))
    if how not in get_args(Mend):
        raise Http404("no such remedy")
    return _edited(request, loaded, lambda hunk: review.mend(loaded.proposal, hunk, how, reviewer(request)))


@owner
@require_POST
def preview(request: Request, public_id: str) -> HttpResponse:
    """What is being typed, as it would stand and read, with what the checks say of it. Nothing is kept."""
    loaded = load(request, proposal_of(public_id))
    [hunk] = _hunks(request, loaded)[:1]
    stale = _stale(request, loaded, [hunk])
    if stale:
        return refuse(request, loaded, stale, [hunk])
    typed = request.POST.get("text", "")[:MOST_TYPED]
    found = selector.typed(loaded, hunk, review.preview_edit(loaded.proposal, _whole(hunk), typed))
    whole = "dreams/review_preview.html" if not wants_fragment(request) else "dreams/_review_preview.html"
    return fragment(request, whole, loaded, {"hunk": hunk, "typed": found, "seen": loaded.seen(hunk)})


@owner
@require_POST
def confirm(request: Request, public_id: str) -> HttpResponse:
    """A person saw findings that block, each by its own tick or button, and wants the change all the same."""
    proposal = proposal_of(public_id)
    wanted = set(request.POST.getlist("finding"))
    if not wanted:
        return refuse(request, load(request, proposal), "Nothing was ticked, so nothing is confirmed.", [])
    found = list(proposal.findings.filter(key__in=wanted).select_related("hunk"))
    if {finding.key for finding in found} != wanted:
        return refuse(request, load(request, proposal), "That finding is gone; look at the change again.", [])
    try:
        review.confirm(proposal, found, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused), [])
    hunks = {finding.hunk.pk: finding.hunk for finding in found if finding.hunk}
    return answer(request, proposal, list(hunks.values()), found[0].file_id)


@owner
@require_POST
def viewed(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    file = file_of(request, loaded)
    for part in loaded.parts_of(file):
        review.mark_viewed(part, viewed=request.POST.get("viewed") == "1")
    if wants_fragment(request):
        loaded = load(request, loaded.proposal)
        [card] = selector.some_cards(loaded, {file.pk}, only=shown_now(request, loaded))
        return fragment(
            request,
            "dreams/_review_answer.html",
            loaded,
            {"whole": [card], **around(request, loaded, {file.pk})},
        )
    return SeeOther(back_to(request, loaded.proposal, f"file-{file.pk}"))


@owner
@require_POST
def secrets(request: Request, public_id: str) -> HttpResponse:
    """Show this visit the secrets of a proposal as they stand, or mask them again; back to its review, or a conflict."""
    proposal = proposal_of(public_id)
    unmasked.turn(request, proposal)
    file = request.POST.get("file", "")
    number = file if file.isdecimal() else ""
    if number and "conflict" in request.POST:
        return go(request, "conflict", public_id=proposal.public_id, file_pk=int(number))
    return SeeOther(back_to(request, proposal, number and f"file-{number}"))


def _hunks(request: Request, loaded: Loaded) -> list[HunkRow]:
    """What the form is about: `hunk`, `file`, or a `scope` of rest or all."""
    scope = request.POST.get("scope", "")
    if scope == "all":
        found = loaded.all_hunks
    elif scope == "listed":
        found = _listed(request, loaded)
    elif scope == "rest":
        found = loaded.without_findings(loaded.all_hunks)
    elif scope == "file":
        found = loaded.hunks[file_of(request, loaded).pk]
        if request.POST.get("verdict") == Hunk.Verdict.APPROVED:
            found = loaded.without_findings(found)
    else:
        wanted = set(request.POST.getlist("hunk"))
        found = [hunk for hunk in loaded.all_hunks if str(hunk.pk) in wanted]
        if not found:
            raise Http404("no such hunk in this proposal")
    return found


def _whole(row: HunkRow) -> Hunk:
    return Hunk.objects.select_related("file__proposal__project").get(pk=row.pk)


def _listed(request: Request, loaded: Loaded) -> list[HunkRow]:
    """The undecided changes of all files that the filter lets through; to approve, those that nothing speaks against."""
    asked = selector.asked_of(QueryDict(request.POST.get("back", "")))
    files = selector.passing(loaded, asked)
    rows = [hunk for file in files for hunk in loaded.hunks[file.pk] if hunk.verdict == Hunk.Verdict.PENDING]
    return loaded.without_findings(rows) if request.POST.get("verdict") == Hunk.Verdict.APPROVED else rows


def _stale(request: Request, loaded: Loaded, hunks: Sequence[HunkRow]) -> str:
    """Why the verdict cannot be taken as it was meant; empty when it can."""
    if request.POST.get("scope") == "listed":
        # The filter is in the address to come back to: were it lost, one verdict would be on everything.
        same = request.POST.get("bases") == loaded.digest and request.POST.get("count") == str(len(hunks))
    elif request.POST.get("scope") in ("rest", "all"):
        same = request.POST.get("bases") == loaded.digest
    else:
        seen = request.POST.get("seen")
        same = all(
            hunk.file.base_sha == request.POST.get("base", "") and seen in (None, loaded.seen(hunk))
            for hunk in hunks
        )
    return (
        ""
        if same
        else "This changed since you opened the page, so your verdict was not taken. Look at it again."
    )


def _remember_layout(request: Request) -> HttpResponse:
    """A plain link sets it; the cookie keeps it for all reviews."""
    query = request.GET.copy()
    [layout] = query.pop("layout")[-1:]
    response = HttpResponseRedirect(f"{request.path}?{query.urlencode()}" if query else request.path)
    response.set_cookie(layout_cookie(), layout, max_age=A_YEAR, samesite="Strict", httponly=True)
    return response
