"""Does the real `serve` lose or mix anything when all or some of its processes are killed while agents append?

    .venv/bin/python bench/serve_kills.py [--kills 300] [--projects 2] [--postgres] [--seed 1] [--limit SECONDS]

`serve` is started as a person starts it, in a separate data directory. For each project somebody decides on changes of four
files, has them written and often undone: either by its pages, over HTTP, or by a worker of its queue. At random moments one
of its processes is killed (-9): the web process, the queue's main one, or a worker; or all of them at once, even while they
start. The rest continues or is restarted, as in practice. With `--postgres` the database goes away, too: its connections are
ended, or it is restarted, as an administrator or a crash does. Agents, reader and faults are those of `server_kills.py`; besides,
no page may answer 500, no traceback may be on the terminal, nothing may stay claimed, and what the journal applied is in the
database, once. Exit 1 when something was wrong. `--postgres` needs a PostgreSQL and psycopg.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import server_kills
from bench.server_kills import (
    SHARE_WHILE_RECOVERING,
    Figures,
    Site,
    add_judged,
    arguments,
    edits,
    note,
    prepared,
    print_lines,
)
from tests.world.processes import killed, postgres
from tests.world.processes.servers import Home

#: How often each part is killed: the web process ends all of `serve`, a worker only its task.
PARTS = ("serve", "queue", *("worker",) * 14)
#: How the database goes away, if it is a server: its connections end, or it is restarted in this mode.
AWAY = ("connections", "connections", "fast", "immediate")
SHARE_AWAY = 0.3
MOST_PARTS = 24
#: Most seconds between two kills: about as long as a write takes.
PAUSE = 2.0
#: Nothing takes this long, even on a busy machine.
PATIENCE = 180.0
TRIES = 6


class ServeSite(Site):
    def __init__(
        self, base: Path, home: Home, projects: int, seed: int, database: postgres.Server | None = None
    ) -> None:
        super().__init__(base, projects, seed)
        self.database = database
        self.home, self.go, self.port = home, base / "go", 20_000 + os.getpid() % 20_000
        self.killed: Counter[str] = Counter()
        self.ready_in = 2.0

    def more(self) -> list[int]:
        assert killed.in_child(_accept) == 0
        return [self.forked(_work, number) for number in range(len(self.memories))]

    def end(self) -> None:
        while self.home.processes():
            self.home.end()
            time.sleep(0.05)

    def live_and_die(self) -> None:
        begun = time.monotonic()
        server = self.home.start("serve", "--no-browser", "--port", str(self.port))
        self.figures.starts += 1
        if self.draw.random() < SHARE_WHILE_RECOVERING:
            time.sleep(self.draw.random() * self.ready_in)
            self.figures.while_recovering += 1
        elif self._answers(server.pid):
            self.ready_in = time.monotonic() - begun
            self._look_at_files()
            self.go.touch()
            self._kill_parts(server.pid)
        else:
            log = self.home.log.read_text().splitlines()[-3:]
            self.figures.wrong.append(f"serve did not start: {' '.join(log)}")
        self.go.unlink(missing_ok=True)
        self._count("all")
        self.end()
        server.wait()

    def _kill_parts(self, pid: int) -> None:
        self.live()
        for _ in range(self.draw.randrange(MOST_PARTS)):
            if self.database and self.draw.random() < SHARE_AWAY:
                self._take_away(self.database)
                continue
            part = self.draw.choice(PARTS)
            if not self._kill(pid, part):
                continue
            self._count(part)
            if part == "serve":
                time.sleep(self.draw.random() * 3)  # the rest ends, or is still there at the next start
                return
            time.sleep(self.draw.random() * PAUSE)

    def _take_away(self, database: postgres.Server) -> None:
        how = self.draw.choice(AWAY)
        if how == "connections":
            database.end_connections()
        else:
            database.stop(how)
            time.sleep(self.draw.random() * PAUSE)
            database.start()
        self._count(f"the database ({how})")
        time.sleep(self.draw.random() * PAUSE)

    def _kill(self, pid: int, part: str) -> bool:
        """Kills one; returns whether there was such a process."""
        with contextlib.suppress(psutil.Error):
            serve = psutil.Process(pid)
            queues = serve.children()
            found = {
                "serve": [serve],
                "queue": queues,
                "worker": [one for queue in queues for one in queue.children(recursive=True)],
            }[part]
            if found:
                self.draw.choice(found).kill()
                return True
        return False

    def _count(self, part: str) -> None:
        self.killed[part] += 1
        self.figures.kills += 1

    def _answers(self, pid: int) -> bool:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and psutil.pid_exists(pid):
            with contextlib.suppress(OSError, HTTPException):
                connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
                connection.request("GET", "/login/")
                return connection.getresponse().status == 200
            time.sleep(0.1)
        return False

    def _look_at_files(self) -> None:
        """Waits for a consistent state after a recovery, as a worker may still continue its task."""
        until = time.monotonic() + PATIENCE
        while wrong := list(self.check_files()):
            if time.monotonic() > until:
                self.figures.wrong += [f"after a recovery: {line}" for line in wrong]
                return
            time.sleep(0.1)


# --- The reviewers: a process for each project ------------------------------------------------------------------------


def _accept() -> None:
    from dreams.services import host_requests

    host_requests.set_accepts(True, "bench")


class Visitor:
    """A logged-in person with a browser."""

    def __init__(self, site: ServeSite) -> None:
        from django.test import Client

        from dreams.services.login import ensure_owner

        client = Client()
        client.force_login(ensure_owner())
        session = client.session
        self._token = session["_csrftoken"] = secrets.token_hex(16)
        session.save()
        self._site, self._cookie = site, f"memoryweb_{site.port}={session.session_key}"

    def post(self, path: str, **given: str) -> int:
        """The status of the response. Raises OSError and HTTPException if the server died."""
        connection = HTTPConnection("127.0.0.1", self._site.port, timeout=PATIENCE)
        headers = {"Cookie": self._cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", path, urlencode({**given, "csrfmiddlewaretoken": self._token}), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 400 and answer.status not in (409, 422, 503):
            note(self._site.errors, f"{path}: {answer.status} {text[:200]!r}")
        return answer.status


def _work(site: ServeSite, number: int) -> None:
    from django.db import connections

    from dreams.lib.files.safefs import SafeFsError
    from dreams.services import database, project_lock, review, rollback

    random.seed(os.urandom(8))
    visitor = None
    while True:
        while not site.go.exists():
            time.sleep(0.05)
        try:
            visitor = visitor or Visitor(site)
            _deed(site, number, visitor)
        except (OSError, HTTPException) as gone:
            note(site.refused, f"{type(gone).__name__}")
        except (review.ReviewRefused, project_lock.ProjectBusy, rollback.NothingToUndo, SafeFsError) as no:
            note(site.refused, f"{type(no).__name__}: {no}")
        except Exception as error:
            is_away = database.is_away(error)
            note(site.refused if is_away else site.errors, f"{type(error).__name__}: {error}")
            connections.close_all()
        time.sleep(server_kills.PAUSE)


def _deed(site: ServeSite, number: int, visitor: Visitor) -> None:
    """Completes what is open, then makes a new change; four of ten are undone."""
    from dreams.models import Hunk, Project, Proposal
    from dreams.services import review
    from tests.world import directory as world

    memory = site.memories[number]
    project = Project.objects.get(memory_dir=str(memory))
    waiting = project.proposals.filter(state__in=[Proposal.State.OPEN, Proposal.State.SUBMITTED])
    proposal = waiting.order_by("pk").first() or world.propose(project, *edits(memory))
    if proposal.state == Proposal.State.OPEN:
        review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    for turn in range(TRIES):
        review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
        (_by_page if random.random() < 0.5 else _by_worker)(site, visitor, proposal, turn > 0)
        proposal.refresh_from_db()
        if proposal.state == Proposal.State.APPLIED:
            site.written.touch()
            break
        if proposal.state not in (Proposal.State.OPEN, Proposal.State.SUBMITTED) or not site.go.exists():
            return
    else:
        # Lines are appended between any two attempts: gives up, as a person would.
        waiting.filter(pk=proposal.pk).update(state=Proposal.State.SUPERSEDED)
        return
    if random.random() < 0.4:
        _undo(site, visitor, proposal)


def _by_page(site: ServeSite, visitor: Visitor, proposal: Any, rebased: bool) -> None:
    from dreams.models import Proposal
    from dreams.web.pages.review_proposal import load

    loaded = load(proposal)
    verb = "submit" if loaded.proposal.state == Proposal.State.OPEN else "apply"
    given = {"bases": loaded.digest, "answers": loaded.answers, "rebased": "1" if rebased else ""}
    visitor.post(f"/review/{proposal.public_id}/{verb}/", **given)


def _by_worker(site: ServeSite, visitor: Visitor, proposal: Any, rebased: bool) -> None:
    from dreams.services import host_requests

    _ask(site, host_requests.to_apply(proposal, rebased=rebased))


def _undo(site: ServeSite, visitor: Visitor, proposal: Any) -> None:
    from dreams.services import host_requests, rollback
    from dreams.web.pages import undo

    if random.random() < 0.5:
        _ask(site, host_requests.to_undo(proposal, rollback.Selection()))
        return
    seen = undo.undo(proposal, rollback.Selection()).digest
    visitor.post(f"/review/{proposal.public_id}/undo/", seen=seen)


def _ask(site: ServeSite, wish: Any) -> None:
    """Requests like another host; notifies the scheduler repeatedly, as each of its tasks may be killed."""
    from django_q.tasks import async_task

    from dreams.models import HostRequest
    from dreams.services import host_requests, hosts
    from tests.world import directory as world

    request = host_requests.ask(wish, world.ME)
    told = 0.0
    while request.state in HostRequest.OPEN and site.go.exists():
        if time.monotonic() - told > 3:
            async_task("dreams.tasks.tick", cluster=hosts.cluster_name(hosts.host()))
            told = time.monotonic()
        time.sleep(0.1)
        request.refresh_from_db()


def run(
    base: Path,
    kills: int,
    projects: int,
    seed: int,
    limit: float,
    database: postgres.Server | None = None,
) -> ServeSite:
    home = Home(base)
    prepared(base, database.url() if database else "")
    home.environment = dict(os.environ)
    site = ServeSite(base, home, projects, seed, database)
    figures = site.run(kills, limit)
    add_judged(figures, base)
    figures.wrong += _tracebacks(home.log.read_text())
    return site


def _tracebacks(terminal: str) -> list[str]:
    """The exceptions, with how often each was on the terminal."""
    seen = Counter(_last_lines(terminal)) if "Traceback" in terminal else Counter[str]()
    return [f"on the terminal: {count} x {line}" for line, count in seen.most_common(20)]


def main() -> int:
    asked = arguments(__doc__, kills=300, limit=1_200)
    reason = postgres.missing() if asked.postgres else ""
    if reason:
        print(f"Not run: {reason}")
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mw-kills-") as base, contextlib.ExitStack() as stack:
        server = stack.enter_context(postgres.server()) if asked.postgres else None
        site = run(Path(base), asked.kills, asked.projects, asked.seed, asked.limit, server)
        faults = Path(base) / "data" / "logs" / "faults.log"
        seen = Counter(_last_lines(faults.read_text())) if faults.exists() else Counter()
    where = "PostgreSQL" if asked.postgres else "SQLite"
    found: Figures = site.figures
    parts = ", ".join(f"{count} of {part}" for part, count in sorted(site.killed.items()))
    print(
        f"{found.kills:,} kills of serve on {where} ({parts}; {found.while_recovering} while it started), {found.starts} starts, "
        f"in {time.monotonic() - begun:.0f} s: {found.batches:,} writes applied, {found.reads:,} reads"
    )
    print_lines(found)
    print(
        f"  in the log of faults: {sum(seen.values())}",
        *(f"{n} x {one}" for one, n in seen.most_common(10)),
        sep="\n    ",
    )
    return 1 if found.wrong else 0


def _last_lines(log: str) -> list[str]:
    """The last line of each traceback."""
    lines = log.splitlines()
    return [
        line[:200]
        for line in lines
        if line[:1].isalpha() and ": " in line and "Error" in line.partition(":")[0]
    ]


if __name__ == "__main__":
    raise SystemExit(main())
