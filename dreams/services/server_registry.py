"""`serve.json` in the data directory: the running server and its address. Other commands build links from it."""

import datetime as dt
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from dreams.lib import process
from memoryweb import BASE_DIR, RESOURCES

PROGRAM = (BASE_DIR / "dreams", BASE_DIR / "memoryweb", RESOURCES / "templates")


@dataclass(frozen=True, slots=True)
class Running:
    """A running server. `started` is its process's start time (`dreams.lib.process`), `at` when it began to serve, `program`
    when a file of memoryweb was last written before that."""

    pid: int
    started: float
    address: str
    port: int
    at: str
    program: int = 0

    @property
    def since(self) -> dt.datetime:
        return dt.datetime.fromisoformat(self.at)

    @property
    def is_outdated(self) -> bool:
        """Whether memoryweb was updated since: files on disk may no longer match the code in memory."""
        return bool(self.program) and self.program != _program()


def _program() -> int:
    """When a file of memoryweb was last written or moved into place, in nanoseconds. A wrong clock does no harm, as the value
    is only compared with itself."""
    return max(_changes(), default=0)


def _changes() -> Iterator[int]:
    for root in PROGRAM:
        for file in root.rglob("*"):
            if file.suffix in (".py", ".html"):
                with suppress(OSError):  # an update deletes files
                    yield file.stat().st_ctime_ns


def path() -> Path:
    return Path(settings.DATA_DIR) / "serve.json"


def write(address: str, port: int) -> Running:
    """Records that this process serves at `address`."""
    me = process.current()
    now = dt.datetime.now(dt.UTC).isoformat()
    running = Running(me.pid, me.start_time, address, port, now, _program())
    draft = path().with_suffix(f".{me.pid}")
    draft.write_text(json.dumps(asdict(running)), encoding="utf-8")
    draft.chmod(0o600)
    os.replace(draft, path())  # noqa: PTH105 - the one step that others must see whole
    return running


def running() -> Running | None:
    """The running server of this data directory, or None. A record left by a crash is ignored."""
    try:
        found = Running(**json.loads(path().read_text(encoding="utf-8")))
        alive = process.is_alive(int(found.pid), float(found.started)) and bool(found.since)
    except (OSError, ValueError, TypeError):
        return None
    return found if alive else None


def clear() -> None:
    path().unlink(missing_ok=True)
