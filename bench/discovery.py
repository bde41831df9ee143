"""How fast a config folder is imported, compared with bare reading, ccusage and one stat of each file.

`python bench/table.py discovery` measures it. ccusage (20, by npm) counts the tokens of the same transcripts; the time of
its start, on an empty folder, is subtracted. Ours runs in a started process, like the scheduler's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from bench._table import (
    Cost,
    Measured,
    NotMeasured,
    Row,
    ccusage,
    ccusage_alone,
    command,
    cost_of,
    older_code,
    side_by_side,
    start_django,
)
from bench.corpus import Corpus, Truth

ROUNDS = 3
#: The peer's name of each kind of token.
PEER_KINDS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_creation_tokens": "cacheCreationTokens",
    "cache_read_tokens": "cacheReadTokens",
}


class Place:
    """A config folder in `base`, and a database that is emptied between discoveries."""

    def __init__(self, base: Path, shape: str, megabytes: float, **given: int) -> None:
        self.base, self.root = base, base / "root"
        corpus = Corpus(shape, seed=11)
        self.paths = corpus.root(self.root, megabytes, **given)
        self.truth: Truth = corpus.truth
        start_django(base / "data")
        self._shutdown()
        shutil.copytree(base / "data", base / "empty")

    @staticmethod
    def _shutdown() -> None:
        from django.db import connections

        connections.close_all()

    def begin_again(self) -> None:
        self._shutdown()
        shutil.rmtree(self.base / "data")
        shutil.copytree(self.base / "empty", self.base / "data")

    def discover(self) -> Any:
        from dreams.services.discovery import discover

        return discover([self.root])

    def transcripts_alone(self) -> Cost:
        """Runs a full discovery; returns its cost of reading and storing transcripts."""
        from dreams.services.discovery import run

        costs: list[Cost] = []
        real = run._import

        def timed(*given: Any) -> None:
            costs.append(cost_of(lambda: real(*given)))

        with mock.patch.object(run, "_import", timed):
            self.check(self.discover())
        return costs[0]

    def check(self, report: Any) -> None:
        """Checks that the counts are correct: speed must not come from omissions."""
        from dreams.services.discovery import totals
        from dreams.services.hosts import host

        found = totals(host())
        assert (found["sessions"], found["requests"]) == (self.truth.sessions, self.truth.requests)
        assert found["tokens"] == self.truth.tokens
        assert report.memories == self.truth.memories

    def peer(self) -> Callable[[], Cost] | None:
        if not shutil.which("ccusage"):
            return None
        told = ccusage(self.root)["totals"]
        for kind, name in PEER_KINDS.items():
            assert told[name] == sum(model[kind] for model in self.truth.tokens.values()), told
        return lambda: ccusage_alone(self.root, self.base / "nothing")

    def before(self) -> Callable[[], object] | None:
        """The same command of an earlier version, with a separate data directory, empty each time."""
        code = older_code()
        if code is None:
            return None

        def work() -> Cost:
            data = self.base / "older"
            shutil.rmtree(data, ignore_errors=True)
            return cost_of(lambda: command(code, data, "discover", "--root", str(self.root)) and None)

        return work


def bare(paths: list[Path]) -> None:
    buffer = bytearray(1 << 20)
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def _transcripts(place: Place) -> Measured:
    return side_by_side(
        place.transcripts_alone,
        limit=lambda: bare(place.paths),
        peer=place.peer(),
        prepare=place.begin_again,
        rounds=ROUNDS,
        note=f"{place.truth.bytes / 1e6:.0f} MB",
    )


def measure_first(base: Path, size: float) -> Measured:
    sessions = int(400 * size)
    return _transcripts(
        Place(base, "long", 160 * size, projects=40, sessions=sessions, memories=int(1_200 * size))
    )


def measure_gigabyte(base: Path, size: float) -> Measured:
    return _transcripts(Place(base, "long", 850 * size, projects=40, sessions=int(2_000 * size)))


def measure_small(base: Path, size: float) -> Measured:
    return _transcripts(Place(base, "small", 60 * size, projects=40, sessions=int(20_000 * size)))


def measure_before(base: Path, size: float) -> Measured:
    """Measures complete commands of this version and an earlier one."""
    if older_code() is None:
        raise NotMeasured("MEMORYWEB_BENCH_BEFORE names no checkout of an earlier version")
    given = {"projects": 200, "sessions": int(100_000 * size), "memories": int(10_000 * size)}
    place = Place(base, "small", 300 * size, **given)
    here = Path(__file__).resolve().parents[1]

    def ours() -> Cost:
        shutil.rmtree(base / "ours", ignore_errors=True)
        told: dict[str, Any] = {}
        cost = cost_of(
            lambda: told.update(command(here, base / "ours", "discover", "--root", str(place.root)))
        )
        assert told["totals"]["tokens"] == place.truth.tokens, told["totals"]
        return cost

    return side_by_side(ours, limit=place.before(), rounds=1)


def measure_unchanged(base: Path, size: float) -> Measured:
    place = Place(base, "small", 60 * size, projects=40, sessions=int(20_000 * size))
    place.check(place.discover())
    return side_by_side(place.discover, limit=lambda: scan_and_stat(place.root), rounds=5)


def scan_and_stat(folder: Path) -> None:
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


TOOL = "ccusage 20"
ROWS = [
    Row(
        "discovery-first",
        "first discovery of 400 sessions, 200 MB, 1,200 memories in 40 projects: the transcripts",
        measure_first,
        {"peer": 0.9, "peer cpu": 0.9},
        limit="bare reading",
        peer=TOOL,
    ),
    Row(
        "discovery-gigabyte",
        "first discovery of 1 GB in 2,000 sessions: the transcripts",
        measure_gigabyte,
        {"limit": 6.0, "peer": 0.9},
        limit="bare reading",
        peer=TOOL,
    ),
    Row(
        "discovery-small",
        "first discovery of 20,000 small sessions: the transcripts",
        measure_small,
        {"peer": 1.5},
        limit="bare reading",
        peer=TOOL,
    ),
    Row(
        "discovery-before",
        "`discover` of 200 projects with 500 sessions each and 10,000 memories",
        measure_before,
        {"limit": 0.25},
        limit="the code of before",
    ),
    Row(
        "discovery-unchanged",
        "nothing changed, 20,000 files",
        measure_unchanged,
        {"limit": 2.0},
        limit="scandir and stat",
    ),
]
