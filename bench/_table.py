"""One row of the table of speed: what is measured, compared with what, and its goal.

A path is compared with two others in the same run, one round after another, so that the machine's noise cancels out.
The *limit* is the minimal work of any program (reading the bytes, one stat for each file), or the same path in an
earlier version. The *peer* is another program that does the same. Goals are ratios to them, or plain seconds.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROUNDS = 3


class NotMeasured(Exception):
    """Something is missing on this machine; the message says what, and how to get it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall time and of CPU time."""

    wall: float
    cpu: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(max(self.wall - other.wall, 0.001), max(self.cpu - other.cpu, 0.001))

    def over(self, other: Cost) -> Cost:
        return Cost(self.wall / max(other.wall, 1e-6), self.cpu / max(other.cpu, 1e-6))


@dataclass(frozen=True, slots=True)
class Measured:
    """Median costs, and the medians of the rounds' ratios of ours to the limit and to the peer."""

    ours: Cost
    limit: Cost | None = None
    peer: Cost | None = None
    to_limit: Cost | None = None
    to_peer: Cost | None = None
    note: str = ""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Measured:
        found = json.loads(text)
        note = found.pop("note")
        return cls(**{name: Cost(**cost) if cost else None for name, cost in found.items()}, note=note)


#: The work to measure; it may return its own Cost if only a part counts.
Work = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """`measure` gets an empty folder and a size: 1.0 is the size in `path`, 0.1 a tenth of it. It raises NotMeasured.

    `limit` and `peer` describe the comparisons. `goals` are the maxima of ours: "limit" and "peer" as ratios of wall
    time, "limit cpu" and "peer cpu" of CPU time, "seconds" of wall time.
    """

    name: str
    path: str
    measure: Callable[[Path, float], Measured]
    goals: Mapping[str, float] = field(default_factory=dict)
    limit: str = ""
    peer: str = ""


def used() -> float:
    """CPU seconds of this process and its finished children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def cost_of(work: Work) -> Cost:
    """The cost of `work`; the one that it returns, if any."""
    cpu, wall = used(), time.perf_counter()
    told = work()
    wall, cpu = time.perf_counter() - wall, used() - cpu
    return told if isinstance(told, Cost) else Cost(wall, cpu)


def least(work: Work, runs: int = 1) -> float:
    """The least CPU seconds of some runs, with finished children: other work on the machine only adds time."""
    return min(cost_of(work).cpu for _ in range(runs))


def side_by_side(
    ours: Work,
    *,
    limit: Work | None = None,
    peer: Work | None = None,
    prepare: Work | None = None,
    rounds: int = ROUNDS,
    note: str = "",
) -> Measured:
    """Measures each in turn, `rounds` times; `prepare` runs before each of ours and is not counted."""
    costs: list[tuple[Cost, Cost | None, Cost | None]] = []
    for _ in range(rounds):
        one = cost_of(limit) if limit else None
        other = cost_of(peer) if peer else None
        if prepare:
            prepare()
        costs.append((cost_of(ours), one, other))
    mine, bare, others = zip(*costs, strict=True)
    return Measured(
        _median(mine), _median(bare), _median(others), _ratios(mine, bare), _ratios(mine, others), note
    )


def _median(costs: tuple[Cost | None, ...]) -> Cost | None:
    found = [cost for cost in costs if cost is not None]
    if not found:
        return None
    return Cost(statistics.median(c.wall for c in found), statistics.median(c.cpu for c in found))


def _ratios(ours: tuple[Cost, ...], bars: tuple[Cost | None, ...]) -> Cost | None:
    return _median(tuple(one.over(bar) if bar else None for one, bar in zip(ours, bars, strict=True)))


# The peer for everything that reads transcripts.


def ccusage(root: Path, *arguments: str) -> dict[str, Any]:
    """The output of ccusage for a config folder. Raises NotMeasured if it is not installed."""
    program = shutil.which("ccusage")
    if program is None:
        raise NotMeasured(
            "ccusage is not on PATH: `npm install --prefix DIR ccusage@20.0.24`, then PATH=DIR/node_modules/.bin:$PATH"
        )
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(root), "HOME": str(root)}
    words = [program, "claude", *(arguments or ("daily",)), "--json", "--offline"]
    done = subprocess.run(words, env=environment, capture_output=True, check=True, timeout=900)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ccusage_alone(root: Path, empty: Path) -> Cost:
    """The cost of ccusage for a config folder, less that of its start on an empty one."""
    (empty / "projects").mkdir(parents=True, exist_ok=True)
    start = cost_of(lambda: ccusage(empty) and None)
    return cost_of(lambda: ccusage(root) and None) - start


def older_code() -> Path | None:
    """A checkout of an earlier version to compare with: the folder in MEMORYWEB_BENCH_BEFORE."""
    folder = os.environ.get("MEMORYWEB_BENCH_BEFORE")
    return Path(folder) if folder else None


def command(code: Path, data: Path, *words: str) -> dict[str, Any]:
    """The output of `manage.py WORDS --json` of a checkout, with a separate data directory."""
    environment = {**os.environ, "MEMORYWEB_DATA_DIR": str(data)}
    line = [sys.executable, str(code / "manage.py"), *words, "--json"]
    done = subprocess.run(line, env=environment, capture_output=True, check=True, timeout=1_800, cwd=code)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def start_django(data: Path) -> None:
    """Sets up Django in this process, with a database in `data`."""
    os.environ["MEMORYWEB_DATA_DIR"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    import django

    django.setup()
    from dreams.services import database

    database.ensure()


def make_pages_anew() -> None:
    """Turns the page cache off in this process, to measure how long making a page takes."""
    import datetime as dt

    from dreams.web import page_cache

    page_cache.FRESH = dt.timedelta()
