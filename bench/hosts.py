"""Do several hosts on one PostgreSQL lose a line, or write one twice, when they are killed and the database is down?

    python bench/hosts.py [--hosts 3] [--projects 3] [--dreaming 3] [--away 10] [--apart 0] [--limit 300]

Each host has a home, a data directory, a server and its own projects, of which `--dreaming` have enough sessions to
dream; the others are only discovered, checked with each tick, read for statements and appended to. The proposals are approved
on the first host, which asks the others to write theirs. Meanwhile lines are appended to every index, one host is killed (-9)
while it dreams and again while it writes, and the database is down for some seconds. With `--apart 60` the hosts' clocks are
an hour apart for Python but not for the kernel, so that files look an hour old or an hour ahead. Afterwards every appended
line must be in its file once, every file written once, every history complete and the audit log unbroken. The last line is
the verdict: `FINE`, `FAULT` with what is wrong, or `NOT REACHED` with what was missing after `--limit` seconds; exit 1
except for the first. Needs PostgreSQL and psycopg, and exits at once without them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.world.processes import postgres
from tests.world.processes.servers import Home, link_of

LIMIT = 300.0
#: A written file, by proposal and path: a batch may have several, or none if all waited.
WRITTEN = (
    "SELECT made.proposal_id, file.path FROM dreams_appliedfile file"
    " JOIN dreams_appliedbatch made ON made.id = file.application_id GROUP BY 1, 2"
)
EMPTY = (
    "SELECT 1 FROM dreams_appliedbatch made"
    " WHERE NOT EXISTS (SELECT 1 FROM dreams_appliedfile file WHERE file.application_id = made.id)"
)
TEXT = "---\nname: {name}\ndescription: how {name} is done\ntype: feedback\n---\n\nThe queue {number} is drained by hand on Mondays.\n"
#: Imported first by every Python process of a host.
CLOCK = """
import datetime as dt
import time_machine
time_machine.travel(dt.datetime.now(dt.UTC) + dt.timedelta(seconds={seconds}), tick=True).start()
"""
SETTINGS = {
    "MEMORYWEB_MIN_HOURS": "0.01",
    "MEMORYWEB_MIN_SESSIONS": "2",
    "MEMORYWEB_SCAN_MINUTES": "1",
    "MEMORYWEB_MAX_DREAMS_AT_ONCE": "16",
}


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--hosts", type=int, default=3)
    given.add_argument("--projects", type=int, default=3, help="on each host")
    given.add_argument(
        "--dreaming", type=int, help="projects of each host that have enough sessions to dream (all)"
    )
    given.add_argument("--away", type=float, default=10, help="seconds without the database")
    given.add_argument("--apart", type=float, default=0, help="minutes between the clocks of two hosts")
    given.add_argument("--limit", type=float, default=LIMIT, help="seconds until it is judged as it stands")
    given.add_argument("--decide", action="store_true", help=argparse.SUPPRESS)
    asked = given.parse_args()
    if asked.decide:
        return decide()
    if reason := postgres.missing():
        print(f"Not run: {reason}")
        return 0
    with tempfile.TemporaryDirectory(prefix="mw-hosts-") as base, postgres.server() as server:
        site = Site(Path(base), server, asked.hosts, asked.projects, asked.limit, asked.apart, asked.dreaming)
        try:
            return site.run(asked.away)
        finally:
            for home in site.homes:
                home.end()


class NotReached(Exception):
    """The time limit ended before the event in the message."""


class Site:
    def __init__(
        self,
        base: Path,
        server: postgres.Server,
        hosts: int,
        projects: int,
        limit: float = LIMIT,
        apart: float = 0,
        dreaming: int | None = None,
    ) -> None:
        self.server, self.projects, self.apart = server, projects, apart
        self.dreaming = projects if dreaming is None else min(dreaming, projects)
        self.begun = time.monotonic()
        self.end = self.begun + limit
        self.url = server.new_database("hosts")
        self.homes = [self._home(base / f"host{number}", number) for number in range(hosts)]
        self.indexes = sorted(base.glob("host*/.claude/projects/*/memory/MEMORY.md"))
        self.appended: dict[Path, list[str]] = {path: [] for path in self.indexes}
        self.statuses: Counter[int] = Counter()
        self.live = self.indexes
        self.over = threading.Event()

    def _home(self, folder: Path, number: int) -> Home:
        home = Home(folder)
        home.environment |= {"DATABASE_URL": self.url, "MEMORYWEB_HOST": f"host{number}", **SETTINGS}
        if self.apart and number:
            # The first host has the true time; the others are alternately ahead and behind.
            minutes = self.apart * ((number + 1) // 2) * (1 if number % 2 else -1)
            clock = folder / "clock"
            clock.mkdir()
            (clock / "sitecustomize.py").write_text(CLOCK.format(seconds=minutes * 60))
            home.environment["PYTHONPATH"] = str(clock)
        for project in range(self.projects):
            _make_project(folder / ".claude", number, project, 2 if project < self.dreaming else 1)
        return home

    def run(self, away: float) -> int:
        for home in self.homes:
            done = home.run("hosts", "accept")
            assert done.returncode == 0, done.stderr
        for home in self.homes:
            home.start("serve", "--no-browser")
        address = link_of(self.homes[0]).partition("/login/")[0]
        threads = [threading.Thread(target=self._append), threading.Thread(target=self._poll, args=[address])]
        for thread in threads:
            thread.start()
        not_reached = ""
        try:
            self._story(away)
        except NotReached as what:
            not_reached = str(what)
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        return self._judge(not_reached)

    def _story(self, away: float) -> None:
        """Runs the events in order. Raises NotReached."""
        victim = self.homes[-1]
        self._until(lambda: self._count("dreams_dreamrun") > 2, "three dreams")
        self._kill(victim, "while hosts dream")
        if away:
            self._say(f"the database is away for {away:.0f} s")
            self._take_database_away(away)
        # A failed dream, or one with a lost worker, is retried after minutes; the test does not wait for it.
        enough = self.dreaming * len(self.homes) // 3
        self._until(lambda: self._count("dreams_proposal") > enough, f"more than {enough} proposals")
        self._say(
            f"{self._count('dreams_proposal')} proposals of {self._count('dreams_project')} projects; deciding on host0"
        )
        # A file that a session keeps changing is never confirmed in time: from now on every second project has none.
        self.live = self.indexes[::2]
        proposed = self._count("dreams_filechange")
        self._until(
            lambda: len(self._rows(WRITTEN)) > proposed // 4, "a quarter of all files written", self._decide
        )
        self._kill(victim, "while it writes")
        self.live = []
        self._until(self._all_written, "all files written", self._decide)
        self._say("done")

    def _take_database_away(self, seconds: float) -> None:
        self.server.stop()
        time.sleep(seconds)
        self.server.start()
        for (
            home
        ) in self.homes:  # one started without the database has exited and is restarted, as a person would
            if not home.processes():
                home.start("serve", "--no-browser")

    def _say(self, what: str) -> None:
        print(f"[{time.monotonic() - self.begun:5.0f} s] {what}", flush=True)

    def _until(self, found: Callable[[], bool], what: str, each: Callable[[], None] | None = None) -> None:
        """Waits. Raises NotReached with `what` at the end of the time limit."""
        while not found():
            if time.monotonic() > self.end:
                raise NotReached(what)
            # Schedulers check once a minute; here as often as the queue does.
            behind = f"now() - interval '{self.apart * len(self.homes) + 1:.0f} minutes'"
            self._change(f"UPDATE django_q_schedule SET next_run = {behind} WHERE next_run > {behind}")  # noqa: S608 - a number of ours
            if each:
                each()
            time.sleep(5 if each else 1)

    def _change(self, statement: str) -> None:
        with self._connected() as connection:
            connection.execute(statement)

    def _connected(self) -> Any:
        import psycopg

        return psycopg.connect(self.url, connect_timeout=10, options="-c statement_timeout=30000")

    def _rows(self, query: str) -> list[tuple[object, ...]]:
        with self._connected() as connection:
            return list(connection.execute(query).fetchall())

    def _count(self, table: str) -> int:
        return int(str(self._rows(f"SELECT count(*) FROM {table}")[0][0]))  # noqa: S608 - our own constants

    def states(self) -> dict[str, object]:
        found = {
            table: self._count(table) for table in ("dreams_project", "dreams_dreamrun", "dreams_proposal")
        }
        requests = self._rows("SELECT state, left(text, 80), count(*) FROM dreams_hostrequest GROUP BY 1, 2")
        return {
            **found,
            "proposals": self._rows("SELECT state, count(*) FROM dreams_proposal GROUP BY 1"),
            "requests": requests,
        }

    def _all_written(self) -> bool:
        return not self._rows("SELECT 1 FROM dreams_proposal WHERE state IN ('open', 'submitted')")

    def _decide(self) -> None:
        """Approves all open proposals like the first host's pages, and requests those of other hosts."""
        command = [sys.executable, __file__, "--decide"]
        left = max(1.0, self.end - time.monotonic())
        try:
            done = subprocess.run(
                command,
                env=self.homes[0].environment,
                check=False,
                capture_output=True,
                text=True,
                timeout=left,
            )
        except subprocess.TimeoutExpired:
            return  # the time limit, reported next
        if done.returncode:
            self._say(f"deciding failed: {done.stderr.strip().splitlines()[-1:]}")

    def _kill(self, home: Home, when: str) -> None:
        self._say(f"kill -9 of {home.folder.name} {when}")
        home.end()
        time.sleep(2)
        home.start("serve", "--no-browser")

    def _append(self) -> None:
        """Appends rows at the end of random indexes, as sessions do."""
        draw = random.Random(1)
        while not self.over.wait(0.2):
            live = self.live
            if not live:
                continue
            path = draw.choice(live)
            line = f"- [Note {len(self.appended[path])}](note.md) — appended {draw.randrange(10**12)}"
            with path.open("a") as file:
                file.write(line + "\n")
            self.appended[path].append(line)

    def _poll(self, address: str) -> None:
        while not self.over.wait(0.5):
            connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
            try:
                connection.request("GET", "/login/")
                self.statuses[connection.getresponse().status] += 1
            except (OSError, HTTPException):
                self.statuses[0] += 1
            finally:
                connection.close()

    def _judge(self, not_reached: str) -> int:
        lines = Counter[str]()
        for path, expected in self.appended.items():
            there = Counter(path.read_text().splitlines())
            lines["appended"] += len(expected)
            lines["lost"] += sum(there[line] == 0 for line in expected)
            lines["twice"] += sum(there[line] > 1 for line in expected)
        verified = [home.run("verify", "--json").returncode for home in self.homes]
        faults = {
            "lines lost": lines["lost"],
            "lines twice": lines["twice"],
            "files written twice": len(self._rows(f"{WRITTEN} HAVING count(*) > 1")),
            "batches without a file": len(self._rows(EMPTY)),
            "hosts that verify complains of": sum(code != 0 for code in verified),
            "answers that are no page": sum(n for code, n in self.statuses.items() if code not in (200, 503)),
        }
        print(json.dumps({
            "hosts": len(self.homes), "projects": len(self.indexes), "of them dreaming": self.dreaming * len(self.homes),
            "appended": lines["appended"], **faults,
            "files written": len(self._rows(WRITTEN)), "pages": {str(k): v for k, v in self.statuses.items()},
            "fault logs": sum((home.data / "logs" / "faults.log").exists() for home in self.homes),
            **{k: str(v) for k, v in self.states().items()},
        }, indent=1))  # fmt: skip
        print(verdict(faults, not_reached))
        return int(bool(not_reached) or any(faults.values()))


def verdict(faults: Mapping[str, int], not_reached: str) -> str:
    wrong = ", ".join(f"{what}: {count}" for what, count in faults.items() if count)
    said = [f"FAULT: {wrong}"] if wrong else []
    said += [f"NOT REACHED: {not_reached}; what came before it was judged"] if not_reached else []
    return ". ".join(said) or "FINE: all files written, no line lost, nothing written twice"


def _make_project(root: Path, host: int, number: int, sessions: int) -> None:
    """Two equivalent memories, so that a dream removes one, and two sessions of yesterday, enough for a dream."""
    folder = root / "projects" / f"-home-dev-h{host}p{number}"
    (folder / "memory").mkdir(parents=True)
    rows = "".join(f"- [{name}]({name}.md) — how {name} is done\n" for name in ("drain", "drains"))
    (folder / "memory" / "MEMORY.md").write_text("# Memory\n\n" + rows)
    for name in ("drain", "drains"):
        (folder / "memory" / f"{name}.md").write_text(TEXT.format(name=name, number=number))
    for turn in range(sessions):
        session = str(uuid.uuid4())
        record = {
            "type": "user",
            "uuid": str(uuid.uuid4()),
            "sessionId": session,
            "timestamp": "2026-03-01T10:00:00Z",
            "cwd": f"/home/dev/h{host}p{number}",
            "message": {"role": "user", "content": f"Remember that queue {turn} is drained by hand."},
        }
        path = folder / f"{session}.jsonl"
        path.write_text(json.dumps(record) + "\n")
        os.utime(path, (time.time() - 86_400,) * 2)


def decide() -> int:
    """Runs in a process of the first host."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    django.setup()
    from dreams.models import Hunk, Proposal
    from dreams.services import host_requests, project_lock, review
    from dreams.services.apply import applying

    me = review.Actor("bench")
    for proposal in Proposal.objects.filter(state__in=["open", "submitted"]).select_related("project"):
        try:
            if proposal.state == "open":
                review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, me)
            rebased = proposal.files.filter(rebase_confirmed=False).exists()
            if host_requests.is_elsewhere(proposal.project):
                host_requests.ask(host_requests.to_apply(proposal, rebased=rebased), me)
            else:
                applying.apply_with_answers(proposal, me, rebased=rebased)
        except (review.ReviewRefused, project_lock.ProjectBusy) as refused:
            print(f"{proposal.public_id}: {refused}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
