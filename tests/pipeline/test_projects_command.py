"""`discover` and `projects`, run as people run them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.agent_folder import Root, append
from tests.world.processes import commands as forked
from tests.world.processes.commands import PROJECT
from tests.world.processes.servers import with_database


def manage(data: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return forked.run(*arguments, environment=forked.environment(data, **more))


def manage_from_nothing(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT, env=forked.environment(data), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Root:
    root = Root(tmp_path)
    app = root.repository("app")
    root.session(app, "s1")
    root.memory(app, "MEMORY.md", "- [Fact](fact.md) — one\n")
    root.memory(app, "fact.md")
    lock = root.memory(app, ".consolidate-lock", "1")
    os.utime(lock, (1_772_445_600, 1_772_445_600))
    root.session(root.repository("lib"), "s2")
    return root


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_fresh_machine_discovers_and_lists_its_projects_in_a_private_database(
    root: Root, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    found = manage_from_nothing(data, "discover", "--root", str(root.path), "--json")
    assert (found.returncode, found.stderr) == (0, "")
    report = json.loads(found.stdout)
    assert {key: report[key] for key in ("projects", "sessions", "memories", "skipped")} == {
        "projects": 2,
        "sessions": 2,
        "memories": 1,
        "skipped": [],
    }
    assert report["bytes_read"] > 0
    assert isinstance(report["ms"], int)
    listed = json.loads(manage(data, "projects", "--json").stdout)["projects"]
    assert {
        key: listed[0][key] for key in ("slug", "memory_dir", "sessions", "memories", "last_consolidated_at")
    } == {
        "slug": root.folder(root.base / "work" / "app").name,
        "memory_dir": str(root.folder(root.base / "work" / "app") / "memory"),
        "sessions": 1,
        "memories": 1,
        "last_consolidated_at": "2026-03-02T10:00:00+00:00",
    }
    assert (listed[1]["name"], listed[1]["last_consolidated_at"]) == ("lib", None)
    words = manage(data, "projects").stdout
    assert listed[0]["slug"] in words
    assert "never" in words
    databases = list(data.glob("*.sqlite3*"))
    assert databases
    assert stat.S_IMODE(data.stat().st_mode) == 0o700, "what is found is the person's alone"
    assert {stat.S_IMODE(file.stat().st_mode) for file in databases} == {0o600}


@pytest.mark.more
def test_the_roots_of_the_environment_are_used_and_words_say_what_was_found(
    root: Root, tmp_path: Path
) -> None:
    data, roots = with_database(tmp_path / "data"), {"MEMORYWEB_ROOTS": str(root.path)}
    first = manage(data, "discover", **roots)
    assert first.stdout.startswith("2 projects, 2 sessions, 1 memory; ")
    append(root.folder(root.base / "work" / "app") / "s1.jsonl", b'{"type":"user","oops\xff\n')
    (root.folder(root.base / "work" / "app") / "s9.jsonl").symlink_to("/etc/hostname")
    again = manage(data, "discover", **roots)
    assert again.returncode == 0
    assert "links are not followed" in again.stdout


def test_a_folder_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    data = with_database(tmp_path / "data")
    for name, why in (
        ("nowhere", "There is no folder"),
        ("n" * 300, "File name too long. Name a shorter one."),
    ):
        found = manage(data, "discover", "--root", str(tmp_path / name), "--json")
        assert (found.returncode, json.loads(found.stdout)) == (1, {"error": found.stderr.strip()})
        assert found.stderr.count("\n") == 1
        assert why in found.stderr and "traceback" not in found.stderr


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    """As of a variable without a value: `discover` and `findings` read the folder that one was in."""
    data = with_database(tmp_path / "data")
    for typed in (
        ("discover", "--root", ""),
        ("findings", "", ""),
        ("serve", "--root", ""),
        ("settings", "export", ""),
        ("import", ""),
        ("dreambench", "--from", ""),
    ):
        found = manage_from_nothing(data, *typed, "--json")
        assert found.returncode == 2 and "path is empty" in json.loads(found.stdout)["error"], typed


def test_a_data_directory_that_cannot_be_made_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = manage(tmp_path / "file" / "data", "projects")
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.count("\n") == 1
    assert "MEMORYWEB_DATA_DIR" in found.stderr


@pytest.mark.not_on_postgresql
def test_a_damaged_database_is_one_line_and_never_a_traceback(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "memoryweb.sqlite3").write_bytes(b"no database at all, but long enough to be taken for one" * 40)
    found = manage(data, "projects", "--json")
    assert (found.returncode, json.loads(found.stdout)) == (1, {"error": found.stderr.strip()})
    assert found.stderr.count("\n") == 1
    assert "database" in found.stderr


@pytest.mark.sweep
@pytest.mark.not_on_postgresql
def test_doctor_as_the_first_command_finds_a_database_and_a_reader_that_has_enough_is_no_fault(
    root: Root, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    found = manage(data, "doctor", "--json", MEMORYWEB_ROOTS=str(root.path))
    checks = {check["name"]: check for check in json.loads(found.stdout)["checks"]}
    assert checks["Database"]["state"] == checks["Config folders"]["state"] == "ok", found.stdout
    assert stat.S_IMODE((data / "memoryweb.sqlite3").stat().st_mode) == 0o600
    reader, writer = os.pipe()
    os.close(reader)
    env = dict(os.environ, MEMORYWEB_DATA_DIR=str(data), MEMORYWEB_ROOTS=str(root.path))
    env.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "doctor"]
    done = subprocess.run(
        command, cwd=PROJECT, env=env, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.sweep
@pytest.mark.not_on_postgresql
def test_two_first_commands_at_once_make_one_database(root: Root, tmp_path: Path) -> None:
    data = tmp_path / "data"
    env = dict(os.environ, MEMORYWEB_DATA_DIR=str(data), MEMORYWEB_ROOTS=str(root.path))
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
        env.pop(name, None)
    running = [
        subprocess.Popen(
            [sys.executable, "manage.py", "discover", "--json"], cwd=PROJECT, env=env, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    reports = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert sorted(report["bytes_read"] > 0 for report in reports) == [False, True]
    assert len(json.loads(manage(data, "projects", "--json").stdout)["projects"]) == 2
