"""The agent's hook: the address that its command posts to, and the page that adds it to an agent's settings."""

from pathlib import Path

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dreams.services import agent_settings
from dreams.services.catching import lifecycle as catching, session_end_hook
from dreams.web.access import actor
from dreams.web.htmx import Request, SeeOther
from dreams.web.pages import settings as pages


@require_POST
def session_end(request: HttpRequest) -> HttpResponse:
    """204 for whatever is well-formed: the answer tells nobody which sessions there are."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "Bearer" or not session_end_hook.is_let_in(token):
        return HttpResponse(status=401)
    length = request.headers.get("Content-Length", "")
    if not length.isdecimal() or int(length) > session_end_hook.MOST_BYTES:
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
def show(request: Request) -> HttpResponse:
    """The lines for the agent's settings, and what would be written to each config folder."""
    return render(request, "dreams/hook.html", {"hook": pages.hook()})


@require_POST
def write(request: Request) -> HttpResponse:
    """Add our entry to the settings of a config folder, or take it out, as the diff was shown."""
    root = next((root for root in pages.roots() if str(root) == request.POST.get("root")), None)
    if root is None:
        raise Http404("no such config folder")
    try:
        _write(request, root)
    except agent_settings.SettingsRefused as refused:
        messages.error(request, str(refused))
    return SeeOther(reverse("hook"))


def _write(request: Request, root: Path) -> None:
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
