"""Bytes down to the disk itself, where systems mean different things by it."""

from __future__ import annotations

import fcntl
import os

#: On macOS `fsync` only hands the bytes to the drive, which may keep them in its cache; this asks the drive to write them.
_FULL: int | None = getattr(fcntl, "F_FULLFSYNC", None)


def to_disk(fd: int) -> None:
    """Return when what was written to the file or folder would outlive a power cut. Raises OSError."""
    if _FULL is not None:
        try:
            fcntl.fcntl(fd, _FULL)
        except OSError:  # not every file system knows it; then the plain one is the best there is
            os.fsync(fd)
    else:
        os.fsync(fd)
