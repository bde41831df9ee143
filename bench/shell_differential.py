"""Do the sandbox's commands print exactly what GNU's tools print? Generated command lines over a generated tree.

    .venv/bin/python bench/shell_differential.py [--lines 3000] [--seed 1] [--show 20]

Each line is run by the host's shell (LC_ALL=C, TZ=UTC) and by the sandbox; output and status must be equal.
Error texts are not compared, nor which lines diff shows (tests/unit/test_sandbox_diff.py checks that they lead
from one file to the other). Refused lines are counted separately: the generator only uses supported commands.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._shell_lines import WRITTEN, Maker
from bench._shell_tree import make_tree
from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import CommandLimits, CommandOutput, Mount, Shell, Tree


@dataclass(frozen=True, slots=True)
class Difference:
    line: str
    host: tuple[int, bytes]
    ours: CommandOutput


def host_answer(line: str, folder: Path) -> tuple[int, bytes]:
    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    return done.returncode, done.stdout


def alike(line: str, ours: CommandOutput, host: tuple[int, bytes]) -> bool:
    """Whether status and output are equal. `diff` may show any of several correct sets of lines."""
    if re.search(r"\bdiff\b", line):
        return ours.exit_code == host[0] and bool(ours.stdout) == bool(host[1])
    return (ours.exit_code, ours.stdout) == host


def compare(lines: list[str], folder: Path) -> tuple[list[Difference], list[Difference]]:
    """(lines that differ, lines that were refused)."""
    differing, refused = [], []
    # One folder deeper than the lines reach, so that `..` works on both sides.
    tree = Tree([Mount("memory", Root.open(folder.parent), (str(folder.parent),))])
    shell = Shell(tree, str(folder), CommandLimits(output_chars=10_000_000))
    for line in lines:
        ours, host = shell.run(line), host_answer(line, folder)
        if ours.refused:
            refused.append(Difference(line, host, ours))
        elif not alike(line, ours, host):
            differing.append(Difference(line, host, ours))
    tree.close()
    return differing, refused


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    args = parser.parse_args()
    maker = Maker.seeded(args.seed)
    lines = WRITTEN + [maker.line() for _ in range(args.lines)]
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base).resolve() / "tree"
        folder.mkdir()
        make_tree(folder, args.seed)
        differing, refused = compare(lines, folder)
    for one in differing[: args.show]:
        print(
            f"--- {one.line}\n  host {one.host[0]} {one.host[1][:400]!r}\n  ours {one.ours.exit_code} {one.ours.stdout[:400]!r} {one.ours.output[-150:]!r}"
        )
    for one in refused[: args.show]:
        print(f"refused: {one.line}: {one.ours.output[:100]!r}")
    counts = Counter(one.line.split()[0] for one in differing)
    print(f"{len(lines)} lines, {len(differing)} differ {dict(counts)}, {len(refused)} refused")
    sys.exit(bool(differing or refused))


if __name__ == "__main__":
    main()
