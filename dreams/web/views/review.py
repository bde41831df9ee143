"""The review desk: look at a proposal, decide on its parts, submit.

Every verb is a POST that leads back to the hunk it was about. With htmx the same address answers with the parts of
the page that changed. A verdict carries the state it was made on: on another one it is refused, and what stands
there now is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from dreams import apply as applying
from dreams import holds, memories, proposals, rebase, review, workspace
from dreams.models import FileChange, Hunk, Proposal
from dreams.review import Reviewer, ReviewRefused
from dreams.text import plural
from dreams.web import verdicts
from dreams.web.access import actor, owner
from dreams.web.htmx import Request, SeeOther, wants_fragment
from dreams.web.selectors import review as selector
from dreams.web.selectors.review import Loaded

LAYOUTS = ("auto", "unified", "split")
CHIPS = ("Wrong", "Outdated", "Already said elsewhere", "Not worth keeping", "Badly put")
A_YEAR = 60 * 60 * 24 * 365


@owner
@require_safe
def desk(request: Request, public_id: str) -> HttpResponse:
    proposal = _proposal(public_id)
    if proposal.public_id != public_id:
        return HttpResponseRedirect(selector.address(proposal))
    if request.GET.get("layout") in LAYOUTS:
        return _remember_layout(request)
    loaded = selector.load(proposal)
    asked = _asked(request.GET)
    if asked.file is not None and asked.file not in {file.pk for file in loaded.files}:
        raise Http404("no such file in this proposal")
    if wants_fragment(request) and asked.file is not None:
        [card] = selector.some_cards(loaded, {asked.file}, asked.view)
        return _fragment(request, "dreams/_review_file.html", loaded, {"file": card})
    return _page(request, loaded, asked)


@owner
@require_POST
def decide(request: Request, public_id: str) -> HttpResponse:
    """Approve, reject or take back: a hunk with its operation, a file, what has no findings, or all."""
    loaded = selector.load(_proposal(public_id))
    hunks = _hunks(request, loaded)
    stale = _stale(request, loaded, hunks)
    if stale:
        return _refuse(request, loaded, stale, hunks)
    verdict = request.POST.get("verdict", "")
    if verdict not in (Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED, Hunk.Verdict.PENDING):
        raise Http404("no such verdict")
    reason = request.POST.get("reason", "").strip()
    before = verdicts.remember(hunks, loaded)
    try:
        decided = review.decide(
            loaded.proposal, hunks, Hunk.Verdict(verdict), _reviewer(request), reason=reason
        )
    except ReviewRefused as refused:
        return _refuse(request, loaded, str(refused), hunks)
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict(verdict), decided))
    return _answer(request, loaded.proposal, decided)


@owner
@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undo the last verdict of this visit; again for the one before."""
    proposal = _proposal(public_id)
    try:
        touched = verdicts.pop(request, proposal, _reviewer(request))
    except ReviewRefused as refused:
        return _refuse(request, selector.load(proposal), str(refused), [])
    return _answer(request, proposal, touched)


@owner
@require_POST
def edit(request: Request, public_id: str) -> HttpResponse:
    loaded = selector.load(_proposal(public_id))
    hunks = _hunks(request, loaded)
    stale = _stale(request, loaded, hunks)
    if stale:
        return _refuse(request, loaded, stale, hunks)
    before = verdicts.remember(hunks, loaded)
    try:
        decided = review.edit(loaded.proposal, hunks[0], request.POST.get("text", ""), _reviewer(request))
    except ReviewRefused as refused:
        return _refuse(request, loaded, str(refused), hunks)
    verdicts.push(request, loaded.proposal, before, verdicts.sentence(Hunk.Verdict.EDITED, decided))
    return _answer(request, loaded.proposal, decided)


@owner
@require_POST
def confirm(request: Request, public_id: str) -> HttpResponse:
    """A person saw a finding that blocks and wants the change all the same."""
    proposal = _proposal(public_id)
    finding = proposal.findings.filter(key=request.POST.get("finding", "")).select_related("hunk").first()
    if finding is None:
        return _refuse(
            request, selector.load(proposal), "That finding is gone; look at the change again.", []
        )
    try:
        review.confirm(proposal, [finding], _reviewer(request))
    except ReviewRefused as refused:
        return _refuse(request, selector.load(proposal), str(refused), [])
    return _answer(request, proposal, [finding.hunk] if finding.hunk else [], finding.file_id)


@owner
@require_POST
def viewed(request: Request, public_id: str) -> HttpResponse:
    loaded = selector.load(_proposal(public_id))
    file = _file(request, loaded)
    review.mark_viewed(file, viewed=request.POST.get("viewed") == "1")
    if wants_fragment(request):
        loaded = selector.load(loaded.proposal)
        [card] = selector.some_cards(loaded, {file.pk})
        return _fragment(
            request,
            "dreams/_review_answer.html",
            loaded,
            {"whole": [card], **_around(request, loaded, {file.pk})},
        )
    return SeeOther(_back(request, loaded.proposal, f"file-{file.pk}"))


@owner
@require_POST
def bring_up(request: Request, public_id: str) -> HttpResponse:
    """Bring files that changed on disk onto their new state, or confirm one whose new result was looked at."""
    loaded = selector.load(_proposal(public_id))
    if "confirm" in request.POST:
        file = _file(request, loaded)
        if file.base_sha == request.POST.get("base"):
            FileChange.objects.filter(pk=file.pk).update(rebase_confirmed=True)
        else:
            messages.warning(request, f"{file.path} changed again; look at the new result.")
        return SeeOther(_back(request, loaded.proposal, f"file-{file.pk}"))
    memories.refresh(loaded.proposal.project)
    now = workspace.take(memories.memory_dir(loaded.proposal.project)).contents()
    left = [file for file in loaded.files if not _is_done(loaded, file)]
    outcomes = {file: rebase.rebase(file, now.get(file.path)) for file in left}
    proposals.examine(loaded.proposal, memories.contents(loaded.proposal.project))
    _tell_moved(request, loaded, outcomes)
    return SeeOther(_back(request, loaded.proposal, ""))


def _tell_moved(request: Request, loaded: Loaded, outcomes: Mapping[FileChange, rebase.Outcome]) -> None:
    moved = [file for file, outcome in outcomes.items() if outcome in ("rebased", "already-there")]
    if moved:
        how_many = plural(len(moved), "file")
        messages.success(request, f"{how_many} brought onto what is on disk now. Look at the new result.")
    for file, outcome in outcomes.items():
        if outcome == "conflict":
            messages.warning(request, f"{file.path} was changed in the same place on disk. Solve it below.")
        gone = len(loaded.hunks[file.pk]) - file.hunks.count()
        if gone > 0:
            messages.warning(
                request,
                f"{file.path}: {plural(gone, 'change')} no longer fit what is there and left the proposal.",
            )


@owner
@require_POST
def submit(request: Request, public_id: str) -> HttpResponse:
    """Close the review and write what is approved."""
    loaded = selector.load(_proposal(public_id))
    if request.POST.get("bases") != loaded.digest:
        return _refuse(request, loaded, "The proposal changed since you opened it. Look at it again.", [])
    if request.POST.get("rest"):
        hunks = loaded.without_findings(loaded.all_hunks)
        review.decide(loaded.proposal, hunks, Hunk.Verdict.APPROVED, _reviewer(request))
    elif not selector.bar(loaded).decided:
        return _refuse(request, loaded, "Nothing is decided yet. Approve or reject a change first.", [])
    return _write(request, loaded.proposal, rebased=False)


@owner
@require_POST
def apply(request: Request, public_id: str) -> HttpResponse:
    """Write what a submitted review still has to write; `rebased` confirms the results shown."""
    loaded = selector.load(_proposal(public_id))
    if request.POST.get("bases") != loaded.digest:
        return _refuse(request, loaded, "The proposal changed since you opened it. Look at it again.", [])
    return _write(request, loaded.proposal, rebased=request.POST.get("rebased") == "1")


def _write(request: Request, proposal: Proposal, *, rebased: bool) -> HttpResponse:
    try:
        report = applying.apply(proposal, _reviewer(request), rebased=rebased)
    except (ReviewRefused, holds.ProjectBusy) as refused:
        messages.error(request, str(refused))
        return SeeOther(selector.address(proposal))
    tell(request, report)
    return SeeOther(selector.address(proposal))


def tell(request: Request, report: applying.ApplyReport) -> None:
    """What was written, what waits and why, what stayed untouched."""
    if report.error:
        messages.error(request, f"Nothing was written: {report.error}")
    for waiting in (*report.conflicts, *report.rebased):
        messages.warning(
            request, f"{waiting.path} was not written: {waiting.why.removeprefix('conflict: ')}."
        )
    if report.applied:
        written = plural(len(report.applied), "file")
        rest = (
            f" {plural(len(report.untouched), 'file')} of the proposal stayed untouched."
            if report.untouched
            else ""
        )
        messages.success(request, f"Written: {written}.{rest}")
    elif report.complete and not report.said:
        messages.success(request, "Submitted. Nothing was approved, so nothing was written.")
    for said in report.said:
        messages.info(request, said)


def _page(request: Request, loaded: Loaded, asked: selector.Asked, status: int = 200) -> HttpResponse:
    context = {"desk": selector.desk(loaded, asked), "asked": asked, **_common(request, loaded)}
    response = render(request, "dreams/review.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _fragment(
    request: Request, template: str, loaded: Loaded, context: dict[str, object], status: int = 200
) -> HttpResponse:
    response = render(request, template, {**_common(request, loaded), **context}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _common(request: Request, loaded: Loaded) -> dict[str, object]:
    layout = request.COOKIES.get(_layout_cookie(), "auto")
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


def _around(request: Request, loaded: Loaded, files: set[int]) -> dict[str, object]:
    """The parts beside the cards that a verdict on `files` changes."""
    asked = _asked(QueryDict(request.POST.get("back", "")))
    entries = selector.entries(loaded, asked.show)
    return {
        "asked": asked,
        # Under a filter files come and go, so the list is sent whole.
        "entries": entries if asked.show else [entry for entry in entries if entry.pk in files],
        "bar": selector.bar(loaded),
        "loads": selector.loads(loaded),
    }


def _answer(
    request: Request, proposal: Proposal, touched: Sequence[Hunk], file: int | None = None
) -> HttpResponse:
    """Back to the first hunk touched; with htmx, every card on the page that changed and what stands around."""
    anchor = f"hunk-{_main(request, touched)}" if touched else f"file-{file}" if file else ""
    if not wants_fragment(request):
        return SeeOther(_back(request, proposal, anchor))
    loaded = selector.load(_proposal(proposal.public_id))
    shown = {int(pk) for pk in request.POST.get("shown", "").split(",") if pk.isdecimal()}
    changed = {hunk.pk for hunk in touched} & shown
    files = {hunk.file_id for hunk in loaded.all_hunks if hunk.pk in changed} | ({file} if file else set())
    cards = selector.some_cards(loaded, files)
    return _fragment(
        request,
        "dreams/_review_answer.html",
        loaded,
        {
            "cards": cards,
            "changed": changed,
            **_around(request, loaded, {h.file_id for h in touched} | files),
        },
    )


def _refuse(request: Request, loaded: Loaded, why: str, hunks: Sequence[Hunk]) -> HttpResponse:
    """409 with the page as it is now; with htmx the file as it is now, and why, above it."""
    messages.error(request, why)
    loaded = selector.load(_proposal(loaded.proposal.public_id))
    if wants_fragment(request):
        files = {hunk.file_id for hunk in hunks[:1]}
        cards = selector.some_cards(loaded, files)
        context = {"whole": cards, "with_messages": True, **_around(request, loaded, files)}
        return _fragment(request, "dreams/_review_answer.html", loaded, context, status=422)
    return _page(request, loaded, _asked(QueryDict(request.POST.get("back", ""))), status=409)


def _hunks(request: Request, loaded: Loaded) -> list[Hunk]:
    """What the form is about: `hunk`, `file`, or a `scope` of rest or all."""
    scope = request.POST.get("scope", "")
    if scope == "all":
        found = loaded.all_hunks
    elif scope == "rest":
        found = loaded.without_findings(loaded.all_hunks)
    elif scope == "file":
        found = loaded.hunks[_file(request, loaded).pk]
        if request.POST.get("verdict") == Hunk.Verdict.APPROVED:
            found = loaded.without_findings(found)
    else:
        wanted = set(request.POST.getlist("hunk"))
        found = [hunk for hunk in loaded.all_hunks if str(hunk.pk) in wanted]
        if not found:
            raise Http404("no such hunk in this proposal")
    return found


def _stale(request: Request, loaded: Loaded, hunks: Sequence[Hunk]) -> str:
    """Why the verdict cannot be taken as it was meant; empty when it can."""
    if request.POST.get("scope") in ("rest", "all"):
        same = request.POST.get("bases") == loaded.digest
    else:
        same = all(hunk.file.base_sha == request.POST.get("base", "") for hunk in hunks)
    return (
        ""
        if same
        else "This changed since you opened the page, so your verdict was not taken. Look at it again."
    )


def _file(request: Request, loaded: Loaded) -> FileChange:
    wanted = request.POST.get("file", "")
    found = next((file for file in loaded.files if str(file.pk) == wanted), None)
    if found is None:
        raise Http404("no such file in this proposal")
    return found


def _is_done(loaded: Loaded, file: FileChange) -> bool:
    """Nothing of it is left to write."""
    return not loaded.is_open and not any(
        h.is_taken and h.applied_in_id is None for h in loaded.hunks[file.pk]
    )


def _main(request: Request, touched: Sequence[Hunk]) -> int:
    """The hunk a person acted on, among those that were decided with it."""
    pks = [hunk.pk for hunk in touched]
    wanted = request.POST.get("hunk", "")
    return int(wanted) if wanted.isdecimal() and int(wanted) in pks else pks[0]


def _asked(query: QueryDict) -> selector.Asked:
    file = query.get("file", "")
    show = query.get("show", "")
    return selector.Asked(
        file=int(file) if file.isdecimal() and len(file) < 16 else None,
        show=show if show in selector.FILTERS else "",
        view=query.get("view", ""),
    )


def _back(request: Request, proposal: Proposal, anchor: str) -> str:
    asked = _asked(QueryDict(request.POST.get("back", "")))
    return selector.address(proposal, anchor=anchor, file=asked.file, show=asked.show, view=asked.view)


def _remember_layout(request: Request) -> HttpResponse:
    """A plain link sets it; the cookie keeps it for all reviews."""
    query = request.GET.copy()
    [layout] = query.pop("layout")[-1:]
    response = HttpResponseRedirect(f"{request.path}?{query.urlencode()}" if query else request.path)
    response.set_cookie(_layout_cookie(), layout, max_age=A_YEAR, samesite="Strict", httponly=True)
    return response


def _layout_cookie() -> str:
    # By port: other servers on this machine share the host's cookies.
    return f"layout_{settings.PORT}"


def _reviewer(request: Request) -> Reviewer:
    return Reviewer(actor(request))


def _proposal(public_id: str) -> Proposal:
    found = selector.find(public_id)
    if found is None:
        raise Http404("no such proposal")
    return found
