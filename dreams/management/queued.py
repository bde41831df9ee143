"""Requests of commands to the host that has the files: make one, wait for its result if wanted, and print it."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from dreams.lib import amounts
from dreams.management import named, shown
from dreams.management.base import Refused
from dreams.models import HostRequest
from dreams.services import host_requests, hosts
from dreams.services.apply.applying import ApplyReport
from dreams.services.host_requests import NewRequest

LOOK_SECONDS = 1.0  # between two checks of the row; chosen


def add_wait(parser: CommandParser) -> None:
    parser.add_argument(
        "--wait",
        type=int,
        default=0,
        metavar="S",
        help="if another host has the files: wait this many seconds for it to finish",
    )


def ask(make: Callable[[], NewRequest], wait: int) -> Mapping[str, Any]:
    """The report of the other host, or `queued` with that host and when it was last seen.

    Raises Refused, also if that host did not do it, and project_lock.ProjectElsewhere if it takes no requests.
    """
    request = host_requests.ask(make(), named.me())
    until = time.monotonic() + wait
    while request.state in HostRequest.OPEN and time.monotonic() < until:
        time.sleep(min(LOOK_SECONDS, max(until - time.monotonic(), 0)))
        request.refresh_from_db()
    if request.state in HostRequest.OPEN:
        return _queued(request)
    result: dict[str, Any] = {**shown.report(ApplyReport()), **request.report, "request": request.public_id}
    if request.state != HostRequest.State.DONE:
        raise Refused(request.text or f"It was {request.get_state_display().lower()}.", result)
    return {**result, "said": [request.text]}


def _queued(request: HostRequest) -> Mapping[str, Any]:
    one = next(found for found in hosts.known() if found.key == request.host)
    return {
        **shown.report(ApplyReport(proposal=request.proposal.public_id if request.proposal else "")),
        "request": request.public_id,
        "queued": [{"host": one.name, "last_seen": one.last_seen, "is_away": one.is_away}],
    }


def words(result: Mapping[str, Any]) -> Iterable[str]:
    for one in result["queued"]:
        seen = amounts.ago(one["last_seen"], timezone.now()) if one["last_seen"] else "never"
        away = f"It is away (last seen {seen})" if one["is_away"] else f"Last seen {seen}"
        yield f"Queued for {one['host']}, which has the files. {away}. It checks the request again before it writes anything."
