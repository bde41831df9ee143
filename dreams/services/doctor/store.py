"""What is kept: the database, and everything that was ever stored, read back."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.text import capfirst

from dreams.lib.files.text import plural
from dreams.services.doctor.check import Check
from dreams.services.upkeep import verifying

KEPT = {
    "histories": ("history", "histories"),
    "versions": ("version", "versions"),
    "texts": ("text", "texts"),
    "journals": ("journal", "journals"),
    "audit entries": ("audit entry", "audit entries"),
}
PRAGMAS = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")


def database() -> Check:
    executor = MigrationExecutor(connection)
    behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if behind:
        return Check(
            "Database",
            "warn",
            f"{plural(len(behind), 'step')} behind",
            remedy="Start `serve` again, or run any command that needs it: both update it.",
        )
    if connection.vendor != "sqlite":
        return Check("Database", "ok", connection.display_name)
    found = {name: _pragma(name) for name in PRAGMAS}
    said = f"SQLite, journal mode {found['journal_mode']}"
    detail = f"{settings.DATABASES['default']['NAME']}, " + ", ".join(f"{k} {v}" for k, v in found.items())
    if found["journal_mode"] != "wal":
        remedy = "Move the data directory to a local disk: network disks cannot do WAL, and pages will wait for dreams."
        return Check("Database", "warn", said, detail, remedy)
    return Check("Database", "ok", said, detail)


def _pragma(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return str(cursor.fetchone()[0])


def kept(*, thorough: bool) -> Check:
    """Histories, texts, journals and the audit log, each as it was written?"""
    if not thorough:
        remedy = "`doctor --thorough`, or “Check everything” on the health page, reads all of it back."
        return Check("Kept data", "info", "Not read back now", remedy=remedy)
    report = verifying.verify()
    read = ", ".join(plural(count, *KEPT[kind]) for kind, count in report.checked.items())
    if not report.problems:
        return Check("Kept data", "ok", "Whole and unbroken", f"Read back: {read}")
    worst = report.problems[0]
    detail = f"In {worst.where}; {plural(len(report.problems), 'problem')} in {read}; `verify` names each"
    return Check("Kept data", "bad", capfirst(worst.what), detail, worst.remedy)
