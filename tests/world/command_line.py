"""Runs commands in this process: exit code, output and messages, without half a second of imports per command.

A few tests in test_commands, test_serve and test_projects_command check the same in separate processes.
"""

from __future__ import annotations

import io
import subprocess
from contextlib import redirect_stderr, redirect_stdout

import pytest
from django.core.management import load_command_class


def typed(*words: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` with these words. It closes its connection at the end: tests with rows need `transaction=True`."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as done:
        load_command_class("dreams", words[0]).run_from_argv(["manage.py", *words])
    assert isinstance(done.value.code, int)
    return subprocess.CompletedProcess(words, done.value.code, out.getvalue(), err.getvalue())
