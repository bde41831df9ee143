"""The work of the processes in the PostgreSQL tests; errors are counted, not hidden."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import django

from tests.world.processes import commands


def audit(number: int, times: int) -> None:
    from dreams.services import auditlog

    for _ in range(times):
        auditlog.record("project.trusted", actor=f"writer {number}")


def mutation(number: int, times: int) -> None:
    """Writes an audit record inside a longer transaction, like every mutation."""
    from dreams.services import settings_changes

    for turn in range(times):
        settings_changes.set_override("min_hours", 1 + (number + turn * 3) % 20, actor=f"writer {number}")


def setting(number: int, times: int) -> None:
    """Changes a setting for the first time: every process finds no row."""
    from dreams.services import settings_changes

    settings_changes.set_override("questions_per_dream", 1 + number, actor=f"writer {number}")


def schedule(number: int, times: int) -> None:
    from dreams.services.scheduling import scheduler

    for _ in range(times):
        scheduler.ensure_schedule()


def sync(number: int, times: int, project: int) -> None:
    """Several processes find the same new files at once."""
    from dreams.lib.files import workspace
    from dreams.models import Project
    from dreams.services.memories import syncing

    found = Project.objects.get(pk=project)
    syncing.sync(found, workspace.take(syncing.memory_dir(found)))


def request(number: int, times: int, project: int) -> None:
    from dreams.models import DreamRun, Project
    from dreams.services import dreaming, project_lock

    with contextlib.suppress(project_lock.ProjectBusy):
        dreaming.request(Project.objects.get(pk=project), DreamRun.Trigger.PAGE)


def discover(number: int, folder: str) -> None:
    """Several processes discover the same new config root at once."""
    from dreams.services import discovery

    discovery.discover([folder])


def root(number: int, folder: str) -> None:
    from tests.world import directory as world

    for name in ("one", "two", "three"):
        world.write_sessions(Path(folder), 3, slug=f"-home-dev-{name}")
        world.put(Path(folder) / "projects" / f"-home-dev-{name}" / "memory" / "MEMORY.md", world.INDEX)


def story(number: int, folder: str) -> bool:
    """Proposes, decides, applies and undoes, in a separate project."""
    from dreams.models import Hunk
    from dreams.services import review, rollback
    from dreams.services.apply import applying
    from tests.world import directory as world

    mine = world.make_project(Path(folder) / str(number))
    proposal = world.three_changes(mine)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    done = applying.apply(proposal, world.ME)
    return done.complete and rollback.rollback(proposal, world.ME).complete


def project(number: int, folder: str) -> int:
    from tests.world import directory as world

    return world.make_project(Path(folder)).pk


def take(number: int) -> int:
    """Several schedulers take other hosts' requests at once: returns how many this one took."""
    from dreams.services import host_request_worker

    return len(host_request_worker.take())


def carry(number: int) -> int:
    """Several workers carry out all taken requests at once: returns how many this one did."""
    from dreams.models import HostRequest
    from dreams.services import host_request_worker

    return sum(
        host_request_worker.carry_out(row.pk) is not None for row in HostRequest.objects.order_by("pk")
    )


def asked(number: int, folder: str) -> int:
    """Requests for three approved proposals of this host, as from another host."""
    from dreams.models import Host, HostRequest
    from dreams.services import host_requests, hosts
    from tests.world import directory as world

    host_requests.set_accepts(True, "me")
    for name in ("a", "b", "c"):
        made = world.all_approved(Path(folder) / name)
        host_requests.ask(host_requests.to_apply(made), world.ME)
    assert Host.objects.filter(key=hosts.host()).exists()
    return HostRequest.objects.count()


def jobs_due(number: int) -> list[str]:
    """Several schedulers see a due job at once: returns the runs that this one started."""
    from django.utils import timezone

    from dreams.services import jobs
    from dreams.services.scheduling import scheduler

    return [run.label for run in jobs.tick(timezone.now(), scheduler.enqueue)]


def job(number: int) -> str:
    import datetime as dt

    from django.utils import timezone

    from dreams.models import ScheduledJob
    from dreams.services import jobs

    made = jobs.add(jobs.Wanted("verify", "0 3 * * *"), actor="me")
    ScheduledJob.objects.update(next_at=timezone.now() - dt.timedelta(minutes=1))
    return str(made)


def register(number: int) -> str:
    from dreams.services import hosts

    hosts.register()
    return hosts.name_of(hosts.host())


def budget(number: int, folder: str) -> int:
    """A project, with a budget of one dollar for the day."""
    from dreams.services import settings_changes

    settings_changes.set_override("max_cost_day", 1, actor="me")
    return project(0, folder)


def reserve(number: int, project: int) -> bool:
    """Reserves more than half of the day's dollar for a request: returns whether that was possible."""
    from decimal import Decimal

    from dreams.models import ModelRequest, Project
    from dreams.services import pricing

    meter = pricing.Meter(Project.objects.get(pk=project), ModelRequest.Purpose.RECALL)
    return meter.reserve(Decimal("0.6")) is None


def waiting(number: int, folder: str) -> int:
    """A project with an open proposal."""
    from tests.world import directory as world

    return world.propose(world.make_project(Path(folder))).pk


def replace(number: int, proposal: int) -> None:
    """The first holds the proposal and makes another, as an answer does; the second replaces it meanwhile, as a dream does."""
    from django.db import connection, transaction

    from dreams.engines import drafts
    from dreams.models import Proposal
    from dreams.services import proposals

    def seen(sql: str) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone() is not None

    row, new = Proposal.objects.select_for_update().filter(pk=proposal), proposals.ProposalOrigin
    waiting = Proposal.objects.get(pk=proposal)
    if number == 0:
        with transaction.atomic():
            assert row.get() == waiting
            while not seen("SELECT 1 FROM pg_locks WHERE NOT granted"):
                pass
            proposals.create(waiting.project, new(Proposal.Origin.ANSWERS), drafts.Draft(), {})
    elif number == 1:
        while not seen(
            "SELECT 1 FROM pg_locks WHERE relation = 'dreams_proposal'::regclass AND mode = 'RowShareLock'"
        ):
            pass
        proposals.create(waiting.project, new(Proposal.Origin.DREAM), drafts.Draft(), {}, instead_of=waiting)


def dream_and_lose(number: int, folder: str, server: int) -> str:
    """Dreams, as a queue worker, while the database server is stopped in the middle."""
    import os
    import signal
    import time

    from django.utils import timezone

    from dreams import engines, tasks
    from dreams.lib import process
    from dreams.models import DreamRun, Project
    from dreams.services import dreaming

    class Losing:
        def run(self, job: object, watch: object) -> None:
            os.kill(server, signal.SIGQUIT)
            while process.is_alive(server):
                time.sleep(0.05)
            Project.objects.update(first_seen_at=timezone.now())

    engines.get = lambda name: Losing()
    asked = dreaming.request(Project.objects.get(pk=project(0, folder)), DreamRun.Trigger.PAGE)
    try:
        tasks.run_dream(asked.pk)
    except SystemExit:
        return str(asked.public_id)
    return "the process goes on"


def repair(number: int) -> dict[str, object]:
    from dreams.models import DreamRun
    from dreams.services.scheduling import scheduler

    before = list(DreamRun.objects.values_list("public_id", "status"))
    return {"before": before, "lost": scheduler.repair().lost}


def figures(number: int) -> dict[str, object]:
    """The final state of the database."""
    from django_q.models import Schedule

    from dreams.models import (
        AppliedBatch,
        AuditEntry,
        DreamRun,
        Host,
        JobRun,
        Override,
        Project,
        Session,
        Version,
    )
    from dreams.services import auditlog

    return {
        "entries": AuditEntry.objects.count(),
        "chain": auditlog.verify_chain(),
        "dreams": DreamRun.objects.count(),
        "overrides": Override.objects.count(),
        "schedules": Schedule.objects.count(),
        "hosts": Host.objects.count(),
        "applied": AppliedBatch.objects.count(),
        "job runs": JobRun.objects.count(),
        "projects": Project.objects.count(),
        "sessions": Session.objects.count(),
        "versions": Version.objects.count(),
    }


WORK: dict[str, Callable[..., object]] = {
    work.__name__: work
    for work in (
        audit,
        mutation,
        setting,
        schedule,
        sync,
        request,
        discover,
        root,
        story,
        project,
        budget,
        reserve,
        waiting,
        replace,
        dream_and_lose,
        repair,
        figures,
        take,
        carry,
        asked,
        jobs_due,
        job,
        register,
    )
}


def main(work: str, processes: int, given: dict[str, object]) -> None:
    """Each process waits until all have a connection; prints one line per result."""
    from django.db import connection

    gate, ready = os.pipe(), os.pipe()
    with contextlib.ExitStack() as files:
        answers = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(processes)]
        for number, answer in enumerate(answers):
            if not os.fork():
                os.close(gate[1])
                try:
                    connection.ensure_connection()
                finally:  # otherwise all would wait for this one
                    os.write(ready[1], b".")
                os.read(gate[0], 1)
                json.dump(_done(work, {**given, "number": number}), answer)
                answer.flush()
                os._exit(0)
        for _ in answers:
            os.read(ready[0], 1)
        os.close(gate[1])
        for _ in answers:
            os.wait()
        for answer in answers:
            answer.seek(0)
            sys.stdout.write(f"{answer.read()}\n")


def _done(work: str, given: dict[str, object]) -> dict[str, object]:
    try:
        return {"errors": [], "result": WORK[work](**given)}
    except Exception as error:
        return {"errors": [f"{type(error).__name__}: {error}".splitlines()[0]], "result": None}


if __name__ == "__main__":
    commands.get_ready()
    django.setup()
    for name in (
        "dreams.services.discovery",
        "dreams.services.rollback",
        "dreams.services.host_request_worker",
    ):
        importlib.import_module(name)
    commands.serve(socket.socket(fileno=int(sys.argv[1])))
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
