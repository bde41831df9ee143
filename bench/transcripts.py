"""How fast transcripts are read, as ratios to bare reading: `python bench/transcripts.py [--gb N]`.

Writes corpora of two shapes (`corpus`) to a temporary folder. All ways run in turn, one round after another, and the
medians of the rounds' ratios are printed: the machine's noise cancels out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.corpus import SHAPES, Corpus
from dreams.lib.agents.transcripts import Reader, Scan, UsageRow, keep_best, read_whole, scan
from dreams.lib.agents.transcripts.read_ahead import Ahead, cores
from tests.world.transcripts import without_replays

ROUNDS = 5


def bare(paths: list[Path]) -> None:
    buffer = bytearray(1 << 20)
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def records(paths: list[Path]) -> int:
    reader = Reader()
    return sum(1 for path in paths for _ in reader.read(path))


def rows(paths: list[Path]) -> list[UsageRow]:
    reader, best = Reader(), dict[int, UsageRow]()
    for path in paths:
        for batch in scan(path, Scan(), reader=reader):
            for row in batch.usage.values():
                keep_best(best, row)
    return without_replays(best.values())


TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def plain(paths: list[Path]) -> dict[tuple[str, str], dict[str, int]]:
    """The same totals by the simplest code, to check the fast one."""
    best: dict[tuple[str, str], dict[str, int]] = {}
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                record = json.loads(line)
                usage = record.get("message", {}).get("usage")
                if usage:
                    usage = {name: usage[name] for name in TOKENS}
                    key = (record["message"]["id"], record["requestId"])
                    if key not in best or sum(usage.values()) > sum(best[key].values()):
                        best[key] = usage
    return best


def in_order(children: int) -> Callable[[list[Path]], None]:
    """Reads ahead in `children` more processes, like a first discovery."""

    def work(paths: list[Path]) -> None:
        files = [(str(path), path.stat().st_size) for path in paths]
        with Ahead(files, children=children) as ahead:
            for path, _ in files:
                ahead.take(path) or read_whole(path)

    return work


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def used() -> float:
    """CPU seconds of this process and its finished children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def side_by_side(ways: dict[str, Callable[[], object]], *, size: int, rounds: int = ROUNDS) -> None:
    """Runs each in turn, `rounds` times, and prints its median ratios to the first one: wall and CPU."""
    walls: dict[str, list[float]] = {name: [] for name in ways}
    cpus: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            before = used()
            walls[name].append(timed(work))
            cpus[name].append(used() - before)
    first = next(iter(ways))
    for name in ways:
        wall = statistics.median(a / b for a, b in zip(walls[name], walls[first], strict=True))
        cpu = statistics.median(a / b for a, b in zip(cpus[name], cpus[first], strict=True))
        seconds = statistics.median(walls[name])
        print(
            f"  {name:24} wall {wall:6.2f} x  cpu {cpu:6.2f} x  {seconds:7.3f} s {size / seconds / 1e6:7.0f} MB/s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--gb", type=float, default=0.3, help="size of the long-lined corpus; the other has a third"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for shape in SHAPES:
            megabytes = options.gb * 1_000 / (1 if shape == "long" else 3)
            measure(shape, sorted(Corpus(shape).write(Path(temporary) / shape, megabytes)))


def measure(shape: str, paths: list[Path]) -> None:
    size, lines = (
        sum(path.stat().st_size for path in paths),
        sum(path.read_bytes().count(b"\n") for path in paths),
    )
    big = sum(path.stat().st_size > 1_000_000 for path in paths)
    print(
        f"{shape}: {len(paths)} files ({big} over 1 MB), {size / 1e6:.0f} MB, {lines} lines; load {os.getloadavg()[0]:.1f}"
    )
    ways: dict[str, Callable[[], object]] = {
        "bare reading": lambda: bare(paths),
        "records": lambda: records(paths),
        "scan, 1 process": lambda: rows(paths),
    }
    if cores() > 1:
        ways["scan, 2 processes"] = lambda: in_order(1)(paths)
    side_by_side(ways, size=size)
    exact(paths)
    appended(max(paths, key=lambda path: path.stat().st_size))
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def exact(paths: list[Path]) -> None:
    expected, found = plain(paths), rows(paths)
    totals = [
        sum(row.input for row in found),
        sum(row.output for row in found),
        sum(row.cache_read for row in found),
        sum(row.cache_creation for row in found),
    ]
    assert totals == [sum(usage[name] for usage in expected.values()) for name in TOKENS], "totals differ"
    print(f"  {len(found)} requests, totals exact against plain json")


def appended(path: Path) -> None:
    """Measures the import of one line appended to the largest file: it costs only that line."""
    state = Scan()
    for _ in scan(path, state):
        pass
    before = state.cursor.offset
    with path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"new","message":{"role":"user","content":"one more"}}\n')
    start = time.perf_counter()
    read = sum(batch.bytes_read for batch in scan(path, state))
    seconds = time.perf_counter() - start
    print(f"  one line appended to {before / 1e6:.0f} MB: {read} bytes read, {seconds * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
