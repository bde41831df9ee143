"""What the operating system adds around the worker: limits on resources, and Landlock where the kernel has it.

The tools cannot write or start anything by themselves; this layer is for the day on which one of them is wrong. It
is put up after all imports, and only takes away. Numbers: landlock(7), include/uapi/linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 1_800
OPEN_FILES = 512

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# How many file rights each version of the interface knows: refer, truncate and ioctl came later.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_RIGHTS_NOW = 16
_NET_SINCE, _NET = 4, 0b11
_SCOPE_SINCE, _SCOPE = 6, 0b11


@dataclass(frozen=True, slots=True)
class State:
    """What stands around the worker. `landlock` is the version of the kernel's interface, 0 for none."""

    landlock: int = 0

    @property
    def has_os_sandbox(self) -> bool:
        return self.landlock > 0


def limit_resources() -> None:
    """No files written, no processes started, bounded memory and time. A limit that cannot be set is left out."""
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
    """Let this process read below `folders` and nothing else, with no network. The interface's version, or 0."""
    if not sys.platform.startswith("linux"):
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    version = int(libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))
    if version < 1:
        return 0
    ruleset = _ruleset(libc, version)
    if ruleset < 0:
        return 0
    try:
        for folder in folders:
            _allow_reading(libc, ruleset, folder)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.syscall(_RESTRICT_SELF, ruleset, 0):
            return 0
    finally:
        os.close(ruleset)
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
        return  # gone: there is nothing to read
    try:
        rule = struct.pack("=Qi", _READ_FILE | _READ_DIR, fd)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)
