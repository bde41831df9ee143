"""Does a server lose or mix anything when it is killed repeatedly while agents append to the files that it writes?

    .venv/bin/python bench/server_kills.py [--kills 1000] [--projects 2] [--postgres] [--seed 1] [--limit SECONDS]

The server's work runs in separate processes: for each project one that proposes, approves, applies and often undoes a
change of four files, and one that ticks like the scheduler and requests pages. All of them are killed (-9) at a random
moment, even while they recover, and restarted as by `serve`: with a recovery. Meanwhile two agents append lines to the
same files, and a reader reads them constantly.

Faults are: a file that a reader finds half old and half new, or missing; after a recovery, files of two different changes;
an appended line that is neither in its file, once, nor in a version of it; an unexpected error; findings of `verify`.
Exit 1 when there was a fault. `--postgres` needs a PostgreSQL and psycopg, and exits at once without them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.world.processes import commands, killed, postgres

NAMES = ("a.md", "b.md", "team/c.md")
ODD = "odd.md"
STATE = re.compile(rb"version (\d+) of .*?\nend (\d+)\n", re.DOTALL)
TEXT = "---\nname: {name}\ntype: project\n---\n\nversion {n} of {name}\n\nThis line stays.\n\nend {n}\n\nSo does this one, above what agents append.\n"
#: Some kills happen while the server is still recovering.
SHARE_WHILE_RECOVERING = 0.2
PAUSE = 0.05


@dataclass(slots=True)
class Figures:
    starts: int = 0
    kills: int = 0
    while_recovering: int = 0
    reads: int = 0
    batches: int = 0
    lines: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


# --- The killed processes: children of this one, which itself never opens the database --------------------------------


def _lead(site: Site, ready: int) -> None:
    """Like `serve`: recovers, reports it, then works until killed."""
    from dreams.services import recovery

    found = recovery.recover()
    os.write(ready, json.dumps([*found.problems, *site.check_files()]).encode() + b"\n")
    from django.db import connections

    connections.close_all()
    for number in range(len(site.memories)):
        if not os.fork():
            _for_ever(site, lambda number=number: _deed(site, number))
    if not os.fork():
        _for_ever(site, _tick_and_look)
    while True:
        time.sleep(60)


def _for_ever(site: Site, deed: Callable[[], None]) -> None:
    random.seed(os.urandom(8))
    while True:
        try:
            deed()
        except Exception as error:
            from dreams.lib.files.safefs import SafeFsError
            from dreams.services import project_lock, review, rollback

            expected = (review.ReviewRefused, project_lock.ProjectBusy, rollback.NothingToUndo, SafeFsError)
            file = site.refused if isinstance(error, expected) else site.errors
            note(file, f"{type(error).__name__}: {error}")
        time.sleep(PAUSE)


def _deed(site: Site, number: int) -> None:
    """One change of four files that keeps appended lines, and in four of ten cases its undo."""
    from dreams.models import Hunk, Project, Proposal
    from dreams.services import review, rollback
    from dreams.services.apply import applying
    from tests.world import directory as world

    memory = site.memories[number]
    project = Project.objects.get(memory_dir=str(memory))
    waiting = [Proposal.State.OPEN, Proposal.State.SUBMITTED]
    Proposal.objects.filter(project=project, state__in=waiting).update(state=Proposal.State.SUPERSEDED)
    proposal = world.propose(project, *edits(memory))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    for _ in range(6):
        review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
        if applying.apply(proposal, world.ME, rebased=True).complete:
            site.written.touch()
            break
    proposal.refresh_from_db()
    if proposal.state == Proposal.State.APPLIED and random.random() < 0.4:
        rollback.rollback(proposal, world.ME)


def edits(memory: Path) -> Iterator[Any]:
    from tests.world import directory as world

    now = {name: (memory / name).read_text() for name in NAMES}
    found = STATE.search(now[NAMES[0]].encode())
    assert found is not None
    n = int(found[1])
    for name, text in now.items():
        after = text.replace(f"version {n} of", f"version {n + 1} of").replace(
            f"\nend {n}\n", f"\nend {n + 1}\n"
        )
        yield world.edit(name, text, after, "count")
    odd = memory / ODD
    if n % 2:
        yield world.edit(ODD, odd.read_text(), None, "count", "prune")
    else:
        yield world.edit(ODD, None, TEXT.format(name="odd", n=n + 1), "count", "learn")


def _tick_and_look() -> None:
    from django.conf import settings
    from django.test import Client

    from dreams.services.login import ensure_owner
    from dreams.services.scheduling import scheduler

    scheduler.tick()
    client = Client(HTTP_HOST=f"127.0.0.1:{settings.PORT}")
    client.force_login(ensure_owner())
    for path in ("/", "/projects/", "/health/"):
        answer = client.get(path)
        assert answer.status_code in (200, 302, 503), (path, answer.status_code)
    time.sleep(2)


def note(file: Path, line: str) -> None:
    with file.open("a") as notes:
        notes.write(" ".join(line.split())[:400] + "\n")


# --- Agents and reader ------------------------------------------------------------------------------------------------


def _agent(site: Site, who: int) -> None:
    """Appends like a session, and records the line once it is written."""
    draw = random.Random(f"{who} {os.getpid()}")
    for number in range(1 << 40):
        memory, name = draw.choice(site.memories), draw.choice(NAMES)
        line = f"- line {number} of agent {who}"
        fd = os.open(memory / name, os.O_WRONLY | os.O_APPEND)
        os.write(fd, f"{line}\n".encode())
        os.close(fd)
        with site.appended.open("a") as noted:
            noted.write(f"{memory}\t{name}\t{line}\n")
        # In bursts: on a busy machine an apply takes seconds, and would never end with constant appends.
        time.sleep(draw.random() * 6 if draw.random() < 0.1 else 0.005)


def _reader(site: Site) -> None:
    reads = 0
    told = os.open(site.reads, os.O_WRONLY | os.O_CREAT)
    while True:
        for memory in site.memories:
            for name in NAMES:
                reads += 1
                try:
                    data = (memory / name).read_bytes()
                except FileNotFoundError:
                    note(site.mixed, f"{name} is missing")
                    continue
                found = STATE.search(data)
                if found is None or found[1] != found[2]:
                    note(site.mixed, f"{name}: {data[:200]!r}")
        os.pwrite(told, b"%020d" % reads, 0)  # never empty: its writer is killed
        time.sleep(0.01)


# --- The site ---------------------------------------------------------------------------------------------------------


class Site:
    def __init__(self, base: Path, projects: int, seed: int) -> None:
        self.life: float | None = None
        self.written = base / "written"
        self.base, self.draw, self.figures = base, random.Random(seed), Figures()
        root = base / "claude"
        self.memories = [root / "projects" / f"-home-dev-p{n}" / "memory" for n in range(projects)]
        self.errors, self.refused, self.appended, self.mixed, self.reads = (
            base / name for name in ("errors", "refused", "appended", "mixed", "reads")
        )
        for memory in self.memories:
            for name in NAMES:
                path = memory / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(TEXT.format(name=name, n=0))

    def run(self, kills: int, limit: float) -> Figures:
        assert killed.in_child(_begin) == 0
        others = [self.forked(_agent, 0), self.forked(_agent, 1), self.forked(_reader), *self.more()]
        until = time.monotonic() + limit
        try:
            while self.figures.kills < kills and time.monotonic() < until:
                self.live_and_die()
        finally:
            for child in others:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            self.end()
        assert killed.in_child(judge_rows, self) == 0
        self._judge()
        return self.figures

    def more(self) -> list[int]:
        """Additional processes that live as long as the agents and the reader."""
        return []

    def end(self) -> None:
        """Nothing to end here: no part of the server runs between two lives."""

    def forked(self, action: Callable[..., None], *more: object) -> int:
        if child := os.fork():
            return child
        try:
            action(self, *more)
        finally:
            os._exit(1)

    def live_and_die(self) -> None:
        """One life of the server. The state after its kill is judged after the next one's recovery."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            os.close(reading)
            try:
                _lead(self, writing)
            finally:
                os._exit(1)
        with contextlib.suppress(OSError):  # until the first of the two
            os.setpgid(child, child)
        os.close(writing)
        self.figures.starts += 1
        early = self.draw.random() < SHARE_WHILE_RECOVERING
        if early:
            time.sleep(self.draw.random() * 0.5)
            self.figures.while_recovering += 1
        else:
            with os.fdopen(reading, closefd=False) as told:
                self._look_at_recovery(told.readline())
            self.live()
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        self.figures.kills += 1

    def live(self) -> None:
        """Waits up to twice as long as a first write takes on this machine; at first until one is done."""
        begun = time.monotonic()
        if self.life is None:
            while not self.written.exists():
                time.sleep(0.1)
            self.life = 2 * (time.monotonic() - begun)
        else:
            time.sleep(self.draw.random() * self.life)

    def _look_at_recovery(self, told: str) -> None:
        if not told:
            self.figures.wrong.append("a start ended before it had recovered")
        elif problems := json.loads(told):
            self.figures.wrong.append(f"after a recovery: {problems}")

    def _judge(self) -> None:
        figures = self.figures
        figures.reads = int(self.reads.read_text())
        for file in (self.errors, self.mixed):
            with contextlib.suppress(FileNotFoundError):
                found = Counter(file.read_text().splitlines())
                figures.wrong += [f"{file.name}: {count} x {line}" for line, count in found.most_common(20)]

    def check_files(self) -> Iterator[str]:
        for memory in self.memories:
            found = {name: STATE.search((memory / name).read_bytes()) for name in NAMES}
            numbers = {int(state[1]) if state else -1 for state in found.values()}
            if len(numbers) > 1 or (memory / ODD).exists() != bool(numbers.pop() % 2):
                yield f"files of two changes in {memory}: {found}"
            yield from (f"left behind: {path}" for path in memory.rglob("*.memoryweb-*"))


def _begin() -> None:
    from django.core.management import call_command

    from dreams.services import database, discovery
    from dreams.services.memories import syncing

    database.ensure()
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    discovery.discover()
    from dreams.models import Project

    for project in Project.objects.all():
        syncing.refresh(project)


def judge_rows(site: Site) -> None:
    """In a separate process, after all others ended: recovers, finds every line, reads everything back."""
    from dreams.models import AppliedBatch, Blob, Project, Version
    from dreams.services import recovery, verifying
    from dreams.services.memories import syncing

    wrong = [f"not recovered: {line}" for line in recovery.recover().problems]
    wrong += [*site.check_files(), *_left_behind()]
    for project in Project.objects.all():
        syncing.refresh(project)
    lines: Counter[str] = Counter()
    files = {
        (str(m), name): Counter((m / name).read_text().splitlines()) for m in site.memories for name in NAMES
    }
    for noted in site.appended.read_text().splitlines():
        memory, name, line = noted.split("\t")
        lines["appended"] += 1
        there = files[memory, name][line]
        if there == 1:
            lines["in files"] += 1
        elif there:
            wrong.append(f"{line} is {there} times in {name}")
        else:
            texts = Version.objects.filter(memory__project__memory_dir=memory, memory__path=name).values(
                "sha256"
            )
            kept = Blob.objects.filter(sha256__in=texts).values_list("data", flat=True)
            is_kept = any(line.encode() in bytes(data).splitlines() for data in kept.iterator())
            lines["in versions" if is_kept else "lost"] += 1
            wrong += [] if is_kept else [f"{line} of {name} is lost"]
    wrong += [f"verify: {one.what} {one.where}" for one in verifying.verify().problems]
    done = {"lines": lines, "wrong": wrong, "batches": AppliedBatch.objects.count()}
    (site.base / "judged").write_text(json.dumps(done))


def _left_behind() -> Iterator[str]:
    """What is claimed, held or half recorded after a recovery; a claim of a process that ended says nothing."""
    from dreams.lib.storage import journal
    from dreams.models import AppliedBatch, Hunk, LockHold, Project, Proposal
    from dreams.services import project_lock
    from dreams.services.apply import writing

    yield from (f"a lock of {hold.project} is left" for hold in LockHold.objects.select_related("project"))
    plans = journal.plan_ids(writing.journal_dir())
    entries = {plan: entry for plan in plans if (entry := journal.read_journal(writing.journal_dir(), plan))}
    written = {plan for plan, entry in entries.items() if entry.state == "applied"}
    recorded = list(AppliedBatch.objects.values_list("journal_id", flat=True))
    yield from (f"{plan} is recorded more than once" for plan in {*recorded} if recorded.count(plan) > 1)
    yield from (f"{plan} is in one of journal and database" for plan in written ^ {*recorded})
    yield from (f"{plan} is {entry.state}" for plan, entry in entries.items() if entry.state == "open")
    for proposal in Proposal.objects.filter(state=Proposal.State.APPLIED):
        taken = Hunk.objects.filter(file__proposal=proposal, verdict__in=Hunk.TAKEN)
        lacking = taken.filter(applied_in=None).count()
        if lacking or not proposal.applications.exists():
            yield f"{proposal.public_id} is applied, without {lacking} of its changes"
        removed = taken.exclude(base_count=0).filter(ledger=None).exclude(file__path="odd.md")
        if proposal.origin == Proposal.Origin.DREAM and removed.exists():
            yield f"{proposal.public_id}: {removed.count()} changes have no ledger"
    for project in Project.objects.all():
        with project_lock.hold(project, "import", keep_dir_mtime=True) as held:  # nobody has it
            held.release_keeping_clock()


def prepared(base: Path, url: str) -> None:
    """Sets the environment for the rest of this process and its children."""
    given = {
        "MEMORYWEB_ROOTS": str(base / "claude"),
        "MEMORYWEB_SECRET_KEY": "of a bench",
        "MEMORYWEB_TIME_ZONE": "UTC",
        "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
        **({"DATABASE_URL": url} if url else {}),
    }
    environment = commands.environment(base / "data", **given)
    os.environ.clear()
    os.environ.update(environment)
    import django

    django.setup()
    for module in (
        "dreams.services.recovery",
        "dreams.services.rollback",
        "dreams.web.urls",
        "tests.world.directory",
    ):
        __import__(module)


def run(base: Path, kills: int, projects: int, seed: int, limit: float, url: str = "") -> Figures:
    prepared(base, url)
    site = Site(base, projects, seed)
    figures = site.run(kills, limit)
    add_judged(figures, base)
    return figures


def add_judged(figures: Figures, base: Path) -> None:
    """Adds the results of the process that looked up every appended line in the files and their versions."""
    judged = json.loads((base / "judged").read_text())
    figures.lines, figures.batches = Counter(judged["lines"]), judged["batches"]
    figures.wrong += judged["wrong"]


def arguments(description: str | None, *, kills: int, limit: float) -> argparse.Namespace:
    """The arguments of a killing benchmark, with its defaults."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=kills)
    parser.add_argument("--projects", type=int, default=2)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=limit, help="seconds")
    return parser.parse_args()


def print_lines(found: Figures) -> None:
    print(f"  {found.lines['appended']:,} lines appended: {found.lines['in files']:,} in files,", end=" ")
    print(f"{found.lines['in versions']:,} in versions, {found.lines['lost']:,} lost")
    print(f"  wrong: {len(found.wrong)}", *found.wrong[:30], sep="\n    ")


def main() -> int:
    asked = arguments(__doc__, kills=1_000, limit=7_200)
    reason = postgres.missing() if asked.postgres else ""
    if reason:
        print(f"Not run: {reason}")
        return 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mw-kills-") as base, contextlib.ExitStack() as stack:
        url = stack.enter_context(postgres.server()).url() if asked.postgres else ""
        found = run(Path(base), asked.kills, asked.projects, asked.seed, asked.limit, url)
    print(
        f"{found.kills:,} kills, {found.while_recovering:,} of them early, in {time.monotonic() - begun:.0f} s on",
        end=" ",
    )
    print(
        f"{'PostgreSQL' if asked.postgres else 'SQLite'}: {found.batches:,} writes applied, {found.reads:,} reads"
    )
    print_lines(found)
    return 1 if found.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
