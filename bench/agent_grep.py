"""An agent's grep for a text of four characters or more, in the sandbox, compared with ripgrep (`python bench/table.py grep`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bench._table import Measured, NotMeasured, Row, side_by_side
from bench.corpus import Corpus

# Found nowhere, in one file, and in every file.
SOUGHT = (("-n", "xylophone"), ("-n", "0000000a-0000-4000"), ("-l", "claude-2"))


def measure(base: Path, size: float) -> Measured:
    from dreams.lib.files.safefs import Root
    from dreams.lib.sandbox import CommandLimits, Mount, Shell, Tree

    if shutil.which("rg") is None:
        raise NotMeasured("rg is not on PATH (on Debian: apt install ripgrep)")
    folder = base / "transcripts"
    Corpus("long", seed=5).write(folder, 100 * size)
    shell = Shell(
        Tree([Mount("transcripts", Root.open(folder))]),
        "/transcripts",
        CommandLimits(output_chars=100_000_000, seconds=600),
    )

    def ours() -> list[str]:
        told = [shell.run(f"grep -r {flag} {text} /transcripts") for flag, text in SOUGHT]
        assert all(one.exit_code in (0, 1) for one in told), told
        return [one.output.replace("/transcripts/", "") for one in told]

    def peer() -> list[str]:
        command = ["rg", "--no-ignore", "--hidden"]
        lines = [[*command, flag, text, str(folder)] for flag, text in SOUGHT]
        told = [subprocess.run(line, capture_output=True, text=True, check=False).stdout for line in lines]
        return [one.replace(f"{folder}/", "") for one in told]

    for one, other in zip(ours(), peer(), strict=True):
        assert sorted(one.splitlines()) == sorted(other.splitlines()), "rg finds something else"
    return side_by_side(ours, peer=peer, rounds=3)


ROWS = [
    Row(
        "grep",
        "an agent’s grep over 100 MB for a text that is nowhere, in one file, in all",
        measure,
        {"peer": 2.0},
        peer="rg",
    ),
]
