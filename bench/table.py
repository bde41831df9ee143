"""The table of speed: `python bench/table.py [WORD]… [--size 0.1] [--json]`.

Measures every row of the registry below whose name contains one of the words (all without any), each in a separate
process and data directory, and prints one Markdown table: path, ours, limit, peer, ratio, goal. `--size 0.1` measures
with a tenth of each row's size. A row that cannot be measured shows why; the others go on.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._table import Cost, Measured, NotMeasured, Row

#: The registry: modules with a list ROWS, in the order of the table.
MODULES = (
    "bench.discovery",
    "bench.tick",
    "bench.agent_grep",
    "bench.large_review",
    "bench.diff",
    "bench.statement_index",
    "bench.readers",
    "bench.serving",
)
LONGEST = 7_200  # time limit in seconds for one row
HEADINGS = ("path", "ours", "limit", "peer", "ratio", "goal")
BARS = {"limit": "limit", "peer": "peer"}


def all_rows() -> Iterator[Row]:
    for module in MODULES:
        yield from importlib.import_module(module).ROWS


def chosen(words: list[str]) -> list[Row]:
    return [row for row in all_rows() if not words or any(word in row.name for word in words)]


def measured_apart(row: Row, size: float) -> Measured:
    """Measures a row in a new process. Raises NotMeasured."""
    words = [sys.executable, __file__, "--row", row.name, "--size", str(size)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"not done within {LONGEST} s") from error
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode or not last.startswith("{"):
        raise NotMeasured((done.stderr.strip() or "no answer").rpartition("\n")[2])
    return Measured.read(last)


def measure_here(row: Row, size: float) -> Measured:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return row.measure(Path(folder), size)


# The table as text


def cells(row: Row, found: Measured) -> tuple[str, ...]:
    ratios = [(name, ratio) for name, ratio in (("limit", found.to_limit), ("peer", found.to_peer)) if ratio]
    return (
        row.path + (f" ({found.note})" if found.note else ""),
        seconds(found.ours),
        f"{seconds(found.limit)}, {row.limit}" if found.limit else "–",
        f"{seconds(found.peer)}, {row.peer}" if found.peer else "–",
        "; ".join(f"{ratio.wall:.2g} × {name} (cpu {ratio.cpu:.2g} ×)" for name, ratio in ratios) or "–",
        "; ".join(_goal(name, most, found) for name, most in row.goals.items()) or "–",
    )


def seconds(cost: Cost) -> str:
    return f"{cost.wall:.3g} s" if cost.wall >= 1 else f"{cost.wall * 1000:.3g} ms"


def _goal(name: str, most: float, found: Measured) -> str:
    bar, _, cpu = name.partition(" ")
    cost = {"limit": found.to_limit, "peer": found.to_peer, "seconds": found.ours}[bar]
    words = f"≤ {most:g} s" if bar == "seconds" else f"≤ {most:g} × {name}"
    if cost is None:
        return f"{words}: not measured"
    return f"{words}: {'met' if (cost.cpu if cpu else cost.wall) <= most else 'missed'}"


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="rows whose name has one of these")
    parser.add_argument("--size", type=float, default=1.0, help="a fraction of each row's size")
    parser.add_argument("--json", action="store_true", help="one JSON object for each row")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(
            measure_here(next(row for row in all_rows() if row.name == options.row), options.size).as_json()
        )
        return 0
    return print_table(chosen(options.words), options.size, as_json=options.json)


def print_table(rows: list[Row], size: float, *, as_json: bool) -> int:
    failed = 0
    if not as_json:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {size:g} of each size\n")
        print(line(HEADINGS), line("---" for _ in HEADINGS), sep="\n")
    for row in rows:
        try:
            found = measured_apart(row, size)
        except NotMeasured as error:
            failed += 1
            print(
                json.dumps({"name": row.name, "error": str(error)})
                if as_json
                else line((row.path, f"not measured: {error}", *("–",) * 4))
            )
            continue
        print(
            json.dumps({"name": row.name, **json.loads(found.as_json())})
            if as_json
            else line(cells(row, found)),
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
