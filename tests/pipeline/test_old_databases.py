"""A database that an earlier version made is copied, brought up to date, and has all that was decided in it.

All migrations one by one take ten times as long as a new database does, so `make test` leaves that one to `make test-more`.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from filelock import FileLock

from dreams.services import database
from tests.world.processes import commands
from tests.world.processes.servers import with_database

pytestmark = pytest.mark.not_on_postgresql

# As the first code that could dream, review and apply left it: one project, a dream with two changes approved and one
# rejected, applied; a policy. Its tables lack columns that were added to their migration later.
FIRST_DAY = Path(__file__).parents[1] / "world/databases/first_day.sql"
PROPOSAL = "pvzb8oiy8"
Tables = dict[str, set[tuple[object, ...]]]


def _first_day(data: Path) -> Path:
    data.mkdir(mode=0o700)
    opened = sqlite3.connect(data / "memoryweb.sqlite3")
    opened.executescript(FIRST_DAY.read_text())
    opened.close()
    return data


def _run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.run(
        *arguments, "--json", environment=commands.environment(data, MEMORYWEB_ROOTS=str(data / "no-root"))
    )


def _query(file: Path, sql: str) -> list[tuple[object, ...]]:
    opened = sqlite3.connect(file)
    try:
        return opened.execute(sql).fetchall()
    finally:
        opened.close()


def _tables(rows: Callable[[str], list[tuple[object, ...]]]) -> Tables:
    """Of each table its columns with type and whether they may be empty; triggers and named constraints by their SQL."""
    tables = rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'dreams%'")
    columns = {str(name): {row[1:4] for row in rows(f'PRAGMA table_info("{name}")')} for (name,) in tables}
    return {**columns, "triggers": set(rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))}


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory after the first command of this version: made once in a run, as it takes 15 seconds of CPU, and
    copied by each process that has one of these tests."""
    made = Path(os.environ["TESTS_RUN"]) / "first-day"
    with FileLock(f"{made}.lock"):
        if not made.exists():
            shutil.move(_brought_up_to_date(tmp_path_factory.mktemp("first") / "data"), made)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("old") / "data"))


def _brought_up_to_date(folder: Path) -> Path:
    data = _first_day(folder)
    copies = data / database.COPIES
    copies.mkdir()
    for name in ("20250101T000000000000", "20250201T000000000000"):
        (copies / f"{name}.sqlite3").write_bytes(b"an earlier copy")
    done = _run(data, "verify")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["checked"]["audit entries"] == 8
    return data


@pytest.fixture
def data(old: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(old, tmp_path / "data"))


@pytest.mark.sweep
def test_an_old_database_has_all_verdicts_policies_and_audit_entries(old: Path, tmp_path: Path) -> None:
    shown = json.loads(_run(old, "proposal", PROPOSAL).stdout)
    verdicts = [hunk["verdict"] for file in shown["files"] for hunk in file["hunks"]]
    assert (shown["state"], sorted(verdicts)) == ("applied", ["approved", "approved", "rejected"])
    said = [entry["sentence"] for entry in json.loads(_run(old, "audit").stdout)["entries"]]
    assert any("Reason: the row stays." in one for one in said) and len(said) == 8
    kept = tmp_path / "settings.json"
    assert _run(old, "settings", "export", str(kept)).returncode == 0
    (policy,) = json.loads(kept.read_text())["policies"]
    assert (policy["memory_type"], policy["operation"], policy["action"]) == ("reference", "add", "auto")


@pytest.mark.sweep
@pytest.mark.django_db
def test_an_old_database_has_the_tables_and_triggers_of_a_new_one(old: Path) -> None:

    def rows_here(sql: str) -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            return list(cursor.execute(sql).fetchall())

    def rows_there(sql: str) -> list[tuple[object, ...]]:
        return _query(old / "memoryweb.sqlite3", sql)

    assert _tables(rows_there) == _tables(rows_here)


@pytest.mark.sweep
def test_what_was_typed_before_there_was_a_search_is_found_and_forgotten_with_its_row(data: Path) -> None:
    found = json.loads(_run(data, "search", "lantern").stdout)
    assert "Where is the lantern kept?" in json.dumps(found)
    file = data / "memoryweb.sqlite3"
    grams = "SELECT count(*) FROM dreams_searchtext_vocab WHERE term = 'lan'"
    assert _query(file, grams) == [(1,)]
    opened = sqlite3.connect(file)
    with opened:
        opened.execute("DELETE FROM dreams_searchtext")
    opened.close()
    assert _query(file, grams) == [(0,)]


@pytest.mark.sweep
def test_the_database_is_copied_before_it_is_changed_and_two_copies_are_kept(old: Path) -> None:
    before, copy = sorted((old / database.COPIES).iterdir())
    assert before.name.startswith("20250201")
    assert copy.stat().st_mode & 0o777 == 0o600
    latest = "SELECT max(name) FROM django_migrations WHERE app = 'dreams'"
    assert _query(copy, latest) == [("0001_initial",)]
    assert _query(copy, "SELECT count(*) FROM dreams_decision") == [(3,)]


def test_a_database_that_cannot_be_copied_is_left_as_it_is(tmp_path: Path) -> None:
    data = _first_day(tmp_path / "data")
    (data / database.COPIES).write_text("in the way")
    done = _run(data, "projects")
    assert done.returncode == 1
    assert "could not be copied" in done.stderr and "Make room there" in done.stderr
    latest = "SELECT max(name) FROM django_migrations WHERE app = 'dreams'"
    assert _query(data / "memoryweb.sqlite3", latest) == [("0001_initial",)]


def test_a_database_that_a_newer_version_changed_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    data = with_database(tmp_path / "data")
    opened = sqlite3.connect(data / "memoryweb.sqlite3")
    with opened:
        opened.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('dreams', '0999_later', '2027-01-01')"
        )
    opened.close()
    done = _run(data, "projects")
    assert done.returncode == 1
    assert "newer memoryweb (0999_later is not known here)" in done.stderr
    assert not (data / database.COPIES).exists()


@pytest.mark.parametrize(
    "earlier", ["0001_squashed_0035_plain_names", "0001_squashed_0053_snooze_per_account"]
)
def test_a_database_that_was_made_by_a_migration_that_is_no_more_is_as_good_as_another(
    tmp_path: Path, earlier: str
) -> None:
    data = with_database(tmp_path / "data")
    known = "SELECT name FROM django_migrations WHERE app = 'dreams' AND name LIKE '%squashed%' ORDER BY name"
    (present,) = (str(name) for (name,) in _query(data / "memoryweb.sqlite3", known))
    opened = sqlite3.connect(data / "memoryweb.sqlite3")
    with opened:
        opened.execute("UPDATE django_migrations SET name = ? WHERE name = ?", [earlier, present])
    opened.close()
    done = _run(data, "projects")
    assert done.returncode == 0, done.stderr
    assert _query(data / "memoryweb.sqlite3", known) == [(earlier,), (present,)]


def test_an_update_that_fails_says_where_the_copy_is(tmp_path: Path) -> None:
    data = _first_day(tmp_path / "data")
    opened = sqlite3.connect(data / "memoryweb.sqlite3")
    opened.execute("CREATE TABLE dreams_channel (id integer)")
    opened.close()
    done = _run(data, "projects")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    (copy,) = (data / database.COPIES).iterdir()
    assert "already exists" in done.stderr and str(copy) in done.stderr


def test_an_update_that_fails_again_and_again_keeps_the_database_of_before(tmp_path: Path) -> None:
    """Whatever the clock says: copies made while it was ahead look newer."""
    data = _first_day(tmp_path / "data")
    (data / database.COPIES).mkdir()
    for name in ("20990101T000000000000", "20990201T000000000000"):
        (data / database.COPIES / f"{name}.sqlite3").write_bytes(b"a copy of then")
    opened = sqlite3.connect(data / "memoryweb.sqlite3")
    opened.execute("CREATE TABLE dreams_channel (id integer)")
    opened.close()
    for _ in range(3):
        done = _run(data, "projects")
        assert done.returncode == 1 and "already exists" in done.stderr
    before, half_way = sorted((data / database.COPIES).iterdir())
    latest = "SELECT max(name) FROM django_migrations WHERE app = 'dreams'"
    assert _query(before, latest) == [("0001_initial",)] != _query(half_way, latest)
    assert str(half_way) in done.stderr


@pytest.mark.parametrize(
    ("code", "left", "says"),
    [
        (sqlite3.SQLITE_IOERR_SHMSIZE, 9, r"No space is left .* Make room there"),
        (sqlite3.SQLITE_CANTOPEN, 0, r"No more files fit .* all its inodes are used. Make room there"),
    ],
)
def test_a_full_disk_is_no_database_from_before(
    monkeypatch: pytest.MonkeyPatch, code: int, left: int, says: str
) -> None:
    """SQLite calls it an I/O error where there is no room for the file that its processes share, or cannot open it."""
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorcode = code
    monkeypatch.setattr("os.statvfs", lambda path: SimpleNamespace(f_files=100, f_favail=left))
    error = OperationalError("disk I/O error")
    error.__cause__ = cause

    def cursor() -> None:
        raise error

    monkeypatch.setattr(connection, "cursor", cursor)
    with pytest.raises(database.DatabaseUnavailable, match=says):
        database.ensure()


def test_a_damaged_database_is_told_about_with_a_remedy_that_helps(tmp_path: Path) -> None:
    data = with_database(tmp_path / "data")
    file = data / "memoryweb.sqlite3"
    whole = file.read_bytes()
    for damage, said in (
        (b"no database" * 100, "damaged: file is not a database"),
        (whole[: len(whole) // 2], "damaged: "),
    ):
        file.write_bytes(damage)
        refused = _run(data, "recover")
        assert refused.returncode == 1
        assert said in refused.stderr
        assert f"move {file} and the files that begin with its name away" in refused.stderr
    for each in data.glob("memoryweb.sqlite3*"):
        each.rename(tmp_path / each.name)
    assert _run(data, "discover").returncode == 0


@pytest.mark.more
def test_going_back_over_a_table_that_sqlite_rebuilds_keeps_its_triggers(tmp_path: Path) -> None:
    """An SQLite that cannot drop a column rebuilds the table backwards, too, which loses them."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    environment = commands.environment(data, MEMORYWEB_ROOTS=str(data / "no-root"))
    commands.run("migrate", "-v0", environment=environment)
    triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'dreams_version'"
    before = _query(data / "memoryweb.sqlite3", triggers)
    with closing(sqlite3.connect(data / "memoryweb.sqlite3")) as opened:
        for name, _ in before:
            opened.execute(f"DROP TRIGGER {name}")
    commands.run("migrate", "-v0", "dreams", "0075", environment=environment)
    assert len(before) == 3 and set(_query(data / "memoryweb.sqlite3", triggers)) == set(before)
