"""Listing a tree by handles: regular files in name order, and what was left out with its reason."""

from __future__ import annotations

import os
import stat as st
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from .handles import open_directory
from .paths import SafeFsError, kind_of, reason


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file met on a walk. `stat.st_nlink` tells whether other names share its bytes."""

    rel: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Skipped:
    """A name that a walk did not enter or offer, and why, in words for a person."""

    rel: str
    why: str


@dataclass(slots=True)
class Budget:
    left: int
    ran_out: bool = False

    def entries(self, fd: int) -> list[os.DirEntry[str]]:
        """The names of one directory, sorted, taken from what is left."""
        with os.scandir(fd) as found:
            taken = list(islice(found, self.left + 1))
        self.ran_out = self.ran_out or len(taken) > self.left
        taken = taken[: self.left]
        self.left -= len(taken)
        return sorted(taken, key=lambda entry: entry.name)


def walk(fd: int, prefix: str, budget: Budget, depth: int) -> Iterator[Found | Skipped]:
    try:
        entries = budget.entries(fd)
    except OSError as error:
        yield Skipped(prefix, reason(error))
        return
    for entry in entries:
        rel = f"{prefix}/{entry.name}" if prefix else entry.name
        try:
            found = os.stat(entry.name, dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            yield Skipped(rel, reason(error))
            continue
        if st.S_ISREG(found.st_mode):
            yield Found(rel, found)
        elif st.S_ISDIR(found.st_mode):
            yield from _descend(fd, entry.name, rel, budget, depth)
        else:
            yield Skipped(rel, f"is {kind_of(found.st_mode)}, which is never followed")


def _descend(fd: int, name: str, rel: str, budget: Budget, depth: int) -> Iterator[Found | Skipped]:
    if depth <= 0:
        yield Skipped(rel, "is too deep")
        return
    try:
        deeper = open_directory(fd, name, rel)
    except (OSError, SafeFsError) as error:
        yield Skipped(rel, reason(error))
        return
    try:
        yield from walk(deeper, rel, budget, depth - 1)
    finally:
        os.close(deeper)
