"""Creates and migrates the database, by whichever process needs it first, under a file lock."""

import datetime as dt
import errno
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import filelock
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.utils import DatabaseError, InterfaceError, OperationalError, ProgrammingError

from dreams.lib import progress
from dreams.lib.secrets.redact import redact_all
from dreams.models.reasons import TypedReason
from memoryweb import datadir

LOCK_SECONDS = 120  # chosen: longer than any update is expected to take
ANOTHER_UPDATES = f"Another process has been bringing the database up to date for {LOCK_SECONDS} s. Find it and end it or wait, then try again."
OURS = "dreams"
#: Migrations that a later one replaced; databases of earlier versions know them by name.
REPLACED = {(OURS, "0001_squashed_0035_plain_names"), (OURS, "0001_squashed_0053_snooze_per_account")}
#: Folder of copies in the data directory, and how many are kept, in case an update is tried twice.
COPIES, COPIES_KEPT = "database-copies", 2
# SQLite's primary codes; PostgreSQL's: lock not available, deadlock, serialization failure, too many connections.
BUSY_SQLITE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
DAMAGED_SQLITE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
REFUSED_SQLITE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})  # as after a start by root
AWAY_POSTGRES = ("08", "57P")  # connection lost; the server is shutting down, starting, or was killed
FULL_POSTGRES = "53100"
BUSY_POSTGRES = frozenset({"55P03", "40P01", "40001", "53300"})


Row = TypeVar("Row")


class DatabaseUnavailable(Exception):
    """The database cannot be opened or brought up to date; the message has the remedy."""


def is_busy(error: BaseException | None) -> bool:
    """Whether Django's `error` means that the database is locked, so that one can try again."""
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return code in BUSY_SQLITE or getattr(cause, "sqlstate", None) in BUSY_POSTGRES


@contextmanager
def unless_full() -> Iterator[None]:
    """For a write that can be left out, as of a page that only reads: it is, where the disk is full."""
    try:
        yield
    except (OSError, DatabaseError) as error:
        if not is_full(error):
            raise


@contextmanager
def unless_busy() -> Iterator[None]:
    """As `unless_full`, and it is left out where it would have to wait for another writer. That on SQLite only; PostgreSQL waits
    for the same row alone."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with unless_full():
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        [wait] = cursor.fetchone()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            with unless_full():
                yield
        except OperationalError as error:
            if not is_busy(error):
                raise
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {wait}")


def write_out() -> None:
    """What SQLite still has in its log goes into the database file, so that a copy of that file alone is complete. Does not
    wait for others that read."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "sqlite":
        with suppress(DatabaseError):
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout = 0")
            empty_log()


def overwrite_deleted() -> None:
    """From now on SQLite overwrites what this connection deletes; otherwise it stays in free pages."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete=ON")


def empty_log() -> bool:
    """Writes SQLite's log, which has what was deleted too, into the database file and cuts it off. False: others read it."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return True
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [is_busy, *_] = cursor.fetchone()
    return not is_busy


def is_full(error: BaseException | None) -> bool:
    """Whether `error` means that a disk is full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    cause = error.__cause__ if isinstance(error, DatabaseError) else None
    code = getattr(cause, "sqlite_errorcode", 0)
    # The second: no room for SQLite's shared memory file, which it reports as an I/O error.
    full = code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE
    full = full or (code & 0xFF == sqlite3.SQLITE_CANTOPEN and takes_no_file())
    return full or getattr(cause, "sqlstate", None) == FULL_POSTGRES


def takes_no_file() -> bool:
    """Whether all inodes of the data directory's disk are used; not every file system has a fixed number."""
    with suppress(OSError):
        disk = os.statvfs(settings.DATA_DIR)
        return disk.f_files > 0 and disk.f_favail == 0
    return False


def is_damaged(error: BaseException | None) -> bool:
    """Whether Django's `error` means that the database file is damaged."""
    cause = error.__cause__ if isinstance(error, DatabaseError) else None
    return getattr(cause, "sqlite_errorcode", 0) & 0xFF in DAMAGED_SQLITE


def why_damaged(error: BaseException) -> str:
    """The remedy for a damaged database."""
    file = settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"]
    return (
        f"The database is damaged: {error}. Stop memoryweb, move {file} and the files that begin with its name away, and put "
        "a backup in its place. Without one `discover` begins a new database: memories and their git history are kept, "
        "decisions and settings are not."
    )


def why_full(error: BaseException | None) -> str:
    """Which disk is full, as far as the error names it."""
    named = getattr(error, "filename", None)
    if takes_no_file():
        return f"No more files fit on the disk of {settings.DATA_DIR}: all its inodes are used."
    return f"No space is left for {named if isinstance(named, str) else settings.DATA_DIR}."


def is_away(error: BaseException | None) -> bool:
    """Whether Django's `error` means that the database server does not answer or is shutting down."""
    if connections[DEFAULT_DB_ALIAS].vendor != "postgresql":
        return False
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    code = getattr(error.__cause__, "sqlstate", None)
    # No code: no server was reached, or the connection broke.
    return code is None or code.startswith(AWAY_POSTGRES)


def why_away(error: BaseException) -> str:
    """The driver's first line, which has the address and the error, but no password."""
    first = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return f"The database server does not answer: {first.rstrip('.')}."


def in_parts(rows: Sequence[Row], most: int, doing: str = "") -> Iterator[Sequence[Row]]:
    """`rows` in parts: large transactions block SQLite's only writer. `doing` names long work that may be stopped before each
    part."""
    for start in range(0, len(rows), most):
        if doing:
            progress.step(doing, start, len(rows))
        yield rows[start : start + most]


def one_at_a_time(what: str) -> None:
    """Wait for other transactions with the same `what`; held until this one ends.

    For reading rows and then adding some: SQLite has one writer at a time anyway (transactions are IMMEDIATE), but in
    PostgreSQL two could both find nothing and both add. Call it first in a transaction, and the audit log's last.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_lock_key(what)])


def _lock_key(what: str) -> int:
    return int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], "big", signed=True)


@contextmanager
def _one_host_at_a_time() -> Iterator[None]:
    """A lock on the database, whatever the data directory, so that of two first starts one waits. PostgreSQL only.

    It belongs to the database session, as a migration has several transactions, and ends with the connection. Raises
    DatabaseUnavailable.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        yield
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
            cursor.execute("SELECT pg_advisory_lock(%s)", [_lock_key("migrations")])
            cursor.execute("SET lock_timeout = DEFAULT")
    except OperationalError as error:
        if is_busy(error):
            raise DatabaseUnavailable(ANOTHER_UPDATES) from error
        raise
    try:
        yield
    finally:
        with suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_lock_key("migrations")])


def ensure(say: Callable[[str], object] | None = None) -> bool:
    """Create and migrate the database if needed; True if something was migrated. Fast if not. `say` is told before.

    An existing SQLite database is copied first (`copies`). Raises DatabaseUnavailable.
    """
    folder = datadir.ensure(Path(settings.DATA_DIR))
    if not _is_behind(_applied()):
        return False
    try:
        with (
            filelock.FileLock(datadir.lock_file(folder, "migrate.lock"), timeout=LOCK_SECONDS),
            _one_host_at_a_time(),
        ):
            applied = _applied()
            if not _is_behind(applied):
                return False
            if say:
                say(f"{'Updating' if applied else 'Making'} the database; this takes some seconds.")
            copy = _copied(folder) if applied else None
            _mask_copies()
            _brought_up_to_date(copy)
    except filelock.Timeout as error:
        raise DatabaseUnavailable(ANOTHER_UPDATES) from error
    _make_private()
    return True


def copies() -> list[Path]:
    """The copies of the database made before migrations, oldest first."""
    return sorted((Path(settings.DATA_DIR) / COPIES).glob("*.sqlite3"))


def _mask_copies() -> None:
    """Reasons in copies lose their secrets, as those in the database do. Before the update: after it nothing would ask again."""
    fields = (
        field for model in apps.get_app_config(OURS).get_models() for field in model._meta.concrete_fields
    )
    columns = [(each.model._meta.db_table, each.attname) for each in fields if isinstance(each, TypedReason)]
    for file in copies():
        with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as copy, copy:
            copy.execute("PRAGMA secure_delete=ON")
            for table, column in columns:
                with suppress(sqlite3.OperationalError):  # a table or column that it does not have yet
                    _mask(copy, table, column)


def _mask(copy: sqlite3.Connection, table: str, column: str) -> None:
    rows = copy.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} <> ''").fetchall()  # noqa: S608 - our own names
    masked = zip(rows, redact_all([typed for _, typed in rows]), strict=True)
    changed = [(bare, row) for (row, typed), bare in masked if typed != bare]
    copy.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changed)  # noqa: S608 - as above


def forget_copies() -> None:
    """Delete the copies for a purge, as they have all texts."""
    for file in copies():
        file.unlink(missing_ok=True)


def _applied() -> set[tuple[str, str]]:
    """App and name of each applied migration; empty if there is no database yet. Raises DatabaseUnavailable."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            return set(cursor.fetchall())
    except (OperationalError, ProgrammingError) as error:
        if is_away(error):
            raise DatabaseUnavailable(f"{why_away(error)} Start it, or correct DATABASE_URL.") from error
        if is_full(error):
            raise DatabaseUnavailable(f"{why_full(error)} Make room there; nothing was changed.") from error
        return set()  # or an empty one; real faults appear again when migrating


def _is_behind(applied: set[tuple[str, str]]) -> bool:
    """Whether a migration on disk is not among the applied ones.

    Compares names only, as Django's plan imports all migrations, which would slow every command. Raises DatabaseUnavailable if a
    later version has changed the tables already.
    """
    there = _on_disk()
    if later := sorted(name for app, name in applied - there - REPLACED if app == OURS):
        raise DatabaseUnavailable(
            f"The database was changed by a newer memoryweb ({later[-1]} is not known here). Start that version; nothing was changed."
        )
    return not there <= applied


def _on_disk() -> set[tuple[str, str]]:
    return {
        (app.label, file.stem)
        for app in apps.get_app_configs()
        for file in Path(app.path, "migrations").glob("[0-9]*.py")
    }


def _copied(folder: Path) -> Path | None:
    """The path of a new private copy of the database. None for a server, which has its own backups."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite":
        return None
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S%f")
    copy = folder / COPIES / f"{stamp}.sqlite3"
    before = os.umask(0o077)
    try:
        copy.parent.mkdir(exist_ok=True)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(copy)])
    except (OSError, DatabaseError) as error:
        with suppress(OSError):
            copy.unlink()
        raise DatabaseUnavailable(
            f"The database has to be brought up to date and could not be copied to {copy.parent} first ({error}). "
            "Make room there, then try again; nothing was changed."
        ) from error
    finally:
        os.umask(before)
    _make_room_for(copy)
    return copy


def _make_room_for(copy: Path) -> None:
    """Keeps the newest copy of each state, of the last states only: an update that fails half-way may be tried very often, and
    the copy from before it must stay."""
    kept: dict[object, Path] = {}
    for file in datadir.oldest_first(copy, "*.sqlite3"):
        state = _state_of(file)
        if state in kept:
            kept.pop(state).unlink(missing_ok=True)
        kept[state] = file
    for old in list(kept.values())[:-COPIES_KEPT]:
        old.unlink(missing_ok=True)


def _state_of(copy: Path) -> object:
    """Its migrations; something of its own for a file that cannot be read."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(copy)) as opened:
        return frozenset(opened.execute("SELECT app, name FROM django_migrations"))
    return copy


def _brought_up_to_date(copy: Path | None) -> None:
    try:
        _migrate()
    except DatabaseError as error:
        as_before = f" The database as it was before is in {copy}." if copy else ""
        why = f"{why_full(error)} Make room there, then try again." if is_full(error) else f"{error}."
        if getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF in REFUSED_SQLITE and not is_full(error):
            why += f" Give yourself the right to {settings.DATA_DIR} and all files in it, then try again."
        raise DatabaseUnavailable(
            f"The database could not be brought up to date: {why}{as_before}"
        ) from error


def _migrate() -> None:
    # Never readable by others, not even for a moment.
    before = os.umask(0o077)
    try:
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    finally:
        os.umask(before)


def _make_private() -> None:
    if connections[DEFAULT_DB_ALIAS].vendor != "sqlite":
        return
    name = str(connections[DEFAULT_DB_ALIAS].settings_dict["NAME"])
    for file in (Path(name), Path(f"{name}-wal"), Path(f"{name}-shm")):
        if file.exists():
            file.chmod(0o600)
