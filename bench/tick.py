"""One tick over many projects, side by side with the bare stats that it cannot do without.

`python bench/tick.py [--projects 2000]` makes that many projects in a temporary directory. Prints medians and ratios:
every project closed by its clock (the usual minute), every project paused, and nothing but one stat each.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5


def median_seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def make_projects(base: Path, count: int) -> list[Path]:
    """Rows and memory directories whose lock file was touched an hour ago."""
    from dreams.models import Project
    from dreams.services.hosts import host

    an_hour_ago = time.time() - 3600
    folders = []
    for number in range(count):
        folder = base / "root/projects" / f"-p{number}" / "memory"
        folder.mkdir(parents=True)
        lock = folder / ".consolidate-lock"
        lock.touch()
        os.utime(lock, (an_hour_ago, an_hour_ago))
        folders.append(folder)
    Project.objects.bulk_create(
        Project(
            host=host(),
            memory_dir=str(folder),
            slug=folder.parent.name,
            name=f"p{n}",
            history_key=uuid.uuid4().hex,
        )
        for n, folder in enumerate(folders)
    )
    return folders


def measure(base: Path, count: int) -> None:
    from dreams.models import Override
    from dreams.services.scheduling import scheduler

    folders = make_projects(base, count)
    bare = median_seconds(lambda: [os.stat(folder / ".consolidate-lock") for folder in folders])
    scheduler.tick()  # the first tick keeps an answer for each project
    closed = median_seconds(scheduler.tick)
    Override.objects.create(key="paused", value=True)
    scheduler.tick()
    paused = median_seconds(scheduler.tick)
    print(f"{count:,} projects, median of {RUNS} runs")
    for name, seconds in (
        ("one stat each", bare),
        ("tick, all paused", paused),
        ("tick, closed by the clock", closed),
    ):
        print(
            f"  {name:<28} {seconds * 1000:9.1f} ms   {seconds / bare:7.1f} x bare   {seconds / count * 1e6:7.1f} us a project"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=2000)
    count = parser.parse_args().projects
    with tempfile.TemporaryDirectory(prefix="bench-tick-") as folder:
        base = Path(folder)
        os.environ |= {"MEMORYWEB_DATA_DIR": str(base / "data"), "MEMORYWEB_ROOTS": str(base / "root")}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        from dreams.services import database

        database.ensure()
        # The walk for new files has a benchmark of its own.
        with mock.patch("dreams.services.discovery.discover"):
            measure(base, count)


if __name__ == "__main__":
    main()
