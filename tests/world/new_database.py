"""A new database, made once for a whole run: its migrations would take two seconds in each process of the tests."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock

from tests.settings import RUN


@contextmanager
def made_once(file: Path) -> Iterator[bool]:
    """Whether `file` is a copy of it now; if not, it is made within, and kept for all who come after."""
    whole = RUN / "new.sqlite3"
    with FileLock(f"{whole}.lock"):
        if whole.exists():
            shutil.copy(whole, file)
            yield True
        else:
            yield False
            with closing(sqlite3.connect(file)) as made, closing(sqlite3.connect(whole)) as copy:
                made.backup(copy)  # also what is still in the log beside it
            os.chmod(whole, 0o600)
