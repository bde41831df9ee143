"""An unexpected error is one line on the terminal, and a traceback in a file that stays small."""

from __future__ import annotations

import logging
import stat
import sys
from pathlib import Path

import pytest

from memoryweb import faults


def caught() -> logging.LogRecord:
    try:
        raise ValueError("no such memory")
    except ValueError:
        return logging.LogRecord(
            "dreams", logging.ERROR, __file__, 1, "dream %s failed", ("d1",), sys.exc_info()
        )


def test_a_caught_error_is_one_line_that_says_where_its_traceback_is(tmp_path: Path) -> None:
    line = faults.OneLine(tmp_path, "%(levelname)s %(message)s").format(caught())
    log = faults.file_in(tmp_path)
    assert line == f"ERROR dream d1 failed: ValueError: no such memory. Its traceback is in {log}."
    assert "dream d1 failed\nTraceback" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_line_without_an_error_stays_as_it_is(tmp_path: Path) -> None:
    record = logging.LogRecord("dreams", logging.WARNING, __file__, 1, "late", (), None)
    assert faults.OneLine(tmp_path, "%(message)s").format(record) == "late"
    assert not faults.file_in(tmp_path).exists()


def test_the_secret_address_of_the_feed_is_in_no_line_and_in_no_file(tmp_path: Path) -> None:
    record = caught()
    record.msg, record.args = "Internal Server Error: %s", ("/feed/s3-cr_t/",)
    line = faults.OneLine(tmp_path, "%(message)s").format(record)
    assert "s3-cr_t" not in line + faults.file_in(tmp_path).read_text() and "Error: /feed/…/" in line


def test_the_file_never_grows_beyond_two_of_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "MAX_BYTES", 500)
    log = faults.file_in(tmp_path)
    for number in range(40):
        faults.keep(log, f"Traceback {number}\n" + "x" * 80)
    assert sum(file.stat().st_size for file in log.parent.iterdir()) < 2 * (500 + 200)
    assert "Traceback 39" in log.read_text()


def test_where_nothing_can_be_written_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    assert "cannot be written" in faults.keep(faults.file_in(tmp_path), "Traceback")


def test_a_traceback_inside_a_message_is_kept_too(tmp_path: Path) -> None:
    """The queue has the traceback of a failed task in its message."""
    said = "Failed tick - boom : Traceback (most recent call last):\n  File x, line 1\nValueError: boom\n"
    record = logging.LogRecord("django-q", logging.ERROR, __file__, 1, "%s", (said,), None)
    log = faults.file_in(tmp_path)
    line = faults.OneLine(tmp_path, "%(message)s").format(record)
    assert line == f"Failed tick - boom. Its traceback is in {log}."
    assert "File x, line 1\nValueError: boom" in log.read_text()


def test_a_message_of_several_lines_is_one_line_too(tmp_path: Path) -> None:
    record = logging.LogRecord("other", logging.WARNING, __file__, 1, "late:\n  one\n  two", (), None)
    assert faults.OneLine(tmp_path, "%(message)s").format(record) == "late: one two"


def test_the_message_of_an_error_is_one_line_too(tmp_path: Path) -> None:
    try:
        raise ValueError("no such\nmemory\x1b[2J")
    except ValueError:
        record = logging.LogRecord("dreams", logging.ERROR, __file__, 1, "failed", (), sys.exc_info())
    line = faults.OneLine(tmp_path, "%(message)s").format(record)
    assert line.startswith("failed: ValueError: no such memory") and "\x1b" not in line
