"""Bubblewrap around the worker: no network, no other processes, and of the disk only what it must read, read-only.

It is the one layer that holds before the worker's first line of Python runs; Landlock is put up inside it. Where
`bwrap` is missing or the system forbids it (no user namespaces, a hardened container), the worker runs without it,
and the state says why. Options: bwrap(1), those of version 0.4 and later.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

BASE = Path(__file__).resolve().parents[4]
TRY_SECONDS = 10.0
SAID_CHARS = 160
# Where the interpreter's own libraries stand; a folder that a system does not have is passed over.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store")
# Each namespace that can be had without asking: nobody to talk to, nobody to see or signal.
_ALONE = ("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def found() -> str:
    """The path of bubblewrap, or ""."""
    return shutil.which("bwrap") or ""


def command(bwrap: str, folders: Iterable[str], *, root: bool) -> list[str]:
    """The words to put before the worker's own command line. `folders` are what it shall read, nothing else.

    `root`: the user of this process is root, who in a container reads files of another owner. It keeps that one
    right and loses all others; every mount is read-only, so it cannot write with it.
    """
    words = [bwrap, *_ALONE, "--cap-drop", "ALL"]
    words += ["--cap-add", "CAP_DAC_OVERRIDE"] if root else []
    # A folder comes before its subfolders: mounted later, it would hide them.
    for folder in sorted({*_own(), *folders}):
        words += ["--ro-bind-try", folder, folder]
    return [*words, "--remount-ro", "/", "--chdir", str(BASE), "--"]


def _own() -> tuple[str, ...]:
    """What Python and the tools are made of: interpreter, libraries, packages, and of this project its code alone."""
    code = (str(BASE / name) for name in ("dreams", "memoryweb"))
    return (*LIBRARIES, sys.base_prefix, sys.base_exec_prefix, sys.prefix, *code)


def trouble(bwrap: str) -> str:
    """Why this bubblewrap cannot be used here, or "" when it can. Tried once in a process's life."""
    return _tried(bwrap, sys.executable) if bwrap else "bubblewrap is not installed"


@lru_cache(maxsize=4)
def _tried(bwrap: str, python: str) -> str:
    # The very thing that will run in it: a bubble in which it cannot be imported is none.
    act = "import dreams.lib.sandbox.tool_worker.worker; print('works')"
    words = [*command(bwrap, (), root=os.geteuid() == 0), python, "-c", act]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=TRY_SECONDS, env={}, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({type(error).__name__})"
    if done.returncode == 0 and done.stdout.strip() == "works":
        return ""
    said = " ".join(done.stderr.split())[:SAID_CHARS] or f"it ended with {done.returncode}"
    return f"bubblewrap does not work here ({said})"
