"""Two hundred runs of the journal killed at a random system call, with lines appended meanwhile: none mixed, none lost."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from memoryweb import BASE_DIR

pytestmark = pytest.mark.sweep

KILLS, APPENDS = 200, 1_000


def test_nothing_is_mixed_and_no_appended_line_is_lost() -> None:
    words = [sys.executable, "bench/kills.py", "--kills", str(KILLS), "--appends", str(APPENDS)]
    done = subprocess.run(words, cwd=BASE_DIR, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(
        rf"^{KILLS} runs, (\d+) killed: [1-9]\d* before, [1-9]\d* after$", done.stdout, re.MULTILINE
    )
    # A line appended in the middle of a run can end it before the call at which it was to be killed.
    assert told and int(told[1]) >= 0.95 * KILLS, done.stdout
    assert "wrong: 0" in done.stdout
    assert re.search(r"lines in files, \d+ in versions, 0 lost", done.stdout)


def test_a_server_that_is_killed_again_and_again_loses_and_mixes_nothing() -> None:
    words = [sys.executable, "bench/server_kills.py", "--kills", "12", "--projects", "1", "--limit", "120"]
    done = subprocess.run(words, cwd=BASE_DIR, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ kills, .* [1-9]\d* writes applied, [1-9]", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"in versions, 0 lost\n  wrong: 0", done.stdout)
