"""Settings, for everywhere and for one project. One address per change."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST

from dreams import conf, notify, settings_service
from dreams.models import Channel, FeedToken, Policy, Project
from dreams.text import plural
from dreams.web.access import actor, owner
from dreams.web.htmx import Request, go
from dreams.web.pages import policies
from dreams.web.selectors import settings as selector


@owner
@require_http_methods(["GET", "HEAD", "POST"])
def everywhere(request: Request) -> HttpResponse:
    return _settings(request, None)


@owner
@require_http_methods(["GET", "HEAD", "POST"])
def of_project(request: Request, pk: int) -> HttpResponse:
    return _settings(request, get_object_or_404(Project, pk=pk))


@owner
@require_POST
def reset(request: Request, key: str, pk: int | None = None) -> HttpResponse:
    project = _project(pk)
    try:
        settings_service.reset_override(key, actor=actor(request), project=project)
    except KeyError as error:
        raise Http404(key) from error
    messages.success(request, f"{conf.specs()[key].label}: reset.")
    return _back(request, project)


@owner
@require_POST
def pause(request: Request) -> HttpResponse:
    settings_service.set_override("paused", True, actor=actor(request))
    messages.success(request, "Paused. No dream starts until you resume.")
    return _back(request, None)


@owner
@require_POST
def resume(request: Request) -> HttpResponse:
    settings_service.set_override("paused", False, actor=actor(request))
    messages.success(request, "Resumed.")
    return _back(request, None)


@owner
@require_POST
def send_digest(request: Request) -> HttpResponse:
    outcome = notify.send(actor=actor(request))
    if not outcome:
        messages.error(request, "Nothing was sent: no address is set. Save one first.")
    for name, problem in outcome.items():
        label = Channel.Name(name).label
        if problem:
            messages.error(request, f"{label}: {problem}")
        else:
            messages.success(request, f"{label}: sent.")
    return _back(request, None)


def _settings(request: Request, project: Project | None) -> HttpResponse:
    if request.method != "POST":
        return _page(request, project)
    typed, errors, changed = _save(request, project)
    if errors:
        return _page(request, project, typed, errors)
    messages.success(request, f"{plural(changed, 'setting')} changed." if changed else "Nothing changed.")
    return _back(request, project)


def _save(request: Request, project: Project | None) -> tuple[dict[str, str], dict[str, str], int]:
    """Take one group's form: what was typed, what is wrong with it, how many changed. With an error, none do."""
    present = conf.sourced(project)
    typed: dict[str, str] = {}
    errors: dict[str, str] = {}
    wanted: dict[str, conf.Value] = {}
    for key, spec in _fields(request.POST.get("group", ""), project).items():
        # An unticked box sends nothing.
        raw = request.POST.get(key, "off" if spec.kind is bool else None)
        if raw is None:
            continue
        typed[key] = raw
        try:
            value = conf.parse(key, raw)
        except conf.BadValue as error:
            # The label stands above it.
            errors[key] = str(error).removeprefix(f"{spec.label}: ")
            continue
        if value != present[key].value:
            wanted[key] = value
    if not errors:
        for key, value in wanted.items():
            settings_service.set_override(key, value, actor=actor(request), project=project)
    return typed, errors, len(wanted)


def _fields(group: str, project: Project | None) -> dict[str, conf.Spec]:
    return {
        key: spec
        for key, spec in conf.specs().items()
        if spec.group == group and key not in selector.APART and (project is None or spec.per_project)
    }


def _page(
    request: Request,
    project: Project | None,
    typed: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> HttpResponse:
    by_kind = policies.by_kind(project)
    context = {
        "project": project,
        "groups": selector.groups(project, typed, errors),
        "wrong": [(key, conf.specs()[key].label) for key in errors or ()],
        "policies": policies.by_type(project),
        "policies_by_kind": by_kind,
        "kinds_are_set": any(cell.action for row in by_kind for cell in row.cells),
        "policies_earned": policies.earned_rows() if project is None else [],
        "operations": Policy.Operation.labels,
        "actions": Policy.Action.choices,
        "removes_alone": policies.removes_without_asking(project),
        "channels": selector.channels() if project is None else [],
        "feed_token": FeedToken.objects.first() if project is None else None,
        "is_paused_here": conf.current().paused,
    }
    return render(request, "dreams/settings.html", context, status=422 if errors else 200)


def _project(pk: int | None) -> Project | None:
    return None if pk is None else get_object_or_404(Project, pk=pk)


def _back(request: Request, project: Project | None) -> HttpResponse:
    return go(request, "settings") if project is None else go(request, "project-settings", pk=project.pk)
