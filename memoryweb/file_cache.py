"""The cache in files of the data directory. Nothing in it is the only copy of anything."""

import pickle
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

#: Entries set for longer end after it, so a later end is from a clock that ran ahead. Those without an end stay.
LONGEST_SECONDS = 7 * 24 * 3600


class FileCache(FileBasedCache):
    """Django's, except that a damaged entry counts as missing, and that the oldest entries make room, not random ones.

    A power cut tears files, and another version of memoryweb stores other classes: one unreadable entry would otherwise stop
    every tick. Removed at random, the time of the last tick would go too, and the scheduler would look as if it never ran.
    """

    def __init__(self, dir: str, params: dict[str, Any]) -> None:
        super().__init__(dir, params)
        self._folder = Path(dir)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except OSError:
            raise
        except Exception:  # whatever pickle and zlib make of the bytes
            self.delete(key, version)
            return default

    def get_backend_timeout(self, timeout: Any = DEFAULT_TIMEOUT) -> float | None:
        ends = super().get_backend_timeout(timeout)
        return ends if ends is None else min(ends, time.time() + LONGEST_SECONDS)

    def _is_expired(self, f: BinaryIO) -> bool:
        try:
            if super()._is_expired(f):  # type: ignore[misc] # not in the stubs
                return True
            f.seek(0)
            ends = pickle.load(f)  # noqa: S301 - our own file, as Django reads it
            is_expired = ends is not None and ends > time.time() + LONGEST_SECONDS
        except OSError:
            raise
        except Exception:  # as above
            is_expired = True
        if is_expired:
            Path(f.name).unlink(missing_ok=True)
        return is_expired

    def _cull(self) -> None:
        entries = list(self._folder.glob(f"*{self.cache_suffix}"))
        if len(entries) >= self._max_entries:
            for entry in sorted(entries, key=_written_at)[: len(entries) // self._cull_frequency]:
                entry.unlink(missing_ok=True)


def _written_at(entry: Path) -> float:
    with suppress(OSError):  # removed by another process
        return entry.stat().st_mtime
    return 0.0
