"""A folder to run command lines in: ordinary notes, odd names, tables, numbers, links, odd bytes."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

WORDS = [
    "deploy",
    "error",
    "note",
    "TODO",
    "foo",
    "bar",
    "Foo",
    "the",
    "user",
    "type:",
    "docker",
    "x1",
    "42",
    "3.5",
    "-7",
    "1K",
    "ünïcode",
    "a_b",
    "a-b",
    "[x]",
    "a.b",
]
NAMES = ["MEMORY.md", "a.md", "b.md", "build.md", "my notes.md", "empty.txt", "data.csv", "nums.txt", "no_newline.txt"]  # fmt: skip
FOLDERS = ["topic", "topic/deep", ".hidden", "logs"]


ODD_BYTES = {
    "nul.dat": b"a\0b\nfoo\0\n\0\nno end foo\0",
    "latin.txt": b"caf\xe9 foo\n\xff\xfe bar\n\xc3(\n\xed\xa0\x80\n",
    "long.txt": b"foo bar " * 20_000 + b"\nshort\n" + b"x" * 70_000,
    "cr.txt": b"a\rb\rfoo\r",
    "blank.txt": b"\n\n\n\nfoo\n\n\n",
    "one.txt": b"x",
    "ctrl.txt": b"\x1b[31mred\x1b[0m\n\x08\x0b\x0c foo\n\t\tfoo\t\n",
}
ODD_NAMES = ["sp ace.md", "ünï.md", "-dash.md", "q'uote.md", 'dq".md', "tab\t.md", "*star.md", "back\\s.md"]


def make_tree(base: Path, seed: int) -> None:
    """Makes ordinary notes, odd names, tables, numbers, links, a FIFO and a binary file."""
    rng = random.Random(seed)
    for folder in FOLDERS:
        (base / folder).mkdir(parents=True)
    for folder in ["", *FOLDERS]:
        for name in rng.sample(NAMES, 6) if folder else NAMES:
            (base / folder / name).write_text(_content(rng, name), encoding="utf-8")
    (base / "bin.dat").write_bytes(b"foo\n\0bar foo\nbaz\n")
    (base / "crlf.txt").write_bytes(b"one\r\ntwo\tx\r\n\x01\x7f\xe9\n")
    for name, data in ODD_BYTES.items():
        (base / name).write_bytes(data)
    (base / "odd names").mkdir()
    for name in ODD_NAMES:
        (base / "odd names" / name).write_text(_content(rng, "x.md"), encoding="utf-8")
    # Where no glob matches: the host's tools follow links and block on a FIFO, ours do not.
    odd = base / ".odd"
    odd.mkdir()
    (odd / "-x").write_text("dash foo\n")
    (odd / "link.md").symlink_to("../a.md")
    (odd / "dangling").symlink_to("nowhere")
    os.mkfifo(odd / "pipe.fifo")
    (base / "run.sh").write_text("#!/bin/sh\necho foo\n")
    (base / "run.sh").chmod(0o755)
    _age(base, rng)


def _content(rng: random.Random, name: str) -> str:
    if name == "empty.txt":
        return ""
    if name == "data.csv":
        return "".join(f"{rng.choice(WORDS)},{rng.randint(0, 30)},{rng.choice('abc')}\n" for _ in range(25))
    if name == "nums.txt":
        numbers = [
            "0",
            "-1",
            "10",
            "9",
            "1.5",
            "1.50",
            "-0",
            "  7",
            "1K",
            "2M",
            "900",
            "x",
            "",
            "007",
            "1e3",
            "-3.2",
            "3.10",
        ]
        return "".join(f"{rng.choice(numbers)}\n" for _ in range(40))
    lines = [
        " ".join(rng.choices(WORDS, k=rng.randint(0, 7)))
        + rng.choice(["", "", " ", "\t" + rng.choice(WORDS)])
        for _ in range(rng.randint(3, 30))
    ]
    text = "\n".join(line for line in lines for _ in range(rng.choice([1, 1, 1, 2, 3])))
    return text if name == "no_newline.txt" else text + "\n"


def _age(base: Path, rng: random.Random) -> None:
    now = time.time()
    ages = [0.5, 3, 30, 90, 1000, 5000, 20_000, 300_000]
    for path in sorted(base.rglob("*"), key=lambda path: -len(path.parts)):
        # Not a full day or minute, so that the two runs cannot be on different sides of it.
        at = now - rng.choice(ages) * 3600 - 1234.5
        os.utime(path, (at, at), follow_symlinks=False)
