"""How fast a config folder gets into the database: `python bench/discovery.py [--gb N] [--shape long|short]`.

A root with a fixed seed is written to a temporary folder. Side by side, in rounds: bare reading, scanning alone, the
first discovery with one process and with all cores, one with nothing changed, one after a line was appended. Medians
of ratios to bare reading, not seconds: the machine's noise cancels out.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.corpus import SHAPES, Corpus
from bench.transcripts import bare, rows, side_by_side, timed, used

MEMORIES = ("MEMORY", "one", "two")


def make_root(root: Path, shape: str, megabytes: float, projects: int) -> list[Path]:
    """Transcripts and three memories in each project; returns the transcripts."""
    made = Corpus(shape, seed=11).write(root / "projects", megabytes, projects=projects)
    for folder in (root / "projects").iterdir():
        (folder / "memory").mkdir()
        for name in MEMORIES:
            (folder / "memory" / f"{name}.md").write_text(f"# {name}\n\n- A fact about {folder.name}\n")
    return made


def start_django(data: Path) -> None:
    os.environ["MEMORYWEB_DATA_DIR"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    import django

    django.setup()
    from dreams.services import database

    database.ensure()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=0.3)
    parser.add_argument("--shape", choices=SHAPES, default="long")
    parser.add_argument("--projects", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root, data = Path(temporary) / "root", Path(temporary) / "data"
        paths = make_root(root, options.shape, options.gb * 1_000, options.projects)
        start_django(data)
        measure(root, paths, options.rounds)


def measure(root: Path, paths: list[Path], rounds: int) -> None:
    from dreams.services.discovery import discover, importing

    size = sum(path.stat().st_size for path in paths)
    biggest = max(paths, key=lambda path: path.stat().st_size)
    print(f"{len(paths)} transcripts, {size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")

    def first(children: int | None) -> None:
        forget()
        if children is None:
            discover([root])
            return
        with mock.patch.object(importing, "children_for", lambda _: children):
            discover([root])

    def append() -> None:
        with biggest.open("ab") as file:
            file.write(b'{"type":"user","uuid":"new","message":{"role":"user","content":"one more"}}\n')
        discover([root])

    ways: dict[str, Callable[[], object]] = {
        "bare reading": lambda: bare(paths),
        "scan, 1 process": lambda: rows(paths),
        "first, 1 process": lambda: first(0),
        "first, all cores": lambda: first(None),
        "nothing changed": lambda: discover([root]),
        "one line appended": append,
    }
    start = used()
    seconds = timed(lambda: discover([root]))
    print(
        f"  the very first, which begins a history for each project: {seconds:.3f} s, cpu {used() - start:.3f} s"
    )
    side_by_side(ways, size=size, rounds=rounds)
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def forget() -> None:
    """Leave the projects and their memories, and know nothing of transcripts."""
    from django.db import connection

    with connection.cursor() as cursor:
        for name in ("requestusage", "searchtext", "prompt", "memorywrite", "transcriptfile", "session"):
            cursor.execute(f"DELETE FROM dreams_{name}")  # noqa: S608 - names of our own


if __name__ == "__main__":
    main()
