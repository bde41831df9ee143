"""Does swapping a folder or file for a link, while it is read or written, ever give access outside?

    .venv/bin/python bench/swap_race.py [--seconds 10]

Another process exchanges a folder and a file with links to the outside as fast as possible. Meanwhile each tool of
a dream, the copying of the workspace and the writing of an apply access those names. Prints for each how often it
tried, succeeded, was refused, and showed something from outside (which must be 0), and whether anything outside has
changed. Exit 1 when it has.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.conf import Config
from dreams.engines.anthropic.tools import Toolbox
from dreams.engines.types import Job
from dreams.lib.files import workspace
from dreams.lib.files.safefs import Root, SafeFsError
from dreams.lib.sandbox import Mount, Tree
from dreams.lib.sandbox.tool_worker.tools import ToolReply, Tools
from dreams.lib.storage import journal

OUTSIDE = "what nobody may read"
CITED = [{"session": "team/a.md", "quote": "inside"}]


@dataclass(slots=True)
class Count:
    """The results of one kind of access."""

    tries: int = 0
    through: int = 0
    leaks: int = 0

    @property
    def refused(self) -> int:
        return self.tries - self.through


@dataclass(slots=True)
class Figures:
    by_name: dict[str, Count] = field(default_factory=dict)
    outside_untouched: bool = True

    @property
    def leaks(self) -> int:
        return sum(count.leaks for count in self.by_name.values())


Try = Callable[[], tuple[bool, str]]  # (did it succeed, all its output)


def plant(base: Path) -> tuple[Path, Path]:
    """Creates (inside, outside) with the same names and different texts, and links to the outside for the swap."""
    inside, outside = base / "inside", base / "outside"
    for folder, text in ((inside, "inside"), (outside, OUTSIDE)):
        (folder / "team").mkdir(parents=True)
        for name in ("a.md", "team/a.md", "team/gone.md"):
            (folder / name).write_text(f"{text} {name}\n")
    (inside / "team.link").symlink_to(outside / "team")
    (inside / "a.link").symlink_to(outside / "a.md")
    return inside, outside


def _state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = ((path, path.lstat()) for path in sorted(folder.rglob("*")))
    return {
        str(path): (stat.st_mode, stat.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path, stat in found
    }


@contextmanager
def swapping(folder: Path) -> Iterator[None]:
    """Swaps in a separate process: a thread would hardly ever run between two of our system calls."""
    child = os.fork()
    if not child:
        _swap_for_ever(folder)
    try:
        yield
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def _swap_for_ever(folder: Path) -> None:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        system = journal.System()
        parent = os.getppid()
        while os.getppid() == parent:
            for one, other in (("team", "team.link"), ("a.md", "a.link")):
                for _ in range(2):
                    if not system.exchange(fd, other, one):
                        _swap_slowly(folder, one, other)
                    time.sleep(0)
    finally:
        os._exit(0)


def _swap_slowly(folder: Path, one: str, other: str) -> None:
    os.rename(folder / one, folder / "aside")
    os.rename(folder / other, folder / one)
    os.rename(folder / "aside", folder / other)


def race(base: Path, seconds: float) -> Figures:
    """Runs every kind of access for its share of `seconds`, each on a new tree."""
    figures = Figures()
    ways: list[tuple[str, Callable[[Path, Path], dict[str, Try]]]] = [
        ("tools", _reading),
        ("steps", _writing),
        ("workspace", _taking),
        ("apply", _applying),
    ]
    for name, ways_of in ways:
        inside, outside = plant(base / name)
        was = _state(outside)
        tries = ways_of(inside, base / name)
        with swapping(inside):
            _run(tries, seconds / len(ways), figures)
        figures.outside_untouched &= _state(outside) == was
    return figures


def _run(tries: dict[str, Try], seconds: float, figures: Figures) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, attempt in tries.items():
            count = figures.by_name.setdefault(name, Count())
            through, shown = attempt()
            count.tries += 1
            count.through += through
            count.leaks += OUTSIDE in shown


def _reading(inside: Path, base: Path) -> dict[str, Try]:
    tools = Tools(Tree([Mount("memory", Root.open(inside), (str(inside),))]))

    def asked(name: str, **given: str) -> Try:
        def attempt() -> tuple[bool, str]:
            reply = tools.run(name, given)
            return "inside" in reply.text, reply.text

        return attempt

    bash = ["cat team/a.md", "grep -r '' team", "head team/*", "sort a.md", "sed -n p team/a.md"]
    return {
        "Read": asked("Read", file_path="/memory/team/a.md"),
        "Grep": asked("Grep", pattern="i", path="/memory"),
        **{f"Bash: {line}": asked("Bash", command=f"cd /memory && {line}") for line in bash},
    }


def _writing(inside: Path, base: Path) -> dict[str, Try]:
    """Runs Edit, Write and Delete, with the swapped names in the scratch copy itself."""
    scratch = workspace.Workspace(inside, workspace.take(inside))
    job = Job("race", None, scratch, [], {}, Config(), dt.datetime.now(dt.UTC), dt.UTC)
    box = Toolbox(job, _NoReading(), lambda: None)
    number = iter(range(1 << 40))

    def step(name: str, path: str, **given: str) -> Try:
        def attempt() -> tuple[bool, str]:
            turn = next(number)
            filled = {key: value.format(turn) for key, value in given.items()}
            call = {"path": path, "reason": "a race", "citations": CITED, **filled}
            box.writer.saw(path)
            block = {"type": "tool_use", "id": f"t{turn}", "name": name, "input": call}
            (result,) = box.run([block])
            box.writer.edits.clear()
            return not result.refused, str(result.block["content"])

        return attempt

    return {
        "Write": step("Write", "team/a.md", content="inside {}\n"),
        "Edit": step("Edit", "team/a.md", old_string="inside", new_string="inside of {}"),
        "Write anew": step("Write", "team/gone.md", content="inside {}\n"),
        "Delete": step("Delete", "team/gone.md"),
        "Write a.md": step("Write", "a.md", content="inside {}\n"),
    }


class _NoReading:
    names = frozenset[str]()

    def run(self, name: str, given: object) -> ToolReply:
        raise AssertionError(name)

    def close(self) -> None: ...


def _taking(inside: Path, base: Path) -> dict[str, Try]:
    def attempt() -> tuple[bool, str]:
        found = workspace.take(inside)
        texts = [file.data.decode() for file in found.files.values()]
        return "team/a.md" in found.files, "\n".join([*texts, *found.skipped.values()])

    return {"taking a workspace": attempt}


def _applying(inside: Path, base: Path) -> dict[str, Try]:
    """Runs the writes of an apply: plans that change, add and delete, each followed by its undo."""
    number = iter(range(1 << 40))

    def toggled(here: dict[str, bytes], there: dict[str, bytes]) -> Try:
        states = [here, there]

        def attempt() -> tuple[bool, str]:
            old, new = states
            ops = tuple(
                journal.FileOp(name, journal.sha256_of(old[name]) if name in old else None, new.get(name))
                for name in sorted({*old, *new})
            )
            made = _planned(inside, base, f"p{next(number)}", ops)
            through = made is not None and made.status == "applied"
            if through:
                states.reverse()
            return through, repr(made)

        return attempt

    old = {name: (inside / name).read_bytes() for name in ("a.md", "team/a.md", "team/gone.md")}
    return {
        "apply, one file": toggled({"team/a.md": old.pop("team/a.md")}, {"team/a.md": b"inside, new\n"}),
        "apply, three files": toggled(old, {"a.md": b"inside, new\n", "team/new.md": b"inside, added\n"}),
    }


def _planned(inside: Path, base: Path, name: str, ops: tuple[journal.FileOp, ...]) -> journal.Result | None:
    """The result of a plan; None if the swap stopped it at the start, or if only a recovery can finish it."""
    plan = journal.Plan(str(inside), ops, name, "2026-01-02T03:04:05+00:00")
    try:
        return journal.run(plan, base / "journal")
    except (OSError, SafeFsError, journal.JournalBusy):
        _recovered(base / "journal")
        return None


def _recovered(folder: Path) -> None:
    """Recovers like the next tick, repeatedly until the swap does not interfere."""
    for _ in range(1_000):
        try:
            if all(one.action != "nothing" for one in journal.recover(folder)):
                return
        except (OSError, SafeFsError):
            continue


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        figures = race(Path(base).resolve(), args.seconds)
    print(f"{'':28}{'tries':>10}{'through':>10}{'refused':>10}{'leaks':>8}")
    for name, count in figures.by_name.items():
        print(f"{name:28}{count.tries:>10,}{count.through:>10,}{count.refused:>10,}{count.leaks:>8}")
    print(f"leaks: {figures.leaks}; outside untouched: {figures.outside_untouched}")
    return 0 if not figures.leaks and figures.outside_untouched else 1


if __name__ == "__main__":
    raise SystemExit(main())
