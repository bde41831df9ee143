"""The processes that run the tests: whatever becomes of one, each test is run once and told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """import os

def noted(name):
    with open(os.path.join(os.path.dirname(__file__), "noted"), "a") as file:
        file.write(name + "\\n")

"""
FIRST = """
def test_killed():
    noted("killed")
    os.kill(os.getpid(), 9)

def test_after_it():
    noted("after it")
"""
SECOND = """
import pytest
from django.conf import settings
from django.core.cache import cache

cache.get("something")

@pytest.fixture(scope="module", autouse=True)
def ended():
    yield
    noted("module ended")

def test_right():
    noted("right")
    assert cache._dir == str(settings.DATA_DIR / "cache")
    assert "fork-" in cache._dir

def test_wrong():
    noted("wrong")
    assert os.getpid() == os.getppid()
"""


def test_each_test_runs_once_and_is_told_whatever_becomes_of_its_process(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text(BEGIN + FIRST)
    (tmp_path / "test_second.py").write_text(BEGIN + SECOND)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    words = ["-q", "-p", "tests.forks", "-p", "no:cacheprovider", "--forks", "2", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-c", str(tmp_path / "pytest.ini"), str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "It did not end. The processes ended with" in done.stdout
    noted = (tmp_path / "noted").read_text().split("\n")
    assert sorted(filter(None, noted)) == ["after it", "killed", "module ended", "right", "wrong"]
    assert done.returncode == 1
