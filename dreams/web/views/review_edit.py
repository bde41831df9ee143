"""Actions of a review besides verdicts: edit a change, apply a finding's fix, preview an edit, confirm findings, mark a
file as viewed, show secrets.
"""

from collections.abc import Callable, Sequence
from typing import cast, get_args

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_POST

from dreams.models import Hunk
from dreams.services import review
from dreams.services.review import Mend, ReviewRefused
from dreams.web import hidden_secrets, verdicts
from dreams.web.access import reviewer
from dreams.web.htmx import Request, SeeOther, go, wants_fragment
from dreams.web.pages import review_texts as texts
from dreams.web.pages.review_proposal import LoadedProposal
from dreams.web.paging import number_or_none
from dreams.web.views.review import (
    answer,
    back_to,
    changed_file,
    file_of,
    fragment,
    load,
    named,
    proposal_of,
    refuse,
    whole,
)

# This much of a typed text is previewed.
MOST_TYPED = 200_000


@require_POST
def edit(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    typed = request.POST.get("text", "")

    def change(hunk: Hunk, seen: Sequence[Hunk]) -> list[Hunk]:
        return review.edit(loaded.proposal, hunk, typed, reviewer(request), seen=seen)

    return _edited(request, loaded, change)


def _edited(
    request: Request, loaded: LoadedProposal, change: Callable[[Hunk, Sequence[Hunk]], list[Hunk]]
) -> HttpResponse:
    asked_for = named(request, loaded)
    if isinstance(asked_for, str):
        return refuse(request, loaded, asked_for)
    before = verdicts.remember(asked_for)
    try:
        change(whole(request, asked_for), asked_for[0].hunks)
    except ReviewRefused as refused:
        return refuse(request, loaded, str(refused))
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict.EDITED, asked_for))
    loaded = load(request, loaded.proposal)
    return answer(request, loaded, [found for found in loaded.decisions if found.key == asked_for[0].key])


@require_POST
def mend(request: Request, public_id: str) -> HttpResponse:
    """Applies the fix of a finding: edits and approves the change."""
    loaded = load(request, proposal_of(public_id))
    how = cast(Mend, request.POST.get("how", ""))
    if how not in get_args(Mend):
        raise Http404("no such remedy")

    def change(hunk: Hunk, seen: Sequence[Hunk]) -> list[Hunk]:
        return review.mend(loaded.proposal, hunk, how, reviewer(request), seen)

    return _edited(request, loaded, change)


@require_POST
def preview(request: Request, public_id: str) -> HttpResponse:
    """Previews the typed text as a diff and rendered, with its findings. Nothing is saved."""
    loaded = load(request, proposal_of(public_id))
    asked_for = named(request, loaded, keeps=False)
    if isinstance(asked_for, str):
        return refuse(request, loaded, asked_for)
    hunk, typed = whole(request, asked_for), request.POST.get("text", "")[:MOST_TYPED]
    found = texts.typed(loaded, hunk, review.preview_edit(loaded.proposal, hunk, typed))
    template = "dreams/review_preview.html" if not wants_fragment(request) else "dreams/_review_preview.html"
    return fragment(request, template, loaded, {"hunk": hunk, "typed": found, "seen": asked_for[0].seen})


@require_POST
def confirm(request: Request, public_id: str) -> HttpResponse:
    """Confirms blocking findings that a person ticked: the change is wanted anyway."""
    proposal = proposal_of(public_id)
    wanted = set(request.POST.getlist("finding"))
    if not wanted:
        return refuse(request, load(request, proposal), "Nothing was ticked, so nothing is confirmed.")
    found = list(proposal.findings.filter(key__in=wanted).select_related("hunk"))
    if {finding.key for finding in found} != wanted:
        return refuse(
            request, load(request, proposal), "That finding no longer exists; look at the change again."
        )
    try:
        review.confirm(proposal, found, reviewer(request))
    except ReviewRefused as refused:
        return refuse(request, load(request, proposal), str(refused))
    loaded = load(request, proposal)
    about = {one.key: one for f in found if f.hunk_id and (one := loaded.decision_of.get(f.hunk_id))}
    file = next((finding.file_id for finding in found if finding.hunk_id is None), None)
    return answer(request, loaded, list(about.values()), file=file)


@require_POST
def viewed(request: Request, public_id: str) -> HttpResponse:
    loaded = load(request, proposal_of(public_id))
    file = file_of(request, loaded)
    for part in loaded.parts_of(file):
        review.mark_viewed(part, viewed=request.POST.get("viewed") == "1")
    if wants_fragment(request):
        return changed_file(request, loaded, file)
    return SeeOther(back_to(request, loaded.proposal, f"file-{file.pk}"))


@require_POST
def secrets(request: Request, public_id: str) -> HttpResponse:
    """Shows this visit the secrets of a proposal, or masks them again; returns to its review or a conflict."""
    proposal = proposal_of(public_id)
    hidden_secrets.show_or_mask(request, proposal)
    file = number_or_none(request.POST.get("file"))
    if file and "conflict" in request.POST:
        return go(request, "conflict", public_id=proposal.public_id, file_pk=file)
    return SeeOther(back_to(request, proposal, f"file-{file}" if file else ""))
