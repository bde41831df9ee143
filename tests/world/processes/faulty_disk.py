"""Commands on a failing disk: a small library, loaded before the C library, makes one chosen call fail.

`faulty_disk.c` is compiled if there is a compiler, and preloaded into a process that has imported everything and forks
for each command. A fault is written into a file that all of them map: the number of the call below the chosen
folders, from 0, and the error.
"""

from __future__ import annotations

import errno
import functools
import importlib
import json
import mmap
import os
import runpy
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.world.processes import commands

SOURCE = Path(__file__).with_suffix(".c")
CREATE, WRITE, CHANGE, SYNC, READ = 1, 2, 4, 8, 16
WRITING = CREATE | WRITE | CHANGE | SYNC
# The layout of `struct control`: armed, at, action, error, kinds, later, count, struck; roots, only, call, path.
CONTROL = struct.Struct("8i1024s64s32s928s")
COUNT_AND_STRUCK = struct.Struct("2i")
AT_COUNT = 6 * 4
AT_CALL = 8 * 4 + 1024 + 64


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at the failing call: its possible `kinds`, and the kinds that fail permanently after it.

    `only`: only calls whose path contains this are counted.
    """

    name: str
    action: int
    error: int = 0
    kinds: int = WRITING
    later: int = 0
    only: str = ""


ERROR, SHORT, KILL, TORN = 1, 2, 3, 4
NONE = Fault("none", 0)
ONCE = [
    Fault("EIO", ERROR, errno.EIO),
    Fault("ENOSPC", ERROR, errno.ENOSPC, CREATE | WRITE),
    Fault("EDQUOT", ERROR, errno.EDQUOT, CREATE | WRITE),
    Fault("EROFS", ERROR, errno.EROFS, CREATE | WRITE | CHANGE),
    Fault("unreadable", ERROR, errno.EIO, READ),
    Fault("short", SHORT, 0, WRITE),
]
#: A disk that is removed, remounted read-only, or full, in the middle of a write.
FOR_GOOD = [
    Fault("EIO for good", ERROR, errno.EIO, WRITING, WRITING),
    Fault("EROFS for good", ERROR, errno.EROFS, CREATE | WRITE | CHANGE, CREATE | WRITE | CHANGE),
    Fault("a full disk", SHORT, errno.ENOSPC, WRITE, CREATE | WRITE),
]
KILLS = [Fault("kill", KILL), Fault("torn write", TORN, 0, WRITE)]
FAULTS = {fault.name: fault for fault in (*ONCE, *FOR_GOOD, *KILLS)}


@dataclass(frozen=True, slots=True)
class Struck:
    """The number of calls, and the one that failed ("" if none did)."""

    calls: int
    call: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A command's exit code (below 0: killed by that signal), and its output."""

    code: int
    out: str
    err: str
    struck: Struck


def missing() -> str:
    """Why this is impossible on this machine, as text; "" if it is possible."""
    if sys.platform != "linux":
        return "only Linux can put a library before the C library in this way"
    return "" if shutil.which("cc") else "no C compiler; install gcc"


@functools.cache
def library(source: Path) -> Path:
    """The library to preload, compiled from a C file once per run."""
    made = Path(tempfile.mkdtemp(prefix=f"{source.stem}-")) / f"{source.stem}.so"
    words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(source), "-ldl"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    return made


class Disk:
    """A process whose calls below `roots` can fail, and its control file. Use it as a context manager."""

    def __init__(self, folder: Path, roots: Sequence[Path], environment: Mapping[str, str]) -> None:
        self.folder = folder
        control = folder / "control"
        control.write_bytes(bytes(CONTROL.size))
        with control.open("r+b") as file:
            self._control = mmap.mmap(file.fileno(), CONTROL.size)
        self._roots = b"".join(os.fsencode(root) + b"\0" for root in roots)
        self.environment = {
            **environment,
            "LD_PRELOAD": str(library(SOURCE)),
            "FAULTY_DISK": str(control),
            "PYTHONUNBUFFERED": "1",
        }
        self._station = commands.Station(__name__, self.environment)

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *_: object) -> None:
        self._station.close()
        self._control.close()

    def run(self, *words: str, fault: Fault = NONE, at: int = -1) -> Done:
        """Runs a command, or `call MODULE:FUNCTION JSON`, with this fault at call number `at` below the roots."""
        wish = (1, at, fault.action, fault.error, fault.kinds, fault.later, 0, 0)
        self._control[:] = CONTROL.pack(*wish, self._roots, fault.only.encode(), b"", b"")
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            open(os.devnull, "rb") as given,
        ):
            code = self._station.order(words, self.environment, (given, out, err))
            self._control[0:4] = bytes(4)
            return Done(code, commands.text_of(out), commands.text_of(err), self._struck())

    def _struck(self) -> Struck:
        count, struck = COUNT_AND_STRUCK.unpack_from(self._control, AT_COUNT)
        call, path = struct.unpack_from("32s928s", self._control, AT_CALL)
        names = [os.fsdecode(name.partition(b"\0")[0]) for name in (call, path)]
        return Struck(count, *names) if struck else Struck(count)

    def call(self, function: str, **given: object) -> object:
        """Calls a function of the project (MODULE:NAME) in such a process and returns its result."""
        done = self.run("call", function, json.dumps(given))
        assert done.code == 0, done.err
        return json.loads(done.out)


def _call(function: str, given: str) -> None:
    module, _, name = function.partition(":")
    print(json.dumps(getattr(importlib.import_module(module), name)(**json.loads(given))))  # noqa: T201 # is the answer


if __name__ == "__main__":
    commands.get_ready()
    import django

    django.setup()
    for ready in ("dreams.services.recovery", "dreams.services.rollback", "dreams.web.urls"):
        importlib.import_module(ready)
    commands.serve(socket.socket(fileno=int(sys.argv[1])))
    if sys.argv[1] == "call":
        _call(*sys.argv[2:])
    else:
        runpy.run_path("manage.py", run_name="__main__")
