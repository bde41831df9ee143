"""Tests that run side by side run once each, whatever becomes of the process that has them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.world.processes.commands import PROJECT

pytestmark = pytest.mark.not_on_postgresql

HEAD = """
import os
from pathlib import Path

import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def noted(request):
    with open({noted!r}, "a") as file:
        file.write(f"{{request.node.name}} {{os.getpid()}} {{settings.DATA_DIR}}\\n")
"""
FILES = {
    "test_one.py": "def test_passes(): pass\ndef test_fails(): raise ValueError('odd')\ndef test_third(): pass\n",
    "test_two.py": "def test_prints(): print('seen')\ndef test_ends(): os._exit(0)\ndef test_after(): pass\n",
    "test_many.py": "@pytest.mark.parametrize('one', range(40))\ndef test_many(one): pass\n",
    "test_odd.py": "@pytest.mark.skip\ndef test_skipped(): pass\n",
}


def _run(folder: Path, *words: str) -> tuple[subprocess.CompletedProcess[str], dict[str, list[list[str]]]]:
    """What it printed; by test: process and data directory, each time that it ran."""
    noted = folder / "noted"
    for name, text in FILES.items():
        (folder / name).write_text(HEAD.format(noted=str(noted)) + text)
    settings = [
        "-c",
        str(PROJECT / "pyproject.toml"),
        "-o",
        f"cache_dir={folder / 'cache'}",
        "--assert=plain",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.side_by_side", *settings, *words, str(folder)],
        cwd=PROJECT, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    ran = defaultdict(list)
    for line in noted.read_text().splitlines():
        name, *where = line.split()
        ran[name].append(where)
    return done, ran


def test_each_test_runs_once_and_one_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    done, ran = _run(tmp_path, "--copies", "3")
    assert done.returncode == 1
    assert "2 failed, 44 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "ValueError: odd" in done.stdout and "The process that ran it ended (0)." in done.stdout
    assert sorted(re.findall(r"FAILED .*::(\w+)", done.stdout)) == ["test_ends", "test_fails"]
    failed = json.loads((tmp_path / "cache/v/cache/lastfailed").read_text())
    assert sorted(name.rpartition("::")[2] for name in failed) == ["test_ends", "test_fails"]
    assert len(ran) == 46 and all(len(times) == 1 for times in ran.values())
    places = {(process, folder) for [(process, folder)] in ran.values()}
    assert len(places) == len(dict(places)) == len({folder for _, folder in places}) == 3
    assert not any(Path(folder).exists() for _, folder in places if folder != ran["test_ends"][0][1])


@pytest.mark.more
def test_a_run_ends_at_its_first_failure_if_asked_to(tmp_path: Path) -> None:
    done, ran = _run(tmp_path, "--copies", "1", "-x")
    assert done.returncode == 1 and "stopping after 1 failures" in done.stdout
    assert "test_fails" in ran and "test_prints" not in ran


@pytest.mark.more
def test_where_all_processes_ended_what_is_left_has_failed(tmp_path: Path) -> None:
    done, _ = _run(tmp_path, "--copies", "1")
    assert done.returncode == 1 and "No process was left to run it." in done.stdout
