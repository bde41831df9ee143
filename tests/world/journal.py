"""A small memory directory, a plan for it, and system calls that trace, fail or die at a given call."""

import errno
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.storage.journal import Applied, FileOp, Plan, Result, System, sha256_of
from dreams.lib.storage.journal.recovery import JournalEntry, entry_at
from dreams.lib.storage.journal.store import Journal, attempts
from tests.world.manifest import Entry, manifest

LONG_AGO = 1_600_000_000_123_456_789

OLD = {"a.md": b"\xef\xbb\xbfold\r\n", "gone.md": b"to be deleted", "same.md": b"not named"}
NEW = {"a.md": b"\xef\xbb\xbfnew\r\n", "same.md": b"not named", "team/new.md": b"added"}


@dataclass(frozen=True)
class Place:
    """A memory directory and the journal's directory."""

    memory: Path
    journal: Path

    def tree(self) -> dict[str, Entry]:
        return manifest(self.memory)

    def texts(self) -> dict[str, bytes]:
        return {
            str(p.relative_to(self.memory)): p.read_bytes() for p in self.memory.rglob("*") if p.is_file()
        }

    def leftovers(self) -> list[str]:
        return [str(p) for p in self.memory.rglob("*") if ".memoryweb-" in p.name]


def list_journals(folder: Path) -> list[JournalEntry]:
    """Every attempt still in the journal, by plan id and attempt."""
    return [entry_at(path) for path in attempts(folder)]


def make_place(base: Path) -> Place:
    memory = base / "memory"
    memory.mkdir(parents=True)
    for number, (name, data) in enumerate(OLD.items()):
        path = memory / name
        path.write_bytes(data)
        path.chmod(0o640)
        with suppress(OSError):
            os.setxattr(path, "user.note", name.encode())
        os.utime(path, ns=(LONG_AGO, LONG_AGO + number))
    os.utime(memory, ns=(LONG_AGO, LONG_AGO + 100))
    return Place(memory, base / "journal")


def old_text(place: Place, plan_id: str, sha256: str) -> bytes:
    """What the newest attempt of a plan kept."""
    with Journal(System(), attempts(place.journal, plan_id)[-1]) as journal:
        return journal.blob(sha256)


def back(place: Place, result: Result, plan_id: str = "r1") -> Plan:
    """The plan that undoes an applied one; it expects each file in its applied state."""

    def op(item: Applied) -> FileOp:
        before = item.before
        if before is None:
            return FileOp(item.path, expected=item.sha256, data=None)
        text = old_text(place, result.plan_id, before.sha256)
        return FileOp(item.path, item.sha256, text, before.mode, before.mtime_ns, dict(before.xattrs))

    return Plan(
        target_dir=result.target_dir,
        ops=tuple(map(op, result.applied)),
        id=plan_id,
        made_at="",
        make_dirs={rel: result.dirs_before[rel].mode for rel in result.dirs_removed},
        remove_dirs=result.dirs_made,
        dir_states=dict(result.dirs_before),
    )


def change(path: str, old: bytes, new: bytes) -> FileOp:
    return FileOp(path, sha256_of(old), new)


def make_plan(place: Place, plan_id: str = "d1") -> Plan:
    """Changes a.md, adds team/new.md in a missing folder, deletes gone.md."""
    ops = (
        change("a.md", OLD["a.md"], NEW["a.md"]),
        FileOp("team/new.md", None, NEW["team/new.md"]),
        FileOp("gone.md", sha256_of(OLD["gone.md"]), None),
    )
    return Plan(str(place.memory), ops, plan_id, "2026-01-02T03:04:05+00:00", {"dream": plan_id})


class Traced(System):
    """Records each call. `before` is run once at a call of that name, to act as another process."""

    patience = patience_without_leases = 0.3

    def __init__(self, rename_flags: bool = True) -> None:
        self.has_rename_flags = rename_flags
        self.calls: list[tuple[str, str]] = []
        self.before: dict[tuple[str, str], Callable[[], object]] = {}

    def step(self, call: str, what: str) -> None:
        self.calls.append((call, what))
        action = self.before.pop((call, what), None)
        if action is not None:
            action()


class Failing(Traced):
    """Raises at call number `at`, and with `forever` at every later one."""

    def __init__(
        self, at: int, code: int = errno.EIO, forever: bool = False, rename_flags: bool = True
    ) -> None:
        super().__init__(rename_flags)
        self.at, self.code, self.forever = at, code, forever

    def step(self, call: str, what: str) -> None:
        super().step(call, what)
        number = len(self.calls) - 1
        if number == self.at or (self.forever and number > self.at):
            raise OSError(self.code, os.strerror(self.code), what)


class Dying(Traced):
    """The process dies, as by `kill -9`, just before call number `at`."""

    def __init__(self, at: int, rename_flags: bool = True) -> None:
        super().__init__(rename_flags)
        self.at = at

    def step(self, call: str, what: str) -> None:
        super().step(call, what)
        if len(self.calls) - 1 == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingAt(Traced):
    """The process dies before the first call about `what`."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def step(self, call: str, what: str) -> None:
        super().step(call, what)
        if what == self.what:
            os.kill(os.getpid(), signal.SIGKILL)
