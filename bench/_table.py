"""One row of the table of speed: what is measured, beside what, and how good it has to be.

Two bars stand beside a path, measured in the same run, one round after another, so that the machine's noise cancels out.
The *limit* is the bare work that no program can do without (reading the bytes, one stat for each file), or the same path
by the code of before. The *peer* is another program that does the same. Goals are ratios to them, or plain seconds.
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
    """What a row needs is missing on this machine, and how to get it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock, and of the processors."""

    wall: float
    cpu: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(max(self.wall - other.wall, 0.001), max(self.cpu - other.cpu, 0.001))

    def over(self, other: Cost) -> Cost:
        return Cost(self.wall / max(other.wall, 1e-6), self.cpu / max(other.cpu, 1e-6))


@dataclass(frozen=True, slots=True)
class Measured:
    """Median costs, and the medians of each round's ratios of ours to the limit and to the peer."""

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


#: What is measured does its work, and may tell its own cost, where only a part of the work counts.
Work = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Row:
    """`measure` gets an empty folder and a size: 1.0 is what `path` says, 0.1 a tenth of it. It raises NotMeasured.

    `limit` and `peer` say what the two bars are. `goals` are the most that ours may be: "limit" and "peer" as ratios by
    the clock, "limit cpu" and "peer cpu" of the processors, "seconds" by the clock.
    """

    name: str
    path: str
    measure: Callable[[Path, float], Measured]
    goals: Mapping[str, float] = field(default_factory=dict)
    limit: str = ""
    peer: str = ""


def used() -> float:
    """CPU seconds of this process and of those it waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def cost_of(work: Work) -> Cost:
    """What `work` costs; what it says itself, where it returns a Cost."""
    cpu, wall = used(), time.perf_counter()
    told = work()
    wall, cpu = time.perf_counter() - wall, used() - cpu
    return told if isinstance(told, Cost) else Cost(wall, cpu)


def side_by_side(
    ours: Work,
    *,
    limit: Work | None = None,
    peer: Work | None = None,
    prepare: Work | None = None,
    rounds: int = ROUNDS,
    note: str = "",
) -> Measured:
    """Measure each in turn, `rounds` times; `prepare` runs before each of ours and is not counted."""
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


# The peer of everything that reads transcripts.


def ccusage(root: Path, *arguments: str) -> dict[str, Any]:
    """What ccusage says of a config folder. Raises NotMeasured where it is not installed."""
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
    """What ccusage needs for a config folder, less its own start on an empty one."""
    (empty / "projects").mkdir(parents=True, exist_ok=True)
    start = cost_of(lambda: ccusage(empty) and None)
    return cost_of(lambda: ccusage(root) and None) - start


def older_code() -> Path | None:
    """A checkout of an earlier version to measure beside this one: the folder that MEMORYWEB_BENCH_BEFORE names."""
    folder = os.environ.get("MEMORYWEB_BENCH_BEFORE")
    return Path(folder) if folder else None


def command(code: Path, data: Path, *words: str) -> dict[str, Any]:
    """What `manage.py WORDS --json` of a checkout says, with its own data directory."""
    environment = {**os.environ, "MEMORYWEB_DATA_DIR": str(data)}
    line = [sys.executable, str(code / "manage.py"), *words, "--json"]
    done = subprocess.run(line, env=environment, capture_output=True, check=True, timeout=1_800, cwd=code)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def start_django(data: Path) -> None:
    """This process gets an app of its own, with a database in `data`."""
    os.environ["MEMORYWEB_DATA_DIR"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    import django

    django.setup()
    from dreams.services import database

    database.ensure()


def make_pages_anew() -> None:
    """In this process no page is kept: what making one costs is measured, and not that it was made before."""
    import datetime as dt

    from dreams.web import page_cache

    page_cache.FRESH = dt.timedelta()
