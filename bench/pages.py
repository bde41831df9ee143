"""Server time, queries and size of every page, with few rows and with very many, in one run.

`python bench/pages.py [--sessions 100000] [--memories 10000] [--dreams 10000]` fills two databases in a temporary
directory, one with a hundredth of the rows, and requests each page of both. A page whose queries grow with the rows is
reported, and the run then ends with exit 1. Medians of five, with Django's test client (no network): CPU time, and wall
time, which includes other load on the machine. The last figure is the peak memory of the requesting process, which is a
web process without a socket.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.test import Client

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
SMALL = 100  # the small database has this fraction
MOST_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """One page: milliseconds of wall and CPU time, queries, compressed bytes, HTTP status."""

    ms: float
    cpu: float
    queries: int
    bytes: int
    status: int


@dataclass(frozen=True, slots=True)
class Answers:
    """All pages by name, and the process's memory in MB: its peak, and its private part at the end.

    The rest is the mapped and shared database file. None if the system does not distinguish them.
    """

    pages: dict[str, Answer]
    memory: int
    own: int | None

    @classmethod
    def read(cls, text: str) -> Answers:
        found = json.loads(text)
        return cls(
            {name: Answer(**page) for name, page in found["pages"].items()}, found["memory"], found["own"]
        )

    @property
    def memory_words(self) -> str:
        return f"{self.memory} MB" + ("" if self.own is None else f" ({self.own} MB its own)")


# --- Asking -------------------------------------------------------------------------------------------------------


def addresses() -> dict[str, str]:
    """The address of every page, for the largest project."""
    from dreams.models import DreamRun, Memory, Project, Proposal, Session

    project = Project.objects.get(slug="-p0")
    memory = Memory.objects.filter(project=project).earliest("pk")
    session = Session.objects.filter(project=project).earliest("pk")
    dream = DreamRun.objects.filter(project=project).earliest("pk")
    proposal = Proposal.objects.filter(project=project, state="open").latest("pk")
    mine = f"/projects/{project.pk}"
    return {
        "inbox": "/",
        "pulse": "/pulse/",
        "projects": "/projects/",
        "project": f"{mine}/",
        "project: memories": f"{mine}/?show=memories",
        "project: sessions": f"{mine}/?show=sessions",
        "project: timeline": f"{mine}/?show=timeline",
        "project: by whom": f"{mine}/?show=timeline&who=-system",
        "directory at a moment": f"{mine}/at/",
        "between two moments": f"{mine}/between/?a=2000-01-01",
        "bring back": f"{mine}/at/restore/?when=2000-01-01",
        "checkup": f"{mine}/checkup/",
        "recall": f"{mine}/recall/?q=deploy+database",
        "secrets": f"{mine}/secrets/",
        "project settings": f"{mine}/settings/",
        "memory": f"/memories/{memory.pk}/",
        "memory: blame": f"/memories/{memory.pk}/blame/",
        "memory: compare": f"/memories/{memory.pk}/compare/",
        "memory: edit": f"/memories/{memory.pk}/edit/",
        "session": f"/sessions/{session.pk}/",
        "search": "/search/?q=deploy",
        "search, rare": "/search/?q=note+7",
        "dreams": "/dreams/",
        "dreams, last page": "/dreams/?page=last",
        "dream": f"/dreams/{dream.public_id}/",
        "review": f"/review/{proposal.public_id}/",
        "usage": "/usage/",
        "usage of a year": "/usage/?days=365",
        "audit": "/audit/",
        "audit, checked": "/audit/?check=1",
        "settings": "/settings/",
        "engines": "/engines/",
        "health": "/health/",
    }


def ask() -> Answers:
    from django.test import Client

    from dreams.services.login import ensure_owner

    client = Client(HTTP_HOST="127.0.0.1:8765", SERVER_PORT="8765")
    client.force_login(ensure_owner())
    pages = {name: answer(client, address) for name, address in addresses().items()}
    return Answers(pages, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, own_memory())


def own_memory() -> int | None:
    status = Path("/proc/self/status")
    found = re.search(r"^RssAnon:\s+(\d+) kB", status.read_text(), re.M) if status.exists() else None
    return int(found[1]) // 1024 if found else None


def answer(client: Client, address: str) -> Answer:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client.get(address)  # loads templates and fills caches
    clock, processor = [], []
    for _ in range(RUNS):
        start, worked = time.perf_counter(), time.process_time()
        client.get(address)
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - worked)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
    body = b"".join(response) if response.streaming else response.content
    return Answer(
        ms=statistics.median(clock) * 1000,
        cpu=statistics.median(processor) * 1000,
        queries=len(queries),
        bytes=len(gzip.compress(body)) + linked_bytes(body.decode()),
        status=response.status_code,
    )


def linked_bytes(page: str) -> int:
    """Bytes of the page's styles, scripts and icon, compressed as served."""
    from django.conf import settings

    names = set(re.findall(r'(?:href|src)="/static/([^"?]+\.(?:css|js|svg))"', page))
    return sum(len(gzip.compress((Path(settings.STATIC_ROOT) / name).read_bytes())) for name in names)


# --- Separate processes, as settings name one database ------------------------------------------------------------


def child(folder: Path, *options: str) -> str:
    """Runs a child process and returns the last line of its output."""
    environment = os.environ | {
        "MEMORYWEB_DATA_DIR": str(folder),
        "MEMORYWEB_ROOTS": str(folder / "root"),
        "HOME": str(folder),
        "DJANGO_SETTINGS_MODULE": "memoryweb.settings",
    }
    line = [sys.executable, __file__, *options]
    done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]


def filled_and_asked(folder: Path, counts: Sequence[int]) -> Answers:
    """Uses two processes: making rows takes more memory than the pages that show them."""
    folder.mkdir(exist_ok=True)
    child(folder, "--fill", *map(str, counts))
    return Answers.read(child(folder, "--ask"))


def start_django() -> None:
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()


def run_fill(counts: Sequence[int]) -> None:
    start_django()
    from bench._pages_rows import fill
    from dreams.services import database
    from dreams.services.search import index
    from dreams.services.serving import web_server

    database.ensure()
    web_server.collect()
    fill(*counts)
    index.catch_up(600)
    print("filled")


def run_ask() -> None:
    start_django()
    from bench._table import make_pages_anew

    make_pages_anew()
    print(json.dumps(asdict(ask())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--dreams", type=int, default=10_000)
    parser.add_argument("--fill", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        run_fill(options.fill)
        return 0
    if options.ask:
        run_ask()
        return 0
    counts = [options.sessions, options.memories, options.dreams]
    with tempfile.TemporaryDirectory(prefix="bench-pages-") as folder:
        few = filled_and_asked(Path(folder) / "few", [max(30, count // SMALL) for count in counts])
        many = filled_and_asked(Path(folder) / "many", counts)
    return tell(few, many, counts)


def tell(few: Answers, many: Answers, counts: Sequence[int]) -> int:
    sizes = "{:,} sessions, {:,} memories, {:,} dreams".format(*counts)
    print(f"{sizes}, against a hundredth of each; medians of {RUNS}, time of the processor")
    print(f"  {'page':<24}{'few':>10}{'many':>10}{'ratio':>8}{'clock':>12}{'queries':>9}{'gzip':>11}")
    wrong = []
    for name, page in many.pages.items():
        before = few.pages[name]
        faults = faults_of(before, page)
        wrong += [f"{name} ({', '.join(faults)})"] if faults else []
        print(
            f"  {name:<24}{before.cpu:7.1f} ms{page.cpu:7.1f} ms{page.cpu / before.cpu:7.1f}x{page.ms:9.1f} ms"
            f"{before.queries:5} {page.queries:3}{page.bytes / 1000:8.1f} KB  {', '.join(faults)}".rstrip()
        )
    print(f"The most memory while asking: {few.memory_words} with few rows, {many.memory_words} with many.")
    if wrong:
        print(f"Wrong: {'; '.join(wrong)}")
    return 1 if wrong else 0


def faults_of(few: Answer, many: Answer) -> list[str]:
    found = []
    if many.status != 200:
        found.append(f"status {many.status}")
    if many.queries > few.queries:
        found.append("more queries with more rows")
    if many.bytes > MOST_BYTES:
        found.append("heavy")
    return found


if __name__ == "__main__":
    sys.exit(main())
