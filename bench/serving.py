"""`serve`: the time to the first page, and the CPU share while nothing happens.

    .venv/bin/python bench/table.py start                 from the command to the first page, warm
    .venv/bin/python bench/table.py idle [--size 3]       ten minutes of nothing, or half an hour

Both use an already discovered config folder of forty projects. "idle" counts the CPU time of all processes of `serve`.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._table import Cost, Measured, NotMeasured, Row, older_code, side_by_side
from bench.corpus import Corpus

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = 40
IDLE_SECONDS, SETTLED_SECONDS = 600, 90
LONGEST_START = 120


def make_root(root: Path) -> None:
    Corpus("small", seed=11).root(root, 1, sessions=PROJECTS * 6, projects=PROJECTS, memories=PROJECTS * 2)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(code: Path, base: Path, port: int) -> Iterator[psutil.Process]:
    """Runs `serve` of a checkout with the data in `base`; stops it afterwards."""
    environment = os.environ | {
        "MEMORYWEB_DATA_DIR": str(base / "data"),
        "MEMORYWEB_ROOTS": str(base / "root"),
        "HOME": str(base),
        "PYTHONDONTWRITEBYTECODE": "",  # a warm start has compiled modules
    }
    line = [sys.executable, str(code / "manage.py"), "serve", "--no-browser", "--port", str(port)]
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, cwd=code) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def first_page(port: int) -> None:
    """Waits for the login page. Raises NotMeasured."""
    until = time.monotonic() + LONGEST_START
    while time.monotonic() < until:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_START)
        with suppress(OSError):
            line.request("GET", "/login/")
            if line.getresponse().status == 200:
                return
        line.close()
        time.sleep(0.01)
    raise NotMeasured(f"no page within {LONGEST_START} s")


def processor_seconds(process: psutil.Process) -> float:
    """CPU seconds of a process and its descendants, including finished ones."""
    found = 0.0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            found += sum(one.cpu_times()[:4])
    return found


def measure_start(base: Path, size: float) -> Measured:
    make_root(base / "root")

    def start(code: Path, folder: Path) -> Cost:
        port, begun = free_port(), time.perf_counter()
        with served(code, folder, port) as process:
            first_page(port)
            return Cost(time.perf_counter() - begun, sum(process.cpu_times()[:2]))

    before = older_code()
    for code, folder in ((ROOT, base), (before, base / "before")):
        if code:
            folder.mkdir(exist_ok=True)
            if folder != base:
                (folder / "root").symlink_to(base / "root")
            for _ in range(2):  # then everything is compiled, created and discovered
                start(code, folder)
    return side_by_side(
        lambda: start(ROOT, base),
        limit=(lambda: start(before, base / "before")) if before else None,
        rounds=max(1, round(5 * size)),
    )


def measure_idle(base: Path, size: float) -> Measured:
    make_root(base / "root")
    port = free_port()
    with served(ROOT, base, port) as process:
        first_page(port)
        time.sleep(SETTLED_SECONDS)  # the first discovery, the index, and the first ticks
        begun, used = time.monotonic(), processor_seconds(process)
        time.sleep(IDLE_SECONDS * size)
        wall, cpu = time.monotonic() - begun, processor_seconds(process) - used
    ours, core = Cost(wall, cpu), Cost(wall, wall)
    return Measured(
        ours, core, to_limit=ours.over(core), note=f"{wall / 60:.0f} minutes: {cpu:.1f} s of a core"
    )


ROWS = [
    Row(
        "start",
        "start of `serve` to the first page, warm, forty projects",
        measure_start,
        {"seconds": 2.0},
        limit="the code of before",
    ),
    Row(
        "idle",
        "`serve` over forty projects while nothing happens",
        measure_idle,
        {"limit cpu": 0.01},
        limit="one core",
    ),
]
