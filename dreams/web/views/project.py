"""The projects, and one project: gates, memories, sessions, timeline; dreaming now, and trust; its checkup, the
instruction files that its agent loads, its daily logs, and its prompts; its secrets: finding, redacting and purging
them.
"""

import re
from typing import Any

from django.contrib import messages
from django.db.models import F
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dreams import conf
from dreams.lib.files import flush, safefs
from dreams.lib.files.text import plural
from dreams.lib.refusal import Refusal
from dreams.models import Evidence, Project, Prompt
from dreams.services import forecast, project_lock, secret_purge, settings_changes, verifying
from dreams.services.discovery import prompt_history
from dreams.services.host_requests import Deed, NewRequest, to_purge
from dreams.services.memories import hand_edits, moved
from dreams.services.people import role_of
from dreams.services.review import Actor, ReviewRefused
from dreams.services.scheduling import scheduler
from dreams.web import access
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go, page, wants_fragment
from dreams.web.page_cache import kept
from dreams.web.pages import (
    checkup as checkup_pages,
    daily_logs as logs_pages,
    gates,
    instructions as instructions_pages,
    project as pages,
    projects as projects_pages,
    prompts as prompts_pages,
    questions,
    several_projects,
    statements,
    timeline,
)
from dreams.web.pages.index_size import size_of
from dreams.web.pages.projects import ProjectOrder
from dreams.web.paging import Filter, chosen, host_asked, number_or_none, search_text
from dreams.web.urls import LARGEST_KEY
from dreams.web.views.host_requests import asked

_PROMPT_KEY = re.compile(r"-?[0-9]{1,19}")


@require_safe
@kept
def projects(request: Request) -> HttpResponse:
    text = search_text(request.GET.get("q"))
    state = chosen(request.GET.get("state"), list(projects_pages.FILTERS))
    order = ProjectOrder(chosen(request.GET.get("sort"), ProjectOrder.values, ProjectOrder.URGENT))
    found = projects_pages.projects(text, state, request.GET.get("page"), host_asked(request), order)
    context = {"found": found, "q": text, "state": state, "order": order, "orders": ProjectOrder.choices}
    return page(request, "dreams/projects.html", "dreams/_projects.html", context)


SHOWS = ("memories", "sessions", "timeline")
LATELY = 8  # rows; chosen


@require_safe
@kept
def project(request: Request, pk: int) -> HttpResponse:
    found = next(iter(pages.row(pk)), None)
    if found is None:
        raise Http404
    show = chosen(request.GET.get("show"), SHOWS)
    head = pages.head(found)
    context = {"project": found, "head": head, "show": show, "kinds": timeline.FILTERS}
    context |= _part(request, found, head, show)
    return page(request, "dreams/project.html", "dreams/_project.html", context)


def _part(request: Request, found: Project, head: pages.Head, show: str) -> dict[str, Any]:
    """Only the data that the chosen tab needs."""
    text, number = search_text(request.GET.get("q")), request.GET.get("page")
    gone = request.GET.get("gone") == "1"
    if show == "memories":
        total = head.gone if gone else head.files
        memories = pages.memories(found, text, number, gone=gone, total=total)
        return {"memories": memories, "q": text, "gone": gone}
    if show == "sessions":
        total = head.gone_sessions if gone else head.sessions
        text = text if access.allows(role_of(request.user), "session") else ""
        sessions = pages.sessions(found, text, number, gone=gone, total=total)
        return {"sessions": sessions, "q": text, "gone": gone}
    if show == "timeline":
        kind = chosen(request.GET.get("kind"), list(timeline.FILTERS))
        wanted = Filter(kind, search_text(request.GET.get("who")))
        before = request.GET.get("before", "")
        return {
            "timeline": timeline.timeline(found, wanted, before),
            "wanted": wanted,
            "people": timeline.people(found),
        }
    return _overview(found, head)


def _overview(found: Project, head: pages.Head) -> dict[str, Any]:
    index_size, _ = size_of(found, head.config)
    return {
        "gates": gates.gates_of(found, timezone.now(), head.tally),
        "distilling": logs_pages.distilling(found, timezone.now()),
        "forecast": forecast.forecast(found, head.config) if head.may_cost else None,
        "index_size": index_size,
        "memories": pages.some_memories(found, head.files),
        "sessions": pages.some_sessions(found, head.sessions),
        "folders": pages.folders(found.pk),
        "files": pages.instruction_files(found),
        "timeline": timeline.timeline(found, size=LATELY),
        "on_disk": pages.exists_on_disk(found),
        "move": pages.move_choices(found, head.memories),
        "pictures": timeline.pictures(found, timezone.now()),
    }


@require_POST
def dream(request: Request, pk: int) -> HttpResponse:
    """Dreams now. Forcing needs a confirmation on the page, and is refused if a closed gate cannot be forced."""
    found = get_object_or_404(Project, pk=pk)
    engine = request.POST.get("engine", "")
    if engine and engine not in conf.engines():
        raise Http404(engine)
    forced, logs = (request.POST.get(name) == "1" for name in ("forced", "logs"))
    given = {"engine": engine, "forced": forced, "logs": logs}
    if waits := asked(request, found, lambda: NewRequest(Deed.DREAM, found, given)):
        return waits
    try:
        run = scheduler.dream_now(found, engine=engine, forced=forced, logs=logs, actor=actor(request))
    except (scheduler.GateClosed, project_lock.ProjectBusy) as refused:
        messages.error(request, str(refused))
        return go(request, "project", pk=pk)
    messages.success(request, "The dream was requested.")
    return go(request, "dream", public_id=run.public_id)


@require_POST
def copy_memories(request: Request, pk: int) -> HttpResponse:
    """Proposes the memories of this project to the one in `to`, and redirects to the review."""
    source = get_object_or_404(Project, pk=pk)
    target = get_object_or_404(Project, pk=number_or_none(request.POST.get("to")))
    try:
        made = moved.propose(source, target, Actor(actor(request)))
    except (safefs.SafeFsError, OSError, ReviewRefused, project_lock.ProjectElsewhere) as refused:
        messages.error(request, f"No proposal was made: {flush.in_words(refused)}")
        return go(request, "project", pk=target.pk)
    if made is None:
        messages.info(request, "All of its memories are already there.")
        return go(request, "project", pk=target.pk)
    messages.success(request, "Nothing is written yet. Approve what you want to keep, then submit.")
    return go(request, "review", public_id=made.public_id)


@require_POST
def set_trust(request: Request, pk: int) -> HttpResponse:
    found = get_object_or_404(Project, pk=pk)
    wanted = request.POST.get("trusted") == "1"
    if settings_changes.set_trusted(found, wanted, actor=actor(request)):
        messages.success(
            request,
            "Trusted. Its own settings apply from the next check."
            if wanted
            else "No longer trusted. Its own settings are ignored from the next check.",
        )
    return go(request, "project", pk=pk)


@require_POST
def set_aside(request: Request, pk: int) -> HttpResponse:
    """Sets the project's damaged history aside, so that the next change can be written."""
    try:
        name = verifying.set_aside(get_object_or_404(Project, pk=pk), Actor(actor(request)))
    except OSError as error:
        messages.error(
            request, f"The history could not be moved: {error}. Check the disk of the data directory."
        )
    else:
        said = f"Set aside as {name}, in the folder history of the data directory."
        messages.success(
            request, said if name else "No damage was found in the history, so it stays where it is."
        )
    return go(request, "project", pk=pk)


def beside(request: Request, project: Project, name: str, **context: object) -> HttpResponse:
    """Another page of the project, with its tabs; `name` is that of its templates."""
    everything = {"project": project, "head": pages.counts(project), **context}
    return page(request, f"dreams/{name}.html", f"dreams/_{name}.html", everything)


@require_safe
def checkup(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    context: dict[str, object] = {"project": project, "checkup": checkup_pages.page(project)}
    if wants_fragment(request):
        return render(request, "dreams/_checkup_brief.html", context)
    context["muted"] = questions.muted(project)
    # None: compared after the page is shown.
    context["statements"] = statements.page(project) if statements.is_quick(project) else None
    return render(request, "dreams/checkup.html", context)


MOST_TYPED = 1_000  # letters; chosen


@require_safe
def instructions(request: Request, pk: int) -> HttpResponse:
    """`?folder=`; `?text=` and `?line=` open one text at a line, for search results."""
    project = get_object_or_404(Project, pk=pk)
    folder = request.GET.get("folder", "").strip()[:MOST_TYPED]
    text, line = (number_or_none(request.GET.get(name)) for name in ("text", "line"))
    found = instructions_pages.page(project, folder, text, line)
    return beside(request, project, "instructions", found=found)


@require_safe
def several(request: Request) -> HttpResponse:
    """What memories of several projects say about the person."""
    return render(request, "dreams/several_projects.html", several_projects.page())


@require_safe
def prompts(request: Request, pk: int) -> HttpResponse:
    """`?session=` is listed first, `?hidden=1` lists hidden prompts, `?paste=` reads the long pastes of one prompt."""
    project = get_object_or_404(Project, pk=pk)
    found = prompts_pages.prompts(
        project,
        request.GET.get("page"),
        number_or_none(request.GET.get("session")),
        _prompt_key(request.GET.get("paste")),
        hidden=request.GET.get("hidden") == "1",
    )
    return beside(request, project, "prompts", prompts=found)


@require_safe
def prompt_of_session(request: Request, pk: int, line: int) -> HttpResponse:
    """Redirects to a prompt on its project's page, or to the transcript if that has it again since the citation."""
    rows = Prompt.objects.filter(session=pk, line_no=line).select_related("session", "history")
    prompt = rows.order_by(F("history").asc(nulls_last=True), "pk").first()
    if prompt is None:
        raise Http404("no such prompt")
    if not hasattr(prompt, "history"):
        return redirect(f"{reverse('session', args=[pk])}?line={line}#line-{line}")
    address = reverse("project-prompts", args=[prompt.session.project_id])
    return redirect(f"{address}?session={pk}#prompt-{prompt.pk}")


@require_POST
def hide_prompt(request: Request, pk: int) -> HttpResponse:
    """Hides a prompt; `show=1` in the form shows it again."""
    key = _prompt_key(request.POST.get("key"))
    prompt = get_object_or_404(Prompt, pk=key, session__project=pk)
    if request.POST.get("show") == "1":
        prompt_history.show(prompt)
    else:
        prompt_history.hide(prompt)
    back = f"?{request.GET.urlencode()}" if request.GET else ""
    return SeeOther(f"{reverse('project-prompts', args=[pk])}{back}")


def _prompt_key(value: str | None) -> int | None:
    """A prompt's key is a digest and may be negative."""
    key = int(value) if value and _PROMPT_KEY.fullmatch(value) else None
    return key if key is not None and abs(key) <= LARGEST_KEY else None


@require_safe
def daily_logs(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    found = logs_pages.page(project, request.GET.get("day", ""), request.GET.get("page"))
    return beside(request, project, "daily_logs", found=found)


@require_safe
def log_of_evidence(request: Request, pk: int) -> HttpResponse:
    """Redirects from a quote of a log to its line."""
    rows = Evidence.objects.select_related("hunk__file__proposal")
    return HttpResponseRedirect(logs_pages.place(get_object_or_404(rows, pk=pk, role="log")))


# --- Secrets


@require_safe
def secrets(request: Request, pk: int) -> HttpResponse:
    return _secrets_page(request, get_object_or_404(Project, pk=pk))


def _secrets_page(request: Request, project: Project, refused: str = "") -> HttpResponse:
    """`refused`: why nothing was purged; what was ticked and typed is kept."""
    leaks = secret_purge.find_secrets(project)
    context = {
        "project": project,
        "standing": [leak for leak in leaks.found if leak.stands],
        "kept": [leak for leak in leaks.found if not leak.stands],
        "all_looked_at": leaks.all_looked_at,
        "refused": refused,
        "ticked": request.POST.getlist("secret") if refused else None,
    }
    return render(request, "dreams/secrets.html", context, status=409 if refused else 200)


@require_POST
def redact(request: Request, pk: int) -> HttpResponse:
    """Proposes to remove every secret from the current memories; the review shows the changes."""
    project = get_object_or_404(Project, pk=pk)
    if waits := asked(request, project, lambda: NewRequest(Deed.REDACT, project)):
        return waits
    try:
        made = secret_purge.propose(project, Actor(actor(request)))
    except hand_edits.Stale as stale:
        messages.error(request, str(stale))
        return go(request, "project-secrets", pk=pk)
    if made is None:
        messages.info(request, "No memory contains a secret now.")
        return go(request, "project-secrets", pk=pk)
    return go(request, "review", public_id=made.public_id)


@require_POST
def purge(request: Request, pk: int) -> HttpResponse:
    project = get_object_or_404(Project, pk=pk)
    reason, wanted = request.POST.get("reason", "").strip(), request.POST.getlist("secret")
    if not wanted:
        return _secrets_page(request, project, "Nothing was purged: tick what to purge.")
    try:
        if waits := asked(request, project, lambda: to_purge(project, wanted, reason)):
            return waits
        done = secret_purge.purge(project, wanted, Actor(actor(request)), reason=reason)
    except Refusal as refused:
        return _secrets_page(request, project, str(refused))
    messages.success(
        request, f"Removed from {plural(done.texts, 'stored text')}. The audit log has a record of it."
    )
    for why in done.waits:
        messages.warning(
            request, f"It is not finished: {why.rstrip('.')}. memoryweb tries again within minutes."
        )
    return go(request, "project-secrets", pk=pk)
