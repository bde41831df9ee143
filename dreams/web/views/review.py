"""The review desk: look at a proposal, decide on its parts, submit.

Every verb is a POST that leads back to the decision it was about. With htmx the same address answers with the parts of
the page that changed. A verdict carries the state it was made on: on another one it is refused, and what is there now
is shown. One verdict on many carries the digest of what was counted, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast, get_args

from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.models import Hunk
from dreams.services import review
from dreams.services.review import Mend, ReviewRefused
from dreams.web import hidden_secrets, verdicts
from dreams.web.access import owner
from dreams.web.htmx import Request, SeeOther, go, wants_fragment
from dreams.web.pages import review_texts as texts
from dreams.web.pages.review_proposal import Decision, Loaded, address
from dreams.web.pages.review_shown import asked_of, batch_of, passing
from dreams.web.views.review_answer import (
    LAYOUTS,
    answer,
    back_to,
    changed_file,
    file_of,
    fragment,
    layout_cookie,
    load,
    one_file,
    page,
    proposal_of,
    refuse,
    reviewer,
)

# Of a text that somebody types, so much is looked at before it is kept.
MOST_TYPED = 200_000
A_YEAR = 60 * 60 * 24 * 365
CHANGED = "This changed since you opened the page, so your verdict was not taken. Look at it again."


@owner
@require_safe
def desk(request: Request, public_id: str) -> HttpResponse:
    proposal = proposal_of(public_id)
    if proposal.public_id != public_id:
        return HttpResponseRedirect(address(proposal))
    if request.GET.get("layout") in LAYOUTS:
        return _remember_layout(request)
    loaded = load(request, proposal)
    asked = asked_of(request.GET)
    if asked.file is not None and asked.file not in {file.pk for file in loaded.files}:
        raise Http404("no such file in this proposal")
    if wants_fragment(request) and asked.file is not None:
        return one_file(request, loaded, asked)
    return page(request, loaded, asked)


@owner
@require_POST
def decide(request: Request, public_id: str) -> HttpResponse:
    """Approve, reject or take back: one decision, what the page shows with a file or in all, or everything."""
    loaded = load(request, proposal_of(public_id))
    verdict = request.POST.get("verdict", "")
    if verdict not in (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING):
        raise Http404("no such verdict")
    scope = request.POST.get("scope", "")
    asked_for = _batch(request, loaded, scope, verdict) if scope else _named(request, loaded)
    if isinstance(asked_for, str):
        return refuse(request, loaded, asked_for)
    if not asked_for:
        return refuse(request, loaded, "Nothing is left to decide there.")
    before = verdicts.remember(asked_for)
    hunks = _proposed(request, asked_for) or [hunk for one in asked_for for hunk in one.hunks]
    try:
        decided = review.decide(
            loaded.proposal,
            hunks,
            Hunk.Verdict(verdict),
            reviewer(request),
            reason=request.POST.get("reason", "").strip(),
        )
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused))
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict(verdict), asked_for))
    if any(hunk["edited"] for hunk in before):
        loaded = load(request, loaded.proposal)  # what the checks say is of the proposed text again
    loaded.decided(decided)
    return answer(request, loaded, asked_for)


def _proposed(request: Request, asked_for: Sequence[Decision]) -> list[Hunk]:
    """The one edited change whose proposed text is wanted back; none where the form is no such button."""
    wanted = request.POST.get("hunk", "") if "as_proposed" in request.POST else ""
    return [hunk for one in asked_for for hunk in one.hunks if str(hunk.pk) == wanted]


@owner
@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undo the last verdict of this visit; again for the one before."""
    proposal = proposal_of(public_id)
    try:
        touched = verdicts.pop(request, proposal, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused))
    loaded = load(request, proposal)
    found = {one.key: one for hunk in touched if (one := loaded.decision_of.get(hunk.pk))}
    return answer(request, loaded, list(found.values()), goes_there=True)


@owner
@require_POST
def edit(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    typed = request.POST.get("text", "")
    return _edited(request, loaded, lambda hunk: review.edit(loaded.proposal, hunk, typed, reviewer(request)))


def _edited(request: Request, loaded: Loaded, change: Callable[[Hunk], list[Hunk]]) -> HttpResponse:
    named = _named(request, loaded)
    if isinstance(named, str):
        return refuse(request, loaded, named)
    before = verdicts.remember(named)
    try:
        change(_whole(request, named))
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused))
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict.EDITED, named))
    loaded = load(request, loaded.proposal)
    return answer(request, loaded, [one for one in loaded.decisions if one.key == named[0].key])


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
    """What is being typed, as it would be and read, with what the checks say of it. Nothing is kept."""
    loaded = load(request, proposal_of(public_id))
    named = _named(request, loaded)
    if isinstance(named, str):
        return refuse(request, loaded, named)
    hunk, typed = _whole(request, named), request.POST.get("text", "")[:MOST_TYPED]
    found = texts.typed(loaded, hunk, review.preview_edit(loaded.proposal, hunk, typed))
    whole = "dreams/review_preview.html" if not wants_fragment(request) else "dreams/_review_preview.html"
    return fragment(request, whole, loaded, {"hunk": hunk, "typed": found, "seen": named[0].seen})


@owner
@require_POST
def confirm(request: Request, public_id: str) -> HttpResponse:
    """A person saw findings that block, each by its own tick or button, and wants the change all the same."""
    proposal = proposal_of(public_id)
    wanted = set(request.POST.getlist("finding"))
    if not wanted:
        return refuse(request, load(request, proposal), "Nothing was ticked, so nothing is confirmed.")
    found = list(proposal.findings.filter(key__in=wanted).select_related("hunk"))
    if {finding.key for finding in found} != wanted:
        return refuse(request, load(request, proposal), "That finding is gone; look at the change again.")
    try:
        review.confirm(proposal, found, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused))
    loaded = load(request, proposal)
    about = {one.key: one for f in found if f.hunk_id and (one := loaded.decision_of.get(f.hunk_id))}
    file = next((finding.file_id for finding in found if finding.hunk_id is None), None)
    return answer(request, loaded, list(about.values()), file=file)


@owner
@require_POST
def viewed(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    file = file_of(request, loaded)
    for part in loaded.parts_of(file):
        review.mark_viewed(part, viewed=request.POST.get("viewed") == "1")
    if wants_fragment(request):
        return changed_file(request, loaded, file)
    return SeeOther(back_to(request, loaded.proposal, f"file-{file.pk}"))


@owner
@require_POST
def secrets(request: Request, public_id: str) -> HttpResponse:
    """Show this visit the secrets of a proposal, or mask them again; back to its review, or a conflict."""
    proposal = proposal_of(public_id)
    hidden_secrets.turn(request, proposal)
    file = request.POST.get("file", "")
    number = file if file.isdecimal() else ""
    if number and "conflict" in request.POST:
        return go(request, "conflict", public_id=proposal.public_id, file_pk=int(number))
    return SeeOther(back_to(request, proposal, number and f"file-{number}"))


def _named(request: Request, loaded: Loaded) -> list[Decision] | str:
    """The decision that the form names by one of its changes; or why it is not the one that was seen."""
    wanted = request.POST.get("hunk", "")
    hunk = next((hunk for hunk in loaded.all_hunks if str(hunk.pk) == wanted), None)
    if hunk is None:
        raise Http404("no such hunk in this proposal")
    decision = loaded.decision_of[hunk.pk]
    same = hunk.file.base_sha == request.POST.get("base", "")
    return [decision] if same and request.POST.get("seen") in (None, decision.seen) else CHANGED


def _batch(request: Request, loaded: Loaded, scope: str, verdict: str) -> list[Decision] | str:
    """The decisions that the form's button counted; or why they are others now, with how many they are."""
    file = file_of(request, loaded) if scope == "file" else None
    batch = batch_of(passing(loaded, asked_of(_back(request))), scope, file)
    found = list(batch.of(verdict))
    same = request.POST.get("digest") == batch.digest(verdict) and request.POST.get("count") == str(
        len(found)
    )
    if same:
        return found
    return f"This list changed since you opened the page: it has {plural(len(found), 'decision')} now. Nothing was decided."


def _back(request: Request) -> QueryDict:
    """Which of the page's views the form is on."""
    query = QueryDict(request.POST.get("back", ""), mutable=True)
    if view := request.POST.get("view"):
        query["view"] = view
    return query


def _whole(request: Request, named: Sequence[Decision]) -> Hunk:
    [decision] = named
    hunk = next(hunk for hunk in decision.hunks if str(hunk.pk) == request.POST.get("hunk"))
    return Hunk.objects.select_related("file__proposal__project").get(pk=hunk.pk)


def _remember_layout(request: Request) -> HttpResponse:
    """A plain link sets it; the cookie keeps it for all reviews."""
    query = request.GET.copy()
    [layout] = query.pop("layout")[-1:]
    response = HttpResponseRedirect(f"{request.path}?{query.urlencode()}" if query else request.path)
    response.set_cookie(layout_cookie(), layout, max_age=A_YEAR, samesite="Strict", httponly=True)
    return response
