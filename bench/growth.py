"""How the cost of each path grows with 1, 10 and 100 times the data, in CPU seconds.

    .venv/bin/python bench/growth.py [WORD]… [--size 0.1] [--folder FOLDER]

Each size runs in a separate process. The exponent is that of the last step, where fixed costs matter least: 1 is ten
times the cost for ten times the data, 0 is no growth. `--folder` keeps the rows of pages. What is not a page is in
`bench/growth_work.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

STEPS = (0.01, 0.1, 1.0)
SESSIONS, MEMORIES = 100_000, 10_000
RUNS = 5
Found = dict[str, float]


# --- Pages ----------------------------------------------------------------------------------------------------------


def pages(size: float, folder: Path) -> Found:
    """All pages, those of a project for one with a tenth of everything; the plain page shows what the server needs for 50 rows."""
    from bench._table import least, make_pages_anew, start_django

    start_django(folder / f"pages-{size}")
    make_pages_anew()
    from django.conf import settings
    from django.test import Client

    from bench._pages_rows import addresses, fill
    from dreams.models import Project
    from dreams.services.login import ensure_owner
    from dreams.services.search import index
    from dreams.services.serving import web_server

    web_server.collect()
    settings.ROOT_URLCONF = "bench._plain_page"
    if not Project.objects.exists():
        fill(*(max(30, int(count * size)) for count in (SESSIONS, SESSIONS // 10, SESSIONS // 10)))
        index.catch_up(600)
    client = Client(HTTP_HOST="127.0.0.1:8765", SERVER_PORT="8765")
    client.force_login(ensure_owner())
    found = {}
    for name, address in {"a plain page": "/plain/", **addresses()}.items():
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
        found[name] = least(partial(client.get, address), RUNS)
    return found


# --- Directories of many memories -----------------------------------------------------------------------------------


def memories(size: float, folder: Path) -> Found:
    """Memories of three statements; one statement in ten is repeated elsewhere."""
    del folder
    from bench._table import least
    from bench.statement_index import files_of
    from dreams.lib.prose import recall
    from dreams.lib.prose.statement_index import StatementIndex

    index = StatementIndex({})

    def duplicates() -> object:
        index.update(files)
        return index.possible_duplicates(), index.two_values()

    def one_more() -> object:
        number = len(files)
        said = f"- gateway-worker-{number} listens on {number} in every region, as agreed with the team"
        files[f"one_more_{number}.md"] = f"---\nname: one more\n---\n\n{said}\n"
        return duplicates()

    def recalled() -> object:
        return recall.load(recall.shelf(data), "which port does the gateway listen on")

    files = files_of(int(MEMORIES * size * 3), each=3)
    data = {path: text.encode() for path, text in files.items()}
    found = {"possible duplicates, all new": least(duplicates)}
    return found | {
        "possible duplicates, one memory more": least(one_more, RUNS),
        "recall": least(recalled, RUNS),
        "MB of memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def of_work(name: str, size: float, folder: Path) -> Found:
    from bench import growth_work

    return growth_work.measure(name, size, folder)


WORK = ("discovery", "tick", "directory", "dream", "review")  # the names of `bench/growth_work.py`
MEASURED: dict[str, Callable[[float, Path], Found]] = {
    "pages": pages,
    "memories": memories,
    **{name: partial(of_work, name) for name in WORK},
}


# --- All sizes, and the table ---------------------------------------------------------------------------------------


def measured_apart(name: str, size: float, folder: Path) -> Found:
    line = [sys.executable, __file__, "--measure", name, "--size", str(size), "--folder", str(folder)]
    environment = os.environ | {"HOME": str(folder), "MEMORYWEB_ROOTS": str(folder / "root")}
    done = subprocess.run(line, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def told(value: float, name: str) -> str:
    return (
        f"{value:.0f}"
        if name.startswith("MB")
        else f"{value:.2f} s"
        if value >= 1
        else f"{value * 1000:.1f} ms"
    )


def show(name: str, costs: list[float]) -> None:
    exponent = math.log10(max(costs[-1], 1e-6) / max(costs[-2], 1e-6))
    print(f"| {name} | {' | '.join(told(cost, name) for cost in costs)} | {exponent:.2f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help=f"some of {', '.join(MEASURED)}")
    parser.add_argument("--size", type=float, default=1.0, help="a fraction of each size")
    parser.add_argument("--folder", type=Path, help="keep the rows here, and find them here the next time")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(MEASURED[options.measure](options.size, options.folder)))
        return 0
    print("| path | 1 | 10 times | 100 times | exponent |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as empty:
        folder = (options.folder or Path(empty)).absolute()
        (folder / "root").mkdir(parents=True, exist_ok=True)
        for name in options.words or MEASURED:
            rows = [measured_apart(name, step * options.size, folder) for step in STEPS]
            for path in rows[0]:
                show(path, [row[path] for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
