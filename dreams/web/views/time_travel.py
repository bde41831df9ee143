"""A project's memory directory at any time: view it, compare two times, propose to restore one."""

import datetime as dt
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams.lib.files import safefs
from dreams.lib.refusal import Refusal
from dreams.models import Project
from dreams.services import host_requests
from dreams.services.memories import hand_edits, syncing, time_travel
from dreams.services.review import Actor
from dreams.web import hidden_secrets
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page
from dreams.web.pages import memory as memory_pages, time_travel as pages
from dreams.web.paging import chosen
from dreams.web.views.host_requests import asked
from dreams.web.views.project import beside

UNREADABLE = "That is not a date and time. This is the current directory."
MAX_PATH = 1_000  # letters; chosen


@require_safe
def at(request: Request, pk: int) -> HttpResponse:
    """`?when=` is a time, by default now. `?path=` shows the text of one file then."""
    project = get_object_or_404(Project, pk=pk)
    when = _moment(request, "when")
    path = request.GET.get("path", "")[:MAX_PATH]
    is_bare = partial(hidden_secrets.is_bare, request)
    return beside(
        request,
        project,
        "moment",
        directory=pages.directory(project, when, request.GET.get("page")),
        path=path,
        reading=pages.reading(project, when, path, is_bare) if path else None,
        view=chosen(request.GET.get("view"), ["source"], "rendered"),
        resolve=memory_pages.resolver(project) if path else None,
    )


@require_safe
def between(request: Request, pk: int) -> HttpResponse:
    """`?a=` and `?b=` are times, by default the last change and now. `?path=` shows one file's lines."""
    project = get_object_or_404(Project, pk=pk)
    new = _moment(request, "b")
    old, new = sorted((_moment(request, "a") if request.GET.get("a") else _before(project, new), new))
    only = request.GET.get("path", "")[:MAX_PATH]
    found = pages.between(
        project, time_travel.states_at(project, old), time_travel.states_at(project, new), only
    )
    context = {
        "project": project,
        "earlier": old,
        "later": new,
        "earlier_iso": pages.iso(old),
        "later_iso": pages.iso(new),
        "found": found,
        "path": only,
        "first_look": time_travel.first_check(project),
    }
    return page(request, "dreams/moments_between.html", "dreams/_moments_between.html", context)


def _before(project: Project, when: dt.datetime) -> dt.datetime:
    """Just before the second of the last change, as the page's form has whole seconds: the page first shows that change."""
    last = time_travel.last_change(project, when) or when
    return last.replace(microsecond=0) - dt.timedelta(microseconds=1)


@require_safe
def restore(request: Request, pk: int) -> HttpResponse:
    """Previews restoring the state at `?when=`, of `?path=` or of the full directory. Nothing is written."""
    project = get_object_or_404(Project, pk=pk)
    when = _moment(request, "when")
    return _restore_page(request, project, when, request.GET.get("path", "")[:MAX_PATH])


def _restore_page(
    request: Request, project: Project, when: dt.datetime, path: str, refused: str = ""
) -> HttpResponse:
    """`refused`: why no proposal was made; the typed reason is kept."""
    found = pages.between(
        project, time_travel.states_now(project), time_travel.states_at(project, when), path
    )
    context = {
        "project": project,
        "when": when,
        "when_iso": pages.iso(when),
        "path": path,
        "found": found,
        "first_look": time_travel.first_check(project),
        "refused": f"No proposal was made: {refused}" if refused else "",
    }
    status = 409 if refused else 200
    return page(request, "dreams/moment_restore.html", "dreams/_moment_restore.html", context, status)


@require_POST
def propose(request: Request, pk: int) -> HttpResponse:
    """Makes it a proposal and redirects to its review."""
    project = get_object_or_404(Project, pk=pk)
    when = time_travel.moment_of(request.POST.get("when", ""))
    if when is None:
        raise Http404("no such moment")
    path = request.POST.get("path", "")[:MAX_PATH]
    reason = request.POST.get("reason", "").strip()
    paths = [path] if path else []
    new_request = partial(host_requests.to_propose_moment, project, when, paths, reason)
    try:
        if waits := asked(request, project, new_request):
            return waits
        made = hand_edits.propose_moment(project, when, Actor(actor(request)), paths, reason=reason)
    except Refusal as refused:
        return _restore_page(request, project, when, path, str(refused))
    except (safefs.SafeFsError, OSError) as error:
        unread = f"{syncing.memory_dir(project)} cannot be read ({error})."
        return _restore_page(request, project, when, path, unread)
    if made is None:
        messages.info(request, "Nothing differs from the current files.")
        return SeeOther(f"{reverse('project-at', args=[pk])}?when={pages.iso(when)}")
    messages.success(request, "Nothing is written yet. Approve what you want back, then submit.")
    return go(request, "review", public_id=made.public_id)


def _moment(request: Request, name: str) -> dt.datetime:
    typed = request.GET.get(name, "")
    found = time_travel.moment_of(typed) if typed else None
    if typed and found is None:
        messages.warning(request, UNREADABLE)
    return found or timezone.now()
