"""Which folders can be watched for changes, and why another cannot. A watch is only ever a hint: whoever reads looks anyway.

A watch of Linux is one for each folder below, of a number that all programs of a person share, hence the bound. File systems
of other machines tell nothing of what is changed there.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from dreams.lib.files.text import is_folder

#: Folders below one root; a person's limit is 8,192 on small machines, and editors take of it too. Counted in about 0.1 s.
MOST_FOLDERS = 4_000
_OF_OTHER_MACHINES = (
    "nfs",
    "cifs",
    "smb",
    "afs",
    "9p",
    "ncp",
    "ceph",
    "glusterfs",
    "lustre",
    "davfs",
    "webdav",
    "fuse",
)


@dataclass(frozen=True, slots=True)
class Watchable:
    """`why_not` is empty for a folder that can be watched."""

    path: Path
    why_not: str = ""


def judge(folders: Iterable[Path]) -> list[Watchable]:
    """Of those that exist, in their order. A link is followed: the folder that it leads to is judged."""
    mounts = _mounts()
    there = dict.fromkeys(folder for folder in folders if is_folder(folder))
    return [Watchable(folder, _why_not(folder.resolve(), mounts)) for folder in there]


def _why_not(folder: Path, mounts: Sequence[tuple[str, str]]) -> str:
    kind = next((kind for mount, kind in mounts if folder.is_relative_to(mount)), "")
    if kind.startswith(_OF_OTHER_MACHINES):
        return f"it is on a network or user file system ({kind})"
    return f"it holds more than {MOST_FOLDERS:,} folders" if has_more_folders(folder) else ""


def _mounts() -> list[tuple[str, str]]:
    """Where each file system is mounted, and its kind; the innermost first."""
    found = [(one.mountpoint, one.fstype.lower()) for one in psutil.disk_partitions(all=True)]
    return sorted(found, key=lambda one: len(one[0]), reverse=True)


def has_more_folders(folder: Path) -> bool:
    number = 0
    for _, inner, _ in os.walk(folder):
        number += len(inner)
        if number > MOST_FOLDERS:
            return True
    return False
