"""Search in memories, their versions and prompts: the page, and the list below the search field of every page. And the
recall tester: ask as you would ask your agent, and see what it would load.
"""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.prose import recall
from dreams.models import Project
from dreams.services.people import role_of
from dreams.services.search import finding, index, query
from dreams.web import access
from dreams.web.htmx import Request, go, page, wants_fragment
from dreams.web.page_cache import kept
from dreams.web.pages import recall as recall_pages, search as pages
from dreams.web.pages.projects import with_unique_names
from dreams.web.paging import chosen, number_or_none
from dreams.web.views.project import beside

MOST_TYPED = 2_000  # letters; chosen
# The element in the header with the first results while typing.
QUICK = "quick-found"


@require_safe
@kept
def search(request: Request) -> HttpResponse:
    """`?q=`, with the filters `?kind=`, `?project=`, `?since=`, and `?page=`."""
    wanted = query.parse(request.GET.get("q", ""))
    kinds = pages.kinds(of_sessions=access.allows(role_of(request.user), "session"))
    if wants_fragment(request) and request.htmx.target == QUICK:
        found = pages.found(wanted, finding.Filters(), kinds, few=pages.QUICK)
        return render(request, "dreams/_search_quick.html", {"query": wanted, "found": found})
    kind = chosen(request.GET.get("kind"), list(kinds))
    since = chosen(request.GET.get("since"), list(pages.SINCE))
    project = number_or_none(request.GET.get("project"))
    filters = finding.Filters(project, timezone.now() - pages.SINCE[since][1] if since else None)
    context = {
        "query": wanted,
        "found": pages.found(
            wanted, filters, {kind: kinds[kind]} if kind else kinds, request.GET.get("page")
        ),
        "kind": kind,
        "kinds": kinds,
        "since": since,
        "sinces": pages.SINCE,
        "project": project,
        "projects": with_unique_names(finding.projects()),
        "is_filtered": bool(kind or since or project),
    }
    return page(request, "dreams/search.html", "dreams/_search.html", context)


@require_POST
def rebuild(request: Request) -> HttpResponse:
    """Clears the index; the scheduler fills it again."""
    index.begin_again()
    messages.success(request, "The index is being rebuilt in the background.")
    return go(request, "search")


@require_safe
def tester(request: Request, pk: int) -> HttpResponse:
    return _answered(request, pk, request.GET, by_model=False)


@require_POST
def by_model(request: Request, pk: int) -> HttpResponse:
    """The same, with the configured model choosing. It costs money, so it is never used while typing."""
    return _answered(request, pk, request.POST, by_model=True)


def _answered(request: Request, pk: int, asked: QueryDict, *, by_model: bool) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    question = " ".join(asked.get("q", "").split())[: recall.QUESTION_CHARS]
    found = recall_pages.page(
        project,
        question,
        shown=asked.get("shown", "")[:MOST_TYPED],
        tools=asked.get("tools", "")[:MOST_TYPED],
        with_proposal=asked.get("after") == "1",
        by_model=by_model and bool(question),
    )
    return beside(request, project, "recall", found=found, question=question)
