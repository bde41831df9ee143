"""Settings and policies, for everywhere and for one project, and policies offered after many similar decisions. One
address per change. Also the agent's hook: the address that it posts to, and the page that adds it to an agent's
settings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dreams import conf
from dreams.lib.files.text import plural
from dreams.models import Channel, FeedToken, Policy, Project
from dreams.services import agent_settings, notify, settings_changes
from dreams.services.catching import lifecycle as catching, session_end_hook
from dreams.services.policies import earned
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther, go
from dreams.web.pages import settings as pages
from dreams.web.pages.projects import config_folders
from dreams.web.paging import number_or_none


@require_http_methods(["GET", "HEAD", "POST"])
def everywhere(request: Request) -> HttpResponse:
    return _settings(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
def of_project(request: Request, pk: int) -> HttpResponse:
    return _settings(request, get_object_or_404(Project, pk=pk))


@require_POST
def reset(request: Request, key: str, pk: int | None = None) -> HttpResponse:
    """Resets a setting to its default. Other typed values stay in the form and are not saved."""
    project = _project(pk)
    try:
        settings_changes.reset_override(key, actor=actor(request), project=project)
    except KeyError as error:
        raise Http404(key) from error
    form = _read(request, project)
    for found in (form.typed, form.errors, form.wanted):
        found.pop(key, None)
    if form.is_changed or changed(request, project):
        messages.success(request, f"{conf.specs()[key].label}: reset. What else you typed is not saved yet.")
        return _page(request, project, form)
    messages.success(request, f"{conf.specs()[key].label}: reset.")
    return _back(request, project)


@require_POST
def pause(request: Request, *, paused: bool = True) -> HttpResponse:
    settings_changes.set_override("paused", paused, actor=actor(request))
    messages.success(request, "Paused. No dream starts until you resume." if paused else "Resumed.")
    return _back(request, None, "pause")


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
    return _back(request, None, "Digest")


@dataclass(slots=True)
class Form:
    """The submitted form: typed values, errors, and values that differ from the current ones."""

    typed: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    wanted: dict[str, conf.Value] = field(default_factory=dict)

    @property
    def is_changed(self) -> bool:
        return bool(self.errors or self.wanted)


def _settings(request: Request, project: Project | None) -> HttpResponse:
    """One form for the page: everything is saved, or nothing if a value is wrong."""
    if request.method != "POST":
        return _page(request, project, Form())
    form = _read(request, project)
    if form.errors:
        return _page(request, project, form)
    for key, value in form.wanted.items():
        settings_changes.set_override(key, value, actor=actor(request), project=project)
    done = [
        (len(form.wanted), "setting", "settings"),
        (save(request, project), "policy", "policies"),
    ]
    said = " and ".join(plural(*one) for one in done if one[0])
    messages.success(request, f"{said} changed." if said else "Nothing changed.")
    if "roots" in form.wanted:
        for place, why in config_folders():
            if why:
                messages.warning(request, f"{place} is {why}. Nothing is read there.")
    return _back(request, project)


def _read(request: Request, project: Project | None) -> Form:
    """Reads the settings of the form's groups."""
    present = conf.sourced(project)
    form = Form()
    for key, spec in _fields(request.POST.getlist("group"), project).items():
        # An unticked box sends nothing.
        raw = _typed(request, key, "off" if spec.kind is bool else None)
        if raw is None:
            continue
        form.typed[key] = raw
        try:
            value = conf.parse(key, raw)
        except conf.BadValue as error:
            # The page shows the label above the error.
            form.errors[key] = str(error).removeprefix(f"{spec.label}: ")
            continue
        if value != present[key].value:
            form.wanted[key] = value
    values = {key: found.value for key, found in present.items()} | form.wanted
    form.errors.update(conf.at_odds(values, form.wanted))
    return form


def _typed(request: Request, name: str, default: str | None = None) -> str | None:
    """What a person typed into a field; None if it is what the page showed: somebody else may have changed it since."""
    raw, was = request.POST.get(name, default), request.POST.get(f"was-{name}")
    return None if raw is None or raw.replace("\r\n", "\n") == (was and was.replace("\r\n", "\n")) else raw


def _fields(groups: Sequence[str], project: Project | None) -> dict[str, conf.Spec]:
    return {
        key: spec
        for key, spec in conf.specs().items()
        if spec.group in groups and key not in pages.APART and (project is None or spec.per_project)
    }


def _page(request: Request, project: Project | None, form: Form) -> HttpResponse:
    typed = {name: raw for name in request.POST if (raw := _typed(request, name)) is not None}
    by_kind = pages.by_kind(project, typed)
    context = {
        "project": project,
        "groups": pages.groups(project, form.typed, form.errors),
        "wrong": [(key, conf.specs()[key].label) for key in form.errors],
        "policies": pages.by_type(project, typed),
        "policies_by_kind": by_kind,
        "kinds_are_set": any(cell.action for row in by_kind for cell in row.cells),
        "policies_earned": pages.earned_rows() if project is None else [],
        "operations": [operation.label for operation in pages.BY_TYPE],
        "actions": Policy.Action.choices,
        "policies_say": pages.POLICIES_SAY,
        "kinds_first": pages.KINDS_FIRST,
        "removes_alone": pages.removes_without_asking(project) and pages.REMOVES_ALONE,
        "channels": pages.channels() if project is None else [],
        "feed_token": FeedToken.objects.first() if project is None else None,
        "is_paused_here": conf.current().paused,
    }
    return render(request, "dreams/settings.html", context, status=422 if form.errors else 200)


def _project(pk: int | None) -> Project | None:
    return None if pk is None else get_object_or_404(Project, pk=pk)


def _back(request: Request, project: Project | None, place: str = "") -> HttpResponse:
    page = reverse("project-settings", args=[project.pk]) if project else reverse("settings")
    return go(request, f"{page}#{place}" if place else page)


def save(request: Request, project: Project | None) -> int:
    """Saves changed policies of the form, by type and by kind. Returns how many."""
    return sum(_set(request, project, *of) for of in _wanted())


def changed(request: Request, project: Project | None) -> bool:
    """Whether the form has a changed policy. Saves nothing."""
    rows = [*pages.by_type(project), *pages.by_kind(project)]
    cells = [cell for row in rows for cell in row.cells]
    return any(_typed(request, cell.field) not in (None, cell.action) for cell in cells)


def _wanted() -> Iterable[tuple[str, str, str]]:
    for memory_type in settings_changes.MEMORY_TYPES:
        yield from ((memory_type, operation, "") for operation in Policy.Operation.values)
    yield from (("", "", kind) for kind in settings_changes.POLICY_KINDS)


def _set(request: Request, project: Project | None, memory_type: str, operation: str, kind: str) -> bool:
    action = _typed(request, pages.field_of(memory_type, operation, kind))
    if action is None:
        return False
    try:
        return settings_changes.set_policy(
            operation, action, actor=actor(request), memory_type=memory_type, kind=kind, project=project
        )
    except settings_changes.BadPolicy as error:
        raise Http404(str(error)) from error


@require_POST
def answer_offer(request: Request) -> HttpResponse:
    """Accepts an offer as it was shown, or declines it."""
    kind, maker = request.POST.get("kind", ""), request.POST.get("maker", "")
    try:
        if request.POST.get("answer") == "accept":
            last = number_or_none(request.POST.get("last")) or 0
            earned.accept(kind, maker, last, actor=actor(request))
            messages.success(
                request,
                f"{earned.named(kind, maker)} are applied without asking from the next dream on. "
                "Undoing one ends that.",
            )
        else:
            earned.decline(kind, maker, actor=actor(request))
            messages.info(request, "These will still wait for your review.")
    except earned.OfferGone as gone:
        messages.warning(request, str(gone))
    return SeeOther("/")


@require_POST
def end_policy(request: Request, pk: int) -> HttpResponse:
    policy = get_object_or_404(Policy.objects.exclude(maker=""), pk=pk)
    earned.end(policy, actor=actor(request))
    messages.success(request, "Ended. These wait for your review again.")
    return _back(request, None, "policies")


# --- The agent's hook


@require_POST
def session_end(request: HttpRequest) -> HttpResponse:
    """204 for anything well-formed, so that the response does not reveal which sessions exist."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not session_end_hook.is_let_in(token):
        return HttpResponse(status=401)
    length = number_or_none(request.headers.get("Content-Length"))
    if length is None or length > session_end_hook.MOST_BYTES:
        return HttpResponse(status=413)
    if session_end_hook.is_too_soon():
        return HttpResponse(status=429)
    try:
        project = session_end_hook.take(request.read(session_end_hook.MOST_BYTES))
    except session_end_hook.Malformed:
        return HttpResponse(status=400)
    if project is not None:
        catching.enqueue(project)
    return HttpResponse(status=204)


@require_safe
def hook(request: Request) -> HttpResponse:
    """Shows the lines for the agent's settings, and the change to each config folder."""
    return render(request, "dreams/hook.html", {"hook": pages.hook()})


@require_POST
def write_hook(request: Request) -> HttpResponse:
    """Adds our entry to the settings of a config folder, or removes it, if the shown diff is still correct."""
    root = next((root for root in pages.roots() if str(root) == request.POST.get("root")), None)
    if root is None:
        raise Http404("no such config folder")
    try:
        _write_entry(request, root)
    except agent_settings.SettingsRefused as refused:
        messages.error(request, str(refused))
    return SeeOther(reverse("hook"))


def _write_entry(request: Request, root: Path) -> None:
    shown, who = request.POST.get("shown", ""), actor(request)
    if request.POST.get("do") == "remove":
        done = agent_settings.remove_hook(root, shown, who)
        messages.success(
            request, "Removed. Sessions are still read once they are quiet." if done else "It is not there."
        )
    else:
        done = agent_settings.add_hook(root, shown, who)
        messages.success(
            request, "Added. New sessions of your agent use it." if done else "It is there already."
        )
