"""Questions: list them, answer, postpone, undo an answer.

Every action is a POST that redirects to the question on its page. With htmx the same address answers with the card and
the parts of the page that its answer changes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files.text import plural
from dreams.models import Finding, Project, Proposal, Question
from dreams.services.inbox import waiting
from dreams.services.questions import answering, asking, shown_questions
from dreams.services.review import ReviewRefused
from dreams.web.access import actor, is_path_here, reviewer
from dreams.web.context import proposals_now, with_count
from dreams.web.htmx import Request, SeeOther, page, rendered, wants_fragment
from dreams.web.pages import (
    inbox as inbox_pages,
    project as project_pages,
    questions as pages,
    review as review_pages,
)
from dreams.web.pages.question_card import card as card_of
from dreams.web.views import review as desk

CARD = "dreams/_question.html"
#: Of a list of questions that is a page of its own.
_ALONE = {"title": "Open", "first_is_now": True}


@require_safe
def questions(request: Request) -> HttpResponse:
    """The open questions of all projects."""
    found = pages.across()
    context = {**_ALONE, "questions": found, "across": True, "next": request.get_full_path()}
    return page(request, "dreams/questions.html", "dreams/_questions.html", context)


@require_safe
def of_project(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context = {
        **_ALONE,
        "project": project,
        "project_pk": pk,
        "head": project_pages.counts(project),
        "questions": pages.of_project(project),
        "next": request.get_full_path(),
    }
    return page(request, "dreams/project_questions.html", "dreams/_questions.html", context)


@require_safe
def question(request: Request, public_id: str) -> HttpResponse:
    """One question: its page, or its card for another page."""
    found = _find(public_id)
    here, card = _here(request), card_of(found)
    context = {
        **here,
        "card": card,
        "next": here["next"] or request.get_full_path(),
        "is_now": True,
        "ticked": [row["path"] for row in card.rows]
        if request.GET.get("tick") == "all"
        else request.GET.getlist("row"),
    }
    return page(request, "dreams/question.html", CARD, context)


@require_POST
def answer(request: Request, public_id: str) -> HttpResponse:
    """Answers with an option. Findings are shown first and need a second, explicit confirmation."""
    option = request.POST.get("option", "")
    rows = request.POST.getlist("row")
    if _misses_rows(_find(public_id), option, rows):
        return _refuse(request, public_id, "Tick what to change first.")

    def choose(confirm: bool) -> None:
        answering.answer(_find(public_id), option, reviewer(request), rows, confirm=confirm)

    try:
        return _chosen(request, public_id, choose)
    except ReviewRefused as refused:
        return _refuse(request, public_id, str(refused))


def _chosen(request: Request, public_id: str, choose: Callable[[bool], None]) -> HttpResponse:
    try:
        choose(False)
    except answering.NeedsConfirmation as asked:
        if not {finding.key for finding in asked.findings} <= set(request.POST.getlist("finding")):
            return _ask_to_confirm(request, public_id, asked.findings)
        choose(True)
    return _show(request, public_id)


def _misses_rows(found: Question, option: str, rows: Sequence[str]) -> bool:
    """Whether no row is ticked. The service would take that as all rows, which the person did not mean."""
    if found.kind != Question.Kind.INDEX or rows:
        return False
    return any(one.option_id == option and one.edits for one in found.options.all())


@require_POST
def take_back(request: Request, public_id: str) -> HttpResponse:
    """Undoes an answer that is not submitted yet."""
    try:
        answering.take_back(_find(public_id), reviewer(request))
    except ReviewRefused as refused:
        return _refuse(request, public_id, str(refused))
    return _show(request, public_id)


@require_POST
def more(request: Request, pk: int) -> HttpResponse:
    """Asks more of the questions that the last dream held back, and leads to the first of them."""
    project = get_object_or_404(Project, pk=pk)
    first = asking.unshown(project).values_list("public_id", flat=True).first()
    shown = asking.show_more(project)
    if shown:
        messages.success(request, f"{plural(shown, 'more question')}.")
    else:
        messages.info(request, "There are no more questions.")
    place = f"question-{first}" if shown else "questions"
    return SeeOther(f"{_next(request) or reverse('project-questions', args=[pk])}#{place}")


def _find(public_id: str) -> Question:
    rows = Question.objects.select_related("project", "dream", "operation__proposal")
    return get_object_or_404(rows.prefetch_related("options"), public_id=public_id)


def _next(request: Request) -> str:
    """The address of the question's page; empty if none was given."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    return wanted if is_path_here(wanted) else ""


def _here(request: Request) -> dict[str, Any]:
    """Of the page that shows the question: its address, its filter, and whether it has all projects."""
    address, given = _next(request), request.POST or request.GET
    return {
        "next": address,
        "back": urlsplit(address).query,
        "across": given.get("across") == "1",
        # Then its title is the page's second heading.
        "alone": _page_of(request)[0] == "question",
    }


def _show(request: Request, public_id: str, *, with_messages: bool = False) -> HttpResponse:
    """Answers with the current question."""
    if wants_fragment(request):
        return _fragment(request, public_id, with_messages=with_messages)
    return SeeOther(f"{_next(request) or reverse('question', args=[public_id])}#question-{public_id}")


def _refuse(request: Request, public_id: str, why: str) -> HttpResponse:
    messages.error(request, why)
    return _show(request, public_id, with_messages=True)


def _fragment(request: Request, public_id: str, *, with_messages: bool) -> HttpResponse:
    """The card, and the other parts of the page that depend on answers."""
    found = _find(public_id)
    context = {
        "card": card_of(found),
        **_here(request),
        "is_now": True,
        "with_messages": with_messages,
        "ticked": request.POST.getlist("row"),
        **_counted(request, found),
        **_inbox(request, found),
    }
    proposal = _review_of(request)
    if proposal is None:
        context |= {"waits": _waits(request, found.project), "tab": _tab(request, found.project)}
        response = rendered(request, "dreams/_question_answer.html", context)
        return with_count(response, *proposals_now(request.user))
    loaded = desk.load(request, proposal)
    context |= desk.around(request, loaded, set()) | {"head": review_pages.head(loaded)}
    return desk.fragment(request, "dreams/_question_answer.html", loaded, context | {"in_review": True})


def _inbox(request: Request, found: Question) -> dict[str, object]:
    """What the inbox shows of questions and of this project, and its counts; empty on other pages. A new item has no place
    there."""
    # A review sends what it shows by the same name.
    if "shown" not in request.POST or _page_of(request)[0] == "review":
        return {}
    shown = request.POST["shown"].split()
    listed = inbox_pages.listing(timezone.now(), inbox_pages.InboxQuery(), actor(request))
    items = [one for group in listed.groups for one in group.items if one.key in shown]
    return {
        "inbox_list": listed,
        "still_shown": len(items) if "narrowed" in request.POST else None,
        "items": [
            one for one in items if one.key == waiting.QUESTIONS_KEY or one.project_pk == found.project_id
        ],
        "none_left": waiting.QUESTIONS_KEY in {*shown}.difference(listed.keys),
    }


def _counted(request: Request, found: Question) -> dict[str, object]:
    """The number of open questions on the page, also in words."""
    proposal = _review_of(request)
    if proposal is None and request.POST.get("across") == "1":
        across = shown_questions.open_questions(0)
        return {"count": across.count, "words": pages.words(across.count, across.projects)}
    rows = (
        shown_questions.of_project(found.project)
        if proposal is None
        else shown_questions.of_proposal(proposal)
    )
    count = sum(row.state == Question.State.OPEN for row in rows)
    if not count and proposal is not None:
        return {"count": 0, "words": pages.NONE_HERE}
    shows_more = proposal is None or proposal.state == Proposal.State.OPEN
    unshown = asking.unshown(found.project).count() if shows_more else 0
    return {"count": count, "words": pages.words(count, unshown=unshown)}


def _waits(request: Request, project: Project) -> Iterable[Proposal] | None:
    """The proposals with answers that wait for a submit, in the inbox only those of `project`, whose row may be missing; None
    for pages that do not show them."""
    if "shown" in request.POST:
        return pages.waits(project)
    name, _ = _page_of(request)
    if name not in ("questions", "project-questions"):
        return None
    return pages.waits(project if name == "project-questions" else None)


def _tab(request: Request, project: Project) -> int | None:
    """The count on the tab of the project's questions; None for pages without it."""
    is_there = _page_of(request)[0] == "project-questions"
    return project_pages.counts(project).questions if is_there else None


def _page_of(request: Request) -> tuple[str, dict[str, Any]]:
    """The name of the question's page, and what its address has."""
    try:
        match = resolve(urlsplit(_next(request)).path)
    except Resolver404:
        return "", {}
    return match.url_name or "", match.kwargs


def _review_of(request: Request) -> Proposal | None:
    """The review that shows the question; None on other pages."""
    name, given = _page_of(request)
    if name != "review":
        return None
    try:
        return desk.proposal_of(given["public_id"])
    except Http404:
        return None


def _ask_to_confirm(request: Request, public_id: str, found: Sequence[Finding]) -> HttpResponse:
    """Shows the findings on the answer, each with a box to tick. The answer is not saved yet."""
    card = card_of(_find(public_id))
    chosen = request.POST.get("option", "")
    context = {
        "card": card,
        "option": next((one for one in card.options if one.id == chosen), None),
        "rows": request.POST.getlist("row"),
        "findings": found,
        **_here(request),
    }
    return page(request, "dreams/question_confirm.html", "dreams/_question_confirm.html", context)
