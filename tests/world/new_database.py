"""A new database, made once per test run: its migrations would take two seconds in each test process."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock


@contextmanager
def made_once(file: Path) -> Iterator[bool]:
    """Yields True if `file` is now a copy of it; if not, the block creates it, and it is kept for later calls."""
    whole = Path(os.environ["TESTS_RUN"]) / "new.sqlite3"
    with FileLock(f"{whole}.lock"):
        if whole.exists():
            shutil.copy(whole, file)
            yield True
        else:
            yield False
            with closing(sqlite3.connect(file)) as made, closing(sqlite3.connect(whole)) as copy:
                made.backup(copy)  # includes what is still in its write-ahead log
            os.chmod(whole, 0o600)
