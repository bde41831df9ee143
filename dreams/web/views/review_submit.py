"""The actions of a review that write: bring up to date, submit, write again."""

from collections.abc import Callable, Mapping
from functools import partial, wraps

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import FileChange, Finding, Hunk, Proposal
from dreams.services import host_requests, review, work_under_way
from dreams.services.apply import applying
from dreams.services.host_requests import Deed, NewRequest
from dreams.services.proposals import rebase
from dreams.services.review import BlockingFinding, ReviewRefused
from dreams.web.access import reviewer
from dreams.web.htmx import Request, SeeOther
from dreams.web.pages.inbox import next_after
from dreams.web.pages.review_proposal import LoadedProposal, address, load
from dreams.web.views.host_requests import asked
from dreams.web.views.review import back_to, file_of, proposal_of, refuse


@require_POST
def bring_up_to_date(request: Request, public_id: str) -> HttpResponse:
    """Rebases files that changed on disk, or confirms the new result of one."""
    loaded = load(proposal_of(public_id))
    host_requests.refuse_unless_accepted(loaded.proposal.project)
    if "confirm" in request.POST:
        file = file_of(request, loaded)
        if not review.confirm_rebase(file, request.POST.get("base", ""), reviewer(request)):
            messages.warning(request, f"{file.path} changed again; check the new result.")
        return SeeOther(back_to(request, loaded.proposal, f"file-{file.pk}"))
    back = SeeOther(back_to(request, loaded.proposal, ""))
    new_request = NewRequest(Deed.BRING_UP, loaded.proposal.project, proposal=loaded.proposal)
    if waits := asked(request, loaded.proposal.project, lambda: new_request, back):
        return waits
    try:
        outcomes = applying.bring_up_to_date(loaded.proposal)
    except ReviewRefused as refused:
        messages.error(request, str(refused))
        return back
    _tell_moved(request, loaded, outcomes)
    return back


def _tell_moved(
    request: Request, loaded: LoadedProposal, outcomes: Mapping[FileChange, rebase.Outcome]
) -> None:
    moved = [file for file, outcome in outcomes.items() if outcome in ("rebased", "already-there")]
    if moved:
        how_many = plural(len(moved), "file")
        messages.success(request, f"{how_many} updated to what is on disk now. Check the new result.")
    for file, outcome in outcomes.items():
        if outcome == "unread":
            messages.warning(
                request, f"{file.path} cannot be read now, so its changes were left as they are."
            )
        gone = len(loaded.hunks[file.pk]) - file.hunks.count()
        if gone > 0:
            messages.warning(
                request,
                f"{file.path}: removed {plural(gone, 'change')} that {'fits' if gone == 1 else 'fit'} the file no longer.",
            )


_Verb = Callable[[Request, Proposal], HttpResponse]


def stoppable(
    said: str, back: Callable[[Request, Proposal], HttpResponse]
) -> Callable[[_Verb], Callable[..., HttpResponse]]:
    """Publishes the progress of the whole request, so that a Stop in its first seconds counts, too. After a Stop, `back`
    answers with `said`."""

    def decorate(view: _Verb) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answer(request: Request, public_id: str) -> HttpResponse:
            proposal = proposal_of(public_id)
            try:
                with work_under_way.publishing(proposal.public_id):
                    return view(request, proposal)
            except work_under_way.Stopped:
                messages.info(request, f"Stopped. {said}")
                return back(request, proposal)

        return answer

    return decorate


_of_a_review = stoppable(
    "Your decisions are kept; see below for what was written.",
    lambda _, proposal: SeeOther(address(proposal)),
)


@require_POST
@_of_a_review
def submit(request: Request, proposal: Proposal) -> HttpResponse:
    """Closes the review and writes the approved changes, with the waiting answers of the same project."""
    loaded = load(proposal)
    host_requests.refuse_unless_accepted(loaded.proposal.project)
    moved = loaded.moved_since(request.POST.get("bases"), request.POST.get("answers"))
    if moved:
        return refuse(request, loaded, moved)
    if request.POST.get("rest"):
        hunks = [hunk for one in loaded.free(loaded.decisions) for hunk in one.hunks]
        review.decide(loaded.proposal, hunks, Hunk.Verdict.APPROVED, reviewer(request))
    elif loaded.is_undecided:
        return refuse(request, loaded, "Nothing is decided yet. Approve or reject a change first.")
    return _write(request, loaded.proposal, rebased=False)


@require_POST
@_of_a_review
def apply(request: Request, proposal: Proposal) -> HttpResponse:
    """Writes the rest of a submitted review; `rebased` confirms the shown results."""
    loaded = load(proposal)
    host_requests.refuse_unless_accepted(loaded.proposal.project)
    # The verdicts of a submitted review no longer change, but its files may.
    moved = loaded.moved_since(request.POST.get("bases"), loaded.answers)
    if moved:
        return refuse(request, loaded, moved)
    return _write(request, loaded.proposal, rebased=request.POST.get("rebased") == "1")


@require_POST
@_of_a_review
def second(request: Request, proposal: Proposal) -> HttpResponse:
    """Approves or rejects what was shown as the second person; approved changes are written."""
    seen, agrees = request.POST.get("seen", ""), request.POST.get("verdict") == "approve"
    if agrees:
        host_requests.refuse_unless_accepted(proposal.project)
    try:
        (review.approve_as_second if agrees else review.reject_as_second)(proposal, seen, reviewer(request))
    except ReviewRefused as refused:
        messages.error(request, str(refused))
        return SeeOther(address(proposal))
    if agrees:
        return _write(request, proposal, rebased=False)
    messages.success(request, "Rejected. Nothing was written.")
    return SeeOther(address(proposal))


def _write(request: Request, proposal: Proposal, *, rebased: bool) -> HttpResponse:
    """Writes, and redirects to what prevents it, or to the next waiting item if requested."""
    new_request = partial(host_requests.to_apply, proposal, rebased=rebased)
    try:
        if waits := asked(request, proposal.project, new_request, SeeOther(address(proposal))):
            return waits
        report = applying.apply_with_answers(proposal, reviewer(request), rebased=rebased)
    except BlockingFinding as found:
        messages.error(request, str(found))
        return SeeOther(_to_finding(proposal, found.finding))
    except Refusal as refused:
        messages.error(request, str(refused))
        return SeeOther(address(proposal))
    if rebased and report.rebased:
        paths = ", ".join(waiting.path for waiting in report.rebased)
        messages.warning(request, f"{paths} changed again. Check the new result, then confirm it.")
    goes_on = report.complete and request.POST.get("then") == "next"
    following = next_after(timezone.now(), reviewer(request).name, proposal.public_id) if goes_on else None
    _tell(request, report, proposal if following else None)
    if following:
        return SeeOther(following.url)
    # The one that is not completely written: the proposal, or the answers that belong to it.
    left = proposal if report.complete else Proposal.objects.get(public_id=report.proposal)
    return SeeOther(_to_trouble(left) if report.conflicts else address(left))


def _to_finding(proposal: Proposal, finding: Finding) -> str:
    """The address of the finding's change, else of its file, else of the page."""
    if finding.hunk is not None:
        hunk, file = finding.hunk.pk, finding.hunk.file_id
        return address(proposal, file=file, hunk=hunk, anchor=f"hunk-{hunk}")
    anchor = f"file-{finding.file_id}" if finding.file_id else ""
    return address(proposal, file=finding.file_id, anchor=anchor)


def _to_trouble(proposal: Proposal) -> str:
    """The first conflict to solve; if there is none, the review with the reasons."""
    file = proposal.files.filter(conflict__isnull=False).first()
    return reverse("conflict", args=[proposal.public_id, file.pk]) if file else address(proposal)


def _tell(request: Request, report: applying.ApplyReport, left: Proposal | None = None) -> None:
    """Reports what was written, what was not touched, and what waits for a reason that the page does not show.

    `left` is the proposal if the person continues with another item: then it is named, with a link to undo.
    """
    if report.error:
        messages.error(request, report.refusal)
    if report.gone:
        messages.warning(request, report.gone)
    for waiting in report.conflicts:
        # The page itself shows conflicts with the current file, next to the link to solve them.
        if waiting.why.removeprefix("conflict: ") not in (applying.CHANGED_TOO, applying.GONE):
            messages.warning(
                request, f"{waiting.path} was not written: {waiting.why.removeprefix('conflict: ')}."
            )
    if report.applied and not report.already:
        written = plural(len(report.applied), "file")
        rest = (
            f" Left as {'it is' if len(report.untouched) == 1 else 'they are'}: {plural(len(report.untouched), 'file')}."
            if report.untouched
            else ""
        )
        said = f"Written: {written}.{rest}"
        messages.success(request, _with_links(left, said) if left else said)
    for said in report.said:
        messages.info(request, said)


def _with_links(proposal: Proposal, said: str) -> str:
    return format_html(
        '{}: {} <a href="{}">What your agent knows now</a> · <a href="{}">Undo</a>',
        proposal.project,
        said,
        address(proposal),
        reverse("undo", args=[proposal.public_id]),
    )


@require_safe
def under_way(request: Request, public_id: str) -> HttpResponse:
    """The progress of the writing or the undo of a proposal, in words; 204 if neither is running."""
    found = work_under_way.current(public_id)
    return HttpResponse(found.words, content_type="text/plain") if found else HttpResponse(status=204)


@require_POST
def stop(request: Request, public_id: str) -> HttpResponse:
    """Stops the running work at its next step. The request that started it reports the result."""
    work_under_way.stop(public_id)
    return HttpResponse(status=204)
