"""Is a line ever lost that is appended while files are written, or after a crash in the middle?

    .venv/bin/python bench/kills.py [--kills 1000] [--appends 20000] [--seed 1]

Kills: a run of the journal over a generated directory is killed just before a random one of its system calls; lines are
appended at another moment of the run, and again before `recover`; some recoveries are killed too. Afterwards the
directory without these lines must be in the state before or after the plan, and every line must be there. Appends:
processes append lines to the files as fast as they can while plans are written to the same files. Every line must be in
its file or in a stored version. Exit 1 when something was lost or mixed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.lib.storage import journal

APPENDERS = 3
Tree = dict[str, bytes]


class Watched(journal.System):
    """Counts calls, appends before one of them, and is killed before another."""

    patience = patience_without_leases = 0.5

    def __init__(self, *, rename_flags: bool = True, kill_at: int = -1, many: int = 16) -> None:
        self.has_rename_flags, self.kill_at, self.calls, self.many = rename_flags, kill_at, 0, many
        self.actions: dict[int, Callable[[], None]] = {}

    def fsync(self, fd: int, name: str) -> None:
        """Does not wait: a killed process loses nothing that the kernel has."""
        self.step("fsync", name)

    fsync_dir = fsync

    def fsync_all(self, fd: int, name: str) -> None:
        self.step("fsync_all", name)

    def step(self, call: str, what: str) -> None:
        number, self.calls = self.calls, self.calls + 1
        if number in self.actions:
            self.actions[number]()
        if number == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class Figures:
    """The results. `wrong` has each run that left another state than before or after, or lost a line."""

    runs: int = 0
    killed: int = 0
    before: int = 0
    after: int = 0
    lines: int = 0
    in_files: int = 0
    in_versions: int = 0
    wrong: list[str] = field(default_factory=list)


# --- Kills ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One directory and one plan for it."""

    folder: Path
    before: Tree
    after: Tree
    plan: journal.Plan

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def journal(self) -> Path:
        return self.folder / "journal"


def made(folder: Path, rng: random.Random) -> Case:
    """Some files; lines move between them, one file is added, one deleted, in any order."""
    before = {
        f"{name}.md": "".join(f"{name} {rng.random()} line {n}\n" for n in range(rng.randint(1, 6))).encode()
        for name in "abcd"[: rng.randint(2, 4)]
    }
    after, names = dict(before), sorted(before)
    for _ in range(rng.randint(1, 3)):
        one, other = rng.sample(names, 2)
        first, _, rest = after[one].partition(b"\n")
        if first:
            after[one], after[other] = rest, after[other] + first + b"\n"
    if rng.random() < 0.8:
        gone = rng.choice(names)
        heir = rng.choice([name for name in names if name != gone])
        after[heir] += after.pop(gone)
    if rng.random() < 0.8:
        after["team/new.md"] = b"new, with a line\n"
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    rng.shuffle(changed)
    ops = tuple(
        journal.FileOp(name, journal.sha256_of(before[name]) if name in before else None, after.get(name))
        for name in changed
    )
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in before.items():
        path = folder / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Case(folder, before, after, journal.Plan(str(folder / "memory"), ops, "p1", "", {}))


def append(path: Path, line: bytes) -> None:
    """Appends like a session: open, append, close."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(line)


def in_child(action: Callable[[], object]) -> bool:
    """Runs it in a fork; returns whether it was killed."""
    child = os.fork()
    if not child:
        try:
            action()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kill_once(folder: Path, rng: random.Random, figures: Figures) -> None:
    seed, flags = rng.random(), rng.random() < 0.7
    many = rng.choice((1, 16))  # writes the texts of these plans together, or one by one
    counted = Watched(rename_flags=flags, many=many)
    case = made(folder, random.Random(seed))
    journal.run(case.plan, case.journal, counted)
    case = made(folder, random.Random(seed))
    names = sorted(op.path for op in case.plan.ops)
    lines = {name: [f"- appended {rng.random()}\n".encode() for _ in range(2)] for name in names}
    early, late = rng.sample(names, 1), rng.sample(names, rng.randint(1, len(names)))
    system = Watched(rename_flags=flags, kill_at=rng.randrange(counted.calls), many=many)
    expected: dict[str, list[bytes]] = {}
    if rng.random() < 0.3 and early[0] in case.before:
        moment = rng.randrange(counted.calls)
        system.actions[moment] = lambda: append(case.memory / early[0], lines[early[0]][0])
        if moment <= system.kill_at:
            expected.setdefault(early[0], []).append(lines[early[0]][0])
    figures.runs += 1
    figures.killed += in_child(lambda: journal.run(case.plan, case.journal, system))
    for name in late:
        append(case.memory / name, lines[name][1])
        expected.setdefault(name, []).append(lines[name][1])
    if rng.random() < 0.3:
        again = Watched(rename_flags=flags, kill_at=rng.randrange(40))
        in_child(lambda: journal.recover(case.journal, again))
    done = journal.recover(case.journal, Watched(rename_flags=flags))
    _judge(case, expected, [one.action for one in done], figures)


def _judge(case: Case, expected: dict[str, list[bytes]], actions: list[str], figures: Figures) -> None:
    found = {
        str(path.relative_to(case.memory)): path.read_bytes()
        for path in case.memory.rglob("*")
        if path.is_file()
    }
    kept = [late.data for late in journal.collect_late(case.journal)]
    for name, lines in expected.items():
        for line in lines:
            figures.lines += 1
            if found.get(name, b"").count(line) == 1:
                figures.in_files += 1
            elif any(line in data for data in kept):
                figures.in_versions += 1
            else:
                figures.wrong.append(f"{actions}: {line!r} of {name} is in {found.get(name)!r}")
    bare = {name: _without(data, expected.get(name, [])) for name, data in found.items()}
    bare = {name: data for name, data in bare.items() if data or name in case.before or name in case.after}
    empty = {name for name, data in bare.items() if not data and name in expected}
    if _same(bare, case.before, empty):
        figures.before += 1
    elif _same(bare, case.after, empty):
        figures.after += 1
    else:
        figures.wrong.append(f"{actions}: {found!r} is neither {case.before!r} nor {case.after!r}")


def _same(found: Tree, wanted: Tree, may_be_new: set[str]) -> bool:
    """Whether they are equal, apart from files with only appended lines, which an append recreated."""
    return {n: d for n, d in found.items() if n in wanted or n not in may_be_new} == wanted


def _without(data: bytes, lines: list[bytes]) -> bytes:
    for line in lines:
        data = data.replace(line, b"")
    return data


def kills(base: Path, count: int, seed: int) -> Figures:
    """`count` runs, each killed at a random call."""
    rng, figures = random.Random(seed), Figures()
    for _ in range(count):
        kill_once(base / "case", rng, figures)
    return figures


# --- Appends under load -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Load:
    """Appended lines and where they are now; `mixed` counts refused runs that left new text."""

    lines: int = 0
    in_files: int = 0
    in_versions: int = 0
    lost: list[str] = field(default_factory=list)
    applied: int = 0
    refused: int = 0
    mixed: int = 0
    seconds: float = 0.0


def appends(base: Path, count: int, seed: int) -> Load:
    """Appends `count` lines in three processes, while plans are written to the same three files."""
    memory, load = base / "memory", Load()
    memory.mkdir(parents=True)
    names = ["a.md", "b.md", "c.md"]
    for name in names:
        (memory / name).write_text("# run 0\n")
    begun = time.monotonic()
    children = [_appender(memory, names, who, count // APPENDERS, seed) for who in range(APPENDERS)]
    number, system = 0, Watched()
    while children:
        number += 1
        _write_all(memory, base / "journal", names, number, system, load)
        children = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    load.seconds = time.monotonic() - begun
    files = {name: (memory / name).read_bytes().splitlines() for name in names}
    kept = {line for late in journal.collect_late(base / "journal") for line in late.data.splitlines()}
    there = {name: set(lines) for name, lines in files.items()}
    for who in range(APPENDERS):
        for name, line in _lines(names, who, count // APPENDERS, seed):
            load.lines += 1
            if line in there[name]:
                load.in_files += 1
            elif line in kept:
                load.in_versions += 1
            else:
                load.lost.append(f"{name}: {line!r}")
    return load


def _lines(names: list[str], who: int, count: int, seed: int) -> list[tuple[str, bytes]]:
    rng = random.Random(f"{seed} {who}")
    return [(rng.choice(names), f"- line {number} of {who}".encode()) for number in range(count)]


def _appender(memory: Path, names: list[str], who: int, count: int, seed: int) -> int:
    child = os.fork()
    if child:
        return child
    rng = random.Random(who)
    try:
        for name, line in _lines(names, who, count, seed):
            fd = os.open(memory / name, os.O_WRONLY | os.O_APPEND)
            if rng.random() < 0.2:
                time.sleep(rng.random() / 500)
            os.write(fd, line + b"\n")
            os.close(fd)
            if rng.random() < 0.8:
                time.sleep(rng.random() / 40)
    finally:
        os._exit(0)


def _write_all(
    memory: Path, where: Path, names: list[str], number: int, system: journal.System, load: Load
) -> None:
    """Writes a new first line to every file and keeps the appended lines."""
    mark, ops = f"# run {number}\n".encode(), []
    for name in names:
        now = (memory / name).read_bytes()
        ops.append(journal.FileOp(name, journal.sha256_of(now), mark + now.partition(b"\n")[2]))
    result = journal.run(journal.Plan(str(memory), tuple(ops), f"p{number}", ""), where, system)
    if result.status == "applied":
        load.applied += 1
        return
    load.refused += 1
    load.mixed += any((memory / name).read_bytes().startswith(mark) for name in names)
    if any("recover" in line for line in result.said):
        journal.recover(where, system)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--appends", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        killed = kills(Path(base) / "kills", args.kills, args.seed)
        load = appends(Path(base) / "appends", args.appends, args.seed)
    print(f"{killed.runs:,} runs, {killed.killed:,} killed: {killed.before:,} before, {killed.after:,} after")
    print(f"  {killed.lines:,} lines: {killed.in_files:,} in files, {killed.in_versions:,} in versions")
    print(f"  wrong: {len(killed.wrong)}", *killed.wrong[:5], sep="\n    ")
    print(f"{load.lines:,} appends in {load.seconds:.0f} s during {load.applied + load.refused:,} applies")
    print(f"  {load.applied:,} applied, {load.refused:,} refused, of which {load.mixed} left new text behind")
    print(f"  {load.in_files:,} lines in files, {load.in_versions:,} in versions, {len(load.lost)} lost")
    return 1 if killed.wrong or load.lost or load.mixed else 0


if __name__ == "__main__":
    raise SystemExit(main())
