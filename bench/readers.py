"""Eight concurrent readers over very many rows: how long pages take, compared with a plain page of the same server.

    .venv/bin/python bench/table.py readers [--size 0.1]     the rows of the table
    .venv/bin/python bench/readers.py --mixed [--sessions N]  eight readers, a dream and an import at once
    .venv/bin/python bench/readers.py [--anew | --commits]    without page cache, or with a commit every second

The plain page shows 50 rows of a table with a Django template, behind the same middleware, login, threads and database, and
is requested in turn with the page. Percentiles are of all responses of a run. A status other than 200 ends the run.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._table import Cost, Measured, NotMeasured, Row

ROOT = Path(__file__).resolve().parents[1]
READERS, ASKED, TURNS = 8, 12, 5  # of each page by each reader; turns of one reader
PLAIN = "/plain/"
ANEW = "BENCH_PAGES_ANEW"


# --- The server, in a separate process ------------------------------------------------------------------------------


def serve(sessions: int) -> None:
    """Fills a database, serves it, and reports address and cookie; until the pipe is closed."""
    from bench._table import make_pages_anew, start_django

    start_django(Path(os.environ["MEMORYWEB_DATA_DIR"]))
    if os.environ.get(ANEW):
        make_pages_anew()
    from django.conf import settings
    from django.test import Client

    from bench._pages_rows import fill
    from dreams.models import Project
    from dreams.services.login import ensure_owner
    from dreams.services.search import index
    from dreams.services.serving import web_server

    settings.ROOT_URLCONF = "bench._plain_page"
    if not Project.objects.exists():
        fill(sessions, max(30, sessions // 10), max(30, sessions // 10))
        index.catch_up(5)  # the rest is not processed yet, as after a first discovery
    make_root(Path(os.environ["MEMORYWEB_ROOTS"]), 300)
    web_server.collect()
    web = web_server.Web(web_server.listen("127.0.0.1", None, 18_650), "127.0.0.1")
    web.start()
    client = Client(HTTP_HOST=f"127.0.0.1:{web.port}")
    client.force_login(ensure_owner())
    name = settings.SESSION_COOKIE_NAME
    pages = {
        "inbox": "/",
        "projects": "/projects/",
        "project": f"/projects/{Project.objects.get(slug='-p0').pk}/",
        "sessions": f"/projects/{Project.objects.get(slug='-p0').pk}/?show=sessions",
        "usage": "/usage/",
        "search": "/search/?q=deploy",
        "dreams": "/dreams/",
    }
    told = {"port": web.port, "cookie": f"{name}={client.cookies[name].value}", "pages": pages}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    web.stop()


@contextmanager
def served(folder: Path, sessions: int) -> Iterator[dict[str, Any]]:
    environment = os.environ | {
        "MEMORYWEB_DATA_DIR": str(folder / "data"),
        "MEMORYWEB_ROOTS": str(folder / "root"),
        "HOME": str(folder),
    }
    (folder / "root").mkdir(parents=True, exist_ok=True)
    line = [sys.executable, __file__, "--serve", str(sessions)]
    with subprocess.Popen(
        line, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        answer = process.stdout.readline()
        if not answer:
            raise NotMeasured("the server did not start")
        try:
            yield json.loads(answer) | {"pid": process.pid}
        finally:
            process.stdin.close()


# --- Reading --------------------------------------------------------------------------------------------------------


def read(server: dict[str, Any], pages: list[str], kept: dict[str, list[float]], times: int) -> None:
    """One reader: each page in turn, over one connection."""
    line = http.client.HTTPConnection("127.0.0.1", server["port"], timeout=120)
    for _ in range(times):
        for page in pages:
            start = time.perf_counter()
            line.request("GET", page, headers={"Cookie": server["cookie"]})
            answer = line.getresponse()
            answer.read()
            kept[page].append(time.perf_counter() - start)
            if answer.status != 200:
                raise SystemExit(f"{page} was answered by {answer.status}")
    line.close()


def readers(server: dict[str, Any], pages: list[str], times: int = ASKED) -> dict[str, list[float]]:
    """Seconds of every response, by page."""
    kept: dict[str, list[float]] = {page: [] for page in pages}
    threads = [threading.Thread(target=read, args=(server, pages, kept, times)) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missing = [page for page, seconds in kept.items() if len(seconds) != READERS * times]
    if missing:
        raise SystemExit(f"Not all answers came: {', '.join(missing)}")
    return kept


def percentile(seconds: list[float], share: int) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[share - 1]


def processor(server: dict[str, Any], page: str) -> float:
    """CPU seconds of the server for a page, asked for by one reader: the median of some turns."""
    process, turns = psutil.Process(server["pid"]), []
    for _ in range(TURNS):
        before = sum(process.cpu_times()[:2])
        read(server, [page], {page: []}, ASKED)
        turns.append((sum(process.cpu_times()[:2]) - before) / ASKED)
    return statistics.median(turns)


def beside_plain(server: dict[str, Any], page: str) -> tuple[dict[str, list[float]], float]:
    """Seconds of every response of the page and of the plain one, and the ratio of their 99th percentiles."""
    readers(server, [PLAIN, page], 2)  # fills the caches
    kept = readers(server, [PLAIN, page])
    return kept, percentile(kept[page], 99) / percentile(kept[PLAIN], 99)


def measure(name: str, base: Path, size: float) -> Measured:
    """Pages are made anew. `ours` and `limit` are the median responses; the 99th percentile is in the note."""
    os.environ[ANEW] = "1"
    with served(base, max(1_000, int(100_000 * size))) as server:
        page = server["pages"][name]
        kept, slow = beside_plain(server, page)
        ours, plain = (Cost(statistics.median(kept[each]), processor(server, each)) for each in (page, PLAIN))
    return Measured(
        ours, plain, to_limit=ours.over(plain), note=f"99th percentile {slow:.1f} × limit, at most 4"
    )


ROWS = [
    Row(
        f"readers {name}",
        f"{words} at 100,000 sessions, 8 readers, made anew",
        partial(measure, name),
        {"limit": 2.0},
        limit="a plain page",
    )
    for name, words in {
        "sessions": "a list of sessions",
        "usage": "usage",
        "project": "one project",
        "search": "search while the index fills",
    }.items()
]


# --- Eight readers, a dream and an import at once -------------------------------------------------------------------


def make_root(root: Path, sessions: int) -> None:
    """One project that is ready to dream, and new transcripts."""
    from tests.world import directory as world

    for slug in ("-home-dev-app", "-home-dev-new"):
        world.write_sessions(root, sessions, slug=slug)
        for name, text in (("MEMORY.md", world.INDEX), ("feedback_testing.md", world.TESTING)):
            world.put(root / "projects" / slug / "memory" / name, text)


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "MEMORYWEB_DATA_DIR": str(folder / "data"),
        "MEMORYWEB_ROOTS": str(folder / "root"),
        "HOME": str(folder),
    }
    line = [sys.executable, str(ROOT / "manage.py"), *words, "--json"]
    return subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def mixed(folder: Path, sessions: int) -> int:
    """Percentiles of all pages while a dream and an import run repeatedly, and the errors of all."""
    with served(folder, sessions) as server:
        pages = [PLAIN, *server["pages"].values()]
        readers(server, pages, 1)
        show("alone", readers(server, pages, 4))
        is_over, ended = threading.Event(), list[tuple[str, int, str]]()
        workers = [
            threading.Thread(target=again, args=(folder, words, is_over, ended))
            for words in (("discover",), ("dream", "-home-dev-app", "--force", "--engine", "rules"))
        ]
        for worker in workers:
            worker.start()
        kept = readers(server, pages, 8)
        is_over.set()
        for worker in workers:
            worker.join()
    show("beside a dream and an import", kept)
    wrong = [f"{what}: {said}" for what, code, said in ended if code]
    runs = {what: sum(what == each for each, _, _ in ended) for what, _, _ in ended}
    print(f"runs meanwhile: {runs}; answers: {sum(map(len, kept.values()))}; errors: {len(wrong)}")
    print("\n".join(wrong[:5]))
    return 1 if wrong else 0


def again(
    folder: Path, words: tuple[str, ...], is_over: threading.Event, ended: list[tuple[str, int, str]]
) -> None:
    while not is_over.is_set():
        process = command(folder, *words)
        _, said = process.communicate(timeout=600)
        ended.append((words[0], process.returncode, said.strip()[-200:]))


def show(title: str, kept: dict[str, list[float]]) -> None:
    print(title)
    for page, seconds in kept.items():
        told = "   ".join(f"p{share} {percentile(seconds, share) * 1000:7.1f} ms" for share in (50, 90, 99))
        print(f"  {page:32} {told}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--mixed", action="store_true", help="with a dream and an import beside")
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--anew", action="store_true", help="make each page anew")
    parser.add_argument("--commits", action="store_true", help="commit something every second (SQLite)")
    parser.add_argument("--folder", type=Path, help="keep the rows here, and find them here the next time")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    if options.anew:
        os.environ[ANEW] = "1"
    import tempfile

    with tempfile.TemporaryDirectory() as empty:
        folder = options.folder or Path(empty)
        if options.mixed:
            return mixed(folder, options.sessions)
        with served(folder, options.sessions) as server, commits(folder, options.commits):
            show_beside_plain(server)
    return 0


@contextmanager
def commits(folder: Path, wanted: bool) -> Iterator[None]:
    """Another process that changes a row every second."""
    is_over = threading.Event()

    def commit() -> None:
        with closing(sqlite3.connect(folder / "data" / "memoryweb.sqlite3", timeout=20)) as rows:
            while not is_over.wait(1):
                with rows:
                    rows.execute("UPDATE dreams_project SET failures = failures")

    worker = threading.Thread(target=commit) if wanted else None
    if worker:
        worker.start()
    try:
        yield
    finally:
        is_over.set()
        if worker:
            worker.join()


def show_beside_plain(server: dict[str, Any]) -> None:
    """Compares each page in turn with the plain one, like the rows of the table."""
    for name, page in server["pages"].items():
        kept, slow = beside_plain(server, page)
        median, plain = (statistics.median(kept[each]) for each in (page, PLAIN))
        print(
            f"  {name:10} {median * 1000:7.1f} ms, {median / plain:.1f} x a plain page; 99th percentile {slow:.1f} x",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
