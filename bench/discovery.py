"""How fast a config folder gets into the database: `python bench/discovery.py [--projects N] [--sessions M] [--kilobytes K]`.

A root with a fixed seed is written to a temporary folder; then: bare reading, the first discovery, one with nothing
changed, one after a line was appended. Ratios to bare reading, not seconds: the machine's noise cancels out.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.transcripts import bare, session_lines


def make_root(root: Path, projects: int, sessions: int, kilobytes: int) -> list[Path]:
    """`sessions` transcripts of about `kilobytes` in each project, and three memories; returns the transcripts."""
    rng, made = random.Random(11), []
    for project in range(projects):
        folder = root / "projects" / f"-home-dev-project-{project:05d}"
        (folder / "memory").mkdir(parents=True)
        for name in ("MEMORY", "one", "two"):
            (folder / "memory" / f"{name}.md").write_text(f"# {name}\n\n- A fact about {project}\n")
        for number in range(sessions):
            path = folder / f"{project:05d}-{number:05d}.jsonl"
            path.write_bytes(transcript(rng, path.stem, kilobytes << 10))
            made.append(path)
    return made


def transcript(rng: random.Random, name: str, size: int) -> bytes:
    lines, written = [], 0
    while written < size or not lines:
        for record in session_lines(rng, name, 10 if size > 20_000 else 1):
            lines.append(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            written += len(lines[-1])
            if written >= size:
                break
    return b"".join(lines)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def start_django(data: Path) -> None:
    os.environ["MEMORYWEB_DATA_DIR"] = str(data)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
    import django

    django.setup()
    from dreams import database

    database.ensure()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=50)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--kilobytes", type=int, default=80)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root, data = Path(temporary) / "root", Path(temporary) / "data"
        paths = make_root(root, options.projects, options.sessions, options.kilobytes)
        start_django(data)
        measure(root, paths)


def measure(root: Path, paths: list[Path]) -> None:
    from dreams.discovery import discover

    size = sum(path.stat().st_size for path in paths)
    base = min(timed(lambda: bare(paths)) for _ in range(3))
    print(f"{len(paths)} transcripts, {size / 1e6:.0f} MB; bare reading {base:.3f} s = 1.0")

    def show(name: str, seconds: float) -> None:
        print(f"{name:18} {seconds:7.3f} s  {seconds / base:6.2f} x")

    show("first discovery", timed(lambda: discover([root])))
    show("nothing changed", min(timed(lambda: discover([root])) for _ in range(3)))
    with max(paths, key=lambda path: path.stat().st_size).open("ab") as file:
        file.write(b'{"type":"user","uuid":"new","message":{"role":"user","content":"one more"}}\n')
    show("one line appended", timed(lambda: discover([root])))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
