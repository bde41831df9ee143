"""Protection of the worker by the operating system: resource limits, and Landlock and bubblewrap if available.

The tools cannot write or start anything; this layer protects against a bug in one of them. Limits and Landlock are
set after all imports, and only remove rights; `bubblewrap` is around the process from its start.
Numbers: landlock(7), include/uapi/linux/landlock.h."""

import ctypes
import os
import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dreams.lib.files.safefs import held

BASE = Path(__file__).resolve().parents[4]
TRY_SECONDS = 10.0  # for the trial of bubblewrap; chosen
SAID_CHARS = 160  # of its error message; chosen
# The folders of the interpreter's libraries; missing ones are skipped.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store")
# All namespaces available without privileges: no network, and no other processes to see or signal.
_ALONE = ("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def bubblewrap_found() -> str:
    """The path of bubblewrap, or ""."""
    return shutil.which("bwrap") or ""


def command(bwrap: str, folders: Iterable[str], *, root: bool) -> list[str]:
    """The command that wraps the worker's command line. It can only read `folders`.

    `root`: the user of this process is root, who in a container reads files of another owner. It keeps only that
    right; every mount is read-only, so it cannot write with it.
    """
    words = [bwrap, *_ALONE, "--cap-drop", "ALL"]
    words += ["--cap-add", "CAP_DAC_OVERRIDE"] if root else []
    # A folder is mounted before its subfolders: mounted later, it would hide them.
    for folder in sorted({*_own(), *folders}):
        words += ["--ro-bind-try", folder, folder]
    return [*words, "--remount-ro", "/", "--chdir", str(BASE), "--"]


def _own() -> tuple[str, ...]:
    """The folders that Python and the tools need: interpreter, libraries, packages, and the code of this project."""
    code = (str(BASE / name) for name in ("dreams", "memoryweb"))
    return (*LIBRARIES, sys.base_prefix, sys.base_exec_prefix, sys.prefix, *code)


def bubblewrap_trouble(bwrap: str) -> str:
    """Why this bubblewrap cannot be used here, or "" if it can. Tried once per process."""
    return _tried(bwrap, sys.executable) if bwrap else "bubblewrap is not installed"


@lru_cache(maxsize=4)
def _tried(bwrap: str, python: str) -> str:
    # Tries the import of the real worker, without which bubblewrap is no use.
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


MEMORY_BYTES = 2 * 1024**3  # of one worker; chosen
CPU_SECONDS = 1_800  # of a dream; chosen
OPEN_FILES = 512  # of one worker; chosen

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38  # from linux/prctl.h
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# The number of file rights in each version of the interface: refer, truncate and ioctl were added later.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_RIGHTS_NOW = 16
_NET_SINCE, _NET = 4, 0b11
_SCOPE_SINCE, _SCOPE = 6, 0b11


@dataclass(frozen=True, slots=True)
class Fences:
    """The protection of the worker. `landlock` is the version of the kernel's interface, 0 for none. `trouble` is
    why there is no bubblewrap."""

    landlock: int = 0
    bubblewrap: bool = False
    trouble: str = ""

    @property
    def has_os_sandbox(self) -> bool:
        return self.landlock > 0 or self.bubblewrap

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers in words, the outer one first."""
        outer = ("bubblewrap",) if self.bubblewrap else ()
        return (*outer, f"Landlock (version {self.landlock})") if self.landlock else outer


def offered() -> Fences:
    """The protection available on this system. Starts bubblewrap once to check it; restricts nothing."""
    trouble = bubblewrap_trouble(bubblewrap_found())
    return Fences(landlock_version(), not trouble, trouble)


def landlock_version() -> int:
    """The kernel's version of Landlock, 0 if there is none. Restricts nothing."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)))


def limit_resources() -> None:
    """No files written, no processes started, bounded memory and time. A limit that cannot be set is skipped."""
    wanted = {
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_AS: MEMORY_BYTES,
    }
    for kind, value in wanted.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (value, value))


def landlock(folders: Iterable[str]) -> int:
    """Restricts this process to reading below `folders`, without network. Returns the interface's version, or 0."""
    version = landlock_version()
    if version < 1:
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = _ruleset(libc, version)
    if ruleset < 0:
        return 0
    with held(ruleset):
        for folder in folders:
            _allow_reading(libc, ruleset, folder)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.syscall(_RESTRICT_SELF, ruleset, 0):
            return 0
    return version


def _ruleset(libc: ctypes.CDLL, version: int) -> int:
    files = (1 << _RIGHTS.get(version, _RIGHTS_NOW)) - 1
    fields = [files]
    if version >= _NET_SINCE:
        fields.append(_NET)
    if version >= _SCOPE_SINCE:
        fields.append(_SCOPE)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    return int(libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0))


def _allow_reading(libc: ctypes.CDLL, ruleset: int, folder: str) -> None:
    try:
        fd = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # removed: there is nothing to read
    with held(fd):
        rule = struct.pack("=Qi", _READ_FILE | _READ_DIR, fd)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
