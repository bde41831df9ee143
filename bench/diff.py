"""Compares our diff of memory files with difflib: prints ratios, as times depend on the machine.

Run: python bench/diff.py [rounds]
"""

import difflib
import random
import sys
import time
from collections.abc import Callable
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._table import Measured, Row, side_by_side
from dreams.lib.diff import hunks, pieces, rows, tokens, word_spans
from dreams.lib.diff.index_merge import merge_index
from dreams.lib.diff.merge import merge3

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


def best(action: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def html(base: str, new: str) -> str:
    return "".join(
        f"<mark>{escape(p.text)}</mark>" if p.changed else escape(p.text)
        for row in rows(base, hunks(base, new))
        for p in pieces(row)
    )


def cases(base: str, new: str, other: str) -> dict[str, Callable[[], object]]:
    a, b = base.splitlines(keepends=True), new.splitlines(keepends=True)
    index = "".join(f"- [T{n}](t{n}.md) — {text[2:]}" for n, text in enumerate(a))
    appended = index + "- [new](new.md) — x\n"
    return {
        "difflib unified": lambda: list(difflib.unified_diff(a, b)),
        "hunks": lambda: hunks(base, new),
        "hunks, words, rows": lambda: rows(base, hunks(base, new)),
        "the same as HTML": lambda: html(base, new),
        "difflib HtmlDiff": lambda: difflib.HtmlDiff().make_table(a, b, context=True),
        "words of the whole file": lambda: word_spans(base, new),
        "difflib words of the whole file": lambda: difflib.SequenceMatcher(
            None, tokens(base), tokens(new), autojunk=False
        ).get_opcodes(),
        "merge3": lambda: merge3(base, new, other),
        "merge_index": lambda: merge_index(index, appended, touched(index, 0.1, random.Random(3))),
    }


def made() -> tuple[str, str, str]:
    """A memory of about 25 KB, and two texts derived from it."""
    rng = random.Random(1)
    base = "".join(line(rng) for _ in range(280))
    return base, touched(base, 0.15, rng), touched(base, 0.15, rng)


def measure(base: Path, size: float) -> Measured:
    old, new, _ = made()
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    times = max(20, int(200 * size))

    def repeated(work: Callable[[], object]) -> Callable[[], None]:
        return lambda: [work() for _ in range(times)] and None

    unified = repeated(lambda: list(difflib.unified_diff(a, b)))
    return side_by_side(repeated(lambda: html(old, new)), limit=unified, rounds=7, note=f"{times} times")


ROWS = [
    Row("diff", "words of a 25 KB diff with HTML", measure, {"limit": 2.5}, limit="difflib's unified diff"),
]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    base, new, other = made()
    print(f"{len(base.encode()) / 1000:.0f} KB, 15 % of the lines touched, best of {rounds}")
    unit = 0.0
    for name, action in cases(base, new, other).items():
        slow = name == "difflib words of the whole file"
        ms = best(action, 1 if slow else rounds)
        unit = unit or ms
        print(f"{name:34}{ms:10.2f} ms {ms / unit:10.2f} × difflib unified")


if __name__ == "__main__":
    main()
