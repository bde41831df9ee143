"""How long the statement index takes for directories of many memories. Run: .venv/bin/python bench/statement_index.py [STATEMENTS]"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.lib.prose.statement_index import StatementIndex

WORDS = "gateway worker ledger indexer queue cache billing mailer search export import relay backup session cluster report".split()  # noqa: SIM905 - a word list
VERBS = [
    "listens on",
    "keeps its data in",
    "is owned by",
    "retries after",
    "is deployed with",
    "writes logs to",
    "times out after",
]


def files_of(statements: int, seed: int = 1, each: int = 10) -> dict[str, str]:
    """Memories of so many statements each; one in ten repeats another one in other words."""
    pick = random.Random(seed)
    files: dict[str, str] = {}
    said: list[tuple[str, str, int]] = []
    for number in range(statements // each):
        lines = []
        for _ in range(each):
            if said and pick.random() < 0.1:
                thing, verb, value = pick.choice(said)
                lines.append(f"- {value} is what {thing} {verb}, as agreed with the team")
            else:
                thing = f"{pick.choice(WORDS)}-{pick.choice(WORDS)}-{pick.randrange(statements)}"
                verb, value = pick.choice(VERBS), pick.randrange(1_000, 60_000)
                said.append((thing, verb, value))
                lines.append(f"- {thing} {verb} {value} in every region but the oldest one")
        files[f"note_{number}.md"] = (
            f"---\nname: note {number}\ntype: project\n---\n\n" + "\n".join(lines) + "\n"
        )
    return files


def main() -> None:
    for count in [int(argument) for argument in sys.argv[1:]] or [1_000, 10_000]:
        files = files_of(count)
        start = time.perf_counter()
        index = StatementIndex(files)
        built = time.perf_counter()
        groups = index.possible_duplicates()
        done = time.perf_counter()
        print(
            f"{len(index.statements):,} statements: read in {built - start:.1f} s, compared in {done - built:.1f} s, "
            f"{len(groups):,} groups of {len(index.pairs):,} pairs"
        )


if __name__ == "__main__":
    main()
