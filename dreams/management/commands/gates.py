"""`gates [PROJECT] [--now ISO]`: why a project may or may not dream."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from django.utils import timezone

from dreams.lib import stopwatch
from dreams.management import base, named
from dreams.models import Project
from dreams.services import discovery, dreaming, lookup
from dreams.services.hosts import host
from dreams.services.scheduling import gates, scheduler
from dreams.services.scheduling.next_dream import NextDream

ALL_AWAY = "All known projects are gone or not watched."
#: Fields that no gate needs; dates above all are slow to read.
UNASKED = (
    *("kind", "scope", "agent_name", "trusted", "secret_in_path", "history_key", "first_seen_at"),
    *("last_session_at", "instructions_read_at", "gate_fingerprint"),
)
#: Parts of the measured time: lock files on disk, rows of sessions, rows of memories; nothing is written or indexed.
PARTS = ("walk", "transcripts", "memories", "history", "search")


class Command(base.Command):
    help = "Evaluate all gates and print the results. Nothing is started."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser, optional=True)
        parser.add_argument(
            "--now",
            metavar="ISO",
            type=base.some_text,
            help="evaluate at this time, with an offset: 2026-03-01T12:00:00+00:00",
        )

    def run(self, options: base.Options) -> base.Result:
        now = moment(options["now"]) if options["now"] else timezone.now()
        with stopwatch.running(*PARTS) as watch:
            if options["project"] is not None:
                chosen = [lookup.project(options["project"])]
            else:
                chosen = list(Project.objects.filter(host=host(), gone_at__isnull=True).defer(*UNASKED))
            judged = list(_judged(chosen, now))
            ms_by = watch.ms()
        found = {"projects": judged, "ms": sum(ms_by.values()), "ms_by": ms_by}
        return found | {"totals": discovery.totals(host())} if options["json"] else found

    def words(self, result: base.Result) -> base.Words:
        for project in result["projects"]:
            if project["dream"]:  # it holds the lock that its gates would check
                yield f"{project['slug']}: {project['next']}"
                continue
            yield f"{project['slug']}: {'open' if project['open'] else 'closed'}. {project['next']}"
            for gate in project["gates"]:
                yield f"  {'open  ' if gate['passed'] else 'closed'} {gate['name']:<9} {gate['reason']}"
        if not result["projects"]:
            is_known = Project.objects.filter(host=host()).exists()
            yield ALL_AWAY if is_known else "No projects yet. `discover` looks for them."


def _judged(projects: Sequence[Project], now: dt.datetime) -> Iterator[dict[str, Any]]:
    active = {row.project_id: row for row in dreaming.active()}
    for project, results in zip(projects, scheduler.evaluate_many(projects, now), strict=True):
        dream = active.get(project.pk)
        following = NextDream.of(results).sentence(now)
        yield {
            "slug": project.slug,
            "memory_dir": project.memory_dir,
            "open": gates.is_open(results),
            "dream": dream.public_id if dream else "",
            "next": f"{dream.get_status_display()}: dream {dream.public_id}." if dream else following,
            "gates": [result.as_json() for result in results],
        }


def moment(text: str) -> dt.datetime:
    """Parses an ISO time with an offset. Raises BadUsage."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise base.BadUsage(
            f"--now {text!r} is not an ISO time such as 2026-03-01T12:00:00+00:00."
        ) from error
    if found.utcoffset() is None:
        raise base.BadUsage(f"--now {text!r} has no offset; add one, such as {text}+00:00.")
    if not dt.MINYEAR < found.year < dt.MAXYEAR:  # gates add and subtract hours
        raise base.BadUsage(f"--now {text!r} is at the end of the calendar; choose a year from 2 to 9998.")
    return found
