"""One process at a time, by a kernel lock on a file: let go by the system itself when its holders are dead."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def take(path: Path) -> int | None:
    """The descriptor of `path`, locked until it is closed; None when another process holds it.

    Processes forked off hold it too: what is left of a killed queue keeps a second one from starting beside it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
