"""A small world to run command lines in: notes, a transcript, a repository, and files outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import CommandLimits, CommandOutput, Ignored, Mount, Shell, Tree

OUTSIDE = "what nobody may read"


@dataclass
class World:
    base: Path
    shell: Shell

    @property
    def memory(self) -> Path:
        return self.base / "claude/project/memory"

    def run(self, line: str) -> CommandOutput:
        return self.shell.run(line)

    def out(self, line: str) -> str:
        """The output of a line that must succeed."""
        answer = self.shell.run(line)
        assert not answer.refused, answer.output
        return answer.output

    def state(self) -> dict[str, tuple[int, int, int]]:
        found = ((path, path.lstat()) for path in sorted(self.base.rglob("*")))
        return {str(path): (stat.st_mode, stat.st_mtime_ns, stat.st_size) for path, stat in found}


def plant(base: Path) -> None:
    memory, repo = base / "claude/project/memory", base / "repo"
    for folder in (
        memory / "topic",
        repo / "src",
        repo / ".git",
        repo / "build",
        base / "home",
        base / "memory-evil",
    ):
        folder.mkdir(parents=True)
    (base / "home/secret").write_text(OUTSIDE)
    (base / "memory-evil/a.md").write_text(OUTSIDE)
    (base / "claude/project/memory-evil").mkdir()
    (base / "claude/project/memory-evil/b.md").write_text("beside\n")
    for name in ("MEMORY.md", "a.md", "b.md", "my notes.md", "topic/one.md"):
        (memory / name).write_text("# note TODO\ntype: user\nb,2\na,1\n")
    (memory / "link.md").symlink_to(base / "home/secret")
    (memory / "out").symlink_to(base / "home")
    os.mkfifo(memory / "pipe.fifo")
    (memory / "-rf").write_text("named like an option\n")
    (memory / "ls").write_text(f"#!/bin/sh\ntouch {memory}/RAN\n")
    (memory / "ls").chmod(0o755)
    (base / "claude/project/s1.jsonl").write_text('{"type":"user","text":"error"}\n' * 5)
    (repo / "src/main.py").write_text("def main():\n    return 1\n")
    (repo / ".git/config").write_text("[remote] url = private\n")
    (repo / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    for name in ("build/out.txt", "x.log", "keep.log", "build.txt"):
        (repo / name).write_text("made\n")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    base = tmp_path.resolve() / "w"
    base.mkdir()
    plant(base)
    with open_tree(base) as tree:
        yield World(base, Shell(tree, "/memory"))


class open_tree:
    """The three mounts over a prepared directory, closed at the end."""

    def __init__(self, base: Path) -> None:
        memory, project, repo = base / "claude/project/memory", base / "claude/project", base / "repo"
        repository = Root.open(repo)
        self.tree = Tree(
            [
                Mount("memory", Root.open(memory), (str(memory),)),
                Mount("transcripts/project", Root.open(project), (str(project),)),
                Mount("repo", repository, (str(repo),), hidden=Ignored(repository)),
            ]
        )

    def __enter__(self) -> Tree:
        return self.tree

    def __exit__(self, *error: object) -> None:
        self.tree.close()


def limited(base: Path, **caps: float) -> Shell:
    """A shell with lower limits."""
    return Shell(open_tree(base).tree, "/memory", CommandLimits(**caps))  # type: ignore[arg-type]  # seconds alone is a float
