"""A case-insensitive disk below one folder: `folding_disk.c`, compiled and preloaded."""

from __future__ import annotations

from pathlib import Path

from tests.world.processes.faulty_disk import library

SOURCE = Path(__file__).with_suffix(".c")


def environment(folder: Path) -> dict[str, str]:
    """The environment for processes that see case-insensitive names below `folder`."""
    return {"LD_PRELOAD": str(library(SOURCE)), "FOLDING_DISK": str(folder)}
