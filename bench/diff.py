"""Our diff of memory files, with the words that changed and as HTML, compared with difflib's lines (`python bench/table.py diff`)."""

import difflib
import random
from collections.abc import Callable
from html import escape
from pathlib import Path

from bench._table import Measured, Row, side_by_side
from dreams.lib.diff import hunks, pieces, rows

WORDS = [
    "deploy",
    "service",
    "port",
    "staging",
    "index",
    "session",
    "memory",
    "review",
    "never",
    "uses",
    "path",
    "when",
    "the",
    "a",
    "of",
    "on",
    "in",
]


def line(rng: random.Random) -> str:
    return "- " + " ".join(rng.choices(WORDS, k=14)) + f" {rng.randrange(10_000)}\n"


def touched(text: str, share: float, rng: random.Random) -> str:
    def change(old: str) -> str:
        if rng.random() >= share:
            return old
        words = old.split(" ")
        words[rng.randrange(1, len(words) - 1)] = "changed"
        return " ".join(words)

    return "".join(map(change, text.splitlines(keepends=True)))


def html(base: str, new: str) -> str:
    return "".join(
        f"<mark>{escape(p.text)}</mark>" if p.changed else escape(p.text)
        for row in rows(base, hunks(base, new))
        for p in pieces(row)
    )


def measure(base: Path, size: float) -> Measured:
    """A memory of about 25 KB of which 15 % of the lines are touched."""
    rng = random.Random(1)
    old = "".join(line(rng) for _ in range(280))
    new = touched(old, 0.15, rng)
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    times = max(20, int(200 * size))

    def repeated(work: Callable[[], object]) -> Callable[[], None]:
        return lambda: [work() for _ in range(times)] and None

    unified = repeated(lambda: list(difflib.unified_diff(a, b)))
    return side_by_side(repeated(lambda: html(old, new)), limit=unified, rounds=7, note=f"{times} times")


ROWS = [
    Row("diff", "words of a 25 KB diff with HTML", measure, {"limit": 2.5}, limit="difflib's unified diff"),
]
