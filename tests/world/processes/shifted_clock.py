"""A machine that sleeps: its processes stand still, and when they go on the wall clock is hours later.

`shifted_clock.c` is compiled where there is a compiler, and preloaded. Clocks that measure durations do not jump, as they do not
on Linux and macOS while a machine sleeps. The kernel's own times, as of files that are written, do not jump either.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil

from tests.world.processes.faulty_disk import library
from tests.world.processes.servers import Home

SOURCE = Path(__file__).with_suffix(".c")


class Clock:
    """The wall clock of every process that is started with this environment."""

    def __init__(self, file: Path) -> None:
        file.write_bytes(bytes(8))
        self._file = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
        self.environment = {"LD_PRELOAD": str(library(SOURCE)), "SHIFTED_CLOCK": str(file)}

    def jump(self, seconds: int) -> None:
        os.pwrite(self._file, seconds.to_bytes(8, "little", signed=True), 0)


def sleep_through(home: Home, clock: Clock, seconds: int) -> list[psutil.Process]:
    """All processes of the home sleep for so long; what was asleep."""
    asleep = home.processes()
    for process in asleep:
        process.send_signal(signal.SIGSTOP)
    clock.jump(seconds)
    for process in asleep:
        process.send_signal(signal.SIGCONT)
    return asleep
