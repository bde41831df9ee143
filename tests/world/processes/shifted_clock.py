"""A sleeping machine: its processes pause, and when they continue the wall clock is hours later.

`shifted_clock.c` is compiled if there is a compiler, and preloaded. Monotonic clocks do not jump, as on Linux and macOS
while a machine sleeps. The kernel's times, such as mtimes of written files, do not jump either.
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
    """The wall clock of every process started with this environment."""

    def __init__(self, file: Path) -> None:
        file.write_bytes(bytes(8))
        self._file = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
        self.environment = {"LD_PRELOAD": str(library(SOURCE)), "SHIFTED_CLOCK": str(file)}

    def jump(self, seconds: int) -> None:
        os.pwrite(self._file, seconds.to_bytes(8, "little", signed=True), 0)


def sleep_through(home: Home, clock: Clock, seconds: int) -> list[psutil.Process]:
    """Makes all processes of the home sleep for so long; returns them."""
    asleep = home.processes()
    for process in asleep:
        process.send_signal(signal.SIGSTOP)
    clock.jump(seconds)
    for process in asleep:
        process.send_signal(signal.SIGCONT)
    return asleep
