"""Solves conflicts: three labelled texts at each place; the person takes one, both, or writes another."""

from typing import cast, get_args

from django.contrib import messages
from django.db.models import F
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from dreams.lib.diff.merge import Choice, Edited, Side
from dreams.lib.refusal import Refusal
from dreams.models import FileChange, Proposal
from dreams.services import proposals, review
from dreams.services.apply.writing import close_if_done
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from dreams.web import hidden_secrets
from dreams.web.access import reviewer
from dreams.web.htmx import Request, SeeOther, page
from dreams.web.pages import conflict as pages
from dreams.web.pages.review_proposal import address

SIDES = get_args(Side)


@require_http_methods(["GET", "HEAD", "POST"])
def conflict(request: Request, public_id: str, file_pk: int) -> HttpResponse:
    file = _file(public_id, file_pk)
    try:
        found = pages.conflict(file, is_bare=hidden_secrets.is_bare(request, file.proposal))
    except rebase.NoConflict as gone:
        return _solved_already(request, file, str(gone))
    if request.method != "POST":
        return render(request, "dreams/conflict.html", {"conflict": found})
    return _solve(request, file, found)


def _solve(request: Request, file: FileChange, found: pages.Conflict) -> HttpResponse:
    chosen = {n: request.POST.get(f"choice-{n}", "") for n in range(found.count)}
    typed = {n: request.POST.get(f"text-{n}", "") for n in range(found.count)}
    if request.POST.get("state") != found.state:
        return _again(request, file, "The file has changed again. Choose again.", chosen, typed, 409)
    if "look" in request.POST:
        return _look(request, file, chosen, typed)
    open_places = [n + 1 for n in chosen if n not in _made(request, chosen)]
    if open_places:
        places = ", ".join(map(str, open_places))
        too = " too" if len(open_places) < found.count else ""
        return _again(
            request, file, f"Choose at place {places}{too}; nothing is saved yet.", chosen, typed, 422
        )
    removes = _removes(file, chosen)
    try:
        rest = review.solve_conflict(file, _choices(chosen, typed), reviewer(request), remove=removes)
    except rebase.ConflictChanged as changed:
        return _again(request, file, str(changed), chosen, typed, 409)
    except rebase.NoConflict as gone:
        return _solved_already(request, file, str(gone))
    except Refusal as refused:
        return _again(request, file, str(refused), chosen, typed, 409)
    proposals.examine(file.proposal, syncing.contents(file.proposal.project))
    close_if_done(file.proposal)  # where what stays is what is on disk, nothing may be left to write
    told = f" What belongs to it in {', '.join(rest)} is rejected with it." if rest else ""
    stays = FileChange.objects.filter(pk=file.pk, new_sha=F("base_sha")).exists()
    outcome = "; it stays as it is on disk" if stays else ", and not written yet"
    messages.success(request, f"{file.path}: solved{outcome}.{told}")
    return _to_file(file)


def _look(request: Request, file: FileChange, chosen: dict[int, str], typed: dict[int, str]) -> HttpResponse:
    """Previews the choices so far; nothing is saved."""
    made = _made(request, chosen)
    is_bare = hidden_secrets.is_bare(request, file.proposal)
    found = pages.solution(file, _choices(made, typed), removes=_removes(file, made), is_bare=is_bare)
    context = {"conflict": pages.conflict(file, chosen, typed, is_bare=is_bare), "solution": found}
    return page(request, "dreams/conflict.html", "dreams/_conflict_solution.html", context)


def _made(request: Request, chosen: dict[int, str]) -> dict[int, str]:
    """The usable choices. A masked text is not sent by the form, so that place counts as open and keeps its lines."""
    return {
        n: choice
        for n, choice in chosen.items()
        if choice in SIDES or (choice == "edit" and f"text-{n}" in request.POST)
    }


def _choices(chosen: dict[int, str], typed: dict[int, str]) -> dict[int, Choice]:
    return {
        n: Edited(_ended(typed[n])) if choice == "edit" else cast(Side, choice)
        for n, choice in chosen.items()
    }


def _ended(typed: str) -> str:
    """The typed text with LF and a final line end: browsers send CRLF and none. The merge restores the file's line ends."""
    plain = typed.replace("\r\n", "\n")
    return plain if not plain or plain.endswith("\n") else plain + "\n"


def _removes(file: FileChange, chosen: dict[int, str]) -> bool:
    """Whether the file does not exist on a chosen side."""
    sides = rebase.sides_of(file)
    by_name = {"ours": sides.now, "theirs": sides.wanted, "base": sides.base}
    return any(choice in by_name and by_name[choice] is None for choice in chosen.values())


def _again(
    request: Request, file: FileChange, why: str, chosen: dict[int, str], typed: dict[int, str], status: int
) -> HttpResponse:
    messages.error(request, why)
    is_bare = hidden_secrets.is_bare(request, file.proposal)
    found = pages.conflict(file, chosen, typed, is_bare=is_bare)
    context = {"conflict": found, "asks_again": status == 422}
    return render(request, "dreams/conflict.html", context, status=status)


def _file(public_id: str, file_pk: int) -> FileChange:
    rows = FileChange.objects.select_related("proposal", "proposal__project", "proposal__dream")
    found = rows.filter(pk=file_pk, proposal__public_id=public_id).first()
    if found is None:
        raise Http404("no such file in this proposal")
    if found.proposal.state not in Proposal.UNFINISHED:
        raise Http404("the proposal is closed")
    return found


def _to_file(file: FileChange) -> HttpResponse:
    return SeeOther(_address(file))


def _address(file: FileChange) -> str:
    return address(file.proposal, file=file.pk, anchor=f"file-{file.pk}")


def _solved_already(request: Request, file: FileChange, why: str) -> HttpResponse:
    """Back to the file; a text that was typed for the conflict is shown, so that it can be copied."""
    numbers = [name.removeprefix("choice-") for name, value in request.POST.items() if value == "edit"]
    typed = [request.POST[f"text-{number}"] for number in numbers if request.POST.get(f"text-{number}")]
    if typed and "look" not in request.POST:
        context = {"file": file, "why": why, "typed": typed, "address": _address(file)}
        return render(request, "dreams/conflict_gone.html", context, status=409)
    messages.info(request, why)
    return _to_file(file)
