"""How fast statements are compared: pairs, and a statement with its edited copy, beside taking one of them apart. Ratios only.

Run from the project's root: .venv/bin/python bench/similarity.py
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.lib.prose import comparing, statements, values

WHAT = ("tests", "uploads", "invoices", "backups", "deploys", "reports", "alerts", "imports")
WHERE = ("in staging", "in production", "on Linux", "behind the proxy", "in the worker", "at night")
RULES = (
    "must be reviewed by Ana",
    "are kept for 30 days",
    "never run twice",
    "use port 8443",
    "go through `make ship`",
)
TEXTS = [f"The {what} {where} {rule}" for what in WHAT for where in WHERE for rule in RULES]


def seconds(run: object) -> float:
    started = time.perf_counter()
    run()  # type: ignore[operator]  # a function without arguments
    return time.perf_counter() - started


def compare() -> None:
    for one, other in combinations(TEXTS, 2):
        comparing.compare(one, other)


def take_apart() -> None:
    for cached in (statements.statement, values.read):
        cached.cache_clear()
    for text in TEXTS:
        values.read(text)


def compare_copies() -> None:
    for text in TEXTS:
        comparing.compare(text, f"{text} on Mondays")


def main() -> None:
    apart = seconds(take_apart) / len(TEXTS)
    pair = seconds(compare) / (len(TEXTS) * (len(TEXTS) - 1) / 2)
    copy = seconds(compare_copies) / len(TEXTS)
    print(f"{len(TEXTS)} statements; beside taking one of them apart")
    print(f"  a pair costs {pair / apart:.2f}, a statement and its edited copy {copy / apart:.2f}")


if __name__ == "__main__":
    main()
