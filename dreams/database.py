"""The database is made and brought up to date by whoever needs it first, under a file lock."""

from __future__ import annotations

from pathlib import Path

import filelock
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from memoryweb import datadir

LOCK_SECONDS = 120


class DatabaseUnavailable(Exception):
    """The database cannot be opened or brought up to date; the message has the remedy."""


def ensure() -> bool:
    """Create and migrate the database if needed; True when something was migrated. Quick when nothing is to do."""
    folder = datadir.ensure(Path(settings.DATA_DIR))
    if not _is_behind():
        return False
    try:
        with filelock.FileLock(folder / "migrate.lock", timeout=LOCK_SECONDS):
            if not _is_behind():
                return False
            call_command("migrate", verbosity=0, interactive=False)
    except filelock.Timeout as error:
        raise DatabaseUnavailable(
            f"Another process has been bringing the database up to date for {LOCK_SECONDS} s. Look for it, then try again."
        ) from error
    _make_private()
    return True


def _is_behind() -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _make_private() -> None:
    name = settings.DATABASES["default"]["NAME"]
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") and Path(name).exists():
        Path(name).chmod(0o600)
