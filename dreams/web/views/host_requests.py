"""Requests to the host that has a project's files, and withdrawing them before that host starts."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from dreams.models import HostRequest, Project
from dreams.services import host_requests, hosts
from dreams.services.host_requests import NewRequest
from dreams.services.review import Actor
from dreams.web.access import actor, is_path_here
from dreams.web.htmx import Request, SeeOther, go


def asked(
    request: Request,
    project: Project,
    new_request: Callable[[], NewRequest],
    back: HttpResponse | None = None,
) -> HttpResponse | None:
    """Asks the host that has the project's files and returns `back`, or the project's page; None if that is this host.

    Raises ReviewRefused if the request is not possible, project_lock.ProjectElsewhere if that host takes no requests.
    """
    if not host_requests.is_elsewhere(project):
        return None
    return ask(request, new_request(), back or go(request, "project", pk=project.pk))


def ask(request: Request, new_request: NewRequest, back: HttpResponse) -> HttpResponse:
    host_requests.ask(new_request, Actor(actor(request)))
    one = next(found for found in hosts.known() if found.key == new_request.owner)
    said = f"Asked {one.name} to do it. It checks once a minute; the result appears here."
    if one.is_away:
        said = f"Asked {one.name} to do it. It is away now ({one.seen}) and will do it when it is back."
    messages.success(request, said)
    return back


@require_POST
def withdraw(request: Request, public_id: str) -> HttpResponse:
    found = get_object_or_404(HostRequest.objects.select_related("project", "proposal"), public_id=public_id)
    if host_requests.withdraw(found, Actor(actor(request))):
        messages.success(request, "Withdrawn. Nothing was written.")
    else:
        messages.warning(request, f"Too late: {hosts.name_of(found.host)} has taken it already.")
    back = request.POST.get("back", "")
    return SeeOther(back) if is_path_here(back) else go(request, "inbox")
