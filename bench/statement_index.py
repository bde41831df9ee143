"""How long the statement index takes for directories of many memories (three statements each in the table's rows).

.venv/bin/python bench/table.py duplicates
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, os.environ.get("BENCH_CODE") or str(Path(__file__).resolve().parents[1]))

from bench._table import Cost, Measured, Row, cost_of, older_code, side_by_side
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
    """Memories of so many statements each; one statement in ten rewords another one."""
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


def duplicates(memories: int, projects: int) -> Cost:
    """The statement index for projects with so many memories each, all new."""
    folders = [files_of(memories * 3, seed=1 + number, each=3) for number in range(projects)]
    return cost_of(lambda: [StatementIndex(files).possible_duplicates() for files in folders] and None)


def one_more(memories: int, projects: int) -> Cost:
    """One more memory, in a directory with a stored index."""
    del projects
    files = files_of(memories * 3, each=3)
    index = StatementIndex(files)
    index.possible_duplicates()
    said = "- gateway-worker-7 listens on 7000 in every region, as agreed with the team"
    later = {**files, "one_more.md": f"---\nname: one more\n---\n\n{said}\n"}

    def taken_in() -> None:
        index.update(later)
        index.possible_duplicates()

    return cost_of(taken_in)


def dream(memories: int, projects: int) -> Cost:
    """A dream by rules over a directory of so many memories, without sessions."""
    from bench._table import start_django

    del projects
    with TemporaryDirectory() as folder:
        start_django(Path(folder))
        from tests.world import rules

        files = files_of(memories * 3, each=3)
        rules.dream(Path(folder), {"a.md": files["note_0.md"]})  # so that no import counts
        return cost_of(lambda: rules.dream(Path(folder), files).summary)


def few_findings(memories: int, projects: int) -> Cost:
    """The checks of one statement that left and one that was reworded, among memories of thirty statements."""
    from dreams.findings import examine
    from dreams.findings.directories import between

    del projects
    before = {path: text.encode() for path, text in files_of(memories * 30, each=30).items()}
    lines = before["note_0.md"].split(b"\n")
    lines[6:8] = [lines[7].replace(b"oldest", b"newest")]
    after = {**before, "note_0.md": b"\n".join(lines)}
    small = {"note_0.md": before["note_0.md"]}
    examine(between(small, {"note_0.md": after["note_0.md"]}))  # so that no import counts
    return cost_of(lambda: examine(between(before, after)).ledger)


WORKS = {"duplicates": duplicates, "one more": one_more, "dream": dream, "few findings": few_findings}


def cost_in(code: Path, what: str, memories: int, projects: int) -> Cost:
    line = [sys.executable, __file__, what, str(memories), str(projects)]
    environment = {**os.environ, "BENCH_CODE": str(code)}
    done = subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True, cwd=code)
    return Cost(*json.loads(done.stdout))


def measure(what: str, memories: int, projects: int, base: Path, size: float) -> Measured:
    del base
    ours, before = Path(__file__).resolve().parents[1], older_code()
    of = partial(cost_in, what=what, memories=max(30, int(memories * size)), projects=projects)
    return side_by_side(lambda: of(ours), limit=(lambda: of(before)) if before else None)


_OLDER = "the code of before"
ROWS = [
    Row(
        "duplicates",
        "possible duplicates of 10,000 memories, all new",
        partial(measure, "duplicates", 10_000, 1),
        {"seconds": 1.5},
        _OLDER,
    ),
    Row(
        "duplicates-projects",
        "possible duplicates of 40 projects with 250 memories each, all new",
        partial(measure, "duplicates", 250, 40),
        {"seconds": 1.5},
        _OLDER,
    ),
    Row(
        "duplicates-one-more",
        "possible duplicates of 10,000 memories, one of them new",
        partial(measure, "one more", 10_000, 1),
        {"seconds": 0.01},
        _OLDER,
    ),
    Row(
        "dream-by-rules",
        "a dream by rules over 1,000 memories",
        partial(measure, "dream", 1_000, 1),
        limit=_OLDER,
    ),
    Row(
        "findings-few",
        "findings of two changes among 1,000 memories",
        partial(measure, "few findings", 1_000, 1),
        {"limit": 0.5},
        _OLDER,
    ),
]


def main() -> None:
    found = WORKS[sys.argv[1]](*map(int, sys.argv[2:]))
    print(json.dumps([found.wall, found.cpu]))


if __name__ == "__main__":
    main()
